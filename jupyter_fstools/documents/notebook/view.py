"""Builds what a reader is shown of a cell."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from ...errors import OutOfRange
from .bounded_names import MOST_NAMES, bounded_names, bounded_sizes
from .cell import Cell, lines_of
from .document import NotebookDocument
from .outputs import SUMMARY_CHARACTERS, OutputSummary, outputs_of
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
    output_characters: int | None = SUMMARY_CHARACTERS,
) -> CellView:
    """A cell as it is shown.

    Args:
        document: the notebook.
        cell: one of its cells.
        source_offset: the first line, 1-based.
        source_limit: how many lines; all if None.
        output_characters: text shown of each output; None leaves the outputs out.

    Raises:
        OutOfRange: the offset is past the last line.
    """
    lines = lines_of(cell.source)
    first = max(source_offset, 1) - 1
    if first and first >= len(lines):
        raise OutOfRange(
            f"source_offset {source_offset}: the cell has {len(lines)} lines",
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
        outputs=[] if output_characters is None else [one.summary(output_characters) for one in outputs_of(cell)],
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
