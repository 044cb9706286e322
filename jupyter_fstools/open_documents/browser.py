"""Finds the holder of a file that pages in browsers have open."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ..backends.protocol import Backend, FileStat
from ..stores.protocol import Store
from .page import Page, PageDocument
from .protocol import Holder
from .saved_document import SavedDocument
from .unsaved_document import UnsavedDocument, unreachable


class Pages:
    """The pages that are connected to this process, and what they have open; safe for threads."""

    def __init__(self) -> None:
        self._documents: dict[Page, dict[int, PageDocument]] = {}
        self._lock = threading.Lock()

    def heard(self, page: Page, documents: Sequence[PageDocument]) -> list[PageDocument]:
        """A page says all that it has open; gives the documents that were not open before."""
        with self._lock:
            known = self._documents.get(page, {})
            now, new = {}, []
            for told in documents:
                document = known.get(told.number, told)
                if document is told or document.key != told.key:
                    new.append(told)
                    document = told
                document.saved, document.hash, document.counter = told.saved, told.hash, told.counter
                document.is_silent = False
                now[told.number] = document
            self._documents[page] = now
            return new

    def left(self, page: Page) -> None:
        """A page is not connected any more."""
        with self._lock:
            self._documents.pop(page, None)

    def of(self, key: str) -> list[PageDocument]:
        """The documents of a file."""
        with self._lock:
            return [one for found in self._documents.values() for one in found.values() if one.key == key]

    def names(self) -> set[str]:
        """The names of the pages that are connected."""
        with self._lock:
            return {page.name for page in self._documents}

    def follow(self, key: str, exact: str | None) -> None:
        """Tell the saved documents of a file that it has other bytes now than those they show, by their hash."""
        for document in self.of(key):
            if document.saved and document.hash != exact:
                document.tell("follow")


class BrowserDocuments:
    """The documents that browsers have open.

    Args:
        pages: those that are connected.
        backend: where the files are.
        store: what other processes, and pages that fell silent, said.
        seconds: how long a page may take to answer.
    """

    def __init__(self, pages: Pages, backend: Backend, store: Store, seconds: float) -> None:
        self._pages, self._backend, self._store, self._seconds = pages, backend, store, seconds

    def holder(self, stat: FileStat, *, to_change: bool) -> Holder | None:
        """Who holds a file; None where no page has it open, or none that can be asked for a mere look."""
        documents = self._pages.of(stat.key)
        if not documents:
            return None
        unsaved = any(not one.saved for one in documents)
        if self._is_unsaved_elsewhere(stat.key) or (unsaved and stat.kind != "file"):
            if to_change:
                raise unreachable(stat.path)
            return None
        if stat.kind != "file":
            return None
        kind = UnsavedDocument if unsaved else SavedDocument
        return kind(self._backend, stat, documents, self._seconds)

    def _is_unsaved_elsewhere(self, key: str) -> bool:
        told = [document.page for document in self._store.open_documents(key) if not document.saved]
        return bool(told) and not self._pages.names().issuperset(told)
