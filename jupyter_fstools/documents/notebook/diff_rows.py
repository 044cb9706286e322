"""Makes the hunks of a notebook's diff up to a bound."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ...diffs.file_diff import DiffHunk
from ...diffs.line_diff import MAX_ROWS, Block, changed_blocks, hunks_of


class DiffRows:
    """Makes hunks, cell by cell, up to the number of rows that a diff keeps; counts the rows after that.

    Args:
        whole: makes all hunks, and cuts no row.

    Attributes:
        added: how many added rows are in no hunk.
        removed: how many removed rows are in no hunk.
    """

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole
        self._made = 0
        self.added = self.removed = 0

    def hunks(self, before: Sequence[str], after: Sequence[str]) -> list[DiffHunk]:
        """The hunks between two lists of lines."""
        return self._of(changed_blocks(before, after), before, after)

    def coming(self, before: Sequence[str], after: Sequence[str]) -> tuple[bool, list[DiffHunk]]:
        """Whether lines are added, and the hunks if so; removals do not count, as every edit of code clears outputs."""
        blocks = changed_blocks(before, after) if before != after else []
        comes = any(c < d for *_, c, d in blocks)
        return comes, self._of(blocks, before, after) if comes else []

    def _of(self, blocks: Sequence[Block], before: Sequence[str], after: Sequence[str]) -> list[DiffHunk]:
        # One row more than a diff keeps, so that `notebook_diff` knows that it cuts some.
        room = sys.maxsize if self._whole else MAX_ROWS + 1 - self._made
        made = hunks_of(blocks, before, after, most_rows=room, cut_lines=not self._whole) if room else ()
        hunks = [hunk for hunk in made if hunk.rows]
        kinds = [row.kind for hunk in hunks for row in hunk.rows]
        self._made += len(kinds)
        self.added += sum(d - c for *_, c, d in blocks) - kinds.count("add")
        self.removed += sum(b - a for a, b, *_ in blocks) - kinds.count("remove")
        return hunks
