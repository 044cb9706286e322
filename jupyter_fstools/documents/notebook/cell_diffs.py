"""Builds the diffs of the cells that edits touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...diffs.file_diff import CellDiff
from .cell import Cell, compared_lines
from .diff_rows import DiffRows
from .plan import PlannedCell

Action = Literal["edit", "insert", "delete", "move", "convert", "clear_outputs"]


def cell_diffs(
    touched: Sequence[PlannedCell],
    cells: Sequence[Cell],
    order: Sequence[PlannedCell],
    ids: Sequence[str],
    rows: DiffRows,
) -> list[CellDiff]:
    """One diff per touched cell, in the notebook's order, deleted cells first at each place.

    Args:
        touched: the cells that the batch names; a cell may be there twice.
        cells: the cells before.
        order: the cells after.
        ids: their ids.
        rows: makes their hunks.
    """
    place = {state: index for index, state in enumerate(order)}
    found = []
    for state in dict.fromkeys(touched):
        action = _action(state, place.get(state))
        if action is not None:
            found.append((place.get(state, state.cell.index if state.cell else 0), action, state))
    # Made in the order in which a diff keeps its rows.
    found.sort(key=lambda one: (one[0], one[1] != "delete"))
    diffs = []
    for index, action, state in found:
        above = (cells[index - 1].cell_id if action == "delete" else ids[index - 1]) if index else ""
        diffs.append(_diff(state, action, index, ids, above, rows))
    return diffs


def _diff(state: PlannedCell, action: Action, index: int, ids: Sequence[str], above: str, rows: DiffRows) -> CellDiff:
    before = compared_lines(state.cell.source) if state.cell and action != "move" else []
    after = compared_lines(state.source) if action not in ("move", "delete") else []
    return CellDiff(
        cell_id=state.cell.cell_id if state.deleted and state.cell else ids[index],
        index=index,
        action=action,
        cell_type=state.cell_type,
        moved_from=state.cell.index if state.cell and state.moved else None,
        follows=above,
        hunks=rows.hunks(before, after),
    )


def _action(state: PlannedCell, index: int | None) -> Action | None:
    if state.cell is None:
        return "insert"
    if index is None:
        return "delete"
    if state.converted:
        return "convert"
    if state.source_changed:
        return "edit"
    if state.moved:
        return "move"
    return "clear_outputs" if state.clears else None
