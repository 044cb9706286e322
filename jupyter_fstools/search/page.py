"""The lines of a page, read anew inside the root."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..backends.protocol import Backend
from ..errors import FsToolsError
from ..walking.descriptors import check_descriptors
from ..walking.trail import FolderTrail
from .batches import Counted, Engine
from .decoding import decoded, text_blocks
from .excerpts import Place, excerpts
from .match_lines import Hit
from .matcher import Matcher, TooSlow
from .notebook_cells import BrokenNotebook, is_notebook
from .notebook_search import NotebookSearch
from .stopping import Stop
from .text_query import TextMatch, TextQuery

Parts = list[tuple[Counted, slice]]
ASKED_AT_ONCE = 100
"""Files whose matches the engine is asked for together: to start a program for each would take longer than to search
them."""


class Page:
    """Reads the matching lines that a page shows.

    Args:
        backend: where the files are.
        query: how much to show of them.
        engine: what counted them.
        matcher: finds the lines again.
        notebooks: reads those of notebooks.
        stop: when to end.
    """

    def __init__(
        self,
        backend: Backend,
        query: TextQuery,
        engine: Engine,
        matcher: Matcher,
        notebooks: NotebookSearch,
        stop: Stop,
    ) -> None:
        self._backend = backend
        self._query = query
        self._engine = engine
        self._matcher = matcher
        self._notebooks = notebooks
        self._stop = stop
        self._known: dict[str, list[Hit]] = {}
        self._next: Parts = []

    def matches(self, parts: Parts) -> list[TextMatch]:
        """The matches of these parts of files, up to where it is stopped.

        What has changed since it was counted is left out.
        """
        if not self._engine.hits_by_python:
            self._known = self._engine.hits(_most(parts))
        matches: list[TextMatch] = []
        room, size = self._query.max_output_characters, 0
        with FolderTrail(self._backend) as trail:
            for index, (file, part) in enumerate(parts):
                if (room is not None and size > room) or self._stop.now():
                    break
                self._next = parts[index : index + ASKED_AT_ONCE]
                try:
                    found = self._of_file(trail, file, part)
                except (OSError, FsToolsError, TooSlow, BrokenNotebook) as error:
                    check_descriptors(error.__cause__)
                    if self._stop.now():
                        break
                    continue
                matches += found
                size += sum(match.size for match in found)
        return matches

    def _of_file(self, trail: FolderTrail, file: Counted, part: slice) -> list[TextMatch]:
        if is_notebook(file.path):
            return self._notebooks.matches(file.path, file.shown, part)
        folder, _, name = file.path.rpartition("/")
        raw = trail.at(folder).read(name, self._query.max_file_bytes)
        if raw is None:
            return self._of_large_file(file, part)
        text = decoded(raw)
        return excerpts(Place(file.shown), [text], self._hits(file, [text], part), part, self._query)

    def _of_large_file(self, file: Counted, part: slice) -> list[TextMatch]:
        """In blocks, but whole where a match may go over their edges."""
        with self._backend.read(file.path) as opened:
            block = (opened.size,) if self._query.multiline else ()
            hits = self._hits(file, text_blocks(opened, *block), part)
            return excerpts(Place(file.shown), text_blocks(opened, *block), hits, part, self._query)

    def _hits(self, file: Counted, blocks: Iterable[str], part: slice) -> list[Hit]:
        most = min(part.stop + 1, file.lines)
        if file.path not in self._known:
            try:
                # What would take long is left to the engine, where that knows another way.
                return list(self._hits_by_python(blocks, most, patient=self._engine.name == "python"))
            except TooSlow:
                self._known |= self._engine.hits(_most(self._next))  # The next ones may be like it.
        return self._known.get(file.path, [])

    def _hits_by_python(self, blocks: Iterable[str], most: int, *, patient: bool) -> Iterator[Hit]:
        before = 0
        for text in blocks:
            if self._stop.now():
                raise TooSlow
            _, hits = self._matcher.find(text, most, count=False, patient=patient)
            for line, column, length, start in hits:
                yield line + before, column, length, -1 if before else start
            most -= len(hits)
            if most <= 0:
                return
            before += text.count("\n")


def _most(parts: Parts) -> dict[str, int]:
    """How many hits of each file are asked for, which may be shown under several names; one more than is shown."""
    most: dict[str, int] = {}
    for file, part in parts:
        if not is_notebook(file.path):
            most[file.path] = max(most.get(file.path, 0), part.stop + 1)
    return most
