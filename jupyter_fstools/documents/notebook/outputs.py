"""Summarises a cell's outputs, or shows one in full."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import BaseModel, Field

from ...content.source import Content
from ...errors import Invalid, OutOfRange, counted
from ..text.shown_lines import collapsed, without_ansi
from .cell import Cell, bounded_names, bounded_sizes, decoded, decoded_to_show, joined_text
from .spans import Member, items_at, members_at

_LINE_END = re.compile(rb"(?<!\\)(?:\\\\)*\\[nr]")
_NEXT_ITEM = re.compile(rb'(?<!\\)(?:\\\\)*"[ \t\r\n]*,[ \t\r\n]*(?=")')
_LONGEST_SPLIT = 16  # Most bytes of an escaped surrogate pair and a character that a cut can leave.


def head_of(content: Content, start: int, end: int, limit: int, *, in_worksheet: bool) -> tuple[str, bool]:
    """About the first `limit` bytes of a string or list of strings, and whether that is all of it."""
    if end - start <= limit:
        return joined_text(decoded_to_show(content.read(start, end - start)), in_worksheet=in_worksheet), True
    if content.read(start, 1) == b'"':
        return _prefix(content, start, limit), False
    parts, left = [], limit
    for item_start, item_end in items_at(content, start, end):
        if item_end - item_start > left:
            parts.append(_prefix(content, item_start, left) if content.read(item_start, 1) == b'"' else "")
            break
        parts.append(joined_text(decoded_to_show(content.read(item_start, item_end - item_start))))
        left -= item_end - item_start
    return joined_text(parts, in_worksheet=in_worksheet), False


def last_items(content: Content, start: int, end: int, limit: int) -> tuple[list[str], bool]:
    """The items of a list of strings (a string is one item) in about the last `limit` bytes, and if that is all.

    A string that is cut begins after a line break; where none is near, it is left out.
    """
    if end - start <= limit:
        value = decoded_to_show(content.read(start, end - start))
        items = value if isinstance(value, list) else [value]
        return [item for item in items if isinstance(item, str)], True
    raw = content.read(end - limit, limit)
    if content.read(start, 1) == b"[":
        for cut in _NEXT_ITEM.finditer(raw):
            try:  # Text inside a string may look like the boundary between two items.
                items = json.loads(b"[" + raw[cut.end() :])
            except ValueError:
                continue
            return [item for item in items if isinstance(item, str)], False
        raw = raw.rstrip(b" \t\r\n]").rstrip(b" \t\r\n")
    line_end = _LINE_END.search(raw)
    if line_end is None:
        return [], False
    try:
        return [str(json.loads(b'"' + raw[line_end.end() :]))], False
    except ValueError:
        return [], False


def _prefix(content: Content, start: int, limit: int) -> str:
    raw = content.read(start, max(limit, 2))
    for cut in range(len(raw), max(0, len(raw) - _LONGEST_SPLIT), -1):
        try:
            text = str(json.loads(raw[:cut] + b'"'))
        except ValueError:
            continue
        return text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text
    return ""


_SUMMARY_CHARACTERS = 2000
"""Most characters of one output that a summary shows."""
_TRACEBACK_LINES = 30
_WHOLE_STREAM = 1 << 20
_PIECE = 32 << 10
_SHOWN_MIMES = ("text/plain", "text/markdown", "text/latex")
_SVG = "image/svg+xml"
_OLD_MIMES = {  # nbformat 3 had these as members of the output itself.
    "text": "text/plain", "png": "image/png", "jpeg": "image/jpeg", "svg": _SVG, "html": "text/html",
    "latex": "text/latex", "json": "application/json", "javascript": "application/javascript",
}  # fmt: skip


class OutputSummary(BaseModel):
    """One output as a reader is shown it.

    `size_bytes` and `mime_sizes` count bytes in the file; `truncated` says that `text` is not all of its text.
    """

    index: int
    output_type: str
    mime_types: list[str] = Field(default_factory=list)
    mime_sizes: dict[str, int] = Field(default_factory=dict)
    size_bytes: int
    text: str = ""
    truncated: bool = False


class OutputPage(NamedTuple):
    """A part of one output's text, in characters; `next_offset` is None at the end."""

    text: str
    total_characters: int
    next_offset: int | None


class Output:
    """One output with its place in the file; `mimes` has the place of each of its representations."""

    def __init__(self, cell: Cell, index: int, start: int, end: int) -> None:
        self.cell_index, self.index, self.start, self.end = cell.index, index, start, end
        self._content, self._in_worksheet = cell.content, cell.in_worksheet
        self._members = {member.key: member for member in members_at(cell.content, start, end)}
        self.output_type = self._small("output_type") or "unknown"
        self.mimes = self._mimes()

    def summary(self, limit: int = _SUMMARY_CHARACTERS) -> OutputSummary:
        """Type, MIME types, sizes, and the first `limit` characters of its text."""
        if self.output_type == "stream":
            text, whole = self._stream_head(limit)
        elif self.output_type in ("error", "pyerr"):
            text, whole = self._error_tail(limit)
        else:
            text, whole = self._rich_head(limit)
        shown = _cut(text, limit)
        return OutputSummary(
            index=self.index,
            output_type=self.output_type,
            mime_types=bounded_names(list(self.mimes)),
            mime_sizes=bounded_sizes({mime: member.end - member.start for mime, member in self.mimes.items()}),
            size_bytes=self.end - self.start,
            text=shown,
            truncated=not whole or shown != text,
        )

    def page(self, offset: int, limit: int, mime_type: str | None = None) -> OutputPage:
        """`limit` characters of the output's text, without ANSI sequences, from character `offset` (0-based).

        Raises:
            Invalid: there is no such MIME type, or it is a picture. OutOfRange: the offset is past the end.
        """
        text = self._full_text(mime_type)
        if offset > len(text) or offset < 0:
            raise OutOfRange(
                f"output_offset {offset}: the output has {counted(len(text), 'character')}",
                hint=f"Use an offset from 0 to {len(text)}.",
                total=len(text),
            )
        end = min(offset + limit, len(text))
        return OutputPage(text[offset:end], len(text), end if end < len(text) else None)

    @property
    def image_mimes(self) -> list[str]:
        """The types of the pictures it holds as base64."""
        return [mime for mime in self.mimes if mime.startswith("image/") and mime != _SVG]

    def image(self, mime_type: str) -> str:
        """The base64 of the picture of one of `image_mimes`."""
        return "".join(joined_text(self._value(self.mimes[mime_type])).split())

    def _mimes(self) -> dict[str, Member]:
        data = self._members.get("data")
        if data is not None:
            return {member.key: member for member in members_at(self._content, data.start, data.end)}
        if self.output_type not in ("pyout", "display_data"):
            return {}
        return {_OLD_MIMES[key]: member for key, member in self._members.items() if key in _OLD_MIMES}

    def _small(self, key: str) -> str:
        member = self._members.get(key)
        return self._head(member, _PIECE)[0] if member else ""

    def _head(self, member: Member, limit: int) -> tuple[str, bool]:
        return head_of(self._content, member.start, member.end, limit, in_worksheet=self._in_worksheet)

    def _joined(self, value: object) -> str:
        return joined_text(value, in_worksheet=self._in_worksheet)

    def _value(self, member: Member) -> object:
        return decoded(self._content.read(member.start, member.end - member.start))

    def _stream_head(self, limit: int) -> tuple[str, bool]:
        member = self._members.get("text")
        if member is None:
            return "", True
        _, _, _, start, end = member
        if end - start <= _WHOLE_STREAM:
            return collapsed(self._head(member, _WHOLE_STREAM)[0]), True
        piece = self._head(member, _PIECE)[0]
        # A cut line is left out, except where it is all there is and no `\r` overwrites it.
        head = collapsed(piece.rpartition("\n")[0] if "\n" in piece or "\r" in piece else piece)
        items, _ = last_items(self._content, start, end, _PIECE)
        tail = collapsed(self._joined(items))[-limit // 2 :]
        return f"{_cut(head, limit - len(tail) - 60)}\n[… {end - start} bytes in all …]\n{tail}", False

    def _error_tail(self, limit: int) -> tuple[str, bool]:
        name, value = without_ansi(self._small("ename")), without_ansi(self._small("evalue"))
        head = _cut(f"{name}: {value}", limit // 2)
        member = self._members.get("traceback")
        if member is None:
            return head, True
        items, whole = last_items(self._content, member.start, member.end, _WHOLE_STREAM)
        lines = without_ansi("\n".join(items)).split("\n")
        shown, room = lines[-_TRACEBACK_LINES:], limit - len(head) - 1
        while len(shown) > 1 and sum(map(len, shown)) + len(shown) > room:
            shown.pop(0)
        return f"{head}\n" + "\n".join(shown), whole and len(shown) == len(lines)

    def _rich_head(self, limit: int) -> tuple[str, bool]:
        mime = next((mime for mime in _SHOWN_MIMES if mime in self.mimes), None)
        if mime is None:
            return "", not self.mimes
        text, whole = self._head(self.mimes[mime], max(_PIECE, 6 * limit))
        return without_ansi(text), whole

    def _full_text(self, mime_type: str | None) -> str:
        if self.output_type == "stream" and "text" in self._members:
            return without_ansi(self._joined(self._value(self._members["text"])))
        if self.output_type in ("error", "pyerr"):
            trace = self._value(self._members["traceback"]) if "traceback" in self._members else []
            lines = [line for line in (trace if isinstance(trace, list) else [trace]) if isinstance(line, str)]
            return without_ansi("\n".join([f"{self._small('ename')}: {self._small('evalue')}", *lines]))
        mime = mime_type or next((mime for mime in (*_SHOWN_MIMES, *self.mimes) if mime in self.mimes), "")
        if mime not in self.mimes or mime in self.image_mimes:
            there = bounded_names(list(self.mimes))
            raise Invalid(
                f"output {self.index} has no text of type {mime[:100] or 'text/plain'}",
                hint=f"It has: {', '.join(there) or 'nothing'}. Pictures are given as images.",
                mime_types=there,
            )
        member = self.mimes[mime]
        value = self._value(member)
        if isinstance(value, (str, list)) and not mime.endswith("json"):
            return without_ansi(self._joined(value))
        return self._content.read(member.start, member.end - member.start).decode()


def outputs_of(cell: Cell) -> Iterator[Output]:
    """The outputs of a cell, one after the other; none where `outputs` is missing or no list."""
    member = cell.spans.member("outputs")
    if member is not None:
        for index, (start, end) in enumerate(items_at(cell.content, member.start, member.end)):
            yield Output(cell, index, start, end)


def output_at(cell: Cell, index: int) -> Output:
    """One output.

    Raises:
        OutOfRange: names how many there are.
    """
    member = cell.spans.member("outputs")
    places = list(items_at(cell.content, member.start, member.end)) if member else []
    if not 0 <= index < len(places):
        none = "Run the cell to get outputs." if cell.cell_type == "code" else "Only code cells have outputs."
        raise OutOfRange(
            f"output_index {index}: the cell has {counted(len(places), 'output')}",
            hint=f"Use an index from 0 to {len(places) - 1}." if places else none,
            total=len(places),
        )
    return Output(cell, index, *places[index])


def _cut(text: str, limit: int) -> str:
    """The first `limit` characters, back to a line's end where one is near."""
    if len(text) <= limit:
        return text
    head = text[: max(0, limit)]
    whole_lines = head.rpartition("\n")[0]
    return whole_lines if len(whole_lines) > limit // 2 else head
