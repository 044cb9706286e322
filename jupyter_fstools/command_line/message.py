"""Reads what the bridge needs of a JSON-RPC message."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

PARSE_ERROR = -32700
INTERNAL_ERROR = -32603


@dataclass(frozen=True)
class Message:
    """One line of the client's.

    Attributes:
        line: its bytes.
        id: the request's; None for notifications and for answers to the server.
        method: what is called; empty for answers.
    """

    line: bytes
    id: str | int | None = None
    method: str = ""

    @classmethod
    def of(cls, line: bytes) -> Message:
        """A line of the client's.

        Raises:
            ValueError: it is no JSON.
        """
        try:
            told = json.loads(line)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not isinstance(told, dict):
            return cls(line)
        method, known = told.get("method"), told.get("id")
        is_request = isinstance(method, str) and isinstance(known, (str, int))
        return cls(line, known if is_request else None, method if isinstance(method, str) else "")

    @property
    def begins(self) -> bool:
        """It begins a session."""
        return self.method == "initialize"


def error_line(known: str | int | None, code: int, message: str) -> bytes:
    """An error as an answer of our own."""
    return json.dumps({"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}).encode()


def with_id(body: bytes, known: str | int | None) -> bytes | None:
    """A server's answer, if it is a JSON-RPC one, for the request it is about.

    A server that refuses before it has looked into the message does not know the id.
    """
    try:
        told: Any = json.loads(body)
    except ValueError:
        return None
    if not isinstance(told, dict) or told.get("jsonrpc") != "2.0":
        return None
    return body if told.get("id") == known else json.dumps({**told, "id": known}).encode()
