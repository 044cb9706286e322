"""Finds the kernel's server and calls its tools."""

from __future__ import annotations

import json
import os
import selectors
import socket
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any

from ..client.changes import change_of
from ..client.requests import OPENED_HEADER, SESSION_HEADER, answer_of, connected, events, refusal_of, send, understood
from ..client.runtime_files import JupyterServer, running_servers, servers_around
from ..errors import FsToolsError, InputOutput
from ..progress import Progress
from ..tools import TOOLS, ToolResult


def servers_for(root: str) -> list[JupyterServer]:
    """The servers that may serve a folder (a real path): the kernel's own first, then those of the deepest roots."""
    parent = os.environ.get("JPY_PARENT_PID")
    own = [server for server in running_servers() if str(server.process) == parent]
    return own + [server for server in servers_around(root) if server not in own]


_WAIT_SECONDS = 600.0
"""Longest wait for data, in seconds: an answer may wait for a lock, a search or a slow disk; a longer command sends
heartbeats."""

_HINT = "Check that the server runs and can be reached from this kernel, then call again."
_UNKNOWN = "The call may have been carried out: read the file again before you repeat it."


class ServerCalls:
    """Calls the tools of a running server; safe for threads, one call at a time.

    Args:
        server: its address and token.
    """

    def __init__(self, server: JupyterServer) -> None:
        self.server = server
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._connection: HTTPConnection | None = None

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        session: str,
        progress: Callable[[Progress], None] | None = None,
        opened: Sequence[str] = (),
    ) -> ToolResult:
        """Call a tool, as `call_tool` does.

        Args:
            tool: its name, without the prefix that the server may give it.
            arguments: as the tool takes them.
            session: the session of the gate to work in.
            progress: called with what a command tells while it runs.
            opened: a file's key and the pages that have it open: a server that does not know of them refuses.

        Raises:
            FsToolsError: the refusal that the server answered, as the tool raised it there.
            InputOutput: the server cannot be reached, or the connection was lost on the way.
        """
        stream = progress is not None and TOOLS[tool].runs_commands
        headers = {SESSION_HEADER: session} | ({"Accept": "text/event-stream"} if stream else {})
        if opened:
            headers[OPENED_HEADER] = json.dumps(opened)
        repeatable = TOOLS[tool].reads_only
        body = json.dumps(dict(arguments)).encode()
        with understood(self.server, writes=not repeatable):
            return _result(self._exchange("POST", f"/tools/{tool}", body, headers, progress, repeatable=repeatable))

    def ask(self, route: str, *, session: str) -> dict[str, Any]:
        """Get what a route below `api/fstools` answers, decoded from JSON.

        Raises:
            FsToolsError: the server's refusal; InputOutput: as `call`.
        """
        with understood(self.server):
            return self._exchange("GET", route, None, {SESSION_HEADER: session}, None, repeatable=True)

    def close(self) -> None:
        """Close the connection; the next call makes another one."""
        with self._lock:
            self._drop()

    def _exchange(
        self,
        method: str,
        route: str,
        body: bytes | None,
        headers: Mapping[str, str],
        progress: Callable[[Progress], None] | None,
        *,
        repeatable: bool,
    ) -> dict[str, Any]:
        sent = {"Content-Type": "application/json", **headers}
        with self._lock:
            while True:
                kept = self._connection is not None
                try:
                    return self._read(send(self._usable(), self.server, method, route, body, sent), progress)
                except FsToolsError as refusal:
                    # An unexpected error, or a proxy's answer: neither tells whether the call was carried out.
                    # The `status` of other refusals is that of a change.
                    accident = isinstance(refusal, InputOutput) and refusal.details.get("status", 0) >= 500
                    if not repeatable and accident:
                        refusal.details["modified"], refusal.hint = "unknown", _UNKNOWN
                    elif not repeatable:
                        refusal.say_unmodified()
                    raise
                except (OSError, HTTPException, ValueError) as error:
                    self._drop()
                    # A broken pipe means that the request was not sent completely, so no server has carried it out.
                    if not kept or not (repeatable or isinstance(error, BrokenPipeError)):
                        raise self._lost(error, repeatable=repeatable) from None
                except BaseException:  # After an interrupted call, the rest of its answer would still arrive.
                    self._drop()
                    raise

    def _read(self, response: HTTPResponse, progress: Callable[[Progress], None] | None) -> dict[str, Any]:
        if progress is not None and response.headers.get_content_type() == "text/event-stream":
            return _last_of_stream(response, progress)
        return answer_of(self.server, response.status, response.read())

    def _usable(self) -> HTTPConnection:
        """The kept connection; a new one if the server has closed it or sent unexpected data."""
        if self._connection is not None:
            sock = self._connection.sock
            # A forked child must not use its parent's connection.
            if sock is None or self._process != os.getpid() or _has_something_to_read(sock):
                self._drop()
        if self._connection is None:
            self._process = os.getpid()
            self._connection = connected(self.server)
            self._connection.sock.settimeout(_WAIT_SECONDS)
            self._close = weakref.finalize(self, self._connection.close)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._close()
            self._connection = None

    def _lost(self, error: Exception, *, repeatable: bool) -> InputOutput:
        reason = str(error) or type(error).__name__
        message = f"the connection to {self.server.url} was lost: {reason}"
        if repeatable:
            return InputOutput(message, hint=_HINT)
        return InputOutput(message, hint=_UNKNOWN, modified="unknown")


def _has_something_to_read(sock: socket.socket) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _last_of_stream(response: HTTPResponse, progress: Callable[[Progress], None]) -> dict[str, Any]:
    """Pass on a command's progress; returns its result.

    Raises:
        FsToolsError: it was refused; HTTPException: the stream ended before the result.
    """
    told: dict[str, Any]
    for kind, data in events(response):
        told = json.loads(data)
        if kind == "result":
            response.read()
            return told
        if kind == "error":
            response.read()
            raise refusal_of(told)
        if kind in ("waiting", "output"):
            progress(Progress("waiting" if kind == "waiting" else "output", told["text"], told.get("change_id")))
    raise HTTPException("the answer ended in the middle")


def _result(answer: dict[str, Any]) -> ToolResult:
    change = answer.get("change")
    return ToolResult(answer["tool"], answer["content"], answer["data"], change and change_of(change))
