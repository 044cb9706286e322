"""Shows and edits a notebook's bytes as cells."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...content.source import Content
from ...content.splices import Splice
from ...diffs.file_diff import CellDiff
from ...errors import NotebookRefused
from ..text.touched_lines import TouchedLines
from .cell import Cell, Cells, decoded
from .cell_diffs import cell_diffs
from .cell_edit import CellEdit
from .cell_ids import duplicate_ids, former_indexes, index_of, named, without_tag
from .diff_rows import DiffRows
from .plan import PlannedCell, Target, planned, targets_of
from .refusals import not_editable
from .spans import NotebookSpans, members_at, scan
from .splicing import Splicer


@dataclass(frozen=True)
class EditedCell:
    """One edit's cell after the batch; for a deleted one the id and index it had."""

    cell_id: str
    index: int
    edit_mode: str


@dataclass(frozen=True)
class RenamedCell:
    """A cell whose synthetic id changed in a batch that did not write its source; the index is the one after it."""

    old_id: str
    cell_id: str
    index: int


class CellAfter(NamedTuple):
    """One cell of the notebook after a step.

    Attributes:
        cell_id: its id.
        origin: its index before; None for a new cell.
        written: its type and source where the step wrote them; None where they are as they were.
        whole: the step wrote the whole source, not only the lines that differ.
        touched: otherwise the lines that its edits touched, edit by edit.
        replaced: first and last line, counted before the step, of each place that was replaced.
        perhaps: the cells that it may have been before, where no id tells its origin.
    """

    cell_id: str
    origin: int | None
    written: tuple[str, str] | None
    whole: bool
    touched: Sequence[Sequence[TouchedLines]] = ()
    replaced: Sequence[tuple[int, int]] = ()
    perhaps: Sequence[int] = ()


class NotebookEdit(NamedTuple):
    """The result of a batch of edits.

    Attributes:
        splices: sorted and disjoint; empty where the edits cancel each other.
        cells: one per edit, in the batch's order.
        diffs: one per cell that changes; rows that a diff does not keep may be left out.
        total_cells: after the batch.
        after: all cells after the batch, in their order.
        renamed: the unedited cells whose synthetic ids changed.
        left_out: the numbers of added and removed rows that are in no hunk.
    """

    splices: list[Splice]
    cells: list[EditedCell]
    diffs: list[CellDiff]
    total_cells: int
    after: list[CellAfter]
    renamed: list[RenamedCell]
    left_out: tuple[int, int]


class NotebookDocument:
    """A notebook, checked as a whole and decoded only where it is looked at.

    Args:
        content: its bytes.
        outline: where the cells of these bytes lie, if that is known; else all of them are looked at.

    Raises:
        NotebookRefused: it cannot be read as a notebook (`line` and `column` say where).
        TooLarge: it is above the size for notebooks.
    """

    def __init__(self, content: Content, outline: NotebookSpans | None = None) -> None:
        self.content = content
        self.spans = outline or scan(content)
        old = self.spans.array is None
        self.cells = Cells(
            Cell(content, spans, index, in_worksheet=old) for index, spans in enumerate(self.spans.cells)
        )
        cells, real_ids = self.cells, [spans.real_id for spans in self.spans.cells]
        ids = named(real_ids, lambda at: cells[at].source, lambda at: cells[at].digest)
        for cell, cell_id in zip(self.cells, ids, strict=True):
            cell.cell_id = cell_id
        self.duplicate_ids = duplicate_ids(ids)

    @property
    def version(self) -> tuple[int | None, int | None]:
        """`nbformat` and `nbformat_minor`; None where they are no integers."""
        return self.spans.major, self.spans.minor

    @cached_property
    def language(self) -> str:
        """The language of code cells, by the notebook's metadata; `unknown` where it names none."""
        for section, key in (("kernelspec", "language"), ("language_info", "name")):
            found = self._metadata_text(section, key)
            if found:
                return found
        return "unknown"

    @property
    def pair_formats(self) -> str | None:
        """The formats of the text files that jupytext pairs with it, such as `ipynb,py:percent`; None if none."""
        return self._metadata_text("jupytext", "formats")

    @property
    def order(self) -> str:
        """The fingerprint of the cells' order, on which naming a cell by index relies."""
        return order_of([cell.cell_id for cell in self.cells])

    def find(self, cell_id: str | None = None, index: int | None = None) -> Cell:
        """The cell named by id or by index.

        Raises:
            NotFound, Ambiguous, OutOfRange, Invalid: see `index_of`.
        """
        return self.cells[index_of(self.cells, cell_id, index)]

    def former_indexes(self, ids: Collection[str]) -> dict[str, int]:
        """The indexes of cells that had these tagged synthetic ids; only those that are certain."""
        return former_indexes(self.cells, ids)

    def targets(self, edits: Sequence[CellEdit]) -> list[Target]:
        """The cells that a batch names, for a gate to check before anything is planned.

        Raises:
            NotebookRefused, Invalid, EncodingRefused, NotFound, Ambiguous, OutOfRange: as for `apply`.
        """
        self._editable_minor()
        return targets_of(self.cells, edits)

    def apply(self, edits: Sequence[CellEdit]) -> NotebookEdit:
        """Apply the edits; all of them or none.

        Raises:
            NotebookRefused: not nbformat 4, or a touched cell would not be valid.
            Invalid, EncodingRefused, NotFound, Ambiguous, OutOfRange, NoOp, NoMatch: naming the edit.
        """
        minor = self._editable_minor()
        plan = planned(self.cells, edits)
        splicer = Splicer(self.content, self.spans, self.cells, minor)
        splices = splicer.splices(plan)
        order, ids = plan.order, _ids_after(plan.order, splicer)
        places = {state: (cell_id, index) for index, (cell_id, state) in enumerate(zip(ids, order, strict=True))}
        deleted = [(state, state.cell) for state in plan.by_edit if state.cell and state.deleted]
        places |= {state: (cell.cell_id, cell.index) for state, cell in deleted}
        touched = [EditedCell(*places[state], edit.edit_mode) for edit, state in zip(edits, plan.by_edit, strict=True)]
        rows = DiffRows()
        diffs = cell_diffs(plan.by_edit, places, self.cells, ids, rows)
        for diff in diffs:
            diff.duplicate = diff.cell_id in self.duplicate_ids
        after = [_cell_after(cell_id, state) for cell_id, state in zip(ids, order, strict=True)]
        renamed = _renamed(order, ids)
        left_out = rows.added, rows.removed
        return NotebookEdit(splices, touched, diffs, len(order), after, renamed, left_out)

    def with_sources(self, sources: Mapping[int, str]) -> list[Splice]:
        """Splices that give cells, by index, these exact sources; all else stays, outputs too.

        Raises:
            NotebookRefused: not nbformat 4, or such a cell has no source.
        """
        splicer = Splicer(self.content, self.spans, self.cells, self._editable_minor())
        return [splice for index in sorted(sources) for splice in splicer.of_source(self.cells[index], sources[index])]

    def _editable_minor(self) -> int:
        major, minor = self.version
        if major != 4:
            raise not_editable(major)
        if self.spans.array is None:
            raise NotebookRefused("the notebook has no list of cells", hint='Repair its "cells" by hand.')
        if minor is None or minor < 0:
            return 5 if any(cell.real_id for cell in self.cells) else 4
        return minor

    def _metadata_text(self, section: str, key: str) -> str | None:
        member = self.spans.root.member("metadata")
        for step in (section, key):
            inside = members_at(self.content, member.start, member.end) if member else []
            member = next((found for found in reversed(inside) if found.key == step), None)
        if member is None or member.end - member.start > 4096:
            return None
        value = decoded(self.content.read(member.start, member.end - member.start))
        return value if isinstance(value, str) else None


def _ids_after(order: Sequence[PlannedCell], splicer: Splicer) -> list[str]:
    def source_after(index: int) -> str:
        state = order[index]
        return state.source if state.touched_by or state.cell is None else state.cell.source

    def digest_after(index: int) -> bytes:
        state = order[index]
        stays = state.cell is not None and set(state.touched_by) <= {"move"}
        return state.cell.digest if state.cell and stays else hashlib.sha256(splicer.whole(state)).digest()

    real_ids = [state.cell.real_id if state.cell else state.new_id for state in order]
    return named(real_ids, source_after, digest_after)


def _cell_after(cell_id: str, state: PlannedCell) -> CellAfter:
    written = (state.cell_type, state.source) if state.source_changed or state.converted else None
    whole = state.cell is None or "replace" in state.touched_by
    origin = state.cell.index if state.cell else None
    return CellAfter(cell_id, origin, written, whole, state.touched, state.replaced)


def _renamed(order: Sequence[PlannedCell], ids: Sequence[str]) -> list[RenamedCell]:
    return [
        RenamedCell(state.cell.cell_id, cell_id, index)
        for index, (state, cell_id) in enumerate(zip(order, ids, strict=True))
        if state.cell is not None and state.cell.cell_id != cell_id and not state.source_changed
    ]


def is_notebook_name(name: str) -> bool:
    """Whether a file is a notebook by its name."""
    return name[-6:].lower() == ".ipynb"


def order_of(ids: Sequence[str]) -> str:
    """The fingerprint of cells in an order: SHA-256, in hex, of their ids.

    The tags of synthetic ids are left out: otherwise new outputs of a cell would count as another order.
    """
    return hashlib.sha256("\n".join(map(without_tag, ids)).encode("utf-8", "surrogatepass")).hexdigest()
