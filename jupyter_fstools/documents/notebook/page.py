"""Formats cells as text for a reader."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ...errors import Invalid
from ..text.shown_lines import CARRIAGE_RETURN, Shown, opening_tag, row_sizes
from .cell import Cell, lines_of
from .document import NotebookDocument
from .outputs import Output, OutputSummary, outputs_of
from .view import NOTE_BYTES, CellView, CutSource, LineLimits, TextRoom, cell_view, source_rows

_MARK = "| "
_LEFT_OUT = "[... more outputs: read them one by one with output_index]"

Outputs = Literal["summary", "none", "full"]


class PageRequest(NamedTuple):
    """The part of a notebook to show.

    Attributes:
        first: index of the first cell.
        cells: how many; None: as many as there is room for.
        outputs: of each cell's outputs the beginnings, nothing, or all there is room for.
        source_offset: the first line of the first cell, 1-based.
        source_limit: how many lines of it; None: as many as there is room for.
        source_column: the first character of that line, 1-based.
        max_bytes: room for text.
        max_line: characters shown of one line, unless it is the only one asked for.
    """

    first: int = 0
    cells: int | None = None
    outputs: Outputs = "summary"
    source_offset: int = 1
    source_limit: int | None = None
    source_column: int = 1
    max_bytes: int = 256 << 10
    max_line: int = 2000


class ShownLines(NamedTuple):
    """The lines of one cell's source that a read shows; `cell` is the cell's index."""

    cell: int
    lines: Shown


class CellsPage(NamedTuple):
    """Cells that are shown.

    Attributes:
        text: for a reader; each line ends with a newline.
        cells: the same as structure.
        shown: the lines that were shown of each cell's source.
        pictures: the outputs that are pictures, if all of them were requested.
        next_index: the first cell not shown; None at the end.
        truncated: there was no room for something that was asked for.
    """

    text: str
    cells: list[CellView]
    shown: list[ShownLines]
    pictures: list[Output]
    next_index: int | None
    truncated: bool


class _Shown(NamedTuple):
    """One cell as shown; `fits`: there was room for all of it; `cut`: some line or output is not shown in full."""

    rows: list[str]
    view: CellView
    lines: ShownLines
    pictures: list[Output]
    fits: bool
    cut: bool


def cells_page(document: NotebookDocument, wanted: PageRequest) -> CellsPage:
    """As many whole cells as there is room for; a cell that is too long for a page of its own is cut.

    Raises:
        OutOfRange: `source_offset` is past the cell's last line, or `source_column` past that line's end.
    """
    left = wanted.max_bytes
    end = len(document.cells) if wanted.cells is None else min(len(document.cells), wanted.first + wanted.cells)
    found: list[_Shown] = []
    at = wanted.first
    while at < end:
        room = TextRoom(left)
        shown = _shown_cell(document, document.cells[at], wanted, room)
        if found and not shown.fits:
            break
        found.append(shown)
        left, at = room.left, at + 1
    return CellsPage(
        text="".join(f"{row}\n" for shown in found for row in shown.rows),
        cells=[shown.view for shown in found],
        shown=[shown.lines for shown in found],
        pictures=[picture for shown in found for picture in shown.pictures],
        next_index=at if at < len(document.cells) else None,
        truncated=at < end or any(shown.cut for shown in found),
    )


def output_text(output: Output, offset: int, room: int, mime_type: str | None) -> tuple[str, int, int | None]:
    """One output's text from a character on, as much of it as there is room for.

    Args:
        output: an output of any cell.
        offset: the first character, 0-based.
        room: bytes for its rows.
        mime_type: selects one of its texts; None: the one that is easiest to read.

    Returns:
        The text, its characters in all, and the next offset (None at the end).

    Raises:
        Invalid, OutOfRange: see `Output.page`.
    """
    page = output.page(offset, room, mime_type)
    if _shown_bytes(page.text) <= room:
        return page.text, page.total_characters, page.next_offset
    fit = max(bisect_right(range(1, len(page.text)), room, key=lambda length: _shown_bytes(page.text[:length])), 1)
    return page.text[:fit], page.total_characters, offset + fit


def _shown_bytes(text: str) -> int:
    return sum(row_sizes(_text_rows(text)))


def output_rows(heading: Sequence[tuple[str, object]], text: str) -> list[str]:
    """An output as a reader sees it: its heading, and its lines with a mark before each."""
    return [opening_tag("output", heading), *_text_rows(text)]


def _text_rows(text: str) -> Iterator[str]:
    for line in text.removesuffix("\n").split("\n") if text else []:
        yield _MARK + line.removesuffix("\r").replace("\r", CARRIAGE_RETURN)


def _shown_cell(document: NotebookDocument, cell: Cell, wanted: PageRequest, room: TextRoom) -> _Shown:
    is_first = cell.index == wanted.first
    view = cell_view(
        document,
        cell,
        source_offset=wanted.source_offset if is_first else 1,
        source_limit=wanted.source_limit if is_first else None,
    )
    lines = lines_of(view.source)
    heading = cell_heading(view)
    fits = room.takes(heading)
    limits = LineLimits(wanted.max_line)
    if is_first:
        limits = LineLimits(wanted.max_line, wanted.source_column, wanted.source_limit == 1, must_go_on=True)
    source = source_rows(lines, view.start_line, limits, room)
    count = len(source.rows)
    if count < len(lines):
        fits = False
        view.next_source_offset = view.start_line + count
    view.source = "".join(source.texts)
    view.cut_lines = [CutSource(**cut._asdict()) for cut in source.cuts]
    first, text = view.start_line, "".join(lines[:count])
    shown = Shown(first, first + count - 1, text, view.total_lines, limits.column, source.cuts)
    pictures: list[Output] = []
    outputs = _output_rows(cell, view, wanted, room, pictures) if wanted.outputs != "none" else []
    fits = fits and outputs[-1:] != [_LEFT_OUT]
    cut = not fits or bool(view.cut_lines) or any(output.truncated for output in view.outputs)
    rows = [heading, *source.rows, *_rest(view), *outputs]
    return _Shown(rows, view, ShownLines(cell.index, shown), pictures, fits, cut)


def cell_heading(view: CellView) -> str:
    """The heading above a cell."""
    attributes: list[tuple[str, object]] = [
        ("index", view.index), ("id", view.cell_id), ("type", view.cell_type), ("language", view.language),
    ]  # fmt: skip
    if view.execution_count is not None:
        attributes.append(("executionCount", view.execution_count))
    if view.tags:
        attributes.append(("tags", ", ".join(view.tags)))
    attributes.append(("totalLines", view.total_lines))
    if view.next_source_offset is None and view.source.endswith("\n"):
        attributes.append(("finalNewline", "true"))
    if view.id_state != "own":
        attributes.append(("idState", view.id_state))
    for name, mimes in view.attachments.items():
        attributes.append(("attachment", f"{name} ({_sizes(mimes)})"))
    return opening_tag("cell", attributes)


def _output_rows(cell: Cell, view: CellView, wanted: PageRequest, room: TextRoom, pictures: list[Output]) -> list[str]:
    rows: list[str] = []
    for output in outputs_of(cell):
        summary = _summary(output, room, full=wanted.outputs == "full")
        new = output_rows(_heading(summary), summary.text)
        if summary.truncated:
            new.append(f"[... output {summary.index} goes on: read it with output_index={summary.index}]")
        if not all(room.takes(row) for row in new):
            room.left = 0
            return [*rows, _LEFT_OUT]
        rows += new
        view.outputs.append(summary)
        if wanted.outputs == "full" and output.image_mimes:
            pictures.append(output)
    return rows


def _summary(output: Output, room: TextRoom, *, full: bool) -> OutputSummary:
    summary = output.summary()
    most = room.left - NOTE_BYTES
    if not full or not summary.truncated or not 0 < summary.size_bytes <= 4 * most:
        return summary
    try:
        text, _, following = output_text(output, 0, most // 2, None)
    except Invalid:  # The output has no text.
        return summary
    return summary.model_copy(update={"text": text, "truncated": following is not None})


def _heading(summary: OutputSummary) -> list[tuple[str, object]]:
    attributes: list[tuple[str, object]] = [("index", summary.index), ("type", summary.output_type)]
    if summary.mime_sizes:
        attributes.append(("mime", _sizes(summary.mime_sizes)))
    return [*attributes, ("bytes", summary.size_bytes)]


def _rest(view: CellView) -> Iterator[str]:
    if view.next_source_offset is not None:
        left = view.total_lines - view.next_source_offset + 1
        yield f"[... {left} more lines of this cell: read with source_offset={view.next_source_offset}]"


def _sizes(mimes: dict[str, int]) -> str:
    return ", ".join(f"{mime} {size} bytes" for mime, size in mimes.items())
