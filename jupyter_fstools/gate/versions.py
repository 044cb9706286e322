"""Caches line indexes, fingerprints and notebooks by file version."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from ..backends.protocol import Backend, KeepsNotes, OpenFile
from ..content.fingerprint import Fingerprint
from ..documents.text.line_index import LineIndex
from ..stores.records import FileState
from .draft import EAGER_BYTES, Draft, state_of

if TYPE_CHECKING:
    from ..documents.notebook import NotebookSpans

Found = TypeVar("Found")

_MOST_INDEXES = 64
_MOST_NOTEBOOKS = 16


class VersionCache(Generic[Found]):
    """Results of reading a whole file, by its version, for the `most` files used last; safe for threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str], Found] = OrderedDict()
        self._lock = Lock()

    def of(self, key: str, version: str) -> Found | None:
        """The result kept for one version of a file; None if there is none."""
        with self._lock:
            if (key, version) in self._kept:
                self._kept.move_to_end((key, version))
            return self._kept.get((key, version))

    def drop(self, key: str, version: str) -> bool:
        """Forget the result of one version; whether there was one."""
        with self._lock:
            return self._kept.pop((key, version), None) is not None

    def keep(self, key: str, version: str, found: Found) -> Found:
        """Keep a result, unless this version has one already; returns the one that is kept."""
        with self._lock:
            found = self._kept.setdefault((key, version), found)
            self._kept.move_to_end((key, version))
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return found


class Versions:
    """Caches results about the files opened last; one cache for all readers of a workspace.

    Args:
        backend: where the files are; a remote one keeps how far lines were counted for other processes too.

    Attributes:
        notebooks: where the cells of notebooks lie.
    """

    def __init__(self, backend: Backend) -> None:
        self._notes = backend if isinstance(backend, KeepsNotes) else None
        self._indexes = VersionCache[LineIndex](_MOST_INDEXES)
        self.notebooks: VersionCache[NotebookSpans] = VersionCache(_MOST_NOTEBOOKS)

    def index(self, opened: OpenFile) -> LineIndex:
        """The line index of an open file: the cached one, else one continued from another process's, else a new one."""
        stat = opened.stat
        return self._indexes.of(stat.key, stat.content_version) or self._indexes.keep(
            stat.key, stat.content_version, self._noted(opened) or LineIndex(opened.size)
        )

    def line_at(self, opened: OpenFile) -> Callable[[int], int]:
        """A function that gives the line, from 1, of an offset in an open file."""
        index = self.index(opened)
        return lambda offset: index.line_at(opened, offset)

    def note(self, opened: OpenFile) -> None:
        """Keep how far the lines of a large file were counted: other processes would have to fetch it to count them."""
        if self._notes is None or opened.size <= EAGER_BYTES:
            return
        index, noted = self.index(opened), self._noted(opened)
        if index.scanned > (noted.scanned if noted else 0):
            self._notes.note(opened.stat, index.packed())

    def _noted(self, opened: OpenFile) -> LineIndex | None:
        if self._notes is None or opened.size <= EAGER_BYTES:
            return None
        noted = self._notes.noted(opened.stat)
        return None if noted is None else LineIndex.unpacked(noted, opened.size)

    def fingerprint(self, opened: OpenFile) -> Fingerprint:
        """The fingerprint of an open file, computed once per version."""
        index = self.index(opened)
        index.scan_all(opened)
        assert index.fingerprint is not None
        return index.fingerprint

    def state(self, draft: Draft) -> FileState | None:
        """The state of a draft's file, as far as it has been computed."""
        if draft.before is None:
            return None
        receipt = draft.receipt
        if (
            receipt is not None
            and receipt.version == draft.stat.content_version
            and receipt.text_sha
            and receipt.exact_sha
        ):
            return FileState(text_sha=receipt.text_sha, exact_sha=receipt.exact_sha, size=draft.stat.size)
        known = self.index(draft.before).fingerprint
        return known and state_of(known, draft.stat.size)
