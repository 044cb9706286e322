"""Describes byte changes: offset, removed and inserted bytes."""

from __future__ import annotations

import json
import zlib
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import NamedTuple

from .fingerprint import Fingerprint, FingerprintHasher
from .source import CHUNK_BYTES, BytesContent, Chunk, Content

_PARALLEL_BYTES = 8 << 20


class Splice(NamedTuple):
    """`removed` at byte `offset` of the old content becomes `inserted`.

    A sequence of splices is sorted by offset and does not overlap; every offset counts in the old content.
    """

    offset: int
    removed: bytes
    inserted: bytes

    @property
    def end(self) -> int:
        """The first byte of the old content after the splice."""
        return self.offset + len(self.removed)


def inverse(splices: Sequence[Splice]) -> list[Splice]:
    """The splices that lead from the new content back to the old one."""
    back, shift = [], 0
    for splice in splices:
        back.append(Splice(splice.offset + shift, splice.inserted, splice.removed))
        shift += len(splice.inserted) - len(splice.removed)
    return back


def trimmed(before: bytes, after: bytes) -> list[Splice]:
    """The one splice that turns `before` into `after`, without their common prefix and suffix; [] if they are equal."""
    if before == after:
        return []
    start = _shared_prefix(before, after)
    most = min(len(before), len(after)) - start
    end = _shared_suffix(before, after, most)
    return [Splice(start, before[start : len(before) - end], after[start : len(after) - end])]


def _shared_prefix(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shared_suffix(one: bytes, other: bytes, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def spliced_size(size: int, splices: Sequence[Splice]) -> int:
    """Size of the new content in bytes, given the old content's size."""
    return size + sum([len(s.inserted) - len(s.removed) for s in splices])


def spliced(data: bytes, splices: Sequence[Splice], start: int = 0) -> bytes:
    """The bytes after the splices inside them; they begin at `start` of the old content."""
    pieces, at = [], 0
    for splice in splices:
        pieces += [data[at : splice.offset - start], splice.inserted]
        at = splice.end - start
    return b"".join([*pieces, data[at:]])


class SplicedContent:
    """The new content, readable at any offset without assembling it: reads go to the old content or to the splices."""

    def __init__(self, base: Content, splices: Sequence[Splice]) -> None:
        self._parts: list[tuple[int, int, Content, int]] = []
        self._size = 0
        position = 0
        for splice in splices:
            self._add(base, position, splice.offset)
            self._add(BytesContent(splice.inserted), 0, len(splice.inserted))
            position = splice.end
        self._add(base, position, base.size)
        self._starts = [part[0] for part in self._parts]

    @property
    def size(self) -> int:
        """Length in bytes."""
        return self._size

    def read(self, start: int, length: int) -> bytes:
        """Up to `length` bytes from `start`; shorter only at the end."""
        end = min(start + max(length, 0), self._size)
        pieces = []
        at = max(bisect_right(self._starts, start) - 1, 0)
        while start < end and at < len(self._parts):
            begin, stop, content, offset = self._parts[at]
            upto = min(stop, end)
            pieces.append(content.read(offset + start - begin, upto - start))
            start, at = upto, at + 1
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """The bytes from `start` to `end`, in order."""
        end = self._size if end is None else min(end, self._size)
        for at in range(start, end, CHUNK_BYTES):
            yield self.read(at, min(CHUNK_BYTES, end - at))

    def _add(self, content: Content, start: int, end: int) -> None:
        if end > start:
            self._parts.append((self._size, self._size + end - start, content, start))
            self._size += end - start


class SplicedStream:
    """The new content as a stream that fingerprints itself (and, if wanted, the old content) while it is read."""

    def __init__(self, base: Content, splices: Sequence[Splice], *, old_wanted: bool) -> None:
        self._base = base
        self._splices = splices
        self._new = FingerprintHasher()
        self._old: FingerprintHasher | None = None
        self._old_wanted = old_wanted

    def chunks(self) -> Iterator[Chunk]:
        """The new content; read it once, to the end."""
        position = 0
        for splice in self._splices:
            yield from self._kept(position, splice.offset)
            if self._old is None and self._old_wanted:
                self._old = self._new.copy()
            if self._old is not None:
                self._old.update(splice.removed)
            self._new.update(splice.inserted)
            if splice.inserted:
                yield splice.inserted
            position = splice.end
        yield from self._kept(position, self._base.size)

    def fingerprints(self) -> tuple[Fingerprint | None, Fingerprint]:
        """Fingerprints of the old content (None unless wanted) and of the new one; call it after reading the stream."""
        new = self._new.result()
        if not self._old_wanted:
            return None, new
        return (self._old.result() if self._old is not None else new), new

    def _kept(self, start: int, end: int) -> Iterator[Chunk]:
        if start >= end:
            return
        chunks = self._base.chunks(start, end)
        if end - start < _PARALLEL_BYTES:
            for chunk in chunks:
                self._hash(chunk)
                yield chunk
            return
        # hashlib releases the GIL: a chunk is hashed while the caller writes it and the next one is read.
        buffers, hashing = (bytearray(), bytearray()), deque[Future[None]]()
        with ThreadPoolExecutor(1) as beside:
            for buffer, chunk in zip(cycle(buffers), chunks, strict=False):
                if len(hashing) == len(buffers):
                    hashing.popleft().result()
                hashing.append(beside.submit(self._hash, _lasting(chunk, buffer)))
                yield chunk
            for one in hashing:
                one.result()

    def _hash(self, chunk: Chunk) -> None:
        self._new.update(chunk)
        if self._old is not None:
            self._old.update(chunk)


def _lasting(chunk: Chunk, buffer: bytearray) -> Chunk:
    """The chunk's bytes in a form that stays valid after the next chunk: a reused buffer is copied into `buffer`."""
    if isinstance(chunk, bytes):
        return chunk
    buffer[:] = chunk
    return buffer


def packed(splices: Sequence[Splice], *, keep_inserted: bool) -> bytes:
    """The splices as bytes for the journal: a JSON head, then the texts, compressed.

    Without `keep_inserted` only the lengths of the inserted texts are kept: enough to undo, not to redo.
    """
    head = [[s.offset, len(s.removed), len(s.inserted)] for s in splices]
    texts = b"".join([s.removed + (s.inserted if keep_inserted else b"") for s in splices])
    body = json.dumps([keep_inserted, head]).encode() + b"\n" + texts
    return b"\x00" + body if len(body) < 4096 else b"\x01" + zlib.compress(body, 1)


def anchored(kept: bytes, anchors: bytes) -> bytes:
    """Packed splices with `anchors`: data for finding their places in content that has changed elsewhere."""
    return b"\x03" + len(kept).to_bytes(4, "big") + kept + anchors if anchors else kept


def anchors_in(data: bytes) -> bytes:
    """The anchors in data from `anchored`; empty if there are none."""
    return data[5 + int.from_bytes(data[1:5], "big") :] if data[:1] == b"\x03" else b""


def unpacked(data: bytes) -> list[Splice]:
    """The splices of `packed(..., keep_inserted=True)`.

    Raises:
        ValueError: the inserted texts were not kept.
    """
    kept, splices, _ = _unpack(data)
    if not kept:
        raise ValueError("these splices keep only what they removed")
    return splices


def unpacked_undo(data: bytes, after: Content) -> list[Splice]:
    """The splices that lead back from the content after the packed ones, from which the inserted texts are read."""
    _, splices, lengths = _unpack(data)
    back, shift = [], 0
    for splice, length in zip(splices, lengths, strict=True):
        offset = splice.offset + shift
        back.append(Splice(offset, after.read(offset, length), splice.removed))
        shift += length - len(splice.removed)
    return back


def bundled(parts: Sequence[bytes]) -> bytes:
    """The packed splices of several files as one value; those of a single file are returned unchanged."""
    if len(parts) == 1:
        return parts[0]
    return b"\x02" + json.dumps([len(part) for part in parts]).encode() + b"\n" + b"".join(parts)


def parts_of(data: bytes) -> list[bytes]:
    """The parts in data from `bundled`."""
    if data[:1] != b"\x02":
        return [data]
    head, _, body = data[1:].partition(b"\n")
    parts, at = [], 0
    for length in json.loads(head):
        parts.append(body[at : at + length])
        at += length
    return parts


def either_way(landed: bytes, waiting: bytes, proposal: bytes) -> bytes:
    """The data of a proposal while it is carried out: its splices if that succeeds, and its old data if it fails."""
    return b"\x04" + bundled([landed, waiting, proposal])


def ways_of(data: bytes) -> list[bytes]:
    """The parts in data from `either_way`; empty for other data."""
    return parts_of(data[1:]) if data[:1] == b"\x04" else []


def _unpack(data: bytes) -> tuple[bool, list[Splice], list[int]]:
    if data[:1] == b"\x03":
        data = data[5 : 5 + int.from_bytes(data[1:5], "big")]
    body = zlib.decompress(data[1:]) if data[:1] == b"\x01" else data[1:]
    head, _, texts = body.partition(b"\n")
    kept, rows = json.loads(head)
    splices, lengths, at = [], [], 0
    for offset, removed, inserted in rows:
        old = texts[at : at + removed]
        at += removed
        new = texts[at : at + inserted] if kept else b""
        at += inserted if kept else 0
        splices.append(Splice(offset, old, new))
        lengths.append(inserted)
    return kept, splices, lengths
