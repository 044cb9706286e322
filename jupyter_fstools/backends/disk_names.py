"""The names in a folder of the disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from .operating_system import Folder
from .path_names import HIDDEN_PREFIX, canonical_parts
from .protocol import Entry
from .resolution import Root, Trail, descend
from .system_errors import refusal


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
