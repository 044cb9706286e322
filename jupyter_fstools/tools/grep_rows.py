"""Formats grep's matches below their files and cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from ..search.query import TextMatch
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
    """The headings (a path, or a notebook's cell) in order, each with its lines.

    If lines around are shown, there is a gap between lines that do not follow each other.
    """
    matches = list(matches)
    around = any(match.before or match.after for match in matches)
    for _, group in groupby(matches, attrgetter("path", "cell_index", "output_index")):
        of_place = list(group)
        yield _heading(of_place[0]), _lines(of_place, around)


def _heading(match: TextMatch) -> str:
    heading = shown_path(match.path)
    if match.cell_index is not None:
        heading += f" cell {shown_path(match.cell_id)}" if match.cell_id else " cell"
        heading += f" (index {match.cell_index})"
    return heading + (f" output {match.output_index}" if match.output_index is not None else "")


def _lines(matches: list[TextMatch], around: bool) -> list[ShownLine]:
    lines: list[ShownLine] = []
    last = 0
    for match in matches:
        first = match.line - len(match.before)
        if around and last and first > last + 1:
            lines.append(ShownLine(None, "--"))
        if match.before:
            lines += [ShownLine(number, text) for number, text in enumerate(match.before, first)]
        own = _own_lines(match)
        lines += own[max(0, last + 1 - match.line) :]  # One line may end a match and begin the next.
        last = match.line + len(own) - 1
        if match.after:
            lines += [ShownLine(number, text) for number, text in enumerate(match.after, last + 1)]
            last += len(match.after)
    return lines


def _own_lines(match: TextMatch) -> list[ShownLine]:
    """The lines that a match lies on."""
    lines: list[ShownLine] = []
    offset = match.column - match.text_column
    at = 0
    for number, text in enumerate(match.text.split("\n"), match.line):
        start, end = max(0, offset - at), min(len(text), offset + match.length - at)
        before = match.text_column - 1 if at == 0 else 0
        after = match.cut - match.text_column + 1 if at + len(text) >= len(match.text) else 0
        lines.append(ShownLine(number, text, True, (start, end) if start < end else None, (before, after)))
        at += len(text) + 1
    return lines
