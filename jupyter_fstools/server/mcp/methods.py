"""Answers the protocol's methods: lists and calls tools."""

from __future__ import annotations

from typing import Any

from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    Implementation,
    InitializeRequestParams,
    InitializeResult,
    PaginatedRequestParams,
    ServerCapabilities,
    ToolsCapability,
)
from mcp_types.jsonrpc import JSONRPCRequest

from ..._version import __version__
from ...errors import Disabled, FsToolsError, Invalid
from ...gate.workspace import Workspace
from ...stores.records import Change
from ...tools import available_tools, call_tool, find_tool
from ...tools.answers import answer_schema
from ...tools.arguments import OTHER_NAMES
from ...tools.schemas import as_schema
from ...tools.tool import ToolResult, text_block
from .json_rpc import Fault, Id, result, with_bytes
from .messages import NEWEST, VERSIONS, checked_params

_INSTRUCTIONS = (
    "Tools for the files and notebooks of this Jupyter server; paths are relative to its root. A file (or a notebook's "
    "cell) must be read in this session before it is changed, and read again once others changed it. A refusal says "
    "what was wrong, that nothing was modified, and what to do next."
)
_BESIDE_DATA = {
    "waiting": {"type": "string", "description": "What to do while a person decides about the change."},
    "pictures": {"type": "array", "description": "The pictures shown, as blocks of image content."},
}
_REFUSAL = {
    "type": "object",
    "description": "A call that was refused (isError).",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "details": {"type": "object"},
            },
            "required": ["code", "message", "hint", "details"],
        }
    },
    "required": ["error"],
}


def called_tool(workspace: Workspace, request: JSONRPCRequest) -> str | None:
    """The name of the tool that a request calls; None where it calls none.

    Raises:
        Fault: there is no such tool.
    """
    name = (request.params or {}).get("name") if request.method == "tools/call" else None
    if not isinstance(name, str):
        return None
    try:
        find_tool(workspace, name)
    except Invalid as refusal:
        message = f"{refusal.message}. {refusal.hint}"
        raise Fault(INVALID_PARAMS, message, id=request.id, details=refusal.as_dict(), status=200) from None
    except Disabled:
        pass  # The call is refused as any other: in words for the model.
    return name


def answered(workspace: Workspace, request: JSONRPCRequest) -> bytes:
    """The message that answers a request.

    Raises:
        Fault: unknown method, or parameters that do not fit it.
    """
    if request.method == "tools/call":
        return _called(workspace, request)
    if request.method == "tools/list":
        if checked_params(PaginatedRequestParams, request).cursor is not None:
            raise Fault(INVALID_PARAMS, "cursor: the list has one page", id=request.id, status=200)
        return result(request.id, {"tools": listed(workspace)})
    if request.method == "initialize":
        return result(request.id, _introduced(checked_params(InitializeRequestParams, request)))
    if request.method == "ping":
        return result(request.id, {})
    raise Fault(
        METHOD_NOT_FOUND,
        f"there is no method {request.method[:80]!r}; there are initialize, ping, tools/list and tools/call",
        id=request.id,
        status=200,
    )


def listed(workspace: Workspace) -> list[dict[str, Any]]:
    """The tools that exist in a workspace, as `tools/list` tells them."""
    structured, prefix = workspace.rules.structured_content, workspace.tool_prefix
    return [
        as_schema(name, tool, "mcp")
        | ({"outputSchema": _output_schema(name.removeprefix(prefix))} if structured else {})
        for name, tool in available_tools(workspace).items()
    ]


def refused(workspace: Workspace, id: Id, refusal: FsToolsError) -> bytes:
    """The message that tells a model why its call was refused."""
    content = [text_block(str(refusal))]
    if diff := refusal.details.get("diff"):
        content.append(text_block(diff))
    structured = {"structuredContent": {"error": refusal.as_dict()}} if workspace.rules.structured_content else {}
    return result(id, {"content": content, **structured, "isError": True})


def _introduced(asked: InitializeRequestParams) -> dict[str, Any]:
    version = asked.protocol_version if asked.protocol_version in VERSIONS else NEWEST
    told = InitializeResult(
        protocol_version=version,
        capabilities=ServerCapabilities(tools=ToolsCapability(list_changed=False)),
        server_info=Implementation(name="jupyter-fstools", title="Jupyter file tools", version=__version__),
        instructions=_INSTRUCTIONS,
    )
    return told.model_dump(mode="json", by_alias=True, exclude_none=True)


def _output_schema(name: str) -> dict[str, Any]:
    """True for every `structuredContent`: clients may check that of a refusal too."""
    schema = answer_schema(name)
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    told = {key: part for key, part in schema.items() if key != "$defs"}
    return {
        "type": "object",
        "properties": _BESIDE_DATA,
        "anyOf": [*told.get("anyOf", [told]), _REFUSAL],
        **definitions,
    }


def _called(workspace: Workspace, request: JSONRPCRequest) -> bytes:
    asked = checked_params(CallToolRequestParams, request)
    arguments = {
        name: with_bytes(value) if isinstance(value, str) and OTHER_NAMES.get(name, name) == "path" else value
        for name, value in (asked.arguments or {}).items()
    }
    try:
        called = call_tool(workspace, asked.name, arguments)
        content = called.content
    except FsToolsError as refusal:
        return refused(workspace, request.id, refusal)
    waits = called.change is not None and called.change.status == "proposed"
    waiting = _waiting(called.change) if called.change is not None and waits else None
    told: dict[str, Any] = {"content": [*content, *([text_block(waiting)] if waiting else [])]}
    if workspace.rules.structured_content:
        told["structuredContent"] = _structured(called, waiting)
    return result(request.id, told | {"isError": False})


def _structured(called: ToolResult, waiting: str | None) -> dict[str, Any]:
    """A result's data with what only its content tells, for clients that show a model nothing else."""
    pictures = [block for block in called.content if block["type"] == "image"]
    return called.data | ({"waiting": waiting} if waiting else {}) | ({"pictures": pictures} if pictures else {})


def _waiting(change: Change) -> str:
    return (
        f"A person decides about change {change.id} in JupyterLab's File tools panel. Do not repeat the call: go on "
        f"with something else, and read {change.title} again later: the change is there once that is approved."
    )
