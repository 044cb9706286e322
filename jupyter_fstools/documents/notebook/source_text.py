"""Detects a notebook's JSON layout and encodes sources in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...content.source import CHUNK_BYTES, Content
from ...content.splices import Splice, trimmed
from ...diffs.line_diff import changed_blocks
from ...errors import EncodingRefused, Invalid
from ..text.disguises import has_line_numbers
from ..text.written_text import placeholder_line
from .cell import Cell, decoded, lines_of
from .spans import NotebookSpans, ObjectSpans, items_at

Place = tuple[int, int]
"""First byte and end of something in the file."""
_NEW_LINE = re.compile(rb"(\r\n|\n|\r)([ \t]*)\Z")


class Gaps(NamedTuple):
    """White space of one container: after its opening bracket, between two items (with the comma), before its end."""

    lead: bytes
    between: bytes
    tail: bytes


class Indent(NamedTuple):
    r"""The file's general layout, from its first lines; used where a container has no neighbour to copy.

    Attributes:
        newline: `\n`, `\r\n` or `\r`; empty for a file on one line.
        unit: white space of one level.
        comma: the separator of two items on one line.
        colon: the separator of key and value.
    """

    newline: bytes
    unit: bytes
    comma: bytes
    colon: bytes

    def gaps(self, depth: int) -> Gaps:
        """The gaps of a container `depth` levels below the top-level object."""
        if not self.newline:
            return Gaps(b"", self.comma, b"")
        lead = self.newline + self.unit * (depth + 1)
        return Gaps(lead, b"," + lead, self.newline + self.unit * depth)


def indent_of(content: Content, root: ObjectSpans) -> Indent:
    """The layout of a notebook by its top-level object."""
    places = member_places(root)
    gaps = gaps_of(content, (root.start, root.end), places)
    if gaps is None:
        return Indent(b"\n", b" ", b", ", b": ")
    first = root.members()[0]
    colon = content.read(first.key_end, first.start - first.key_end)
    broken = _NEW_LINE.search(gaps.lead)
    if broken is None:
        one_line = gaps.between if len(places) > 1 else b", "
        return Indent(b"", b"", one_line, colon)
    return Indent(broken[1], broken[2], b", " if colon.endswith(b" ") else b",", colon)


def member_places(spans: ObjectSpans) -> list[Place]:
    """The place of each member, from its key to the end of its value."""
    return [(member.key_start, member.end) for member in spans.members()]


def gaps_of(content: Content, container: Place, items: Sequence[Place], comma: bytes = b", ") -> Gaps | None:
    """The white space a container has now; None if it is empty.

    `comma` is the separator of items on one line, for a container that has only one item.
    """
    if not items:
        return None
    lead = _between(content, container[0] + 1, items[0][0])
    tail = _between(content, items[-1][1], container[1] - 1)
    if len(items) > 1:
        return Gaps(lead, _between(content, items[0][1], items[1][0]), tail)
    return Gaps(lead, b"," + lead if _NEW_LINE.search(lead) else comma, tail)


def rearranged_cells(
    content: Content, spans: NotebookSpans, cells: Sequence[Cell], new: Sequence[int | bytes]
) -> Iterator[Splice]:
    """Splices that give a notebook other cells, as `rearranged` does; it must have an array of them."""
    assert spans.array is not None
    indent, places = indent_of(content, spans.root), [(cell.place.start, cell.place.end) for cell in cells]
    gaps = gaps_of(content, spans.array, places, indent.comma) or indent.gaps(1)
    return rearranged(content, spans.array, places, new, gaps)


def rearranged(
    content: Content, container: Place, items: Sequence[Place], new: Sequence[int | bytes], gaps: Gaps
) -> Iterator[Splice]:
    """Splices that give a container other items and leave the kept ones where they are.

    Args:
        content: where the container lies.
        container: from its opening bracket to after its closing one.
        items: its current items.
        new: its new items: numbers, in rising order, of items that stay; bytes of new ones.
        gaps: white space and commas around new items.
    """
    kept, fresh = -1, list[bytes]()
    for item in [*new, len(items)]:
        if isinstance(item, bytes):
            fresh.append(item)
            continue
        found = _region(container, items, (kept, item), fresh, gaps)
        if found is not None:
            start, end, inserted = found
            yield Splice(start, _between(content, start, end), inserted)
        kept, fresh = item, []


def _region(
    container: Place, items: Sequence[Place], kept: tuple[int, int], fresh: Sequence[bytes], gaps: Gaps
) -> tuple[int, int, bytes] | None:
    """The splice for the items between two kept ones: start, end, and the bytes that replace them."""
    left, right = kept
    has_left, has_right, goes = left >= 0, right < len(items), right - left > 1
    if goes and fresh:
        return items[left + 1][0], items[right - 1][1], gaps.between.join(fresh)
    if goes and has_right:
        return items[left + 1][0], items[right][0], b""
    if goes and has_left:
        return items[left][1], items[-1][1], b""
    if goes:
        return container[0] + 1, container[1] - 1, b""
    if not fresh:
        return None
    if has_left:
        return items[left][1], items[left][1], b"".join(gaps.between + item for item in fresh)
    if has_right:
        return items[right][0], items[right][0], b"".join(item + gaps.between for item in fresh)
    return container[0] + 1, container[1] - 1, gaps.lead + gaps.between.join(fresh) + gaps.tail


def _between(content: Content, start: int, end: int) -> bytes:
    return content.read(start, end - start) if end > start else b""


_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPED_LETTER = re.compile(rb"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')


def checked_source(new: str, old: str) -> str:
    r"""A new source with `\n` as its only line ending.

    Raises:
        Invalid: an omission placeholder that the old source did not have, line numbers, or notebook JSON.
    """
    new = new.replace("\r\n", "\n").replace("\r", "\n")
    old_lines = {line.rstrip("\r") for line in old.split("\n")}
    placeholder = placeholder_line(new, old_lines.__contains__)
    if placeholder is not None:
        raise Invalid(
            f"new_source: the line {placeholder.strip()!r} is a placeholder for omitted text",
            hint='Give the whole source, or change only a part of the cell with `edit_mode` "edit".',
            field="new_source",
        )
    if has_line_numbers(new, lambda: old):
        raise Invalid(
            "new_source: its lines begin with line numbers", hint="Leave out numbers and tabs.", field="new_source"
        )
    if _is_notebook_json(new):
        raise Invalid(
            "new_source: this is a notebook's or a cell's JSON, not a source",
            hint="Give the plain text of one cell; each further cell takes an edit of its own.",
            field="new_source",
        )
    return new


def refuse_surrogates(text: str | None, field: str) -> None:
    """Raise EncodingRefused if the text holds a lone surrogate, which no file can."""
    found = _SURROGATES.search(text or "")
    if found:
        raise EncodingRefused(
            f"{field}: U+{ord(found[0]):04X} at character {found.start()} is a lone surrogate",
            hint="Send the whole character; a pair of surrogates is one character.",
            field=field,
            offset=found.start(),
        )


class TextStyle:
    r"""Whether new text is written raw or with `\u` escapes: as the file does.

    A file with any byte above 0x7F is written raw; one that is all ASCII and escapes letters is escaped; one that
    has neither is written raw, as nbformat does.
    """

    def __init__(self, content: Content, *, is_ascii: bool) -> None:
        self._content, self._is_ascii = content, is_ascii
        self._escapes: bool | None = None

    def encoded(self, text: str) -> bytes:
        """The text as a JSON string."""
        if text.isascii():
            return json.dumps(text).encode("ascii")
        if self._escapes is None:
            self._escapes = self._is_ascii and self._finds_escapes()
        if self._escapes:
            return json.dumps(text).encode("ascii")
        raw = json.dumps(text, ensure_ascii=False)
        return _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", raw).encode()

    def _finds_escapes(self) -> bool:
        overlap = 64  # An escape may lie across two pieces.
        starts = range(0, self._content.size, CHUNK_BYTES)
        return any(_ESCAPED_LETTER.search(self._content.read(start, CHUNK_BYTES + overlap)) for start in starts)


def source_value(text: str, encoded: Callable[[str], bytes], gaps: Gaps | None) -> bytes:
    """A whole source: a list with these gaps, or a string if there are none."""
    if gaps is None:
        return encoded(text)
    lines = [encoded(line) for line in lines_of(text)]
    return b"[" + gaps.lead + gaps.between.join(lines) + gaps.tail + b"]" if lines else b"[]"


def source_splices(
    cell: Cell, text: str, encoded: Callable[[str], bytes], gaps: Callable[[], Gaps], comma: bytes
) -> list[Splice]:
    """Splices that give a cell another source; lines of a list that stay keep their bytes.

    `gaps` finds them for a list that has no item yet, `comma` is for one that has a single item.
    """
    member = cell.spans.member("source")
    assert member is not None
    raw = cell.raw(member)
    if not raw.startswith(b"["):
        return [
            Splice(member.start + splice.offset, splice.removed, splice.inserted)
            for splice in trimmed(raw, encoded(text))
        ]
    place = (member.start, member.end)
    old = decoded(raw)
    items = _items(cell, place, old, raw)
    new = _kept_or_encoded(old, lines_of(text), encoded)
    return list(rearranged(cell.content, place, items, new, gaps_of(cell.content, place, items, comma) or gaps()))


def _items(cell: Cell, place: Place, values: Sequence[object], raw: bytes) -> list[Place]:
    """The places of a list's items; found by one pattern if all are strings, as in nearly every source."""
    if all(isinstance(value, str) for value in values):
        return [(place[0] + found.start(), place[0] + found.end()) for found in _STRING.finditer(raw)]
    return list(items_at(cell.content, *place))


def _kept_or_encoded(old: Sequence[object], new: Sequence[str], encoded: Callable[[str], bytes]) -> list[int | bytes]:
    # An item that is no string equals no line.
    lines = [item if isinstance(item, str) else "" for item in old]
    found: list[int | bytes] = []
    at = 0
    for first, last, new_first, new_last in changed_blocks(lines, new):
        found += [*range(at, first), *map(encoded, new[new_first:new_last])]
        at = last
    return [*found, *range(at, len(old))]


def _is_notebook_json(text: str) -> bool:
    start = text.lstrip()[:1]
    if start not in ("{", "[") or not ('"cells"' in text or '"cell_type"' in text):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and (
        isinstance(first.get("cells"), list) or ("cell_type" in first and "source" in first)
    )
