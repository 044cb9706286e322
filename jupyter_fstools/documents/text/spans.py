r"""Expresses a text's change as spans of a browser's document.

A span's offset counts UTF-16 code units, in a browser's document with `\n` as the only line ending.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

from ...content.source import Content, all_of
from ...content.splices import Splice, spliced

_CONTEXT = 64
_MOST_LINES = 2000
"""Most differing lines that are compared one by one; more of them become a single span."""


class Span(NamedTuple):
    """`removed` at `offset` of the old text becomes `inserted`; sorted, disjoint, offsets in the old text.

    If somebody has moved it meanwhile, it is found between `before` and `after`.
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
    """The spans that turn one text into another, found line by line; `start` is the offset of the old text."""
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


def spans_of(before: Content, splices: Sequence[Splice], *, as_in_browser: bool = True) -> list[Span]:
    r"""The spans of a UTF-8 file's splices.

    Args:
        before: the file.
        splices: of its bytes.
        as_in_browser: lines end in `\n`, as JupyterLab loads them; False: as they do in the file.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    data = all_of(before)
    text = partial(_text, ending="\r\n" if b"\r\n" in data else "\r") if as_in_browser else bytes.decode
    found: list[Span] = []
    done = offset = 0
    for start, end, inside in _regions(data, splices):
        offset += utf16_length(text(data[done:start]))
        region = data[start:end]
        old = text(region)
        found += spans_between(old, text(spliced(region, inside, start)), offset)
        offset += utf16_length(old)
        done = end
    return found


def splices_of(spans: Sequence[Span], text: str) -> list[Splice]:
    """Spans of a text as splices of its UTF-8 bytes."""
    found, at, units, offset = [], 0, 0, 0
    for span in spans:
        between = _first_units(text[at:], span.offset - units)
        offset += len(between.encode())
        found.append(Splice(offset, span.removed.encode(), span.inserted.encode()))
        at += len(between)
        units = span.offset
    return found


def _first_units(text: str, units: int) -> str:
    """The first `units` UTF-16 code units of a text."""
    found = text[:units]
    if utf16_length(found) > units:
        found = text.encode("utf-16-le")[: 2 * units].decode("utf-16-le")
    return found


def _regions(data: bytes, splices: Sequence[Splice]) -> list[tuple[int, int, list[Splice]]]:
    """Runs of whole lines around the splices, so that no character and no line ending is cut."""
    regions: list[tuple[int, int, list[Splice]]] = []
    for splice in splices:
        start = data.rfind(b"\n", 0, splice.offset) + 1
        # A splice beside a line ending may change which ending it is, so one more line is included on that side.
        end = data.find(b"\n", splice.end) + 1 or len(data)
        if splice.offset == start and start:
            start = data.rfind(b"\n", 0, start - 1) + 1
        if regions and start <= regions[-1][1]:
            first, last, inside = regions[-1]
            regions[-1] = (first, max(last, end), [*inside, splice])
        else:
            regions.append((start, end, [splice]))
    return regions


def _text(data: bytes, ending: str) -> str:
    r"""A part of a text as JupyterLab loads it, which leaves a lone `\r` in a text with `\r\n`."""
    return data.decode("utf-8").replace(ending, "\n")


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    most = min(len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)


def _trimmed(text: str, at: int, old: str, new: str, start: int) -> list[Span]:
    """The span of the difference between `new` and `old`, which is at `at` of a text."""
    if old == new:
        return []
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    removed, inserted = old[head : len(old) - tail], new[head : len(new) - tail]
    at += head
    before, after = text[max(0, at - _CONTEXT) : at], text[at + len(removed) :][:_CONTEXT]
    return [Span(start + utf16_length(text[:at]), removed, inserted, before, after)]
