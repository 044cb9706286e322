"""list_files: what is in a folder."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field

from ..backends.protocol import Entry
from ..errors import Denied, FsToolsError, InputOutput, NotADirectory
from ..search.walk import EXCLUDED
from ..workspace import Workspace
from .arguments import Arguments, Count, Flag, Ordinal, Text
from .search_notes import text_blocks
from .tool import Tool, ToolResult

_MOST_NAMED = 20


class ListFilesArguments(Arguments):
    """What list_files takes."""

    path: Annotated[
        Text,
        Field(
            description='Folder, relative to the root; "." is the root.',
        ),
    ] = "."
    recursive: Annotated[Flag, Field(description="List everything below the folder too.")] = False
    limit: Annotated[Ordinal | None, Field(description="At most so many entries.")] = None
    offset: Annotated[Count, Field(description="Leave out so many entries first, to page.")] = 0


def run(workspace: Workspace, arguments: ListFilesArguments) -> ToolResult:
    """List a folder, leaving no receipt."""
    folder = workspace.peek(arguments.path)
    if folder.kind == "missing":
        raise workspace.not_found(arguments.path, folder)
    if folder.kind != "directory":
        raise NotADirectory(f"{arguments.path!r} is not a folder", hint="Read a file with read_file.")
    found = workspace.entries(folder, recursive=arguments.recursive, skipped=EXCLUDED)
    listed = sorted((entry for entry in found if _is_inside(workspace, entry)), key=_order)
    limit = min(arguments.limit or workspace.limits.list_entries, workspace.limits.max_list_entries)
    page = listed[arguments.offset : arguments.offset + limit]
    entries = [described for entry in page if (described := _described(workspace, entry)) is not None]
    truncated = arguments.offset + limit < len(listed)
    not_entered = sorted({entry.path for entry in listed if entry.name in EXCLUDED and entry.kind == "directory"})
    data: dict[str, Any] = {
        "path": folder.path or ".",
        "entries": entries,
        "total": len(listed),
        "truncated": truncated,
        "next_offset": arguments.offset + limit if truncated else None,
        "not_entered": not_entered[:_MOST_NAMED] if arguments.recursive else [],
        "skipped": _unreadable(workspace, listed)[:_MOST_NAMED] if arguments.recursive else [],
    }
    return ToolResult(tool="list_files", content=text_blocks(*_shown(data, arguments)), data=data)


def _unreadable(workspace: Workspace, listed: Sequence[Entry]) -> list[str]:
    """The folders in a recursive listing that look empty because nobody may read them."""
    parents = {posixpath.dirname(entry.path) for entry in listed}
    skipped = []
    for entry in listed:
        if entry.kind == "directory" and entry.path not in parents and entry.name not in EXCLUDED:
            try:
                next(iter(workspace.backend.list(entry.path)), None)
            except (Denied, InputOutput):
                skipped.append(entry.path)
            except FsToolsError:
                continue  # It is gone by now.
    return skipped


def _is_inside(workspace: Workspace, entry: Entry) -> bool:
    """A link is listed only if what it points to may be seen."""
    if entry.kind != "link":
        return True
    try:
        return workspace.peek(_given_back(entry)).kind != "missing"
    except FsToolsError:
        return False


def _order(entry: Entry) -> tuple[list[tuple[bool, str]], str]:
    # Folders before files on every level, then by name; a folder stands before what is in it.
    parts = entry.path.split("/")
    is_file = entry.kind != "directory"
    return [(is_file and at == len(parts) - 1, part) for at, part in enumerate(parts)], entry.path


def _given_back(entry: Entry) -> str:
    # As a path, spaces alone are refused as empty; as a name in the root they may be there.
    return entry.path if entry.path.strip() else f"./{entry.path}"


def _described(workspace: Workspace, entry: Entry) -> dict[str, Any] | None:
    try:
        stat = workspace.peek(_given_back(entry))
    except FsToolsError:
        return None
    if stat.kind == "missing":
        return None
    is_directory = stat.kind == "directory"
    described: dict[str, Any] = {"path": _given_back(entry), "name": entry.name, "is_directory": is_directory}
    if stat.kind == "file":
        described["size_bytes"] = stat.size
    described["modified_at"] = iso_time(stat.mtime_ns)
    return described


def iso_time(nanoseconds: int) -> str:
    """A file's time as ISO 8601 in UTC, to the microsecond."""
    try:
        moment = datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.replace(microsecond=nanoseconds // 1000 % 1_000_000).isoformat().replace("+00:00", "Z")


def _shown(data: dict[str, Any], arguments: ListFilesArguments) -> tuple[list[str], list[str]]:
    """The rows, and what is said beside them."""
    rows = []
    for entry in data["entries"]:
        name = entry["path"] if arguments.recursive else entry["name"]
        shown = _on_one_line(name)
        rows.append(f"{shown}/" if entry["is_directory"] else f"{shown}\t{entry.get('size_bytes', '')}".rstrip("\t"))
    if not rows:
        rows.append("The folder is empty." if not data["total"] else "No entries from this offset on.")
    notes = []
    if data["truncated"]:
        notes.append(f"[{data['total']} entries in all; go on with offset={data['next_offset']}]")
    if data["not_entered"]:
        notes.append(f"[not entered: {', '.join(map(_on_one_line, data['not_entered']))}]")
    if data["skipped"]:
        notes.append(f"[not readable: {', '.join(map(_on_one_line, data['skipped']))}]")
    return rows, notes


def _on_one_line(name: str) -> str:
    # A name may hold line ends, tabs and terminal controls: it is shown quoted, one entry is one line.
    controls = any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name)
    return ascii(name) if controls else name


LIST_FILES = Tool(
    name="list_files",
    title="List a folder",
    description=(
        "List the files and folders in a folder: folders first (they end in /), files with their size in bytes. "
        "recursive=true lists everything below; folders such as .git and node_modules are named but not entered."
    ),
    arguments=ListFilesArguments,
    run=run,
    reads_only=True,
    idempotent=True,
)
