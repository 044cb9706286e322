"""Plans a batch of cell edits before a byte is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...content.splices import trimmed
from ...errors import FsToolsError, Invalid, NoOp
from ..text.edits import TextEdit
from ..text.touched_lines import TouchedLines, line_before
from .cell import Cell, Cells
from .cell_edit import CellEdit
from .cell_ids import index_of
from .edited_source import edited_source, lines_replaced
from .moves import moved_origins
from .refusals import labelled, no_source
from .source_text import checked_source


@dataclass(frozen=True)
class Target:
    """A cell that an edit names.

    Attributes:
        number: the edit's number, 0-based.
        index: the cell's index before the batch.
        cell_id: its id.
        by_index: it was named by index, so the order of the cells matters.
        changes: it is the cell to change, not only a place.
    """

    number: int
    index: int
    cell_id: str
    by_index: bool
    changes: bool


@dataclass(eq=False)
class PlannedCell:
    """A cell's state during a batch; `cell` is None for a new one.

    Attributes:
        moved: its place among the other cells changes.
        touched: the lines that its edits touched, edit by edit.
        replaced: first and last line, counted before the batch, of each place of its source that is replaced.
        earlier: number (from 1) of each edit that changed its source, and the string that it replaced, "" for all.
    """

    cell: Cell | None
    cell_type: str
    source: str
    new_id: str | None = None
    keeps_outputs: bool = True
    deleted: bool = False
    moved: bool = False
    touched_by: list[str] = field(default_factory=list)
    touched: list[list[TouchedLines]] = field(default_factory=list)
    replaced: list[tuple[int, int]] = field(default_factory=list)
    earlier: list[tuple[int, str]] = field(default_factory=list)

    @property
    def source_changed(self) -> bool:
        """Whether the source changes."""
        return self.cell is None or (bool(self.touched_by) and self.source != self.cell.source)

    @property
    def converted(self) -> bool:
        """Whether the type changes."""
        return self.cell is not None and self.cell_type != self.cell.cell_type

    @property
    def clears(self) -> bool:
        """Whether outputs and execution count are cleared."""
        asked = "clear_outputs" in self.touched_by
        return asked or (not self.keeps_outputs and self.source_changed)


class Plan(NamedTuple):
    """The cells in their new order (without the deleted ones), and the cell of each edit."""

    order: list[PlannedCell]
    by_edit: list[PlannedCell]


def targets_of(cells: Cells, edits: Sequence[CellEdit]) -> list[Target]:
    """Every cell that the edits name, resolved against the notebook as it is.

    Raises:
        Invalid, EncodingRefused, NotFound, Ambiguous, OutOfRange: see `CellEdit.check` and `index_of`.
    """
    found = []
    for number, edit in enumerate(edits):
        try:
            edit.check()
            if edit.edit_mode != "insert":
                index = index_of(cells, edit.cell_id, edit.index)
                found.append(Target(number, index, cells[index].cell_id, edit.index is not None, True))
            anchor = anchor_of(cells, edit)
        except FsToolsError as error:
            raise labelled(error, number, len(edits)) from None
        if anchor is not None:
            by_index = edit.after_index is not None or edit.before_index is not None
            found.append(Target(number, anchor, cells[anchor].cell_id, by_index, False))
    return found


def anchor_of(cells: Cells, edit: CellEdit) -> int | None:
    """The index of the cell beside which an insert or move lands; None for start and end."""
    if edit.edit_mode not in ("insert", "move") or edit.at is not None:
        return None
    if edit.after_index is not None or edit.after is not None:
        return index_of(cells, edit.after, edit.after_index, "after_")
    if edit.before_index is not None or edit.before is not None:
        return index_of(cells, edit.before, edit.before_index, "before_")
    return index_of(cells, edit.cell_id, None)


def planned(cells: Cells, edits: Sequence[CellEdit]) -> Plan:
    """Apply the edits in order; each refers to cells as they were named before the batch.

    Raises:
        Invalid: no edits; NoOp: a single move leads nowhere; and every refusal of one edit, with its number where
            there are several. Nothing is half done.
    """
    if not edits:
        raise Invalid("edits: an empty list changes nothing", hint="Give at least one edit.", field="edits")
    own = {target.number: target.index for target in targets_of(cells, edits) if target.changes}
    batch = _Batch(cells)
    by_edit = []
    for number, edit in enumerate(edits):
        try:
            by_edit.append(batch.take(number, edit, own.get(number)))
        except FsToolsError as error:
            raise labelled(error, number, len(edits)) from None
    batch.check_anchors(len(edits))
    if len(edits) == 1 and edits[0].edit_mode == "move" and batch.order == batch.states:
        raise NoOp("the cell is already there", hint="Nothing needs to be moved.")
    order = [state for state in batch.order if not state.deleted]
    staying = {state.cell.index for state in order if state.cell and not state.moved}
    moves = moved_origins([state.cell.index if state.cell else None for state in order], staying)
    for state in order:
        state.moved = state.cell is not None and state.cell.index in moves
    return Plan(order, by_edit)


class _Batch:
    """The state between two edits of a batch."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self.states = [PlannedCell(cell, cell.cell_type, "") for cell in cells]
        self.order = list(self.states)
        self._known: set[int] = set()
        self._last_after: dict[PlannedCell | None, PlannedCell] = {}
        self._anchors: dict[int, PlannedCell] = {}

    def take(self, number: int, edit: CellEdit, index: int | None) -> PlannedCell:
        """Apply one edit of that number."""
        if index is None:
            assert edit.cell_type is not None and edit.new_source is not None
            source = checked_source(edit.new_source, "")
            state = PlannedCell(None, edit.cell_type, source, touched_by=["insert"])
        else:
            state = self._state(index)
            self._refuse_contradiction(state, edit)
            getattr(self, f"_{edit.edit_mode}")(state, edit)
            state.touched_by.append(edit.edit_mode)
            if edit.edit_mode in ("replace", "edit"):
                state.earlier.append((number + 1, edit.old_string or ""))
        if edit.edit_mode in ("insert", "move"):
            anchor = self._place(state, edit)
            if anchor is not None:
                self._anchors[number] = anchor
        return state

    def check_anchors(self, total: int) -> None:
        """Refuse places beside cells that the batch of `total` edits deletes."""
        for number, anchor in self._anchors.items():
            if anchor.deleted and anchor.cell:
                refusal = Invalid(
                    f"this edit places a cell beside cell {anchor.cell.cell_id!r}, which the batch deletes",
                    hint="Name another cell as the place, or replace the cell instead of deleting it.",
                    field="after",
                )
                raise labelled(refusal, number, total)

    def _state(self, index: int) -> PlannedCell:
        state = self.states[index]
        if index not in self._known:
            self._known.add(index)
            state.source = self._cells[index].source
        return state

    def _refuse_contradiction(self, state: PlannedCell, edit: CellEdit) -> None:
        if state.deleted or (edit.edit_mode == "delete" and state.touched_by):
            raise Invalid(
                "one edit deletes this cell, another changes it",
                hint="Leave one of the edits out.",
                field="edit_mode",
            )
        if edit.edit_mode == "replace" and {"replace", "edit"} & set(state.touched_by):
            raise Invalid(
                "this edit replaces the source that an earlier one of the call gives this cell",
                hint="Leave one of the edits out.",
                field="edit_mode",
            )
        if edit.edit_mode == "move" and state.moved:
            raise Invalid("two edits move this cell", hint="Leave one of the moves out.", field="edit_mode")
        if edit.edit_mode not in ("replace", "convert", "delete") and edit.cell_type not in (None, state.cell_type):
            raise Invalid(
                f"{edit.edit_mode} keeps the cell's type ({state.cell_type}), cell_type names another",
                hint="Leave cell_type out, or change it with convert.",
                field="cell_type",
            )
        assert state.cell is not None
        if edit.edit_mode not in ("delete", "move") and not state.cell.has_source:
            raise no_source(state.cell.index)

    def _replace(self, state: PlannedCell, edit: CellEdit) -> None:
        new = checked_source(edit.new_source or "", state.source)
        same = new == state.source.replace("\r\n", "\n").replace("\r", "\n")
        if edit.cell_type not in (None, state.cell_type):
            self._convert(state, edit)
        elif same:
            raise NoOp("the cell already has this source", hint="Nothing was changed; its outputs are kept.")
        if not same:
            before = state.source.encode("utf-8", "surrogatepass")
            state.replaced += lines_replaced(before, trimmed(before, new.encode("utf-8", "surrogatepass")))
            state.source = new
            state.keeps_outputs = state.keeps_outputs and edit.keep_outputs

    def _edit(self, state: PlannedCell, edit: CellEdit) -> None:
        text_edit = TextEdit(edit.old_string or "", edit.new_string or "", edit.replace_all)
        before = state.cell.source if state.cell and state.earlier else ""
        state.source, touched, replaced = edited_source(state.source, text_edit, state.earlier, before)
        if "replace" not in state.touched_by:  # A source replaced in this batch is the caller's own.
            state.replaced += [(_line_at_first(first, state), _line_at_first(last, state)) for first, last in replaced]
        state.touched.append(touched)
        state.keeps_outputs = state.keeps_outputs and edit.keep_outputs

    def _delete(self, state: PlannedCell, edit: CellEdit) -> None:
        state.deleted = True

    def _move(self, state: PlannedCell, edit: CellEdit) -> None:
        state.moved = True

    def _convert(self, state: PlannedCell, edit: CellEdit) -> None:
        assert edit.cell_type is not None and state.cell is not None
        if edit.cell_type == state.cell_type:
            raise NoOp(f"the cell is a {edit.cell_type} cell already", hint="Nothing was changed.")
        if edit.cell_type == "code" and state.cell.value("attachments"):
            raise Invalid(
                "the cell has attachments, and a code cell cannot have any",
                hint="Convert it to raw or markdown, or insert a code cell beside it.",
                field="cell_type",
            )
        state.cell_type = edit.cell_type

    def _clear_outputs(self, state: PlannedCell, edit: CellEdit) -> None:
        cell = state.cell
        assert cell is not None
        outputs = cell.spans.member("outputs")
        empty = outputs is None or (outputs.end - outputs.start < 64 and cell.value("outputs") == [])
        if state.cell_type != "code" or (empty and cell.value("execution_count") is None):
            raise NoOp("the cell has no outputs to clear", hint="Nothing was changed.")

    def _place(self, state: PlannedCell, edit: CellEdit) -> PlannedCell | None:
        """Put the cell beside its anchor, if it has one; several cells after one anchor keep the order of the batch."""
        anchor = anchor_of(self._cells, edit)
        if state in self.order:
            self.order.remove(state)
            self._last_after.pop(state, None)
        if anchor is None:
            first = self._last_after.get(None)
            start = self.order.index(first) + 1 if first in self.order else 0
            self.order.insert(start if edit.at == "start" else len(self.order), state)
            if edit.at == "start":
                self._last_after[None] = state
            return None
        beside = self.states[anchor]
        if beside is state:
            raise Invalid(
                "a cell cannot be placed beside itself", hint="Name another cell as the place.", field="after"
            )
        if edit.before is not None or edit.before_index is not None:
            self.order.insert(self.order.index(beside), state)
            return beside
        last = self._last_after.get(beside, beside)
        self.order.insert(self.order.index(last) + 1, state)
        self._last_after[beside] = state
        return beside


def _line_at_first(line: int, state: PlannedCell) -> int:
    """The number that a line of the cell's current source had before the batch."""
    for touched in reversed(state.touched):
        line = line_before(line, touched)
    return line
