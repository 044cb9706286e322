"""Expresses a notebook change as operations on cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ...content.splices import Splice
from ..text.spans import Span, spans_between
from .cell import Cell
from .changed_notebook import ChangedNotebook
from .comparison import in_place
from .document import NotebookDocument
from .moves import moved_origins
from .saved import plain_member

ValueOf = Callable[[Cell, str], Any]
"""Returns a cell's member by its name."""
_MEMBERS = ("outputs", "execution_count", "metadata", "attachments")


class CellName(BaseModel):
    """A cell that an operation is about.

    Attributes:
        id: in the document; None where the file has none for it, or has it twice.
        index: before the change; for a new cell, `total` or more.
    """

    id: str | None
    index: int


class SourceSpans(BaseModel):
    """The source changes where the text is the expected one."""

    do: Literal["source"] = "source"
    cell: CellName
    spans: list[Span]


class Members(BaseModel):
    """Other members get a value: `outputs`, `execution_count`, `metadata`, `attachments` (None: removed)."""

    do: Literal["members"] = "members"
    cell: CellName
    set: dict[str, Any]


class Convert(BaseModel):
    """The cell gets another type, and loses or gets the members that only some types have."""

    do: Literal["convert"] = "convert"
    cell: CellName
    cell_type: str


class Delete(BaseModel):
    """The cell is deleted if its source is still `source`."""

    do: Literal["delete"] = "delete"
    cell: CellName
    source: str


class Insert(BaseModel):
    """A new cell, called `cell` by later operations, lands after another one (None: at the start)."""

    do: Literal["insert"] = "insert"
    cell: CellName
    after: CellName | None
    content: dict[str, Any]


class Move(BaseModel):
    """The cell lands after another one (None: at the start)."""

    do: Literal["move"] = "move"
    cell: CellName
    after: CellName | None


CellOperation = Annotated[SourceSpans | Members | Convert | Delete | Insert | Move, Field(discriminator="do")]


class NotebookOperations(BaseModel):
    """All that a change does, in order; `total` is the number of cells before it."""

    total: int
    operations: list[CellOperation]


def notebook_operations(
    before: NotebookDocument,
    splices: Sequence[Splice],
    names: Sequence[str] | None = None,
    staying: Collection[int] = (),
) -> NotebookOperations | None:
    """The operations of some splices on an open document; None where they change more than cells.

    Args:
        before: the notebook before.
        splices: of its bytes.
        names: the cells' ids in the open document, if known.
        staying: cells, by index, that should keep their place while others move.

    Raises:
        NotebookRefused: it is not a notebook after them.
    """
    after = ChangedNotebook(before, splices).after
    return operations_between(before, after, splices, names, staying, value_of=_document_value)


def operations_between(
    before: NotebookDocument,
    after: NotebookDocument,
    splices: Sequence[Splice],
    names: Sequence[str] | None = None,
    staying: Collection[int] = (),
    *,
    value_of: ValueOf = Cell.value,
) -> NotebookOperations | None:
    """As `notebook_operations`, for a file: members have the file's values, unless `value_of` gives others."""
    array = before.spans.array
    if array is None or any(s.offset < array[0] + 1 or s.end > array[1] - 1 for s in splices):
        return None
    return _Comparison(before, after, splices, names, value_of).told(staying)


class _Comparison:
    def __init__(
        self,
        before: NotebookDocument,
        after: NotebookDocument,
        splices: Sequence[Splice],
        names: Sequence[str] | None,
        value_of: ValueOf,
    ) -> None:
        self._value_of = value_of
        self._old, self._new = before.cells, after.cells
        self._names = names
        self._duplicates = before.duplicate_ids
        self._origins = self._found_origins(splices)

    def told(self, staying: Collection[int]) -> NotebookOperations:
        found: list[CellOperation] = []
        for index, at in sorted(self._origins.items()):
            if at in self._touched:
                found += self._changes(self._old[at], self._new[index])
        kept = set(self._origins.values())
        gone = [cell for cell in self._old if cell.index not in kept]
        found += [Delete(cell=self._name(cell), source=cell.source) for cell in gone]
        moved = moved_origins([self._origins.get(cell.index) for cell in self._new], staying)
        for last, cell in zip([None, *self._new], self._new, strict=False):
            origin = self._origins.get(cell.index)
            if origin is not None and origin not in moved:
                continue
            name, after = self._new_name(cell), None if last is None else self._new_name(last)
            if origin is None:
                found.append(Insert(cell=name, after=after, content=self._content(cell)))
            else:
                found.append(Move(cell=name, after=after))
        return NotebookOperations(total=len(self._old), operations=found)

    def _found_origins(self, splices: Sequence[Splice]) -> dict[int, int]:
        """New index to old index: cells that keep their place in the bytes, then those that keep their id."""
        origins, self._touched = in_place(self._old, self._new, splices)
        known = set(origins.values())
        ids = {cell.real_id: cell.index for cell in self._old if cell.real_id and cell.index not in known}
        for cell in self._new:
            if cell.index not in origins and cell.real_id in ids:
                origins[cell.index] = ids.pop(cell.real_id)
        return origins

    def _changes(self, old: Cell, new: Cell) -> Iterator[CellOperation]:
        name = self._name(old)
        spans = spans_between(old.source, new.source)
        if spans:
            yield SourceSpans(cell=name, spans=spans)
        if old.cell_type != new.cell_type:
            yield Convert(cell=name, cell_type=new.cell_type)
        other = [key for key in _MEMBERS if _raw(old, key) != _raw(new, key)]
        values = {key: self._value_of(new, key) for key in other}
        members = {key: value for key, value in values.items() if not _same(value, self._value_of(old, key))}
        if old.cell_type != new.cell_type:
            # Members that only one type has change with the type; only those with content are set beside it.
            members = {key: value for key, value in members.items() if key == "metadata" or value}
        if members:
            yield Members(cell=name, set=members)

    def _content(self, cell: Cell) -> dict[str, Any]:
        members = {member.key: self._value_of(cell, member.key) for member in cell.spans.members()}
        return members | {"source": cell.source}

    def _new_name(self, cell: Cell) -> CellName:
        """The name of a cell of the notebook after the change."""
        origin = self._origins.get(cell.index)
        if origin is None:
            return CellName(id=cell.real_id, index=len(self._old) + cell.index)
        return self._name(self._old[origin])

    def _name(self, cell: Cell) -> CellName:
        if self._names is not None:
            return CellName(id=self._names[cell.index], index=cell.index)
        known = cell.real_id if cell.real_id not in self._duplicates else None
        return CellName(id=known, index=cell.index)


def _document_value(cell: Cell, key: str) -> Any:
    """A member as an open document has it, which accepts no `trusted` from a file."""
    return plain_member(key, cell.value(key))


def _same(one: Any, other: Any) -> bool:
    # Python's == treats 1, 1.0 and True as equal.
    return bool(one == other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _raw(cell: Cell, key: str) -> bytes | None:
    member = cell.spans.member(key)
    return None if member is None else cell.raw(member)
