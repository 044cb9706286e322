"""Compares the cells of two contents of one notebook."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from ...content.source import Content
from ...content.splices import Splice
from ...diffs.file_diff import Action, CellDiff, DiffHunk, FileDiff, Operation
from ...diffs.line_diff import MAX_ROWS, cuts_rows
from ...errors import NotebookRefused
from ..text.touched_lines import touched_between
from .cell import Cell, compared_lines, decoded
from .diff_rows import DiffRows
from .document import CellAfter, NotebookDocument
from .moves import moved_origins
from .spans import ObjectSpans


class Comparison(NamedTuple):
    """The difference that a step makes.

    Attributes:
        after: the cells after it.
        diffs: one per cell that it changed; rows behind the first `MAX_ROWS` may be left out.
        hunks: of members added around the cells.
        left_out: the numbers of added and removed rows that are in no hunk.
    """

    after: list[CellAfter]
    diffs: list[CellDiff]
    hunks: list[DiffHunk]
    left_out: tuple[int, int]


def compared(
    before: NotebookDocument | None,
    after: NotebookDocument | None,
    splices: Sequence[Splice] = (),
    *,
    whole: bool = False,
) -> Comparison:
    """The changes of a step from one content to another; None stands for no file.

    Args:
        before: the content before.
        after: the content after.
        splices: the splices from one to the other, if known: cells without ids are then told apart by their places.
        whole: no row is left out, and none is cut.
    """
    old, new = before.cells if before else [], after.cells if after else []
    origin = _origins(old, new, splices)
    kept = set(origin.values())
    lost = _grouped((cell for cell in old if cell.index not in kept), lambda cell: cell.real_id)
    moved = moved_origins([origin.get(cell.index) for cell in new])
    cells, diffs, rows, gone_rows = [], [], DiffRows(whole=whole), DiffRows(whole=whole)
    around = rows.coming(_around(before), _around(after))[1] if after else []
    for cell in new:
        at = origin.get(cell.index)
        was = None if at is None else old[at]
        same = was is not None and was.fingerprint == cell.fingerprint
        touched = [] if was is None or same else [touched_between(was.source, cell.source)]
        written = None if same else (cell.cell_type, cell.source)
        perhaps = lost.get(cell.real_id, ()) if was is None else ()
        cells.append(CellAfter(cell.cell_id, at, written, was is None, touched, perhaps=perhaps))
        diff = _diff(was, cell, rows, _id_before(cell, new), moved=at in moved)
        if diff is not None:
            diffs.append(diff)
    gone = [
        _told(cell, "delete", gone_rows.hunks(compared_lines(cell.source), []), follows=_id_before(cell, old))
        for cell in old
        if cell.index not in kept
    ]
    ordered = sorted([*gone, *diffs], key=lambda diff: (diff.index, diff.action != "delete"))
    duplicates = {cell_id for document in (before, after) if document for cell_id in document.duplicate_ids}
    for diff in ordered:
        diff.duplicate = diff.cell_id in duplicates
    left_out = rows.added + gone_rows.added, rows.removed + gone_rows.removed
    return Comparison(cells, ordered, around, left_out)


def _id_before(cell: Cell, cells: Sequence[Cell]) -> str:
    return cells[cell.index - 1].cell_id if cell.index else ""


def notebook_diff(
    path: str,
    op: Operation,
    cells: Sequence[CellDiff],
    language: str | None,
    *,
    hunks: Sequence[DiffHunk] = (),
    left_out: tuple[int, int] = (0, 0),
    whole: bool = False,
) -> FileDiff:
    """The diff of a notebook, cell by cell; rows beyond a bound are left out, and the diff says so.

    Args:
        path: as the diff shall name it.
        op: the kind of change.
        cells: the cells that changed.
        language: of the code cells (`NotebookDocument.language`).
        hunks: of members added around the cells.
        left_out: the numbers of added and removed rows that are in no hunk.
        whole: no row is left out, and none was cut.
    """
    added, removed = left_out
    diff = FileDiff(path=path, op=op, kind="notebook", language=language, added=added, removed=removed)
    diff.truncated = any(left_out)
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
        cell.model_copy(update={"hunks": fitting(cell.hunks), "carried": fitting(cell.carried)})
        if cell.hunks or cell.carried
        else cell
        for cell in cells
    ]
    return diff


def _origins(old: Sequence[Cell], new: Sequence[Cell], splices: Sequence[Splice]) -> dict[int, int]:
    """New index to old index; cells that keep their place are matched first, then unchanged ones, then equal ids."""
    origin = in_place(old, new, splices)[0] if splices else {}
    sames: list[Callable[[Cell], Hashable]] = [
        lambda cell: (cell.real_id, cell.fingerprint),
        lambda cell: cell.real_id,
    ]
    for same in sames:
        taken = set(origin.values())
        waiting = _grouped((cell for cell in old if cell.index not in taken), same)
        for name, indexes in _grouped((cell for cell in new if cell.index not in origin), same).items():
            there = waiting.get(name, [])
            # Cells without ids are assumed to be the same only where their number has not changed.
            if name is not None or len(there) == len(indexes):
                origin.update(zip(indexes, there, strict=False))
    return origin


def in_place(old: Sequence[Cell], new: Sequence[Cell], splices: Sequence[Splice]) -> tuple[dict[int, int], set[int]]:
    """New index to old index of cells that are unchanged or changed only inside, and the old cells that change."""
    starts = {cell.place.start: cell.index for cell in new}
    origins: dict[int, int] = {}
    touched: set[int] = set()
    waiting, shift = list(reversed(splices)), 0
    for cell in old:
        start, end = cell.place.start, cell.place.end
        whole = True
        while waiting and waiting[-1].end <= start:
            shift += _growth(waiting.pop())
        begin = start + shift
        while waiting and waiting[-1].offset < end:
            splice = waiting[-1]
            touched.add(cell.index)
            whole = whole and splice.offset > start and splice.end < end
            if splice.end > end:
                break
            shift += _growth(waiting.pop())
        # A cell with another id is a new one that a splice inserted before this one.
        if whole and begin in starts and new[starts[begin]].real_id == cell.real_id:
            origins[starts[begin]] = cell.index
    return origins, touched


def _growth(splice: Splice) -> int:
    return len(splice.inserted) - len(splice.removed)


def _grouped(cells: Iterable[Cell], same: Callable[[Cell], Hashable]) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for cell in cells:
        groups[same(cell)].append(cell.index)
    return groups


def _diff(was: Cell | None, cell: Cell, rows: DiffRows, previous: str, *, moved: bool) -> CellDiff | None:
    same = was is not None and was.raw(was.place) == cell.raw(cell.place)
    action: Action | None = None
    if was is None:
        action = "insert"
    elif was.cell_type != cell.cell_type:
        action = "convert"
    elif was.source != cell.source:
        action = "edit"
    # Made in the order in which a diff keeps its rows.
    hunks = rows.hunks(compared_lines(was.source if was else ""), compared_lines(cell.source)) if action else []
    comes, carried = (False, []) if same else rows.coming(*_carried_by(was, cell))
    if action is None and moved:
        action = "move"
    elif action is None and same:
        return None
    elif action is None:
        outputs = cell.spans.member("outputs")
        cleared = outputs is None or outputs.end - outputs.start <= len("[]")
        action = "clear_outputs" if cleared and not comes else "edit"
    return _told(cell, action, hunks, carried, moved_from=was.index if was and moved else None, follows=previous)


def _told(
    cell: Cell,
    action: Action,
    hunks: list[DiffHunk],
    carried: Sequence[DiffHunk] = (),
    *,
    moved_from: int | None = None,
    follows: str,
) -> CellDiff:
    return CellDiff(
        cell_id=cell.cell_id,
        index=cell.index,
        action=action,
        cell_type=cell.cell_type,
        moved_from=moved_from,
        follows=follows,
        hunks=hunks,
        carried=list(carried),
    )


def _around(document: NotebookDocument | None) -> list[str]:
    """The members of a notebook other than its cells, as lines of JSON."""
    return _spelled(_members(document.content, document.spans.root, {"cells"})) if document else []


def _carried_by(was: Cell | None, cell: Cell) -> tuple[list[str], list[str]]:
    """The members of a cell other than id, type and source, before and after a step, as lines of JSON."""
    others = {"id", "cell_type", "source"}
    old, new = (_members(one.content, one.spans, others) if one else {} for one in (was, cell))
    return ([], []) if old == new else (_spelled(old), _spelled(new))


def _members(content: Content, spans: ObjectSpans, others: Set[str]) -> dict[str, bytes]:
    """The members of an object without `others`; the last one of duplicates."""
    return {
        member.key: content.read(member.start, member.end - member.start)
        for member in spans.members()
        if member.key not in others
    }


def _spelled(members: Mapping[str, bytes]) -> list[str]:
    """The members that are not empty."""
    return [
        line
        for key, raw in members.items()
        if (text := _readable(raw)) not in ("null", "[]", "{}")
        for line in f"{json.dumps(key, ensure_ascii=False)}: {text}".split("\n")
    ]


def _readable(raw: bytes) -> str:
    try:
        return json.dumps(decoded(raw), ensure_ascii=False, indent=1)
    except (NotebookRefused, RecursionError):  # Nested too deeply.
        return raw.decode("utf-8", "replace")
