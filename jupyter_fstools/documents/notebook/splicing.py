"""Turns a plan into splices of the touched cells only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

from ...content.source import Content
from ...content.splices import Splice, spliced
from ...errors import NotebookRefused
from .cell import Cell
from .cell_ids import fresh_id
from .plan import Plan, PlannedCell
from .refusals import labelled, no_source
from .schema import refuse_invalid
from .source_text import (
    Gaps,
    Indent,
    TextStyle,
    gaps_of,
    indent_of,
    member_places,
    rearranged,
    rearranged_cells,
    source_splices,
    source_value,
)
from .spans import NotebookSpans, items_at

_NEIGHBOURS = 50
_WHOLE_OUTPUTS = 4 << 20
_CODE_ONLY = ("execution_count", "outputs")


class Splicer:
    """Writes a plan into one notebook.

    Args:
        content: the notebook's bytes.
        spans: the places of its parts.
        cells: its cells.
        minor: of nbformat 4.
    """

    def __init__(self, content: Content, spans: NotebookSpans, cells: Sequence[Cell], minor: int) -> None:
        self._content, self._cells, self._minor = content, cells, minor
        self._spans = spans
        self._style = TextStyle(content, is_ascii=spans.ascii)

    def splices(self, plan: Plan) -> list[Splice]:
        """The splices of a plan, sorted; new cells get their ids.

        Raises:
            NotebookRefused: a touched cell would not be valid.
        """
        self._give_ids(plan)
        found: list[Splice] = []
        for state in plan.order:
            if not state.touched_by:
                continue
            try:
                self._validate(state)
            except NotebookRefused as refusal:
                raise labelled(refusal, plan.by_edit.index(state), len(plan.by_edit)) from None
            if state.cell is not None and not state.moved:
                found += self._cell_splices(state)
        new = [self.whole(state) if state.cell is None or state.moved else state.cell.index for state in plan.order]
        found += rearranged_cells(self._content, self._spans, self._cells, new)
        return sorted((s for s in found if s.removed != s.inserted), key=lambda splice: splice.offset)

    def of_source(self, cell: Cell, source: str) -> list[Splice]:
        """The splices that give a cell another source, as it is.

        Raises:
            NotebookRefused: it has none.
        """
        if not cell.has_source:
            raise no_source(cell.index)
        gaps = partial(self._list_gaps, cell)
        found = source_splices(cell, source, self._style.encoded, gaps, self._indent.comma)
        return [splice for splice in found if splice.removed != splice.inserted]

    def whole(self, state: PlannedCell) -> bytes:
        """The bytes of a cell as a plan of `splices` leaves it."""
        if state.cell is None:
            return self._new_cell(state)
        splices = sorted(self._cell_splices(state), key=lambda splice: splice.offset)
        return spliced(state.cell.raw(state.cell.spans), splices, state.cell.spans.start)

    @cached_property
    def _indent(self) -> Indent:
        return indent_of(self._content, self._spans.root)

    def _give_ids(self, plan: Plan) -> None:
        taken = {cell.real_id for cell in self._cells if cell.real_id}
        for state in plan.order:
            if state.cell is None and self._minor >= 5:
                state.new_id = fresh_id(taken)
                taken.add(state.new_id)

    def _validate(self, state: PlannedCell) -> None:
        if not set(state.touched_by) - {"move"}:
            return
        cell = state.cell
        if cell is None:
            refuse_invalid(self._new_members(state), "the new cell", self._minor)
            return
        members: dict[str, Any] = {}
        for member in cell.spans.members():
            # Large outputs are not decoded: a step does not change them.
            too_long = member.key == "outputs" and (state.clears or member.end - member.start > _WHOLE_OUTPUTS)
            members[member.key] = [] if too_long else cell.value(member.key)
        members["cell_type"] = state.cell_type
        if state.source_changed:
            members["source"] = state.source
        if state.converted:
            for key in _CODE_ONLY if state.cell_type != "code" else ("attachments",):
                members.pop(key, None)
            if state.cell_type == "code":
                members |= {"execution_count": None, "outputs": []}
        elif state.clears and "execution_count" in members:
            members["execution_count"] = None
        # As it is now: nothing is modified, and the index after the batch may be that of another cell.
        which = f"cell {cell.cell_id!r} (index {cell.index})"
        refuse_invalid(members, which, self._minor, cell_id=cell.cell_id, index=cell.index)

    def _cell_splices(self, state: PlannedCell) -> list[Splice]:
        cell = state.cell
        assert cell is not None
        found: list[Splice] = []
        if state.source_changed:
            found += self.of_source(cell, state.source)
        if state.converted:
            kind = cell.spans.member("cell_type")
            assert kind is not None
            found.append(Splice(kind.start, cell.raw(kind), f'"{state.cell_type}"'.encode()))
            found += self._other_members(cell, state.cell_type)
        elif state.clears:
            for key, empty in (("outputs", b"[]"), ("execution_count", b"null")):
                member = cell.spans.member(key)
                raw = cell.raw(member) if member is not None else empty
                if member is not None and raw != empty:
                    found.append(Splice(member.start, raw, empty))
        return found

    def _other_members(self, cell: Cell, cell_type: str) -> list[Splice]:
        """Splices that remove and add the members that only some types of cells have."""
        spans = cell.spans
        unwanted = _CODE_ONLY if cell_type != "code" else ("attachments", *_CODE_ONLY)
        members = spans.members()
        new: list[int | bytes] = [at for at, member in enumerate(members) if member.key not in unwanted]
        if cell_type == "code":
            keys = [members[at].key for at in new if isinstance(at, int)]
            for key, value in (("execution_count", b"null"), ("outputs", b"[]")):
                if key not in keys:
                    at = _sorted_place(keys, key)
                    keys.insert(at, key)
                    new.insert(at, f'"{key}"'.encode() + self._colon(cell) + value)
        places = member_places(spans)
        gaps = gaps_of(self._content, (spans.start, spans.end), places, self._indent.comma) or self._indent.gaps(2)
        return list(rearranged(self._content, (spans.start, spans.end), places, new, gaps))

    def _new_members(self, state: PlannedCell) -> dict[str, Any]:
        members: dict[str, Any] = {"cell_type": state.cell_type, "metadata": {}, "source": state.source}
        if state.new_id is not None:
            members["id"] = state.new_id
        if state.cell_type == "code":
            members |= {"execution_count": None, "outputs": []}
        return members

    def _new_cell(self, state: PlannedCell) -> bytes:
        """A new cell in the layout and the key order of its neighbours."""
        model = self._model
        indent = self._indent
        spans = model.spans if model else None
        found = gaps_of(self._content, (spans.start, spans.end), member_places(spans)) if spans else None
        gaps = found or indent.gaps(2)
        values = self._new_members(state)
        order = [member.key for member in spans.members()] if spans else []
        if order == sorted(order):
            order = sorted(values)
        keys = sorted(values, key=lambda key: (order.index(key) if key in order else len(order), key))
        written = []
        for key in keys:
            value = str(values[key]).encode() if key in ("metadata", "outputs") else b"null"
            if key == "source":
                as_list = model is None or self._keeps_list(model)
                value = source_value(state.source, self._style.encoded, self._list_gaps(model) if as_list else None)
            elif isinstance(values[key], str):
                value = self._style.encoded(values[key])
            written.append(f'"{key}"'.encode() + self._colon(model) + value)
        return b"{" + gaps.lead + gaps.between.join(written) + gaps.tail + b"}"

    @cached_property
    def _model(self) -> Cell | None:
        """The cell whose layout new ones get: the first one that has a source."""
        cells = self._cells[:_NEIGHBOURS]
        return next((cell for cell in cells if cell.spans.member("source")), None)

    def _keeps_list(self, cell: Cell) -> bool:
        member = cell.spans.member("source")
        return member is not None and self._content.read(member.start, 1) == b"["

    def _list_gaps(self, cell: Cell | None) -> Gaps:
        """The gaps of a list of lines: those of the cell, else of another cell, else by the file's indentation."""
        for other in [*([cell] if cell else []), *self._cells[:_NEIGHBOURS]]:
            member = other.spans.member("source")
            if member is not None and self._keeps_list(other):
                place = (member.start, member.end)
                gaps = gaps_of(self._content, place, list(items_at(self._content, *place)), self._indent.comma)
                if gaps is not None:
                    return gaps
        own = cell and gaps_of(self._content, (cell.spans.start, cell.spans.end), member_places(cell.spans))
        if own and b"\n" not in own.lead and b"\r" not in own.lead:
            return Gaps(b"", own.between if len(own.between) <= 2 else self._indent.comma, b"")
        return self._indent.gaps(3)

    def _colon(self, cell: Cell | None) -> bytes:
        if cell is None or not cell.spans.members():
            return self._indent.colon
        first = cell.spans.members()[0]
        return self._content.read(first.key_end, first.start - first.key_end)


def _sorted_place(keys: Sequence[str], key: str) -> int:
    """Where a new key belongs: in its alphabetical place if the others are sorted, else at the end."""
    if list(keys) != sorted(keys):
        return len(keys)
    return sum(other < key for other in keys)
