"""Finding an exact string in a text of any size, whatever line endings either has."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from ..content import CHUNK_BYTES, Chunk


class Match(NamedTuple):
    """Where a needle was found, in bytes of the text searched."""

    start: int
    end: int


class _Place(NamedTuple):
    """Where a search goes on: bytes not done with, where they begin in the text, where a match may begin."""

    window: bytes
    base: int
    least: int


class Needle:
    r"""An exact string; `\n` and `\r\n` in it match either line ending of the text.

    A match never begins or ends inside a `\r\n`: what is left would be half a line ending. A `\r` of its own matches
    only a `\r` of its own.
    """

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.bytes = self.text.encode("utf-8")
        self._ends_matter = b"\n" in self.bytes or b"\r" in self.bytes
        self._longest = len(self.bytes) + self.bytes.count(b"\n")

    def find(self, chunks: Iterable[Chunk], *, overlapping: bool) -> Iterator[Match]:
        """Every match in order; `overlapping` also gives those that begin inside an earlier one."""
        rest = iter(chunks)
        place = _Place(b"", 0, 0)
        if b"\r" not in self.bytes:
            # A text without a CR is searched for the bytes as they are, many times faster than for a pattern.
            met = yield from self._find_literal(rest, overlapping)
            if met is None:
                return
            place, first = met
            rest = chain([first], rest)
        yield from self._find_pattern(rest, place, overlapping)

    def _find_literal(
        self, chunks: Iterator[Chunk], overlapping: bool
    ) -> Generator[Match, None, tuple[_Place, Chunk] | None]:
        needle, length = self.bytes, len(self.bytes)
        step = 1 if overlapping else length
        carry, base, least = b"", 0, 0  # `base` is where the chunk begins, `least` where a match may begin
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

    def _find_pattern(self, chunks: Iterable[Chunk], place: _Place, overlapping: bool) -> Iterator[Match]:
        # The window keeps one byte before what is still to be searched (for the look-behind) and the longest match.
        pattern = re.compile(self._pattern())
        window, base = place.window, place.base
        at = max(0, place.least - base)
        for chunk, last in _with_last(chunks):
            window += bytes(chunk)
            final = len(window) if last else len(window) - self._longest - 1
            while at <= final:
                found = pattern.search(window, at)
                if found is None or found.start() > final:
                    break
                yield Match(base + found.start(), base + found.end())
                at = found.start() + 1 if overlapping else found.end()
            at = max(at, min(final + 1, len(window)))
            dropped = max(0, at - 1)
            window, base, at = window[dropped:], base + dropped, at - dropped

    def _pattern(self) -> bytes:
        parts = []
        for piece in re.split(rb"([\r\n])", self.bytes):
            if piece == b"\n":
                # A needle that begins with a newline takes the whole ending; elsewhere a lone CR may stand before it.
                parts.append(rb"(?:\r\n|(?<!\r)\n)")
            elif piece == b"\r":
                parts.append(rb"\r(?!\n)")
            else:
                parts.append(re.escape(piece))
        return b"".join(parts)


def _finds(data: Chunk, needle: bytes, step: int, start: int, before: int) -> Iterator[int]:
    """Positions below `before` at which the needle begins, from `start` on."""
    at = data.find(needle, start)
    while 0 <= at < before:
        yield at
        at = data.find(needle, at + step)


def _with_last(chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, bool]]:
    held: bytes | None = None
    for chunk in chunks:
        if held is not None:
            yield held, False
        held = bytes(chunk)
    yield held or b"", True


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
