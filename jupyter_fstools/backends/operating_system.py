"""Hides how platforms differ: descriptors, links, locks, positional reads.

It is one module, though a long one: what a platform lacks is looked up here and nowhere else.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import random
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, cast

if sys.platform != "win32":
    import fcntl

HAS_OPENAT = {os.open, os.stat, os.mkdir, os.unlink, os.link, os.rename, os.readlink} <= os.supports_dir_fd
"""True if the system can open a name relative to an open folder; elsewhere joined paths are checked instead."""

HAS_FLOCK = sys.platform != "win32"
"""True where an open file can be locked by descriptor; elsewhere `filelock` does it."""

RENAMES_OPEN_FILES = sys.platform != "win32"
"""False if a file must be closed before it can be renamed."""

CLOCK_REALTIME_COARSE = 5
"""The clock that gives files their times on Linux; Python has no name for it."""

_log = logging.getLogger("jupyter_fstools")


def _times_tick(release: str) -> bool:
    """Whether writes within some milliseconds give a file the same time, though it was looked at in between.

    Linux does so before 6.13, except where a file system has times of its own.
    """
    version = [int(number) for number in re.findall(r"\d+", release)[:2]]
    return bool(version) and version < [6, 13]


_TIMES_TICK = sys.platform == "linux" and _times_tick(os.uname().release)

_QUIET = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | _QUIET
_PASSING = getattr(os, "O_PATH", os.O_RDONLY) | _FOLDER
O_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)

_KEPT_OUT = {"security.capability"}  # The kernel removes capabilities when a file is written.
_ACCESS_LIST = "system.posix_acl_access"
_SYNC_FILE_RANGE_WRITE = 2
_LONGEST_TICK_NS = 10_000_000
# EINVAL: the owner does not exist in the container's user namespace.
_NO_CHOWN = {errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_NO_XATTR = {errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENODATA}


class Folder:
    """An open folder. Its methods take one name, never a path, follow no link and raise `OSError`."""

    __slots__ = ("_prefix", "dir_fd")

    def __init__(self, prefix: str, dir_fd: int | None) -> None:
        self._prefix = prefix
        self.dir_fd = dir_fd

    def look(self, name: str) -> os.stat_result | None:
        """The status of an entry, links not followed; None if there is none."""
        try:
            return os.stat(self._prefix + name, dir_fd=self.dir_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def has(self, name: str) -> bool:
        """True if the name exists; cheaper than `look`, but False for a broken link."""
        return os.access(self._prefix + name, os.F_OK, dir_fd=self.dir_fd)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor of the file `name`, not inherited by programs that are started."""
        return os.open(self._prefix + name, flags | _QUIET, mode, dir_fd=self.dir_fd)

    def readlink(self, name: str) -> str:
        """Where a link points."""
        target = os.readlink(self._prefix + name, dir_fd=self.dir_fd)
        return target.removeprefix("\\\\?\\") if sys.platform == "win32" else target

    def make(self, name: str) -> None:
        """Make a folder; its mode follows the umask."""
        os.mkdir(self._prefix + name, dir_fd=self.dir_fd)

    def unmake(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._prefix + name, dir_fd=self.dir_fd)

    def remove(self, name: str) -> None:
        """Remove a file or link."""
        os.unlink(self._prefix + name, dir_fd=self.dir_fd)

    def link(self, name: str, new: str) -> None:
        """Give a file a second name; never replaces an existing one."""
        os.link(
            self._prefix + name, self._prefix + new, src_dir_fd=self.dir_fd, dst_dir_fd=self.dir_fd,
            follow_symlinks=os.link not in os.supports_follow_symlinks,
        )  # fmt: skip

    def move(self, name: str, new: str) -> None:
        """Rename atomically, replacing any file there. If open files block it, raise `EBUSY` after one second."""
        for attempt in range(20):
            try:
                return os.replace(
                    self._prefix + name, self._prefix + new, src_dir_fd=self.dir_fd, dst_dir_fd=self.dir_fd
                )
            except PermissionError as error:
                if RENAMES_OPEN_FILES:
                    raise
                if attempt == 19:
                    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), new) from error
                time.sleep(0.05)

    def may_write(self, name: str) -> bool:
        """True if the system permits writing to `name`; the superuser is permitted regardless of the mode bits."""
        return os.access(
            self._prefix + name, os.W_OK, dir_fd=self.dir_fd, effective_ids=os.access in os.supports_effective_ids
        )

    def enter(self, name: str) -> Folder:
        """The folder `name`; `NotADirectoryError` if it is a file or a link."""
        raise NotImplementedError

    def status(self) -> os.stat_result:
        """The status of the folder itself."""
        raise NotImplementedError

    def entries(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """The names in it, in no order."""
        raise NotImplementedError

    def sync(self) -> None:
        """Sync its names to the disk if the system supports that; an error is logged, not raised."""

    def confirm(self) -> None:
        """Raise `NotADirectoryError` if its path now leads elsewhere; a descriptor cannot be redirected."""

    def close(self) -> None:
        """Close the folder."""


class _OpenedFolder(Folder):
    """A folder by descriptor: changes to its name, or to the names above it, cannot redirect it."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._prefix = ""
        self.dir_fd = self._fd = fd

    def enter(self, name: str) -> Folder:
        return _OpenedFolder(os.open(name, _PASSING, dir_fd=self._fd))

    def status(self) -> os.stat_result:
        return os.fstat(self._fd)

    @contextlib.contextmanager
    def entries(self) -> Iterator[Iterator[os.DirEntry[str]]]:
        readable = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=self._fd)
        try:
            with os.scandir(readable) as found:
                yield found
        finally:
            os.close(readable)

    def sync(self) -> None:
        try:
            readable = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=self._fd)
            try:
                os.fsync(readable)
            finally:
                os.close(readable)
        except PermissionError:
            return  # A folder may be writable and not readable.
        except OSError as error:  # The change itself is already done, and a refusal would not undo it.
            _log.warning("A folder's names could not be put on the disk at once: %s", error.strerror)

    def close(self) -> None:
        # The system reuses the descriptor's number for the next file that is opened.
        fd, self._fd = self._fd, -1
        self.dir_fd = -1
        if fd >= 0:
            os.close(fd)

    __del__ = close


class _NamedFolder(Folder):
    """A folder by its real path, for systems that cannot open below a descriptor; `confirm` checks the path again."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        super().__init__(os.path.join(path, ""), None)
        self._path = path

    def enter(self, name: str) -> Folder:
        path = self._prefix + name
        status = os.lstat(path)
        if is_link(status) or not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
        return _NamedFolder(path)

    def status(self) -> os.stat_result:
        return os.lstat(self._path)

    def entries(self) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        self.confirm()
        return os.scandir(self._path)

    def confirm(self) -> None:
        if os.path.normcase(os.path.realpath(self._path)) != os.path.normcase(self._path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def open_folder(path: str, *, openat: bool) -> Folder:
    """The folder at an absolute, real path."""
    if openat:
        return _OpenedFolder(os.open(path, _PASSING))
    if not os.path.isdir(path):
        os.scandir(path).close()
    return _NamedFolder(path)


def is_link(status: os.stat_result) -> bool:
    """True for a symbolic link, and for a junction on Windows."""
    mount_point = 0xA0000003
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == mount_point


def split_path(path: str) -> list[str]:
    """The parts of a path; a backslash separates only on Windows."""
    return (path.replace("\\", "/") if os.sep == "\\" else path).split("/")


def wait_for_tick(moment_ns: int) -> None:
    """Wait until the clock that gives files their times has passed a moment: what is written then has another time."""
    if sys.platform != "win32" and _TIMES_TICK:
        while 0 <= moment_ns - time.clock_gettime_ns(CLOCK_REALTIME_COARSE) <= _LONGEST_TICK_NS:
            time.sleep(0.0005)


def wait_for_write(fd: int, size: int) -> None:
    """Wait until no write into an open file of `size` bytes is under way, where the system lets readers in meanwhile.

    A write changes the file's times when it begins, and its bytes afterwards. Linux looks for a hole under the lock
    that a write holds (`ext4_llseek`, `shmem_file_llseek`); on XFS a read itself waits.
    """
    if size and hasattr(os, "SEEK_HOLE"):
        with contextlib.suppress(OSError):  # It is shorter by now, or its file system knows no holes.
            os.lseek(fd, size - 1, os.SEEK_HOLE)


def read_at(fd: int, length: int, offset: int) -> bytes:
    """Up to `length` bytes at `offset`, in one call to the system."""
    if hasattr(os, "pread"):
        return os.pread(fd, length, offset)
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


def read_into(fd: int, view: memoryview, offset: int) -> int:
    """Fill `view` from `offset`; return the number of bytes read."""
    if hasattr(os, "preadv"):
        return os.preadv(fd, [view], offset)
    piece = read_at(fd, len(view), offset)
    view[: len(piece)] = piece
    return len(piece)


def begin_flush(fd: int, offset: int, length: int) -> None:
    """Start writing a part of an open file to the disk without waiting for it; Linux only."""
    flush = _sync_file_range()
    if flush is not None:
        flush(fd, offset, length, _SYNC_FILE_RANGE_WRITE)


@cache
def _sync_file_range() -> Callable[[int, int, int, int], int] | None:
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        call = ctypes.CDLL(None).sync_file_range
    except (ImportError, OSError, AttributeError):  # A Python built without ctypes, or without a shared C library.
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return cast("Callable[[int, int, int, int], int]", call)


def touch(fd: int, like: os.stat_result) -> None:
    """Set an open file's times to those of `like`."""
    if os.utime in os.supports_fd:
        os.utime(fd, ns=(like.st_atime_ns, like.st_mtime_ns))


def keep_owner(fd: int, old: os.stat_result) -> bool:
    """Give a new file the owner of the old one; False if the system does not permit it."""
    new = os.fstat(fd)
    if sys.platform != "win32" and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(fd, old.st_uid, old.st_gid)
        except OSError as error:
            if error.errno not in _NO_CHOWN:
                raise
            return False
    return True


def keep_access(source: int, target: int, old: os.stat_result) -> None:
    """Give a new, empty file the extended attributes, including access lists, and permission bits of the old file.

    The set-user-id and set-group-id bits are dropped, as the kernel, too, drops them when a file is written.

    Args:
        source: the old file; -1 if it cannot be read.
        target: the new file; an access list inherited from its folder is removed, as the old file did not have it.
        old: the status of the old file.
    """
    if hasattr(os, "listxattr"):
        _keep_attributes(source, target)
    if sys.platform != "win32":
        mode = stat.S_IMODE(old.st_mode) & 0o1777
        if stat.S_IMODE(os.fstat(target).st_mode) != mode:
            os.fchmod(target, mode)


def _keep_attributes(source: int, target: int) -> None:
    with _where_supported():
        os.removexattr(target, _ACCESS_LIST)
    names: list[str] = []
    if source >= 0:
        with contextlib.suppress(OSError):
            names = os.listxattr(source)
    for name in names:
        if name not in _KEPT_OUT:
            with _where_supported():
                os.setxattr(target, name, os.getxattr(source, name))


@contextlib.contextmanager
def _where_supported() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_XATTR:
            raise


def try_lock(fd: int) -> bool:
    """Lock an open file by its descriptor; False if another descriptor holds it. True if locks are unsupported."""
    if sys.platform != "win32":
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL):
                raise
    return True


def unlock_and_close(fd: int) -> None:
    """Unlock and close a file; without the unlock a forked child's copy of the descriptor would keep the lock."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def hold_lock_file(path: str, timeout: float, *, flock: bool) -> Callable[[], None]:
    """Lock a lock file against every other thread and process; return the call that releases it.

    Raises:
        TimeoutError: another holder kept it for `timeout` seconds.
        OSError: the folder is missing or not writable, or the file system has no locks.
    """
    return _flock(path, timeout) if flock else _filelock(path, timeout)


def _flock(path: str, timeout: float) -> Callable[[], None]:
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | _QUIET, 0o600)
        try:
            _wait_for_flock(fd, timeout)
            if os.fstat(fd).st_nlink:
                break
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # The lock file was deleted in the meantime, so others lock a new one: try again.
    owner = os.getpid()

    def release() -> None:
        if os.getpid() == owner:  # In a forked child the lock still belongs to the parent.
            fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)

    return release


def _wait_for_flock(fd: int, timeout: float) -> None:
    pause, deadline = 0.0002, 0.0
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            now = time.monotonic()
            deadline = deadline or now + timeout
            if now >= deadline:
                raise TimeoutError from None
        time.sleep(min(pause * random.uniform(0.5, 1.5), max(deadline - now, 0)))  # noqa: S311 - no secret
        pause = min(pause * 1.5, 0.02)


def _filelock(path: str, timeout: float) -> Callable[[], None]:
    import filelock

    lock: Any = filelock.FileLock(path, timeout=timeout, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise TimeoutError from None
    return cast(Callable[[], None], lock.release)
