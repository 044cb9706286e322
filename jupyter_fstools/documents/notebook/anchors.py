"""Describes a change of cells so that it can be repeated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ...content.splices import Splice
from ...diffs.line_diff import CONTEXT_LINES, changed_blocks, grouped
from .cell import Cell
from .cell_ids import is_synthetic
from .document import NotebookDocument
from .operations import (
    CellOperation,
    Convert,
    Delete,
    Insert,
    Members,
    Move,
    NotebookOperations,
    SourceSpans,
    operations_between,
)

PUT_OUT = {"outputs", "execution_count"}
"""The members of a cell that its run writes."""
_MOST_CHARACTERS = 1 << 16


class LineAnchors(BaseModel):
    """The lines of one cell that a change replaces, with those around them, as a diff has them.

    Attributes:
        cell_type: that the cell must still have.
        hunks: of each hunk the lines before and after the change; none where the cell is converted alone.
    """

    cell_type: str
    hunks: list[tuple[list[str], list[str]]]

    def of_hunks(self, positions: Collection[int] | Literal["all"]) -> LineAnchors:
        """The lines of some hunks."""
        hunks = [hunk for at, hunk in enumerate(self.hunks) if positions == "all" or at in positions]
        return LineAnchors(cell_type=self.cell_type, hunks=hunks)

    def rewritten(self, cell: Cell) -> str | None:
        """The source that the change makes of a cell that was edited since; None where a hunk is not there once."""
        if cell.cell_type != self.cell_type:
            return None
        lines, done, at = cell.source.split("\n"), list[str](), 0
        for old, new in self.hunks:
            starts = [start for start in range(len(lines) - len(old) + 1) if lines[start : start + len(old)] == old]
            if len(starts) != 1 or starts[0] < at:
                return None
            done += [*lines[at : starts[0]], *new]
            at = starts[0] + len(old)
        return "\n".join([*done, *lines[at:]])


class CellAnchors(NotebookOperations):
    """Operations on cells, and what they expect, by the cells' indexes.

    Attributes:
        fingerprints: type and source (`cell_fingerprint`) that a cell must still have.
        lines: of a cell whose source alone changes, the lines that are enough where the person went on in it, or where
            it has no fingerprint.
    """

    model_config = ConfigDict(ser_json_inf_nan="constants")  # Plots hold NaN, and notebooks have it as it is.

    fingerprints: dict[int, str]
    lines: dict[int, LineAnchors] = Field(default_factory=dict)

    def of_hunks(self, named: Mapping[str, Collection[int] | Literal["all"]]) -> CellAnchors | None:
        """The part of them that is about some cells; None where one of these is not told, or a hunk of it is not.

        A cell without id has another name once it is edited, and one that moves goes and comes: they are told together.
        A cell that comes or moves lands after the nearest one before it that is there without the other parts.

        Args:
            named: by the ids of cells the positions of their hunks.
        """
        if any(is_synthetic(one.cell.id) for one in self.operations):
            return None
        chosen = [one for one in self.operations if one.cell.id in named]
        if {one.cell.id for one in chosen} != set(named):
            return None
        names = {one.cell.index: one.cell.id or "" for one in chosen}
        hunks = {index: positions for index, name in names.items() if (positions := named[name]) != "all"}
        if not hunks.keys() <= self.lines.keys():
            return None
        left = {
            one.cell.index: one.after
            for one in self.operations
            if isinstance(one, Insert | Move) and one.cell.index not in names
        }

        def fits(operation: CellOperation) -> bool:
            # Outputs that come back are those of the whole source.
            comes = isinstance(operation, Members) and any(operation.set.values())
            return not (comes and operation.cell.index in hunks)

        def landing(operation: CellOperation) -> CellOperation:
            if not isinstance(operation, Insert | Move):
                return operation
            after = operation.after
            while after is not None and after.index in left:
                after = left[after.index]
            return operation.model_copy(update={"after": after})

        return CellAnchors(
            total=self.total,
            operations=[landing(one) for one in chosen if fits(one)],
            # Of a cell whose other hunks are left alone, the source as a whole says nothing.
            fingerprints={at: told for at, told in self.fingerprints.items() if at in names and at not in hunks},
            lines={at: told.of_hunks(hunks.get(at, "all")) for at, told in self.lines.items() if at in names},
        )


def cell_anchors(
    before: NotebookDocument,
    after: NotebookDocument,
    splices: Sequence[Splice],
    *,
    back: bool = False,
    moved: Collection[str] = (),
) -> CellAnchors | None:
    """Anchors for repeating a change of these cells; None where more than cells and their outputs changes.

    Args:
        before: the notebook before.
        after: the notebook after.
        splices: what leads from one to the other.
        back: they take a change back.
        moved: the cells, by id, that are to be moved rather than those around them.

    Raises:
        NotebookRefused: it is no notebook.
    """
    staying = {cell.index for cell in before.cells if cell.cell_id not in moved} if moved else ()
    told = operations_between(before, after, splices, [cell.cell_id for cell in before.cells], staying)
    if told is None or any(isinstance(one, Members) and not PUT_OUT.issuperset(one.set) for one in told.operations):
        return None
    named = [one for one in told.operations if isinstance(one, SourceSpans | Convert | Delete)]
    fingerprints = {one.cell.index: before.cells[one.cell.index].fingerprint for one in named}
    # What a cell had with its type before was of the source that it had then.
    fixed = Delete | Convert if back else Delete
    whole = {one.cell.index for one in named if isinstance(one, fixed)}
    now = {cell.cell_id: cell for cell in after.cells}
    anchors = {
        index: _line_anchors(cell := before.cells[index], now.get(cell.cell_id))
        for index in fingerprints
        if index not in whole
    }
    lines = {index: found for index, found in anchors.items() if found is not None}
    return CellAnchors(total=told.total, operations=told.operations, fingerprints=fingerprints, lines=lines)


def _line_anchors(cell: Cell, after: Cell | None) -> LineAnchors | None:
    """Anchors for what a cell's source becomes; None where it was empty and is written, or they would be too large."""
    source = after.source if after is not None else ""
    if source and not cell.source:
        return None
    before, now = cell.source.split("\n"), source.split("\n")
    hunks = []
    for group in grouped(changed_blocks(before, now), CONTEXT_LINES):
        (start, _, new_start, _), (_, end, _, new_end) = group[0], group[-1]
        above, below = before[max(0, start - CONTEXT_LINES) : start], before[end : end + CONTEXT_LINES]
        hunks.append(([*above, *before[start:end], *below], [*above, *now[new_start:new_end], *below]))
    size = sum(len(line) for sides in hunks for side in sides for line in side)
    return LineAnchors(cell_type=cell.cell_type, hunks=hunks) if size <= _MOST_CHARACTERS else None
