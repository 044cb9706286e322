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

from ..client.requests import connected, send
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
    """One line of the client's.

    Attributes:
        line: its bytes.
        ids: the request's, or those of a batch of requests; none for notifications and for answers to the server.
        is_batch: the answers come as a list too.
        method: what is called; empty for answers and for a batch.
        version: the revision of the protocol that it names itself, if that has no sessions.
        name: of the tool that is called.
        cancels: the request whose answer is not awaited any more.
    """

    line: bytes
    ids: tuple[Id, ...] = ()
    is_batch: bool = False
    method: str = ""
    version: str | None = None
    name: str | None = None
    cancels: Id | None = None

    @classmethod
    def of(cls, line: bytes) -> Message:
        """A line of the client's.

        Raises:
            ValueError: it is no JSON.
        """
        try:
            told = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8 at byte {error.start}") from None
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if isinstance(told, list):
            return cls(line, tuple(id for one in told for id in _requested(one)), is_batch=True)
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
        )

    def headers(self) -> dict[str, str]:
        """The headers that repeat parts of a message in a protocol revision without sessions."""
        if self.version is None:
            return {}
        named = {} if self.name is None else {"Mcp-Name": _header(self.name)}
        return {"MCP-Protocol-Version": _header(self.version), "Mcp-Method": _header(self.method), **named}

    @property
    def begins(self) -> bool:
        """It begins a session."""
        return self.method == "initialize"

    def answer_in(self, body: bytes) -> bytes | None:
        """The answer to this message that a body is; None if it is none."""
        told = json_rpc(body)
        if isinstance(told, dict) and "error" in told:
            # A server that refuses before it has looked into the message does not know the id.
            return self.as_answer(told)
        answers = told if isinstance(told, list) else [told or {}]
        known = [one.get("id") for one in answers if "result" in one or "error" in one]
        is_answer = self.ids and isinstance(told, list) == self.is_batch and all(id in known for id in self.ids)
        return body if is_answer else None

    def as_answer(self, told: dict[str, Any]) -> bytes:
        """An error as the answer to each request of this message, or to what is none."""
        answers = [{**told, "id": id} for id in self.ids] or [told]
        return json.dumps(answers if self.ids and self.is_batch else answers[0]).encode()


def _requested(told: Any) -> tuple[Id, ...]:
    """The id of a request."""
    if isinstance(told, dict) and isinstance(told.get("method"), str) and isinstance(told.get("id"), (str, int)):
        return (told["id"],)
    return ()


def error(code: int, message: str) -> dict[str, Any]:
    """An error of our own, to a message whose id is not known."""
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}


def json_rpc(body: bytes) -> dict[str, Any] | list[dict[str, Any]] | None:
    """The JSON-RPC message, or batch of them, that a body is; None if it is none."""
    try:
        told: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    messages = told if isinstance(told, list) else [told]
    spoken = all(isinstance(one, dict) and one.get("jsonrpc") == "2.0" for one in messages)
    return told if spoken else None


def _header(value: str) -> str:
    """A value as a header can carry it: what is no plain ASCII as base64 of UTF-8."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="


_ROUTE = "/mcp"
_SESSION_ID = "Mcp-Session-Id"
_SESSION_HEADER = "X-Fstools-Session"
_END_SECONDS = 2.0
_INITIALIZED = Message(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')


class Endpoint:
    """Where messages are posted.

    Args:
        find: finds the server.
        session: the session of the gate to work in; None: the protocol session's own.
    """

    def __init__(self, find: Callable[[], JupyterServer], session: str | None) -> None:
        self._find = find
        self._session = {} if session is None else {_SESSION_HEADER: session}
        self._own = {_SESSION_HEADER: new_client_session("stdio")}
        self._server = find()
        self._doubted: JupyterServer | None = None
        self._beginning: Message | None = None
        self._known: dict[str, str] = {}
        self._renewing = threading.Lock()

    def post(self, message: Message, relay: Callable[[HTTPResponse], None]) -> None:
        """Post a message and hand on the answer; again where the server did not take it and there may be a remedy.

        Raises:
            FsToolsError: there is no server; OSError, HTTPException: the connection was lost on the way.
        """
        if self._doubted is not None:
            self._find_again(self._doubted)
        server, known = self._server, self._known
        try:
            status = self._offer(message, relay, (401, 403, 404))
        except FsToolsError:  # Nobody is there.
            status = 401
        if status in (401, 403):
            self._find_again(server)
            status = self._offer(message, relay, (404,))
        if status == 404:
            self._begin_again(known)
            self._offer(message, relay, ())

    def doubt(self) -> None:
        """Look for the server before the next message: another program answered, or a proxy without it."""
        self._doubted = self._server

    def note(self, message: Message, response: HTTPResponse, body: bytes) -> None:
        """Remember what the beginning of a session agreed on: later messages name it."""
        version = _agreed_version(body) if message.begins else None
        if version is None:  # Refused, or answered by another program.
            return
        self._beginning = message
        id = response.headers.get(_SESSION_ID)
        agreed = {_SESSION_ID: id, "MCP-Protocol-Version": version}
        self._known = {name: value for name, value in agreed.items() if value}

    def end(self) -> None:
        """Say that the session is over, to a server that still listens."""
        if _SESSION_ID not in self._known:
            return
        server = self._server
        with suppress(FsToolsError, OSError, HTTPException), closing(connected(server)) as connection:
            connection.sock.settimeout(_END_SECONDS)
            send(connection, server, "DELETE", _ROUTE, headers=self._known)

    def _offer(self, message: Message, relay: Callable[[HTTPResponse], None], kept: Collection[int]) -> int | None:
        """Post a message once; an answer with one of these statuses is not handed on, and its status returned.

        404 tells of a session that is not known, where one is named.
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
        # From here on the client decides how long is too long.
        connection.sock.settimeout(None)
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            # A revision without sessions leaves it to us to say which calls are of one program.
            **(self._session or (self._own if message.version else {})),
            **({} if message.begins else self._known),
            **message.headers(),
        }
        return send(connection, server, "POST", _ROUTE, message.line, headers)

    def _find_again(self, gone: JupyterServer) -> None:
        """Look for the server again; of several calls that failed, only one looks."""
        with self._renewing:
            if self._server is gone:
                self._server = self._find()

    def _begin_again(self, known: dict[str, str]) -> None:
        """Begin the session with a server that does not know it; what was read in it must be read again."""
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
