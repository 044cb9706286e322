"""Parses a client's JSON-RPC messages strictly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    CancelledNotificationParams,
)
from mcp_types.jsonrpc import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from pydantic import BaseModel, ValidationError

from ...errors import Invalid
from ..bodies import parsed
from .json_rpc import Fault, Id

VERSIONS = HANDSHAKE_PROTOCOL_VERSIONS
"""The revisions of the protocol that are spoken; later ones have no sessions, and a reader is a session."""

NEWEST = LATEST_HANDSHAKE_VERSION
_MOST_IN_A_BATCH = 100
_FIRST_WITHOUT_BATCHES = "2025-06-18"
_UNNAMED_VERSION = "2025-03-26"  # What the specification has a server assume where the header is missing.
_Message = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
_P = TypeVar("_P", bound=BaseModel)


@dataclass
class Posted:
    """What is in a body, as far as it asks for something.

    Attributes:
        requests: what is to be answered, in order.
        cancelled: the requests that the client waits for no longer.
        batch: the answers come as a list too.
    """

    requests: list[JSONRPCRequest] = field(default_factory=list)
    cancelled: list[Id] = field(default_factory=list)
    batch: bool = False

    @property
    def begins(self) -> bool:
        """The first request of a session, alone."""
        return any(request.method == "initialize" for request in self.requests)


def read_messages(body: bytes, version: str | None, limit: int) -> Posted:
    """The messages in a body.

    Args:
        body: as it came.
        version: what the MCP-Protocol-Version header says.
        limit: bytes that the body may have.

    Raises:
        Fault: no JSON, no message, a batch where there is none, or a revision that is not spoken; TooLarge
    """
    try:
        value = parsed(body, limit)
    except Invalid as refusal:
        raise Fault(PARSE_ERROR, refusal.message) from None
    posted = Posted(batch=isinstance(value, list))
    if posted.batch:
        _require_batch(value, version)
    for one in value if posted.batch else [value]:
        message = _message(one)
        if isinstance(message, JSONRPCRequest):
            posted.requests.append(message)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            id = checked_params(CancelledNotificationParams, message).request_id
            posted.cancelled += [] if id is None else [id]
    if posted.begins and posted.batch:
        raise Fault(INVALID_REQUEST, "initialize: comes alone, not in a batch")
    if not posted.begins:
        _require_version(version, posted)
    return posted


def progress_token(request: JSONRPCRequest) -> Id | None:
    """What a client wants to be told progress by; None if it wants none."""
    meta = (request.params or {}).get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, (str, int)) else None


def checked_params(model: type[_P], message: JSONRPCRequest | JSONRPCNotification) -> _P:
    """A message's parameters, if they fit its method.

    Raises:
        Fault: names each field that does not.
    """
    try:
        return model.model_validate(message.params or {}, by_name=False)
    except ValidationError as error:
        what = f"{message.method}: {_problems(error)}"
        raise Fault(INVALID_PARAMS, what, id=getattr(message, "id", None), status=200) from None


def _require_batch(messages: list[Any], version: str | None) -> None:
    if (version or _UNNAMED_VERSION) >= _FIRST_WITHOUT_BATCHES:
        raise Fault(INVALID_REQUEST, f"protocol {str(version)[:40]} has no batches: send one message at a time")
    if not 0 < len(messages) <= _MOST_IN_A_BATCH:
        raise Fault(INVALID_REQUEST, f"a batch holds 1 to {_MOST_IN_A_BATCH} messages, not {len(messages)}")


def _require_version(version: str | None, posted: Posted) -> None:
    if version is not None and version not in VERSIONS:
        raise Fault(
            UNSUPPORTED_PROTOCOL_VERSION,
            f"MCP-Protocol-Version: {version[:40]!a} is not spoken here; {', '.join(VERSIONS)} are",
            id=posted.requests[0].id if posted.requests else None,
            details={"supported": [*VERSIONS], "requested": version[:40]},
        )


def _message(value: Any) -> _Message:
    if not isinstance(value, dict):
        raise Fault(INVALID_REQUEST, "a message is an object: jsonrpc, method and, for a request, id and params")
    id = value.get("id")
    known = id if isinstance(id, (str, int)) and not isinstance(id, bool) else None
    form: type[_Message] = JSONRPCRequest if "id" in value else JSONRPCNotification
    if "method" not in value and ("result" in value or "error" in value):
        form = JSONRPCResponse if "result" in value else JSONRPCError
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise Fault(INVALID_REQUEST, f"no message of JSON-RPC 2.0: {_problems(error)}", id=known) from None


def _problems(error: ValidationError) -> str:
    """Each field, and what it should be."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))[:80]}: {one['msg']}" for one in found[:5])
