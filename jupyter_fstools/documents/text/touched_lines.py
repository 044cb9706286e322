"""Tells which lines a change touches, and what stays of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ...content.source import BytesContent, Content
from ...content.splices import Splice, trimmed
from .diff import line_numbers
from .encoding import UTF_8, TextEncoding

_BLOCK_BYTES = 4 << 10
_NEAR_BYTES = 64 << 10
"""Largest distance of two splices, in bytes, across which lines are counted by reading the text in between."""


class TouchedLines(NamedTuple):
    """The lines that one splice touches.

    Attributes:
        first: the number of the first one before the change, 1-based.
        removed: how many line endings are removed.
        added: how many line endings are added.
        head: the first line keeps text before the splice.
        tail: the last line keeps text after it.
        gone: nothing is left of the last line, where the text ends.
        own: all inserted text is new; else it may be old text of any touched line.
    """

    first: int
    removed: int
    added: int
    head: bool
    tail: bool
    gone: bool = False
    own: bool = True


def touched_lines(
    before: Content, splices: Sequence[Splice], encoding: TextEncoding, line_at: Callable[[int], int]
) -> list[TouchedLines]:
    """The lines that each splice touches, in order; two may touch the same one.

    Args:
        before: the content that the offsets of the splices count in.
        splices: sorted and disjoint.
        encoding: how its text is written.
        line_at: the 1-based line number of a byte offset, where a newline is the byte 0x0A.
    """
    number, newline, end, line = line_numbers(before, encoding, line_at), encoding.newline, None, 1
    line_ends = (newline, "\r".encode(encoding.codec) + newline)
    near = _read_near(before)
    touched = []
    aligned = splices if encoding.unit == 1 else [_in_units(before, splice, encoding.unit) for splice in splices]
    for splice in _joined(aligned):
        if end is None or splice.offset - end > _NEAR_BYTES:
            line = number(splice.offset)
        else:
            line += encoding.newlines_in(near(end, splice.offset - end))
        at_start = splice.offset <= len(encoding.bom)
        head = not at_start and near(splice.offset - len(newline), len(newline)) != newline
        behind = near(splice.end, len(line_ends[1]))
        removed, added = encoding.newlines_in(splice.removed), encoding.newlines_in(splice.inserted)
        nothing_last = splice.inserted.endswith(newline) if splice.inserted else not head
        gone = not behind and nothing_last
        touched.append(
            TouchedLines(line, removed, added, head, bool(behind) and not behind.startswith(line_ends), gone)
        )
        end, line = splice.end, line + removed
    return touched


def touched_between(old: str, new: str) -> list[TouchedLines]:
    """The lines from the first to the last one that differ between two texts."""
    before, after = (BytesContent(text.encode("utf-8", "surrogatepass")) for text in (old, new))
    found = touched_source_lines(before, trimmed(before.data, after.data))
    return [one._replace(own=False) for one in found]


def touched_source_lines(before: BytesContent, splices: Sequence[Splice]) -> list[TouchedLines]:
    """The lines that each splice touches in a text in UTF-8 that is in memory."""
    return touched_lines(before, splices, UTF_8, lambda offset: before.data.count(b"\n", 0, offset) + 1)


def line_before(line: int, touched: Iterable[TouchedLines]) -> int:
    """The number of a line before a change touched these lines; for a written line that of one in its place."""
    shift = 0
    for one in touched:
        if line < one.first + shift:
            break
        if line <= one.first + shift + one.added:
            return min(line - shift, one.first + one.removed)
        shift += one.added - one.removed
    return line - shift


def _read_near(before: Content) -> Callable[[int, int], bytes]:
    """A function that reads nearby pieces, a block at a time, as there may be many thousands."""
    start, block = 0, b""

    def near(offset: int, length: int) -> bytes:
        nonlocal start, block
        if offset < start or offset + length > start + len(block):
            start, block = offset, before.read(offset, max(length, _BLOCK_BYTES))
        return block[offset - start : offset - start + length]

    return near


def _joined(splices: Iterable[Splice]) -> list[Splice]:
    """The splices with adjacent ones joined: text that the first removes is no head of the second's first line."""
    joined: list[Splice] = []
    for splice in splices:
        if joined and joined[-1].end == splice.offset:
            last = joined.pop()
            joined.append(Splice(last.offset, last.removed + splice.removed, last.inserted + splice.inserted))
        else:
            joined.append(splice)
    return joined


def _in_units(before: Content, splice: Splice, unit: int) -> Splice:
    """The same change as a splice that does not cut a code unit."""
    left, right = splice.offset % unit, -splice.end % unit
    if not (left or right):
        return splice
    kept, behind = before.read(splice.offset - left, left), before.read(splice.end, right)
    return Splice(splice.offset - left, kept + splice.removed + behind, kept + splice.inserted + behind)
