"""Suggests encodings that decode a file."""

from __future__ import annotations

import codecs

from ...content.source import CHUNK_BYTES, Content
from ...errors import EncodingRefused

_COMMON = ("cp1252", "gb18030", "shift_jis", "cp1251")
_AROUND_BYTES = 4 << 20
"""Bytes before and behind the wrong one that are tried; a smaller file is tried whole."""


def undecodable(error: UnicodeDecodeError, start: int, codec: str, content: Content) -> EncodingRefused:
    """The refusal for bytes of a file that do not decode; `start` is the offset in it of what was decoded."""
    offset = start + error.start
    byte = error.object[error.start]
    named = [f'"{name}"' for name in _COMMON if _decodes(content, offset, name)]
    also = f" (the file would also decode as {', '.join(named)})" if named else ""
    # Latin-1 decodes any byte, but a text has no NULs.
    if _decodes(content, offset, "latin-1"):
        hint = f'Name the file\'s encoding: `encoding="latin-1"` decodes any byte{also}.'
    else:
        hint = "The file is damaged at that byte: save it again with the program that made it."
    return EncodingRefused(f"byte {byte:#04x} at offset {offset} is not valid {codec}", hint=hint, offset=offset)


def _decodes(content: Content, offset: int, name: str) -> bool:
    """A file is text in an encoding, as far as it is tried: around an offset at least."""
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
    """Where the next line begins: there begins a character in every encoding that is tried."""
    return at + content.read(at, CHUNK_BYTES).find(b"\n") + 1 if at else 0
