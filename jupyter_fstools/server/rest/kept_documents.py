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
        self._is_stopped = False
        self._renewal: asyncio.TimerHandle | None = None
        self._renewing: asyncio.Future[None] | None = None

    def say(self, documents: Sequence[PageDocument]) -> None:
        """Keep the documents that the page reports open; in a thread.

        A page reports a new hash after each edit, while the call still writes to the store: a hash that is all that
        changed waits for the next renewal.

        Raises:
            as `Store.note_open`
        """
        told = [OpenDocument(self._page.name, one.key, one.saved, one.hash, one.counter) for one in documents]
        with self._lock:
            self._documents, facts = told, frozenset((one.key, one.saved) for one in told)
            # The first report is always kept: an earlier connection may have reported more.
            if not self._is_stopped and self._facts != facts:
                self._keep(_CONNECTED_SECONDS)
                self._facts = facts

    def renew_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Renew the kept documents before they expire, from now on."""
        if self._renewal is None:
            self._renewal = loop.call_later(_RENEWED_SECONDS, self._renew, loop)

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

    def _renew(self, loop: asyncio.AbstractEventLoop) -> None:
        self._renewing = asyncio.ensure_future(asyncio.to_thread(self._keep_again))
        self._renewal = loop.call_later(_RENEWED_SECONDS, self._renew, loop)

    def _keep_again(self) -> None:
        with self._lock:
            if self._documents and not self._is_stopped:
                try:
                    self._keep(_CONNECTED_SECONDS)
                except FsToolsError as problem:
                    _log.warning("Other processes do not know what a page has open: %s", problem.message)

    def _keep(self, longer: float) -> None:
        if self._pages.is_newest(self._page):
            until = time.time() + self._seconds + longer
            self._store.note_open(self._page.name, self._documents, until)
