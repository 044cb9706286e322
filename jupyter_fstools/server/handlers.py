"""The routes under `api/fstools`: the tools, the journal, and what a session has read."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any, Literal

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import url_path_join
from pydantic import Field
from tornado import web

from .._version import __version__
from ..errors import NotFound
from ..journal import ChangeQuery, Journal
from ..records import Change, ChangeStatus, Receipt
from ..sessions import checked_session
from ..tools import TOOLS, ToolResult, available_tools, call_tool
from ..tools.arguments import Arguments, Count, Ordinal, PathArgument, Text
from ..tools.schemas import as_schema
from ..workspace import Workspace
from .base_handler import ToolsHandler
from .bodies import as_json, parsed_object
from .change_event import SCHEMA_ID
from .raw import RawHandler

_MOST_WAITED_SECONDS = 60.0


class NoArguments(Arguments):
    """Nothing."""


class ToolsQuery(Arguments):
    """What the list of tools takes."""

    format: Literal["mcp", "openai", "anthropic"] = "mcp"


class ChangesQuery(Arguments):
    """What the list of changes takes."""

    path: PathArgument | None = None
    session: Text | None = None
    status: ChangeStatus | None = None
    after: Count | None = None
    limit: Annotated[Ordinal, Field(le=1000)] = 100
    offset: Count = 0


class ChangeWait(Arguments):
    """How long to wait for a decision."""

    wait: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0


class FilePath(Arguments):
    """A file."""

    path: PathArgument


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


class ChangesHandler(ToolsHandler):
    """`GET /changes`: the journal."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The changes, newest first, or in rising order of revision after a cursor."""
        asked = self.query(ChangesQuery)
        session = asked.session and checked_session(asked.session)
        query = ChangeQuery(asked.path, session, asked.status, asked.after, asked.limit, asked.offset)

        def listed(workspace: Workspace) -> bytes:
            # The revision first: who goes on after it then misses nothing.
            revision = workspace.store.revision()
            changes = [_rendered(change) for change in Journal(workspace).changes(query)]
            return as_json({"changes": changes, "revision": revision})

        self.answer(await self.call(listed))


class ChangeHandler(ToolsHandler):
    """`GET /changes/{id}`: one change, now or once it is decided."""

    _gone: asyncio.Event | None = None

    @web.authenticated
    @authorized
    async def get(self, change_id: str) -> None:
        """The change, with its diff; `wait` seconds (60 at most) for a decision if it is only proposed."""
        seconds = min(self.query(ChangeWait).wait, _MOST_WAITED_SECONDS)
        with self.served.feed.decision(change_id) as decided:
            self._gone = decided
            change = await self._look(change_id)
            if change.status == "proposed" and seconds:
                await asyncio.wait([asyncio.ensure_future(decided.wait())], timeout=seconds)
                change = await self._look(change_id)
        self.answer({"change": _rendered(change)})

    def on_connection_close(self) -> None:
        """Nobody waits any more."""
        if self._gone is not None:
            self._gone.set()

    async def _look(self, change_id: str) -> Change:
        return await self.call(lambda workspace: Journal(workspace).change(change_id))


class DecisionHandler(ToolsHandler):
    """`POST /changes/{id}/approve`, `/reject`, `/undo`: what a person decides."""

    @web.authenticated
    @authorized
    async def post(self, change_id: str, decision: str) -> None:
        """Decide; answers the change as it is now, for an undo the new change that takes it back."""
        self.query(NoArguments)
        self.body(NoArguments)

        def decide(workspace: Workspace) -> bytes:
            journal = Journal(workspace)
            if decision == "undo":
                return as_json({"change": _rendered(journal.undo(journal.change(change_id), by_person=True))})
            decided = journal.approve(change_id) if decision == "approve" else journal.reject(change_id)
            return as_json({"change": _rendered(decided)})

        self.answer(await self.call(decide))


class UndoHandler(ToolsHandler):
    """`POST /changes/undo` with `{"path"}`: a step back through a file's changes."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Take back the file's newest change that still stands, whoever made it."""
        self.query(NoArguments)
        path = self.body(FilePath).path

        def undo(workspace: Workspace) -> bytes:
            journal = Journal(workspace)
            return as_json({"change": _rendered(journal.undo(journal.newest_to_undo(path, own=False), by_person=True))})

        self.answer(await self.call(undo))


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


def rendered_result(result: ToolResult) -> bytes:
    """A result as JSON: `{"tool", "content", "data", "change"}`."""
    change = result.change and _rendered(result.change)
    return as_json({"tool": result.tool, "content": result.content, "data": result.data, "change": change})


def _rendered(change: Change) -> dict[str, Any]:
    # The key tells where the root is on the disk, which is nobody's business.
    return change.model_dump(exclude={"key"})


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
