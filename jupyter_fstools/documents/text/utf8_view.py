"""Decodes a text in chunks, and names bytes that do not decode."""

from __future__ import annotations

import codecs
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain

from ...content.source import CHUNK_BYTES, Chunk, Content
from ...errors import EncodingRefused
from .encoding import UTF_8, TextEncoding, binary_refusal

_COMMON = ("cp1252", "gb18030", "shift_jis", "cp1251")
_AROUND_BYTES = 4 << 20
"""Bytes before and after the invalid one that are tried; a smaller file is tried as a whole."""

_MOST_CODE_BYTES = 8
"""Most bytes of one character: EUC-KR may write a Hangul syllable as four codes."""


class Utf8View:
    """A text content of any encoding as strictly valid UTF-8, in bounded memory.

    Offsets of the view count its UTF-8 bytes, without the BOM. For a UTF-8 file they are the file's own.
    """

    def __init__(self, content: Content, encoding: TextEncoding) -> None:
        self.content = content
        self.encoding = encoding
        self._start = len(encoding.bom)

    def chunks(self) -> Iterator[Chunk]:
        """The text as UTF-8; a chunk may end inside a character.

        Raises:
            Binary: a NUL; EncodingRefused: bytes that this encoding does not decode. Both name the byte offset.
        """
        if self.encoding.is_utf8:
            yield from self._checked_chunks()
        else:
            for _, _, text in self._texts():
                yield text.encode("utf-8")

    def decoded(self, start: int, data: bytes) -> str:
        """The text of `data`, raw bytes found at byte `start` of the content, cut at character boundaries."""
        try:
            return data.decode(self.encoding.codec)
        except UnicodeDecodeError as error:
            raise _undecodable(error, start, self.encoding.codec, self.content) from None

    def source_offsets(self, offsets: Sequence[int]) -> list[int]:
        """The byte offsets in the content of rising offsets of the view (at character boundaries)."""
        if self.encoding.is_utf8:
            return [self._start + offset for offset in offsets]
        found: list[int] = []
        seen = 0
        for start, raw, text in self._texts():
            data, at, done = text.encode("utf-8"), 0, 0
            while len(found) < len(offsets) and offsets[len(found)] <= seen + len(data):
                here = offsets[len(found)] - seen
                at = _end_of(data[done:here].decode("utf-8"), raw, at, self.encoding.codec)
                found.append(start + at)
                done = here
            seen += len(data)
        found += [self.content.size] * (len(offsets) - len(found))
        return found

    def passable_chunks(self) -> Iterator[bytes]:
        """The text as UTF-8, with U+FFFD for bytes that do not decode: enough to count its lines."""
        decoder = codecs.getincrementaldecoder(self.encoding.codec)("replace")
        for chunk in chain(_pieces(self.content, self._start), [b""]):
            yield decoder.decode(chunk, not chunk).encode("utf-8", "replace")

    def _checked_chunks(self) -> Iterator[Chunk]:
        decoder = codecs.getincrementaldecoder(self.encoding.codec)("strict")
        at, pending = self._start, False
        for chunk in self.content.chunks(self._start):
            if b"\0" in chunk:
                raise binary_refusal(at + chunk.index(b"\0"))
            if pending or not chunk.isascii():
                decode_strictly(decoder, chunk, at, self)
                pending = bool(decoder.getstate()[0])
            yield chunk
            at += len(chunk)
        if pending:
            decode_strictly(decoder, b"", at, self, final=True)

    def _texts(self) -> Iterator[tuple[int, bytes, str]]:
        """The text in pieces, each with its offset in the content and its bytes, which may end inside a character."""
        decoder = codecs.getincrementaldecoder(self.encoding.codec)("strict")
        at = self._start
        for chunk in chain(_pieces(self.content, self._start), [b""]):
            raw = decoder.getstate()[0] + chunk
            text = decode_strictly(decoder, chunk, at, self, final=not chunk)
            start, at = at + len(chunk) - len(raw), at + len(chunk)
            if "\0" in text:
                raise binary_refusal(start + _end_of(text[: text.index("\0")], raw, 0, self.encoding.codec))
            if text:
                yield start, raw, text


def _end_of(text: str, raw: bytes, start: int, codec: str) -> int:
    """The end of a text's bytes, which begin at `start` in `raw`."""
    again = text.encode(codec, "replace")
    if raw.startswith(again, start):
        return start + len(again)
    # Some codecs have codes of different lengths for one character: the bytes themselves are decoded, part by part.
    decoder = codecs.getincrementaldecoder(codec)
    ends = range(start, min(len(raw), start + _MOST_CODE_BYTES * len(text)) + 1)
    return ends[bisect_left(ends, len(text), key=lambda end: len(decoder().decode(raw[start:end])))]


def _pieces(content: Content, start: int) -> Iterator[bytes]:
    for chunk in content.chunks(start):
        for at in range(0, len(chunk), CHUNK_BYTES):
            yield bytes(chunk[at : at + CHUNK_BYTES])


def decode_strictly(
    decoder: codecs.IncrementalDecoder, chunk: Chunk, at: int, view: Utf8View, *, final: bool = False
) -> str:
    """The text of a view's next bytes, from byte `at` of the content on.

    Raises:
        EncodingRefused: names the byte that does not decode.
    """
    held = len(decoder.getstate()[0])  # A character may have begun in the bytes before.
    try:
        return decoder.decode(bytes(chunk), final)
    except UnicodeDecodeError as error:
        raise _undecodable(error, at - held, view.encoding.codec, view.content) from None


def _undecodable(error: UnicodeDecodeError, start: int, codec: str, content: Content) -> EncodingRefused:
    """The refusal of a file with bytes that do not decode; `start` is the offset of the bytes that were tried."""
    offset = start + error.start
    byte = error.object[error.start]
    named = [f'"{name}"' for name in _COMMON if _decodes(content, offset, name)]
    also = f" (the file would also decode as {', '.join(named)})" if named else ""
    # Whoever declared or named another encoding was wrong: hardly any other text is UTF-8 by chance.
    if codec != UTF_8.codec and _decodes(content, offset, UTF_8.codec):
        hint = f'The file is not in {codec}: it decodes with `encoding="utf-8"`.'
    # Latin-1 decodes any byte, but a text has no NULs.
    elif _decodes(content, offset, "latin-1"):
        hint = f'Name the file\'s encoding: `encoding="latin-1"` decodes any byte{also}.'
    else:
        hint = "The file is damaged at that byte: save it again with the program that made it."
    return EncodingRefused(f"byte {byte:#04x} at offset {offset} is not valid {codec}", hint=hint, offset=offset)


def _decodes(content: Content, offset: int, name: str) -> bool:
    """Whether a file decodes as text in an encoding, at least around an offset."""
    start = _line_start(content, max(0, offset - _AROUND_BYTES))
    end = min(content.size, offset + _AROUND_BYTES)
    decoder = codecs.getincrementaldecoder(name)("strict")
    for at in range(start, end, CHUNK_BYTES):
        piece = content.read(at, min(CHUNK_BYTES, end - at))
        try:
            text = decoder.decode(piece, at + len(piece) >= content.size)
        except UnicodeDecodeError:
            return False
        if "\0" in text:
            return False
    return True


def _line_start(content: Content, at: int) -> int:
    """The start of the next line, where a character begins in every encoding that is tried."""
    return at + content.read(at, CHUNK_BYTES).find(b"\n") + 1 if at else 0
