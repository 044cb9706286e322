"""Requires that a reader was shown the lines that a change replaces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..backends.protocol import FileStat, OpenFile
from ..documents.text.encoding import encoding_of
from ..documents.text.window import text_index
from ..errors import FsToolsError, Stale
from ..open_documents.protocol import is_live
from ..stores.records import Receipt
from .read_tracker import ReadTracker, renewed
from .shown_text import LineRun, ShownText
from .stale import MOST_EXPLAINED_BYTES, SHOWN_BY_DIFF, explain_read, is_in_other_encoding, is_whole_text, text_of
from .unchanged_lines import UnchangedLines
from .versions import Versions


class LineCheck:
    """Requires a receipt for the lines of a file.

    In an open text, people may have changed lines since the read, before they saved it: the others may be edited.

    Args:
        tracker: the reader's receipts.
        versions: knows fingerprints.
        whole: the change replaces the whole file.
        accept_stale: a file that changed since the read is accepted.

    Attributes:
        unchanged: of each text that was accepted though people changed it, by its key, the lines that may be edited.
    """

    def __init__(
        self, tracker: ReadTracker, versions: Versions, *, whole: bool = False, accept_stale: bool = False
    ) -> None:
        self._tracker = tracker
        self._versions = versions
        self._whole = whole
        self._accept_stale = accept_stale
        self.unchanged: dict[str, UnchangedLines] = {}

    def receipt(self, numbers: Sequence[int], opened: OpenFile) -> Receipt:
        """The receipt that allows the change, or that of unchanged lines (`unchanged`).

        Raises:
            NotRead, Stale (with what changed)
        """
        tracker, stat = self._tracker, opened.stat
        try:
            return tracker.require(
                stat,
                lambda: self._versions.fingerprint(opened),
                whole=self._whole,
                total_lines=lambda receipt: _total_lines(opened, receipt),
            )
        except Stale as refusal:
            receipt = tracker.lookup(stat.key)
            if receipt is None:
                raise
            if self._accept_stale and not is_in_other_encoding(opened, receipt):
                return receipt
            shown = tracker.shown_text(stat.key)
            refused = partial(self._explained, refusal, opened, receipt, shown)
            if shown is not None and not self._whole and _may_be_typed_in(stat, receipt):
                whole = is_whole_text(receipt, shown)
                runs = _unchanged(opened, receipt, shown, whole=whole)
                self.unchanged[stat.key] = UnchangedLines(receipt, shown, whole=whole, runs=runs, refusal=refused)
                return receipt
            raise refused() from None

    def _explained(self, refusal: Stale, opened: OpenFile, receipt: Receipt, shown: ShownText | None) -> Stale:
        """The refusal with what changed; where it tells all of that, an edit may be repeated."""
        text = explain_read(refusal, opened, receipt, shown)
        if text is not None and not self._whole:
            self._tracker.record_diff(receipt, opened.stat, self._versions.fingerprint(opened), text)
            refusal.hint = SHOWN_BY_DIFF
        return refusal


def keep_unchanged(
    tracker: ReadTracker, versions: Versions, receipt: Receipt | None, opened: OpenFile
) -> Receipt | None:
    """Keep the lines of an open text that people have not changed since they were shown, before more is shown.

    Returns:
        A receipt of no line of the current content, beside which they are kept; or the given one where nobody typed.
    """
    stat = opened.stat
    if receipt is None or receipt.cells is not None or not _may_be_typed_in(stat, receipt):
        return receipt
    found, shown = versions.fingerprint(opened), tracker.shown_text(stat.key)
    if shown is None or found.text == receipt.text_sha:
        return receipt
    kept = shown.moved(_unchanged(opened, receipt, shown, whole=is_whole_text(receipt, shown)))
    # For an overwrite these lines do not count: the reader was not shown that others between them are gone.
    current = renewed(receipt, stat, found)
    tracker.put(current, kept.packed())
    return current


def _may_be_typed_in(stat: FileStat, receipt: Receipt) -> bool:
    """Whether the text, or what the reader knows of it, is an open document's that people change before they save."""
    return is_live(stat.version) or is_live(receipt.version)


def _unchanged(opened: OpenFile, receipt: Receipt, shown: ShownText, *, whole: bool) -> list[LineRun]:
    if opened.stat.size > MOST_EXPLAINED_BYTES:
        return []
    try:
        encoding = encoding_of(opened, opened.stat.path, receipt.encoding)
    except FsToolsError:
        return []
    return shown.unchanged(text_of(opened, encoding), whole=whole)


def _total_lines(opened: OpenFile, receipt: Receipt) -> int | None:
    """The lines of a text; None where it is none, or too large to be counted for an answer."""
    if opened.stat.size > MOST_EXPLAINED_BYTES:
        return None
    try:
        return text_index(opened, encoding_of(opened, opened.stat.path, receipt.encoding)).total_lines
    except FsToolsError:
        return None
