"""Replaces a file's bytes atomically, or leaves everything as it was."""

from __future__ import annotations

import errno
import itertools
import logging
import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..content.source import CHUNK_BYTES, Chunk
from .hidden_files import hidden_file, is_still, wait_for_lock, write_all
from .in_place import overwrite_in_place
from .open_file import MOST_IN_MEMORY, has_write_bits, not_a_file, same_version, version_of
from .operating_system import (
    O_NONBLOCK,
    RENAMES_OPEN_FILES,
    Folder,
    begin_flush,
    keep_access,
    keep_owner,
    read_at,
    unlock_and_close,
)
from .path_names import temporary_name
from .system_errors import EXISTS, overtaken, read_only

_log = logging.getLogger("jupyter_fstools")

_FLUSHED_BYTES = 8 * CHUNK_BYTES
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class Target(NamedTuple):
    """A file to be written: its folder and name, and the path that names it in refusals.

    `confirm` raises a refusal if the path leads to another folder in the meantime.
    """

    folder: Folder
    name: str
    path: str
    durable: bool
    confirm: Callable[[str], None]


def write_file(
    target: Target, old: os.stat_result | None, chunks: Iterable[Chunk], *, if_match: str | None
) -> os.stat_result:
    """Write the bytes over the existing file (`old`); return the file's new status.

    Raises:
        Conflict, Denied, IsDirectory, OSError
    """
    if old is None:
        if if_match is not None:
            raise overtaken(target.path, "it is gone")
        return _create(target, chunks)
    check_removable(target, old, if_match)
    source = _opened(target)
    try:
        if old.st_size <= MOST_IN_MEMORY:
            whole, chunks = _gathered(chunks)
            if whole is not None and _has_bytes(source, old, whole):
                return old
        return _replace(target, chunks, old, source)
    finally:
        if source >= 0:
            os.close(source)


def check_removable(target: Target, status: os.stat_result, if_match: str | None) -> None:
    """Refuse to write or remove a file unless it has the expected version and its mode permits it.

    Raises:
        Conflict, Denied, IsDirectory
    """
    if fault := not_a_file(status, target.path, writing=True):
        raise fault
    if if_match is None:
        raise overtaken(target.path, EXISTS)
    if version_of(status) != if_match:
        raise overtaken(target.path)
    if not has_write_bits(status):
        raise read_only(target.path)
    if not target.folder.may_write(target.name):
        now = target.folder.look(target.name)
        if now is None or not same_version(now, status):  # A file that is not there may not be written either.
            raise overtaken(target.path)
        raise read_only(target.path)


def _gathered(chunks: Iterable[Chunk]) -> tuple[bytes | None, Iterable[Chunk]]:
    """The whole content if it is small, else None, and chunks that give the same content again."""
    iterator, head, size = iter(chunks), list[bytes](), 0
    for chunk in iterator:
        head.append(bytes(chunk))
        size += len(chunk)
        if size > MOST_IN_MEMORY:
            return None, itertools.chain(head, iterator)
    whole = head[0] if len(head) == 1 else b"".join(head)
    return whole, (whole,)


def _opened(target: Target) -> int:
    """A descriptor of the old file, for its bytes and attributes; -1 if there is no permission to read it."""
    try:
        return target.folder.open(target.name, os.O_RDONLY | O_NONBLOCK)
    except PermissionError:
        return -1


def _has_bytes(source: int, old: os.stat_result, content: bytes) -> bool:
    return source >= 0 and old.st_size == len(content) and read_at(source, len(content) + 1, 0) == content


def _create(target: Target, chunks: Iterable[Chunk]) -> os.stat_result:
    temporary = temporary_name(target.name)
    with hidden_file(target.folder, temporary, 0o666, target.path) as fd:
        _fill(target, temporary, fd, chunks)
        written = os.fstat(fd)
        try:
            target.folder.link(temporary, target.name)
        except FileExistsError:
            raise overtaken(target.path, EXISTS) from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            _create_without_links(target, temporary)
        else:
            _drop(target, temporary)
        return _landed(target, fd, written)


def _drop(target: Target, temporary: str) -> None:
    try:
        target.folder.remove(temporary)
    except OSError as error:  # The file itself is there already, and a refusal would deny it.
        _log.warning("'%s' was made; its temporary file cannot be removed: %s", target.path, error.strerror)


def _create_without_links(target: Target, temporary: str) -> None:
    try:
        os.close(target.folder.open(target.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        raise overtaken(target.path, EXISTS) from None
    try:
        target.folder.move(temporary, target.name)
    except BaseException:
        target.folder.remove(target.name)
        raise


def _replace(target: Target, chunks: Iterable[Chunk], old: os.stat_result, source: int) -> os.stat_result:
    temporary = temporary_name(target.name)
    with hidden_file(target.folder, temporary, 0o600, target.path) as fd:
        # A rename would break hard links, or lose the owner if it cannot be set; writing in place keeps both.
        in_place = old.st_nlink > 1 or not keep_owner(fd, old)
        if not in_place:
            keep_access(source, fd, old)
        _fill(target, temporary, fd, chunks)
        written = os.fstat(fd)
        # After each call to the system a busy thread of this process may hold us up for milliseconds, in which another
        # program's write would be lost: none may come between this look and the rename.
        now = target.folder.look(target.name)
        if now is None or not same_version(now, old):
            raise overtaken(target.path)
        if in_place:
            return _pour(target, temporary, fd, old)
        try:
            target.folder.move(temporary, target.name)
        except OSError as error:
            if error.errno != errno.EBUSY or not RENAMES_OPEN_FILES:
                raise
            return _pour(target, temporary, fd, old)  # A mount point cannot be replaced by a rename.
        return _landed(target, fd, written)


def _fill(target: Target, temporary: str, fd: int, chunks: Iterable[Chunk]) -> None:
    written = flushed = 0
    for chunk in chunks:
        write_all(fd, chunk)
        written += len(chunk)
        if written - flushed >= _FLUSHED_BYTES:
            # Starts the flush early: a later fsync, or the file system's own flush on rename, has less to do.
            begin_flush(fd, flushed, written - flushed)
            flushed = written
    if target.durable:
        os.fsync(fd)
    if not is_still(target.folder, temporary, fd):
        # Another user took this writer for dead; the name may already belong to that user's file.
        raise overtaken(target.path, "its temporary file was removed")
    target.confirm(target.path)


def _pour(target: Target, temporary: str, fd: int, old: os.stat_result) -> os.stat_result:
    file = target.folder.open(target.name, os.O_RDWR | O_NONBLOCK)

    def confirm() -> None:
        if not same_version(os.fstat(file), old):
            raise overtaken(target.path)

    try:
        wait_for_lock(file, target.path)
        written = overwrite_in_place(target.folder, file, temporary, fd, durable=target.durable, confirm=confirm)
        if target.durable:
            target.folder.sync()
        return written
    finally:
        unlock_and_close(file)


def _landed(target: Target, fd: int, written: os.stat_result) -> os.stat_result:
    """The status of the file after the rename, or from before the rename if somebody else has written into it since.

    The older version no longer exists, so a caller that compares with it sees a difference and looks at the content.
    """
    landed = os.fstat(fd)  # Before the sync, which takes milliseconds in which others can already change the file.
    if target.durable:
        target.folder.sync()
    same = (landed.st_size, landed.st_mtime_ns) == (written.st_size, written.st_mtime_ns)
    return landed if same else written
