"""Keeps in the store what a connected page has open."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Sequence

from ...errors import FsToolsError
from ...stores.protocol import Store
from ...stores.records import OpenDocument

_RENEWED_SECONDS = 60

_log = logging.getLogger("jupyter_fstools")


class KeptDocuments:
    """The documents of one page, as other processes find them: renewed for as long as it is connected.

    Args:
        store: where they are kept.
        page: its name.
        seconds: how long they are kept once the connection is lost.
    """

    def __init__(self, store: Store, page: str, seconds: float) -> None:
        self._store, self._page, self._seconds = store, page, seconds
        self._lock = threading.Lock()
        self._documents: Sequence[OpenDocument] = ()
        self._facts: frozenset[tuple[str, bool]] | None = None
        self._is_ended = False
        self._renewal: asyncio.TimerHandle | None = None
        self._renewing: asyncio.Future[None] | None = None

    def say(self, documents: Sequence[OpenDocument]) -> None:
        """The page has these open; in a thread.

        After each edit a page says its new hash, while the call still writes the store: that waits for the renewal.

        Raises:
            as `Store.note_open`
        """
        with self._lock:
            self._documents, facts = documents, frozenset((one.key, one.saved) for one in documents)
            # At first whatever it says: an earlier connection may have said more.
            if not self._is_ended and self._facts != facts:
                self._keep_while_connected()
                self._facts = facts

    def renew_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keep them from running out, from now on."""
        if self._renewal is None:
            self._renewal = loop.call_later(_RENEWED_SECONDS, self._renew, loop)

    def end(self) -> None:
        """The page has another connection, which keeps them."""
        self._is_ended = True
        if self._renewal is not None:
            self._renewal.cancel()

    def lose(self) -> None:
        """The connection was lost: a laptop that sleeps still has its person's changes. In a thread, after `end`."""
        with self._lock:
            self._store.note_open(self._page, self._documents, time.time() + self._seconds)

    def forget(self) -> None:
        """The page was left. In a thread, after `end`."""
        with self._lock:
            self._store.note_open(self._page, [], 0)

    def _renew(self, loop: asyncio.AbstractEventLoop) -> None:
        self._renewing = asyncio.ensure_future(asyncio.to_thread(self._keep_again))
        self._renewal = loop.call_later(_RENEWED_SECONDS, self._renew, loop)

    def _keep_again(self) -> None:
        with self._lock:
            if self._documents and not self._is_ended:
                try:
                    self._keep_while_connected()
                except FsToolsError as problem:
                    _log.warning("Other processes do not know what a page has open: %s", problem.message)

    def _keep_while_connected(self) -> None:
        until = time.time() + self._seconds + 2 * _RENEWED_SECONDS
        self._store.note_open(self._page, self._documents, until)
