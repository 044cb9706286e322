"""The names in a folder of the disk, and everything below it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator

from ..errors import FsToolsError
from .operating_system import Folder
from .path_names import HIDDEN_PREFIX, canonical_parts
from .protocol import Entry
from .resolution import Root, Trail, descend
from .system_errors import refusal

PassedOver = Callable[[str, FsToolsError], None]
"""Told the path of a folder that a walk could not read, and why."""


def entries_of(root: Root, path: str) -> Iterator[Entry]:
    """The names in one folder, in no order, without temporary files.

    Raises:
        NotFound, NotADirectory, Denied, Conflict: when the first name is asked for.
    """
    names = canonical_parts(path)
    with Trail(root) as trail:
        try:
            descend(trail, names, path)
            yield from _entries(trail.folder, path)
        except OSError as error:
            raise refusal(error, path) from error


def entries_below(
    root: Root, path: str, enter: Callable[[Entry], bool], passed_over: PassedOver | None
) -> Iterator[Entry]:
    """Everything below a folder, a folder before what is in it; one listing is open at a time, no link is followed.

    Raises:
        NotFound, NotADirectory, Denied, Conflict: for the folder `path` itself.
    """
    names = canonical_parts(path)
    with Trail(root) as trail:
        try:
            descend(trail, names, path)
        except OSError as error:
            raise refusal(error, path) from error
        waiting: list[tuple[int, Entry]] = [(-1, Entry(path, "", "directory"))]
        while waiting:
            depth, folder = waiting.pop()
            inside: list[Entry] = []
            try:
                if depth >= 0:
                    trail.back_to(depth)
                    trail.enter(folder.name)
                for entry in _entries(trail.folder, folder.path):
                    if entry.kind == "directory":
                        inside.append(entry)
                    yield entry
            except OSError as error:
                fault = refusal(error, folder.path)
                if depth < 0:
                    raise fault from error
                if passed_over is not None:
                    passed_over(folder.path, fault)
            here = len(trail.names)
            waiting += [(here, entry) for entry in reversed(inside) if enter(entry)]


def _entries(folder: Folder, path: str) -> Iterator[Entry]:
    if not folder.status().st_mode & 0o444:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    prefix = f"{path}/" if path else ""
    with folder.entries() as found:
        for item in found:
            name = item.name
            if name.startswith(HIDDEN_PREFIX):
                continue
            if item.is_file(follow_symlinks=False):
                yield Entry(prefix + name, name, "file")
            elif item.is_symlink():
                yield Entry(prefix + name, name, "link")
            elif item.is_dir(follow_symlinks=False):
                yield Entry(prefix + name, name, "directory")
            else:
                yield Entry(prefix + name, name, "other")
