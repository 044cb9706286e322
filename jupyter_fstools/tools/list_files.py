"""list_files: lists a folder."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from ..backends.protocol import FileStat
from ..documents.text.shown_lines import fitting
from ..errors import naming_argument
from ..gate.workspace import Workspace
from ..search.glob import iso_time
from ..walking.listing import Listing, Run, link_target, seen_in
from ..walking.names import Seen
from ..walking.stopping import Stop
from .arguments import Arguments, Count, Flag, Text
from .search_notes import ended_early, nothing, paging, shown_path, text_blocks
from .tool import Tool, ToolResult, answer_named

_MOST_NAMED = 20


class ListFilesArguments(Arguments):
    """The arguments of list_files."""

    path: Annotated[
        Text,
        Field(
            description="Folder, relative to the root.",
        ),
    ] = "."
    recursive: Annotated[Flag, Field(description="List everything below too.")] = False
    limit: Annotated[Count | None, Field(description="Maximum entries.")] = None
    offset: Annotated[Count, Field(description="Entries to skip.")] = 0


def run(workspace: Workspace, arguments: ListFilesArguments) -> ToolResult:
    """List a folder, leaving no receipt."""
    with naming_argument("path"):
        folder = workspace.paths.existing_folder(arguments.path, "Read a file with `read_file`.")
    limits = workspace.limits
    limit = min(arguments.limit or limits.list_entries, limits.max_list_entries)
    end = arguments.offset + limit
    stop = Stop(limits.search_seconds, workspace.cancelled)
    listing = Listing(
        workspace.backend,
        folder.path,
        recursive=arguments.recursive,
        visible=workspace.paths,
        ended=stop.now,
    )
    page, total = _part(listing, arguments.offset, end)
    seen = seen_in(workspace.backend, folder.path, page)
    entries = [entry for path, what in seen if (entry := _described(workspace, path, what)) is not None]
    rows = _rows(entries, arguments)
    if (fit := fitting(rows, workspace.shown_bytes)) < len(rows):
        entries, rows, end = entries[:fit], rows[:fit], arguments.offset + fit
    data: dict[str, Any] = {
        "path": folder.path or ".",
        "entries": entries,
        "total": total,
        "truncated": end < total or stop.reason is not None,
        "next_offset": end if end < total else None,
        "not_entered": sorted(listing.not_entered)[:_MOST_NAMED],
        "skipped": listing.unreadable[:_MOST_NAMED],
        "partial": stop.reason,
    }
    return ToolResult("list_files", lambda: text_blocks(*_shown(data, arguments, rows)), data)


def _part(listing: Listing, start: int, end: int) -> tuple[list[Run], int]:
    """The part of a listing from one offset to another, and the total number of entries."""
    part, total = [], 0
    for folder, names in listing:
        if chosen := names[max(start - total, 0) : max(end - total, 0)]:
            part.append(Run(folder, chosen))
        total += len(names)
    return part, total


def _described(workspace: Workspace, path: str, seen: Seen) -> dict[str, Any] | None:
    """An entry of a page; None for a link that no longer leads anywhere."""
    what: Seen | FileStat | None = seen
    if seen.kind == "link":
        what = link_target(workspace.backend, path, workspace.paths)
    if what is None:
        return None
    # A path of spaces only is refused as empty, although a file in the root may have such a name.
    given_back = path if path.strip() else f"./{path}"
    is_directory = what.kind == "directory"
    described: dict[str, Any] = {"path": given_back, "name": path.rpartition("/")[2], "is_directory": is_directory}
    if what.kind == "file":
        described["size_bytes"] = what.size
    described["modified_at"] = iso_time(what.mtime_ns)
    return described


def _rows(entries: list[dict[str, Any]], arguments: ListFilesArguments) -> list[str]:
    rows = []
    for entry in entries:
        name = entry["path"] if arguments.recursive else entry["name"]
        shown = shown_path(name)
        rows.append(f"{shown}/" if entry["is_directory"] else f"{shown}\t{entry.get('size_bytes', '')}".rstrip("\t"))
    return rows


def _shown(data: dict[str, Any], arguments: ListFilesArguments, rows: list[str]) -> tuple[list[str], list[str]]:
    """The rows, and the notes on them."""
    if not rows and not data["partial"]:
        rows.append(nothing("The folder is empty.", "No entries", data["total"], arguments.offset, None))
    notes = [*paging(data["total"], "entries", data["next_offset"])]
    if data["not_entered"]:
        notes.append(f"[not entered: {', '.join(map(shown_path, data['not_entered']))}]")
    if data["skipped"]:
        notes.append(f"[not readable: {', '.join(map(shown_path, data['skipped']))}]")
    return rows, [*notes, *ended_early(data["partial"])]


LIST_FILES = Tool(
    name="list_files",
    title="List a folder",
    description=(
        "List a folder: folders first (they end in /), then files with their size in bytes. .git, node_modules and "
        "the like are named but not entered."
    ),
    arguments=ListFilesArguments,
    run=run,
    reads_only=True,
    idempotent=True,
    answer=answer_named("ListFilesAnswer"),
)
