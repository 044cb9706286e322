"""Parses a client's JSON-RPC messages strictly."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    CancelledNotificationParams,
)
from mcp_types.jsonrpc import HEADER_MISMATCH, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from ...errors import Invalid
from ...tools.arguments import names_to, spelled
from ..bodies import parsed
from .json_rpc import LONE_SURROGATE, Fault, Id

VERSIONS = HANDSHAKE_PROTOCOL_VERSIONS
"""The revisions that begin with a handshake."""

STATELESS = MODERN_PROTOCOL_VERSIONS
"""The revisions without sessions: https://modelcontextprotocol.io/specification/2026-07-28/changelog."""

SPOKEN = (*VERSIONS, *STATELESS)
"""All revisions of the protocol that are spoken."""

NEWEST = LATEST_HANDSHAKE_VERSION
_VERSION = "MCP-Protocol-Version"
_MOST_IN_A_BATCH = 100
_FIRST_WITHOUT_BATCHES = "2025-06-18"
_UNNAMED_VERSION = "2025-03-26"  # The specification has a server assume it where the header is missing.
_Message = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
_P = TypeVar("_P", bound=BaseModel)
_PLAIN = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


@dataclass
class Posted:
    """The requests and notifications in a body.

    Attributes:
        requests: the requests to answer, in order.
        cancelled: the requests that the client waits for no longer.
        batch: the answers come as a list too.
        client: the name that the client of a stateless request gives itself; None: the revision has sessions.
    """

    requests: list[JSONRPCRequest] = field(default_factory=list)
    cancelled: list[Id] = field(default_factory=list)
    batch: bool = False
    client: str | None = None

    @property
    def begins(self) -> bool:
        """The first request of a session, alone."""
        return self.client is None and any(request.method == "initialize" for request in self.requests)


def read_messages(body: bytes, headers: Mapping[str, str], limit: int) -> Posted:
    """The messages in a body.

    Args:
        body: as it came.
        headers: the request's; some of them repeat parts of the body.
        limit: bytes that the body may have.

    Raises:
        Fault: not JSON, not a message, a batch in a revision without batches, or an unsupported revision; TooLarge
    """
    try:
        value = parsed(body, limit)
    except Invalid as refusal:
        raise Fault(PARSE_ERROR, refusal.message) from None
    version = headers.get(_VERSION)
    posted = Posted(batch=isinstance(value, list), client="" if version in STATELESS else None)
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
    if any(posted.client is not None or declares_stateless(request) for request in posted.requests):
        posted.client = require_envelope(posted.requests[0], headers)
    elif not posted.begins:
        _require_version(version, posted)
    return posted


def progress_token(request: JSONRPCRequest) -> Id | None:
    """The token for progress notifications; None if the client wants none."""
    token = _meta(request).get("progressToken")
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
    if version is not None and version not in SPOKEN:
        raise Fault(
            UNSUPPORTED_PROTOCOL_VERSION,
            f"{_VERSION}: {version[:40]!a} is not spoken here; {', '.join(SPOKEN)} are",
            id=posted.requests[0].id if posted.requests else None,
            details={"supported": [*SPOKEN], "requested": version[:40]},
        )


def _message(value: Any) -> _Message:
    if not isinstance(value, dict):
        raise Fault(INVALID_REQUEST, "a message is an object: jsonrpc, method and, for a request, id and params")
    id = value.get("id")
    known = id if isinstance(id, (str, int)) and not isinstance(id, bool) else None
    if isinstance(id, str) and LONE_SURROGATE.search(id):
        raise Fault(INVALID_REQUEST, "id: takes text that is Unicode, got half of a surrogate pair")
    form: type[_Message] = JSONRPCRequest if "id" in value else JSONRPCNotification
    if "method" not in value and ("result" in value or "error" in value):
        form = JSONRPCResponse if "result" in value else JSONRPCError
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise Fault(INVALID_REQUEST, f"not a JSON-RPC 2.0 message: {_problems(error)}", id=known) from None


def _problems(error: ValidationError) -> str:
    """Each field, with what it takes and what it got."""
    takes: dict[str, list[str]] = {}
    got: dict[str, str] = {}
    for one in error.errors(include_url=False):
        # Each alternative of a type is found wrong by itself.
        field = ".".join(names_to(one["loc"]))[:80]
        takes.setdefault(field, []).append(_PLAIN.get(one["type"], one["msg"].removeprefix("Input should be ")))
        if one["type"] != "missing":
            got[field] = spelled(one["input"])
    told = [
        f"{field}: takes {' or '.join(dict.fromkeys(found))}, got {got[field]}"
        if field in got
        else f"{field}: is required"
        for field, found in takes.items()
    ]
    return "; ".join(told[:5])


def require_envelope(request: JSONRPCRequest, headers: Mapping[str, str]) -> str:
    """Check that a request has the metadata that its revision requires, and that the headers repeat it.

    Gives the client's name.

    Raises:
        Fault: something is missing, or contradicts a header.
    """
    meta = _meta(request)
    for key in (PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY):
        if key not in meta:
            raise Fault(INVALID_PARAMS, f"params._meta.{key}: is required", id=request.id)
    says = [
        (_VERSION, headers.get(_VERSION), meta[PROTOCOL_VERSION_META_KEY]),
        ("Mcp-Method", headers.get("Mcp-Method"), request.method),
    ]
    if request.method == "tools/call":
        says.append(("Mcp-Name", _decoded(headers.get("Mcp-Name")), (request.params or {}).get("name")))
    for header, said, meant in says:
        if said != meant:
            what = f"{header} says {str(said)[:80]!a}, the body {str(meant)[:80]!a}"
            raise Fault(HEADER_MISMATCH, what, id=request.id)
    client = meta.get(CLIENT_INFO_META_KEY)
    name = client.get("name") if isinstance(client, Mapping) else None
    return name if isinstance(name, str) else ""


def declares_stateless(request: JSONRPCRequest) -> bool:
    """The request's body names a revision without sessions."""
    return _meta(request).get(PROTOCOL_VERSION_META_KEY) in STATELESS


def _meta(request: JSONRPCRequest) -> Mapping[str, Any]:
    meta = (request.params or {}).get("_meta")
    return meta if isinstance(meta, Mapping) else {}


def _decoded(header: str | None) -> str | None:
    """A header's value; a value that is not plain ASCII is sent as base64 of UTF-8."""
    match = _ENCODED.fullmatch(header or "")
    if match is None:
        return header
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except ValueError:
        return None
