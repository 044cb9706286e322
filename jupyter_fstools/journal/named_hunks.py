"""Resolves the hunks and cells that a person names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from ..diffs.file_diff import CellDiff, FileDiff
from ..documents.notebook import hunks_in
from ..errors import Invalid
from ..stores.records import Change, ChosenHunks, Decided

NamedHunks = list[int] | dict[str, list[int] | Literal["all"]]
"""Positions in a text diff's `hunks`, or for a notebook in each cell's, by cell id."""


def named_places(change: Change, hunks: NamedHunks | None) -> NamedHunks | None:
    """The named hunks, with `all` for every hunk of a cell; None where that is nothing, or all of the change.

    Raises:
        Invalid: hunks that are not in it.
    """
    if hunks is None or change.diff.truncated or change.before is None or len(change.files) > 1:
        return None
    named = decided_of(change.diff, hunks).taken
    everything = _positions_in(change.diff)
    if not named or named == everything:
        return None
    if isinstance(named, list):
        return named
    assert isinstance(everything, dict)
    return {name: "all" if places == everything[name] else places for name, places in named.items()}


def names_everything(change: Change, hunks: NamedHunks | None) -> bool:
    """Whether these are all hunks of a change.

    Raises:
        Invalid: hunks that are not in it.
    """
    if hunks is None or change.diff.truncated or change.before is None or change.after is None or change.files:
        return False
    return not decided_of(change.diff, hunks).rejected


def decided_whole(diff: FileDiff, *, taken: bool, reason: str | None) -> Decided:
    """The record of a proposal that was carried out or rejected as a whole."""
    everything = _positions_in(diff)
    nothing: ChosenHunks = [] if diff.cells is None else {}
    return Decided(taken=everything if taken else nothing, rejected=nothing if taken else everything, reason=reason)


def decided_of(diff: FileDiff, hunks: NamedHunks) -> Decided:
    """The record of a proposal of which these hunks are taken and all others rejected.

    Raises:
        Invalid: hunks that are not in it.
    """
    if diff.cells is None:
        taken, others = divided_hunks(len(diff.hunks), hunks)
        return Decided(taken=taken, rejected=others)
    taken_cells, other_cells = divided_cells(diff.cells, hunks)
    return Decided(taken=taken_cells, rejected=other_cells)


def taken_back(change: Change, hunks: NamedHunks) -> Decided:
    """The record of a change of which these hunks of cells are taken back, as others may have been before."""
    cells = change.diff.cells or []
    everything, gone = places_in(cells), _named_cells(cells, hunks)
    earlier = change.decided
    if earlier and isinstance(earlier.rejected, dict) and isinstance(earlier.taken, dict):
        # The positions of a partly approved change are those of the proposal's diff, not of this one.
        is_of_this = _together(earlier.taken, earlier.rejected) == everything
        gone = _together(gone, earlier.rejected) if is_of_this else gone
    return Decided(taken=_left_over(everything, gone), rejected=gone)


def decided_so_far(change: Change, left: Decided) -> Decided:
    """The record of a change of which hunks are taken back, with what a person decided about its proposal.

    Args:
        change: as it was before.
        left: the hunks that stay and those taken back, by their positions in the change's diff.
    """
    earlier = change.decided
    if earlier is None:
        return left
    if change.decided_by and earlier.rejected:
        # Hunks that were rejected are not in the change's diff, which counts the others anew.
        landed, taken, gone = _by_cell(earlier.taken), _by_cell(left.taken), _by_cell(left.rejected)
        counts = {name: len(places) for name, places in _together(taken, gone).items()}
        if counts != {name: len(places) for name, places in landed.items()}:
            return earlier
        taken = {name: [landed[name][at] for at in places] for name, places in taken.items()}
        gone = _together(_by_cell(earlier.rejected), _left_over(landed, taken))
        left = Decided(taken=taken, rejected=gone)
        if change.diff.cells is None:
            left = Decided(taken=taken.get("", []), rejected=gone.get("", []))
    return left.model_copy(update={"reason": earlier.reason, "edited": earlier.edited})


def _by_cell(hunks: ChosenHunks) -> dict[str, list[int]]:
    return hunks if isinstance(hunks, dict) else {"": hunks}


def _together(one: Mapping[str, Iterable[int]], other: Mapping[str, Iterable[int]]) -> dict[str, list[int]]:
    return {name: sorted({*one.get(name, ()), *other.get(name, ())}) for name in {**one, **other}}


def seen_with(change: Change, user: str, hunks: NamedHunks | None) -> dict[str, Any]:
    """The updated fields of a change once a person has seen these hunks too, or all of it where none are named.

    Raises:
        Invalid: hunks that are not in it.
    """
    if hunks is not None and len(change.files) > 1:
        raise Invalid("a change of several files is kept as a whole", hint="Leave out hunks.", field="hunks")
    others = {name: kept for name, kept in change.kept.items() if name != user}
    everything = _positions_in(change.diff)
    kept = everything if hunks is None else _with_kept(change, change.kept.get(user), hunks)
    if kept != everything:
        return {"kept": {**others, user: kept}}
    return {"kept": others, "seen_by": [*(name for name in change.seen_by if name != user), user]}


def _with_kept(change: Change, known: ChosenHunks | None, hunks: NamedHunks) -> ChosenHunks:
    if change.diff.cells is None:
        named = _named_hunks(len(change.diff.hunks), hunks)
        return sorted({*named, *(known or [])})
    cells = _named_cells(change.diff.cells, hunks)
    before = known if isinstance(known, dict) else {}
    order = [cell.cell_id for cell in change.diff.cells if cell.cell_id in {*cells, *before}]
    return {name: sorted({*cells.get(name, []), *before.get(name, [])}) for name in order}


def divided_cells(
    cells: Sequence[CellDiff], hunks: NamedHunks | None
) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """The positions of the hunks that are named, by cell, and those of all others.

    Args:
        cells: of a notebook's diff.
        hunks: the named hunks; None: all.

    Raises:
        Invalid: hunks or cells that are not in it.
    """
    named = _named_cells(cells, hunks)
    return named, _left_over(places_in(cells), named)


def _named_cells(cells: Sequence[CellDiff], hunks: NamedHunks | None) -> dict[str, list[int]]:
    if isinstance(hunks, list):
        raise Invalid(
            "hunks: those of a notebook are named by cell", hint='Send {"cell_id": [0] or "all"}.', field="hunks"
        )
    known = {cell.cell_id: cell for cell in cells}
    require_cells(cells, hunks or {})
    named: Mapping[str, list[int] | Literal["all"]] = hunks if hunks is not None else dict.fromkeys(known, "all")
    taken = {}
    for name, positions in named.items():
        there = hunks_in(known[name])
        found = list(there) if positions == "all" else _checked(positions, there, f"cell {name!r}")
        if found:
            taken[name] = found
    return taken


def require_cells(cells: Sequence[CellDiff], names: Iterable[str]) -> None:
    """Refuse cells that are not in a notebook's diff.

    Raises:
        Invalid: one is not.
    """
    known = {cell.cell_id for cell in cells}
    for name in names:
        if name not in known:
            raise Invalid(f"cell {name[:80]!r} is not in this change", hint="Look at the change.", field="hunks")


def _positions_in(diff: FileDiff) -> ChosenHunks:
    """The positions of all hunks of a diff."""
    return list(range(len(diff.hunks))) if diff.cells is None else places_in(diff.cells)


def places_in(cells: Sequence[CellDiff]) -> dict[str, list[int]]:
    """The positions of all hunks of cells, by cell id."""
    return {cell.cell_id: list(hunks_in(cell)) for cell in cells}


def _left_over(everything: Mapping[str, Iterable[int]], taken: Mapping[str, Collection[int]]) -> dict[str, list[int]]:
    """The positions that were not taken, by cell."""
    left = {name: [at for at in places if at not in taken.get(name, ())] for name, places in everything.items()}
    return {name: places for name, places in left.items() if places}


def divided_hunks(count: int, hunks: NamedHunks | None) -> tuple[list[int], list[int]]:
    """The positions of the hunks that are named, of a text's diff with so many, and those of all others.

    Raises:
        Invalid: hunks that are not in it.
    """
    named = _named_hunks(count, hunks)
    return named, [at for at in range(count) if at not in named]


def _named_hunks(count: int, hunks: NamedHunks | None) -> list[int]:
    if not isinstance(hunks, list):
        raise Invalid("hunks: those of a text file are named by position", hint="Send [0, 2].", field="hunks")
    return _checked(hunks, range(count), "the change")


def _checked(positions: Sequence[int], there: range, what: str) -> list[int]:
    wrong = [at for at in positions if at not in there]
    if wrong:
        raise Invalid(
            f"hunks: {what} has no hunk {wrong[0]}",
            hint=f"Name positions from 0 to {len(there) - 1}." if len(there) else "It has none.",
            field="hunks",
        )
    return sorted(set(positions))
