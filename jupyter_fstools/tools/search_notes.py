"""Writes the notes on what searches found, and left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from ..documents.text.invisible import INVISIBLE
from ..errors import FsToolsError, counted
from ..gate.workspace import Workspace
from ..search.decoding import MOST_AT_ONCE
from ..search.glob import FoundFiles
from ..search.query import FoundText
from ..walking.names import joined
from ..walking.stopping import Reason
from .tool import Block, text_block

_WORDS = {
    "binary": "binary",
    "large": "too large (name one as path to search it)",
    "unreadable": "unreadable",
    "slow": "not searched to the end: the pattern takes too long on them",
    "long": f"with more than {MOST_AT_ONCE >> 20} MiB in a line (with multiline in all), or in a notebook",
    "notebook": "broken notebooks",
}
_WILD = frozenset("*?[{}\\")
"""Characters that have a meaning in a pattern."""


def paging(total: int | None, what: str, next_offset: int | None, partial: Reason | None = None) -> Iterator[str]:
    """The note on how much there is, if not all is shown; "so far" if the search ended early."""
    if next_offset is not None:
        so_far = "in all" if partial is None else "so far"
        how_many = f"there are more {what}" if total is None else f"{total} {what} {so_far}"
        yield f"[{how_many}; go on with offset={next_offset}]"


def not_searched(found: FoundFiles | FoundText) -> Iterator[str]:
    """The notes on what was skipped, and on a search that ended early."""
    if found.ignored:
        what = "1 file or folder" if found.ignored == 1 else f"{found.ignored} files and folders"
        yield f"[left out by .gitignore: {what}; include_ignored=true includes them]"
    if found.excluded:
        yield f"[folders not entered: {', '.join(found.excluded)}]"
    if found.skipped:
        yield f"[not searched: {', '.join(f'{number} {_WORDS[reason]}' for reason, number in found.skipped.items())}]"
    yield from ended_early(found.partial)


def ended_early(partial: Reason | None) -> Iterator[str]:
    """The note on a search that ended early."""
    if partial == "timeout":
        yield "[partial: the search ran out of time; there may be more. Search a folder further down.]"
    elif partial == "cancelled":
        yield "[partial: the search was cancelled; there may be more]"


def nothing(at_all: str, what: str, total: int | None, offset: int, partial: Reason | None) -> str:
    """The text if nothing is shown; an unfinished search does not prove that there is nothing."""
    if total == 0:
        return at_all if partial is None else "Nothing was found before the search ended."
    if total is None or total > offset:
        return "The matches could not be shown" + ("." if partial is None else " before the search ended.")
    return f"{what} from this offset on; the total is {total}{'' if partial is None else ' so far'}."


def not_read(paths: Sequence[str]) -> Iterator[str]:
    """The note on files whose lines are shown but leave no receipt."""
    if paths:
        others = f" and {counted(len(paths) - 1, 'other file')}" if len(paths) > 1 else ""
        yield f"[do not count as read: the lines of {shown_path(paths[0])}{others}; read before you edit]"


def list_of_globs(glob: str) -> Iterator[str]:
    """The note on a glob that matched nothing and looks like several, separated by commas."""
    parts = [part.strip() for part in glob.split(",")]
    if len(parts) == 1 or not all(parts) or glob.startswith("!") or any(sign in glob for sign in "{[\\"):
        return
    endings = all(part.startswith("*.") and "/" not in part for part in parts)
    meant = f"*.{{{','.join(part[2:] for part in parts)}}}" if endings else f"{{{','.join(parts)}}}"
    yield f"[a comma in a glob is part of a name: {glob!r} is one pattern; write {meant!r} for several]"


def linked_folder(workspace: Workspace, folder: str, pattern: str) -> Iterator[str]:
    """The note on a pattern that matched nothing and names a folder by a link, which no pattern follows."""
    names = list(takewhile(_WILD.isdisjoint, pattern.strip("/").split("/")))
    for count in range(1, len(names) + 1):
        spelled = "/".join(names[:count])
        try:
            there = workspace.peek(joined(folder, spelled))
        except FsToolsError:
            return
        if there.kind != "directory":
            return
        if there.path != joined(folder, spelled):
            yield f"[{spelled!r} is a link, which a pattern does not follow; path={there.path or '.'!r} searches there]"
            return


def text_blocks(rows: Sequence[str], notes: Sequence[str]) -> list[Block]:
    """The rows and, in a block of its own, the notes."""
    return [text_block("\n".join(part)) for part in (rows, notes) if part]


def shown_path(path: str) -> str:
    """A path in one line; a path with invisible characters is written as a Python string, in ASCII."""
    return ascii(path) if "\t" in path or INVISIBLE.search(path) else path
