"""Sends JSON-RPC messages to a server's MCP endpoint."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any

from ..client.requests import SESSION_HEADER, connected, send
from ..client.runtime_files import JupyterServer
from ..errors import FsToolsError
from ..sessions import new_client_session

PARSE_ERROR = -32700
INTERNAL_ERROR = -32603
Id = str | int
_CANCELLED = "notifications/cancelled"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


@dataclass(frozen=True)
class Message:
    """One line from the client.

    Attributes:
        line: its bytes.
        ids: the ids of its request or batch of requests; none for notifications and for answers to the server.
        is_batch: True if it is a batch, which is answered with a list.
        method: the method that is called; empty for answers and for a batch.
        version: the protocol revision that the message itself names, as in revisions without sessions; else None.
        name: the tool that is called.
        cancels: id of the request that it cancels.
        is_silent: True if it must not be answered, not even with an error: a notification or an answer to the server.
    """

    line: bytes
    ids: tuple[Id, ...] = ()
    is_batch: bool = False
    method: str = ""
    version: str | None = None
    name: str | None = None
    cancels: Id | None = None
    is_silent: bool = False

    @classmethod
    def of(cls, line: bytes) -> Message:
        """Parse a line from the client.

        Raises:
            ValueError: it is not JSON.
        """
        try:
            told = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 at byte {error.start}") from None
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if isinstance(told, list):
            is_silent = bool(told) and all(map(_is_silent, told))
            return cls(line, tuple(id for one in told for id in _requested(one)), is_batch=True, is_silent=is_silent)
        if not isinstance(told, dict):
            return cls(line)
        method = told.get("method")
        params = told.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
        return cls(
            line,
            _requested(told),
            False,
            method if isinstance(method, str) else "",
            version if isinstance(version, str) else None,
            params["name"] if method == "tools/call" and isinstance(params.get("name"), str) else None,
            params.get("requestId") if method == _CANCELLED and not _requested(told) else None,
            _is_silent(told),
        )

    def headers(self) -> dict[str, str]:
        """The headers that repeat parts of the message, as protocol revisions without sessions require."""
        if self.version is None:
            return {}
        named = {} if self.name is None else {"Mcp-Name": _header(self.name)}
        return {"MCP-Protocol-Version": _header(self.version), "Mcp-Method": _header(self.method), **named}

    @property
    def begins(self) -> bool:
        """True if it begins a session."""
        return self.method == "initialize"

    def answer_in(self, body: bytes) -> bytes | None:
        """The answer to this message in a body; None if the body is not one."""
        told = json_rpc(body)
        if isinstance(told, dict) and "error" in told:
            # A server that refuses a message before parsing it does not know the id.
            return self.as_answer(told)
        answers = told if isinstance(told, list) else [told or {}]
        known = [one.get("id") for one in answers if "result" in one or "error" in one]
        is_answer = self.ids and isinstance(told, list) == self.is_batch and all(id in known for id in self.ids)
        return body if is_answer else None

    def as_answer(self, told: dict[str, Any]) -> bytes:
        """An error as the answer to each request of this message, or without an id if it has none."""
        answers = [{**told, "id": id} for id in self.ids] or [told]
        return json.dumps(answers if self.ids and self.is_batch else answers[0]).encode()


def _requested(told: Any) -> tuple[Id, ...]:
    """The id of a request, as a tuple; empty if it is not a request."""
    if isinstance(told, dict) and isinstance(told.get("method"), str) and isinstance(told.get("id"), (str, int)):
        return (told["id"],)
    return ()


def _is_silent(told: Any) -> bool:
    """A notification, or an answer to the server."""
    if not isinstance(told, dict):
        return False
    return "id" not in told if isinstance(told.get("method"), str) else "result" in told or "error" in told


def error(code: int, message: str) -> dict[str, Any]:
    """An error made by the bridge, for a message with an unknown id."""
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}


def json_rpc(body: bytes) -> dict[str, Any] | list[dict[str, Any]] | None:
    """The JSON-RPC message, or batch of messages, in a body; None if the body is not JSON-RPC."""
    try:
        told: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    messages = told if isinstance(told, list) else [told]
    spoken = all(isinstance(one, dict) and one.get("jsonrpc") == "2.0" for one in messages)
    return told if spoken else None


def _header(value: str) -> str:
    """A value encoded for a header: base64 of UTF-8 unless it is plain ASCII."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="


_ROUTE = "/mcp"
_SESSION_ID = "Mcp-Session-Id"
_END_SECONDS = 2.0
_INITIALIZED = Message(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')


class Endpoint:
    """The server's endpoint, to which messages are posted.

    Args:
        find: finds the server.
        session: the session of the gate to work in; None: the protocol session's own.
    """

    def __init__(self, find: Callable[[], JupyterServer], session: str | None) -> None:
        self._find = find
        self._session = {} if session is None else {SESSION_HEADER: session}
        self._own = {SESSION_HEADER: new_client_session("stdio")}
        self._server = find()
        self._doubted: JupyterServer | None = None
        self._beginning: Message | None = None
        self._known: dict[str, str] = {}
        self._renewing = threading.Lock()

    def post(self, message: Message, relay: Callable[[HTTPResponse], None]) -> None:
        """Post a message and relay the answer; retry once if a new server or session may help.

        Raises:
            FsToolsError: there is no server; OSError, HTTPException: the connection was lost on the way.
        """
        if self._doubted is not None:
            self._find_again(self._doubted)
        server, known = self._server, self._known
        try:
            status = self._offer(message, relay, (401, 403, 404))
        except FsToolsError:  # No server answers.
            status = 401
        if status in (401, 403):
            self._find_again(server)
            status = self._offer(message, relay, (404,))
        if status == 404:
            self._begin_again(known)
            self._offer(message, relay, ())

    def doubt(self) -> None:
        """Look for the server again before the next message, as another program or a proxy answered instead of it."""
        self._doubted = self._server

    def note(self, message: Message, response: HTTPResponse, body: bytes) -> None:
        """Remember the session id and version that the beginning of a session agreed on, for later messages."""
        version = _agreed_version(body) if message.begins else None
        if version is None:  # Refused, or answered by another program.
            return
        self._beginning = message
        id = response.headers.get(_SESSION_ID)
        agreed = {_SESSION_ID: id, "MCP-Protocol-Version": version}
        self._known = {name: value for name, value in agreed.items() if value}

    def end(self) -> None:
        """Tell the server, if it still listens, that the session is over."""
        if _SESSION_ID not in self._known:
            return
        server = self._server
        with suppress(FsToolsError, OSError, HTTPException), closing(connected(server)) as connection:
            connection.sock.settimeout(_END_SECONDS)
            send(connection, server, "DELETE", _ROUTE, headers=self._known)

    def _offer(self, message: Message, relay: Callable[[HTTPResponse], None], kept: Collection[int]) -> int | None:
        """Post a message once; return the status of an answer if it is in `kept`, else relay the answer.

        A 404 counts only if the message names a session: it means that the server does not know the session.
        """
        server = self._server
        names_session = _SESSION_ID in self._known and not message.begins
        with closing(connected(server)) as connection:
            response = self._sent(connection, server, message)
            if response.status in kept and (response.status != 404 or names_session):
                return response.status
            relay(response)
        return None

    def _sent(self, connection: HTTPConnection, server: JupyterServer, message: Message) -> HTTPResponse:
        # From here on the client decides when to give up.
        connection.sock.settimeout(None)
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            # In a revision without sessions, our own header tells which calls come from one program.
            **(self._session or (self._own if message.version else {})),
            **({} if message.begins else self._known),
            **message.headers(),
        }
        return send(connection, server, "POST", _ROUTE, message.line, headers)

    def _find_again(self, gone: JupyterServer) -> None:
        """Look for the server again; if several calls failed at once, only one of them looks."""
        with self._renewing:
            if self._server is gone:
                self._server = self._find()

    def _begin_again(self, known: dict[str, str]) -> None:
        """Begin the session again with a server that does not know it; files must then be read again before changes."""
        with self._renewing:
            if self._known is not known or self._beginning is None:
                return
            server = self._server
            for step in (self._beginning, _INITIALIZED):
                with closing(connected(server)) as connection:
                    response = self._sent(connection, server, step)
                    self.note(step, response, response.read())


def _agreed_version(body: bytes) -> str | None:
    told: Any = json_rpc(body)
    try:
        version = told["result"]["protocolVersion"]
    except (KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None
