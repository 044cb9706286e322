"""Opens and describes files of the local disk."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import replace

from ..content.source import CHUNK_BYTES, BytesContent, Chunk
from ..errors import Conflict, Denied, FsToolsError, InputOutput, TooLarge
from .operating_system import is_link, read_at, read_into, wait_for_tick, wait_for_write
from .protocol import FileStat, Kind
from .system_errors import folder_instead, refusal, refused

_COARSE_NS = 10_000_000
_SETTLED_AFTER_NS = 5_000_000_000  # FAT counts two seconds; the clock of a file server may be a little behind.


def version_of(status: os.stat_result) -> str:
    """The version of a file: a string that changes whenever the file is touched."""
    return f"{status.st_dev}-{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def same_version(one: os.stat_result, other: os.stat_result) -> bool:
    """True if nothing touched the file between the two looks."""
    return (
        one.st_mtime_ns == other.st_mtime_ns
        and one.st_ctime_ns == other.st_ctime_ns
        and one.st_size == other.st_size
        and one.st_ino == other.st_ino
        and one.st_dev == other.st_dev
    )


def same_bytes(now: os.stat_result, then: os.stat_result) -> bool:
    """True if nothing was written into an open file since; a rename over it only lowers its link count."""
    if now.st_nlink < then.st_nlink:
        return now.st_mtime_ns == then.st_mtime_ns and now.st_size == then.st_size
    return same_version(now, then)


def kind_of(status: os.stat_result) -> Kind:
    """The kind of an entry; an unfollowed link is `other`."""
    if stat.S_ISREG(status.st_mode):
        return "file"
    return "directory" if stat.S_ISDIR(status.st_mode) and not is_link(status) else "other"


def file_stat(root_key: str, path: str, status: os.stat_result | None) -> FileStat:
    """`status` as a `FileStat`."""
    key = f"{root_key}/{path}" if path else root_key or "/"
    if status is None:
        return FileStat(path, key, "missing")
    if stat.S_ISREG(status.st_mode):
        size, writable = status.st_size, has_write_bits(status)
        look, inode = _look_at(status), f"{status.st_dev}-{status.st_ino}" if status.st_nlink > 1 else ""
        return FileStat(path, key, "file", size, status.st_mtime_ns, version_of(status), writable, look, inode)
    return FileStat(path, key, kind_of(status), 0, status.st_mtime_ns, version_of(status))


def _look_at(status: os.stat_result) -> str:
    """The `FileStat.look` of a file: some file systems count whole seconds (NFS, ext3, FAT), or hundredths of them."""
    if status.st_mtime_ns % _COARSE_NS or status.st_ctime_ns % _COARSE_NS:
        return ""
    age = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns)
    return "" if age > _SETTLED_AFTER_NS else f"?{os.urandom(8).hex()}"


def has_write_bits(status: os.stat_result) -> bool:
    """True if a file's mode lets anybody write it; the mode counts because the superuser passes every access check."""
    return bool(status.st_mode & 0o222)


def not_a_file(status: os.stat_result, path: str, *, writing: bool = False) -> FsToolsError | None:
    """The refusal for something that is not a regular file; None if it is one."""
    if stat.S_ISREG(status.st_mode):
        return None
    if is_link(status):
        reason = "it has become a link meanwhile"
        return refused(Conflict, path, reason, hint="Look at the path again.", writing=writing)
    if stat.S_ISDIR(status.st_mode):
        return folder_instead(path, writing=writing)
    reason = "it is a device, FIFO or socket"
    return refused(Denied, path, reason, hint="Choose a regular file.", writing=writing)


MOST_IN_MEMORY = 4 * CHUNK_BYTES
_ATTEMPTS = 3


class _Opened:
    """A file's descriptor, and its status when it was opened."""

    def __init__(self, stat: FileStat, fd: int, status: os.stat_result) -> None:
        self.stat = stat
        self._fd = fd
        self._status = status

    def unchanged(self) -> bool:
        """True while the opened file has not been written to, even if another file has taken its name."""
        return same_bytes(os.fstat(self._fd), self._status)

    def close(self) -> None:
        """Close the file; later reads fail. Closing it again does nothing."""
        # The system may reuse the descriptor's number for another file at once.
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class InMemoryCopy(_Opened, BytesContent):
    """A small file's bytes, as they were at one moment."""

    def __init__(self, data: bytes, stat: FileStat, fd: int, status: os.stat_result) -> None:
        BytesContent.__init__(self, data)
        _Opened.__init__(self, stat, fd, status)


class Stream(_Opened):
    """A large file's bytes, read on demand; `unchanged` tells whether they are all still from one version."""

    @property
    def size(self) -> int:
        """Length in bytes."""
        return self.stat.size

    def read(self, start: int, length: int) -> bytes:
        """Up to `length` bytes from `start`; shorter only at the end."""
        length = max(min(length, self.size - start), 0)
        data = bytearray(length)
        self._fill(memoryview(data), start)
        return bytes(data)

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """The bytes from `start` to `end`; whole chunks share one buffer, the last is bytes of its exact length."""
        end = self.size if end is None else min(end, self.size)
        if end - start >= CHUNK_BYTES:
            buffer = bytearray(CHUNK_BYTES)
            while end - start >= CHUNK_BYTES:
                self._fill(memoryview(buffer), start)
                yield buffer
                start += CHUNK_BYTES
        if start < end:
            yield self.read(start, end - start)

    def _fill(self, view: memoryview, start: int) -> None:
        while view:
            try:
                got = read_into(self._fd, view, start)
            except OSError as error:
                raise refusal(error, self.stat.path) from error
            if not got:
                raise refused(Conflict, self.stat.path, "it became shorter while it was read", hint="Read it again.")
            view, start = view[got:], start + got


def open_content(fd: int, status: os.stat_result, root_key: str, path: str) -> InMemoryCopy | Stream:
    """The content of a file that was just opened.

    Raises:
        Conflict: it kept changing during every attempt.
        InputOutput: fewer bytes came than the system says it has.
        TooLarge: the system does not tell its size, and it is larger than `MOST_IN_MEMORY`.
    """
    if status.st_size > MOST_IN_MEMORY:
        _wait_for_writer(fd, status)
        return Stream(file_stat(root_key, path, status), fd, status)
    if not status.st_size:
        data = _all_of_unknown_size(fd, status, path)
        return InMemoryCopy(data, replace(file_stat(root_key, path, status), size=len(data)), fd, status)
    data, status = read_at_one_moment(fd, status, path)
    if len(data) < status.st_size:
        reason = f"short read, {len(data)} of {status.st_size} bytes came"
        raise refused(
            InputOutput,
            path,
            reason,
            hint="Check that the disk is connected, and that the file is not only a placeholder of a cloud drive.",
        )
    return InMemoryCopy(data, file_stat(root_key, path, status), fd, status)


def read_at_one_moment(fd: int, status: os.stat_result, path: str) -> tuple[bytes, os.stat_result]:
    """All bytes of an open file as they were at one moment, and its status then; fewer if the system gives no more.

    Raises:
        Conflict: it kept changing during every attempt.
    """
    for _ in range(_ATTEMPTS):
        _wait_for_writer(fd, status)
        data, after = _read(fd, status.st_size), os.fstat(fd)
        if same_bytes(after, status):
            return data, status
        grew = after.st_size > status.st_size
        if grew and len(data) == status.st_size and _read(fd, status.st_size) == data:
            return data, status
        status = after
    raise refused(Conflict, path, "it changes while it is read", hint="Try again later.")


def _wait_for_writer(fd: int, status: os.stat_result) -> None:
    """Wait for a write that the status may already tell of, though not all its bytes are there."""
    if time.time_ns() - status.st_mtime_ns < _SETTLED_AFTER_NS:  # Spares a file server the question.
        # A write of the same size in the same tick would leave no trace.
        wait_for_tick(max(status.st_mtime_ns, status.st_ctime_ns))
        wait_for_write(fd, status.st_size)


def _read(fd: int, size: int) -> bytes:
    data = read_at(fd, size, 0)
    while len(data) < size and (more := read_at(fd, size - len(data), len(data))):
        data += more
    return data


def _all_of_unknown_size(fd: int, status: os.stat_result, path: str) -> bytes:
    data = b""
    while more := read_at(fd, CHUNK_BYTES, len(data)):
        data += more
        if len(data) > MOST_IN_MEMORY:
            if not same_bytes(os.fstat(fd), status):  # its writer had truncated it and then went on
                raise refused(Conflict, path, "it changes while it is read", hint="Try again later.")
            reason = f"the system does not tell its size, and it has more than {MOST_IN_MEMORY} bytes"
            raise refused(TooLarge, path, reason, hint="Choose a regular file.")
    return data
