"""Tracks which documents browsers have open; chooses how to change them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakValueDictionary

from ..backends.protocol import Backend, FileStat, OpenFile
from ..content.source import all_of
from ..errors import Unsaved
from ..stores.protocol import Store
from ..stores.records import Place
from .heard_states import Heard
from .page import Page, PageDocument
from .protocol import Applied, Holder, Rewrite
from .saved_document import SavedDocument
from .unsaved_document import LiveFile, UnsavedDocument, different_states, unreachable


class LastKnownFile(LiveFile):
    """The last known content of a document with unsaved changes; the person may see newer content."""

    origin = "last known:"


class LastKnownDocument:
    """The holder of a file that is only read, and of which a page holds unsaved changes.

    Args:
        backend: where the bytes are.
        stat: the file.
        document: asks the pages; None where none of them is connected.
        data: the content last reported by a page; None: none was, so the file's content is used.
    """

    place: Place = "document"

    def __init__(self, backend: Backend, stat: FileStat, document: UnsavedDocument | None, data: bytes | None) -> None:
        self._backend, self._stat, self._document, self._data = backend, stat, document, data

    @contextmanager
    def content(self) -> Iterator[OpenFile]:
        """The content that the person sees; the last known one, where no page answers.

        Raises:
            Conflict: two pages hold different unsaved changes.
        """
        try:
            live = self._document.content() if self._document is not None else None
        except Unsaved:
            live = None
        if live is not None:
            with live as opened:
                yield opened
        else:
            yield LastKnownFile(self._stat, self._saved_data() if self._data is None else self._data)

    def on_disk(self) -> None:
        """None: this holder is never used for a change."""

    def apply(self, rewrite: Rewrite) -> Applied:
        """Refuse."""
        raise unreachable(self._stat.path)

    def remove(self, before: OpenFile) -> None:
        """Refuse."""
        raise unreachable(self._stat.path)

    def _saved_data(self) -> bytes:
        with self._backend.read(self._stat.path) as opened:
            return all_of(opened)


class Pages:
    """The pages that are connected to this process, and what they have open; safe for threads.

    Attributes:
        heard_last: the last reported states of their unsaved documents.
    """

    def __init__(self) -> None:
        self._documents: dict[Page, dict[int, PageDocument]] = {}
        self._newest: WeakValueDictionary[str, Page] = WeakValueDictionary()
        self._lock = threading.Lock()
        self.heard_last = Heard()

    def connected(self, page: Page) -> None:
        """Register a page's (new) connection; the page is about to report its documents."""
        with self._lock:
            self._newest[page.name] = page

    def is_newest(self, page: Page) -> bool:
        """Whether this is the newest connection of the page, even if it is lost by now."""
        with self._lock:
            return self._newest.get(page.name) is page

    def heard(self, page: Page, documents: Sequence[PageDocument]) -> list[PageDocument]:
        """Take a page's report of all that it has open; returns the documents that are new, or of another kind.

        Its earlier connections are closed: the server may notice a lost connection only minutes later.
        """
        with self._lock:
            replaced = [one for one in self._documents if one.name == page.name and one is not page]
            for one in replaced:
                del self._documents[one]
            known = self._documents.get(page, {})
            now, new = {}, []
            for told in documents:
                document = known.get(told.number, told)
                if document is told or (document.key, document.kind) != (told.key, told.kind):
                    new.append(told)
                    document = told
                document.saved, document.hash, document.counter = told.saved, told.hash, told.counter
                document.is_silent = False
                now[told.number] = document
            self._documents[page] = now
        for one in replaced:
            one.close()
        self.heard_last.forget_all_but(page.name, {(one.key, one.number) for one in documents if not one.saved})
        return new

    def left(self, page: Page) -> None:
        """Forget a page that is not connected any more."""
        with self._lock:
            self._documents.pop(page, None)

    def of(self, key: str) -> list[PageDocument]:
        """The documents of a file."""
        return [one for one in self.all() if one.key == key]

    def all(self) -> list[PageDocument]:
        """The documents of all files."""
        with self._lock:
            return [one for found in self._documents.values() for one in found.values()]

    def names(self) -> set[str]:
        """The names of the pages that are connected."""
        with self._lock:
            return {page.name for page in self._documents}

    def follow(self, key: str, exact: str | None) -> None:
        """Have saved documents of a file reload it if it has other bytes now than they show, by hash."""
        for document in self.all():
            # A page does not report from which files a converted document is made.
            is_mine = document.key == key or document.kind == "converted"
            if is_mine and document.saved and document.hash != exact:
                document.tell("follow")


class BrowserDocuments:
    """The documents that browsers have open.

    Args:
        pages: the connected pages.
        backend: where the files are.
        store: has the reports of other processes, and of pages whose connection was lost.
        seconds: how long a page may take to answer.
    """

    def __init__(self, pages: Pages, backend: Backend, store: Store, seconds: float) -> None:
        self._pages, self._backend, self._store, self._seconds = pages, backend, store, seconds

    def holder(self, stat: FileStat, *, to_change: bool) -> Holder | None:
        """The holder of a file; None where no page has it open.

        Raises:
            Conflict: pages here and at another server both hold unsaved changes. Unsaved: for a change, if only pages
            elsewhere do, the file is deleted, or a page shows it in another form.
        """
        documents = self._pages.of(stat.key)
        elsewhere = self._unsaved_elsewhere(stat.key)
        unsaved = any(not one.saved for one in documents)
        if unsaved and elsewhere:
            raise different_states(stat.path)
        is_opaque = any(_is_opaque(one) for one in documents)
        if to_change and (is_opaque or self._is_being_paired(stat.key)):
            raise Unsaved(
                f"{stat.path} is open in a browser as a document no tool can change (not modified)",
                hint="Ask the person to save and close it; then read it again and repeat the change.",
                path=stat.path,
            )
        if to_change and elsewhere:
            raise unreachable(stat.path)
        if to_change and unsaved and stat.kind != "file":
            raise Unsaved(
                f"{stat.path} was deleted, and is open in a browser with changes that are not saved (not modified)",
                hint="Ask the person to save it, which writes it anew, or to close it; then repeat the call.",
                path=stat.path,
            )
        if stat.kind != "file" or not (documents or elsewhere):
            return None
        if not (unsaved or elsewhere):
            return SavedDocument(self._backend, stat, documents, self._seconds, self._require_saved_elsewhere)
        heard = self._pages.heard_last
        is_asked = unsaved and not is_opaque
        check = self._require_saved_elsewhere
        live = UnsavedDocument(self._backend, stat, documents, self._seconds, heard, check) if is_asked else None
        if live is not None and to_change:
            return live
        said = [heard.last(stat.key, page) for page in elsewhere or [one.page.name for one in documents]]
        last = next((snapshot.data for snapshot in said if snapshot is not None), None)
        return LastKnownDocument(self._backend, stat, live, last)

    def let_save(self) -> None:
        """Do nothing: pages save when they are told to, and an edit waits for that."""

    def _require_saved_elsewhere(self, stat: FileStat) -> None:
        if self._unsaved_elsewhere(stat.key):
            raise unreachable(stat.path)

    def _unsaved_elsewhere(self, key: str) -> list[str]:
        """The pages that hold unsaved changes of a file and are not connected to this process."""
        told = [document.page for document in self._store.open_documents(key) if not document.saved]
        connected = self._pages.names() if told else set()
        return [page for page in told if page not in connected]

    def _is_being_paired(self, key: str) -> bool:
        """Whether a page holds unsaved changes of a notebook that jupytext saves together with this file."""
        return any(
            one.kind == "converted" and not one.saved and os.path.splitext(one.key)[0] == os.path.splitext(key)[0]
            for one in self._pages.all()
        )


def _is_opaque(document: PageDocument) -> bool:
    """Whether a page does not hold the file's own text or cells, as it saves another form than it shows."""
    return document.kind == "converted" or (document.kind == "other" and not document.saved)
