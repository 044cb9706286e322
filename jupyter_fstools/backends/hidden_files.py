"""Names, cleans up and restores temporary files and backups."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator

from ..content.source import CHUNK_BYTES, Chunk
from ..errors import Conflict
from .operating_system import O_NONBLOCK, Folder, read_at, read_into, touch, try_lock, unlock_and_close
from .path_names import HIDDEN_PREFIX, temporary_name
from .system_errors import refused

PATIENCE = 5.0
"""Seconds to wait for another writer of the same file, who holds no lock of ours, before `Conflict`."""

_SLACK_NS = 30 * 10**9
"""A file that was modified this much later than its backup was last in use is somebody's newer work."""


@contextlib.contextmanager
def hidden_file(folder: Folder, name: str, mode: int, path: str) -> Iterator[int]:
    """A new, locked, hidden file under `name`, open for reading and writing; removed after an error.

    The lock says that its writer lives: a file of this name without one is a killed writer's, and is removed.

    Raises:
        Conflict: another writer of the same file is at work and does not finish.
    """
    fd = _create(folder, name, mode, path)
    try:
        yield fd
    except BaseException:
        if _is_still(folder, name, fd):
            folder.remove(name)
        raise
    finally:
        unlock_and_close(fd)


def clean_up(folder: Folder, name: str) -> bool:
    """Remove the hidden file `name` if its writer is gone; True if nothing is there any more."""
    try:
        fd = folder.open(name, os.O_RDONLY | O_NONBLOCK)
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno != errno.ELOOP:
            return False
        folder.remove(name)
        return True
    try:
        if not try_lock(fd):
            return False
        if _is_still(folder, name, fd):
            folder.remove(name)
        return True
    except PermissionError:
        return False  # Elsewhere than on POSIX a file that a writer has open cannot be removed.
    finally:
        unlock_and_close(fd)


def settle(folder: Folder, name: str, status: os.stat_result | None, *, patience: float) -> bool:
    """Undo what a killed writer left of `name`: its temporary file, and half-written bytes of a file written in place.

    Args:
        folder: where the file is.
        name: the file.
        status: what is there now.
        patience: seconds to wait for a writer who is at work in the file itself.

    Returns:
        True if the file may have changed by it, so that `status` has to be asked for again.

    Raises:
        TimeoutError: the writer did not finish.
    """
    temporary = temporary_name(name)
    changed = folder.has(temporary) and clean_up(folder, temporary)
    if status is None or not stat.S_ISREG(status.st_mode):
        return changed
    backup, deadline = backup_name(status), time.monotonic() + patience
    if folder.has(backup + _UNFINISHED):
        clean_up(folder, backup + _UNFINISHED)
    while folder.has(backup):
        changed = True
        if _restored(folder, name, backup):
            break
        if time.monotonic() >= deadline:
            raise TimeoutError
        time.sleep(0.005)
    return changed


def overwrite_in_place(folder: Folder, target: int, source: int, *, durable: bool, path: str) -> os.stat_result:
    """Give the open file `target` the bytes of `source`, with a backup in `folder` until that is done.

    The answer is what `target` was when the last byte was in it; what it was before, where somebody else wrote into it
    too: that version is there no more, so that whoever compares with it looks at the content. After an error the old
    bytes are back; after a kill `settle` brings them back.
    """
    old = os.fstat(target)
    name = backup_name(old)
    with hidden_file(folder, name + _UNFINISHED, 0o600, path) as backup:
        copy_bytes(target, backup, durable=durable)
        folder.move(name + _UNFINISHED, name)
        if durable:
            folder.sync()
        try:
            written = copy_bytes(source, target, durable=durable, alive=lambda: touch(backup))
        except BaseException:
            copy_bytes(backup, target, durable=durable)
            touch(target, old)
            folder.remove(name)
            raise
        folder.remove(name)
        return written if _same_bytes(source, target) else old


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


def copy_bytes(source: int, target: int, *, durable: bool, alive: Callable[[], None] = lambda: None) -> os.stat_result:
    """Make the bytes of the open file `target` those of `source`; nothing is cut off before all is written.

    The answer is what `target` was before it was synced: others may write it meanwhile.
    """
    size, offset = os.fstat(source).st_size, 0
    view = memoryview(bytearray(min(CHUNK_BYTES, size) or 1))
    os.lseek(target, 0, os.SEEK_SET)
    while offset < size:
        got = read_into(source, view[: size - offset], offset)
        if not got:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        alive()
        write_all(target, view[:got])
        offset += got
    alive()
    os.ftruncate(target, size)
    written = os.fstat(target)
    if durable:
        os.fsync(target)
    return written


def write_all(fd: int, chunk: Chunk | memoryview) -> None:
    """Write every byte of a chunk."""
    written = os.write(fd, chunk)
    while written < len(chunk):
        written += os.write(fd, memoryview(chunk)[written:])


def backup_name(status: os.stat_result) -> str:
    """Where the old bytes of a file are while it is written in place."""
    return f"{HIDDEN_PREFIX}{status.st_ino}.backup"


def backup_inode(folder: Folder, status: os.stat_result) -> int:
    """The inode of a file's backup; 0 if there is none."""
    name = backup_name(status)
    there = folder.look(name) if folder.has(name) else None
    return there.st_ino if there else 0


_UNFINISHED = "-unfinished"


def wait_for_lock(fd: int, path: str) -> None:
    """Lock an open file that is to be written in place, against writers who came by another of its names.

    Raises:
        Conflict: one of them does not finish.
    """
    deadline = time.monotonic() + PATIENCE
    while not try_lock(fd):
        _pause(deadline, path)


def _create(folder: Folder, name: str, mode: int, path: str) -> int:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fd = folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            if not clean_up(folder, name):
                _pause(deadline, path)
            continue
        # Who found the file before it was locked takes it for a dead writer's.
        if try_lock(fd) and os.fstat(fd).st_nlink:
            return fd
        unlock_and_close(fd)


def _pause(deadline: float, path: str) -> None:
    if time.monotonic() >= deadline:
        raise refused(Conflict, path, "another program is writing it", hint="Try again.", writing=True)
    time.sleep(0.002)


def _restored(folder: Folder, name: str, backup: str) -> bool:
    """Bring a dead writer's backup back; False while the writer lives."""
    try:
        fd = folder.open(backup, os.O_RDWR | O_NONBLOCK)
    except FileNotFoundError:
        return True
    try:
        if not try_lock(fd):
            return False
        if _is_still(folder, backup, fd):
            _restore(folder, name, backup, fd)
        return True
    finally:
        unlock_and_close(fd)


def _restore(folder: Folder, name: str, backup: str, fd: int) -> None:
    target = folder.open(name, os.O_RDWR | O_NONBLOCK)
    try:
        there, kept = os.fstat(target), os.fstat(fd)
        # A backup is trusted only where nobody else can have laid it there.
        own = kept.st_nlink == 1 and kept.st_uid in (there.st_uid, getattr(os, "geteuid", lambda: 0)())
        if backup_name(there) != backup or not own:
            return
        if there.st_mtime_ns > kept.st_mtime_ns + _SLACK_NS:
            folder.move(backup, backup + "-kept")
            return
        copy_bytes(fd, target, durable=True)
        folder.remove(backup)
    finally:
        os.close(target)


def _is_still(folder: Folder, name: str, fd: int) -> bool:
    there = folder.look(name)
    return there is not None and os.path.samestat(there, os.fstat(fd))
