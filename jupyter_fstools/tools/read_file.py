"""read_file: shows a window of lines, or a picture."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

from pydantic import Field, field_validator

from ..backends.protocol import FileStat, OpenFile
from ..content.fingerprint import Fingerprint
from ..content.source import BytesContent
from ..documents.media.media_bytes import HEAD_BYTES, PDF, media_type
from ..documents.notebook import is_notebook_name
from ..documents.text.encoding import TextEncoding, encoding_of
from ..documents.text.line_index import LineIndex
from ..documents.text.shown_lines import Shown
from ..documents.text.window import WindowLimits, read_window, text_index
from ..errors import Conflict, FsToolsError, Invalid, TooLarge, naming_file
from ..gate.draft import EAGER_BYTES
from ..gate.line_check import keep_unchanged
from ..gate.workspace import Workspace
from ..stores.records import Receipt
from .arguments import Arguments, Count, Flag, Ordinal, PathArgument, Text
from .read_notebook import ReadNotebookArguments, show_notebook
from .read_picture import Pages, show_picture
from .read_result import Look, shown_part, total_lines, unchanged_result, window_result
from .tool import Tool, ToolResult, answer_named

_ATTEMPTS = 4
# `_RECENT_NS` is longer than a writer pauses within one write on a busy machine; after `_PAUSE_SECONDS` it has gone on.
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
    encoding: Annotated[Text | None, Field(description="The encoding, if neither UTF-8 nor declared in the file.")] = (
        None
    )
    column: Annotated[Ordinal, Field(description="First character of the first line, to page inside a long line.")] = 1
    max_output_bytes: Annotated[Ordinal | None, Field(description="Maximum bytes of text.")] = None
    max_line_length: Annotated[Ordinal | None, Field(description="Cut lines longer than this many characters.")] = None

    @field_validator("offset")
    @classmethod
    def _first_line(cls, offset: int) -> int:
        return max(offset, 1)


def run(workspace: Workspace, arguments: ReadFileArguments) -> ToolResult:
    """Show lines of a file and leave a receipt for them.

    Raises:
        TooLarge, OutOfRange, Binary, EncodingRefused, Conflict (writers keep changing it), and as `Workspace.show`
    """
    looks: list[Look] = []
    for left in reversed(range(_ATTEMPTS)):
        with workspace.show(arguments.path) as opened:
            if kind := _kind_of_picture(opened, arguments):
                return show_picture(workspace, opened, kind, arguments.pages, arguments.max_output_bytes)
            if is_notebook_name(opened.stat.path):
                return _show_notebook(workspace, opened, arguments)
            # The content of a page or room is a copy, so no write to it can be in progress.
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
    """The media type of a picture or PDF; None for a file that is read as text.

    Raises:
        Invalid: an argument does not fit that kind of file.
    """
    kind = media_type(opened.read(0, HEAD_BYTES))
    if kind == PDF and arguments.encoding and not arguments.pages:
        return None  # A PDF may be written as text: a caller that names its encoding wants to read that text.
    if kind == PDF:
        _require_no_line(opened.stat.path, arguments)
    elif arguments.pages:
        raise Invalid(
            f"pages: {opened.stat.path} is not a PDF",
            hint="Leave out pages; lines have offset and limit.",
            field="pages",
        )
    return kind


def _require_no_line(path: str, arguments: ReadFileArguments) -> None:
    """Refuse to show a PDF from a line on: its first pages would be taken for what follows.

    Raises:
        Invalid
    """
    misplaced = "offset" if arguments.offset > 1 else "column" if arguments.column > 1 else None
    if misplaced is not None:
        raise Invalid(
            f"{misplaced}: {path} is a PDF, which has no lines",
            hint="Leave it out, and name `pages`, such as '10-20'.",
            field=misplaced,
        )


def _show_notebook(workspace: Workspace, opened: OpenFile, arguments: ReadFileArguments) -> ToolResult:
    """Show a notebook's cells, counted from 1 as lines are."""
    if arguments.column > 1:
        raise Invalid(
            f"column: {opened.stat.path} is a notebook, which is shown cell by cell",
            hint="Use `read_notebook`; long cells are paged with `source_offset`, long lines with `source_column`.",
            field="column",
        )
    wanted = ReadNotebookArguments(
        path=arguments.path,
        offset=arguments.offset - 1,
        limit=arguments.limit,
        max_output_bytes=arguments.max_output_bytes,
    )
    return show_notebook(workspace, opened, wanted, tool="read_file")


def _is_quiet(workspace: Workspace, stat: FileStat) -> bool:
    """Whether no write to the file can be in progress: it is old, or the reader has a receipt of this version."""
    if not 0 <= time.time_ns() - stat.mtime_ns < _RECENT_NS:
        return True
    receipt = workspace.tracker.lookup(stat.key)
    return receipt is not None and receipt.version == stat.content_version


def _one_look(workspace: Workspace, opened: OpenFile, arguments: ReadFileArguments) -> tuple[Look, bool]:
    """Look at a file that was not written just now; returns also whether it was not written meanwhile."""
    try:
        look = _look(workspace, opened, workspace.versions.index(opened), arguments)
    finally:
        workspace.versions.note(opened)
    return look, _is_one_version(opened)


def _two_looks(workspace: Workspace, opened: OpenFile, arguments: ReadFileArguments) -> tuple[Look, bool]:
    """Look twice at a file that was written just now; returns also whether both looks agree.

    A writer within a write has set the file's times already, so they do not help. Line counts are not cached, as the
    file may still change. If another file has taken the name since, as tools and most editors replace files, nobody
    writes to the version that was opened, and it is shown.
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


def _look(workspace: Workspace, opened: OpenFile, index: LineIndex, arguments: ReadFileArguments) -> Look:
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
        window = shown_part(window, workspace.shown_bytes, numbers=arguments.line_numbers)
    return Look(opened, encoding, fingerprint, lines, receipt, window, views)


def _was_shown(
    receipt: Receipt | None, fingerprint: Fingerprint, arguments: ReadFileArguments, views: Sequence[str]
) -> bool:
    if receipt is None or arguments.force or arguments.column > 1 or receipt.encoding != arguments.encoding:
        return False
    return receipt.text_sha == fingerprint.text and any(view in receipt.views for view in views)


def _only_grew(looks: Sequence[Look]) -> bool:
    """Whether each look saw the previous one's text and more: a growing log is consistent up to its end."""
    return len(looks) == _ATTEMPTS and all(
        one.opened.size < next_one.opened.size and next_one.text.startswith(one.text)
        for one, next_one in pairwise(looks)
    )


def _answer(workspace: Workspace, arguments: ReadFileArguments, look: Look) -> ToolResult:
    if look.window is None:
        return unchanged_result(look)
    window = look.window
    total = total_lines(look.lines, window)
    shown = Shown(window.first, window.last, window.text, total, arguments.column, window.cuts)
    view = look.views[window.capped] if look.views else ""
    earlier = look.receipt
    if isinstance(look.opened, BytesContent):
        earlier = keep_unchanged(workspace.tracker, workspace.versions, earlier, look.opened)
    workspace.tracker.record_read(
        look.opened.stat, look.fingerprint, shown, earlier, view=view, encoding=arguments.encoding
    )
    return window_result(look, window, total, numbers=arguments.line_numbers, limited=bool(arguments.limit))


def _lines_of(opened: OpenFile, encoding: TextEncoding, index: LineIndex) -> LineIndex | None:
    """The index of the text's lines, as far as they are counted; None if they are not."""
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
    """Names of the requested window: one if all of it fits, and one if its byte limit cuts it.

    The name identifies a repeated read; there is none if conversations cannot be told apart.
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


READ_FILE = Tool(
    name="read_file",
    title="Read a file",
    description=(
        "Read a text file; do so before you edit or overwrite it. Each line is shown as its number, a tab and its "
        "text; number and tab are not part of the file. By default a file above 256 KiB needs offset or limit, and "
        "without limit 2000 lines are shown. Unchanged content that you have read is only confirmed (force=true "
        "shows it). Pictures are shown, PDFs as text or pictures of pages. For notebooks use read_notebook."
    ),
    arguments=ReadFileArguments,
    run=run,
    reads_only=True,
    idempotent=True,
    answer=answer_named("ReadFileAnswer"),
)
