"""Replaces parts of a text; inserted lines take the file's line endings."""

from __future__ import annotations

import codecs
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ...content.source import Chunk
from ...content.splices import Splice
from ...errors import EncodingRefused
from .needle import Match, Needle, coalesced
from .utf8_view import Utf8View

_NEAR_BYTES = 64 << 10
_READ_AHEAD = 16 << 20
_WHOLE_BYTES = 4 << 20
"""Largest file whose current text is also kept as a whole, so that each of thousands of edits is a single search."""
_MOST_WHOLE_BYTES = 16 << 20
_FEW = 8


class _Piece(NamedTuple):
    """A run of the original text (`start` to `end`), or, where `new` is given, of new text."""

    start: int
    end: int
    new: bytes | None

    @property
    def size(self) -> int:
        return self.end - self.start if self.new is None else len(self.new)


class EditedText:
    """A text and its replacements so far; unchanged parts are not copied."""

    def __init__(self, view: Utf8View) -> None:
        self.view = view
        self._pieces: list[_Piece] | None = None
        self._starts: list[int] = []
        self._whole: bytes | None = None
        self._kinds = (False, False)

    def chunks(self) -> Iterator[Chunk]:
        """The current text, in UTF-8."""
        if self._pieces is None:
            return self.view.chunks()
        if self._whole is not None:
            return iter([self._whole])
        return coalesced(self._runs())

    def has(self, line: str) -> bool:
        """Whether the current text contains a string."""
        return any(True for _ in Needle(line).find(self.chunks(), overlapping=False))

    def read(self, start: int, end: int) -> bytes:
        """Some bytes of the current text."""
        if self._pieces is None and self.view.encoding.is_utf8:
            return self.view.content.read(len(self.view.encoding.bom) + start, end - start)
        if self._whole is not None:
            return self._whole[start:end]
        got, at = [], 0
        for chunk in self.chunks():
            if at >= end:
                break
            if at + len(chunk) > start:
                got.append(bytes(chunk[max(0, start - at) : end - at]))
            at += len(chunk)
        return b"".join(got)

    def replace(self, matches: Sequence[Match], new: str) -> bool:
        """Replace each match by the new text, with the line endings of its neighbourhood.

        False if nothing changes, as the rest of a line ending or the byte order mark is beside each match already.
        """
        plain = new.replace("\r\n", "\n").encode("utf-8")
        texts = self._with_endings(matches, new, plain) if b"\n" in plain else [plain] * len(matches)
        if texts and (plain.endswith(b"\r") or plain.startswith(codecs.BOM_UTF8)):
            texts = self._without_halves(matches, texts)
            if all(self.read(*match) == text for match, text in zip(matches, texts, strict=True)):
                return False
        self._whole = self._whole_with(matches, texts)
        if self._pieces is None:
            self._pieces, self._starts = [_Piece(0, _FAR, None)], [0]
        if len(matches) <= _FEW:
            # From the last one on, so that the offsets of earlier matches stay valid.
            for match, text in zip(reversed(matches), reversed(texts), strict=True):
                self._replace_one(match, text)
            return True
        self._pieces = list(_spliced(self._pieces, matches, texts))
        self._starts = list(accumulate((piece.size for piece in self._pieces[:-1]), initial=0))
        return True

    def _replace_one(self, match: Match, text: bytes) -> None:
        """Replace only the pieces that overlap a match: thousands of edits make thousands of pieces."""
        assert self._pieces is not None
        first = max(0, bisect_right(self._starts, match.start) - 1)
        last = max(first, bisect_left(self._starts, match.end) - 1)
        base = self._starts[first]
        here = Match(match.start - base, match.end - base)
        pieces = list(_spliced(self._pieces[first : last + 1], [here], [text]))
        starts = list(accumulate((piece.size for piece in pieces), initial=base))[:-1]
        shift, beyond = len(text) - (match.end - match.start), self._starts[last + 1 :]
        self._pieces[first : last + 1] = pieces
        self._starts[first:] = [*starts, *((start + shift for start in beyond) if shift else beyond)]

    def _whole_with(self, matches: Sequence[Match], texts: Sequence[bytes]) -> bytes | None:
        whole = self._whole
        if whole is None and self._pieces is None and self.view.content.size <= _WHOLE_BYTES:
            whole = self.read(0, _FAR)
        if whole is None or len(whole) + sum(map(len, texts)) > _MOST_WHOLE_BYTES:
            return None
        parts, at = [], 0
        for match, new in zip(matches, texts, strict=True):
            parts += [whole[at : match.start], new]
            at = match.end
        return b"".join([*parts, whole[at:]])

    def splices(self) -> list[Splice]:
        """The splices from the file's bytes to the current text."""
        raw: list[tuple[int, int, bytes]] = []
        at = 0
        new: list[bytes] = []
        for piece in self._pieces or ():
            if piece.new is not None:
                new.append(piece.new)
                continue
            if piece.start > at or new:
                raw.append((at, piece.start, b"".join(new)))
            at, new = piece.end, []
        offsets = self.view.source_offsets([offset for start, end, _ in raw for offset in (start, end)])
        splices = []
        for (first, last, text), start, end in zip(raw, offsets[::2], offsets[1::2], strict=True):
            removed = self.view.content.read(start, end - start)
            self._require_whole(removed, start, last - first)
            inserted = text if self.view.encoding.is_utf8 else self.view.encoding.encode(text.decode("utf-8"))
            if removed != inserted:
                splices.append(Splice(start, removed, inserted))
        return splices

    def _require_whole(self, removed: bytes, start: int, length: int) -> None:
        # A few encodings write two characters as one code; a match that takes half of it cannot be cut out.
        if not self.view.encoding.is_utf8 and len(self.view.decoded(start, removed).encode("utf-8")) != length:
            raise EncodingRefused(
                f"the match at byte {start} cuts a {self.view.encoding.codec} code that stands for several characters",
                hint="Include the neighbouring characters in `old_string`.",
                offset=start,
            )

    def _runs(self) -> Iterator[Chunk]:
        assert self._pieces is not None
        at, walk = 0, iter(self._pieces)
        piece = next(walk, None)
        for chunk in self.view.chunks():
            done = 0
            while piece is not None and (piece.new is not None or piece.start < at + len(chunk)):
                if piece.new is not None:
                    yield piece.new
                else:
                    start, end = max(piece.start - at, done), min(piece.end - at, len(chunk))
                    if start < end:
                        yield chunk if (start, end) == (0, len(chunk)) else bytes(chunk[start:end])
                        done = end
                    if piece.end > at + len(chunk):
                        break
                piece = next(walk, None)
            at += len(chunk)
        while piece is not None:
            if piece.new is not None:
                yield piece.new
            piece = next(walk, None)

    def _with_endings(self, matches: Sequence[Match], new: str, plain: bytes) -> list[bytes]:
        # Inserted lines take the endings that the text has, so the kinds found once stay the same. Where earlier edits
        # have removed all endings, the original text tells them.
        if not any(self._kinds):
            self._kinds = _kinds_of_endings(self.chunks())
        if not any(self._kinds):
            self._kinds = _kinds_of_endings(self.view.chunks())
        crlf, lf = self._kinds
        if crlf and not lf:
            return [plain.replace(b"\n", b"\r\n")] * len(matches)
        if lf and not crlf:
            return [plain] * len(matches)
        if not lf:
            return [new.encode("utf-8")] * len(matches)
        return list(self._endings_nearby(matches, plain))

    def _without_halves(self, matches: Sequence[Match], texts: Sequence[bytes]) -> list[bytes]:
        """The texts without a final carriage return or first byte order mark that is beside the match already."""
        first, *others = texts
        if self.view.encoding.bom and matches[0].start == 0:
            first = first.removeprefix(codecs.BOM_UTF8)
        beyond = (self.read(match.end, match.end + 2) for match in matches)
        return [
            text.rstrip(b"\r") if behind.startswith((b"\n", b"\r\n")) else text
            for text, behind in zip([first, *others], beyond, strict=True)
        ]

    def _endings_nearby(self, matches: Sequence[Match], plain: bytes) -> Iterator[bytes]:
        # Mixed endings: each line takes the ending of the line it replaces, further ones that of the match's last line.
        lines = plain.split(b"\n")
        base, data, more = 0, b"", True
        for match in matches:
            if more and match.end + _NEAR_BYTES > base + len(data):
                base = max(0, match.start - _NEAR_BYTES)
                data = self.read(base, match.end + _READ_AHEAD)
                more = base + len(data) == match.end + _READ_AHEAD
            start, end = match.start - base, match.end - base
            endings = _endings_in(data[start:end])
            beyond = endings[-1] if endings else _ending_beside(data, start, end)
            padded = [*endings, *[beyond] * len(lines)]
            yield b"".join(line + ending for line, ending in zip(lines[:-1], padded, strict=False)) + lines[-1]


_FAR = 1 << 62


def _kinds_of_endings(chunks: Iterable[Chunk]) -> tuple[bool, bool]:
    """Whether a text has CRLFs, and whether it has LFs."""
    crlf = lf = False
    last = b""
    for chunk in chunks:
        newlines = chunk.count(b"\n")
        paired = chunk.count(b"\r\n") + (last == b"\r" and chunk[:1] == b"\n") if newlines else 0
        crlf, lf = crlf or paired > 0, lf or newlines > paired
        last = bytes(chunk[-1:])
        if crlf and lf:
            break
    return crlf, lf


def _ending_beside(data: bytes, start: int, end: int) -> bytes:
    near = data.find(b"\n", end, end + _NEAR_BYTES)
    if near < 0:
        near = data.rfind(b"\n", max(0, start - _NEAR_BYTES), start)
    return b"\r\n" if near > 0 and data[near - 1 : near] == b"\r" else b"\n"


def _endings_in(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [b"\r\n" if part.endswith(b"\r") else b"\n" for part in parts[:-1]]


def _spliced(pieces: Sequence[_Piece], matches: Sequence[Match], texts: Sequence[bytes]) -> Iterator[_Piece]:
    """The pieces with each match replaced; matches are rising and disjoint, in offsets of the pieces' text."""
    starts = [0, *accumulate(piece.size for piece in pieces)]
    position = 0
    for match, text in zip(matches, texts, strict=True):
        yield from _between(pieces, starts, position, match.start)
        if text:
            yield _Piece(0, 0, text)
        position = match.end
    yield from _between(pieces, starts, position, starts[-1])


def _between(pieces: Sequence[_Piece], starts: Sequence[int], start: int, end: int) -> Iterator[_Piece]:
    at = max(0, bisect_right(starts, start) - 1)
    while at < len(pieces) and starts[at] < end:
        low, high = max(0, start - starts[at]), min(pieces[at].size, end - starts[at])
        piece = pieces[at]
        if low < high:
            if piece.new is not None:
                yield _Piece(0, 0, piece.new[low:high])
            else:
                yield _Piece(piece.start + low, piece.start + high, None)
        at += 1
