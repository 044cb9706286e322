"""Applies chosen cells and hunks of a notebook's change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...content.splices import Splice, trimmed
from ...diffs.file_diff import CellDiff
from ...diffs.line_diff import CONTEXT_LINES, changed_blocks, grouped
from ...errors import Invalid
from .cell import compared_lines
from .changed_notebook import ChangedNotebook
from .comparison import compared
from .document import NotebookDocument
from .source_text import rearranged_cells

Taken = Mapping[str, Collection[int]]
"""The positions of the hunks that are carried out, by cell id; a cell whose diff has no hunks counts as one."""


def hunks_in(cell: CellDiff) -> range:
    """The positions of a cell's hunks; a single one where the cell is taken or left as a whole."""
    return range(len(cell.hunks) if cell.action == "edit" and cell.hunks else 1)


def notebook_with(
    before: NotebookDocument,
    after: NotebookDocument,
    splices: Sequence[Splice],
    diffs: Sequence[CellDiff],
    taken: Taken,
    sources: Mapping[str, str],
) -> list[Splice]:
    """The splices of a part of a notebook's change.

    Args:
        before: the notebook before the change.
        after: the notebook with the whole change.
        splices: the splices of the whole change.
        diffs: the change's diff of each cell.
        taken: the hunks to carry out.
        sources: whole sources for cells that get others than the change gives them, by cell id.

    Raises:
        Invalid: the cells' indexes before the change cannot be determined.
    """
    origins = _origins(before, after, splices, diffs)
    others = _sources(before, after, diffs, taken, sources, origins)
    if others:
        after = ChangedNotebook(after, after.with_sources(others)).after
    order, written, placed = _cells_with(before, after, diffs, taken, origins)
    new = [written[token] if token in placed else token[1] for token in order]
    found = list(rearranged_cells(before.content, before.spans, before.cells, new))
    for token in written.keys() - placed:
        # Splices inside the cell tell an edit apart from a new cell in its place.
        cell = before.cells[token[1]]
        splices = trimmed(cell.raw(cell.place), written[token])
        found += [one._replace(offset=cell.place.start + one.offset) for one in splices]
    return sorted(found, key=lambda splice: splice.offset)


_Token = tuple[str, int]
"""A cell: `old` and its index before the change, or for a new one `new` and its index after it."""


def _origins(
    before: NotebookDocument, after: NotebookDocument, splices: Sequence[Splice], diffs: Sequence[CellDiff]
) -> dict[int, int | None]:
    """The index before the change of each cell after it; None for a new one.

    Raises:
        Invalid: they do not agree with the change's diff.
    """
    origins = {at: cell.origin for at, cell in enumerate(compared(before, after, splices).after)}
    origins |= {diff.index: diff.moved_from for diff in diffs if diff.moved_from is not None}
    # Without ids, a new cell in the place of a deleted one looks like an edit: the diff decides.
    origins |= {diff.index: None for diff in diffs if diff.action == "insert"}
    gone = [diff.index for diff in diffs if diff.action == "delete"]
    known = [at for at in origins.values() if at is not None]
    if sorted([*known, *gone]) != list(range(len(before.cells))):
        raise Invalid("this change is decided as a whole", hint="Leave out hunks and content.", field="hunks")
    return origins


def _cells_with(
    before: NotebookDocument,
    after: NotebookDocument,
    diffs: Sequence[CellDiff],
    taken: Taken,
    origins: Mapping[int, int | None],
) -> tuple[list[_Token], dict[_Token, bytes], set[_Token]]:
    """The cells in their order, the bytes of the rewritten ones, and those of them that are inserted or moved.

    An inserted or moved cell lands after the cell that precedes it after the change, of those that stay or are chosen.
    """
    chosen = [diff for diff in diffs if taken.get(diff.cell_id)]
    leaving = {("old", diff.index) for diff in chosen if diff.action == "delete"}
    cells = {_token(diff.index, origins): after.cells[diff.index] for diff in chosen if diff.action != "delete"}
    written = {token: cell.raw(cell.place) for token, cell in cells.items()}
    coming = {diff.index for diff in diffs if diff.action in ("insert", "move") or diff.moved_from is not None}
    placed = {token for at in coming if (token := _token(at, origins)) in written}
    leaving |= placed
    order = [token for at in range(len(before.cells)) if (token := ("old", at)) not in leaving]
    last: _Token | None = None
    for index in range(len(after.cells)):
        token = _token(index, origins)
        if index in coming:
            if token not in placed:
                continue
            order.insert(0 if last is None else order.index(last) + 1, token)
        last = token
    return order, written, placed


def _token(index: int, origins: Mapping[int, int | None]) -> _Token:
    origin = origins[index]
    return ("new", index) if origin is None else ("old", origin)


def _sources(
    before: NotebookDocument,
    after: NotebookDocument,
    diffs: Sequence[CellDiff],
    taken: Taken,
    sources: Mapping[str, str],
    origins: Mapping[int, int | None],
) -> dict[int, str]:
    """Sources, by index after the change, of cells whose source is neither the old nor the new one."""
    found: dict[int, str] = {}
    for diff in diffs:
        positions = taken.get(diff.cell_id)
        if not positions or diff.action == "delete":
            continue
        origin = origins[diff.index]
        if diff.cell_id in sources:
            found[diff.index] = sources[diff.cell_id]
        elif origin is not None and len(positions) < len(hunks_in(diff)):
            found[diff.index] = _source_with(before.cells[origin].source, after.cells[diff.index].source, positions)
    return found


def _source_with(before: str, after: str, taken: Collection[int]) -> str:
    old, new = compared_lines(before), compared_lines(after)
    lines, at = [], 0
    for number, group in enumerate(grouped(changed_blocks(old, new), CONTEXT_LINES)):
        for a, b, c, d in group:
            lines += [*old[at:a], *(new[c:d] if number in taken else old[a:b])]
            at = b
    return "\n".join([*lines, *old[at:]])
