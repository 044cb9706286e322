"""grep: finds lines that match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from ..documents.notebook import is_notebook_name
from ..documents.text.shown_lines import Shown, fitting
from ..errors import FsToolsError, TimedOut, naming_argument
from ..gate.workspace import Workspace
from ..open_documents.protocol import is_live
from ..search.grep import search_text
from ..search.query import FoundText, OutputMode, TextMatch, TextQuery
from .arguments import Arguments, Count, Flag, Text
from .grep_rows import fitting_matches, left_out, match_rows
from .opened_notebook import leave_receipt_of_cells
from .search_notes import (
    linked_folder,
    list_of_globs,
    not_read,
    not_searched,
    nothing,
    paging,
    shown_path,
    text_blocks,
)
from .tool import Block, Tool, ToolResult, answer_named

_SHOWN_LINE = 500
_MOST_NOTEBOOKS = 20
"""Most notebooks of a page whose lines leave receipts: each is read once more for that."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE = re.compile(r"[][(){}*+?$]")
_EXPRESSION = re.compile(r"\\|\.[*+]|\(\?|^\^|\$$")
_AS_TEXT = "[as plain text the pattern is there: its brackets or signs mean something else; set literal=true]"
_AROUND = ("-C", "context", "context_lines")
_ALWAYS = ("-n", "line_numbers")


def _mode(value: Any) -> Any:
    return {"files_with_matches": "files", "counts": "count"}.get(value, value) if isinstance(value, str) else value


class GrepArguments(Arguments):
    """The arguments of grep."""

    pattern: Annotated[Text, Field(description="Regular expression (ripgrep's), matched within lines.")]
    path: Annotated[Text, Field(description="Folder or file to search.")] = "."
    glob: Annotated[
        Text | None, Field(description="Only these files, such as *.py or src/**/*.{ts,tsx}; !*.md: all others.")
    ] = None
    file_type: Annotated[Text | None, Field(description="Only files of a kind: py, js, rust, md.")] = None
    case_insensitive: Annotated[Flag, Field(description="Ignore case.")] = False
    literal: Annotated[Flag, Field(description="The pattern is plain text.")] = False
    multiline: Annotated[Flag, Field(description="Matches may span lines, such as start[\\s\\S]*?end.")] = False
    before_lines: Annotated[Count, Field(description="Lines to show before each match.")] = 0
    after_lines: Annotated[Count, Field(description="Lines to show after it.")] = 0
    output_mode: Annotated[
        OutputMode,
        Field(description="The lines, only the files, or the number of matching lines per file."),
        BeforeValidator(_mode),
    ] = "content"
    limit: Annotated[Count | None, Field(description="Maximum lines (or files).")] = None
    offset: Annotated[Count, Field(description="Lines (or files) to skip.")] = 0
    exact_total: Annotated[
        Flag,
        Field(description=("false: stop at limit, which is quick in a huge tree; the total is unknown then.")),
    ] = True
    include_hidden: Annotated[Flag, Field(description="Search hidden names too.")] = False
    include_ignored: Annotated[
        Flag, Field(description="Include what .gitignore excludes, and node_modules and the like.")
    ] = False
    include_outputs: Annotated[Flag, Field(description="Search notebooks' text outputs too.")] = False

    @model_validator(mode="before")
    @classmethod
    def _around(cls, given: Any) -> Any:
        """Translate `-C` to before and after; ignore `-n`, as lines are always numbered."""
        if isinstance(given, dict):
            given = {key: value for key, value in given.items() if key not in _ALWAYS}
            for name in _AROUND:
                if name in given:
                    lines = given[name]
                    rest = {key: value for key, value in given.items() if key != name}
                    return {"before_lines": lines, "after_lines": lines, **rest}
        return given


def run(workspace: Workspace, arguments: GrepArguments) -> ToolResult:
    """Search the text of files; lines shown whole leave a receipt.

    Raises:
        TimedOut: nothing was found, or read, in time; NotFound, Denied, OutsideRoot: the path; as `search_text`
    """
    with naming_argument("path"):
        start = workspace.peek(arguments.path)
        if start.kind == "missing":
            raise workspace.paths.not_found(arguments.path, start)
    limits = workspace.limits
    limit = min(arguments.limit or limits.grep_matches, limits.max_list_entries)
    query = TextQuery(
        **arguments.model_dump(exclude={"path", "limit"}),
        limit=limit,
        max_file_bytes=limits.max_search_bytes,
        max_line_length=min(_SHOWN_LINE, limits.max_line_length),
        max_output_characters=limits.max_output_bytes,
    )
    found = search_text(
        workspace.backend,
        query,
        arguments.path,
        visible=workspace.paths,
        seconds=limits.search_seconds,
        cancelled=workspace.cancelled,
    )
    if found.partial == "timeout" and found.total == 0:
        raise TimedOut(
            f"nothing matched within {limits.search_seconds:g} seconds",
            hint="Search a folder further down (path), or fewer files (`glob='*.py'`, `file_type`).",
        )
    if found.partial == "timeout" and query.output_mode == "content" and not found.matches:
        raise TimedOut(
            f"lines match, but none could be read within {limits.search_seconds:g} seconds",
            hint="Search fewer or smaller files (path, `glob='*.py'`, `file_type`).",
        )
    plain = found.total == 0 and not found.none_fits and _occurs_as_text(workspace, query, arguments.path)
    end, cut = arguments.offset + limit, ""
    if query.output_mode != "content":
        if (fit := fitting(_file_rows(found, query), workspace.shown_bytes)) < len(found.files):
            found.files, found.truncated, end = found.files[:fit], True, arguments.offset + fit
    elif (matches := fitting_matches(found.matches, limits.max_output_bytes)) is not None:
        cut = left_out(found.matches[0], matches[0])
        found.matches, found.truncated, end = matches, True, arguments.offset + len(matches)
    elif found.partial:
        end = arguments.offset + len(found.matches)
    without_receipt = _leave_receipts(workspace, found, query.max_line_length)
    following = end if found.total is None or end < found.total else None

    def content() -> list[Block]:
        rows, notes = _shown(found, query, following)
        said = [_AS_TEXT] if plain else [cut] if cut else []
        if found.none_fits and query.glob and not found.partial:
            said += linked_folder(workspace, start.path, query.glob)
        return text_blocks(rows, [*said, *notes, *not_read(without_receipt)])

    return ToolResult("grep", content, lambda: _data(found, query, following))


def _occurs_as_text(workspace: Workspace, query: TextQuery, path: str) -> bool:
    """Whether an expression that matches nothing occurs as plain text: most likely code with brackets was meant."""
    if query.literal or _CODE.search(query.pattern) is None or _EXPRESSION.search(query.pattern):
        return False
    asked = {"literal": True, "output_mode": "files", "limit": 1, "offset": 0, "exact_total": False}
    found = search_text(
        workspace.backend,
        query.model_copy(update=asked),
        path,
        visible=workspace.paths,
        seconds=workspace.limits.search_seconds / 4,
        cancelled=workspace.cancelled,
    )
    return bool(found.files)


def _leave_receipts(workspace: Workspace, found: FoundText, most: int) -> list[str]:
    """Record the lines shown in full of files whose version is known and of the first notebooks.

    Returns:
        The paths of the others.
    """
    notebooks, others = 0, []
    for path, matches in groupby(found.matches, attrgetter("path")):
        version = found.versions.get(path)
        if is_notebook_name(path) and notebooks < _MOST_NOTEBOOKS:
            notebooks += 1
            leave_receipt_of_cells(workspace, path, _whole_lines_of_cells(matches, most))
            continue
        if version is None or version.stat.kind != "file":
            others.append(path)
            continue
        earlier = workspace.tracker.lookup(version.stat.key)
        is_other = earlier is not None and is_live(earlier.version) and earlier.text_sha != version.fingerprint.text
        if is_other and _is_open(workspace, path):
            continue  # The lines that were shown of the open text stay shown: people see that text, not the file.
        for first, lines in _whole_lines(matches, most):
            last = first + len(lines) - 1
            text = "\n".join(lines) + ("\n" if last < version.total_lines or version.final_newline else "")
            shown = Shown(first, last, text, version.total_lines)
            earlier = workspace.tracker.record_read(
                version.stat, version.fingerprint, shown, earlier, view="grep", keeps_encoding=True
            )
    return others


def _is_open(workspace: Workspace, path: str) -> bool:
    """Whether people have the file open, and may have changed it before they save it."""
    try:
        with workspace.show(path) as opened:
            return is_live(opened.stat.version)
    except FsToolsError:
        return False


def _whole_lines_of_cells(matches: Iterable[TextMatch], most: int) -> Iterator[tuple[int, int, list[str]]]:
    """Runs of lines of cells' sources that are shown unaltered: the cell's index, the first line, the lines."""
    for (cell, output), of_cell in groupby(matches, attrgetter("cell_index", "output_index")):
        if cell is not None and output is None:
            yield from ((cell, first, lines) for first, lines in _whole_lines(of_cell, most))


def _whole_lines(matches: Iterable[TextMatch], most: int) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines of one file that are shown unaltered: not cut, and without bytes that are not UTF-8."""
    shown: dict[int, str] = {}
    for match in matches:
        own = [] if match.cut else match.text.split("\n")
        shown |= dict(enumerate(match.before, match.line - len(match.before)))
        shown |= dict(enumerate(own, match.line))
        shown |= dict(enumerate(match.after, match.last_line + 1))
    whole = sorted(line for line, text in shown.items() if len(text) <= most and _SURROGATE.search(text) is None)
    for _, run in groupby(enumerate(whole), lambda numbered: numbered[1] - numbered[0]):
        numbers = [line for _, line in run]
        yield numbers[0], [shown[line] for line in numbers]


def _data(found: FoundText, query: TextQuery, next_offset: int | None) -> dict[str, Any]:
    data: dict[str, Any] = {"path": found.path or ".", "output_mode": query.output_mode}
    if query.output_mode == "content":
        data["matches"] = [_as_told(match) for match in found.matches]
    elif query.output_mode == "count":
        data["files"] = [{"path": file.path, "count": file.count} for file in found.files]
    else:
        data["files"] = [{"path": file.path} for file in found.files]
    told = {"total", "truncated", "skipped", "ignored", "excluded", "partial"}
    return {**data, **found.model_dump(include=told), "next_offset": next_offset}


def _as_told(match: TextMatch) -> dict[str, Any]:
    """A match without fields that do not apply: the cell's in a text file, the cut of a whole line."""
    told: dict[str, Any] = {
        "path": match.path,
        "line": match.line,
        "column": match.column,
        "length": match.length,
        "text": match.text,
        **({"text_column": match.text_column, "cut": match.cut} if match.cut else {}),
        **({"cut_lines": match.cut_lines} if match.cut_lines else {}),
        "before": match.before,
        "after": match.after,
    }
    if match.cell_index is not None:
        cell = {name: getattr(match, name) for name in ("cell_id", "cell_index", "output_index")}
        told |= {name: value for name, value in cell.items() if value is not None}
    return told


def _shown(found: FoundText, query: TextQuery, following: int | None) -> tuple[list[str], list[str]]:
    """The rows, and the notes on them."""
    what = "matching lines" if query.output_mode == "content" else "files"
    rows = match_rows(found.matches) if query.output_mode == "content" else _file_rows(found, query)
    if not rows:
        none = "No file matches the glob or the file type." if found.none_fits else "Nothing matches."
        rows = [nothing(none, "Nothing", found.total, query.offset, found.partial)]
    mistaken = list_of_globs(query.glob) if query.glob and not found.total and not found.partial else ()
    return rows, [
        *mistaken,
        *paging(found.total, what, following, found.partial),
        *not_searched(found),
    ]


def _file_rows(found: FoundText, query: TextQuery) -> list[str]:
    count = query.output_mode == "count"
    return [shown_path(file.path) + (f"\t{file.count}" if count else "") for file in found.files]


GREP = Tool(
    name="grep",
    title="Search in files",
    description=(
        "Search the text of files and the cells of notebooks. Binary and hidden files, what .gitignore excludes, "
        ".git, node_modules and the like are skipped. A line shown whole counts as read: you can edit it."
    ),
    arguments=GrepArguments,
    run=run,
    reads_only=True,
    idempotent=True,
    answer=answer_named("GrepAnswer"),
)
