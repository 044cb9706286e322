"""Locates cells and their members in a notebook's bytes."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...content.source import Content
from ...content.splices import Splice, spliced_size
from ...errors import Conflict, TooLarge
from .json_cursor import JsonCursor
from .refusals import changes_meanwhile, empty_file, no_object, starts_with_bom


def outline_of(spans: NotebookSpans) -> NotebookSpans:
    """The spans without those of the cells' members, which are scanned again where they are needed."""
    return spans._replace(cells=[cell.outline() for cell in spans.cells])


def outline_after(spans: NotebookSpans, splices: Sequence[Splice], after: Content) -> NotebookSpans | None:
    """The outline of the content `after` some splices; None where that takes a scan of the whole content.

    Only the cells that changed are checked, each by itself.

    Raises:
        NotebookRefused: one of them is not JSON.
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
        try:
            cells.append(cell_at(after, start, cell.end + shift).outline())
        except Conflict:  # The splice inserted the end of one cell and the beginning of another one.
            return None
    if waiting:
        return None
    first, end = spans.array
    is_ascii = spans.ascii and all(splice.inserted.isascii() for splice in splices)
    return spans._replace(root=spans.root.grown(end, shift), array=(first, end + shift), cells=cells, ascii=is_ascii)


MAX_BYTES = 256 << 20
"""Largest notebook, in bytes, that is read or edited."""
_BOM = b"\xef\xbb\xbf"
_SMALL = 4096


class Member(NamedTuple):
    """One member of an object: its key, and the bytes of key and value."""

    key: str
    key_start: int
    key_end: int
    start: int
    end: int


class ObjectSpans:
    """The places of an object and its members, stored compactly: a notebook may have many cells."""

    __slots__ = ("_keys", "_marks", "end", "start")

    def __init__(self, start: int, end: int, keys: tuple[str, ...], marks: list[int]) -> None:
        self.start, self.end = start, end
        self._keys, self._marks = keys, array("Q", marks)

    def members(self) -> list[Member]:
        """The members in the file's order, with duplicates."""
        marks = self._marks
        return [Member(key, *marks[4 * at : 4 * at + 4]) for at, key in enumerate(self._keys)]

    def member(self, key: str) -> Member | None:
        """The member of that key; the last one of duplicates, as in JSON parsers."""
        for at in range(len(self._keys) - 1, -1, -1):
            if self._keys[at] == key:
                return Member(key, *self._marks[4 * at : 4 * at + 4])
        return None

    def grown(self, place: int, by: int) -> ObjectSpans:
        """The same object with `by` more bytes before `place`, all of them in one member's value."""
        marks = [mark if mark < place else mark + by for mark in self._marks]
        return ObjectSpans(self.start, self.end + by, self._keys, marks)


class CellSpans(ObjectSpans):
    """One item of `cells`; an item that is no object has no members and no type.

    An outline has the cell's place, id and type, but not its members.
    """

    __slots__ = ("cell_type", "is_object", "is_outline", "real_id")

    def __init__(
        self, start: int, end: int, keys: tuple[str, ...] = (), marks: list[int] | None = None, *, is_object: bool
    ) -> None:
        super().__init__(start, end, keys, marks or [])
        self.is_object = is_object
        self.is_outline = False
        self.real_id: str | None = None
        self.cell_type: str | None = None

    def outline(self, by: int = 0) -> CellSpans:
        """The outline of the same cell, `by` bytes further on."""
        if self.is_outline and not by:
            return self
        outline = CellSpans(self.start + by, self.end + by, is_object=self.is_object)
        outline.is_outline, outline.real_id, outline.cell_type = True, self.real_id, self.cell_type
        return outline


class NotebookSpans(NamedTuple):
    """The offsets of a notebook's parts, found in one pass.

    Attributes:
        root: the top-level object.
        array: first byte and end of the `cells` array; None where there is no such array (as before nbformat 4).
        cells: its items; for nbformat 3 those of all worksheets.
        major: `nbformat`, if it is an integer.
        minor: `nbformat_minor`, if it is an integer.
        ascii: there is no byte above 0x7F.
    """

    root: ObjectSpans
    array: tuple[int, int] | None
    cells: list[CellSpans]
    major: int | None
    minor: int | None
    ascii: bool


def scan(content: Content) -> NotebookSpans:
    """Check the whole JSON and note the cells' places; memory grows only with the number of cells.

    Raises:
        NotebookRefused: empty, a BOM, not UTF-8, broken JSON (`line` and `column`, 1-based), or no JSON object.
        TooLarge: above `MAX_BYTES`.
    """
    if content.size > MAX_BYTES:
        raise TooLarge(
            f"the notebook has {content.size} bytes; the limit for notebooks is {MAX_BYTES}",
            hint="Clear large outputs, or read it as raw bytes.",
            size=content.size,
            limit=MAX_BYTES,
        )
    if content.read(0, 3) == _BOM:
        raise starts_with_bom()
    cursor = JsonCursor(content)
    first = cursor.peek()
    if first == -1:
        raise empty_file(content.size)
    if first != ord("{"):
        start, end = cursor.skip()
        cursor.finish()
        raise no_object(_kind(first), start, end)
    return _scan_root(content, cursor)


def members_at(content: Content, start: int, end: int) -> list[Member]:
    """The members of the object in these (checked) bytes; none if it is no object."""
    cursor = JsonCursor(content, start, end, checked=True)
    if cursor.peek() != ord("{"):
        return []
    keys, marks = cursor.object()
    return ObjectSpans(start, end, tuple(keys), marks).members()


def items_at(content: Content, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The bytes of each item of the array in these (checked) bytes; none if it is no array."""
    cursor = JsonCursor(content, start, end, checked=True)
    if cursor.peek() == ord("["):
        for _ in cursor.items():
            yield cursor.skip()


def cell_at(content: Content, start: int, end: int) -> CellSpans:
    """The cell in these bytes.

    Raises:
        NotebookRefused: they are not JSON. Conflict: they are not exactly one value.
    """
    cursor = JsonCursor(content, start, end)
    cell = _scan_cell(cursor, {})
    if (cell.start, cell.end) != (start, end):
        raise changes_meanwhile()
    return cell


def _scan_root(content: Content, cursor: JsonCursor) -> NotebookSpans:
    keys: list[str] = []
    marks: list[int] = []
    numbers: dict[str, Any] = {}
    cells: list[CellSpans] = []
    place: tuple[int, int] | None = None
    start = cursor.position
    for key, key_start, key_end in cursor.members():
        if key == "cells":
            place, cells = _scan_cells(cursor)
        value = place if key == "cells" and place else cursor.skip()
        keys.append(key)
        marks += [key_start, key_end, *value]
        if key in ("nbformat", "nbformat_minor"):
            numbers[key] = _small_value(cursor, *value)
    root = ObjectSpans(start, cursor.position, tuple(keys), marks)
    cursor.finish()
    worksheets = root.member("worksheets")
    if place is None and worksheets is not None:
        cells = list(_worksheet_cells(content, worksheets))
    versions = [number if type(number) is int else None for number in map(numbers.get, ("nbformat", "nbformat_minor"))]
    return NotebookSpans(root, place, cells, versions[0], versions[1], cursor.ascii)


def _scan_cells(cursor: JsonCursor) -> tuple[tuple[int, int] | None, list[CellSpans]]:
    if cursor.peek() != ord("["):
        return None, []
    start = cursor.position
    shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
    cells = [_scan_cell(cursor, shapes) for _ in cursor.items()]
    return (start, cursor.position), cells


def _scan_cell(cursor: JsonCursor, shapes: dict[tuple[str, ...], tuple[str, ...]]) -> CellSpans:
    if cursor.peek() != ord("{"):
        return CellSpans(*cursor.skip(), is_object=False)
    start = cursor.position
    keys, marks = cursor.object()
    shape = tuple(keys)
    cell = CellSpans(start, cursor.position, shapes.setdefault(shape, shape), marks, is_object=True)
    for at, key in enumerate(keys):
        if key == "id":
            cell.real_id = _text_or_none(_small_value(cursor, *marks[4 * at + 2 : 4 * at + 4]))
        elif key == "cell_type":
            cell.cell_type = _text_or_none(_small_value(cursor, *marks[4 * at + 2 : 4 * at + 4]))
    return cell


def _worksheet_cells(content: Content, worksheets: Member) -> Iterator[CellSpans]:
    for start, end in items_at(content, worksheets.start, worksheets.end):
        for member in members_at(content, start, end):
            if member.key == "cells":
                yield from _scan_cells(JsonCursor(content, member.start, member.end, checked=True))[1]


def _small_value(cursor: JsonCursor, start: int, end: int) -> Any:
    raw = cursor.taken(start, end) if end - start <= _SMALL else b"["
    if raw.startswith(b'"') and b"\\" not in raw:
        return raw[1:-1].decode()
    return None if raw[:1] in (b"{", b"[") else json.loads(raw)


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _kind(byte: int) -> str:
    return {"[": "an array", '"': "a string"}.get(chr(byte), "a plain value")
