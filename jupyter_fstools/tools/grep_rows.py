"""Formats grep's matches as rows, as many as fit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, takewhile
from operator import attrgetter
from typing import NamedTuple

from ..documents.text.shown_lines import CARRIAGE_RETURN, row_sizes
from ..search.query import TextMatch
from .search_notes import shown_path


class ShownLine(NamedTuple):
    """One line below its heading.

    Attributes:
        number: its number, from 1; None for the gap between two groups of lines.
        text: its shown characters.
        matches: it is a match, not only context.
        mark: where in `text` the match begins and ends; None if it is not in it.
        left_out: characters of the line before and after `text`.
    """

    number: int | None
    text: str
    matches: bool = False
    mark: tuple[int, int] | None = None
    left_out: tuple[int, int] = (0, 0)


def match_rows(matches: Sequence[TextMatch]) -> list[str]:
    """A heading for each place, and below it its lines by number.

    A `-` follows the number of a context line.
    """
    return [row for of_match in _rows(matches) for row in of_match]


def _rows(matches: Sequence[TextMatch]) -> Iterator[list[str]]:
    """The rows that each match adds; the first one of a place has its heading above them."""
    above: list[str] = []
    for heading, lines_of_matches in _places(matches):
        above = [*above, heading]
        for lines in lines_of_matches:
            yield [*above, *map(_row, lines)]
            above = []
        above = [""]


def _row(line: ShownLine) -> str:
    if line.number is None:
        return line.text
    before, after = line.left_out
    cut = f"[... {before} characters] " if before else "", f" [... {after} characters]" if after else ""
    return f"{line.number}{'' if line.matches else '-'}\t{cut[0]}{line.text}{cut[1]}"


def shown_groups(matches: Iterable[TextMatch]) -> Iterator[tuple[str, list[ShownLine]]]:
    """The headings (a path, or a notebook's cell) in order, each with its lines.

    If context is shown, there is a gap between lines that are not adjacent.
    """
    for heading, lines_of_matches in _places(list(matches)):
        yield heading, [line for lines in lines_of_matches for line in lines]


def _places(matches: Sequence[TextMatch]) -> Iterator[tuple[str, Iterator[list[ShownLine]]]]:
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


def _lines(matches: list[TextMatch], around: bool) -> Iterator[list[ShownLine]]:
    """The lines that each match of a place adds."""
    last = 0
    for match in matches:
        lines: list[ShownLine] = []
        first = match.line - len(match.before)
        if around and last and first > last + 1:
            lines.append(ShownLine(None, "--"))
        if match.before:
            lines += [ShownLine(number, text) for number, text in enumerate(match.before, first)]
        own = _own_lines(match)
        lines += own[max(0, last + 1 - match.line) :]  # One line may end a match and begin the next.
        last = match.line + len(own) - 1
        if match.after:
            if match.cut_lines:
                lines.append(ShownLine(None, "--"))
            lines += [ShownLine(number, text) for number, text in enumerate(match.after, match.last_line + 1)]
            last = match.last_line + len(match.after)
        yield [
            line._replace(text=line.text.replace("\r", CARRIAGE_RETURN)) if "\r" in line.text else line
            for line in lines
        ]


def _own_lines(match: TextMatch) -> list[ShownLine]:
    """The lines that a match is on."""
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


def fitting_matches(matches: list[TextMatch], most: int) -> list[TextMatch] | None:
    """As many of the matches as fit into `most` bytes, at least one; None if all of them do."""
    fit = sum(1 for _ in takewhile(most.__ge__, accumulate(_sizes(matches))))
    if fit == len(matches):
        return None
    return matches[:fit] or [_trimmed(matches[0], most)]


def _sizes(matches: list[TextMatch]) -> Iterator[int]:
    """The bytes that each match adds to the answer."""
    return (sum(row_sizes(rows)) for rows in _rows(matches))


def _trimmed(match: TextMatch, most: int) -> TextMatch:
    """One match with as much context as fits; a match that does not fit itself is cut at its end."""

    def most_that_fit(count: int, shown: Callable[[int], TextMatch]) -> int:
        return bisect_right(range(1, count + 1), most, key=lambda number: next(_sizes([shown(number)])))

    def without_end(length: int) -> TextMatch:
        cut, lines = match.cut + len(match.text) - length, match.cut_lines + match.text.count("\n", length)
        return replace(match, text=match.text[:length], cut=cut, cut_lines=lines, before=[], after=[])

    def with_lines(number: int) -> TextMatch:
        before = match.before[max(0, len(match.before) - number) :]
        return replace(match, before=before, after=match.after[:number])

    if next(_sizes([with_lines(0)])) > most:
        fit = most_that_fit(len(match.text) - 1, without_end)
        return without_end(max(fit, min(1, len(match.text))))
    return with_lines(most_that_fit(max(len(match.before), len(match.after)), with_lines))


def left_out(match: TextMatch, shown: TextMatch) -> str:
    """The note on a match that is not shown in full; empty if it is."""
    left = {
        "before it": len(match.before) - len(shown.before),
        "after it": len(match.after) - len(shown.after),
        "of its own": match.text.count("\n") - shown.text.count("\n"),
    }
    if match.size == shown.size:
        return ""
    lines = ", ".join(f"{number} {where}" for where, number in left.items() if number) or "a part of one"
    first = match.line - len(match.before)
    # Notes name no tool: its name has a prefix in some lists of tools, and another word in `%fs`.
    place = f"the file with offset={first}" if match.cell_index is None else "the cell"
    return (
        f"[lines that did not fit into one answer are left out: {lines}; read {place} to see them, in pages, "
        "or ask for fewer `before_lines` and `after_lines`]"
    )
