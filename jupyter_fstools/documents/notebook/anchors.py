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
    """The lines of one cell that a change replaces, with their context, as a diff has them.

    Attributes:
        cell_type: the type that the cell must still have.
        hunks: for each hunk its lines before and after the change; none where the cell is only converted.
    """

    cell_type: str
    hunks: list[tuple[list[str], list[str]]]

    def of_hunks(self, positions: Collection[int] | Literal["all"]) -> LineAnchors:
        """The lines of some hunks."""
        hunks = [hunk for at, hunk in enumerate(self.hunks) if positions == "all" or at in positions]
        return LineAnchors(cell_type=self.cell_type, hunks=hunks)

    def rewritten(self, cell: Cell) -> str | None:
        """The source after the change of a cell edited since; None unless each hunk's old lines occur exactly once."""
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
    """Operations on cells, and the state in which they expect these, by the cells' indexes.

    Attributes:
        fingerprints: type and source (`cell_fingerprint`) that a cell must still have.
        lines: the lines that a cell must still have if it was edited since, or has no fingerprint.
    """

    model_config = ConfigDict(ser_json_inf_nan="constants")  # Plots hold NaN, and notebooks store it unquoted.

    fingerprints: dict[int, str]
    lines: dict[int, LineAnchors] = Field(default_factory=dict)

    def of_hunks(self, named: Mapping[str, Collection[int] | Literal["all"]]) -> CellAnchors | None:
        """The operations on some cells; None where a named cell or hunk has none, or a cell has no id.

        A cell without id gets another name when it is edited or moved, so such cells cannot be separated. An inserted
        or moved cell lands after the nearest cell before it that is there without the other operations.

        Args:
            named: the positions of hunks, by cell id.
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
            # Restored outputs belong to the whole source, not to some of its hunks.
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
            # A cell with hunks that are left out is checked by its lines alone: its whole source may differ.
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
    """Anchors for repeating a change of these cells; None where it changes more than cells and their outputs.

    Args:
        before: the notebook before.
        after: the notebook after.
        splices: the splices from one to the other.
        back: they take a change back.
        moved: the cells, by id, to move in preference to those around them.

    Raises:
        NotebookRefused: it is not a notebook.
    """
    staying = {cell.index for cell in before.cells if cell.cell_id not in moved} if moved else ()
    told = operations_between(before, after, splices, [cell.cell_id for cell in before.cells], staying)
    if told is None or any(isinstance(one, Members) and not PUT_OUT.issuperset(one.set) for one in told.operations):
        return None
    named = [one for one in told.operations if isinstance(one, SourceSpans | Convert | Delete)]
    fingerprints = {one.cell.index: before.cells[one.cell.index].fingerprint for one in named}
    # Undoing a conversion restores members that belong to the former source, so the source must not have changed.
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
    """Anchors for a cell's source change; None where an empty source is filled, or they would be too large."""
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
