"""Compares what a change knows of its files with their present content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..content.source import BytesContent
from ..diffs.file_diff import CellDiff, FileDiff
from ..documents.notebook import NotebookDocument, notebook_diff
from ..errors import FsToolsError
from ..gate.read_tracker import ReadTracker
from ..gate.shown_cells import ShownCell, ShownCellTexts
from ..gate.shown_text import ShownText
from ..stores.records import ChangedFile


class KnownOfChange:
    """A file before (`old`) or after (`new`) a change: the text shown to its reader, else the rows of the diff.

    Args:
        file: the change's file.
        side: of the change.
        tracker: the receipts of the change's author.
    """

    def __init__(self, file: ChangedFile, side: Literal["old", "new"], tracker: ReadTracker) -> None:
        self._file = file
        self._side = side
        self._tracker = tracker

    def diff(self, path: str, text: str, *, whole: bool = True) -> FileDiff | None:
        """The diff to the current text; None if it is unknown."""
        found = self._since_shown(path, text)
        if found is not None and (found.hunks or found.cells):
            return found
        diff = self._file.diff
        if diff.cells is None:
            told = ShownText.told_by(diff, self._side).diff(path, text, whole=whole)
            # A truncated diff without a difference proves nothing: the change may be in the rows left out.
            return told if told is None or told.hunks or not diff.truncated else None
        missing = "insert" if self._side == "old" else "delete"
        cells = [
            (cell, ShownText.told_by(FileDiff(path=diff.path, op=diff.op, hunks=cell.hunks), self._side), False)
            for cell in diff.cells
            if cell.action != missing
        ]
        # The rows of a cell's diff do not tell whether its last line ends with a newline.
        return _cells_since(path, text, cells, end="\n")

    def _since_shown(self, path: str, text: str) -> FileDiff | None:
        state = self._file.before if self._side == "old" else self._file.after
        receipt = self._tracker.lookup(self._file.key)
        # The receipt of a notebook that was only read knows its cells, not the file.
        if state is None or receipt is None:
            return None
        if receipt.text_sha != state.text_sha and (receipt.cells is None or receipt.text_sha is not None):
            return None
        if receipt.cells is None:
            shown = self._tracker.shown_text(receipt.key)
            whole = receipt.full and shown is not None and shown.ranges() == receipt.lines
            return shown.diff(path, text, whole=whole) if shown is not None else None
        kept = ShownCellTexts.kept_by(self._tracker, receipt)
        cells = [
            (_gone(name, at), lines, ShownCell.of(spelled).seen is None)
            for at, (name, spelled) in enumerate(receipt.cells.items())
            if (lines := kept.of(name)) is not None
        ]
        return _cells_since(path, text, cells)


def _gone(name: str, at: int) -> CellDiff:
    return CellDiff(cell_id=name, index=at, action="delete", cell_type="unknown")


def _cells_since(
    path: str, text: str, cells: Sequence[tuple[CellDiff, ShownText, bool]], *, end: str = ""
) -> FileDiff | None:
    """The diff of cells to the current notebook; None where the file is no longer a notebook.

    Args:
        path: the notebook's.
        text: its current content.
        cells: each with the known lines of its source, and whether they were all of it.
        end: appended to each source before it is compared.
    """
    try:
        document = NotebookDocument(BytesContent(text.encode("utf-8", "surrogatepass")))
    except FsToolsError:
        return None
    found = {cell.cell_id: cell for cell in document.cells}
    diffs = []
    for told, known, whole in cells:
        cell = found.get(told.cell_id)
        if cell is None:
            diffs.append(told.model_copy(update={"action": "delete", "hunks": [], "carried": []}))
            continue
        changed = known.diff(path, cell.source + end, whole=whole)
        if changed is not None and changed.hunks:
            here = {"cell_id": cell.cell_id, "index": cell.index, "cell_type": cell.cell_type}
            diffs.append(CellDiff.model_validate({**here, "action": "edit", "hunks": changed.hunks}))
    return notebook_diff(path, "edit", diffs, document.language)
