"""Finds the shown lines that others left unchanged in an open text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from ..backends.protocol import FileStat
from ..diffs.file_diff import FileDiff
from ..errors import Stale
from ..open_documents.protocol import DOCUMENT
from ..stores.records import FileState, Receipt
from .line_changes import LineChange, line_changes
from .line_ranges import covers
from .read_tracker import ReadTracker, ReceiptAfter
from .shown_text import LineRun, ShownText

_CHANGED_BESIDE = f"{DOCUMENT}changed beside"
"""The version in a receipt of a text in which others changed lines that the reader was not shown. It is that of no
content: the receipt tells what the reader was shown and wrote, and each edit compares that with the text."""


class UnchangedLines:
    """The lines of a text that are as its reader was shown them or wrote them; others have changed.

    Args:
        receipt: the reader's.
        shown: the text that was shown or written.
        whole: that was the whole text.
        runs: the unchanged lines.
        refusal: makes the refusal of an edit of any other line, with what changed.
    """

    def __init__(
        self, receipt: Receipt, shown: ShownText, *, whole: bool, runs: Sequence[LineRun], refusal: Callable[[], Stale]
    ) -> None:
        self._receipt = receipt
        self._whole = whole
        self._runs = sorted(runs, key=lambda run: run.now)
        self._starts = [run.now for run in self._runs]
        self.shown = shown
        self.refusal = refusal

    def ranges(self) -> list[tuple[int, int]]:
        """Their ranges; others may have removed lines between adjacent ones."""
        return [(run.now, run.now + run.length - 1) for run in self._runs]

    def hold(self, first: int, last: int) -> bool:
        """Whether all lines from the first to the last are unchanged, and were adjacent when they were shown."""
        run = self._run_of(first)
        return run is not None and last < run.now + run.length

    def receipt_after(self, diff: FileDiff) -> ReceiptAfter:
        """Makes the receipt after an edit of some of them: as if the edit were made in the text that was shown.

        Raises:
            Stale: the edit changes other lines.
        """
        changes = line_changes(diff)
        then = [part for change in changes or () for part in self._as_shown(change)]
        shown = self.shown.with_changes(sorted(then, key=lambda part: part.first))
        # A row of a diff may be cut; then its line is not kept.
        all_kept = changes is not None and not any(None in change.added for change in changes)
        were_kept = all(covers(self.shown.ranges(), *lines) for lines in self._receipt.lines)
        lines = shown.ranges() if all_kept and were_kept else self._receipt.lines
        is_whole = all_kept and self._whole
        of_no_content = {"version": _CHANGED_BESIDE, "text_sha": None, "exact_sha": None}
        receipt = self._receipt.model_copy(update={**of_no_content, "lines": lines, "full": is_whole, "views": []})

        def after(_tracker: ReadTracker, _stat: FileStat, _state: FileState) -> tuple[Receipt, bytes]:
            return receipt, shown.packed() if changes is not None else b""

        return after

    def _as_shown(self, change: LineChange) -> Iterator[LineChange]:
        """The change of lines by the numbers that they had when they were shown, in parts that were adjacent then."""
        line, end, added = change.first, change.first + change.removed, change.added
        while line < end or added:
            # Lines that are put at the end of a run follow it.
            run = self._run_of(line) or (self._run_of(line - 1) if line == end else None)
            if run is None:
                raise self.refusal()
            stop = min(end, run.now + run.length)
            yield LineChange(run.then + line - run.now, stop - line, added)
            line, added = stop, []

    def _run_of(self, line: int) -> LineRun | None:
        at = bisect_right(self._starts, line) - 1
        run = self._runs[at] if at >= 0 else None
        return run if run is not None and line < run.now + run.length else None
