"""Compares two contents by hash, without keeping either."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from .source import Chunk

_WIDE_BOMS = (  # UTF-32 must come first, as its little-endian BOM begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le", 4),
    (codecs.BOM_UTF32_BE, "utf-32-be", 4),
    (codecs.BOM_UTF16_LE, "utf-16-le", 2),
    (codecs.BOM_UTF16_BE, "utf-16-be", 2),
)
_LONGEST_BOM = 4


class Fingerprint(NamedTuple):
    """Two SHA-256 digests, in hex.

    Attributes:
        text: digest of the bytes with every CRLF as LF; equal if a reader saw the same text.
        exact: digest of the unchanged bytes; equal if all bytes are the same.
    """

    text: str
    exact: str


def fingerprint_of(chunks: Iterable[Chunk]) -> Fingerprint:
    """The fingerprint of a content given chunk by chunk; bounded memory."""
    hasher = FingerprintHasher()
    for chunk in chunks:
        hasher.update(chunk)
    return hasher.result()


class FingerprintHasher:
    """Fingerprints a stream; it computes one hash until the first CR, and two from there on."""

    def __init__(self) -> None:
        self._exact = hashlib.sha256()
        self._text: hashlib._Hash | None = None
        self._held = b""
        self._head: bytes | None = b""
        self._cr = b"\r"
        self._crlf, self._lf, self._unit = b"\r\n", b"\n", 1

    def update(self, chunk: Chunk) -> None:
        """Add the next bytes."""
        if not chunk:
            return
        if self._head is not None:
            # A BOM has up to four bytes, and a chunk may end within it.
            if len(self._head) + len(chunk) < _LONGEST_BOM:
                self._head += chunk
                return
            chunk = self._head + bytes(chunk) if self._head else chunk
            self._begin(chunk)
        self._add(chunk)

    def _add(self, chunk: Chunk) -> None:
        if self._text is None and not self._held and self._unit == 1 and b"\r" not in chunk:
            self._exact.update(chunk)
            return
        if self._text is None:
            self._text = self._exact.copy()
        self._exact.update(chunk)
        self._update_text(self._held + bytes(chunk))

    def copy(self) -> FingerprintHasher:
        """A copy that continues from here, so that contents with the same beginning hash it only once."""
        twin = FingerprintHasher()
        twin.__dict__.update(self.__dict__)
        twin._exact = self._exact.copy()
        twin._text = self._text.copy() if self._text is not None else None
        return twin

    def result(self) -> Fingerprint:
        """The fingerprint of all bytes so far."""
        if self._head:
            twin = self.copy()
            twin._begin(self._head)
            twin._add(self._head)
            return twin.result()
        exact = self._exact.hexdigest()
        if self._text is None:
            return Fingerprint(exact, exact)
        text = self._text.copy()
        text.update(self._held)
        return Fingerprint(text.hexdigest(), exact)

    def _begin(self, chunk: Chunk) -> None:
        self._head = None
        head = bytes(chunk[:_LONGEST_BOM])
        for bom, codec, unit in _WIDE_BOMS:
            if head.startswith(bom):
                self._cr, self._lf = "\r".encode(codec), "\n".encode(codec)
                self._crlf, self._unit = self._cr + self._lf, unit
                return

    def _update_text(self, data: bytes) -> None:
        assert self._text is not None
        whole = len(data) - len(data) % self._unit
        if data[whole - self._unit : whole] == self._cr:
            whole -= self._unit
        body, self._held = data[:whole], data[whole:]
        if self._unit == 1:
            self._text.update(body.replace(self._crlf, self._lf))
        else:
            self._text.update(self._joined_aligned(body))

    def _joined_aligned(self, body: bytes) -> bytes:
        pieces, start, at = [], 0, body.find(self._crlf)
        while at >= 0:
            if at % self._unit:
                at = body.find(self._crlf, at + 1)
                continue
            pieces.append(body[start:at] + self._lf)
            start = at + len(self._crlf)
            at = body.find(self._crlf, start)
        return b"".join([*pieces, body[start:]])
