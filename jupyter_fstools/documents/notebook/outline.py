"""Where a notebook's cells lie, as far as it is worth keeping: from one look at a version for the next one at it."""

from __future__ import annotations

from collections.abc import Sequence

from ...content.source import Content
from ...content.splices import Splice, spliced_size
from .spans import CellSpans, NotebookSpans, cell_at


def outline_of(spans: NotebookSpans) -> NotebookSpans:
    """The spans without those of the members of cells, which are looked at again where somebody needs them."""
    return spans._replace(cells=[cell.outline() for cell in spans.cells])


def outline_after(spans: NotebookSpans, splices: Sequence[Splice], after: Content) -> NotebookSpans | None:
    """The outline of the content `after` some splices; None where only a look at all of it can tell.

    The cells that changed are checked, each by itself.

    Raises:
        NotebookRefused, Conflict: one of them is no JSON.
    """
    if spans.array is None or not (spans.ascii or all(splice.removed.isascii() for splice in splices)):
        return None
    cells: list[CellSpans] = []
    waiting, shift = list(reversed(splices)), 0
    for cell in spans.cells:
        inside: list[Splice] = []
        while waiting and waiting[-1].offset < cell.end:
            inside.append(waiting.pop())
        if not inside:
            cells.append(cell.outline(shift))
            continue
        if inside[0].offset <= cell.start or inside[-1].end >= cell.end:
            return None
        start, shift = cell.start + shift, shift + spliced_size(0, inside)
        cells.append(cell_at(after, start, cell.end + shift).outline())
    if waiting:
        return None
    first, end = spans.array
    is_ascii = spans.ascii and all(splice.inserted.isascii() for splice in splices)
    return spans._replace(root=spans.root.grown(end, shift), array=(first, end + shift), cells=cells, ascii=is_ascii)
