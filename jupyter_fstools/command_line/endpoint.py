"""Finds the server's `/mcp` again after a restart, and resumes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any

from ..client.requests import connected, send
from ..errors import FsToolsError
from ..runtime_files import JupyterServer
from .message import Message

_ROUTE = "/mcp"
_SESSION_ID = "Mcp-Session-Id"
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
        self._session = {} if session is None else {"X-Fstools-Session": session}
        self._server = find()
        self._beginning: Message | None = None
        self._known: dict[str, str] = {}
        self._renewing = threading.Lock()

    def post(self, message: Message, relay: Callable[[HTTPResponse], None]) -> None:
        """Post a message and hand on the answer; again where the server did not take it and there may be a remedy.

        Raises:
            FsToolsError: there is no server; OSError, HTTPException: the connection was lost on the way.
        """
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

    def note(self, message: Message, response: HTTPResponse, body: bytes) -> None:
        """Remember what the beginning of a session agreed on: later messages name it."""
        if not message.begins:
            return
        self._beginning = message
        id, version = response.headers.get(_SESSION_ID), _agreed_version(body)
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
            **self._session,
            **({} if message.begins else self._known),
        }
        return send(connection, server, "POST", _ROUTE, message.line, headers)

    def _find_again(self, gone: JupyterServer) -> None:
        """Of several calls that a server has failed, one finds the next."""
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
    try:
        told: Any = json.loads(body)["result"]["protocolVersion"]
    except (ValueError, KeyError, TypeError):
        return None
    return told if isinstance(told, str) else None
