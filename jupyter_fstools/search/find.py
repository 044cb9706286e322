"""Files by name: what the glob tool answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, Field

from ..backends.protocol import Backend
from ..errors import Denied, Invalid, NotADirectory, NotFound
from .folders import Look, joined, look_at
from .patterns import compile_glob
from .stopping import Cancelled, Reason, Stop
from .walk import NoneDenied, Walk


class FoundFile(BaseModel):
    """One file: its path from the root, its size and when it was last modified (ISO 8601, UTC)."""

    path: str
    size_bytes: int
    modified_at: str


class FoundFiles(BaseModel):
    """A page of the files that fit.

    Attributes:
        files: the page, in the order asked for.
        total: how many fit in all.
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
    may_read: Callable[[str], bool] | None = None,
    none_denied: NoneDenied = None,
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
        include_ignored: what ignore files leave out, and the default exclusions, as well.
        may_read: whether a canonical path may be shown; None: every one.
        none_denied: a quick yes for many names in a folder, which spares asking for each.
        seconds: the time limit; what was found by then is returned and said to be partial.
        cancelled: an event or a function; once it is true the search ends.

    Raises:
        Invalid: the pattern, or a negative limit or offset.
        OutsideRoot, NotFound, NotADirectory, Denied: the path.
    """
    if limit < 0 or offset < 0:
        raise Invalid("limit and offset take numbers from 0 up", limit=limit, offset=offset)
    compiled = compile_glob(pattern, include_hidden=include_hidden, root=backend.root_key)
    stop = Stop(seconds, cancelled)
    walk = Walk(
        backend,
        folder_to_search(backend, "." if compiled.from_root else path, may_read),
        compiled,
        include_ignored=include_ignored,
        may_read=may_read,
        none_denied=none_denied,
        stop=stop,
    )
    part = slice(offset, offset + limit)
    page, total = (_newest if sort == "modified" else _by_path)(backend, walk, part)
    if compiled.malformed is not None and not total:
        raise compiled.malformed  # A pattern that is none may still be the name of a file.
    return FoundFiles(
        files=[FoundFile(path=name, size_bytes=size, modified_at=iso_time(-age)) for age, name, size in page],
        total=total,
        truncated=part.stop < total or stop.reason is not None,
        ignored=walk.tally.ignored,
        excluded=sorted(walk.tally.excluded),
        skipped={"unreadable": walk.tally.unreadable} if walk.tally.unreadable else {},
        partial=stop.reason,
    )


def folder_to_search(backend: Backend, path: str, may_read: Callable[[str], bool] | None) -> str:
    """The canonical path of a folder that exists and may be read.

    Raises:
        OutsideRoot, NotFound, NotADirectory, Denied
    """
    found = backend.stat(path)
    if found.path and may_read is not None and not may_read(found.path):
        raise Denied(f"{path}: a deny rule keeps this folder closed")
    if found.kind == "missing":
        raise NotFound(f"{path}: no such folder", hint="list_files shows what is there.")
    if found.kind != "directory":
        raise NotADirectory(f"{path}: is not a folder", hint="Name its folder in path and the file in pattern.")
    return found.path


def iso_time(mtime_ns: int) -> str:
    """A time in ISO 8601, UTC, to the microsecond."""
    whole, rest = divmod(mtime_ns, 1_000_000_000)
    moment = datetime.fromtimestamp(whole, UTC).replace(microsecond=rest // 1000)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _newest(backend: Backend, walk: Walk, part: slice) -> tuple[list[Look], int]:
    """A page of the newest files, and how many there are; every one of them is looked at."""
    looks: list[Look] = []
    for folder, files, links in walk:
        looks += folder.look(files)
        looks += [(-target.mtime_ns, joined(folder.path, name), target.size) for name, target in links]
    looks.sort()
    return looks[part], len(looks)


def _by_path(backend: Backend, walk: Walk, part: slice) -> tuple[list[Look], int]:
    """A page of the files in order, and how many there are; only the page is looked at."""
    paths: list[str] = []
    targets: dict[str, Look] = {}
    for folder, files, links in walk:
        prefix = folder.path + "/" if folder.path else ""
        paths += [prefix + name for name in files]
        targets |= {prefix + name: (-target.mtime_ns, prefix + name, target.size) for name, target in links}
    paths += targets
    paths.sort()
    looks = {
        look[1]: look for look in look_at(backend, [path for path in paths[part] if path not in targets])
    } | targets
    return [looks[path] for path in paths[part] if path in looks], len(paths)
