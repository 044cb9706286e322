"""Finds an exact string, whatever line endings either has."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from ...content.source import CHUNK_BYTES, Chunk


class Match(NamedTuple):
    """Where a needle was found, in bytes of the text searched."""

    start: int
    end: int


class _Place(NamedTuple):
    """Where a search continues: the bytes left, their offset in the text, and the least offset of a match."""

    window: bytes
    base: int
    least: int


class Needle:
    r"""An exact string; `\n` and `\r\n` in it match either line ending of the text.

    A match never begins or ends inside a `\r\n`, which would leave half a line ending. A lone `\r` matches only a lone
    `\r`.
    """

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.bytes = self.text.encode("utf-8")
        self._ends_matter = b"\n" in self.bytes or b"\r" in self.bytes

    def find(self, chunks: Iterable[Chunk], *, overlapping: bool) -> Iterator[Match]:
        """Every match in order; `overlapping` also gives those that begin inside an earlier one."""
        rest = iter(chunks)
        place = _Place(b"", 0, 0)
        if b"\r" not in self.bytes:
            # A text without a CR is searched for the exact bytes, without a copy.
            met = yield from self._find_literal(rest, overlapping)
            if met is None:
                return
            place, first = met
            rest = chain([first], rest)
        yield from self._find_normalised(rest, place, overlapping)

    def _find_literal(
        self, chunks: Iterator[Chunk], overlapping: bool
    ) -> Generator[Match, None, tuple[_Place, Chunk] | None]:
        needle, length = self.bytes, len(self.bytes)
        step = 1 if overlapping else length
        carry, base, least = b"", 0, 0  # `base` is the chunk's offset, `least` the least offset of a match.
        for chunk in chunks:
            if self._ends_matter and b"\r" in chunk:
                return _Place(carry, base - len(carry), least), chunk
            if carry:
                seam = carry + bytes(chunk[: length - 1])
                for at in _finds(seam, needle, step, max(0, least - (base - len(carry))), len(carry)):
                    start = base - len(carry) + at
                    least = start + step
                    yield Match(start, start + length)
            for at in _finds(chunk, needle, step, max(0, least - base), len(chunk)):
                least = base + at + step
                yield Match(base + at, base + at + length)
            base += len(chunk)
            if length > 1:
                tail = bytes(chunk[-(length - 1) :])
                carry = (carry + tail)[-(length - 1) :]
        return None

    def _find_normalised(self, chunks: Iterable[Chunk], place: _Place, overlapping: bool) -> Iterator[Match]:
        # A search for bytes is always linear; a regular expression with a choice at each newline is not.
        needle = self.bytes
        step = 1 if overlapping else len(needle)
        window = _Window(place.window, place.base)
        at = window.position_of(place.least)
        for piece in _whole_endings(chunks, max(CHUNK_BYTES, len(needle))):
            window.extend(piece)
            for found in _finds(window.text, needle, step, at, len(window.text)):
                start = window.offset_of(found)
                yield Match(start, window.offset_of(found + len(needle)))
                at = found + step
            window.drop(max(at, len(window.text) - len(needle) + 1))
            at = 0


class _Window:
    r"""A part of a text with every `\r\n` as `\n`, which maps its positions to offsets in the text."""

    def __init__(self, raw: bytes, base: int) -> None:
        self.raw = raw
        self.base = base
        self.text = raw.replace(b"\r\n", b"\n")
        self._known = (0, 0)

    def extend(self, piece: bytes) -> None:
        """Append the next piece; no line ending is divided between two pieces."""
        self.raw += piece
        self.text += piece.replace(b"\r\n", b"\n")

    def drop(self, position: int) -> None:
        """Drop the bytes before a position of `text`."""
        at = self._raw_at(position)
        self.raw, self.base, self.text, self._known = self.raw[at:], self.base + at, self.text[position:], (0, 0)

    def offset_of(self, position: int) -> int:
        """The offset in the whole text of a position of `text`."""
        return self.base + self._raw_at(position)

    def position_of(self, offset: int) -> int:
        """The position in `text` of an offset in the whole text."""
        at = max(0, offset - self.base)
        return at - self.raw.count(b"\r\n", 0, at)

    def _raw_at(self, position: int) -> int:
        # Positions mostly rise: the search starts at the last one, in steps that shrink towards the position.
        at, raw = self._known if self._known[0] <= position else (0, 0)
        while at < position:
            end = raw + position - at
            end += self.raw[end - 1 : end + 1] == b"\r\n"
            at, raw = at + end - raw - self.raw.count(b"\r\n", raw, end), end
        self._known = (at, raw)
        return raw


def lines_of_matches(chunks: Iterable[Chunk], matches: Sequence[Match]) -> list[int]:
    """The number of the line on which each match begins, in rising order; `chunks` are the text searched."""
    lines: list[int] = []
    at, line = 0, 1
    for chunk in chunks:
        done = 0
        while len(lines) < len(matches) and matches[len(lines)].start < at + len(chunk):
            here = matches[len(lines)].start - at
            line += chunk.count(b"\n", done, here)
            done = here
            lines.append(line)
        if len(lines) == len(matches):
            break
        line += chunk.count(b"\n", done)
        at += len(chunk)
    return lines


def _finds(data: Chunk, needle: bytes, step: int, start: int, before: int) -> Iterator[int]:
    """Positions from `start` on, below `before`, at which the needle begins."""
    at = data.find(needle, start)
    while 0 <= at < before:
        yield at
        at = data.find(needle, at + step)


def _whole_endings(chunks: Iterable[Chunk], size: int) -> Iterator[bytes]:
    r"""The same bytes in pieces of about a size, none of which ends between a `\r` and its `\n`."""
    held: list[bytes] = []
    length = 0
    for chunk in filter(None, chunks):
        held.append(bytes(chunk))
        length += len(chunk)
        if length >= size and not held[-1].endswith(b"\r"):
            yield b"".join(held)
            held, length = [], 0
    yield b"".join(held)


def coalesced(pieces: Iterable[Chunk]) -> Iterator[Chunk]:
    """The same bytes in chunks of a useful size: many small pieces become few."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        if not held and len(piece) >= CHUNK_BYTES // 4:
            yield piece
            continue
        held.append(bytes(piece))
        size += len(piece)
        if size >= CHUNK_BYTES // 4:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
