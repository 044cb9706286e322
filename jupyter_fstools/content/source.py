"""Reads bytes at any offset in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

Chunk = bytes | bytearray
"""A run of bytes, all of them content; a bytearray is a reused buffer, valid until the next chunk."""

CHUNK_BYTES = 1 << 20
"""Size in bytes of the one reused buffer, 1 MiB: a larger one costs page faults, a smaller one costs calls."""


class Content(Protocol):
    """One consistent version of a file's bytes."""

    @property
    def size(self) -> int:
        """Length in bytes."""

    def read(self, start: int, length: int) -> bytes:
        """Up to `length` bytes from `start`; shorter only at the end."""

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """The bytes from `start` to `end`, in order; each chunk is valid until the next one is requested."""


def all_of(content: Content) -> bytes:
    """All bytes of a content, for one that is known to be small enough."""
    return content.read(0, content.size)


class BytesContent:
    """Content that is already in memory.

    Attributes:
        size: length in bytes.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    def read(self, start: int, length: int) -> bytes:
        """Up to `length` bytes from `start`; shorter only at the end."""
        return self.data[start : start + length]

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """The bytes from `start` to `end` as one chunk, without a copy if that is the whole content."""
        end = len(self.data) if end is None else min(end, len(self.data))
        if start < end:
            yield self.data if (start, end) == (0, len(self.data)) else self.data[start:end]
