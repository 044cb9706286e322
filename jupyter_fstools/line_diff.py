"""Which lines differ between two texts, as hunks with context."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from .file_diff import DiffHunk, DiffRow

CONTEXT_LINES = 3
"""Unchanged lines above and below a change, as `diff -u` has them."""
MAX_ROW_CHARACTERS = 1000
_SMALL = 250_000
"""Pairs of lines that difflib may compare: its worst case is their product."""

Block = tuple[int, int, int, int]
"""Lines `a:b` of the old text became lines `c:d` of the new one."""


def line_hunks(
    before: Sequence[str], after: Sequence[str], *, old_start: int = 1, new_start: int = 1
) -> list[DiffHunk]:
    """The hunks between two lists of lines.

    `old_start` and `new_start` are the numbers of their first lines. An empty side's start is the line before, as in
    a unified diff.
    """
    return [_hunk(group, before, after, old_start, new_start) for group in _groups(changed_blocks(before, after))]


def changed_blocks(before: Sequence[str], after: Sequence[str]) -> list[Block]:
    """Where the two differ, in order; equal ends are cut off first, unique common lines divide the rest."""
    return _merged(_changed_in(before, after, (0, len(before), 0, len(after))))


def _between(before: Sequence[str], after: Sequence[str], area: Block) -> Iterator[Block]:
    a, b, c, d = area
    if a == b and c == d:
        return
    if a == b or c == d:
        yield area
    elif (b - a) * (d - c) <= _SMALL:
        matcher = difflib.SequenceMatcher(None, before[a:b], after[c:d], autojunk=False)
        for kind, one, two, three, four in matcher.get_opcodes():
            if kind != "equal":
                yield a + one, a + two, c + three, c + four
    else:
        anchors = _anchors(before[a:b], after[c:d])
        if not anchors:
            yield area
            return
        old, new = a, c
        for one, other in [*anchors, (b - a, d - c)]:
            yield from _changed_in(before, after, (old, a + one, new, c + other))
            old, new = a + one + 1, c + other + 1


def _changed_in(before: Sequence[str], after: Sequence[str], area: Block) -> Iterator[Block]:
    a, b, c, d = area
    while a < b and c < d and before[a] == after[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and before[b - 1] == after[d - 1]:
        b, d = b - 1, d - 1
    yield from _between(before, after, (a, b, c, d))


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
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


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        if group and block[0] - group[-1][1] > 2 * CONTEXT_LINES:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _hunk(group: Sequence[Block], before: Sequence[str], after: Sequence[str], old: int, new: int) -> DiffHunk:
    rows: list[DiffRow] = []
    start = max(0, group[0][0] - CONTEXT_LINES)
    shift = group[0][2] - group[0][0]
    at = start
    for a, b, c, d in group:
        rows += [_row("context", old + i, new + i + shift, before[i]) for i in range(at, a)]
        rows += [_row("remove", old + i, 0, before[i]) for i in range(a, b)]
        rows += [_row("add", 0, new + i, after[i]) for i in range(c, d)]
        at, shift = b, d - b
    end = min(len(before), at + CONTEXT_LINES)
    rows += [_row("context", old + i, new + i + shift, before[i]) for i in range(at, end)]
    first_shift = group[0][2] - group[0][0]
    old_count, new_count = end - start, end + shift - start - first_shift
    return DiffHunk(
        old_start=old + start - (old_count == 0),
        old_count=old_count,
        new_start=new + start + first_shift - (new_count == 0),
        new_count=new_count,
        rows=rows,
    )


def _row(kind: str, old: int, new: int, text: str) -> DiffRow:
    text = text.removesuffix("\r")
    if len(text) > MAX_ROW_CHARACTERS:
        text = f"{text[:MAX_ROW_CHARACTERS]} [... {len(text) - MAX_ROW_CHARACTERS} more characters]"
    return DiffRow.model_construct(kind=kind, old=old, new=new, text=text)  # type: ignore[arg-type]  # from literals
