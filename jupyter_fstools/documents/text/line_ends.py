"""Ends a text's lines as an older text's lines end."""

from __future__ import annotations

import re
from collections import Counter

from ...diffs.line_diff import changed_blocks

_END = re.compile(r"(\r\n|\n|\r)")


def with_line_ends(old: str, text: str) -> str:
    r"""A text with the line endings of the old text: unchanged lines keep theirs, new ones get the most common one.

    A lone `\r` ends a line, too: editors in the browser do not distinguish the endings, and return `\n` for each.
    """
    before, ends = _divided(old)
    after, own = _divided(text)
    usual = Counter(ends).most_common(1)
    now = [usual[0][0] for _ in own] if usual else list(own)
    kept_to = old_at = 0
    for _, b, c, d in [*changed_blocks(before, after), (len(before), 0, len(after), 0)]:
        for at in range(kept_to, min(c, len(now))):
            if old_at + at - kept_to < len(ends):
                now[at] = ends[old_at + at - kept_to]
        old_at, kept_to = b, d
    return "".join(part for pair in zip(after, [*now, ""], strict=True) for part in pair)


def _divided(text: str) -> tuple[list[str], list[str]]:
    """The lines without their endings, and the endings, which are one fewer."""
    parts = _END.split(text)
    return parts[::2], parts[1::2]
