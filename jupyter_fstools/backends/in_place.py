"""Writes a file in place, and restores what killed writers left torn."""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import stat
import time
from collections.abc import Callable, Iterator

from ..content.source import CHUNK_BYTES
from .hidden_files import clean_up, is_abandoned, open_to_lock, write_all
from .operating_system import O_NONBLOCK, Folder, read_at, read_into, touch, try_lock, unlock_and_close
from .path_names import HIDDEN_PREFIX, temporary_name

_log = logging.getLogger("jupyter_fstools")


def overwrite_in_place(
    folder: Folder, target: int, temporary: str, source: int, *, durable: bool, confirm: Callable[[], None]
) -> os.stat_result:
    """Copy `source`, the file `temporary` in `folder`, into the open, locked file `target`, and remove `temporary`.

    `confirm` raises a refusal if somebody else has written into `target`; it is called once the old bytes are saved,
    which takes milliseconds where the disk is told to keep them.

    Returns the status of `target` after the last byte, or from before the write if somebody else wrote into it too:
    that version no longer exists, so a caller that compares with it looks at the content. After an error the old bytes
    are restored. After a kill `settle` restores them, from the old and new bytes kept in `folder` until all is written.
    """
    old = os.fstat(target)
    backup = _keep(folder, target, temporary, durable=durable)
    try:
        try:
            confirm()
        except BaseException:
            _forget(folder, old)
            raise
        try:
            written = copy_bytes(source, target, durable=durable)
        except BaseException:
            copy_bytes(backup, target, durable=durable)
            touch(target, old)
            _forget(folder, old)
            raise
        _forget(folder, old)
        return written if _same_bytes(source, target) else old
    finally:
        os.close(backup)


def settle(folder: Folder, name: str, status: os.stat_result | None, *, patience: float) -> bool:
    """Clean up after a killed writer of `name`: its temporary file, and a file half written in place.

    Args:
        folder: the folder of the file.
        name: the file.
        status: its current status.
        patience: seconds to wait for a live writer that writes the file in place.

    Returns:
        True if this may have changed the file, so that the caller must get its `status` again.

    Raises:
        TimeoutError: the writer did not finish in time.
    """
    temporary = temporary_name(name)
    changed = folder.has(temporary) and clean_up(folder, temporary)
    if status is None or not stat.S_ISREG(status.st_mode):
        return changed
    deadline = time.monotonic() + patience
    while folder.has(backup_name(status)):
        changed = True
        if _restored(folder, name):
            break
        if time.monotonic() >= deadline:
            raise TimeoutError
        time.sleep(0.005)
    return changed


def copy_bytes(source: int, target: int, *, durable: bool) -> os.stat_result:
    """Copy the bytes of `source` over the open file `target`; truncate it only after all of them are written.

    Returns the status of `target` from before the sync, as others may write it during the sync.
    """
    size, offset = os.fstat(source).st_size, 0
    view = memoryview(bytearray(min(CHUNK_BYTES, size) or 1))
    os.lseek(target, 0, os.SEEK_SET)
    while offset < size:
        got = read_into(source, view[: size - offset], offset)
        if not got:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        write_all(target, view[:got])
        offset += got
    os.ftruncate(target, size)
    written = os.fstat(target)
    if durable:
        os.fsync(target)
    return written


def backup_name(status: os.stat_result) -> str:
    """Name of the copy of a file's old bytes while it is written in place; made before `new_name`, removed after it."""
    return f"{HIDDEN_PREFIX}{status.st_ino}.backup"


def new_name(status: os.stat_result) -> str:
    """Name of the file with the new bytes; exists only while they are written in place."""
    return f"{HIDDEN_PREFIX}{status.st_ino}.new"


def new_inode(folder: Folder, status: os.stat_result) -> int:
    """The inode of the file with the new bytes while a file is written in place; 0 if there is none."""
    name = new_name(status)
    there = folder.look(name) if folder.has(name) else None
    return there.st_ino if there else 0


def _keep(folder: Folder, target: int, temporary: str, *, durable: bool) -> int:
    """Put the old bytes and then the new ones under the names that `settle` looks for; return the open backup."""
    old = os.fstat(target)
    name = backup_name(old)
    if folder.has(name):
        _set_aside(folder, old)
    backup = folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        copy_bytes(target, backup, durable=durable)
        folder.move(temporary, new_name(old))
        if durable:
            folder.sync()
    except BaseException:
        os.close(backup)
        _forget(folder, old)
        raise
    return backup


def _forget(folder: Folder, status: os.stat_result) -> None:
    for name in (new_name(status), backup_name(status)):
        with contextlib.suppress(FileNotFoundError):
            folder.remove(name)


def _set_aside(folder: Folder, status: os.stat_result) -> None:
    """Keep a backup that must not be restored under a name that `settle` ignores."""
    name = backup_name(status)
    folder.move(name, f"{name}-kept")
    _forget(folder, status)
    _log.warning("A file was changed after a writer of it was killed; what it was before is in %s-kept", name)


def _restored(folder: Folder, name: str) -> bool:
    """Restore the bytes that a dead writer overwrote, if permissions allow; False while the writer is alive."""
    try:
        target = open_to_lock(folder, name)
    except (FileNotFoundError, PermissionError):
        return True
    try:
        if not try_lock(target):
            return not new_inode(folder, os.fstat(target))
        _restore(folder, target)
        return True
    except PermissionError:
        return True  # The file, or one that was left beside it, belongs to another user.
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        return is_abandoned(folder, backup_name(os.fstat(target)))
    finally:
        unlock_and_close(target)


def _restore(folder: Folder, target: int) -> None:
    there = os.fstat(target)
    with _opened(folder, backup_name(there)) as old, _opened(folder, new_name(there)) as new:
        if not all(_is_trusted(kept, there) for kept in (old, new) if kept >= 0):
            return
        if min(old, new) >= 0:
            if _same_bytes(new, target):
                os.fsync(target)
            elif _is_torn(target, old, new):
                copy_bytes(old, target, durable=True)
            else:
                _set_aside(folder, there)
        _forget(folder, there)


@contextlib.contextmanager
def _opened(folder: Folder, name: str) -> Iterator[int]:
    """A file for reading; -1 if it is not there."""
    try:
        fd = folder.open(name, os.O_RDONLY | O_NONBLOCK)
    except FileNotFoundError:
        yield -1
        return
    try:
        yield fd
    finally:
        os.close(fd)


def _is_trusted(fd: int, target: os.stat_result) -> bool:
    """False if another user could have put the file there."""
    kept = os.fstat(fd)
    return kept.st_nlink == 1 and kept.st_uid in (target.st_uid, getattr(os, "geteuid", lambda: 0)())


def _is_torn(target: int, old: int, new: int) -> bool:
    """True if every byte is an old or a new one; else somebody has written into the file or reused its inode since."""
    size, before, after = (os.fstat(fd).st_size for fd in (target, old, new))
    if not (before <= size <= after or size in (before, after)):
        return False
    for offset in range(0, size, CHUNK_BYTES):
        there = read_at(target, CHUNK_BYTES, offset)
        one, other = (read_at(fd, len(there), offset) for fd in (old, new))
        # After a power failure any of the pages may be on the disk, not only the first ones.
        each = itertools.zip_longest(there, one, other)
        if there not in (one, other) and any(byte not in kept for byte, *kept in each):
            return False
    return True


def _same_bytes(one: int, other: int) -> bool:
    size, offset = os.fstat(one).st_size, 0
    if os.fstat(other).st_size != size:
        return False
    while offset < size:
        piece = read_at(one, CHUNK_BYTES, offset)
        if not piece or read_at(other, len(piece), offset) != piece:
            return False
        offset += len(piece)
    return True
