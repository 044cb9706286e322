"""Computes which lines of a file a reader was shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from ..documents.text.shown_lines import Shown
from ..documents.text.touched_lines import TouchedLines

_MOST_RANGES = 4000
"""Most line ranges in a receipt, as many small edits would make it megabytes; later lines count as not shown."""
_MOST_PARTLY = 64

Ranges = list[tuple[int, int]]
"""The first and the last line of each run of lines, in order."""


class SeenLines(NamedTuple):
    """The lines of a text, or of a cell's source, that a reader has seen.

    Attributes:
        lines: those shown whole.
        partly: of a line shown piece by piece, up to which character.
        since_diff: the lines shown since a diff showed how the text changed, which does not permit overwriting it; None
            without a diff.
    """

    lines: Ranges
    partly: dict[int, int]
    since_diff: Ranges | None = None

    @property
    def for_overwrite(self) -> Ranges:
        """Those that count where the whole text is replaced."""
        return self.lines if self.since_diff is None else self.since_diff

    def are_all(self, total: int | None) -> bool:
        """Whether all of the text's lines, `total` or unknown, count where it is replaced."""
        return is_whole(self.for_overwrite, total)

    def with_shown(self, shown: Shown) -> SeenLines:
        """With more lines of the same text."""
        partly = dict(self.partly)
        whole = whole_lines(shown, partly)
        since = None if self.since_diff is None else united([*self.since_diff, *whole])
        return SeenLines(united([*self.lines, *whole]), dict(list(partly.items())[-_MOST_PARTLY:]), since)

    def after(self, touched: Sequence[TouchedLines]) -> SeenLines:
        """The same after the reader's own change, of which the written lines are seen too."""
        since = None if self.since_diff is None else moved(self.since_diff, touched)
        return SeenLines(moved(self.lines, touched), moved_pieces(self.partly, touched), since)


UNSEEN = SeenLines([], {})


def is_whole(lines: Sequence[tuple[int, int]], total: int | None) -> bool:
    """Whether the ranges are all of a file with so many lines."""
    return total == 0 or list(lines) == [(1, total)]


def whole_lines(shown: Shown, partly: dict[int, int]) -> list[tuple[int, int]]:
    """The line ranges shown in full, now or piece by piece; `partly` has up to which character a line was shown."""
    cut = {one.line: one.column + one.shown - 1 for one in shown.cuts if one.column <= partly.get(one.line, 0) + 1}
    partial = {one.line for one in shown.cuts}
    if shown.column > 1 and shown.last >= shown.first and shown.first not in partial:
        if shown.column > partly.get(shown.first, 0) + 1:
            partial.add(shown.first)
        else:
            partly.pop(shown.first)
    for line, upto in cut.items():
        partly[line] = max(upto, partly.pop(line, 0))
    ranges, first = [], shown.first
    for line in [*sorted(partial), shown.last + 1]:
        if first <= line - 1:
            ranges.append((first, line - 1))
        first = line + 1
    return ranges


def covers(lines: Sequence[tuple[int, int]], first: int, last: int) -> bool:
    """Whether one of the ranges holds all lines from the first to the last."""
    return any(start <= first and last <= end for start, end in lines)


def united(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges sorted, with overlapping or adjacent ones joined."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def moved(lines: Sequence[tuple[int, int]], touched: Sequence[TouchedLines]) -> list[tuple[int, int]]:
    """Line ranges after a change: a written line counts as shown if all old lines that it has text of were shown."""
    ends = [last for _, last in lines] + [one.first + one.removed for one in touched]
    was = bytearray(max(ends, default=0) + 1)
    for first, last in lines:
        was[first : last + 1] = b"\1" * (last + 1 - first)
    now, at = was[:1], 1
    for one in touched:
        last = one.first + one.removed
        now += was[at : one.first]
        # Where two splices touch one line, the second one replaces the flag that the first one left.
        begun = now.pop() if one.first < at else was[one.first] or not one.head
        ended = was[last] or not one.tail
        if not one.own:
            now += bytes([begun and all(was[one.first : last + 1])]) * (one.added + 1)
        else:
            now += bytes([begun, *b"\1" * (one.added - 1), ended] if one.added else [begun and ended])
        at = last + 1
    if touched and touched[-1].gone:
        now.pop()
    now += was[at:]
    return [(found.start(), found.end() - 1) for found in islice(re.finditer(b"\1+", now), _MOST_RANGES)]


def moved_pieces(partly: dict[int, int], touched: Sequence[TouchedLines]) -> dict[int, int]:
    """Lines shown piece by piece, after a change; a line that it touched must be shown again from its beginning."""
    after = {}
    for line, upto in partly.items():
        before = [one for one in touched if one.first + one.removed < line]
        untouched = len(before) == len(touched) or touched[len(before)].first > line
        after[line + sum(one.added - one.removed for one in before)] = upto if untouched else 0
    return after


def ranges_in(spelled: str) -> list[tuple[int, int]]:
    """The ranges that `ranges_as_text` spelled."""
    pairs = [one.split("-") for one in spelled.split(",") if one]
    return [(int(first), int(last)) for first, last in pairs]


def ranges_as_text(ranges: Iterable[tuple[int, int]]) -> str:
    """Ranges (or lines, each with a number) as a receipt keeps them."""
    return ",".join(f"{first}-{last}" for first, last in ranges)


def spelled(lines: Sequence[tuple[int, int]]) -> str:
    """The first ranges, in words."""
    return ", ".join(f"{first}-{last}" for first, last in lines[:5]) + (", ..." if len(lines) > 5 else "")
