"""Describes a whole notebook's step cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..content.source import BytesContent, Content
from ..content.splices import Splice, SplicedContent
from ..diffs.file_diff import CellDiff, FileDiff, Operation
from ..documents.notebook import NotebookDocument, compared, notebook_diff
from ..errors import FsToolsError
from .cell_receipts import goes_on
from .draft import KnownContent
from .read_tracker import ReceiptAfter
from .shown_text import ShownText


def notebook_step(
    path: str, op: Operation, before: Content | None, splices: Sequence[Splice]
) -> tuple[FileDiff, ReceiptAfter] | None:
    """A step's diff per cell, and how its reader's receipt goes on; None where a side of it is no notebook.

    Args:
        path: of the notebook.
        op: what kind of step it is; after `delete` there is no notebook.
        before: the content before; None for no file.
        splices: what changes in it.
    """
    try:
        old = None if before is None else NotebookDocument(before)
        new = None if op == "delete" else NotebookDocument(SplicedContent(before or BytesContent(b""), splices))
    except FsToolsError:
        return None
    after, diffs = compared(old, new)
    language = next((side.language for side in (new, old) if side is not None), None)
    return notebook_diff(path, op, diffs, language), goes_on(old, after)


def known_content(diff: FileDiff, side: Literal["old", "new"]) -> KnownContent:
    """As much of the content before or after a change as its diff tells."""
    return ToldCells(diff, side) if diff.kind == "notebook" else ShownText.told_by(diff, side)


class ToldCells:
    """What a change tells of the cells before (`old`) or after (`new`) it."""

    def __init__(self, diff: FileDiff, side: Literal["old", "new"]) -> None:
        missing = "insert" if side == "old" else "delete"
        self._cells = [
            (cell, ShownText.told_by(FileDiff(path=diff.path, op=diff.op, hunks=cell.hunks), side))
            for cell in diff.cells or []
            if cell.action != missing
        ]

    def diff(self, path: str, text: str, *, whole: bool = True) -> FileDiff | None:
        """What became of these cells in the notebook that is there now; None where that is none."""
        try:
            document = NotebookDocument(BytesContent(text.encode("utf-8", "surrogatepass")))
        except FsToolsError:
            return None
        found = {cell.cell_id: cell for cell in document.cells}
        cells = []
        for told, known in self._cells:
            cell = found.get(told.cell_id)
            if cell is None:
                cells.append(told.model_copy(update={"action": "delete", "hunks": []}))
                continue
            changed = known.diff(path, cell.source, whole=False)
            if changed is not None and changed.hunks:
                cells.append(
                    CellDiff(
                        cell_id=cell.cell_id,
                        index=cell.index,
                        action="edit",
                        cell_type=cell.cell_type,
                        hunks=changed.hunks,
                    )
                )
        return notebook_diff(path, "edit", cells, document.language)
