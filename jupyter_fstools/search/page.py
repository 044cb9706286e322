"""Collects matching files and reads the lines of one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..backends.protocol import Backend
from ..content.fingerprint import fingerprint_of
from ..documents.notebook import is_notebook_name
from ..errors import FsToolsError
from ..walking.stopping import Stop, check_descriptors
from ..walking.trail import FolderTrail
from .batches import Counted, Engine
from .decoding import decoded, text_blocks
from .excerpts import Place, excerpts
from .match_lines import Hit
from .notebooks import BrokenNotebook, NotebookSearch
from .python.matcher import Matcher, TooSlow
from .query import ReadVersion, TextMatch, TextQuery

Parts = list[tuple[Counted, slice]]
ASKED_AT_ONCE = 100
"""Files whose matches are requested in one run: starting a program for each takes longer than searching them."""
MOST_VERSIONS = 100
"""Most files of a page whose shown version is recorded: a session keeps only a thousand receipts."""
SPARE = 1000
"""Files kept beyond what is needed, so that they are not sorted for each new one."""


class MatchingFiles:
    """Collects matching files; memory depends on the page, not on how much is found.

    Attributes:
        files: how many files hold matching lines.
        lines: how many matching lines they hold.
    """

    def __init__(self, query: TextQuery) -> None:
        self.files = 0
        self.lines = 0
        self._by_line = query.output_mode == "content"
        self._first, self._end = query.offset, query.offset + query.limit
        self._kept: list[Counted] = []

    @property
    def total(self) -> int:
        """The number of lines, or files, whichever the page lists."""
        return self.lines if self._by_line else self.files

    @property
    def fill_the_page(self) -> bool:
        """Whether there is more than the pages up to this one show."""
        return self.total > self._end

    def add(self, found: list[Counted]) -> None:
        """Add more files."""
        self.files += len(found)
        self.lines += sum(file.lines for file in found)
        self._kept += found
        if len(self._kept) > 2 * self._end + SPARE:
            self._cut()

    def page(self) -> list[Counted]:
        """The files of the page, if it lists files."""
        self._cut()
        return self._kept[self._first : self._end]

    def parts(self) -> Parts:
        """The part of each file's matching lines that is on the page, if it lists lines."""
        self._cut()
        found = []
        passed = 0
        for file in self._kept:
            part = slice(max(0, self._first - passed), min(file.lines, self._end - passed))
            if part.start < part.stop:
                found.append((file, part))
            passed += file.lines
        return found

    def _cut(self) -> None:
        # Every file has at least one matching line, so no more files than lines are needed.
        self._kept.sort()
        del self._kept[self._end :]


class Page:
    """Reads the matching lines that a page shows.

    Args:
        backend: where the files are.
        query: how much to show of them.
        engine: the engine that counted them.
        matcher: finds the lines again.
        notebooks: reads those of notebooks.
        stop: when to end.

    Attributes:
        versions: the versions that the first files' lines are from, by the path shown.
        slow: how many files it gave up on, because the pattern took too long.
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
        self.versions: dict[str, ReadVersion] = {}
        self.slow = 0

    def matches(self, parts: Parts) -> list[TextMatch]:
        """The matches of these parts of files, up to where the search is stopped.

        Matches that have changed since they were counted are left out.
        """
        self._matcher.renew()
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
                    self.slow += isinstance(error, TooSlow)
                    continue
                matches += found
                size += sum(match.size for match in found)
        return matches

    def _of_file(self, trail: FolderTrail, file: Counted, part: slice) -> list[TextMatch]:
        if is_notebook_name(file.path):
            return self._notebooks.matches(file.path, file.shown, part)
        folder, _, name = file.path.rpartition("/")
        # Looked at before it is read: the fingerprint shows later whether the file changed in between.
        stat = self._backend.stat(file.path) if len(self.versions) < MOST_VERSIONS else None
        raw = trail.at(folder).read(name, self._query.max_file_bytes)
        if raw is None:
            return self._of_large_file(file, part)
        text = decoded(raw)
        if stat is not None:
            ended = not text or text.endswith("\n")
            lines = text.count("\n") + (not ended)
            self.versions[file.shown] = ReadVersion(stat, fingerprint_of([raw]), lines, ended)
        return excerpts(Place(file.shown), [text], self._hits(file, [text], part), part, self._query)

    def _of_large_file(self, file: Counted, part: slice) -> list[TextMatch]:
        """The matches of a large file, read in blocks, or as a whole where a match may span lines."""
        with self._backend.read(file.path) as opened:
            whole = self._query.multiline
            hits = self._hits(file, text_blocks(opened, whole=whole), part)
            return excerpts(Place(file.shown), text_blocks(opened, whole=whole), hits, part, self._query)

    def _hits(self, file: Counted, blocks: Iterable[str], part: slice) -> list[Hit]:
        most = min(part.stop + 1, file.lines)
        if file.path not in self._known:
            try:
                # A slow text is left to the engine if that is not Python.
                return list(self._hits_by_python(blocks, most, patient=self._engine.name == "python"))
            except TooSlow:
                asked = self._engine.hits(_most(self._next))  # The next files may be as slow.
                if not asked:
                    raise
                self._known |= asked
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
    """How many hits to request of each file, one more than is shown; a file may be shown under several names."""
    most: dict[str, int] = {}
    for file, part in parts:
        if not is_notebook_name(file.path):
            most[file.path] = max(most.get(file.path, 0), part.stop + 1)
    return most
