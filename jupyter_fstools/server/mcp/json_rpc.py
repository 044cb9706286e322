"""Builds JSON-RPC results and errors."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

Id = str | int
"""The id of a request."""

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character, which many clients reject in a message."""
_TOLD_BYTE = re.compile(r"\\u(dc[89a-f][0-9a-f])")


class Fault(Exception):
    """A message that the protocol itself refuses; answered as a JSON-RPC error.

    Attributes:
        code: JSON-RPC's or MCP's.
        message: what was wrong, and what would be right.
        id: the request's, where it could be read.
        details: JSON-ready facts.
        status: the HTTP status in the revisions with sessions.
    """

    def __init__(
        self, code: int, message: str, *, id: Id | None = None, details: Any = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.id, self.details, self.status = code, message, id, details, status

    @property
    def stateless_status(self) -> int:
        """The HTTP status in the revisions without sessions."""
        return 404 if self.code == METHOD_NOT_FOUND else 400

    def as_message(self) -> bytes:
        """The message that answers the request, or a body that held none."""
        return as_message(error(self.id, self.code, self.message, self.details))


def result(id: Id, result: Any) -> bytes:
    """A result as the message that answers a request."""
    return as_message({"jsonrpc": "2.0", "id": id, "result": result})


def error(id: Id | None, code: int, message: str, details: Any = None) -> dict[str, Any]:
    """An error as the message that answers a request."""
    told = {"code": code, "message": message} | ({} if details is None else {"data": details})
    return {"jsonrpc": "2.0", "id": id, "error": told}


def as_message(value: Any) -> bytes:
    r"""A value as JSON that every client reads.

    Each byte of a name that is not UTF-8 is written as a backslash and `udcXX`. `with_bytes` reverses this.
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # A lone surrogate, or a number beyond 64 bits.
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        return LONE_SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text).encode()


def with_bytes(path: str) -> str:
    """A path from `as_message`, with the bytes that are not UTF-8 restored."""
    return _TOLD_BYTE.sub(lambda told: chr(int(told[1], 16)), path)
