"""Compares the cells of two contents of one notebook."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from ...diffs.file_diff import CellDiff, FileDiff, Operation
from ...diffs.line_diff import line_hunks
from .cell import Cell
from .document import CellAfter, NotebookDocument

MAX_ROWS = 4000
"""Rows kept in one notebook's diff; its counts are of all."""


class Comparison(NamedTuple):
    """The cells after a step, and one diff per cell that it changed."""

    after: list[CellAfter]
    diffs: list[CellDiff]


def compared(before: NotebookDocument | None, after: NotebookDocument | None, *, cut_lines: bool = True) -> Comparison:
    """What a step from one content to another did; None stands for no file.

    A cell is the same one if it has the same id, or none and the same source.
    """
    old, new = before.cells if before else [], after.cells if after else []
    origin = _origins(old, new)
    moved = moved_origins([origin.get(cell.index) for cell in new])
    cells, diffs = [], []
    for cell in new:
        at = origin.get(cell.index)
        was = None if at is None else old[at]
        same = was is not None and was.fingerprint == cell.fingerprint
        cells.append(CellAfter(cell.cell_id, at, None if same else (cell.cell_type, cell.source), was is None))
        diff = _diff(was, cell, moved=at in moved, cut_lines=cut_lines)
        if diff is not None:
            diffs.append(diff)
    kept = set(origin.values())
    gone = [_told(cell, "delete", _lines(cell), [], cut_lines=cut_lines) for cell in old if cell.index not in kept]
    return Comparison(cells, sorted([*gone, *diffs], key=lambda diff: (diff.index, diff.action != "delete")))


def notebook_diff(
    path: str, op: Operation, cells: Sequence[CellDiff], language: str | None, *, most_rows: int = MAX_ROWS
) -> FileDiff:
    """The diff of a notebook, cell by cell; rows above a bound are left out and said to be.

    Args:
        path: as the diff shall name it.
        op: what kind of change it is.
        cells: the cells that changed.
        language: of the code cells (`NotebookDocument.language`).
        most_rows: the bound.
    """
    diff = FileDiff(path=path, op=op, kind="notebook", cells=[], language=language)
    room = most_rows
    for cell in cells:
        rows = [row.kind for hunk in cell.hunks for row in hunk.rows]
        diff.added += rows.count("add")
        diff.removed += rows.count("remove")
        hunks = []
        for hunk in cell.hunks:
            diff.truncated |= len(hunk.rows) > room
            if room > 0:
                hunks.append(hunk.model_copy(update={"rows": hunk.rows[:room]}))
            room = max(0, room - len(hunk.rows))
        assert diff.cells is not None
        diff.cells.append(cell.model_copy(update={"hunks": hunks}))
    return diff


def _origins(old: Sequence[Cell], new: Sequence[Cell]) -> dict[int, int]:
    """New index to old index; unchanged cells find each other first, then those of one id."""
    origin: dict[int, int] = {}
    sames: list[Callable[[Cell], Hashable]] = [
        lambda cell: (cell.real_id, cell.fingerprint),
        lambda cell: cell.real_id,
    ]
    for same in sames:
        taken = set(origin.values())
        waiting = _grouped((cell for cell in old if cell.index not in taken), same)
        for name, indexes in _grouped((cell for cell in new if cell.index not in origin), same).items():
            there = waiting.get(name, [])
            # Cells without ids are only guessed to be the same where none came and none went.
            if name is not None or len(there) == len(indexes):
                origin.update(zip(indexes, there, strict=False))
    return origin


def _grouped(cells: Iterable[Cell], same: Callable[[Cell], Hashable]) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for cell in cells:
        groups[same(cell)].append(cell.index)
    return groups


def moved_origins(origins: Iterable[int | None]) -> set[int]:
    """The cells to take out so that the others stand in their old order (all but a longest rising row)."""
    present = [at for at in origins if at is not None]
    tails: list[int] = []
    places = []
    for at in present:
        place = bisect_left(tails, at)
        tails[place : place + 1] = [at]
        places.append(place)
    staying, wanted = set(), len(tails) - 1
    for at, place in zip(reversed(present), reversed(places), strict=True):
        if place == wanted:
            staying.add(at)
            wanted -= 1
    return set(present) - staying


def _diff(was: Cell | None, cell: Cell, *, moved: bool, cut_lines: bool) -> CellDiff | None:
    if was is None:
        return _told(cell, "insert", [], _lines(cell), cut_lines=cut_lines)
    if was.cell_type != cell.cell_type:
        return _told(cell, "convert", _lines(was), _lines(cell), cut_lines=cut_lines)
    if was.source != cell.source:
        return _told(cell, "edit", _lines(was), _lines(cell), cut_lines=cut_lines)
    if moved:
        return _told(cell, "move", [], [])
    if _raw(was) == _raw(cell):
        return None
    outputs = cell.spans.member("outputs")
    cleared = outputs is None or outputs.end - outputs.start <= len("[]")
    return _told(cell, "clear_outputs" if cleared else "edit", [], [])


def _told(cell: Cell, action: str, before: list[str], after: list[str], *, cut_lines: bool = True) -> CellDiff:
    return CellDiff.model_validate(
        {
            "cell_id": cell.cell_id,
            "index": cell.index,
            "action": action,
            "cell_type": cell.cell_type,
            "hunks": line_hunks(before, after, cut_lines=cut_lines),
        }
    )


def _lines(cell: Cell) -> list[str]:
    return cell.source.split("\n") if cell.source else []


def _raw(cell: Cell) -> bytes:
    return cell.content.read(cell.place.start, cell.place.end - cell.place.start)
