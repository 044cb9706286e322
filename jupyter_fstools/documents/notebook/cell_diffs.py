"""Builds the diffs of the cells that edits touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...diffs.file_diff import Action, CellDiff
from .cell import Cell, compared_lines
from .diff_rows import DiffRows
from .plan import PlannedCell


def cell_diffs(
    touched: Sequence[PlannedCell],
    places: Mapping[PlannedCell, tuple[str, int]],
    cells: Sequence[Cell],
    ids: Sequence[str],
    rows: DiffRows,
) -> list[CellDiff]:
    """One diff per touched cell, in the notebook's order, deleted cells first at each place.

    Args:
        touched: the cells that the batch names; a cell may be there twice.
        places: their ids and indexes after the batch; of a deleted one those that it had.
        cells: the cells before.
        ids: those of the cells after.
        rows: makes their hunks.
    """
    found = [(*places[state], action, state) for state in dict.fromkeys(touched) if (action := _action(state))]
    # Made in the order in which a diff keeps its rows.
    found.sort(key=lambda one: (one[1], one[2] != "delete"))
    diffs = []
    for cell_id, index, action, state in found:
        above = (cells[index - 1].cell_id if action == "delete" else ids[index - 1]) if index else ""
        diffs.append(_diff(state, action, cell_id, index, above, rows))
    return diffs


def _diff(state: PlannedCell, action: Action, cell_id: str, index: int, above: str, rows: DiffRows) -> CellDiff:
    before = compared_lines(state.cell.source) if state.cell and action != "move" else []
    after = compared_lines(state.source) if action not in ("move", "delete") else []
    return CellDiff(
        cell_id=cell_id,
        index=index,
        action=action,
        cell_type=state.cell_type,
        moved_from=state.cell.index if state.cell and state.moved else None,
        follows=above,
        hunks=rows.hunks(before, after),
    )


def _action(state: PlannedCell) -> Action | None:
    if state.cell is None:
        return "insert"
    if state.deleted:
        return "delete"
    if state.converted:
        return "convert"
    if state.source_changed:
        return "edit"
    if state.moved:
        return "move"
    return "clear_outputs" if state.clears else None
