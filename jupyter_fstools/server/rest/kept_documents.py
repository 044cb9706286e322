"""Keeps in the store what a connected page has open."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Sequence

from ...errors import FsToolsError
from ...open_documents.browser import Pages
from ...open_documents.page import Page, PageDocument
from ...stores.protocol import Store
from ...stores.records import OpenDocument

_RENEWED_SECONDS = 60.0
_CONNECTED_SECONDS = 2 * _RENEWED_SECONDS
_RETRIED_SECONDS = 1.0
"""After a store that failed answers again, other servers write below an unsaved page for at most this long."""

_log = logging.getLogger("jupyter_fstools")


class KeptDocuments:
    """The documents of one page, as other processes find them: renewed for as long as it is connected.

    Args:
        store: where they are kept.
        pages: tells whether the page has a newer connection, which then keeps them.
        page: the page.
        seconds: how long they are kept once the connection is lost.
    """

    _lock = threading.Lock()
    """One lock for all pages, so that a new connection's report is kept after the old connection's."""

    def __init__(self, store: Store, pages: Pages, page: Page, seconds: float) -> None:
        self._store, self._pages, self._page, self._seconds = store, pages, page, seconds
        self._documents: Sequence[OpenDocument] = ()
        self._facts: frozenset[tuple[str, bool]] | None = None
        self._is_kept = True  # Until the store fails.
        self._is_stopped = False
        self._renewal: asyncio.TimerHandle | None = None
        self._renewing: asyncio.Future[None] | None = None

    def say(self, documents: Sequence[PageDocument]) -> None:
        """Keep the documents that the page reports open; in a thread.

        A page reports a new hash after each edit, while the call still writes to the store: a hash that is all that
        changed waits for the next renewal.
        """
        told = [OpenDocument(self._page.name, one.key, one.saved, one.hash, one.counter) for one in documents]
        with self._lock:
            self._documents, facts = told, frozenset((one.key, one.saved) for one in told)
            # The first report is always kept: an earlier connection may have reported more.
            if not self._is_stopped and (self._facts != facts or not self._is_kept):
                self._facts = facts
                self._keep(_CONNECTED_SECONDS)

    def keep_renewed(self) -> None:
        """Renew the kept documents before they expire, and soon where the store failed; on the event loop."""
        if self._renewal is None or not self._is_kept:
            self._renew_later()

    def stop(self) -> None:
        """Stop renewing, as the connection is not used any more; on the event loop."""
        self._is_stopped = True
        if self._renewal is not None:
            self._renewal.cancel()

    def lose(self) -> None:
        """Keep the documents of a lost connection for a while: a sleeping laptop still has its person's changes.

        Called in a thread, after `stop`.
        """
        with self._lock:
            self._keep(0)

    def forget(self) -> None:
        """Drop the documents, as the page was left; in a thread, after `stop`."""
        with self._lock:
            self._documents = ()
            self._keep(0)

    def _renew_later(self) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
        if not self._is_stopped:
            wait = _RENEWED_SECONDS if self._is_kept else _RETRIED_SECONDS
            self._renewal = asyncio.get_running_loop().call_later(wait, self._renew)

    def _renew(self) -> None:
        self._renewing = asyncio.ensure_future(asyncio.to_thread(self._keep_again))
        self._renewing.add_done_callback(lambda _: self._renew_later())

    def _keep_again(self) -> None:
        with self._lock:
            if not self._is_stopped and (self._documents or not self._is_kept):
                self._keep(_CONNECTED_SECONDS)

    def _keep(self, longer: float) -> None:
        if not self._pages.is_newest(self._page):
            return
        was_kept, until = self._is_kept, time.time() + self._seconds + longer
        try:
            self._store.note_open(self._page.name, self._documents, until)
        except FsToolsError as problem:
            self._is_kept = False
            if was_kept:
                _log.warning("Other processes do not know what a page has open: %s", problem.message)
        else:
            self._is_kept = True
