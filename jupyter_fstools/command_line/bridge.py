"""Bridges a client's stdio to the running server's `/mcp`."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from http.client import HTTPException, HTTPResponse, IncompleteRead
from io import FileIO
from queue import SimpleQueue
from typing import BinaryIO

from ..client.requests import events
from ..client.runtime_files import JupyterServer
from ..errors import FsToolsError
from .endpoint import INTERNAL_ERROR, PARSE_ERROR, Endpoint, Message, error, json_rpc

_GRACE_SECONDS = 5.0
"""Longest wait for pending answers after the client has closed its output, in seconds."""

_FORWARD_SECONDS = 20.0
"""Longest wait then for lines that are not forwarded yet, because a session begins or the server hangs, in seconds."""

_CANCEL_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Pauses in seconds between repeated cancellations of a call that is still running."""

_LOST = "The connection was lost while the server worked on this call. It may have been carried out: check first."
_FOREIGN = "What answered is no server with jupyter-fstools"
_FOREIGN_HINT = (
    "A proxy may have passed the call on: check first. See with jupyter server list whether the server still runs."
)


class Bridge:
    """Connects one client on standard input and output with one server at a time.

    Args:
        find: finds the server, at the start and whenever the server no longer answers.
        session: the session of the gate to work in; None: the protocol session's own.
        incoming: the client's lines.
        outgoing: stream for the answers, unbuffered.
    """

    def __init__(
        self, find: Callable[[], JupyterServer], session: str | None, incoming: BinaryIO, outgoing: FileIO
    ) -> None:
        self._endpoint = Endpoint(find, session)
        self._incoming = incoming
        self._outgoing = outgoing
        self._writing = threading.Lock()
        self._client_listens = True
        self._under_way: dict[threading.Thread, Message] = {}
        self._stateless: str | None = None

    def run(self) -> None:
        """Run until the client closes its input or its output."""
        lines = SimpleQueue[bytes]()
        # In a thread: a server that hangs must not hide that the client has gone.
        taking = threading.Thread(target=self._take_all, args=[lines], daemon=True)
        taking.start()
        for line in self._incoming:
            if line.strip():
                lines.put(line)
            if not (self._client_listens and taking.is_alive()):
                break
        lines.put(b"")
        taking.join(_FORWARD_SECONDS)
        until = time.monotonic() + _GRACE_SECONDS
        for thread in self._under_way.copy():
            thread.join(max(0.0, until - time.monotonic()))
        self._endpoint.end()

    def _take_all(self, lines: SimpleQueue[bytes]) -> None:
        for line in iter(lines.get, b""):
            if self._client_listens:
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            message = Message.of(line)
        except ValueError as problem:
            self._answer(Message(line).as_answer(error(PARSE_ERROR, f"a line is not JSON: {problem}")))
            return
        if message.version is not None or message.begins:
            self._stateless = message.version
        elif message.is_silent:
            # Without sessions, the revision of a notification is that of the last request.
            message = replace(message, version=self._stateless)
        # Notifications are forwarded in order, before the next request; only requests may take long and get a thread.
        if message.cancels is not None:
            threading.Thread(target=self._cancel, args=[message, self._under_way.copy()], daemon=True).start()
        elif not message.ids or message.begins:
            self._forward(message)
        else:
            thread = threading.Thread(target=self._forward_aside, args=[message], daemon=True)
            self._under_way[thread] = message
            thread.start()

    def _forward_aside(self, message: Message) -> None:
        try:
            self._forward(message)
        finally:
            del self._under_way[threading.current_thread()]

    def _cancel(self, message: Message, under_way: dict[threading.Thread, Message]) -> None:
        """Repeat the cancellation until the call ends: the first one may reach the server before the call does."""
        for thread, call in under_way.items():
            if message.cancels not in call.ids:
                continue
            # In a revision without sessions, the call's version adds the header that says whose call is cancelled.
            told = replace(message, version=call.version)
            for pause in _CANCEL_PAUSES:
                if thread.is_alive():
                    self._forward(told)
                    thread.join(pause)

    def _forward(self, message: Message) -> None:
        try:
            self._endpoint.post(message, lambda response: self._relay(message, response))
        except FsToolsError as refusal:
            self._fail(message, f"{refusal.message}. {refusal.hint}".strip())
        except (OSError, HTTPException, ValueError):
            self._fail(message, _LOST)

    def _relay(self, message: Message, response: HTTPResponse) -> None:
        if response.headers.get_content_type() == "text/event-stream":
            self._relay_events(message, response)
            return
        body = response.read()
        if (answer := message.answer_in(body)) is not None:
            if message.is_silent:
                self._fail(message, f"A notification was refused: {answer.decode()}")
                return
            self._endpoint.note(message, response, body)
            self._answer(answer)
        elif message.ids or body or response.status >= 300:
            self._fail_foreign(message, response, body)

    def _relay_events(self, message: Message, response: HTTPResponse) -> None:
        answered = False
        for _, data in events(response):
            answer = message.answer_in(data)
            if answer is None and json_rpc(data) is None:
                self._fail_foreign(message, response, data)
                return
            self._answer(answer or data)
            answered = answered or answer is not None
        if not answered:
            raise IncompleteRead(b"")

    def _fail_foreign(self, message: Message, response: HTTPResponse, body: bytes) -> None:
        self._endpoint.doubt()
        told = " ".join(body[:300].decode("utf-8", "replace").split()) or "nothing"
        self._fail(message, f"{_FOREIGN}: status {response.status}: {told}. {_FOREIGN_HINT}")

    def _fail(self, message: Message, reason: str) -> None:
        if message.is_silent:
            sys.stderr.write(f"jupyter fstools mcp: {reason}\n")
        else:
            self._answer(message.as_answer(error(INTERNAL_ERROR, reason)))

    def _answer(self, body: bytes) -> None:
        """Write one line; line ends, which JSON has only between its parts, become spaces."""
        line = body.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        with self._writing:
            try:
                while line and self._client_listens:
                    line = line[self._outgoing.write(line) :]
            except OSError:
                self._client_listens = False
