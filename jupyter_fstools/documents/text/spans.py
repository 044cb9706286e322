r"""Expresses a change of a text as spans with expected text.

Offsets are UTF-16 code units in the text with `\n` as its only line ending: what a browser's document holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ...content.source import Content
from ...content.splices import Splice

_CONTEXT = 64
_MOST_LINES = 2000
"""Of more lines that differ, one span is made of all of them."""


class Span(NamedTuple):
    """`removed` at `offset` of the old text becomes `inserted`; sorted, disjoint, offsets in the old text.

    It is expected between `before` and `after`, where somebody has moved it meanwhile.
    """

    offset: int
    removed: str
    inserted: str
    before: str
    after: str


def utf16_length(text: str) -> int:
    """The length of a text as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def spans_between(old: str, new: str, start: int = 0) -> list[Span]:
    """The spans that turn one text into another, found line by line; `start` is the old text's own offset."""
    olds, news = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = _shared(olds, news)
    tail = _shared(olds[head:][::-1], news[head:][::-1])
    middle, instead = olds[head : len(olds) - tail], news[head : len(news) - tail]
    at = len("".join(olds[:head]))
    steps: Sequence[tuple[str, int, int, int, int]] = [("replace", 0, len(middle), 0, len(instead))]
    if max(len(middle), len(instead)) <= _MOST_LINES:
        steps = SequenceMatcher(None, middle, instead, autojunk=False).get_opcodes()
    found = []
    for _, first, last, new_first, new_last in steps:
        removed = "".join(middle[first:last])
        found += _trimmed(old, at, removed, "".join(instead[new_first:new_last]), start)
        at += len(removed)
    return found


def spans_of(before: Content, splices: Sequence[Splice]) -> list[Span]:
    """The spans of a UTF-8 file's splices.

    Raises:
        UnicodeDecodeError: it is none.
    """
    data = before.read(0, before.size)
    found: list[Span] = []
    done = offset = 0
    for start, end, inside in _regions(data, splices):
        offset += utf16_length(_text(data[done:start]))
        pieces, at = [], start
        for splice in inside:
            pieces += [data[at : splice.offset], splice.inserted]
            at = splice.end
        old = _text(data[start:end])
        found += spans_between(old, _text(b"".join([*pieces, data[at:end]])), offset)
        offset += utf16_length(old)
        done = end
    return found


def _regions(data: bytes, splices: Sequence[Splice]) -> list[tuple[int, int, list[Splice]]]:
    """Runs of whole lines around the splices, so that no character and no line ending is cut."""
    regions: list[tuple[int, int, list[Splice]]] = []
    for splice in splices:
        start = data.rfind(b"\n", 0, splice.offset) + 1
        # An end that touches a line ending may change what that is: one line more on that side.
        end = data.find(b"\n", splice.end) + 1 or len(data)
        if splice.offset == start and start:
            start = data.rfind(b"\n", 0, start - 1) + 1
        if regions and start <= regions[-1][1]:
            first, last, inside = regions[-1]
            regions[-1] = (first, max(last, end), [*inside, splice])
        else:
            regions.append((start, end, [splice]))
    return regions


def _text(data: bytes) -> str:
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    most = min(len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)


def _trimmed(text: str, at: int, old: str, new: str, start: int) -> list[Span]:
    """The span of what differs between `old`, which stands at `at` of a text, and `new`."""
    if old == new:
        return []
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    removed, inserted = old[head : len(old) - tail], new[head : len(new) - tail]
    at += head
    before, after = text[max(0, at - _CONTEXT) : at], text[at + len(removed) :][:_CONTEXT]
    return [Span(start + utf16_length(text[:at]), removed, inserted, before, after)]
