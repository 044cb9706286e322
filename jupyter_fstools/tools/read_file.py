"""read_file: shows a window of lines, or a picture."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

from pydantic import Field, field_validator

from ..backends.protocol import FileStat, OpenFile
from ..content.fingerprint import Fingerprint
from ..content.source import BytesContent
from ..documents.media.media_types import HEAD_BYTES, PDF, media_type
from ..documents.text.encoding import TextEncoding, encoding_of
from ..documents.text.line_index import LineIndex
from ..documents.text.shown_lines import envelope, shown_body
from ..documents.text.window import Window, WindowLimits, read_window, text_index
from ..errors import Conflict, FsToolsError, Invalid, TooLarge, naming_file
from ..gate.draft import EAGER_BYTES
from ..gate.read_tracker import Shown
from ..gate.workspace import Workspace
from ..stores.records import Receipt
from .arguments import Arguments, Count, Flag, Ordinal, PathArgument, Text
from .read_notebook import show_as_file
from .read_picture import Pages, show_picture
from .tool import Block, Tool, ToolResult, answer_named, text_block

_ATTEMPTS = 4
# Longer than a writer stands still in the middle of one write on a busy machine, and a pause in which it goes on.
_RECENT_NS = 100_000_000
_PAUSE_SECONDS = 0.01


class ReadFileArguments(Arguments):
    """The arguments of read_file."""

    path: PathArgument
    offset: Annotated[Count, Field(description="First line to show, from 1.")] = 1
    limit: Annotated[Count, Field(description="Lines to show.")] = 0
    pages: Pages = None
    line_numbers: Annotated[Flag, Field(description="Show line numbers.")] = True
    force: Annotated[Flag, Field(description="Show the text even if it is unchanged since the last read.")] = False
    encoding: Annotated[Text | None, Field(description="Where it is neither UTF-8 nor declared in the file.")] = None
    column: Annotated[Ordinal, Field(description="First character of the first line, to page inside a long line.")] = 1
    max_output_bytes: Annotated[Ordinal | None, Field(description="Bytes of text at most.")] = None
    max_line_length: Annotated[Ordinal | None, Field(description="Cut longer lines to so many characters.")] = None

    @field_validator("offset")
    @classmethod
    def _first_line(cls, offset: int) -> int:
        return max(offset, 1)


class _Look(NamedTuple):
    """The result of one look at a file; no window where the reader has it already."""

    opened: OpenFile
    encoding: TextEncoding
    fingerprint: Fingerprint | None
    lines: LineIndex | None
    receipt: Receipt | None
    window: Window | None

    @property
    def text(self) -> str:
        """The lines seen."""
        return self.window.text if self.window is not None else ""


def run(workspace: Workspace, arguments: ReadFileArguments) -> ToolResult:
    """Show lines of a file and leave a receipt for them.

    Raises:
        TooLarge, OutOfRange, Binary, EncodingRefused, Conflict (writers keep changing it), and as `Workspace.show`
    """
    looks: list[_Look] = []
    for left in reversed(range(_ATTEMPTS)):
        with workspace.show(arguments.path) as opened:
            if kind := _kind_of_picture(opened, arguments):
                return show_picture(workspace, opened, kind, arguments.pages, arguments.max_output_bytes)
            if opened.stat.path.lower().endswith(".ipynb"):
                misplaced = "pages" if arguments.pages else "column" if arguments.column > 1 else None
                return show_as_file(
                    workspace, opened, arguments.offset, arguments.limit, arguments.max_output_bytes, misplaced
                )
            # What a page or room holds is a copy: nobody is in the middle of writing it.
            quiet = isinstance(opened, BytesContent) or _is_quiet(workspace, opened.stat)
            try:
                with naming_file(opened.stat.path):
                    look, steady = (_one_look if quiet else _two_looks)(workspace, opened, arguments)
            except FsToolsError:
                if left == 0 or (quiet and _is_one_version(opened)):
                    raise
                continue
            looks.append(look)
            if steady or (left == 0 and _only_grew(looks)):
                return _answer(workspace, arguments, look).as_of(opened)
    raise Conflict(f"{arguments.path!r} changes while it is read", hint="Read it again in a moment.")


def _kind_of_picture(opened: OpenFile, arguments: ReadFileArguments) -> str | None:
    """The media type of a picture or PDF; None for what is read as text."""
    kind = media_type(opened.read(0, HEAD_BYTES))
    if kind == PDF and arguments.encoding and not arguments.pages:
        return None  # A PDF may be written as text: who names its encoding wants to read it so.
    if arguments.pages and kind != PDF:
        raise Invalid(
            f"pages: {opened.stat.path} is not a PDF",
            hint="Leave out pages; lines have offset and limit.",
            field="pages",
        )
    return kind


def _is_quiet(workspace: Workspace, stat: FileStat) -> bool:
    """Nobody can be in the middle of writing the file: it is older than that, or known to this reader as it is."""
    if not 0 <= time.time_ns() - stat.mtime_ns < _RECENT_NS:
        return True
    receipt = workspace.tracker.lookup(stat.key)
    return receipt is not None and receipt.version == stat.version


def _one_look(workspace: Workspace, opened: OpenFile, arguments: ReadFileArguments) -> tuple[_Look, bool]:
    """Look at a file that nobody wrote just now; and say whether nobody wrote it meanwhile."""
    look = _look(workspace, opened, workspace.versions.index(opened), arguments)
    return look, _is_one_version(opened)


def _two_looks(workspace: Workspace, opened: OpenFile, arguments: ReadFileArguments) -> tuple[_Look, bool]:
    """Look twice at a file that was written just now; and say whether both looks agree.

    A writer in the middle of its work has stamped the file already, so its times do not tell. What is counted is not
    kept, as it may not be what the file comes to hold. Where another file has taken the name since, as tools and most
    editors replace one, nobody writes into the version that was opened, and it is shown.
    """
    looks = []
    for _ in range(2):
        time.sleep(_PAUSE_SECONDS)
        with workspace.backend.read(opened.stat.path) as again:
            if again.stat.version != opened.stat.version and opened.unchanged():
                return _one_look(workspace, opened, arguments)
            looks.append(_look(workspace, again, LineIndex(again.size), arguments))
    first, second = looks
    same = first.window == second.window and first.fingerprint == second.fingerprint
    return second, same and first.opened.stat.version == second.opened.stat.version


def _is_one_version(opened: OpenFile) -> bool:
    return isinstance(opened, BytesContent) or opened.unchanged()


def _look(workspace: Workspace, opened: OpenFile, index: LineIndex, arguments: ReadFileArguments) -> _Look:
    encoding = encoding_of(opened, opened.stat.path, arguments.encoding)
    _require_window_for_large(workspace, opened, arguments)
    if opened.size <= EAGER_BYTES:
        index.scan_all(opened)
    fingerprint = index.fingerprint
    lines = _lines_of(opened, encoding, index)
    receipt = workspace.tracker.lookup(opened.stat.key)
    window = None
    wanted = _wanted(workspace, arguments)
    views = _views(workspace, arguments, wanted)
    if fingerprint is None or not _was_shown(receipt, fingerprint, arguments, views):
        window = read_window(opened, encoding, index, wanted)
    return _Look(opened, encoding, fingerprint, lines, receipt, window)


def _was_shown(
    receipt: Receipt | None, fingerprint: Fingerprint, arguments: ReadFileArguments, views: Sequence[str]
) -> bool:
    if receipt is None or arguments.force or arguments.column > 1 or receipt.encoding != arguments.encoding:
        return False
    return receipt.text_sha == fingerprint.text and any(view in receipt.views for view in views)


def _only_grew(looks: Sequence[_Look]) -> bool:
    """Every look saw what the one before saw, and more: a log that somebody writes is one version up to its end."""
    return len(looks) == _ATTEMPTS and all(
        one.opened.size < next_one.opened.size and next_one.text.startswith(one.text)
        for one, next_one in pairwise(looks)
    )


def _answer(workspace: Workspace, arguments: ReadFileArguments, look: _Look) -> ToolResult:
    if look.window is None:
        return _unchanged(look)
    window = look.window
    total = _total_lines(look.lines, window)
    shown = Shown(window.first, window.last, window.text, total, arguments.column, window.cuts)
    views = _views(workspace, arguments, _wanted(workspace, arguments))
    view, seen = views[window.capped] if views else "", (look.opened.stat, look.fingerprint)
    workspace.tracker.record_read(*seen, shown, look.receipt, view=view, encoding=arguments.encoding)
    return _result(look, window, total, arguments)


def _lines_of(opened: OpenFile, encoding: TextEncoding, index: LineIndex) -> LineIndex | None:
    """The index of the text's lines, as far as they were counted; None if they were not."""
    if encoding.counts_newline_bytes:
        return index
    return text_index(opened, encoding) if opened.size <= EAGER_BYTES else None


def _require_window_for_large(workspace: Workspace, opened: OpenFile, arguments: ReadFileArguments) -> None:
    limit = workspace.limits.full_read_bytes
    if opened.size > limit and not _is_window(arguments):
        raise TooLarge(
            f"{opened.stat.path} has {opened.size} bytes; a file above {limit} is read in windows",
            hint="Give offset and limit, for instance `offset=1` and `limit=200`, or find the place with `grep` first.",
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


def _views(workspace: Workspace, arguments: ReadFileArguments, wanted: WindowLimits) -> Sequence[str]:
    """The window as it was asked for, where its room sufficed, and where that ended it.

    It decides whether a repeated read is the same read; nothing does in a conversation that nobody can tell apart.
    """
    if workspace.conversation is None:
        return ()
    asked = (
        arguments.offset,
        arguments.limit,
        int(arguments.line_numbers),
        arguments.column,
        arguments.max_output_bytes or 0,
        arguments.max_line_length or 0,
        arguments.encoding or "",
    )
    more = (f"in {workspace.conversation}",) if workspace.conversation else ()
    return [",".join(map(str, (*asked, *room, *more))) for room in ((), (wanted.max_bytes,))]


def _total_lines(lines: LineIndex | None, window: Window) -> int | None:
    if window.next_line is None:
        return window.last
    return lines.total_lines if lines is not None and lines.complete else None


def _unchanged(look: _Look) -> ToolResult:
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


def _facts(look: _Look, total: int | None) -> dict[str, Any]:
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


def _result(look: _Look, window: Window, total: int | None, arguments: ReadFileArguments) -> ToolResult:
    by_default = window.next_line is not None and not arguments.limit
    truncated = bool(window.capped or by_default or window.cuts)
    path = look.opened.stat.path

    def content() -> list[Block]:
        body = shown_body(window.rows, window.first, numbers=arguments.line_numbers, cuts=window.cuts)
        body += "\n" if window.text.endswith("\n") else ""
        attributes: list[tuple[str, object]] = [("path", path), ("totalLines", _spelled_total(total, window))]
        if window.first > 1 or window.next_line is not None:
            attributes.append(("lines", f"{window.first}-{window.last}"))
        note = _note(window, total, truncated=truncated)
        return [text_block(envelope("read_file", attributes, body)), *([text_block(note)] if note else [])]

    data = _facts(look, total)
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
        "Read a text file; do so before you edit or overwrite it. Each line is shown as its number, a tab and its "
        "text; number and tab are not part of the file. Above 256 KiB give offset and limit; without them 2000 "
        "lines are shown. Unchanged content that you have read is only confirmed (force=true shows it). Pictures "
        "are shown, PDFs as text or pictures of pages. For notebooks use read_notebook."
    ),
    arguments=ReadFileArguments,
    run=run,
    reads_only=True,
    idempotent=True,
    answer=answer_named("ReadFileAnswer"),
)
