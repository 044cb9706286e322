"""Finds who holds a file: a room, a page or the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from ..backends.protocol import Backend, FileStat, OpenFile
from ..content.source import BytesContent, Chunk
from ..content.splices import SplicedStream
from ..errors import Unsaved
from ..stores.protocol import Store
from ..stores.records import Place
from .protocol import Applied, Holder, OpenDocuments, Rewrite


class Disk:
    """The holder of a file that nobody has open.

    Args:
        backend: where the bytes are.
        stat: the file, which may be missing.
        check: refuses a file of which pages have unsaved changes.
    """

    place: Place = "disk"

    def __init__(self, backend: Backend, stat: FileStat, check: Callable[[FileStat], None] | None = None) -> None:
        self._backend, self._stat, self._check = backend, stat, check

    def content(self) -> AbstractContextManager[OpenFile]:
        """The file's bytes."""
        return self._backend.read(self._stat.path)

    def on_disk(self) -> None:
        """None: the file itself has the content."""

    def apply(self, rewrite: Rewrite) -> Applied:
        """Replace the file at once, unless an outsider was faster."""
        before = rewrite.before
        stream = SplicedStream(before or BytesContent(b""), rewrite.splices, old_wanted=rewrite.hash_before)

        def chunks() -> Iterator[Chunk]:
            yield from stream.chunks()
            rewrite.begin(*stream.fingerprints())  # A backend takes all chunks before it replaces the file.
            if self._check is not None:
                # A page that reports unsaved changes from now on finds this change pending, and waits for it.
                self._check(self._stat)

        version = before.stat.version if before is not None else None
        stat = self._backend.write(self._stat.path, chunks(), if_match=version)
        old, new = stream.fingerprints()
        return Applied(stat, old, new)

    def remove(self, before: OpenFile) -> None:
        """Delete the file, unless an outsider was faster."""
        if self._check is not None:
            self._check(self._stat)
        self._backend.delete(self._stat.path, if_match=before.stat.version)


class Holders:
    """Finds the holder of a file among open documents, or the disk where nobody else holds it.

    Args:
        backend: where the bytes are.
        store: where servers keep the documents that their pages have open.
        documents: asked in this order.
    """

    def __init__(self, backend: Backend, store: Store, documents: Sequence[OpenDocuments]) -> None:
        self._backend = backend
        self._store = store
        self._documents = documents

    def of(self, stat: FileStat, *, to_change: bool) -> Holder:
        """The holder of a file's content.

        Raises:
            Unsaved, Conflict: see `OpenDocuments.holder`.
        """
        for documents in self._documents:
            holder = documents.holder(stat, to_change=to_change)
            if holder is not None:
                return holder
        if to_change:
            self._require_saved(stat)
        return Disk(self._backend, stat, self._require_saved if to_change else None)

    def let_save(self) -> None:
        """Wait briefly until open documents have saved their pending changes."""
        for documents in self._documents:
            documents.let_save()

    def _require_saved(self, stat: FileStat) -> None:
        """Refuse a file that has unsaved changes in a browser, or is in a collaboration room."""
        # Unsaved text is only in the person's browser: replacing the file below it would make the two conflict.
        if not all(document.saved for document in self._store.open_documents(stat.key)):
            raise Unsaved(
                f"{stat.path} is open in a browser: it has unsaved changes, or is in a collaboration room "
                "(not modified)",
                hint="Ask the person to save and close it; then read it again and repeat the change.",
                path=stat.path,
            )


class OpenElsewhere(Unsaved):
    """A page of a server has the file open: that server can carry out the call, if it can be reached.

    Attributes:
        key: the file (`FileStat.key`).
        pages: the names of the pages that have it open, in the store that this process uses.
    """

    key: str
    pages: list[str]


class ElsewhereDocuments:
    """The documents that the store knows of.

    Args:
        store: where servers keep the documents that their pages have open.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def holder(self, stat: FileStat, *, to_change: bool) -> None:
        """None: this process can reach no page.

        Raises:
            OpenElsewhere: the file is open, and the call changes it or it has unsaved changes.
        """
        documents = self._store.open_documents(stat.key)
        if any(to_change or not document.saved for document in documents):
            refusal = OpenElsewhere(
                f"{stat.path} is open in a browser, and its Jupyter server could not be reached (not modified)",
                hint="Use a kernel of that server, or ask the person to save and close it; then read it again.",
                path=stat.path,
            )
            refusal.key, refusal.pages = stat.key, [document.page for document in documents]
            raise refusal

    def let_save(self) -> None:
        """Do nothing: any save is done by another process."""
