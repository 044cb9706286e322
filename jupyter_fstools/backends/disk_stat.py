"""Translates the system's `stat` into a `FileStat`."""

from __future__ import annotations

import os
import stat

from ..errors import Conflict, Denied, FsToolsError, IsDirectory
from .operating_system import is_link
from .protocol import FileStat, Kind
from .system_errors import refused


def version_of(status: os.stat_result) -> str:
    """Equal only while nothing touched the file."""
    return f"{status.st_dev}-{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def same_version(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether nothing touched the file in between."""
    return (
        one.st_mtime_ns == other.st_mtime_ns
        and one.st_ctime_ns == other.st_ctime_ns
        and one.st_size == other.st_size
        and os.path.samestat(one, other)
    )


def kind_of(status: os.stat_result) -> Kind:
    """What it is; a link that was not followed is `other`."""
    if stat.S_ISREG(status.st_mode):
        return "file"
    return "directory" if stat.S_ISDIR(status.st_mode) and not is_link(status) else "other"


def file_stat(root_key: str, path: str, status: os.stat_result | None) -> FileStat:
    """`status` as a backend gives it."""
    key = f"{root_key}/{path}" if path else root_key or "/"
    if status is None:
        return FileStat(path, key, "missing")
    kind = kind_of(status)
    size = status.st_size if kind == "file" else 0
    return FileStat(path, key, kind, size, status.st_mtime_ns, version_of(status))


def not_a_file(status: os.stat_result, path: str, *, writing: bool = False) -> FsToolsError | None:
    """Why what is there is no regular file; None if it is one."""
    if stat.S_ISREG(status.st_mode):
        return None
    if is_link(status):
        reason = "it has become a link meanwhile"
        return refused(Conflict, path, reason, hint="Look at the path again.", writing=writing)
    if stat.S_ISDIR(status.st_mode):
        return refused(IsDirectory, path, "it is a folder", hint="Name a file, or list it.", writing=writing)
    reason = "it is a device, FIFO or socket"
    return refused(Denied, path, reason, hint="Choose a regular file.", writing=writing)
