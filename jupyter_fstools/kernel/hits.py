"""What a text search found as rows of a table, every match marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from ..plain_text import one_line
from ..search.text_query import TextMatch
from ..tools.grep_rows import ShownLine, shown_groups
from .display import MOST_CHARACTERS, MOST_ROWS
from .highlighting import as_typed


def hit_rows(matches: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The rows for a result's matches: a heading for each file or cell, and its lines below."""
    shown = size = left = 0
    for heading, lines in shown_groups(TextMatch(**match) for match in matches):
        full = False
        for number, line in enumerate(lines):
            size += len(line.text)
            full = shown >= MOST_ROWS or size > MOST_CHARACTERS
            if full:
                left += len(lines) - number
                break
            if not number:
                yield f'<tr class="fs-heading"><th colspan="2">{escape(one_line(heading))}</th></tr>'
            shown += 1
            yield f'<tr><td class="fs-number">{_number(line)}</td><td>{as_typed(_marked(line))}</td></tr>'
    if left:
        yield f'<tr class="fs-hunk"><td colspan="2">[... {left} more lines]</td></tr>'


def _number(line: ShownLine) -> str:
    if line.number is None:
        return "…"
    return f"{line.number}{'' if line.matches else '-'}"


def _marked(line: ShownLine) -> str:
    if line.number is None:
        return ""
    start, end = line.mark or (0, 0)
    parts = [escape(one_line(part)) for part in (line.text[:start], line.text[start:end], line.text[end:])]
    marked = f"<mark>{parts[1]}</mark>" if parts[1] else ""
    return f"{'… ' if line.left_out[0] else ''}{parts[0]}{marked}{parts[2]}{' …' if line.left_out[1] else ''}"
