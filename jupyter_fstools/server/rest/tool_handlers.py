"""Serves tool calls, tool lists, receipts and the version."""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, Literal

from jupyter_server.auth.decorator import authorized
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.fileio import FileManagerMixin
from pydantic import Field, TypeAdapter
from tornado import web

from ..._version import __version__
from ...client.requests import OPENED_HEADER
from ...errors import Invalid, NotFound, Unsaved
from ...gate.workspace import Workspace
from ...stores.records import Receipt
from ...tools import available_tools, call_tool
from ...tools.arguments import Arguments, PathArgument, Text
from ...tools.schemas import as_schema
from ..base_handler import NoArguments, ToolsHandler
from ..bodies import as_json, parsed, parsed_object, rendered_result
from ..events.payloads import ACTIVITY_SCHEMA, CHANGE_SCHEMA
from ..permissions import EXECUTE, READ, permission_of
from ..streaming import MEDIA_TYPE, EventStream


class ToolsQuery(Arguments):
    """The query of the list of tools."""

    format: Annotated[Literal["mcp", "openai", "anthropic"], Field(description="The form of the tools' schemas.")] = (
        "mcp"
    )


class CallQuery(Arguments):
    """The query of a tool call."""

    answer: Annotated[
        Literal["content", "data", "both"],
        Field(description="content: what a model is shown; data: the same as structure."),
    ] = "both"


class ReceiptsQuery(Arguments):
    """The query of receipts: their session, file or folder."""

    session: Annotated[Text, Field(description="The session, if not that of the header.")] | None = None
    path: PathArgument | None = None


class RootHandler(ToolsHandler):
    """`GET /`: what is here."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Show the version, the root's name, the user, the enabled tools, the limits and the schemas of events."""
        self.query(NoArguments)
        workspace = self.served.workspace
        self.answer(
            {
                "version": __version__,
                "root": workspace.backend.root_key.rstrip("/").rpartition("/")[2] or "/",
                "contents_path": _contents_path(self.settings["serverapp"], workspace),
                "user": self.reader().user,
                "tools": list(available_tools(workspace)),
                "read_only": workspace.policy.read_only,
                "approval": self.served.config.approval,
                "limits": asdict(workspace.limits),
                "events": {"change": CHANGE_SCHEMA, "activity": ACTIVITY_SCHEMA},
            }
        )


class ToolsListHandler(ToolsHandler):
    """`GET /tools`: the tools and their schemas."""

    opens_to_tokens = True

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the enabled tools with their schemas, in the form that `format` names."""
        form = self.query(ToolsQuery).format

        def listed(workspace: Workspace) -> list[dict[str, Any]]:
            return [as_schema(name, tool, form) for name, tool in available_tools(workspace).items()]

        self.answer({"tools": await self.call(listed)})


class ToolHandler(ToolsHandler):
    """`POST /tools/{name}`: a call."""

    opens_to_tokens = True
    changes_files = True  # Until `prepare` knows the tool: a body that cannot be parsed is refused before.

    async def prepare(self) -> None:  # type: ignore[override]  # As Jupyter's own subclass has it.
        """Find out whether the call changes files, before anything can be refused."""
        self.changes_files = permission_of(self.path_args[0], self.served.workspace.tool_prefix) != READ
        await super().prepare()

    @web.authenticated
    async def post(self, name: str) -> None:
        """Call a tool; a command can answer as a stream of events."""
        permission = permission_of(name, self.served.workspace.tool_prefix)
        await self.require_permission(permission)
        answer, opened = self.query(CallQuery).answer, self.request.headers.get(OPENED_HEADER)
        body, limit = self.request.body, self.served.body_limit

        def called(workspace: Workspace) -> tuple[int, bytes]:
            if opened is not None:
                _require_known(workspace, opened, limit)
            result = call_tool(workspace, name, partial(parsed_object, body, limit))
            waits = result.change is not None and result.change.status == "proposed"
            return 202 if waits else 200, rendered_result(result, answer)

        command = permission == EXECUTE
        if command and MEDIA_TYPE in self.request.headers.get("Accept", ""):
            stream = EventStream(self)
            await stream.answer(self.call(lambda workspace: called(workspace)[1], progress=stream.tell, command=True))
            return
        status, rendered = await self.call(called, command=command)
        self.answer(rendered, status)


class ReceiptsHandler(ToolsHandler):
    """`GET` and `DELETE /receipts`: what a session of the user has read below this root."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the receipts of a session, most recently used first."""
        asked = self.query(ReceiptsQuery)

        def listed(workspace: Workspace) -> bytes:
            found = _receipts(workspace, asked.path)
            return as_json({"receipts": [_shown(workspace, receipt) for receipt in found]})

        self.answer(await self.call(listed, self.reader(asked.session)))

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Forget the receipts of a session, or of one file; answers with their number."""
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
        raise NotFound("there is no such route", hint="GET api/fstools/openapi.json lists the routes.")


def _contents_path(serverapp: ServerApp, workspace: Workspace) -> str | None:
    """The root's path below the folder that Jupyter's contents show: "" if they are the same, None if elsewhere."""
    if not isinstance(serverapp.contents_manager, FileManagerMixin):
        return None
    folder = serverapp.root_dir
    shown = os.path.realpath(os.path.expanduser(folder)).rstrip(os.sep) + os.sep
    root = os.path.join(workspace.backend.root_key, "")
    return root.removeprefix(shown).strip(os.sep).replace(os.sep, "/") if root.startswith(shown) else None


def _require_known(workspace: Workspace, opened: str, limit: int) -> None:
    """Refuse a call about a file that a page has open, if this server's store does not know of that page.

    Raises:
        Invalid: the header is wrong.
        Unsaved: none of the pages is known.
    """
    try:
        key, *pages = TypeAdapter(list[str]).validate_python(parsed(opened.encode(), limit))
    except (ValueError, Invalid):
        raise Invalid(f"{OPENED_HEADER}: not a JSON list of a key and pages", hint="Leave it out.") from None
    if not any(document.page in pages for document in workspace.store.open_documents(key)):
        raise Unsaved(
            "the file is open in a browser of a server with another store, or was closed just now (not modified)",
            hint="Repeat the call; if it is refused again, use a kernel of that server.",
        )


def _receipts(workspace: Workspace, path: str | None) -> list[Receipt]:
    prefix = workspace.peek(path).key if path else workspace.backend.root_key
    found = workspace.store.receipts(workspace.reader, prefix)
    return [one for one in found if workspace.policy.may_read(workspace.paths.path_of(one.key) or "", one.key)]


def _shown(workspace: Workspace, receipt: Receipt) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "path": workspace.paths.path_of(receipt.key),
        "lines": receipt.lines,
        "full": receipt.full,
        "read_at": receipt.read_at,
    }
    if receipt.cells is not None:
        shown["cells"] = list(receipt.cells)
    return shown
