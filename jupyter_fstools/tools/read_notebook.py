"""read_notebook: shows cells with ids, sources and outputs."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ..backends.protocol import OpenFile
from ..documents.notebook import (
    NotebookDocument,
    PageRequest,
    ShownLines,
    cell_heading,
    cell_view,
    cells_page,
    output_at,
    output_rows,
    output_text,
)
from ..documents.text.shown_lines import envelope
from ..errors import Conflict, Invalid, NotebookRefused, OutOfRange, counted
from ..gate.cell_receipts import record_cells
from ..gate.workspace import Workspace
from .arguments import Arguments, Count, Ordinal, PathArgument, Text, beside_others
from .opened_notebook import is_recent, opened_notebook, require_notebook_name
from .read_picture import picture_blocks
from .tool import Block, Tool, ToolResult, answer_named, text_block

_ATTEMPTS = 4
_PAUSE_SECONDS = 0.05
_OF_SOURCE = {"source_offset": 1, "source_limit": 0, "source_column": 1}
"""The arguments about a cell's source, and the largest value of each that asks for nothing."""


class ReadNotebookArguments(Arguments):
    """The arguments of read_notebook."""

    path: PathArgument
    cell_id: Annotated[Text | None, Field(description="Show only this cell.")] = None
    index: Annotated[Count | None, Field(description="Show only this cell, by index from 0.")] = None
    offset: Annotated[Count, Field(description="First cell to show, from 0.")] = 0
    limit: Annotated[Count, Field(description="Cells to show.")] = 0
    outputs: Annotated[
        Literal["summary", "none", "full"],
        Field(description="summary: types, sizes and beginnings; full: as much text as fits, and pictures."),
    ] = "summary"
    output_index: Annotated[
        Count | None,
        Field(description="Show only this output of the cell, from 0."),
    ] = None
    output_offset: Annotated[Count, Field(description="First character of that output, to page through it.")] = 0
    mime_type: Annotated[Text | None, Field(description="The form of that output, such as text/html.")] = None
    source_offset: Annotated[
        Count,
        Field(description="First line of the cell's source, from 1, to page in a long cell."),
    ] = 1
    source_limit: Annotated[Count, Field(description="Lines of the cell's source to show.")] = 0
    source_column: Annotated[
        Ordinal, Field(description="First character of that line, to page inside a long line.")
    ] = 1
    max_output_bytes: Annotated[Ordinal | None, Field(description="Maximum bytes of text.")] = None

    @model_validator(mode="after")
    def _one_cell_where_one_is_meant(self) -> ReadNotebookArguments:
        one = self.cell_id is not None or self.index is not None
        # Many clients send defaults for arguments that they leave out.
        of_source = next((name for name, nothing in _OF_SOURCE.items() if getattr(self, name) > nothing), None)
        within = of_source if self.output_index is None else "output_index"
        if within and not one:
            raise beside_others(within, "is about one cell: name it by cell_id or index")
        if of_source and self.output_index is not None:
            raise beside_others(of_source, "is about the cell's source: leave it out, or output_index")
        if one and (self.offset or self.limit):
            field = "offset" if self.offset else "limit"
            raise beside_others(field, "give either a cell (cell_id or index) or offset and limit, not both")
        if self.output_index is None and (self.output_offset or self.mime_type is not None):
            field = "output_offset" if self.output_offset else "mime_type"
            raise beside_others(field, "is about one output: name it by output_index")
        return self


def run(workspace: Workspace, arguments: ReadNotebookArguments) -> ToolResult:
    """Show cells and leave a receipt for them.

    Raises:
        NotebookRefused, NotFound, Ambiguous, OutOfRange, Invalid, Conflict, and as `Workspace.show`
    """
    with workspace.show(arguments.path) as opened:
        return show_notebook(workspace, opened, arguments)


def show_notebook(
    workspace: Workspace, opened: OpenFile, wanted: ReadNotebookArguments, *, tool: str = "read_notebook"
) -> ToolResult:
    """Show cells of a notebook that is held open, and leave a receipt for them; `tool` is the calling tool.

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
                result, shown = _answer(workspace, document, now, wanted, tool)
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


def _answer(
    workspace: Workspace, document: NotebookDocument, opened: OpenFile, wanted: ReadNotebookArguments, tool: str
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
    if following is not None and tool == "read_file":
        following += 1  # It counts cells from 1, as it does lines.

    def content() -> list[Block]:
        blocks = [text_block(_envelope(facts, page.text, first, last)), *pictures]
        if following is not None:
            blocks.append(text_block(_go_on(first, last, facts["total_cells"], following)))
        return blocks

    def data() -> dict[str, Any]:
        cells = [view.model_dump() for view in page.cells]
        return facts | {"cells": cells, "next_offset": following, "truncated": page.truncated}

    return ToolResult(tool, content, data), page.shown


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
    workspace: Workspace, document: NotebookDocument, facts: dict[str, Any], wanted: ReadNotebookArguments, room: int
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
    return ToolResult(tool="read_notebook", content=content, data=facts)


READ_NOTEBOOK = Tool(
    name="read_notebook",
    title="Read a notebook",
    description=(
        "Read the cells of a Jupyter notebook (.ipynb); do so before you edit them. Shows their ids, sources with "
        "line numbers (not part of them) and summaries of their outputs, in pages: go on with offset. Pictures and "
        "long outputs are shown on request (outputs, output_index)."
    ),
    arguments=ReadNotebookArguments,
    run=run,
    reads_only=True,
    idempotent=True,
    answer=answer_named("NotebookAnswer"),
)
