"""Holds a file open: small ones copied, large ones streamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from ..content.source import CHUNK_BYTES, BytesContent, Chunk
from ..errors import Conflict, InputOutput, TooLarge
from .disk_stat import file_stat, same_version, version_of
from .operating_system import read_at, read_into
from .protocol import FileStat
from .system_errors import refusal, refused

MOST_IN_MEMORY = 4 * CHUNK_BYTES
_ATTEMPTS = 3


class InMemoryCopy(BytesContent):
    """A small file's bytes, as they were at one moment."""

    def __init__(self, data: bytes, stat: FileStat, fd: int) -> None:
        super().__init__(data)
        self.stat = stat
        self._fd = fd

    def unchanged(self) -> bool:
        """True while the file on the disk is still the same."""
        return version_of(os.fstat(self._fd)) == self.stat.version


class Stream:
    """A large file's bytes, read when they are asked for; `unchanged` tells whether they still are of one version."""

    def __init__(self, stat: FileStat, fd: int) -> None:
        self.stat = stat
        self._fd = fd

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

    def unchanged(self) -> bool:
        """True while the file on the disk is still the same."""
        return version_of(os.fstat(self._fd)) == self.stat.version

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
        Conflict: it changes all the time.
        InputOutput: fewer bytes came than the system says there are.
        TooLarge: the system does not say how much there is, and it is a lot.
    """
    if status.st_size > MOST_IN_MEMORY:
        return Stream(file_stat(root_key, path, status), fd)
    if not status.st_size:
        data = _all_of_unknown_size(fd, status, path)
        return InMemoryCopy(data, replace(file_stat(root_key, path, status), size=len(data)), fd)
    for _ in range(_ATTEMPTS):
        data, after = _read(fd, status.st_size), os.fstat(fd)
        if same_version(after, status):
            break
        grew = after.st_size > status.st_size
        if grew and len(data) == status.st_size and _read(fd, status.st_size) == data:
            break
        status = after
    else:
        raise refused(Conflict, path, "it changes while it is read", hint="Try again later.")
    if len(data) < status.st_size:
        reason = f"short read, {len(data)} of {status.st_size} bytes came"
        raise refused(InputOutput, path, reason, hint="Is the disk there, or the file still in a cloud?")
    return InMemoryCopy(data, file_stat(root_key, path, status), fd)


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
            if not same_version(os.fstat(fd), status):  # it was empty only between two steps of its writer
                raise refused(Conflict, path, "it changes while it is read", hint="Try again later.")
            reason = f"its size is not known, and it is above {MOST_IN_MEMORY} bytes"
            raise refused(TooLarge, path, reason, hint="Choose a regular file.")
    return data
