"""Makes, locks and cleans up the temporary files beside the users' files."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterable, Iterator

from ..content.source import Chunk
from ..errors import Conflict
from .operating_system import O_NONBLOCK, Folder, try_lock, unlock_and_close
from .path_names import HIDDEN_PREFIX
from .system_errors import refused

PATIENCE = 5.0
"""Longest wait, in seconds, for another writer of the same file that does not use our locks, before `Conflict`."""

ABANDONED_AFTER = 300.0
"""Age in seconds after which another user's hidden file, if it cannot be locked, counts as left by a killed writer."""


@contextlib.contextmanager
def hidden_file(folder: Folder, name: str, mode: int, path: str) -> Iterator[int]:
    """A new, locked, hidden file called `name`, open for reading and writing; removed after an error.

    The lock shows that its writer is alive: an unlocked file of this name was left by a killed writer and is removed.

    Raises:
        Conflict: another writer of the same file does not finish in time.
    """
    fd = _create(folder, name, mode, path)
    try:
        yield fd
    except BaseException:
        if is_still(folder, name, fd):
            folder.remove(name)
        raise
    finally:
        unlock_and_close(fd)


def clean_up(folder: Folder, name: str) -> bool:
    """Remove the hidden file `name` if its writer is dead; True if the file no longer exists."""
    try:
        fd = open_to_lock(folder, name)
    except FileNotFoundError:
        return True
    except PermissionError:
        return is_abandoned(folder, name) and _removed(folder, name)
    except OSError as error:
        return error.errno == errno.ELOOP and _removed(folder, name)
    try:
        return try_lock(fd) and (not is_still(folder, name, fd) or _removed(folder, name))
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        return is_abandoned(folder, name) and _removed(folder, name)
    finally:
        unlock_and_close(fd)


def sweep(folder: Folder, hidden: Iterable[str]) -> None:
    """Remove old temporary files of dead writers from a folder; a new file that was not made is never accessed again.

    Args:
        folder: the folder.
        hidden: names in it with our prefix; those with a suffix are left alone, as a file is restored from them.
    """
    for name in hidden:
        with contextlib.suppress(OSError):  # As on a read-only disk.
            if "." not in name.removeprefix(HIDDEN_PREFIX) and is_abandoned(folder, name):
                clean_up(folder, name)


def open_to_lock(folder: Folder, name: str) -> int:
    """A descriptor of a file that may belong to another user; read-only if it cannot be opened for writing.

    NFS cannot lock a read-only descriptor: `try_lock` then raises `EBADF`.
    """
    try:
        return folder.open(name, os.O_RDWR | O_NONBLOCK)
    except OSError:
        return folder.open(name, os.O_RDONLY | O_NONBLOCK)


def is_abandoned(folder: Folder, name: str) -> bool:
    """True if a hidden file that cannot be locked has not been written for `ABANDONED_AFTER` seconds, or is gone."""
    there = folder.look(name)
    return there is None or time.time() - there.st_mtime > ABANDONED_AFTER


def _removed(folder: Folder, name: str) -> bool:
    try:
        folder.remove(name)
    except FileNotFoundError:
        return True
    except PermissionError:
        return False  # It belongs to another user or, on Windows, a writer has it open.
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return False  # The disk has become read-only, as after a crash: the file itself can still be read.
    return True


def write_all(fd: int, chunk: Chunk | memoryview) -> None:
    """Write every byte of a chunk."""
    written = os.write(fd, chunk)
    while written < len(chunk):
        written += os.write(fd, memoryview(chunk)[written:])


def wait_for_lock(fd: int, path: str) -> None:
    """Lock an open file for writing in place, against writers that opened it through another hard link.

    Raises:
        Conflict: another writer does not finish in time.
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
        # Another process that found the file before it was locked may have removed it as a dead writer's.
        if try_lock(fd) and os.fstat(fd).st_nlink:
            return fd
        unlock_and_close(fd)


def _pause(deadline: float, path: str) -> None:
    if time.monotonic() >= deadline:
        raise refused(Conflict, path, "another program is writing it", hint="Try again.", writing=True)
    time.sleep(0.002)


def is_still(folder: Folder, name: str, fd: int) -> bool:
    """True while `name` still refers to the open file."""
    there = folder.look(name)
    return there is not None and os.path.samestat(there, os.fstat(fd))
