"""Finds the shown lines that others left unchanged in an open text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..backends.protocol import FileStat
from ..diffs.file_diff import FileDiff
from ..documents.text.touched_lines import TouchedLines
from ..errors import Stale
from ..open_documents.protocol import DOCUMENT
from ..stores.records import FileState, Receipt
from .read_tracker import ReadTracker, ReceiptAfter
from .shown_text import LineRun, ShownText, line_changes

_CHANGED_BESIDE = f"{DOCUMENT}changed beside"
"""The version in a receipt of a text in which others changed lines that the reader was not shown. It is that of no
content: the receipt tells what the reader was shown and wrote, and each edit compares that with the text."""


class UnchangedLines:
    """The lines of a text that are as its reader was shown them or wrote them; others have changed.

    Args:
        receipt: the reader's.
        shown: the text that was shown or written.
        runs: the unchanged lines, in order.
        refusal: makes the refusal of an edit of any other line, with what changed.
    """

    def __init__(
        self, receipt: Receipt, shown: ShownText, runs: Sequence[LineRun], refusal: Callable[[], Stale]
    ) -> None:
        self._receipt = receipt
        self._runs = runs
        self.shown = shown
        self.refusal = refusal

    def ranges(self) -> list[tuple[int, int]]:
        """Their ranges; others may have removed lines between adjacent ones."""
        return [(run.now, run.now + run.length - 1) for run in self._runs]

    def hold(self, first: int, last: int) -> bool:
        """Whether all lines from the first to the last are unchanged, and were adjacent when they were shown."""
        return any(start <= first and last <= end for start, end in self.ranges())

    def receipt_after(self, diff: FileDiff, touched: Sequence[TouchedLines]) -> ReceiptAfter:
        """Makes the receipt after an edit of some of them: as if the edit were made in the text that was shown.

        Raises:
            Stale: the edit changes other lines.
        """
        changes = line_changes(diff)
        before = None if changes is None else [one._replace(first=self._then(one.first)) for one in changes]
        moved = [one._replace(first=self._then(one.first)) for one in touched]

        def after(tracker: ReadTracker, stat: FileStat, state: FileState) -> tuple[Receipt, bytes]:
            receipt, shown = tracker.after_own_edit(self._receipt, stat, state, before, moved)
            of_no_content = {"version": _CHANGED_BESIDE, "text_sha": None, "exact_sha": None}
            return receipt.model_copy(update=of_no_content), shown

        return after

    def _then(self, line: int) -> int:
        """The number that an unchanged line had when it was shown; of the line below some, as if it followed them."""
        for below in (0, 1):
            for run in self._runs:
                if run.now <= line < run.now + run.length + below:
                    return run.then + line - run.now
        raise self.refusal()
