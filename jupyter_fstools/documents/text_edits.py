"""Exact edits of a text: old strings in, splices out, all or nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from ..content import Chunk
from ..errors import Ambiguous, Invalid, NoMatch, NoOp, TooLarge
from ..splices import Splice
from .match_hints import hint_for_no_match
from .needle import Match, Needle, coalesced
from .placeholders import placeholder_line
from .text_encoding import Utf8View

MOST_REPLACEMENTS = 250_000
"""Replacements in one call: their places are kept in memory."""
_COUNTED = 10_000
_NEAR_BYTES = 64 << 10


class TextEdit(NamedTuple):
    """Replace `old`, which must be there exactly once (or, with `replace_all`, at least once), by `new`."""

    old: str
    new: str
    replace_all: bool = False


class EditOutcome(NamedTuple):
    """What a list of edits comes to.

    Attributes:
        splices: in bytes of the file; empty where the edits cancel each other.
        replacements: how many places each edit replaced.
    """

    splices: list[Splice]
    replacements: list[int]


def apply_edits(view: Utf8View, edits: Sequence[TextEdit]) -> EditOutcome:
    """Apply edits in order, each seeing the text that the one before left.

    Raises:
        Invalid: an empty old string, no edits, an omission placeholder; NoOp: old and new are the same text.
        NoMatch, Ambiguous: naming the edit, line numbers, and the nearest text as a hint.
        TooLarge: more replacements than one call may make.
        EncodingRefused, Binary: the file is not text in its encoding, or the new text does not fit into it.
    """
    if not edits:
        raise Invalid("edits: an empty list changes nothing", hint="Give at least one edit.", field="edits")
    text = EditedText(view)
    replacements = []
    for number, edit in enumerate(edits, 1):
        label = f"edit {number} of {len(edits)}: " if len(edits) > 1 else ""
        _check(edit, label, text)
        old, new, at_start = _without_bom(view, edit)
        matches = _matches(text, old, edit, label, edits[: number - 1], at_start=at_start)
        text.replace(matches, new)
        replacements.append(len(matches))
    return EditOutcome(text.splices(), replacements)


def _check(edit: TextEdit, label: str, text: EditedText) -> None:
    if not edit.old:
        raise Invalid(
            f"{label}old_string is empty",
            hint="Quote the text to replace; to write a whole file, use write_file.",
            field="old_string",
        )
    if edit.old == edit.new:
        raise NoOp(f"{label}old_string and new_string are the same", hint="Change new_string, or leave the edit out.")
    if edit.old.replace("\r\n", "\n") == edit.new.replace("\r\n", "\n"):
        raise NoOp(
            f"{label}old_string and new_string differ only in line endings",
            hint="The file's own line endings always win; there is nothing to change.",
        )
    text.view.encoding.encode(edit.new)
    line = placeholder_line(edit.new, lambda line: line in edit.old)
    if line is not None and not any(True for _ in Needle(line).find(text.chunks(), overlapping=False)):
        raise Invalid(
            f"{label}new_string holds a placeholder instead of text: {line.strip()[:100]!r}",
            hint="Write out the lines, or edit only the part that changes.",
            field="new_string",
        )


def _without_bom(view: Utf8View, edit: TextEdit) -> tuple[Needle, str, bool]:
    # The BOM is not part of the text shown; who copied it means the beginning of the file.
    if view.encoding.bom and edit.old.startswith("\ufeff") and len(edit.old) > 1:
        return Needle(edit.old[1:]), edit.new.removeprefix("\ufeff"), True
    return Needle(edit.old), edit.new, False


def _matches(
    text: EditedText, old: Needle, edit: TextEdit, label: str, earlier: Sequence[TextEdit], *, at_start: bool
) -> list[Match]:
    if edit.replace_all:
        found = list(islice(old.find(text.chunks(), overlapping=False), MOST_REPLACEMENTS + 1))
        if len(found) > MOST_REPLACEMENTS:
            raise TooLarge(
                f"{label}old_string is there more than {MOST_REPLACEMENTS} times",
                hint="Replace a longer string, or use a program made for the whole file.",
                limit=MOST_REPLACEMENTS,
            )
    else:
        found = list(islice(old.find(text.chunks(), overlapping=True), _COUNTED))
    if at_start:
        found = [match for match in found if match.start == 0]
    if not found:
        hint = hint_for_no_match(text.chunks, edit.old, edit.new, [(e.old, e.new) for e in earlier])
        raise NoMatch(f"{label}old_string is not in the file", hint=hint.text, **hint.details)
    if len(found) > 1 and not edit.replace_all:
        raise _ambiguous(text, found, label)
    return found


def _ambiguous(text: EditedText, found: Sequence[Match], label: str) -> Ambiguous:
    lines = text.lines_at([match.start for match in found[:5]])
    count = f"at least {len(found)}" if len(found) == _COUNTED else str(len(found))
    more = f" + {len(found) - 5} more" if len(found) > 5 else ""
    places = ", ".join(map(str, lines))
    return Ambiguous(
        f"{label}old_string is there {count} times, at line{'' if len(set(lines)) == 1 else 's'} {places}{more}",
        hint="Quote more of the text around the one you mean, or set replace_all to true.",
        count=len(found),
        lines=lines,
    )


class _Piece(NamedTuple):
    """A run of the original text (`start` to `end`), or, where `new` is given, of new text."""

    start: int
    end: int
    new: bytes | None

    @property
    def size(self) -> int:
        return self.end - self.start if self.new is None else len(self.new)


class EditedText:
    """A text and what was replaced in it so far; nothing is copied that did not change."""

    def __init__(self, view: Utf8View) -> None:
        self.view = view
        self._pieces: list[_Piece] | None = None

    def chunks(self) -> Iterator[Chunk]:
        """The text as it is now, in UTF-8."""
        if self._pieces is None:
            return self.view.chunks()
        return coalesced(self._runs())

    def read(self, start: int, end: int) -> bytes:
        """Some bytes of the text as it is now."""
        got, at = [], 0
        for chunk in self.chunks():
            if at >= end:
                break
            if at + len(chunk) > start:
                got.append(bytes(chunk[max(0, start - at) : end - at]))
            at += len(chunk)
        return b"".join(got)

    def lines_at(self, offsets: Sequence[int]) -> list[int]:
        """The line numbers of rising offsets."""
        lines: list[int] = []
        at, line = 0, 1
        for chunk in self.chunks():
            done = 0
            while len(lines) < len(offsets) and offsets[len(lines)] < at + len(chunk):
                here = offsets[len(lines)] - at
                line += chunk.count(b"\n", done, here)
                done = here
                lines.append(line)
            if len(lines) == len(offsets):
                break
            line += chunk.count(b"\n", done)
            at += len(chunk)
        return lines

    def replace(self, matches: Sequence[Match], new: str) -> None:
        """Put the new text in the place of each match, with the line endings of its neighbourhood."""
        plain = new.replace("\r\n", "\n").encode("utf-8")
        texts = self._with_endings(matches, new, plain) if b"\n" in plain else [plain] * len(matches)
        pieces = self._pieces if self._pieces is not None else [_Piece(0, _FAR, None)]
        self._pieces = list(_spliced(pieces, matches, texts))

    def splices(self) -> list[Splice]:
        """What leads from the file's bytes to the text as it is now."""
        raw, at, new = [], 0, b""
        for piece in self._pieces or ():
            if piece.new is not None:
                new += piece.new
                continue
            if piece.start > at or new:
                raw.append((at, piece.start, new))
            at, new = piece.end, b""
        offsets = self.view.source_offsets([offset for start, end, _ in raw for offset in (start, end)])
        splices = []
        for (_, _, text), start, end in zip(raw, offsets[::2], offsets[1::2], strict=True):
            removed = self.view.content.read(start, end - start)
            inserted = text if self.view.encoding.is_utf8 else self.view.encoding.encode(text.decode("utf-8"))
            if removed != inserted:
                splices.append(Splice(start, removed, inserted))
        return splices

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
        crlf, lf = self._endings()
        if crlf and not lf:
            return [plain.replace(b"\n", b"\r\n")] * len(matches)
        if lf and not crlf:
            return [plain] * len(matches)
        if not lf:
            return [new.encode("utf-8")] * len(matches)
        return self._endings_nearby(matches, plain)

    def _endings(self) -> tuple[bool, bool]:
        crlf = lf = False
        last = b""
        for chunk in self.chunks():
            newlines = chunk.count(b"\n")
            paired = chunk.count(b"\r\n") + (last == b"\r" and chunk[:1] == b"\n") if newlines else 0
            crlf, lf = crlf or paired > 0, lf or newlines > paired
            last = bytes(chunk[-1:])
            if crlf and lf:
                break
        return crlf, lf

    def _endings_nearby(self, matches: Sequence[Match], plain: bytes) -> list[bytes]:
        # Mixed endings: line by line those that are replaced, then that of the line the match ends in.
        texts = []
        lines = plain.split(b"\n")
        data = self.read(max(0, matches[0].start - _NEAR_BYTES), matches[-1].end + _NEAR_BYTES)
        base = max(0, matches[0].start - _NEAR_BYTES)
        for match in matches:
            start, end = match.start - base, match.end - base
            endings = _endings_in(data[start:end])
            after = data.find(b"\n", end)
            before = data.rfind(b"\n", 0, start)
            if endings:
                beyond = endings[-1]
            else:
                near = after if after >= 0 else before
                beyond = b"\r\n" if data[near - 1 : near] == b"\r" else b"\n"
            padded = [*endings, *[beyond] * len(lines)]
            texts.append(b"".join(line + ending for line, ending in zip(lines[:-1], padded, strict=False)) + lines[-1])
        return texts


_FAR = 1 << 62


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
