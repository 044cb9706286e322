"""Reads a window of lines in bounded memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ...content.source import Chunk, Content
from ...errors import OutOfRange, counted
from .encoding import UTF_8, TextEncoding, binary_refusal
from .line_index import LineIndex, bytes_past_lines
from .utf8_view import Utf8View, decode_strictly


@dataclass(frozen=True)
class WindowLimits:
    """The lines that a call asks for, and the most that may be shown.

    Attributes:
        first: the first line, 1-based.
        lines: at most so many lines.
        max_bytes: at most so many bytes of text; cut after the last whole line.
        max_line: longer lines are cut to so many characters.
        column: the first character shown of the first line, 1-based.
    """

    first: int
    lines: int
    max_bytes: int
    max_line: int
    column: int = 1


class CutLine(NamedTuple):
    """A line of which `shown` characters from `column` on are shown and `omitted` after them are not."""

    line: int
    column: int
    shown: int
    omitted: int


@dataclass
class Window:
    """Lines as they are shown, and the text as it stands in the file.

    Attributes:
        first: the first line's number.
        count: how many lines there are.
        text: the lines with the file's own terminators; a cut line that ends the window has none, its rest follows.
        cuts: the lines that were cut.
        next_line: the first line not shown; None at the end of the file.
        capped: the byte cap ended the window, not the number of lines.
    """

    first: int
    count: int = 0
    text: str = ""
    cuts: list[CutLine] = field(default_factory=list)
    next_line: int | None = None
    capped: bool = False

    @property
    def last(self) -> int:
        """The last line's number; `first - 1` if there is none."""
        return self.first + self.count - 1

    @cached_property
    def rows(self) -> list[str]:
        r"""The lines without terminators (a `\r` that ends no line is kept)."""
        rows = self.text.split("\n")
        if not rows[-1]:
            rows.pop()
        if "\r" in self.text:
            last = len(rows) - (0 if self.text.endswith("\n") else 1)
            rows[:last] = [row.removesuffix("\r") for row in rows[:last]]
        return rows


def read_window(content: Content, encoding: TextEncoding, index: LineIndex, wanted: WindowLimits) -> Window:
    """Read some lines.

    `index` is that of the content's bytes; an encoding whose newline is not the byte 0x0A is streamed from the start.

    Raises:
        OutOfRange: the first line is past the end.
        Binary, EncodingRefused: what stands in the window is not text in this encoding.
    """
    if content.size == len(encoding.bom):
        if wanted.first > 1:
            raise past_the_end(wanted.first, 0)
        if wanted.column > 1:
            raise _past_the_line(wanted, 0)
        return Window(1)
    view = Utf8View(content, encoding)
    if not encoding.counts_newline_bytes:
        return _Rows(Utf8View(content, UTF_8), wanted, 1).read(view.chunks(), 0)
    start = index.line_start(content, wanted.first)
    if start is None:
        raise past_the_end(wanted.first, index.total_lines)
    start = max(start, len(encoding.bom))
    if wanted.column == 1:
        window = _plain_window(view, index, start, wanted)
        if window is not None:
            return window
    return _Rows(view, wanted, wanted.first).read(content.chunks(start), start)


def text_index(content: Content, encoding: TextEncoding) -> LineIndex:
    """A line index of a text whose newline is not the byte 0x0A, which an index of its bytes cannot count.

    Offsets of this index count UTF-8 bytes. Bytes that do not decode are accepted, as no window shows them.
    """
    index = LineIndex(content.size)
    for chunk in Utf8View(content, encoding).passable_chunks():
        index.count(chunk)
    index.size = index.scanned
    return index


def past_the_end(line: int, total: int) -> OutOfRange:
    """The refusal of a line past the end of the file."""
    return OutOfRange(
        f"line {line} is past the end: the file has {total} line{'' if total == 1 else 's'}",
        hint=f"Read with an offset from 1 to {total}." if total else "The file is empty: read it without an offset.",
        total_lines=total,
    )


def _past_the_line(wanted: WindowLimits, length: int) -> OutOfRange:
    return OutOfRange(
        f"column {wanted.column} is past the end: line {wanted.first} has {counted(length, 'character')}",
        hint=f"Use a column from 1 to {max(1, length)}.",
        total_columns=length,
    )


def _plain_window(view: Utf8View, index: LineIndex, start: int, wanted: WindowLimits) -> Window | None:
    # The usual case takes one read and one decode; None if a line must be cut, which needs the slow way.
    data = _lines_from(view.content, index, start, wanted)
    capped = len(data) > wanted.max_bytes
    if capped:
        data = data[: data.rfind(b"\n", 0, wanted.max_bytes) + 1]
    if b"\0" in data:
        raise binary_refusal(start + data.index(b"\0"))
    text = view.decoded(start, data)
    if not view.encoding.is_utf8 and len(text.encode("utf-8")) > wanted.max_bytes:
        return None
    if not text or _has_longer_line(text, wanted.max_line):
        return None
    window = Window(wanted.first, text.count("\n") + (not text.endswith("\n")), text, capped=capped)
    window.next_line = window.last + 1 if start + len(data) < view.content.size else None
    return window


def _has_longer_line(text: str, most: int) -> bool:
    """Whether a line has more characters than `most`; checks only a few of the lines."""
    start = 0
    while len(text) - start > most:
        newline = text.rfind("\n", start, start + most + 1)
        if newline < 0:
            return True
        start = newline + 1
    return False


def _lines_from(content: Content, index: LineIndex, start: int, wanted: WindowLimits) -> bytes:
    """The bytes of the wanted lines; at least one byte more than the cap where the cap ends the window."""
    past = wanted.first + wanted.lines
    if past <= index.lines_begun and not index.is_far(past, start + wanted.max_bytes):
        end = index.line_start(content, past)
        return content.read(start, min((content.size if end is None else end) - start, wanted.max_bytes + 1))
    data = content.read(start, wanted.max_bytes + 1)
    if index.complete:
        return data
    # A line has at least one byte: the cap bounds the search.
    return data[: bytes_past_lines(data, min(wanted.lines, len(data)))]


class _Rows:
    """Reads lines from a stream, each cut to the characters that may be shown."""

    def __init__(self, view: Utf8View, wanted: WindowLimits, line: int) -> None:
        self._view = view
        self._wanted = wanted
        self._most = max(1, min(wanted.max_line, wanted.max_bytes))
        self._line = line
        self._window = Window(wanted.first)
        self._shown: list[str] = []
        self._texts: list[str] = []
        self._bytes = 0
        self._kept: list[str] = []
        self._seen = 0
        self._tail = ""
        self._unfinished = False

    def read(self, chunks: Iterator[Chunk], offset: int) -> Window:
        """Read from chunks that begin at byte `offset`, where line `self._line` begins."""
        decoder = codecs.getincrementaldecoder(self._view.encoding.codec)("strict")
        for chunk in chunks:
            at = 0
            while at < len(chunk):
                newline = chunk.find(b"\n", at)
                end = newline + 1 if newline >= 0 else len(chunk)
                if self._line >= self._wanted.first:
                    if self._done():
                        return self._finished(more=True)
                    text = decode_strictly(decoder, chunk[at:end], offset + at, self._view)
                    if "\0" in text:
                        raise binary_refusal(offset + chunk.index(b"\0", at))
                    self._feed(text)
                self._unfinished = newline < 0
                if newline >= 0 and not self._end_line(newline=True):
                    return self._finished(more=True)
                at = end
            offset += len(chunk)
        decode_strictly(decoder, b"", offset, self._view, final=True)
        if self._seen and not self._end_line(newline=False):
            return self._finished(more=True)
        if self._line <= self._wanted.first and not self._shown:
            raise past_the_end(self._wanted.first, self._line - (not self._unfinished))
        return self._finished(more=False)

    def _done(self) -> bool:
        return len(self._shown) >= self._wanted.lines and not self._seen

    def _feed(self, text: str) -> None:
        skip = self._column - 1
        start = max(0, skip - self._seen)
        room = self._most - sum(map(len, self._kept))
        # Two characters more than fit: the terminator does not count.
        if room > -2:
            self._kept.append(text[start : start + room + 2])
        self._seen += len(text)
        self._tail = (self._tail + text[-2:])[-2:]

    @property
    def _column(self) -> int:
        return self._wanted.column if self._line == self._wanted.first else 1

    def _end_line(self, *, newline: bool) -> bool:
        """Finish the line that was fed; False if it does not fit any more."""
        if self._line < self._wanted.first:
            self._line += 1
            return True
        terminator = ("\r\n" if self._tail == "\r\n" else "\n") if newline else ""
        length = self._seen - len(terminator)
        shown = "".join(self._kept)[: max(0, min(self._most, length - self._column + 1))]
        size = len(shown.encode("utf-8"))
        if self._shown and self._bytes + size + len(terminator) > self._wanted.max_bytes:
            self._window.capped = True
            return False
        if size > self._wanted.max_bytes:
            shown = _fitting(shown, self._wanted.max_bytes)
            self._bytes = self._wanted.max_bytes  # The next window begins with its rest, so no other line follows.
        if self._column > max(1, length):
            raise _past_the_line(self._wanted, length)
        omitted = length - (self._column - 1) - len(shown)
        if omitted > 0:
            self._window.cuts.append(CutLine(self._line, self._column, len(shown), omitted))
        self._shown.append(shown)
        self._texts += [shown, terminator]
        self._bytes += len(shown.encode("utf-8")) + len(terminator)
        self._line += 1
        self._kept, self._seen, self._tail = [], 0, ""
        return True

    def _finished(self, *, more: bool) -> Window:
        self._window.count, self._window.rows = len(self._shown), self._shown
        cuts = self._window.cuts
        if cuts and cuts[-1].line == self._window.last:
            self._texts.pop()
        self._window.text = "".join(self._texts)
        self._window.next_line = self._window.last + 1 if more else None
        return self._window


def _fitting(text: str, size: int) -> str:
    """The beginning of a text that fits into so many bytes, at least one character."""
    return text.encode("utf-8")[:size].decode("utf-8", "ignore") or text[:1]
