"""Builds what read_file answers for text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..backends.protocol import OpenFile
from ..content.fingerprint import Fingerprint
from ..documents.text.encoding import TextEncoding
from ..documents.text.line_index import LineIndex
from ..documents.text.shown_lines import envelope, fitting, shown_body
from ..documents.text.window import Window
from ..stores.records import Receipt
from .tool import Block, ToolResult, text_block


class Look(NamedTuple):
    """The result of one look at a file; `window` is None if the reader has it already.

    `views` are the names of the window: one if all of it fits, and one if its byte limit cuts it.
    """

    opened: OpenFile
    encoding: TextEncoding
    fingerprint: Fingerprint | None
    lines: LineIndex | None
    receipt: Receipt | None
    window: Window | None
    views: Sequence[str]

    @property
    def text(self) -> str:
        """The lines seen."""
        return self.window.text if self.window is not None else ""


def total_lines(lines: LineIndex | None, window: Window) -> int | None:
    """How many lines the file has; None if they have not been counted to its end."""
    if window.next_line is None:
        return window.last
    return lines.total_lines if lines is not None and lines.complete else None


def unchanged_result(look: Look) -> ToolResult:
    """The answer if the reader has the window already."""
    text = (
        "File unchanged since the last read: the text shown then in this conversation is still current. "
        "Use force=true to show it again."
    )
    data = _facts(look, look.lines.total_lines if look.lines is not None else None)
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


def _facts(look: Look, total: int | None) -> dict[str, Any]:
    opened, encoding, lines = look.opened, look.encoding, look.lines
    return {
        "success": True,
        "path": opened.stat.path,
        "kind": "text",
        "file_size": opened.size,
        "total_lines": total,
        "eol": lines.eol if lines is not None else None,
        "encoding": encoding.codec,
        "bom": bool(encoding.bom),
        "final_newline": lines.final_newline if lines is not None and lines.complete else None,
    }


def window_result(look: Look, window: Window, total: int | None, *, numbers: bool, limited: bool) -> ToolResult:
    """The answer with the lines of a window.

    Args:
        look: the file.
        window: its lines.
        total: lines of the whole file; None if unknown.
        numbers: show line numbers.
        limited: the caller said how many lines to show.
    """
    by_default = window.next_line is not None and not limited
    truncated = bool(window.capped or by_default or window.cuts)
    path = look.opened.stat.path

    def content() -> list[Block]:
        body = shown_body(window.rows, window.first, numbers=numbers, cuts=window.cuts)
        body += "\n" if window.text.endswith("\n") else ""
        attributes: list[tuple[str, object]] = [("path", path), ("totalLines", _spelled_total(total, window))]
        if window.first > 1 or window.next_line is not None:
            attributes.append(("lines", f"{window.first}-{window.last}"))
        note = _note(window, total, truncated=truncated)
        return [text_block(envelope("read_file", attributes, body)), *([text_block(note)] if note else [])]

    data = _facts(look, total)
    data |= {
        "content": window.text,
        "lines_read": window.count,
        "start_line": window.first if window.count else None,
        "end_line": window.last if window.count else None,
        "next_offset": window.next_line,
        "truncated": truncated,
        "unchanged": False,
        "cut_lines": [cut._asdict() for cut in window.cuts],
    }
    return ToolResult(tool="read_file", content=content, data=data)


def shown_part(window: Window, most: int | None, *, numbers: bool) -> Window:
    """The first lines of a window that fit into `most` bytes as shown (None: all); at least one."""
    if most is None or not window.count:
        return window
    rows = shown_body(window.rows, window.first, numbers=numbers, cuts=window.cuts).split("\n")
    fit = fitting(rows, most)
    if fit == len(rows):
        return window
    last = window.first + fit - 1
    cuts = [cut for cut in window.cuts if cut.line <= last]
    *lines, _ = window.text.split("\n", fit)
    # After a cut line its own rest would follow, so its newline is left out.
    text = "\n".join([*lines[:-1], window.rows[fit - 1]] if cuts and cuts[-1].line == last else [*lines, ""])
    return Window(window.first, fit, text, cuts, next_line=last + 1, capped=True)


def _spelled_total(total: int | None, window: Window) -> str:
    return str(total) if total is not None else f"{window.last + 1}+"


def _note(window: Window, total: int | None, *, truncated: bool) -> str:
    if total == 0:
        return "The file is empty."
    if not truncated or window.next_line is None:
        return ""
    of = f" of {total}" if total is not None else ""
    return f"Lines {window.first}-{window.last}{of} are shown. Go on with offset={window.next_line}."
