"""Computes which lines of a file a reader was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..documents.text.window import CutLine
from .shown_text import LineChange


class Shown(NamedTuple):
    """The lines that a read showed.

    Attributes:
        first: the first line, 1-based.
        last: the last line; `first - 1` if there is none.
        text: the lines as they stand in the file.
        total_lines: of the file; None where nobody has counted that far.
        column: the first character shown of the first line, 1-based.
        cuts: the lines of which the end was not shown.
    """

    first: int
    last: int
    text: str
    total_lines: int | None
    column: int = 1
    cuts: Sequence[CutLine] = ()


def is_whole(lines: Sequence[tuple[int, int]], total: int | None) -> bool:
    """The ranges are all of a file with so many lines."""
    return total == 0 or list(lines) == [(1, total)]


def whole_lines(shown: Shown, partly: dict[int, int]) -> list[tuple[int, int]]:
    """The line ranges of which every character was shown, now or (`partly`: up to which character) piece by piece."""
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
    """One of the ranges holds all lines from the first to the last."""
    return any(start <= first and last <= end for start, end in lines)


def united(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges sorted, and those that overlap or meet joined."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def moved(lines: Sequence[tuple[int, int]], changes: Sequence[LineChange]) -> list[tuple[int, int]]:
    """Line ranges after a change: what was removed is gone, what was written is shown, the rest moves."""
    ranges = list(lines)
    for change in reversed(changes):
        shift = len(change.added) - change.removed
        after: list[tuple[int, int]] = []
        for first, last in ranges:
            if first < change.first:
                after.append((first, min(last, change.first - 1)))
            if last >= change.first + change.removed:
                after.append((max(first, change.first + change.removed) + shift, last + shift))
        if change.added:
            after.append((change.first, change.first + len(change.added) - 1))
        ranges = after
    return united(ranges)


def spelled(lines: Sequence[tuple[int, int]]) -> str:
    """The first ranges, in words."""
    return ", ".join(f"{first}-{last}" for first, last in lines[:5]) + (", ..." if len(lines) > 5 else "") or "none"
