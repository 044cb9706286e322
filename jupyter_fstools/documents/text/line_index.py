"""Indexes where lines begin, sparsely, in files of any size."""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import Literal

from ...content.fingerprint import Fingerprint, FingerprintHasher
from ...content.source import Chunk, Content
from ...errors import Conflict

BLOCK_BYTES = 64 << 10
"""One count is kept per block: 128 KiB of index per GiB of file."""

Eol = Literal["lf", "crlf", "cr", "mixed", "none"]
_PARALLEL_BYTES = 8 << 20
_PACKED = struct.Struct("<QQQQQ1s")


class LineIndex:
    r"""Newline counts per block of a content whose newline is the byte 0x0A; only `\n` ends a line.

    Attributes:
        scanned: bytes looked at so far; the whole content once `complete`.
        fingerprint: of the whole content, once somebody asked for it.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.fingerprint: Fingerprint | None = None
        self._lock = RLock()
        self._start_over()

    def _start_over(self) -> None:
        self.scanned = 0
        self._counts = array("Q")
        self._newlines = 0
        self._crlf = 0
        self._cr = 0
        self._last = b""

    @classmethod
    def unpacked(cls, packed: bytes, size: int) -> LineIndex | None:
        """The index from bytes that `packed` returned for a content of this size; None if the bytes are not valid."""
        index, (body, rest) = cls(size), divmod(len(packed) - _PACKED.size, 8)
        if body < 0 or rest:
            return None
        packed_size, index.scanned, index._newlines, index._crlf, index._cr, index._last = _PACKED.unpack_from(packed)
        index._counts = array("Q", struct.unpack_from(f"<{body}Q", packed, _PACKED.size))
        return index if packed_size == size and body == -(-index.scanned // BLOCK_BYTES) else None

    def packed(self) -> bytes:
        """The counts so far, in bytes that any machine can unpack; without the fingerprint."""
        with self._lock:
            head = (self.size, self.scanned, self._newlines, self._crlf, self._cr, self._last)
            return _PACKED.pack(*head) + struct.pack(f"<{len(self._counts)}Q", *self._counts)

    @property
    def complete(self) -> bool:
        """Whether the whole content was scanned."""
        return self.scanned >= self.size

    @property
    def final_newline(self) -> bool:
        """Whether the last byte scanned ends a line."""
        return self._last == b"\n"

    @property
    def total_lines(self) -> int:
        """Lines up to `scanned`; a last line without a newline counts."""
        return self._newlines + (1 if self.scanned and not self.final_newline else 0)

    @property
    def lines_begun(self) -> int:
        """Lines whose beginning is known without another scan of the content."""
        return self._newlines + 1

    @property
    def eol(self) -> Eol:
        """The line endings found so far."""
        kinds: list[Eol] = []
        if self._crlf:
            kinds.append("crlf")
        if self._newlines > self._crlf:
            kinds.append("lf")
        if self._cr > self._crlf:
            kinds.append("cr")
        if not kinds:
            return "none"
        return kinds[0] if len(kinds) == 1 else "mixed"

    @property
    def mostly_crlf(self) -> bool:
        r"""Whether more of the lines scanned so far end in `\r\n` than in `\n` alone."""
        return self._crlf * 2 > self._newlines

    def scan_all(self, content: Content) -> None:
        """Count every line and fingerprint the content, in one pass."""
        with self._lock:
            if self.fingerprint is None:
                self.fingerprint = self._scan(content)

    def _scan(self, content: Content) -> Fingerprint:
        self._start_over()
        hasher = FingerprintHasher()
        if content.size < _PARALLEL_BYTES:
            for chunk in content.chunks():
                hasher.update(chunk)
                self.count(chunk)
        else:
            # Hashing releases the GIL and counting holds it: a thread that counts runs in parallel to the hashing,
            # while a thread that hashes would not start before the counting ends.
            with ThreadPoolExecutor(1) as beside:
                for chunk in content.chunks():
                    counted = beside.submit(self.count, chunk)
                    hasher.update(chunk)
                    counted.result()
        return hasher.result()

    def scan_to_line(self, content: Content, line: int) -> None:
        """Count until line `line` has begun, or to the end."""
        with self._lock:
            if self.complete or self._newlines >= line - 1:
                return
            for chunk in content.chunks(self.scanned):
                self.count(chunk)
                if self._newlines >= line - 1 and self.scanned % BLOCK_BYTES == 0:
                    return

    def line_start(self, content: Content, line: int) -> int | None:
        """The byte offset where line `line` (1-based) begins; None past the last line.

        Raises:
            Conflict: the content is no longer the one that was counted.
        """
        if line <= 1:
            return 0
        self.scan_to_line(content, line)
        if self._newlines < line - 1:
            return None
        block = bisect_left(self._counts, line - 1)
        before = self._counts[block - 1] if block else 0
        past = bytes_past_lines(content.read(block * BLOCK_BYTES, BLOCK_BYTES), line - 1 - before)
        if past is None:
            raise Conflict("the file changes while it is read", hint="Read it again in a moment.")
        start = block * BLOCK_BYTES + past
        return start if start < self.size else None

    def is_far(self, line: int, offset: int) -> bool:
        """Whether line `line`, whose block is known, begins past byte `offset`; read from the index alone."""
        return bisect_left(self._counts, line - 1) * BLOCK_BYTES > offset

    def line_at(self, content: Content, offset: int) -> int:
        """The number of the line that holds byte `offset`."""
        block = offset // BLOCK_BYTES
        with self._lock:
            for chunk in content.chunks(self.scanned, block * BLOCK_BYTES):
                self.count(chunk)
        before = self._counts[block - 1] if block else 0
        return before + content.read(block * BLOCK_BYTES, offset % BLOCK_BYTES).count(b"\n") + 1

    def count(self, chunk: Chunk) -> None:
        """Count the newlines of the next bytes after `scanned`."""
        if not chunk:
            return
        if b"\r" in chunk or self._last == b"\r":
            self._cr += chunk.count(b"\r")
            self._crlf += chunk.count(b"\r\n") + (self._last == b"\r" and chunk[:1] == b"\n")
        begun = -self.scanned % BLOCK_BYTES
        if begun:
            self._newlines += chunk.count(b"\n", 0, begun)
            self._counts[-1] = self._newlines
        for start in range(begun, len(chunk), BLOCK_BYTES):
            self._newlines += chunk.count(b"\n", start, start + BLOCK_BYTES)
            self._counts.append(self._newlines)
        self._last = bytes(chunk[-1:])
        self.scanned += len(chunk)


def bytes_past_lines(data: bytes, lines: int) -> int | None:
    """How many bytes the first lines have, newlines included; None if there are fewer newlines than that."""
    # A single split is faster than a find for each line.
    pieces = data.split(b"\n", lines)
    return len(data) - len(pieces[-1]) if len(pieces) > lines else None
