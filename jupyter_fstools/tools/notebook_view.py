"""What a reader is shown of a notebook: a page of its cells, or one output."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

from ..backends.protocol import FileStat, OpenFile
from ..cell_receipts import record_cells
from ..documents.decoding import Patience, decoded_image
from ..documents.image import Room
from ..documents.media_types import HEAD_BYTES, PDF, media_type
from ..documents.notebook import (
    NotebookDocument,
    Output,
    PageRequest,
    ShownLines,
    cell_heading,
    cell_view,
    cells_page,
    output_at,
    output_rows,
    output_text,
)
from ..documents.shown_lines import envelope
from ..errors import Binary, Conflict, FsToolsError, Invalid, NotebookRefused, OutOfRange, TooLarge
from ..workspace import Workspace
from .tool import Block, ToolResult, text_block

_ATTEMPTS = 4
_PAUSE_SECONDS = 0.05
# A program that saves a notebook in place leaves half of it for a moment.
_RECENT_NS = 500_000_000
_MOST_IMAGES = 20
_TAKEN = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True)
class NotebookRequest:
    """What to show of a notebook; as `ReadNotebookArguments` has it, `tool` is who asks."""

    tool: str = "read_notebook"
    cell_id: str | None = None
    index: int | None = None
    offset: int = 0
    limit: int | None = None
    outputs: Literal["summary", "none", "full"] = "summary"
    output_index: int | None = None
    output_offset: int = 0
    mime_type: str | None = None
    source_offset: int = 1
    source_limit: int | None = None
    max_output_bytes: int | None = None


def show_notebook(workspace: Workspace, opened: OpenFile, wanted: NotebookRequest) -> ToolResult:
    """Show cells of a notebook that is held open, and leave a receipt for them.

    Raises:
        NotebookRefused, NotFound, Ambiguous, OutOfRange, Invalid, TooLarge, Conflict: it changes all the time
    """
    path = opened.stat.path
    require_notebook_name(path)
    for left in reversed(range(_ATTEMPTS)):
        with nullcontext(opened) if left == _ATTEMPTS - 1 else workspace.backend.read(path) as now:
            try:
                document = NotebookDocument(now)
                result, shown = _answer(workspace, document, now, wanted)
            except (NotebookRefused, Conflict):
                if left == 0 or not is_recent(now.stat):
                    raise
            else:
                if now.unchanged():
                    record_cells(workspace.tracker, now.stat, document, shown)
                    return result
        time.sleep(_PAUSE_SECONDS)
    raise Conflict(f"{path} changes while it is read", hint="Read it again in a moment.")


def require_notebook_name(path: str) -> None:
    """Refuse what is no `.ipynb`.

    Raises:
        NotebookRefused
    """
    if not is_notebook_name(path):
        raise NotebookRefused(
            f"{path} is no notebook (.ipynb)", hint="Use read_file, edit_file and write_file for other files."
        )


def is_notebook_name(path: str) -> bool:
    """Whether a file is a notebook by its name."""
    return path.lower().endswith(".ipynb")


def is_recent(stat: FileStat) -> bool:
    """The file was written a moment ago: somebody may be in the middle of saving it."""
    return 0 <= time.time_ns() - stat.mtime_ns < _RECENT_NS


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
        cells=1 if one else wanted.limit,
        outputs=wanted.outputs,
        source_offset=wanted.source_offset,
        source_limit=wanted.source_limit,
        max_bytes=room,
        max_line=workspace.limits.max_line_length,
    )
    page = cells_page(document, request)
    last = first + len(page.cells) - 1
    content = [text_block(_envelope(facts, page.text, first, last))]
    content += _image_blocks(workspace, facts["path"], page.pictures)
    if page.next_index is not None and not one:
        content.append(text_block(_go_on(first, last, facts["total_cells"], page.next_index)))
    facts |= {
        "cells": [view.model_dump() for view in page.cells],
        "next_offset": None if one else page.next_index,
        "truncated": page.truncated,
    }
    return ToolResult(tool=wanted.tool, content=content, data=facts), page.shown


def _first_cell(document: NotebookDocument, offset: int) -> int:
    total = len(document.cells)
    if offset and offset >= total:
        raise OutOfRange(
            f"offset {offset}: the notebook has {total} cells",
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
    if facts["nbformat"][0] != 4:
        attributes.append(("nbformat", f"{facts['nbformat'][0]} (read-only)"))
    return envelope("read_notebook", attributes, body)


def _go_on(first: int, last: int, total: int, following: int) -> str:
    shown = f"Cell {first} of {total} is" if last == first else f"Cells {first}-{last} of {total} are"
    return f"{shown} shown (counted from 0). Go on with read_notebook, offset={following}."


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
        if wanted.mime_type is not None and not wanted.mime_type.startswith("image/"):
            raise
        text, total, following = "", 0, None
    heading: list[tuple[str, object]] = [("index", output.index), ("type", output.output_type)]
    heading += [("mime", ", ".join(output.mimes))] if output.mimes else []
    heading += [("offset", wanted.output_offset), ("totalCharacters", total)]
    view = cell_view(document, cell, source_limit=0, output_characters=None)
    rows = [cell_heading(view), *output_rows(heading, text)]
    content = [text_block(_envelope(facts, "".join(f"{row}\n" for row in rows), cell.index, cell.index))]
    if output.has_image:
        content += _image_blocks(workspace, facts["path"], [output])
    if following is not None:
        end = f"Characters {wanted.output_offset}-{following - 1} of {total} are shown."
        content.append(text_block(f"{end} Go on with output_offset={following}."))
    told = summary.model_dump() | {"text": text, "truncated": following is not None, "total_characters": total}
    told |= {"offset": wanted.output_offset, "next_output_offset": following}
    named = view.model_dump(exclude={"source", "start_line", "next_source_offset"})
    facts |= {"cells": [named | {"outputs": [told]}], "next_offset": None, "truncated": following is not None}
    return ToolResult(tool=wanted.tool, content=content, data=facts)


def _image_blocks(workspace: Workspace, path: str, outputs: Sequence[Output]) -> Iterator[Block]:
    """The pictures, no larger than models take; what cannot be shown is said."""
    for number, output in enumerate(outputs):
        if number == _MOST_IMAGES:
            yield text_block(f"[... {len(outputs) - number} more pictures: ask for them one by one with output_index]")
            return
        try:
            data, mime_type = _picture(workspace, f"{path}, output {output.index}", output)
        except FsToolsError as refusal:
            yield text_block(f"[a picture is not shown: {refusal.message}]")
        else:
            yield {"type": "image", "data": base64.b64encode(data).decode("ascii"), "mimeType": mime_type}


def _picture(workspace: Workspace, name: str, output: Output) -> tuple[bytes, str]:
    limits = workspace.limits
    if output.end - output.start > limits.max_document_bytes:
        raise TooLarge(f"{name} has {output.end - output.start} bytes", limit=limits.max_document_bytes)
    image = output.image()
    assert image is not None
    try:
        data = base64.b64decode(image.base64, validate=True)
    except ValueError:
        raise Binary(f"{name} is no base64") from None
    found = media_type(data[:HEAD_BYTES])
    if found is None or found == PDF:
        raise Binary(f"{name} says it is {image.mime_type}, and is not")
    if len(data) <= limits.max_image_bytes and found in _TAKEN:
        return data, found
    room = Room(limits.max_image_pixels, limits.max_image_bytes)
    shown = decoded_image(data, found, name, room, Patience(limits.document_seconds, workspace.cancelled))
    return (data if shown.data is None else shown.data), shown.mime_type
