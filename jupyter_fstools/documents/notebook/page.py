"""Cells as text for a reader: every line of it is a heading, a numbered line of source, or a marked line of output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ...errors import Invalid
from ..shown_lines import CARRIAGE_RETURN, opening_tag
from .cell import Cell, lines_of
from .document import NotebookDocument
from .outputs import Output, OutputSummary, outputs_of
from .view import CellView, cell_view

_MARK = "| "
_NOTE_BYTES = 160
_LEFT_OUT = "[... more outputs: read them one by one with output_index]"

Outputs = Literal["summary", "none", "full"]


class PageRequest(NamedTuple):
    """What to show.

    Attributes:
        first: index of the first cell.
        cells: how many; None: as many as there is room for.
        outputs: of each cell: the beginnings, nothing, or all there is room for.
        source_offset: the first line of the first cell, 1-based.
        source_limit: how many lines of it; None: as many as there is room for.
        max_bytes: room for text.
        max_line: characters shown of one line, unless it is the only one asked for.
    """

    first: int = 0
    cells: int | None = None
    outputs: Outputs = "summary"
    source_offset: int = 1
    source_limit: int | None = None
    max_bytes: int = 256 << 10
    max_line: int = 2000


class ShownLines(NamedTuple):
    """What a read shows of one cell's source.

    Attributes:
        cell: the cell's index.
        first: the first line shown, 1-based.
        text: the lines shown.
        whole: the ranges of lines of which every character was shown.
        total: lines of the cell.
    """

    cell: int
    first: int
    text: str
    whole: list[tuple[int, int]]
    total: int


class CellsPage(NamedTuple):
    """Cells that are shown.

    Attributes:
        text: for a reader; each line ends with a newline.
        cells: the same as structure.
        shown: what was shown of each cell's source.
        pictures: the outputs that are pictures, where all of them are asked for.
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
    """One cell that is shown; `fits`: there was room for all of it, `cut`: some line or output is not shown whole."""

    rows: list[str]
    view: CellView
    lines: ShownLines
    pictures: list[Output]
    fits: bool
    cut: bool


class _Room:
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
        left = max(self.left - _NOTE_BYTES, 0)
        return left if text.isascii() else left // 4


def cells_page(document: NotebookDocument, wanted: PageRequest) -> CellsPage:
    """Whole cells as far as there is room; a cell that is too long for a page of its own is cut.

    Raises:
        OutOfRange: `source_offset` is past the cell's last line.
    """
    left = wanted.max_bytes
    end = len(document.cells) if wanted.cells is None else min(len(document.cells), wanted.first + wanted.cells)
    found: list[_Shown] = []
    at = wanted.first
    while at < end:
        room = _Room(left)
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
    """One output's text from a character on, no more of it than there is room for.

    Args:
        output: of which cell whatever.
        offset: the first character, 0-based.
        room: bytes there are.
        mime_type: which of its texts; None: the one that is easiest to read.

    Returns:
        The text, its characters in all, and the next offset (None at the end).

    Raises:
        Invalid, OutOfRange: see `Output.page`.
    """
    page = output.page(offset, room, mime_type)
    if len(page.text.encode("utf-8", "surrogatepass")) > room:
        page = output.page(offset, max(room // 4, 1), mime_type)
    return page.text, page.total_characters, page.next_offset


def output_rows(heading: Sequence[tuple[str, object]], text: str) -> list[str]:
    """An output as a reader sees it: its heading, and its lines with a mark before each."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return [opening_tag("output", heading), *(f"{_MARK}{_plain(line)}" for line in lines)]


def _shown_cell(document: NotebookDocument, cell: Cell, wanted: PageRequest, room: _Room) -> _Shown:
    is_first = cell.index == wanted.first
    view = cell_view(
        document,
        cell,
        source_offset=wanted.source_offset if is_first else 1,
        source_limit=wanted.source_limit if is_first else None,
        output_characters=None,
    )
    lines = lines_of(view.source)
    heading = cell_heading(view)
    fits = room.takes(heading)
    rows, whole = _source_rows(lines, view.start_line, wanted, room, is_first=is_first)
    if len(rows) < len(lines):
        fits = False
        view.next_source_offset = view.start_line + len(rows)
        view.source = "".join(lines[: len(rows)])
    shown = ShownLines(cell.index, view.start_line, view.source, whole, view.total_lines)
    pictures: list[Output] = []
    outputs = _output_rows(cell, view, wanted, room, pictures) if wanted.outputs != "none" else []
    fits = fits and outputs[-1:] != [_LEFT_OUT]
    cut = not fits or len(rows) > sum(last - first + 1 for first, last in whole)
    cut = cut or any(output.truncated for output in view.outputs)
    return _Shown([heading, *rows, *_rest(view), *outputs], view, shown, pictures, fits, cut)


def cell_heading(view: CellView) -> str:
    """What stands above a cell."""
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


def _source_rows(
    lines: Sequence[str], first: int, wanted: PageRequest, room: _Room, *, is_first: bool
) -> tuple[list[str], list[tuple[int, int]]]:
    """The numbered lines there is room for, and the ranges of those that are whole."""
    rows: list[str] = []
    whole: list[tuple[int, int]] = []
    alone = is_first and wanted.source_limit == 1
    for number, line in enumerate(lines, first):
        text = _plain(line.removesuffix("\n"))
        most = max(wanted.max_line, room.characters(text)) if alone else wanted.max_line
        row = _row(number, text, most, alone=alone)
        if not room.takes(row):
            if rows or not is_first:
                break
            # A page must show something, or nobody gets beyond it.
            most = max(min(most, room.characters(text)), 1)
            row = _row(number, text, most, alone=True)
            room.left = 0
        rows.append(row)
        if len(text) > most:
            continue
        if whole and whole[-1][1] == number - 1:
            whole[-1] = (whole[-1][0], number)
        else:
            whole.append((number, number))
    return rows, whole


def _row(number: int, text: str, most: int, *, alone: bool) -> str:
    if len(text) <= most:
        return f"{number}\t{text}"
    advice = "" if alone else f": read with source_offset={number}, source_limit=1"
    return f"{number}\t{text[:most]} [... {len(text) - most} more characters{advice}]"


def _output_rows(cell: Cell, view: CellView, wanted: PageRequest, room: _Room, pictures: list[Output]) -> list[str]:
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
        if wanted.outputs == "full" and output.has_image:
            pictures.append(output)
    return rows


def _summary(output: Output, room: _Room, *, full: bool) -> OutputSummary:
    summary = output.summary()
    most = room.left - _NOTE_BYTES
    if not full or not summary.truncated or not 0 < summary.size_bytes <= 4 * most:
        return summary
    try:
        text, _, following = output_text(output, 0, most // 2, None)
    except Invalid:  # It has no text.
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


def _plain(line: str) -> str:
    return line.removesuffix("\r").replace("\r", CARRIAGE_RETURN)
