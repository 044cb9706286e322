"""The files that match, in order: as many as the page needs, and of the rest how many they are."""

from __future__ import annotations

from .batches import Counted
from .text_query import TextQuery

SPARE = 1000
"""Files kept beyond what is needed, so that they are not sorted for every one that comes."""


class MatchingFiles:
    """What has been found so far, in memory that depends on the page and not on how much there is.

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
        """How many there are of what the page lists."""
        return self.lines if self._by_line else self.files

    @property
    def fill_the_page(self) -> bool:
        """Whether there is more than up to the page's end."""
        return self.total > self._end

    def add(self, found: list[Counted]) -> None:
        """Take in more files."""
        self.files += len(found)
        self.lines += sum(file.lines for file in found)
        self._kept += found
        if len(self._kept) > 2 * self._end + SPARE:
            self._cut()

    def page(self) -> list[Counted]:
        """The files of the page, where that lists files."""
        self._cut()
        return self._kept[self._first : self._end]

    def parts(self) -> list[tuple[Counted, slice]]:
        """Which of each file's matching lines are on the page, where that lists lines."""
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
        # Every file has at least one line: no more files than lines are needed.
        self._kept.sort()
        del self._kept[self._end :]
