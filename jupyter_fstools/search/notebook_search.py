"""Searching notebooks, cell by cell."""

from __future__ import annotations

from collections import Counter

from ..backends.protocol import Backend, FileStat
from ..errors import FsToolsError
from .excerpts import Place, excerpts
from .folders import Folder, joined
from .match_lines import Hit
from .matcher import Matcher, TooSlow
from .notebook_cells import BrokenNotebook, CellText, cell_texts
from .stopping import Stop
from .text_query import TextMatch, TextQuery


class NotebookSearch:
    """Counts the matching lines of notebooks' cells.

    Attributes:
        counts: matching lines by canonical path, for notebooks that have some.
        skipped: notebooks that were not searched, by reason.
    """

    def __init__(self, backend: Backend, query: TextQuery, matcher: Matcher, stop: Stop) -> None:
        self.counts: dict[str, int] = {}
        self.skipped: Counter[str] = Counter()
        self._backend = backend
        self._query = query
        self._matcher = matcher
        self._stop = stop

    def take(self, folder: Folder, names: list[str]) -> None:
        """Search notebooks of an open folder."""
        for name in names:
            if self._stop.now():
                return
            try:
                raw = folder.read(name, self._query.max_file_bytes)
            except FileNotFoundError:
                continue
            except (OSError, FsToolsError):
                self.skipped["unreadable"] += 1
                continue
            if raw is None:
                self.skipped["large"] += 1
            else:
                self._count(joined(folder.path, name), raw)

    def take_file(self, file: FileStat, *, whatever_size: bool = False) -> None:
        """Search one notebook by its canonical path."""
        if file.size > self._query.max_file_bytes and not whatever_size:
            self.skipped["large"] += 1
            return
        try:
            with self._backend.read(file.path) as opened:
                self._count(file.path, opened.read(0, opened.size))
        except FsToolsError:
            self.skipped["unreadable"] += 1

    def matches(self, path: str, shown: str, page: slice) -> list[TextMatch]:
        """A part of one notebook's matching lines, under the path they are shown with."""
        with self._backend.read(path) as opened:
            texts = cell_texts(opened.read(0, opened.size), outputs=self._query.include_outputs)
        found: list[TextMatch] = []
        passed = 0
        for text in texts:
            if passed >= page.stop:
                break
            count, hits = self._find(text, page.stop - passed + 1)
            part = slice(max(0, page.start - passed), page.stop - passed)
            passed += count
            if hits and part.start < count:
                place = Place(shown, text.cell_id, text.cell_index, text.output_index)
                found += excerpts(place, [text.text], hits, part, self._query)
        return found

    def _find(self, text: CellText, most: int) -> tuple[int, list[Hit]]:
        return self._matcher.find(text.text, most)

    def _count(self, path: str, raw: bytes) -> None:
        try:
            texts = cell_texts(raw, outputs=self._query.include_outputs)
            count = sum(self._find(text, 0)[0] for text in texts)
        except BrokenNotebook:
            self.skipped["notebook"] += 1
        except TooSlow:
            self.skipped["slow"] += not self._stop.now()
        else:
            if count:
                self.counts[path] = count
