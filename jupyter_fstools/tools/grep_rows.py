"""What grep shows: each file (or cell) with its lines below it, and where in them the matches are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..search.excerpts import Row, excerpt_rows
from ..search.text_query import TextMatch
from .search_notes import shown_path


class ShownLine(NamedTuple):
    """One line below its heading.

    Attributes:
        number: its number, from 1; None for the gap between two groups of lines.
        text: what is shown of it.
        matches: it matches, and is not only around a line that does.
        mark: where in `text` the match begins and ends; None where it is not in it.
        left_out: characters of the line before and after `text`.
    """

    number: int | None
    text: str
    matches: bool = False
    mark: tuple[int, int] | None = None
    left_out: tuple[int, int] = (0, 0)


def shown_groups(matches: Iterable[TextMatch]) -> Iterator[tuple[str, list[ShownLine]]]:
    """The headings (a path, or a notebook's cell) in order, each with its lines."""
    matches = list(matches)
    by_place = {(match.path, match.cell_index, match.output_index, match.line): match for match in matches}
    current, lines = "", list[ShownLine]()
    match: TextMatch | None = None
    at = 0
    for row in excerpt_rows(matches):
        if row.number is None:
            lines.append(ShownLine(None, "--"))
            continue
        if (heading := _heading(row)) != current:
            yield from _group(current, lines)
            current, lines = heading, []
        if row.matches and (own := by_place.get((row.path, row.cell_index, row.output_index, row.number))):
            match, at = own, 0
        lines.append(_line(row, match, at))
        at += len(row.text) + 1
    yield from _group(current, lines)


def _group(heading: str, lines: list[ShownLine]) -> Iterator[tuple[str, list[ShownLine]]]:
    if lines and lines[-1].number is None:
        lines.pop()
    if lines:
        yield heading, lines


def _heading(row: Row) -> str:
    heading = shown_path(row.path)
    if row.cell_index is not None:
        heading += f" cell {shown_path(row.cell_id)}" if row.cell_id else " cell"
        heading += f" (index {row.cell_index})"
    return heading + (f" output {row.output_index}" if row.output_index is not None else "")


def _line(row: Row, match: TextMatch | None, at: int) -> ShownLine:
    """A row as a line; `at` says how many characters of its match's text are in the lines before it."""
    if match is None or not row.matches:
        return ShownLine(row.number, row.text)
    start = max(0, match.column - match.text_column - at)
    end = min(len(row.text), match.column - match.text_column + match.length - at)
    before = match.text_column - 1 if at == 0 else 0
    after = match.cut - match.text_column + 1 if at + len(row.text) >= len(match.text) else 0
    return ShownLine(row.number, row.text, True, (start, end) if start < end else None, (before, after))
