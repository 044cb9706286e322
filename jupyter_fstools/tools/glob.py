"""glob: finds files by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from ..documents.text.shown_lines import fitting
from ..errors import FsToolsError, TimedOut, naming_argument
from ..gate.workspace import Workspace
from ..globs.patterns import root_spelled
from ..search.glob import FoundFiles, find_files
from ..walking.names import joined
from .arguments import Arguments, Count, Flag, Text
from .search_notes import linked_folder, list_of_globs, not_searched, nothing, paging, shown_path, text_blocks
from .tool import Block, Tool, ToolResult, answer_named

_OTHER_WILD = frozenset("*?{}\\")


class GlobArguments(Arguments):
    """The arguments of glob."""

    pattern: Annotated[
        Text,
        Field(
            description=(
                "*.py: at any depth; /*.py: only in the folder; src/**/*.py: below src; ?, [abc], [!abc], {py,md}. "
                "Hidden names need their dot."
            )
        ),
    ]
    path: Annotated[Text, Field(description="Folder to search.")] = "."
    limit: Annotated[Count | None, Field(description="Files at most.")] = None
    offset: Annotated[Count, Field(description="Files to skip.")] = 0
    sort: Annotated[Literal["modified", "path"], Field(description="Newest first, or by path.")] = "modified"
    include_hidden: Annotated[Flag, Field(description="Wildcards match hidden names too.")] = False
    include_ignored: Annotated[
        Flag, Field(description="Include what .gitignore excludes, and node_modules and the like.")
    ] = False


def run(workspace: Workspace, arguments: GlobArguments) -> ToolResult:
    """Find files, leaving no receipt.

    Raises:
        TimedOut: none was found in time; NotFound, NotADirectory, Denied, OutsideRoot: the folder; as `find_files`
    """
    with naming_argument("path"):
        folder = workspace.paths.existing_folder(arguments.path, "Name its folder in path and the file in pattern.")
    limits = workspace.limits
    limit = min(arguments.limit or limits.list_entries, limits.max_list_entries)
    found = find_files(
        workspace.backend,
        arguments.pattern,
        folder.path or ".",
        limit=limit,
        offset=arguments.offset,
        sort=arguments.sort,
        include_hidden=arguments.include_hidden,
        include_ignored=arguments.include_ignored,
        visible=workspace.paths,
        seconds=limits.search_seconds,
        cancelled=workspace.cancelled,
    )
    if found.partial == "timeout" and not found.total:
        raise TimedOut(
            f"no path matched {arguments.pattern!r} within {limits.search_seconds:g} seconds",
            hint="Search a folder further down (path), or begin the pattern with one.",
        )
    end = arguments.offset + limit
    rows = [shown_path(file.path) for file in found.files]
    if (fit := fitting(rows, workspace.shown_bytes)) < len(rows):
        found.files, rows, end, found.truncated = found.files[:fit], rows[:fit], arguments.offset + fit, True
    following = end if end < found.total else None

    def content() -> list[Block]:
        shown, notes = _shown(found, rows, arguments.offset, following)
        if not found.total and not found.partial:
            notes = [*_mistaken(workspace, folder.path, arguments.pattern), *notes]
        return text_blocks(shown, notes)

    def data() -> dict[str, Any]:
        return {"path": folder.path or ".", **found.model_dump(), "next_offset": following}

    return ToolResult("glob", content, data)


def _mistaken(workspace: Workspace, folder: str, pattern: str) -> Iterator[str]:
    """The probable mistake in a pattern that no file matches."""
    if pattern.startswith("!"):
        yield f"[a leading ! excludes nothing here; `grep` takes glob={pattern!r}]"
    yield from list_of_globs(pattern)
    if "\\" in pattern:
        yield "[a backslash makes the sign after it mean itself; folders are separated by /]"
    root = root_spelled(workspace.backend, pattern)
    folder, below = "" if root else folder, pattern[len(root) :].strip("/")
    yield from linked_folder(workspace, folder, below)
    lead = pattern[: len(root)] + "/" * pattern[len(root) :].startswith("/")
    literal = _literal_folders(workspace, folder, below.split("/"))
    fitting = lead + "/".join(name.replace("[", "[[]") for name in literal) + below[len("/".join(literal)) :]
    if _only_brackets(below) and _is_folder(workspace, joined(folder, below)):
        yield f"[{pattern.rstrip('/')!r} is a folder: {f'{fitting}/**'!r} matches what is in it]"
    elif fitting != lead + below:
        named = lead + "/".join(literal)
        yield f"[brackets stand for one character; for the folder named {named!r} write {fitting!r}]"


def _literal_folders(workspace: Workspace, folder: str, names: list[str]) -> list[str]:
    """The first names of a pattern, up to the last one with brackets that is the literal name of a folder."""
    literal: list[str] = []
    for at, name in enumerate(names):
        if not _only_brackets(name):
            break
        folder = joined(folder, name)
        if "[" in name:
            if not _is_folder(workspace, folder):
                break
            literal = names[: at + 1]
    return literal


def _only_brackets(names: str) -> bool:
    """Whether names are not empty, and have no special characters of patterns except brackets."""
    return bool(names) and _OTHER_WILD.isdisjoint(names)


def _is_folder(workspace: Workspace, path: str) -> bool:
    try:
        return workspace.peek(path).kind == "directory"
    except FsToolsError:
        return False


def _shown(found: FoundFiles, rows: list[str], offset: int, following: int | None) -> tuple[list[str], list[str]]:
    if not rows:
        rows.append(nothing("No files match the pattern.", "No files", found.total, offset, found.partial))
    return rows, [
        *paging(found.total, "files", following, found.partial),
        *not_searched(found),
    ]


GLOB = Tool(
    name="glob",
    title="Find files by name",
    description=(
        "Find files by name, newest first. Hidden names, what .gitignore excludes, .git, node_modules and the like "
        "are skipped. To search inside files use grep."
    ),
    arguments=GlobArguments,
    run=run,
    reads_only=True,
    idempotent=True,
    answer=answer_named("GlobAnswer"),
)
