"""Cuts excerpts around the matches of a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from .match_lines import Hit
from .query import TextMatch, TextQuery

Range = tuple[int, int]
Window = tuple[Hit, int, int, int]
"""A hit, the end of its match's last line in the text, and how many lines before and after it are shown."""


class Place(NamedTuple):
    """The place of lines: a file, or one text of a notebook's cell."""

    path: str
    cell_id: str | None = None
    cell_index: int | None = None
    output_index: int | None = None


def excerpts(place: Place, blocks: Iterable[str], hits: list[Hit], page: slice, query: TextQuery) -> list[TextMatch]:
    """The hits of one text as matches with their surroundings.

    Each line is shown once: the lines after a match end before the next match, and the lines before a match begin after
    the last line shown for the previous match.

    Args:
        place: where the text is.
        blocks: the text, in blocks of whole lines.
        hits: its hits from the first one on, and one more than the page shows, if there is one.
        page: the hits to return.
        query: how much to show around them.
    """
    text, hits = _located(blocks, hits, query)
    known = max(0, page.start - 1)  # The last match before the page has shown lines after it.
    windows = islice(_windows(text, hits[known : page.stop + 1], query), page.start - known, page.stop - known)
    return [_match(place, text, window, query) for window in windows]


def _windows(text: str, hits: list[Hit], query: TextQuery) -> Iterator[Window]:
    shown = 0
    for number, hit in enumerate(hits, 1):
        line, column, length, start = hit
        end = text.find("\n", start + column + max(length, 1) - 1)
        if end < 0:
            end = len(text)
        last = line + text.count("\n", start, end)
        before, after = min(query.before_lines, line - shown - 1), query.after_lines
        if number < len(hits):
            after = min(after, hits[number][0] - last - 1)
        shown = last + max(after, 0)
        yield hit, end, before, after


def _match(place: Place, text: str, window: Window, query: TextQuery) -> TextMatch:
    (line, column, length, start), end, before, after = window
    most = query.max_line_length
    lines = text[start:end].replace("\r\n", "\n").removesuffix("\r")
    at = start + column
    matched = text[at : at + length].replace("\r\n", "\n")
    column -= column > 0 and text.startswith("\r\n", at - 1)  # The match begins within a CRLF.
    length = min(len(matched), len(lines) - column)
    part, left_out = _around(lines, column, length, most)
    return TextMatch(
        path=place.path,
        line=line,
        column=column + 1,
        length=length,
        text=part,
        text_column=left_out + 1,
        cut=len(lines) - len(part),
        cut_lines=lines.count("\n") - part.count("\n"),
        before=_lines_before(text, start, before, most) if before > 0 else [],
        after=_lines_after(text, end + 1, after, most) if after > 0 else [],
        cell_id=place.cell_id,
        cell_index=place.cell_index,
        output_index=place.output_index,
    )


def _located(blocks: Iterable[str], hits: list[Hit], query: TextQuery) -> tuple[str, list[Hit]]:
    """A text, and its hits with the starts of their lines in it; of several blocks, only the lines that are shown."""
    blocks = iter(blocks)
    text, more = next(blocks, ""), next(blocks, None)
    if more is None and (not hits or hits[-1][3] >= 0):
        return text, hits
    wanted = [(1, 1 << 62)] if query.multiline else _wanted(hits, query)
    lines = _lines(chain((text, more or ""), blocks), wanted)
    starts: dict[int, int] = {}
    at = 0
    for number, line in lines.items():
        starts[number] = at
        at += len(line) + 1
    there = [hit for hit in hits if hit[0] in lines and hit[1] <= len(lines[hit[0]])]  # The file may have changed.
    return "".join(f"{line}\n" for line in lines.values()), [(*hit[:3], starts[hit[0]]) for hit in there]


def _wanted(hits: list[Hit], query: TextQuery) -> list[Range]:
    """The lines to fetch, as ranges that are not adjacent."""
    ranges: list[Range] = []
    for line, *_ in hits:
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
        after = first + text.count("\n") + (text[-1:] not in ("\n", ""))
        here = [range(max(low, first), min(high + 1, after)) for low, high in wanted]
        lines = text.split("\n") if any(here) else []  # Most blocks of a large file show no line.
        found |= {number: lines[number - first] for numbers in here for number in numbers}
        first = after
        if not wanted or first > wanted[-1][1]:
            break
    return found


def _lines_before(text: str, at: int, count: int, most: int) -> list[str]:
    """The `count` lines before the one that begins at `at`."""
    start = at
    for _ in range(count):
        start = text.rfind("\n", 0, start - 1) + 1
    return [_shortened(line, most) for line in text[start : at - 1].split("\n")]


def _lines_after(text: str, at: int, count: int, most: int) -> list[str]:
    """The lines from `at` on, at most `count`."""
    lines: list[str] = []
    while len(lines) < count and at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        lines.append(_shortened(text[at:end], most))
        at = end + 1
    return lines


def _around(text: str, column: int, length: int, most: int) -> tuple[str, int]:
    """The part of a long line that contains the match, and the column where it starts."""
    if len(text) <= most:
        return text, 0
    spare = max(most - length, most // 2)
    start = min(max(0, column - spare // 2), max(0, len(text) - most))
    return text[start : start + most], start


def _shortened(line: str, most: int) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= most else f"{line[:most]}... [{len(line) - most} more characters]"
