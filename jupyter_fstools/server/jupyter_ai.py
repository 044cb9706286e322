"""Offers the tools as functions to Jupyter AI."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any

from jupyter_server.auth.identity import User
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from pydantic import Field, WithJsonSchema
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from ..errors import Disabled, FsToolsError
from ..stores.records import Reader
from ..tools import TOOLS, Tool, available_tools, call_tool
from ..tools.schemas import argument_schema, described, prefixed_hint
from . import SETTING
from .base_handler import ToolsHandler
from .call_pool import Caller
from .permissions import permission_of
from .served import Served

SESSION = "jupyter-ai"
"""The session shared by callers that cannot be told apart; a caller with an MCP session has its own."""

_PREFIX = "fs_"  # Their namespace is flat, and `read` and `read_notebook` are taken.


def specifications() -> list[str]:
    """The list for the entry point `jupyter_server_mcp.tools`: `module:function` of each tool."""
    try:
        served = _served()
    except Disabled:
        return []
    if not served.config.offer_to_jupyter_ai:
        return []
    workspace = served.workspace
    # That extension asks for no login: a client that reaches its port must not get a shell.
    tools = (tool for tool in available_tools(workspace).values() if not tool.runs_commands)
    return [f"{__name__}:{_PREFIX}{tool.name}" for tool in tools]


def __getattr__(name: str) -> Callable[..., Any]:
    """A tool as a function, such as `fs_read_file`."""
    tool = TOOLS.get(name.removeprefix(_PREFIX)) if name.startswith(_PREFIX) else None
    if tool is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _function(tool)


def _function(tool: Tool) -> Callable[..., Any]:
    """A function with the tool's name, its description, and an annotated parameter for each of its arguments."""

    async def function(**given: Any) -> Any:
        return await _called(tool, given)

    # Any value is taken for a described argument, so that the tool refuses a wrong one in its own words.
    schemas = argument_schema(tool)["properties"]
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True),
            annotation=Annotated[Any, WithJsonSchema(schemas[name])]
            if name in schemas
            else Annotated[field.rebuild_annotation(), Field(description=field.description)],
        )
        for name, field in tool.arguments.model_fields.items()
    ]
    function.__name__ = function.__qualname__ = _PREFIX + tool.name
    function.__doc__ = described(tool, _PREFIX)
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # Functions may have one.
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function


async def _called(tool: Tool, given: dict[str, Any]) -> list[Any]:
    """The content blocks of a call's answer.

    Raises:
        ToolError: the refusal, as an assistant reads it.
    """
    # Imported here: the caller has these packages installed, and nobody else needs them.
    from fastmcp.exceptions import ToolError
    from fastmcp.server.dependencies import get_http_headers
    from mcp.types import ImageContent, TextContent

    # Every parameter is passed, also those that were left out.
    left_out = {
        name: field.get_default(call_default_factory=True) for name, field in tool.arguments.model_fields.items()
    }
    arguments = {name: value for name, value in given.items() if value != left_out[name]}
    try:
        served = _served()
        if not served.config.offer_to_jupyter_ai:
            raise Disabled("the tools are not offered here", hint="An administrator can set offer_to_jupyter_ai.")
        conversation = get_http_headers(include_all=True).get("mcp-session-id")
        await _require_permission(served, tool)
        reader = Reader(served.account, _session(conversation))
        workspace = served.workspace.for_reader(reader, waits_in_line=True).in_conversation(conversation)
        caller = Caller(f"{reader.user} {SESSION}", reader)
        result = await served.calls.run(caller, lambda: call_tool(workspace, tool.name, arguments))
    except FsToolsError as refusal:
        refusal.hint = prefixed_hint(refusal.hint, _PREFIX)
        raise ToolError(refusal.text) from None
    kinds: dict[str, type[Any]] = {"text": TextContent, "image": ImageContent}
    return [kinds[block["type"]].model_validate(block) for block in result.content]


def _session(conversation: str | None) -> str:
    if conversation is None:
        return SESSION
    return f"{SESSION}-{hashlib.sha256(conversation.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


async def _require_permission(served: Served, tool: Tool) -> None:
    """Ask Jupyter's authorizer, as for a request of the server's own account.

    Raises:
        Denied
    """
    app = ServerApp.instance().web_app
    nobody: Any = SimpleNamespace(set_close_callback=lambda called: None)
    line = RequestStartLine("POST", url_path_join(app.settings["base_url"], "api/fstools"), "HTTP/1.1")
    request = HTTPServerRequest(start_line=line, headers=HTTPHeaders(Host="localhost"), connection=nobody)
    handler = ToolsHandler(app, request)
    handler.current_user = User(username=served.account)
    await handler.require_permission(permission_of(tool.name))


def _served() -> Served:
    app = ServerApp.instance() if ServerApp.initialized() else None
    served: Served | None = app.web_app.settings.get(SETTING) if app is not None else None
    if served is None:
        raise Disabled("jupyter-fstools is not loaded in this server", hint="jupyter server extension list says why.")
    return served
