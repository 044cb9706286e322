"""Answers the protocol's methods: lists and calls tools."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from mcp_types import (
    INVALID_PARAMS,
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    InitializeRequestParams,
    PaginatedRequestParams,
)
from mcp_types.jsonrpc import JSONRPCRequest

from ..._version import __version__
from ...errors import Denied, Disabled, FsToolsError, Invalid
from ...gate.workspace import Workspace
from ...stores.records import Change
from ...tools import Tool, available_tools, call_tool, find_tool, tool_named
from ...tools.arguments import OTHER_NAMES
from ...tools.schemas import answer_schema, as_schema, prefixed_hint
from ...tools.tool import ToolResult, text_block
from .json_rpc import METHOD_NOT_FOUND, Fault, Id, result, with_bytes
from .messages import NEWEST, SPOKEN, VERSIONS, checked_params

_INSTRUCTIONS = (
    "Tools for the files and notebooks of this Jupyter server; paths are relative to its root. A file (or a notebook's "
    "cell) must be read in this session before it is changed, and read again once others changed it. A refusal says "
    "what was wrong, that nothing was modified, and what to do next."
)
_SERVER = {"name": "jupyter-fstools", "title": "Jupyter file tools", "version": __version__}
_CAPABILITIES = {"tools": {"listChanged": False}}
_COMPLETE = {"resultType": "complete"}
_MAY_BE_KEPT = {"ttlMs": 300_000, "cacheScope": "private"}
"""How long a client may cache answers that change only when the server restarts with other settings."""
_BESIDE_DATA = {
    "waiting": {"type": "string", "description": "What to do while a person decides about the change."},
    "since_last_call": {"type": "string", "description": "What a person decided since the session's last call."},
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
    """The name of the tool that a request calls; None where it calls none, or one that does not exist."""
    name = (request.params or {}).get("name") if request.method == "tools/call" else None
    return name if isinstance(name, str) and tool_named(name, workspace.tool_prefix) is not None else None


def answered(
    workspace: Workspace,
    request: JSONRPCRequest,
    *,
    stateless: bool = False,
    conversation: str | None = None,
    shown_bytes: int | None = None,
) -> bytes:
    """The message that answers a request, in the form of the stateless revision or of those with sessions.

    Args:
        workspace: of the reader who asks.
        request: the reader's request.
        stateless: the form.
        conversation: the one that the request belongs to, if anybody knows.
        shown_bytes: rows that the client shows its model of one answer; None: all.

    Raises:
        Fault: unknown method, or parameters that do not fit it.
        FsToolsError: the tool refused.
    """
    if request.method == "tools/call":
        told = _called(workspace.in_conversation(conversation, shown_bytes=shown_bytes), request)
    elif request.method == "tools/list":
        if checked_params(PaginatedRequestParams, request).cursor is not None:
            raise Fault(INVALID_PARAMS, "cursor: the list has one page", id=request.id, status=200)
        told = {"tools": listed(workspace)} | (_MAY_BE_KEPT if stateless else {})
    elif request.method == "server/discover" and stateless:
        told = _discovered()
    elif request.method == "initialize" and not stateless:
        told = _introduced(checked_params(InitializeRequestParams, request))
    elif request.method == "ping" and not stateless:
        told = {}
    else:
        own = ("server/discover",) if stateless else ("initialize", "ping")
        there = ", ".join((*own, "tools/list"))
        what = f"there is no method {request.method[:80]!r}; there are {there} and tools/call"
        raise Fault(METHOD_NOT_FOUND, what, id=request.id, status=200)
    return result(request.id, told | (_COMPLETE if stateless else {}))


def listed(workspace: Workspace) -> list[dict[str, Any]]:
    """The tools that exist in a workspace, as `tools/list` answers them."""
    structured = workspace.rules.structured_content
    return [
        as_schema(name, tool, "mcp") | ({"outputSchema": _output_schema(tool)} if structured else {})
        for name, tool in available_tools(workspace).items()
    ]


def refused(workspace: Workspace, id: Id, refusal: FsToolsError, *, stateless: bool) -> bytes:
    """The message that tells a model why its call was refused."""
    refusal.hint = prefixed_hint(refusal.hint, workspace.tool_prefix)
    content = [text_block(text) for text in refusal.texts()]
    structured = {"structuredContent": {"error": refusal.as_dict()}} if workspace.rules.structured_content else {}
    told = {"content": content, **structured, "isError": True}
    return result(id, told | (_COMPLETE if stateless else {}))


def _introduced(asked: InitializeRequestParams) -> dict[str, Any]:
    version = asked.protocol_version if asked.protocol_version in VERSIONS else NEWEST
    return {
        "protocolVersion": version,
        "capabilities": _CAPABILITIES,
        "serverInfo": _SERVER,
        "instructions": _INSTRUCTIONS,
    }


def _discovered() -> dict[str, Any]:
    return {
        "supportedVersions": [*SPOKEN],
        "capabilities": _CAPABILITIES,
        "instructions": _INSTRUCTIONS,
        "_meta": {SERVER_INFO_META_KEY: _SERVER},
        **_MAY_BE_KEPT,
    }


def _output_schema(tool: Tool) -> dict[str, Any]:
    """True for every `structuredContent`: clients may check that of a refusal too."""
    schema = answer_schema(tool)
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    told = {key: part for key, part in schema.items() if key != "$defs"}
    return {
        "type": "object",
        "properties": _BESIDE_DATA,
        "anyOf": [*told.get("anyOf", [told]), _REFUSAL],
        **definitions,
    }


def _called(workspace: Workspace, request: JSONRPCRequest) -> dict[str, Any]:
    asked = checked_params(CallToolRequestParams, request)
    _require_tool(workspace, asked.name, request.id)
    called = call_tool(workspace, asked.name, _understood(workspace, asked.arguments or {}))
    content = called.content
    waits = called.change is not None and called.change.status == "proposed"
    waiting = _waiting(called.change) if called.change is not None and waits else None
    told: dict[str, Any] = {"content": [*content, *([text_block(waiting)] if waiting else [])]}
    if workspace.rules.structured_content:
        told["structuredContent"] = _structured(called, waiting)
    return told | {"isError": False}


def _require_tool(workspace: Workspace, name: str, id: Id) -> None:
    """Refuse a name that no tool has, and name the tools that this caller has.

    Raises:
        Fault
    """
    try:
        find_tool(workspace, name)
    except Invalid as refusal:
        message = f"{refusal.message}. {refusal.hint}"
        raise Fault(INVALID_PARAMS, message, id=id, details=refusal.as_dict(), status=200) from None
    except (Denied, Disabled):
        pass  # The call is refused as any other: in words for the model.


def _understood(workspace: Workspace, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with each path, also those of edits, as its file is called."""
    return {
        name: [_named(workspace, one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else value
        for name, value in _named(workspace, arguments).items()
    }


def _named(workspace: Workspace, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _meant(workspace, value) if isinstance(value, str) and OTHER_NAMES.get(name, name) == "path" else value
        for name, value in fields.items()
    }


def _meant(workspace: Workspace, told: str) -> str:
    """A path with its bytes that are not UTF-8 restored; unchanged where only a file with the literal name exists."""
    path = with_bytes(told)
    if path != told:
        with suppress(FsToolsError):
            if workspace.peek(path).kind == "missing" and workspace.peek(told).kind != "missing":
                return told
    return path


def _structured(called: ToolResult, waiting: str | None) -> dict[str, Any]:
    """A result's data, with what only its content has: some clients show a model nothing but the data."""
    pictures = [block for block in called.content if block["type"] == "image"]
    return called.data | ({"waiting": waiting} if waiting else {}) | ({"pictures": pictures} if pictures else {})


def _waiting(change: Change) -> str:
    return (
        f"A person decides about change {change.id} in JupyterLab's File tools panel. Do not repeat the call: go on "
        f"with something else, and read {change.title} again once a later answer says that it was approved."
    )
