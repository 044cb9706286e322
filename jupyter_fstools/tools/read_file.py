"""read_file: the lines of a text file, as a window, numbered, exact."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator

from ..backends.protocol import OpenFile
from ..documents.line_index import LineIndex
from ..documents.shown_lines import envelope, shown_body
from ..documents.text_encoding import TextEncoding, encoding_of
from ..documents.text_window import Window, WindowLimits, read_window
from ..errors import TooLarge
from ..read_tracker import Shown
from ..workspace import EAGER_BYTES, Workspace
from .arguments import Arguments, Count, Flag, Ordinal, PathArgument, Text
from .tool import Tool, ToolResult, text_block


class ReadFileArguments(Arguments):
    """What read_file takes."""

    path: PathArgument
    offset: Annotated[Count, Field(description="First line to show, 1-based (0 means 1).")] = 1
    limit: Annotated[Count, Field(description="How many lines to show (0 means the default).")] = 0
    line_numbers: Annotated[Flag, Field(description="Show each line as its number, a tab and its text.")] = True
    force: Annotated[Flag, Field(description="Show the text again even if it is unchanged since the last read.")] = (
        False
    )
    encoding: Annotated[
        Text | None, Field(description="Encoding of the file, if it is not UTF-8 and does not say so itself.")
    ] = None
    column: Annotated[
        Ordinal, Field(description="First character to show of the first line, to page inside a long line.")
    ] = 1
    max_output_bytes: Annotated[Ordinal | None, Field(description="Show at most so many bytes of text.")] = None
    max_line_length: Annotated[Ordinal | None, Field(description="Cut longer lines to so many characters.")] = None

    @field_validator("offset")
    @classmethod
    def _first_line(cls, offset: int) -> int:
        return max(offset, 1)


def run(workspace: Workspace, arguments: ReadFileArguments) -> ToolResult:
    """Show lines of a file and leave a receipt for them."""
    with workspace.show(arguments.path) as opened:
        encoding = encoding_of(opened, opened.stat.path, arguments.encoding)
        _require_window_for_large(workspace, opened, arguments)
        fingerprint = workspace.fingerprint(opened) if opened.size <= EAGER_BYTES else None
        index = workspace.index(opened)
        view = _view(arguments)
        if not arguments.force and arguments.column == 1 and fingerprint is not None:
            receipt = workspace.tracker.lookup(opened.stat.key)
            if receipt is not None and view in receipt.views and receipt.text_sha == fingerprint.text:
                return _unchanged(opened, arguments, index, encoding)
        window = read_window(opened, encoding, index, _wanted(workspace, arguments))
        total = _total_lines(opened, encoding, index, window)
        shown = Shown(window.first, window.last, window.text, total, arguments.column, window.cuts)
        workspace.tracker.record_read(opened.stat, fingerprint, shown, view=view, encoding=arguments.encoding)
    return _result(opened, arguments, encoding, index, window, total)


def _require_window_for_large(workspace: Workspace, opened: OpenFile, arguments: ReadFileArguments) -> None:
    limit = workspace.limits.full_read_bytes
    if opened.size > limit and not _is_window(arguments):
        raise TooLarge(
            f"{opened.stat.path} has {opened.size} bytes; a file above {limit} is read in windows",
            hint="Give offset and limit, for instance offset=1 and limit=200, or find the place with grep first.",
            size=opened.size,
            limit=limit,
        )


def _is_window(arguments: ReadFileArguments) -> bool:
    given = arguments.model_fields_set
    return bool(arguments.limit) or "offset" in given or "column" in given


def _wanted(workspace: Workspace, arguments: ReadFileArguments) -> WindowLimits:
    limits = workspace.limits
    return WindowLimits(
        first=arguments.offset,
        lines=arguments.limit or limits.read_lines,
        max_bytes=min(arguments.max_output_bytes or limits.max_output_bytes, limits.max_output_bytes),
        max_line=min(arguments.max_line_length or limits.max_line_length, limits.max_output_bytes),
        column=arguments.column,
    )


def _view(arguments: ReadFileArguments) -> str:
    """The window as it was asked for: what decides whether a repeated read is the same read."""
    return ",".join(
        str(part)
        for part in (
            arguments.offset,
            arguments.limit,
            int(arguments.line_numbers),
            arguments.column,
            arguments.max_output_bytes or 0,
            arguments.max_line_length or 0,
            arguments.encoding or "",
        )
    )


def _total_lines(opened: OpenFile, encoding: TextEncoding, index: LineIndex, window: Window) -> int | None:
    if window.next_line is None:
        return window.last
    if not encoding.counts_newline_bytes or not index.complete:
        return None
    return index.total_lines


def _unchanged(opened: OpenFile, arguments: ReadFileArguments, index: LineIndex, encoding: TextEncoding) -> ToolResult:
    text = (
        "File unchanged since the last read: the text shown then in this conversation is still current. "
        "Use force=true to show it again."
    )
    data = _facts(opened, encoding, index, index.total_lines if encoding.counts_newline_bytes else None)
    data |= {
        "content": None,
        "lines_read": 0,
        "start_line": None,
        "end_line": None,
        "next_offset": None,
        "truncated": False,
        "unchanged": True,
        "cut_lines": [],
    }
    return ToolResult(tool="read_file", content=[text_block(text)], data=data)


def _facts(opened: OpenFile, encoding: TextEncoding, index: LineIndex, total: int | None) -> dict[str, Any]:
    return {
        "success": True,
        "path": opened.stat.path,
        "kind": "text",
        "file_size": opened.size,
        "total_lines": total,
        "eol": index.eol if encoding.counts_newline_bytes else None,
        "encoding": encoding.codec,
        "bom": bool(encoding.bom),
        "final_newline": index.final_newline if index.complete and encoding.counts_newline_bytes else None,
    }


def _result(
    opened: OpenFile,
    arguments: ReadFileArguments,
    encoding: TextEncoding,
    index: LineIndex,
    window: Window,
    total: int | None,
) -> ToolResult:
    body = shown_body(window.rows, window.first, numbers=arguments.line_numbers, cuts=window.cuts)
    body += "\n" if window.text.endswith("\n") else ""
    partial = window.first > 1 or window.next_line is not None
    attributes: list[tuple[str, object]] = [("path", opened.stat.path), ("totalLines", _spelled_total(total, window))]
    if partial:
        attributes.append(("lines", f"{window.first}-{window.last}"))
    content = [text_block(envelope("read_file", attributes, body))]
    by_default = window.next_line is not None and not arguments.limit
    truncated = bool(window.capped or by_default or window.cuts)
    note = _note(window, total, truncated=truncated)
    if note:
        content.append(text_block(note))
    data = _facts(opened, encoding, index, total)
    if not encoding.counts_newline_bytes:
        data |= _text_facts(window, partial=partial)
    data |= {
        "content": window.text,
        "lines_read": len(window.rows),
        "start_line": window.first if window.rows else None,
        "end_line": window.last if window.rows else None,
        "next_offset": window.next_line,
        "truncated": truncated,
        "unchanged": False,
        "cut_lines": [cut._asdict() for cut in window.cuts],
    }
    return ToolResult(tool="read_file", content=content, data=data)


def _spelled_total(total: int | None, window: Window) -> str:
    return str(total) if total is not None else f"{window.last + 1}+"


def _text_facts(window: Window, *, partial: bool) -> dict[str, Any]:
    """What an index of bytes cannot tell of a wide encoding, told from the text shown."""
    index = LineIndex(0)
    data = window.text.encode("utf-8")
    index.count(data)
    return {"eol": index.eol, "final_newline": None if partial else index.final_newline}


def _note(window: Window, total: int | None, *, truncated: bool) -> str:
    if total == 0:
        return "The file is empty."
    if not truncated or window.next_line is None:
        return ""
    of = f" of {total}" if total is not None else ""
    return f"Lines {window.first}-{window.last}{of} are shown. Go on with offset={window.next_line}."


READ_FILE = Tool(
    name="read_file",
    title="Read a file",
    description=(
        "Read a text file, or a window of its lines. Lines are shown as their number, a tab and their text; the number "
        "and the tab are not part of the file. Without offset and limit at most 2000 lines of a file up to 256 KiB are "
        "shown; read larger files in windows. A file must be read before it can be edited or overwritten. Reading the "
        "same unchanged window again answers with a short note instead (force=true shows it)."
    ),
    arguments=ReadFileArguments,
    run=run,
    reads_only=True,
    idempotent=True,
)
