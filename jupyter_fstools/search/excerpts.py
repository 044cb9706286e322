"""Matching lines with what stands around them, read anew from the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .match_lines import Hit
from .text_query import TextMatch, TextQuery

Range = tuple[int, int]


class Place(NamedTuple):
    """Where lines are: a file, or one text of a notebook's cell."""

    path: str
    cell_id: str | None = None
    cell_index: int | None = None
    output_index: int | None = None


class Row(NamedTuple):
    """One line to show; `number` is None for the gap between two groups."""

    path: str
    number: int | None
    text: str
    matches: bool
    cell_id: str | None = None
    cell_index: int | None = None
    output_index: int | None = None


def excerpts(place: Place, blocks: Iterable[str], hits: list[Hit], page: slice, query: TextQuery) -> list[TextMatch]:
    """The hits of one text as matches with their surroundings.

    A line is shown once: what lies after a match ends before the next match, what lies before one begins after what the
    match before it has shown.

    Args:
        place: where the text is.
        blocks: the text, in blocks of whole lines.
        hits: its hits, from the first one on, one more than the page takes if there is one.
        page: which of them to return.
        query: how much to show around them.
    """
    wanted = [(1, 1 << 62)] if query.multiline else _wanted(hits, query)
    lines = _lines(blocks, wanted)
    found: list[TextMatch] = []
    shown = 0
    for number, hit in enumerate(hits[: page.stop]):
        line, column, length = hit
        if line not in lines:
            continue  # the file has become shorter
        last = _last_line(lines, hit) if query.multiline else line
        following = hits[number + 1][0] if number + 1 < len(hits) else last + query.after_lines + 1
        before = range(max(line - query.before_lines, shown + 1, 1), line)
        after = range(last + 1, min(last + query.after_lines + 1, following))
        text = "\n".join(lines[each].removesuffix("\r") for each in range(line, last + 1) if each in lines)
        shown = max(last, after[-1] if after else 0)
        if number >= page.start:
            cut, start = _around(text, column, length, query.max_line_length)
            found.append(
                TextMatch(
                    path=place.path,
                    line=line,
                    column=column + 1,
                    length=length,
                    text=cut,
                    text_column=start + 1,
                    cut=len(text) - len(cut),
                    before=[_shortened(lines[each], query) for each in before if each in lines],
                    after=[_shortened(lines[each], query) for each in _existing(after, lines)],
                    cell_id=place.cell_id,
                    cell_index=place.cell_index,
                    output_index=place.output_index,
                )
            )
    return found


def excerpt_rows(matches: Iterable[TextMatch]) -> Iterator[Row]:
    """Matches as rows to show, with a gap between files.

    If lines around are shown, there is one too between lines of a file that do not follow each other.
    """
    matches = list(matches)
    around = any(match.before or match.after for match in matches)
    last: tuple[Place, int] | None = None
    for match in matches:
        place = Place(match.path, match.cell_id, match.cell_index, match.output_index)
        first = match.line - len(match.before)
        if last is not None and last != (place, first - 1) and (around or last[0] != place):
            yield Row(match.path, None, "--", False)
        texts = [*match.before, *match.text.split("\n"), *match.after]
        body = range(match.line, match.line + match.text.count("\n") + 1)
        for number, text in enumerate(texts, first):
            yield Row(match.path, number, text, number in body, *place[1:])
        last = (place, first + len(texts) - 1)


def _wanted(hits: list[Hit], query: TextQuery) -> list[Range]:
    """The lines to fetch, as ranges that do not touch."""
    ranges: list[Range] = []
    for line, _, _ in hits:
        low, high = max(1, line - query.before_lines), line + query.after_lines
        if ranges and low <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], high)
        else:
            ranges.append((low, high))
    return ranges


def _lines(blocks: Iterable[str], wanted: list[Range]) -> dict[int, str]:
    found: dict[int, str] = {}
    first = 1
    for text in blocks:
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        for low, high in wanted:
            for number in range(max(low, first), min(high, first + len(lines) - 1) + 1):
                found[number] = lines[number - first]
        first += len(lines)
        if not wanted or first > wanted[-1][1]:
            break
    return found


def _existing(numbers: range, lines: dict[int, str]) -> Iterator[int]:
    for number in numbers:
        if number not in lines:
            return
        yield number


def _last_line(lines: dict[int, str], hit: Hit) -> int:
    """The line that the last character of a match is on."""
    line, column, length = hit
    left = column + length - 1
    while line in lines and left > len(lines[line]):
        left -= len(lines[line]) + 1
        line += 1
    return line if line in lines else line - 1


def _around(text: str, column: int, length: int, most: int) -> tuple[str, int]:
    """A part of a long line with the match in it, and where it starts."""
    if len(text) <= most:
        return text, 0
    spare = max(most - length, most // 2)
    start = min(max(0, column - spare // 2), max(0, len(text) - most))
    return text[start : start + most], start


def _shortened(line: str, query: TextQuery) -> str:
    line = line.removesuffix("\r")
    most = query.max_line_length
    return line if len(line) <= most else f"{line[:most]}... [{len(line) - most} more characters]"
