"""Compares the cells of two contents of one notebook."""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence, Set
from typing import NamedTuple

from ...content.source import Content
from ...diffs.file_diff import CellDiff, DiffHunk, FileDiff, Operation
from ...diffs.line_diff import cuts_rows, line_hunks
from ...errors import NotebookRefused
from .cell import Cell, decoded
from .document import CellAfter, NotebookDocument
from .spans import ObjectSpans

MAX_ROWS = 4000
"""Rows kept in one notebook's diff; its counts are of all."""


class Comparison(NamedTuple):
    """The cells after a step, one diff per cell that it changed, and hunks of what comes around the cells."""

    after: list[CellAfter]
    diffs: list[CellDiff]
    hunks: list[DiffHunk]


def compared(before: NotebookDocument | None, after: NotebookDocument | None, *, cut_lines: bool = True) -> Comparison:
    """The changes of a step from one content to another; None stands for no file.

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
    around = _coming(_around(before), _around(after), cut_lines=cut_lines) if after else []
    return Comparison(cells, sorted([*gone, *diffs], key=lambda diff: (diff.index, diff.action != "delete")), around)


def notebook_diff(
    path: str,
    op: Operation,
    cells: Sequence[CellDiff],
    language: str | None,
    *,
    hunks: Sequence[DiffHunk] = (),
    whole: bool = False,
) -> FileDiff:
    """The diff of a notebook, cell by cell; rows above a bound are left out and said to be.

    Args:
        path: as the diff shall name it.
        op: what kind of change it is.
        cells: the cells that changed.
        language: of the code cells (`NotebookDocument.language`).
        hunks: of what comes around the cells.
        whole: no row is left out, and none was cut.
    """
    diff = FileDiff(path=path, op=op, kind="notebook", language=language)
    room = sys.maxsize if whole else MAX_ROWS

    def fitting(hunks: Sequence[DiffHunk]) -> list[DiffHunk]:
        nonlocal room
        kept = []
        for hunk in hunks:
            kinds = [row.kind for row in hunk.rows]
            diff.added, diff.removed = diff.added + kinds.count("add"), diff.removed + kinds.count("remove")
            diff.truncated |= len(kinds) > room or (not whole and cuts_rows(hunk))
            if room > 0:
                kept.append(hunk.model_copy(update={"rows": hunk.rows[:room]}))
            room = max(0, room - len(kinds))
        return kept

    diff.hunks = fitting(hunks)
    diff.cells = [
        cell.model_copy(update={"hunks": fitting(cell.hunks), "carried": fitting(cell.carried)}) for cell in cells
    ]
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


def moved_origins(origins: Iterable[int | None], staying: Collection[int] = ()) -> set[int]:
    """The cells to take out so that the others stand in their old order: as few as possible, of `staying` above all."""
    present = [at for at in origins if at is not None]
    fixed = _longest_rising([at for at in present if at in staying]) if staying else []
    fitting, passed = [], 0
    for at in present:
        if passed < len(fixed) and at == fixed[passed]:
            passed += 1
            fitting.append(at)
        elif bisect_left(fixed, at) == passed:
            fitting.append(at)
    return set(present).difference(_longest_rising(fitting))


def _longest_rising(numbers: Sequence[int]) -> list[int]:
    """A longest rising row among different numbers."""
    tails: list[int] = []
    places = []
    for number in numbers:
        place = bisect_left(tails, number)
        tails[place : place + 1] = [number]
        places.append(place)
    row: list[int] = []
    for number, place in zip(reversed(numbers), reversed(places), strict=True):
        if place == len(tails) - 1 - len(row):
            row.append(number)
    return row[::-1]


def _diff(was: Cell | None, cell: Cell, *, moved: bool, cut_lines: bool) -> CellDiff | None:
    same = was is not None and _raw(was) == _raw(cell)
    carried = [] if same else _coming(_carried(was), _carried(cell), cut_lines=cut_lines)
    if was is None:
        return _told(cell, "insert", [], _lines(cell), carried, cut_lines=cut_lines)
    if was.cell_type != cell.cell_type:
        return _told(cell, "convert", _lines(was), _lines(cell), carried, cut_lines=cut_lines)
    if was.source != cell.source:
        return _told(cell, "edit", _lines(was), _lines(cell), carried, cut_lines=cut_lines)
    if moved:
        return _told(cell, "move", [], [], carried)
    if same:
        return None
    outputs = cell.spans.member("outputs")
    cleared = outputs is None or outputs.end - outputs.start <= len("[]")
    return _told(cell, "clear_outputs" if cleared and not carried else "edit", [], [], carried)


def _told(
    cell: Cell,
    action: str,
    before: list[str],
    after: list[str],
    carried: Sequence[DiffHunk] = (),
    *,
    cut_lines: bool = True,
) -> CellDiff:
    return CellDiff.model_validate(
        {
            "cell_id": cell.cell_id,
            "index": cell.index,
            "action": action,
            "cell_type": cell.cell_type,
            "hunks": line_hunks(before, after, cut_lines=cut_lines),
            "carried": carried,
        }
    )


def _coming(before: list[str], after: list[str], *, cut_lines: bool) -> list[DiffHunk]:
    """The hunks between them; none where nothing is added, as outputs go with every edit of a code cell."""
    hunks = line_hunks(before, after, cut_lines=cut_lines)
    return hunks if any(row.kind == "add" for hunk in hunks for row in hunk.rows) else []


def _around(document: NotebookDocument | None) -> list[str]:
    """What a notebook has beside its cells."""
    return _members(document.content, document.spans.root, {"cells"}) if document else []


def _carried(cell: Cell | None) -> list[str]:
    """What a cell has beside its id, type and source."""
    return _members(cell.content, cell.spans, {"id", "cell_type", "source"}) if cell else []


def _members(content: Content, spans: ObjectSpans, others: Set[str]) -> list[str]:
    """The members of an object that are not empty, without `others`, as lines of JSON."""
    last = {member.key: (member.start, member.end) for member in spans.members() if member.key not in others}
    told = {key: _readable(content.read(start, end - start)) for key, (start, end) in last.items()}
    return [
        line
        for key, text in told.items()
        if text not in ("null", "[]", "{}")
        for line in f"{json.dumps(key, ensure_ascii=False)}: {text}".split("\n")
    ]


def _readable(raw: bytes) -> str:
    try:
        return json.dumps(decoded(raw), ensure_ascii=False, indent=1)
    except (NotebookRefused, RecursionError):  # Nested too deeply.
        return raw.decode("utf-8", "replace")


def _lines(cell: Cell) -> list[str]:
    return cell.source.split("\n") if cell.source else []


def _raw(cell: Cell) -> bytes:
    return cell.content.read(cell.place.start, cell.place.end - cell.place.start)
