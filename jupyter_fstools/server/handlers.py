"""The routes under `api/fstools`, and the handlers of the tools and of what a session has read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from tornado import web

from .._version import __version__
from ..errors import NotFound
from ..records import Receipt
from ..tools import TOOLS, available_tools, call_tool
from ..tools.arguments import Arguments, PathArgument, Text
from ..tools.schemas import as_schema
from ..workspace import Workspace
from .base_handler import NoArguments, ToolsHandler
from .bodies import as_json, parsed_object, rendered_result
from .change_event import SCHEMA_ID
from .change_handlers import ChangeHandler, ChangesHandler, DecisionHandler, UndoHandler
from .raw import RawHandler


class ToolsQuery(Arguments):
    """What the list of tools takes."""

    format: Literal["mcp", "openai", "anthropic"] = "mcp"


class ReceiptsQuery(Arguments):
    """Whose receipts, of which file or folder."""

    session: Text | None = None
    path: PathArgument | None = None


class RootHandler(ToolsHandler):
    """`GET /`: what is here."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Version, the root's name, what is enabled, limits."""
        self.query(NoArguments)
        workspace = self.served.workspace
        self.answer(
            {
                "version": __version__,
                "root": workspace.backend.root_key.rstrip("/").rpartition("/")[2] or "/",
                "tools": list(available_tools(workspace)),
                "read_only": workspace.policy.read_only,
                "approval": self.served.config.approval,
                "limits": asdict(workspace.limits),
                "events": SCHEMA_ID,
            }
        )


class ToolsListHandler(ToolsHandler):
    """`GET /tools`: the tools and their schemas."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The list, in the form that `format` names."""
        form = self.query(ToolsQuery).format

        def listed(workspace: Workspace) -> list[dict[str, Any]]:
            return [as_schema(name, tool, form) for name, tool in available_tools(workspace).items()]

        self.answer({"tools": await self.call(listed)})


class ToolHandler(ToolsHandler):
    """`POST /tools/{name}`: a call."""

    @web.authenticated
    async def post(self, name: str) -> None:
        """Call a tool; who may only read may call the tools that only read."""
        tool = TOOLS.get(name.removeprefix(self.served.workspace.tool_prefix)) or TOOLS.get(name)
        await (self._call_reading if tool is not None and tool.reads_only else self._call_writing)(name)

    @authorized("read", "contents")  # type: ignore[untyped-decorator]  # Jupyter's annotation loses the method.
    async def _call_reading(self, name: str) -> None:
        await self._call(name)

    @authorized("write", "contents")  # type: ignore[untyped-decorator]  # As above.
    async def _call_writing(self, name: str) -> None:
        await self._call(name)

    async def _call(self, name: str) -> None:
        self.query(NoArguments)
        body, limit = self.request.body, self.served.body_limit
        status, answer = await self.call(lambda workspace: _called(workspace, name, body, limit))
        self.answer(answer, status)


class ReceiptsHandler(ToolsHandler):
    """`GET` and `DELETE /receipts`: what a session of the user has read below this root."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The receipts, most recently used first."""
        asked = self.query(ReceiptsQuery)

        def listed(workspace: Workspace) -> bytes:
            found = _receipts(workspace, asked.path)
            return as_json({"receipts": [_shown(workspace, receipt) for receipt in found]})

        self.answer(await self.call(listed, self.reader(asked.session)))

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Forget them; says how many."""
        asked = self.query(ReceiptsQuery)

        def forgotten(workspace: Workspace) -> int:
            return sum(workspace.tracker.forget(receipt.key) for receipt in _receipts(workspace, asked.path))

        self.answer({"forgotten": await self.call(forgotten, self.reader(asked.session))})


class UnknownHandler(ToolsHandler):
    """Every other path under `api/fstools`."""

    async def prepare(self) -> None:  # type: ignore[override]  # As Jupyter's own subclass has it.
        """Refuse, whatever the method."""
        await super().prepare()
        if self.current_user is None:
            raise web.HTTPError(403)
        raise NotFound("there is no such route", hint="GET api/fstools/ says what is here.")


def routes(base_url: str) -> list[tuple[str, type[ToolsHandler]]]:
    """The URL patterns and their handlers, the catch-all last."""
    known: list[tuple[str, type[ToolsHandler]]] = [
        (r"/?", RootHandler),
        (r"/tools", ToolsListHandler),
        (r"/tools/([^/]+)", ToolHandler),
        (r"/changes", ChangesHandler),
        (r"/changes/undo", UndoHandler),
        (r"/changes/([^/]+)", ChangeHandler),
        (r"/changes/([^/]+)/(approve|reject|undo)", DecisionHandler),
        (r"/receipts", ReceiptsHandler),
        (r"/raw/(.*)", RawHandler),
        (r"/.*", UnknownHandler),
    ]
    return [(url_path_join(base_url, "api/fstools") + pattern, handler) for pattern, handler in known]


def _called(workspace: Workspace, name: str, body: bytes, limit: int) -> tuple[int, bytes]:
    result = call_tool(workspace, name, parsed_object(body, limit))
    waits = result.change is not None and result.change.status == "proposed"
    return 202 if waits else 200, rendered_result(result)


def _receipts(workspace: Workspace, path: str | None) -> list[Receipt]:
    prefix = workspace.peek(path).key if path else workspace.backend.root_key
    found = workspace.store.receipts(workspace.reader, prefix.rstrip("/"))
    return [one for one in found if workspace.policy.may_read(workspace.path_of(one.key) or "", one.key)]


def _shown(workspace: Workspace, receipt: Receipt) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "path": workspace.path_of(receipt.key),
        "lines": receipt.lines,
        "full": receipt.full,
        "read_at": receipt.read_at,
    }
    if receipt.cells is not None:
        shown["cells"] = list(receipt.cells)
    return shown
