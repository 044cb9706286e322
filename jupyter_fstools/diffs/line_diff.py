"""Compares two texts line by line, as hunks with context."""

from __future__ import annotations

import difflib
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from .file_diff import DiffHunk, DiffRow

CONTEXT_LINES = 3
"""Unchanged lines above and below a change, as `diff -u` has them."""
NO_NEWLINE = "\n\\ No newline at end of file"
"""Marker after a last line in unified diffs, so that a lost final newline is a visible change."""
MAX_ROWS = 4000
"""Rows kept in one file's diff; its counts are of all."""
MAX_ROW_CHARACTERS = 1000
_SMALL = 250_000
"""Most pairs of lines that difflib may compare: its worst case is the product of both sides."""
_MOST_WORK = 4_000_000
"""Most steps of difflib in one diff, by its worst case; after that only unique lines divide the texts."""
_MOST_DEPTH = 50

Block = tuple[int, int, int, int]
"""Lines `a:b` of the old text became lines `c:d` of the new one."""


def line_hunks(
    before: Sequence[str], after: Sequence[str], *, old_start: int = 1, new_start: int = 1
) -> list[DiffHunk]:
    """The hunks between two lists of lines.

    `old_start` and `new_start` are the numbers of their first lines. An empty side's start is the line before, as in
    a unified diff.
    """
    return list(hunks_of(changed_blocks(before, after), before, after, old_start=old_start, new_start=new_start))


def hunks_of(
    blocks: Sequence[Block],
    before: Sequence[str],
    after: Sequence[str],
    *,
    old_start: int = 1,
    new_start: int = 1,
    most_rows: int = sys.maxsize,
    cut_lines: bool = True,
) -> Iterator[DiffHunk]:
    """The hunks of changed blocks; beyond `most_rows` rows in all they are cut, and their counts stay whole.

    `cut_lines` False keeps lines of more than `MAX_ROW_CHARACTERS` whole.
    """
    for group in grouped(blocks, CONTEXT_LINES):
        hunk = _hunk(group, before, after, (old_start, new_start), most_rows, cut_lines=cut_lines)
        most_rows -= len(hunk.rows)
        yield hunk


def cuts_rows(hunk: DiffHunk) -> bool:
    """Whether a hunk with bounded rows has a changed row that is cut."""
    return any(row.kind != "context" and len(row.text) > MAX_ROW_CHARACTERS for row in hunk.rows)


def changed_blocks(before: Sequence[str], after: Sequence[str]) -> list[Block]:
    """The blocks where two texts differ, in order; common ends are cut off, unique common lines divide the rest."""
    return _merged(_Comparison(before, after).changed_in((0, len(before), 0, len(after)), 0))


class _Comparison:
    """Two lists of lines, and the number of steps left for comparing them."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        self._before = before
        self._after = after
        self._work = _MOST_WORK

    def changed_in(self, area: Block, depth: int) -> Iterator[Block]:
        """The changed blocks of an area."""
        before, after = self._before, self._after
        a, b, c, d = area
        while a < b and c < d and before[a] == after[c]:
            a, c = a + 1, c + 1
        while a < b and c < d and before[b - 1] == after[d - 1]:
            b, d = b - 1, d - 1
        if set(before[a:b]).isdisjoint(after[c:d]):
            if a < b or c < d:
                yield a, b, c, d
        elif self._affordable(a, b, c, d):
            matcher = difflib.SequenceMatcher(None, before[a:b], after[c:d], autojunk=False)
            for kind, one, two, three, four in matcher.get_opcodes():
                if kind != "equal":
                    yield a + one, a + two, c + three, c + four
        else:
            yield from self._divided((a, b, c, d), depth)

    def _divided(self, area: Block, depth: int) -> Iterator[Block]:
        a, b, c, d = area
        anchors = anchors_in(self._before[a:b], self._after[c:d]) if depth < _MOST_DEPTH else []
        if not anchors:
            yield area
            return
        old, new = a, c
        for one, other in [*anchors, (b - a, d - c)]:
            yield from self.changed_in((old, a + one, new, c + other), depth + 1)
            old, new = a + one + 1, c + other + 1

    def _affordable(self, a: int, b: int, c: int, d: int) -> bool:
        if (b - a) * (d - c) > _SMALL:
            return False
        there = Counter(self._after[c:d])
        work = sum(there[line] for line in self._before[a:b]) * min(b - a, d - c)
        if work > self._work:
            return False
        self._work -= work
        return True


def anchors_in(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that occur once on both sides, in the longest order both share (patience diff)."""
    once = {line for line, count in Counter(before).items() if count == 1}
    once &= {line for line, count in Counter(after).items() if count == 1}
    place = {line: at for at, line in enumerate(after) if line in once}
    pairs = [(at, place[line]) for at, line in enumerate(before) if line in once]
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for number, (_, new) in enumerate(pairs):
        at = bisect_left(tails, new)
        tails[at : at + 1] = [new]
        ends[at : at + 1] = [number]
        previous.append(ends[at - 1] if at else -1)
    chain, number = [], ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = previous[number]
    return chain[::-1]


def _merged(blocks: Iterator[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        if merged and merged[-1][1] == block[0] and merged[-1][3] == block[2]:
            merged[-1] = (merged[-1][0], block[1], merged[-1][2], block[3])
        else:
            merged.append(block)
    return merged


def grouped(blocks: Sequence[Block], context: int) -> Iterator[list[Block]]:
    """The blocks in groups; blocks with only their `context` between them are in one group."""
    group: list[Block] = []
    for block in blocks:
        if group and block[0] - group[-1][1] > 2 * context:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _hunk(
    group: Sequence[Block],
    before: Sequence[str],
    after: Sequence[str],
    starts: tuple[int, int],
    most_rows: int,
    *,
    cut_lines: bool,
) -> DiffHunk:
    old, new = starts
    start, first_shift = max(0, group[0][0] - CONTEXT_LINES), group[0][2] - group[0][0]
    end, shift = min(len(before), group[-1][1] + CONTEXT_LINES), group[-1][3] - group[-1][1]
    old_count, new_count = end - start, end + shift - start - first_shift
    return DiffHunk(
        old_start=old + start - (old_count == 0),
        old_count=old_count,
        new_start=new + start + first_shift - (new_count == 0),
        new_count=new_count,
        rows=_rows(group, before, after, (old, new), (start, end), most_rows, cut_lines=cut_lines),
    )


def _rows(
    group: Sequence[Block],
    before: Sequence[str],
    after: Sequence[str],
    starts: tuple[int, int],
    span: tuple[int, int],
    most_rows: int,
    *,
    cut_lines: bool,
) -> list[DiffRow]:
    longest = MAX_ROW_CHARACTERS if cut_lines else sys.maxsize
    old, new = starts
    at, end = span
    shift = group[0][2] - group[0][0]
    rows: list[DiffRow] = []
    for a, b, c, d in [*group, (end, end, 0, 0)]:
        rows += [_row("context", old + i, new + i + shift, before[i], longest) for i in range(at, a)[:most_rows]]
        rows += [_row("remove", old + i, 0, before[i], longest) for i in range(a, b)[:most_rows]]
        rows += [_row("add", 0, new + i, after[i], longest) for i in range(c, d)[:most_rows]]
        if len(rows) >= most_rows:
            break
        at, shift = b, d - b
    return rows[:most_rows]


def _row(kind: Literal["context", "add", "remove"], old: int, new: int, line: str, most_characters: int) -> DiffRow:
    text = line.removesuffix("\r")
    if len(text) > most_characters:
        text = f"{text[:most_characters]} [... {len(text) - most_characters} more characters]"
    return DiffRow(kind=kind, old=old, new=new, text=text, crlf=line.endswith("\r"))
