"""Detects a notebook's JSON layout and keeps it in splices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...content.source import Content
from ...content.splices import Splice
from .spans import ObjectSpans

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
        comma: what stands between two items on one line.
        colon: what stands between key and value.
    """

    newline: bytes
    unit: bytes
    comma: bytes
    colon: bytes

    def gaps(self, depth: int) -> Gaps:
        """Of a container `depth` levels below the top-level object."""
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
    """Each member, from its key to the end of its value."""
    return [(member.key_start, member.end) for member in spans.members()]


def gaps_of(content: Content, container: Place, items: Sequence[Place], comma: bytes = b", ") -> Gaps | None:
    """The white space a container has now; None if it is empty.

    `comma` is what stands between two items on one line, for a container that has only one.
    """
    if not items:
        return None
    lead = _between(content, container[0] + 1, items[0][0])
    tail = _between(content, items[-1][1], container[1] - 1)
    if len(items) > 1:
        return Gaps(lead, _between(content, items[0][1], items[1][0]), tail)
    return Gaps(lead, b"," + lead if _NEW_LINE.search(lead) else comma, tail)


def rearranged(
    content: Content, container: Place, items: Sequence[Place], new: Sequence[int | bytes], gaps: Gaps
) -> Iterator[Splice]:
    """Splices that give a container other items and leave the kept ones where they are.

    Args:
        content: where the container lies.
        container: from its opening bracket to after its closing one.
        items: what it holds now.
        new: what it shall hold: numbers, in rising order, of items that stay; bytes of new items.
        gaps: what to put around new items.
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
    """What becomes of the items between two kept ones: start, end, and the bytes that replace them."""
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
