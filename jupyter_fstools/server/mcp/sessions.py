"""Issues MCP session ids and maps them to gate sessions."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...sessions import client_session, new_client_session
from ...stores.records import Reader
from .json_rpc import Id

_ANY = "mcp-"
_MOST_ENDED = 10_000
_SIGNED_BYTES = 16


def is_named(client: str, names: Sequence[str]) -> bool:
    """Whether a client's session (`client_session`) begins with one of these names of clients; "" is any."""
    return any(client.startswith(client_session(name) if name else _ANY) for name in names)


class McpSessions:
    """Keeps track of sessions: the ids that were given, those that ended, and the calls that run.

    A live session takes no memory: its id is verified by the secret alone. So a restarted server knows the ids that
    were given before, and by the store their receipts.

    Args:
        secret: the server's own, the same after a restart.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._running: dict[tuple[Reader, Id], threading.Event] = {}

    def begin(self, user: str, client: str) -> str:
        """The id of a new session of a client, by what that calls itself."""
        session = new_client_session(client)
        return f"{session}.{self._signature(session, user)}"

    def session(self, id: str, user: str) -> str | None:
        """The session of the gate that an id stands for; None if it was not given to this user, or has ended."""
        session, _, signature = id.partition(".")
        given = hmac.compare_digest(signature.encode(), self._signature(session, user).encode())
        return session if given and session not in self._ended else None

    def end(self, reader: Reader) -> None:
        """End a session, and cancel the calls that run in it."""
        self._ended[reader.session] = None
        if len(self._ended) > _MOST_ENDED:
            self._ended.popitem(last=False)  # The receipts are forgotten: at worst the session begins again.
        for (running_in, _), ended in self._running.items():
            if running_in == reader:
                ended.set()

    @contextmanager
    def running(self, reader: Reader, id: Id, ended: threading.Event) -> Iterator[None]:
        """Register a call while it runs, so that `cancel` and `end` can end it."""
        self._running[reader, id] = ended
        try:
            yield
        finally:
            if self._running.get((reader, id)) is ended:
                del self._running[reader, id]

    def cancel(self, reader: Reader, id: Id) -> None:
        """Let a call end, if it still runs."""
        if (ended := self._running.get((reader, id))) is not None:
            ended.set()

    def _signature(self, session: str, user: str) -> str:
        signed = f"{session}\0{user}".encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, b"fstools mcp\0" + signed, hashlib.sha256).hexdigest()[: 2 * _SIGNED_BYTES]
