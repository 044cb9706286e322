"""Shows a page of a notebook's cells, or one output."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

from ..backends.protocol import FileStat, OpenFile
from ..documents.notebook import (
    ChangedNotebook,
    NotebookDocument,
    PageRequest,
    ShownLines,
    cell_heading,
    cell_view,
    cells_page,
    is_notebook_name,
    lines_of,
    outline_of,
    output_at,
    output_rows,
    output_text,
)
from ..documents.text.shown_lines import Shown, envelope
from ..errors import Conflict, FsToolsError, Invalid, NotebookRefused, OutOfRange, counted
from ..gate.cell_receipts import record_cells
from ..gate.read_tracker import ReadTracker, ReceiptAfter
from ..gate.workspace import Workspace
from ..stores.records import FileState, Receipt
from .read_picture import picture_blocks
from .tool import Block, ToolResult, text_block

# While a program saves a notebook in place, the file is incomplete for a moment.
_RECENT_NS = 500_000_000
_MOST_CELLS = 20_000  # The places of more cells would take too much memory.


def is_recent(stat: FileStat) -> bool:
    """Whether the file was written a moment ago, so that a save may be in progress."""
    return 0 <= time.time_ns() - stat.mtime_ns < _RECENT_NS


def opened_notebook(workspace: Workspace, opened: OpenFile) -> NotebookDocument:
    """The notebook in an open file.

    Raises:
        NotebookRefused, TooLarge: see `NotebookDocument`.
    """
    stat = opened.stat
    known = workspace.versions.notebooks.of(stat.key, stat.content_version)
    document = NotebookDocument(opened, known)
    if known is None and not is_recent(stat) and len(document.cells) <= _MOST_CELLS and opened.unchanged():
        workspace.versions.notebooks.keep(stat.key, stat.content_version, outline_of(document.spans))
    return document


def kept_with(workspace: Workspace, changed: ChangedNotebook, receipt: ReceiptAfter) -> ReceiptAfter:
    """A receipt maker that also caches the places of the cells after the change, if those before it are known.

    Raises:
        NotebookRefused: the change would leave a cell that is not JSON.
    """
    if len(changed.before.cells) > _MOST_CELLS:
        return receipt
    outline = changed.outline
    if outline is None:
        return receipt

    def receipt_after(tracker: ReadTracker, stat: FileStat, state: FileState) -> tuple[Receipt, bytes]:
        workspace.versions.notebooks.keep(stat.key, stat.content_version, outline)
        return receipt(tracker, stat, state)

    return receipt_after


_ATTEMPTS = 4
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True)
class NotebookRequest:
    """The part of a notebook to show, as in `ReadNotebookArguments`; `tool` is the calling tool.

    A limit of 0 stands for as many as there is room for.
    """

    tool: str = "read_notebook"
    cell_id: str | None = None
    index: int | None = None
    offset: int = 0
    limit: int = 0
    outputs: Literal["summary", "none", "full"] = "summary"
    output_index: int | None = None
    output_offset: int = 0
    mime_type: str | None = None
    source_offset: int = 1
    source_limit: int = 0
    source_column: int = 1
    max_output_bytes: int | None = None


def show_notebook(workspace: Workspace, opened: OpenFile, wanted: NotebookRequest) -> ToolResult:
    """Show cells of a notebook that is held open, and leave a receipt for them.

    Raises:
        NotebookRefused, NotFound, Ambiguous, OutOfRange, Invalid, TooLarge, Conflict: it changes all the time
    """
    path = opened.stat.path
    require_notebook_name(path)
    for left in reversed(range(_ATTEMPTS)):
        # Opened again from its current holder: an open document may differ from the disk.
        with nullcontext(opened) if left == _ATTEMPTS - 1 else workspace.show(f"./{path}") as now:
            try:
                document = opened_notebook(workspace, now)
                result, shown = _answer(workspace, document, now, wanted)
            except (NotebookRefused, Conflict):
                was_known = workspace.versions.notebooks.drop(now.stat.key, now.stat.content_version)
                if left == 0 or not (was_known or is_recent(now.stat)):
                    raise
            else:
                if now.unchanged():
                    record_cells(workspace.tracker, now.stat, document, shown)
                    return result.as_of(now)
        time.sleep(_PAUSE_SECONDS)
    raise Conflict(f"{path} changes while it is read", hint="Read it again in a moment.")


def require_notebook_name(path: str, asked: str = "") -> None:
    """Refuse a file that is no `.ipynb`; `asked` is the name in the call, if that is another one.

    Raises:
        NotebookRefused
    """
    if not is_notebook_name(path):
        if is_notebook_name(asked):
            raise NotebookRefused(
                f"{asked} is a link to {path}, which is not a notebook (.ipynb)",
                hint=f"Use `read_file`, `edit_file` and `write_file`, with path {path!r}.",
            )
        raise NotebookRefused(
            f"{path} is not a notebook (.ipynb)", hint="Use `read_file`, `edit_file` and `write_file` for other files."
        )


def _answer(
    workspace: Workspace, document: NotebookDocument, opened: OpenFile, wanted: NotebookRequest
) -> tuple[ToolResult, list[ShownLines]]:
    limit = workspace.limits.max_output_bytes
    room = min(wanted.max_output_bytes or limit, limit)
    facts: dict[str, Any] = {
        "success": True,
        "path": opened.stat.path,
        "kind": "notebook",
        "content": None,
        "file_size": opened.size,
        "language": document.language,
        "nbformat": list(document.version),
        "total_cells": len(document.cells),
        "unchanged": False,
    }
    if wanted.output_index is not None:
        return _one_output(workspace, document, facts, wanted, room), []
    one = wanted.cell_id is not None or wanted.index is not None
    first = document.find(wanted.cell_id, wanted.index).index if one else _first_cell(document, wanted.offset)
    request = PageRequest(
        first=first,
        cells=1 if one else wanted.limit or None,
        outputs=wanted.outputs,
        source_offset=max(wanted.source_offset, 1),
        source_limit=wanted.source_limit or None,
        source_column=wanted.source_column,
        max_bytes=room,
        max_line=workspace.limits.max_line_length,
    )
    page = cells_page(document, request)
    last = first + len(page.cells) - 1
    pictures = list(picture_blocks(workspace, facts["path"], page.pictures))  # Read while the file is open.
    following = None if one else page.next_index
    if following is not None and wanted.tool == "read_file":
        following += 1  # It counts cells from 1, as it does lines.

    def content() -> list[Block]:
        blocks = [text_block(_envelope(facts, page.text, first, last)), *pictures]
        if following is not None:
            blocks.append(text_block(_go_on(first, last, facts["total_cells"], following)))
        return blocks

    def data() -> dict[str, Any]:
        cells = [view.model_dump() for view in page.cells]
        return facts | {"cells": cells, "next_offset": following, "truncated": page.truncated}

    return ToolResult(wanted.tool, content, data), page.shown


def _first_cell(document: NotebookDocument, offset: int) -> int:
    total = len(document.cells)
    if offset and offset >= total:
        raise OutOfRange(
            f"offset {offset}: the notebook has {counted(total, 'cell')}",
            hint=f"Cells are counted from 0: use 0 to {max(total - 1, 0)}.",
            total=total,
        )
    return offset


def _envelope(facts: dict[str, Any], body: str, first: int, last: int) -> str:
    attributes: list[tuple[str, object]] = [
        ("path", facts["path"]), ("totalCells", facts["total_cells"]), ("language", facts["language"]),
    ]  # fmt: skip
    if facts["total_cells"] > last - first + 1:
        attributes.append(("cells", f"{first}-{last}"))
    major = facts["nbformat"][0]
    if major != 4:
        attributes.append(("nbformat", f"{'unknown' if major is None else major} (read-only)"))
    return envelope("read_notebook", attributes, body)


def _go_on(first: int, last: int, total: int, following: int) -> str:
    shown = f"Cell {first} of {total} is" if last == first else f"Cells {first}-{last} of {total} are"
    return f"{shown} shown (counted from 0). Go on with offset={following}."


def _one_output(
    workspace: Workspace, document: NotebookDocument, facts: dict[str, Any], wanted: NotebookRequest, room: int
) -> ToolResult:
    assert wanted.output_index is not None
    cell = document.find(wanted.cell_id, wanted.index)
    output = output_at(cell, wanted.output_index)
    summary = output.summary(0)
    try:
        text, total, following = output_text(output, wanted.output_offset, room, wanted.mime_type)
    except Invalid:
        if wanted.mime_type is not None and wanted.mime_type not in output.image_mimes:
            raise
        text, total, following = "", 0, None
    heading: list[tuple[str, object]] = [("index", output.index), ("type", output.output_type)]
    heading += [("mime", ", ".join(summary.mime_types))] if output.mimes else []
    heading += [("offset", wanted.output_offset), ("totalCharacters", total)]
    view = cell_view(document, cell, source_limit=0)
    rows = [cell_heading(view), *output_rows(heading, text)]
    content = [text_block(_envelope(facts, "".join(f"{row}\n" for row in rows), cell.index, cell.index))]
    if output.image_mimes and wanted.mime_type in (None, *output.image_mimes):
        content += picture_blocks(workspace, facts["path"], [output], wanted.mime_type)
    if following is not None:
        end = f"Characters {wanted.output_offset}-{following - 1} of {total} are shown."
        content.append(text_block(f"{end} Go on with output_offset={following}."))
    told = summary.model_dump() | {"text": text, "truncated": following is not None, "total_characters": total}
    told |= {"offset": wanted.output_offset, "next_output_offset": following}
    named = view.model_dump(exclude={"source", "start_line", "next_source_offset"})
    facts |= {"cells": [named | {"outputs": [told]}], "next_offset": None, "truncated": following is not None}
    return ToolResult(tool=wanted.tool, content=content, data=facts)


def leave_receipt_of_cells(workspace: Workspace, path: str, found: Iterable[tuple[int, int, list[str]]]) -> None:
    """Record the lines of a notebook's cells that a search has shown, if they are still the same.

    Args:
        workspace: for which reader.
        path: of the notebook.
        found: runs of lines without their ends: the cell's index, the first line from 1, the lines.
    """
    try:
        with workspace.show(path) as opened:
            document = opened_notebook(workspace, opened)
            shown = [one for run in found if (one := _still_there(document, *run)) is not None]
            if shown and opened.unchanged():
                record_cells(workspace.tracker, opened.stat, document, shown)
    except FsToolsError:  # The notebook is gone or broken by now: it must be read before it can be edited.
        return


def _still_there(document: NotebookDocument, index: int, first: int, lines: list[str]) -> ShownLines | None:
    if index >= len(document.cells):
        return None
    source = lines_of(document.cells[index].source)
    there = source[first - 1 : first - 1 + len(lines)]
    if [line.removesuffix("\n").removesuffix("\r") for line in there] != [line.removesuffix("\r") for line in lines]:
        return None
    return ShownLines(index, Shown(first, first + len(there) - 1, "".join(there), len(source)))
