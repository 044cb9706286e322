"""Builds a reader's view of a cell, long lines cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from ...errors import OutOfRange, counted
from ..text.shown_lines import CARRIAGE_RETURN
from ..text.window import CutLine
from .cell import MOST_NAMES, Cell, bounded_names, bounded_sizes, lines_of
from .document import NotebookDocument
from .outputs import OutputSummary
from .spans import members_at


class CutSource(BaseModel):
    """A line of which `shown` characters from `column` (1-based) on are shown, and `omitted` after them are not."""

    line: int
    column: int
    shown: int
    omitted: int


class CellView(BaseModel):
    """One cell, or a window of its lines.

    Attributes:
        source: what is shown of the lines, terminators kept; a cut line that ends it has none, its rest follows.
        start_line: 1-based; 1 for the whole cell.
        total_lines: of the whole source.
        next_source_offset: the first line not shown, to go on reading; None at the end.
        cut_lines: the lines of which the end is not shown.
        attachments: per file name, bytes per MIME type; never the contents.
        id_state: `synthetic` where the file has no id for it, `duplicate` where several cells have this id: then the
            cell is named by `index`.
    """

    cell_id: str
    index: int
    cell_type: str
    language: str
    execution_count: int | None = None
    tags: list[str] = Field(default_factory=list)
    source: str
    start_line: int = 1
    total_lines: int
    next_source_offset: int | None = None
    cut_lines: list[CutSource] = Field(default_factory=list)
    attachments: dict[str, dict[str, int]] = Field(default_factory=dict)
    outputs: list[OutputSummary] = Field(default_factory=list)
    id_state: Literal["own", "synthetic", "duplicate"] = "own"


def cell_view(
    document: NotebookDocument,
    cell: Cell,
    *,
    source_offset: int = 1,
    source_limit: int | None = None,
) -> CellView:
    """A cell as it is shown, without its outputs.

    Args:
        document: the notebook.
        cell: one of its cells.
        source_offset: the first line, 1-based.
        source_limit: how many lines; all if None.

    Raises:
        OutOfRange: the offset is past the last line.
    """
    lines = lines_of(cell.source)
    first = max(source_offset, 1) - 1
    if first and first >= len(lines):
        raise OutOfRange(
            f"source_offset {source_offset}: the cell has {counted(len(lines), 'line')}",
            hint=f"Use an offset from 1 to {max(1, len(lines))}.",
            total=len(lines),
        )
    end = len(lines) if source_limit is None else min(len(lines), first + source_limit)
    return CellView(
        cell_id=cell.cell_id,
        index=cell.index,
        cell_type=cell.cell_type,
        language=cell.language(document.language),
        execution_count=cell.execution_count,
        tags=bounded_names(cell.tags),
        source="".join(lines[first:end]),
        start_line=first + 1,
        total_lines=len(lines),
        next_source_offset=end + 1 if end < len(lines) else None,
        attachments=_attachments(cell),
        id_state=_id_state(document, cell),
    )


def _id_state(document: NotebookDocument, cell: Cell) -> Literal["own", "synthetic", "duplicate"]:
    if cell.real_id is None:
        return "synthetic"
    return "duplicate" if cell.cell_id in document.duplicate_ids else "own"


def _attachments(cell: Cell) -> dict[str, dict[str, int]]:
    member = cell.spans.member("attachments")
    files = members_at(cell.content, member.start, member.end) if member else []
    names = bounded_names([file.key for file in files])
    sizes = [
        bounded_sizes({mime.key: mime.end - mime.start for mime in members_at(cell.content, file.start, file.end)})
        for file in files[:MOST_NAMES]
    ]
    return dict(zip(names, [*sizes, {}], strict=False))


NOTE_BYTES = 160
"""Bytes reserved for a note on the text left out."""


class LineLimits(NamedTuple):
    """How much of each line is shown.

    Attributes:
        characters: of each line.
        column: the first character of the first line, 1-based.
        is_alone: only the first line was requested: as much of it is shown as there is room for.
        must_go_on: show a piece of the first line even without room for it, so that reading makes progress.
    """

    characters: int
    column: int = 1
    is_alone: bool = False
    must_go_on: bool = False


class SourceRows(NamedTuple):
    """Lines of a source that are shown.

    Attributes:
        rows: numbered, without terminators.
        texts: their shown characters and their terminators, to be joined.
        cuts: the lines of which the end is not shown.
    """

    rows: list[str]
    texts: list[str]
    cuts: list[CutLine]


class TextRoom:
    """Bytes left for text."""

    def __init__(self, size: int) -> None:
        self.left = size

    def takes(self, row: str) -> bool:
        """Take the room of a line, if there is enough."""
        size = len(row.encode("utf-8", "surrogatepass")) + 1
        if size > self.left:
            return False
        self.left -= size
        return True

    def characters(self, text: str) -> int:
        """How many characters of a text there is room for, with a note about the rest."""
        left = max(self.left - NOTE_BYTES, 0)
        return left if text.isascii() else left // 4


def source_rows(lines: Sequence[str], first: int, limits: LineLimits, room: TextRoom) -> SourceRows:
    """As many of the lines as there is room for.

    Args:
        lines: the source from the first line on, terminators kept.
        first: that line's number.
        limits: how much of each line.
        room: bytes left for them.

    Raises:
        OutOfRange: the column is past the first line's end.
    """
    source = SourceRows([], [], [])
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
        if len(rest) > most:
            source.cuts.append(CutLine(number, column, most, len(rest) - most))
        column = 1
    if source.cuts and source.cuts[-1].line == first + len(source.rows) - 1:
        source.texts.pop()
    return source


def _require_column(line: int, column: int, length: int) -> None:
    if column > max(length, 1):
        raise OutOfRange(
            f"source_column {column}: line {line} of the cell has {counted(length, 'character')}",
            hint=f"Use a column from 1 to {max(length, 1)}.",
            total_columns=length,
        )


def _row(number: int, column: int, text: str, most: int) -> str:
    shown = text[:most].replace("\r", CARRIAGE_RETURN)
    if len(text) <= most:
        return f"{number}\t{shown}"
    place = f"source_offset={number}, source_limit=1, source_column={column + most}"
    return f"{number}\t{shown} [... {len(text) - most} more characters: read with {place}]"
