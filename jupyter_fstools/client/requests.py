"""Sends requests to a server and parses its event streams."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from ..errors import FsToolsError, InputOutput, Invalid
from .runtime_files import JupyterServer

SESSION_HEADER = "X-Fstools-Session"
VIA_HEADER = "X-Fstools-Via"
"""Header by which `jupyter fstools` says that a person decides in a shell."""
OPENED_HEADER = "X-Fstools-Opened"
"""A JSON list: the key of a file, and the names of pages that have it open, as the caller's store has them."""


class Event(NamedTuple):
    """One event: its kind ("message" unless it gives another) and its data."""

    kind: str
    data: bytes


def events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Each event that has data, as soon as it is complete.

    Format: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

    Args:
        lines: the answer's lines, with their ends.
    """
    kind, data = "message", list[bytes]()
    for line in lines:
        text = line.rstrip(b"\r\n")
        if text.startswith(b"data:"):
            data.append(text.removeprefix(b"data:").removeprefix(b" "))
        elif text.startswith(b"event:"):
            kind = text.removeprefix(b"event:").removeprefix(b" ").decode("ascii", "replace")
        elif not text:
            if any(data):
                yield Event(kind, b"\n".join(data))
            kind, data = "message", []


class NotReached(InputOutput):
    """No server answers at the address: nothing was sent or done."""


ON_A_SOCKET = "http+unix"
"""The scheme in Jupyter's address of a server on a Unix socket, whose path stands for the host."""

_WITHOUT_TOKEN = {"Cookie": "_xsrf=0", "X-XSRFToken": "0"}
"""A server that asks for no login still writes only where these two agree, so that another site's page cannot."""

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 60.0
_TOKEN = re.compile(r"[\x21-\x7e]+")
_MOVED_HINT = "Give the server's own address, without /lab or /tree; jupyter server list shows it where it runs."
_HINT = "Is it still running? jupyter server list shows the running ones."


class _SocketConnection(HTTPConnection):
    """A connection to a server on a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_CONNECT_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        with ExitStack() as unconnected:
            self.sock = unconnected.enter_context(socket.socket(socket.AF_UNIX))
            self.sock.settimeout(self.timeout)
            self.sock.connect(self._path)
            unconnected.pop_all()


def connected(server: JupyterServer) -> HTTPConnection:
    """A connection to a server.

    Raises:
        NotReached: no server answers; Invalid: it is not an HTTP address.
    """
    connection = _connection(server.url)
    try:
        connection.connect()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NotReached(f"the Jupyter server at {server.url} does not answer: {reason}", hint=_HINT) from None
    return connection


def send(
    connection: HTTPConnection,
    server: JupyterServer,
    method: str,
    route: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> HTTPResponse:
    """Send a request below `api/fstools`, and wait for the answer to begin.

    Raises:
        Invalid: the token has a character that no token has; OSError, HTTPException: the connection was lost.
    """
    if server.token and not _TOKEN.fullmatch(server.token):  # The message must not show the token.
        raise Invalid(
            f"the token for {server.url} has a character that no token has",
            hint="Give it without spaces, line ends and quotes.",
        )
    authorization = {"Authorization": f"token {server.token}"} if server.token else _WITHOUT_TOKEN
    path = f"{urlsplit(server.url).path.rstrip('/')}/api/fstools{route}"
    connection.request(method, path, body, {**authorization, **(headers or {})})
    return connection.getresponse()


def ask(
    server: JupyterServer,
    method: str,
    route: str,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Send one request and return its answer, parsed as JSON; {} for an answer without content.

    Raises:
        InputOutput: no server, or another program, answered; FsToolsError: the server's refusal.
    """
    try:
        with closing(connected(server)) as connection:
            connection.sock.settimeout(_ANSWER_SECONDS)
            sent = None if body is None else json.dumps(body).encode()
            response = send(connection, server, method, route, sent, headers)
            status, data = response.status, response.read()
    except (OSError, HTTPException, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise InputOutput(f"the connection to {server.url} was lost: {reason}", hint=_HINT) from None
    with understood(server, writes=method != "GET"):
        return answer_of(server, status, data)


def answer_of(server: JupyterServer, status: int, data: bytes) -> dict[str, Any]:
    """The answer of a server, parsed as JSON.

    Raises:
        InputOutput: another program answered; FsToolsError: the server's refusal.
    """
    try:
        answer = {} if status == 204 else json.loads(data)
    except ValueError:
        answer = None
    if status < 300 and isinstance(answer, dict):
        return answer
    raise _refusal(server, status, answer)


@contextmanager
def understood(server: JupyterServer, *, writes: bool = False) -> Iterator[None]:
    """Report an answer of unexpected form as one from another version of the server.

    Args:
        server: the server that answered.
        writes: True if the request may have changed something.

    Raises:
        InputOutput: the answer has an unexpected form.
    """
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        modified = {"modified": "unknown"} if writes else {}
        raise InputOutput(
            f"the server at {server.url} has another version of jupyter-fstools",
            hint="Install the same version here and there.",
            **modified,
        ) from None


def refusal_of(error: Mapping[str, Any]) -> FsToolsError:
    """The refusal that a server sent as `{"code", "message", "hint", "details"}`.

    Raises:
        KeyError, TypeError: it has another form.
    """
    kinds = {kind.code: kind for kind in FsToolsError.__subclasses__()}
    refusal = kinds.get(error["code"], FsToolsError)(error["message"], hint=error["hint"])
    refusal.details = dict(error["details"])
    return refusal


def without_secrets(url: str) -> str:
    """An address without the password and the token that a pasted address may contain."""
    scheme, mark, rest = url.partition("?")[0].rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def _connection(url: str) -> HTTPConnection:
    kinds: dict[str, type[HTTPConnection]] = {"http": HTTPConnection, "https": HTTPSConnection}
    try:
        parts = urlsplit(url)
        if parts.scheme in kinds and parts.hostname:
            return kinds[parts.scheme](parts.hostname, parts.port, timeout=_CONNECT_SECONDS)
        if parts.scheme == ON_A_SOCKET and parts.netloc and hasattr(socket, "AF_UNIX"):
            return _SocketConnection(unquote(parts.netloc))
    except ValueError:
        pass  # The port number or the host name is invalid.
    raise Invalid(
        f"{url!r} is not an address that can be requested", hint="An address looks like http://localhost:8888/."
    )


def _refusal(server: JupyterServer, status: int, answer: Any) -> FsToolsError:
    try:
        return refusal_of(answer["error"])
    except (KeyError, TypeError):
        hint = _MOVED_HINT if 300 <= status < 400 else ""
        return InputOutput(
            f"the Jupyter server at {server.url} answered with status {status}", hint=hint, status=status
        )
