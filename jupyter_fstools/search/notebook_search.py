"""Searching notebooks, cell by cell."""

from __future__ import annotations

from ..backends.protocol import Backend, FileStat
from ..errors import FsToolsError
from ..walking.folders import Folder, joined
from ..walking.trail import FolderTrail
from .batches import Batch, Counted
from .excerpts import Place, excerpts
from .match_lines import Hit
from .matcher import Matcher, TooSlow
from .notebook_cells import BrokenNotebook, CellText, cell_texts, ids_of
from .stopping import Stop
from .text_query import TextMatch, TextQuery


class NotebookSearch:
    """Counts the matching lines of notebooks' cells."""

    def __init__(self, backend: Backend, query: TextQuery, matcher: Matcher, stop: Stop) -> None:
        self._backend = backend
        self._query = query
        self._matcher = matcher
        self._stop = stop

    def search(self, batch: Batch) -> None:
        """Search the notebooks of a batch."""
        with FolderTrail(self._backend) as trail:
            for part in batch.notebooks:
                try:
                    opened = trail.at(part.folder)
                except (OSError, FsToolsError):
                    continue  # gone since it was come through
                for name in part.names:
                    if self._stop.now():
                        return
                    self._search_file(opened, name, batch)
        for shown, file in batch.named_notebooks:
            self._search_named(shown, file, batch)

    def _search_file(self, folder: Folder, name: str, batch: Batch) -> None:
        try:
            raw = folder.read(name, self._query.max_file_bytes)
        except FileNotFoundError:
            return
        except (OSError, FsToolsError):
            batch.skipped["unreadable"] += 1
            return
        path = joined(folder.path, name)
        self._count(path, path, raw, batch)

    def _search_named(self, shown: str, file: FileStat, batch: Batch) -> None:
        raw = None
        try:
            if file.size <= self._query.max_file_bytes or batch.whatever_size:
                with self._backend.read(file.path) as opened:
                    raw = opened.read(0, opened.size)
        except FsToolsError:
            batch.skipped["unreadable"] += 1
            return
        self._count(shown, file.path, raw, batch)

    def matches(self, path: str, shown: str, page: slice) -> list[TextMatch]:
        """A part of one notebook's matching lines, under the path they are shown with."""
        with self._backend.read(path) as opened:
            raw = opened.read(0, opened.size)
        texts = cell_texts(raw, outputs=self._query.include_outputs)
        ids: list[str] = []
        found: list[TextMatch] = []
        passed = 0
        for text in texts:
            if passed >= page.stop:
                break
            count, hits = self._find(text, page.stop - passed + 1)
            part = slice(max(0, page.start - passed), page.stop - passed)
            passed += count
            if hits and part.start < count:
                ids = ids or ids_of(raw, texts)
                place = Place(shown, ids[text.cell_index], text.cell_index, text.output_index)
                found += excerpts(place, [text.text], hits, part, self._query)
        return found

    def _find(self, text: CellText, most: int) -> tuple[int, list[Hit]]:
        return self._matcher.find(text.text, most)

    def _count(self, shown: str, path: str, raw: bytes | None, batch: Batch) -> None:
        if raw is None:
            batch.skipped["large"] += 1
            return
        try:
            texts = cell_texts(raw, outputs=self._query.include_outputs)
            lines = sum(self._find(text, 0)[0] for text in texts)
        except BrokenNotebook:
            batch.skipped["notebook"] += 1
        except TooSlow:
            batch.skipped["slow"] += not self._stop.now()
        else:
            if lines:
                batch.found.append(Counted(shown, path, lines))
