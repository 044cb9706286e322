"""Finds files by name and returns one page of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel, Field

from ..backends.protocol import Backend, FileStat
from ..errors import Invalid
from ..globs.patterns import glob_in
from ..walking.listing import EVERYTHING, Visible
from ..walking.names import Folder, Look, joined
from ..walking.stopping import Cancelled, Reason, Stop, refusing_too_many_open
from ..walking.walk import Walk
from .start import folder_to_search

EPOCH = datetime(1970, 1, 1)
"""1970-01-01 in UTC, as file times are; a time without a zone is faster to format."""
SPARE = 1000
"""Files kept beyond those that a page needs, so that they are sorted less often."""


class FoundFile(BaseModel):
    """One file: its path from the root, its size and when it was last modified (ISO 8601, UTC)."""

    path: str
    size_bytes: int
    modified_at: str


class FoundFiles(BaseModel):
    """A page of the files that fit.

    Attributes:
        files: the page, in the order asked for.
        total: how many fit in all, or were found before the search ended early.
        truncated: there are more after this page, or the search ended early.
        ignored: files that fitted, and folders that were not entered, because an ignore file leaves them out.
        excluded: names of folders that are passed over by default and were met.
        skipped: what could not be looked into: `{"unreadable": n}`; empty if nothing.
        partial: why the search ended early; None if it is complete.
    """

    files: list[FoundFile]
    total: int
    truncated: bool
    ignored: int = 0
    excluded: list[str] = Field(default_factory=list)
    skipped: dict[str, int] = Field(default_factory=dict)
    partial: Reason | None = None


@refusing_too_many_open()
def find_files(
    backend: Backend,
    pattern: str,
    path: str = ".",
    *,
    limit: int = 1000,
    offset: int = 0,
    sort: Literal["modified", "path"] = "modified",
    include_hidden: bool = False,
    include_ignored: bool = False,
    visible: Visible = EVERYTHING,
    seconds: float | None = None,
    cancelled: Cancelled = None,
) -> FoundFiles:
    """Find files whose path fits a glob pattern (`patterns.compile_glob` says how it is read).

    Args:
        backend: where the files are.
        pattern: relative to `path`, or absolute and inside the root.
        path: the folder to search, as the caller spells it.
        limit: files in the page, at least 0.
        offset: files before the page.
        sort: newest first (then by path), or by path.
        include_hidden: wildcards take names that begin with a dot as well.
        include_ignored: also files that ignore files or the default exclusions leave out.
        visible: decides what is shown.
        seconds: the time limit; a search that reaches it returns a partial result and says so.
        cancelled: an event or a function; once it is true the search ends.

    Raises:
        Invalid: the pattern, or a negative limit or offset.
        OutsideRoot, NotFound, NotADirectory, Denied: the path.
        InputOutput: too many files are open.
    """
    if limit < 0 or offset < 0:
        raise Invalid("limit and offset take numbers from 0 up", limit=limit, offset=offset)
    compiled = glob_in(backend, pattern, include_hidden=include_hidden, field="pattern")
    stop = Stop(seconds, cancelled)
    walk = Walk(
        backend,
        folder_to_search(backend, "." if compiled.from_root else path, visible),
        compiled,
        include_ignored=include_ignored,
        visible=visible,
        stop=stop,
        in_order=sort == "path",
    )
    part = slice(offset, offset + limit)
    page, total = (_newest if sort == "modified" else _by_path)(walk, part)
    if compiled.malformed is not None and not total:
        raise compiled.malformed  # Raised only now: a malformed pattern may still be the name of a file.
    return FoundFiles(
        files=[FoundFile(path=name, size_bytes=size, modified_at=iso_time(-age)) for age, name, size in page],
        total=total,
        truncated=part.stop < total or stop.reason is not None,
        ignored=walk.tally.ignored,
        excluded=sorted(walk.tally.excluded),
        skipped={"unreadable": walk.tally.unreadable} if walk.tally.unreadable else {},
        partial=stop.reason,
    )


def iso_time(mtime_ns: int) -> str:
    """A time in ISO 8601, UTC, to the microsecond; the beginning of 1970 for a year that cannot be represented."""
    try:
        moment = EPOCH + timedelta(microseconds=mtime_ns // 1000)
    except OverflowError:
        moment = EPOCH
    return f"{moment.isoformat(timespec='microseconds')}Z"


def _newest(walk: Walk, part: slice) -> tuple[list[Look], int]:
    """A page of the newest files, and how many files there are; every file is looked at."""
    looks: list[Look] = []
    total, last = 0, None  # `last` is the last look that still fits on the page.
    for folder, files, links, _ in walk:
        found = folder.look(files) + _targets(folder, links)
        total += len(found)
        looks += [look for look in found if look < last] if last else found
        if len(looks) > 2 * part.stop + SPARE:
            looks = sorted(looks)[: part.stop]
            last = looks[-1] if looks else None
    return sorted(looks)[part], total


def _by_path(walk: Walk, part: slice) -> tuple[list[Look], int]:
    """A page of a walk's files in order, and how many files there are; only files on the page are looked at."""
    looks: list[Look] = []
    total = 0
    for folder, files, links, _ in walk:
        if total < part.stop:
            page = slice(max(part.start - total, 0), part.stop - total)
            looks += folder.look(files[page]) + _targets(folder, links[page])
        total += len(files) + len(links)
        walk.in_order = total < part.stop
    return looks, total


def _targets(folder: Folder, links: list[tuple[str, FileStat]]) -> list[Look]:
    return [(-target.mtime_ns, joined(folder.path, name), target.size) for name, target in links]
