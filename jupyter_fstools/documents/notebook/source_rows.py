"""Numbers and cuts the lines of a cell's source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...errors import OutOfRange
from ..text.shown_lines import CARRIAGE_RETURN
from .view import CutSource

NOTE_BYTES = 160
"""Room for what is said of something that is left out."""


class LineLimits(NamedTuple):
    """How much of each line is shown.

    Attributes:
        characters: of each line.
        column: the first character of the first line, 1-based.
        is_alone: the first line is all that is asked for: as much of it is shown as there is room for.
        must_go_on: a piece of the first line is shown even where there is no room: else nobody gets beyond it.
    """

    characters: int
    column: int = 1
    is_alone: bool = False
    must_go_on: bool = False


class SourceRows(NamedTuple):
    """Lines of a source that are shown.

    Attributes:
        rows: numbered, without terminators.
        texts: what is shown of them and their terminators, to be joined.
        whole: the ranges of lines of which every character is shown.
        pieces: the lines of which a part is shown.
    """

    rows: list[str]
    texts: list[str]
    whole: list[tuple[int, int]]
    pieces: list[CutSource]


class TextRoom:
    """Bytes left for text."""

    def __init__(self, size: int) -> None:
        self.left = size

    def takes(self, row: str) -> bool:
        """Take the room of a line, if there is as much."""
        size = len(row.encode("utf-8", "surrogatepass")) + 1
        if size > self.left:
            return False
        self.left -= size
        return True

    def characters(self, text: str) -> int:
        """How many characters of a text there is room for, beside what is said of the rest."""
        left = max(self.left - NOTE_BYTES, 0)
        return left if text.isascii() else left // 4


def source_rows(lines: Sequence[str], first: int, limits: LineLimits, room: TextRoom) -> SourceRows:
    """As many of the lines as there is room for.

    Args:
        lines: the source from the first line on, terminators kept.
        first: that line's number.
        limits: how much of each line.
        room: what there is of it.

    Raises:
        OutOfRange: the column is past the first line's end.
    """
    source = SourceRows([], [], [], [])
    column = limits.column
    for number, line in enumerate(lines, first):
        body = line.removesuffix("\n").removesuffix("\r")
        _require_column(number, column, len(body))
        rest = body[column - 1 :]
        most = max(limits.characters, room.characters(rest)) if limits.is_alone else limits.characters
        if not room.takes(_row(number, column, rest, most)):
            if source.rows or not limits.must_go_on:
                break
            most = max(min(most, room.characters(rest)), 1)
            room.left = 0
        source.rows.append(_row(number, column, rest, most))
        source.texts.extend((rest[:most], line[len(body) :]))
        _note_shown(source, CutSource(line=number, column=column, shown=len(rest[:most]), omitted=len(rest[most:])))
        column = 1
    if source.pieces and source.pieces[-1].omitted and source.pieces[-1].line == first + len(source.rows) - 1:
        source.texts.pop()
    return source


def _require_column(line: int, column: int, length: int) -> None:
    if column > max(length, 1):
        raise OutOfRange(
            f"source_column {column}: line {line} of the cell has {length} characters",
            hint=f"Use a column from 1 to {max(length, 1)}.",
            total_columns=length,
        )


def _note_shown(source: SourceRows, shown: CutSource) -> None:
    if shown.omitted or shown.column > 1:
        source.pieces.append(shown)
    elif source.whole and source.whole[-1][1] == shown.line - 1:
        source.whole[-1] = (source.whole[-1][0], shown.line)
    else:
        source.whole.append((shown.line, shown.line))


def _row(number: int, column: int, text: str, most: int) -> str:
    shown = text[:most].replace("\r", CARRIAGE_RETURN)
    if len(text) <= most:
        return f"{number}\t{shown}"
    place = f"source_offset={number}, source_limit=1, source_column={column + most}"
    return f"{number}\t{shown} [... {len(text) - most} more characters: read with {place}]"
