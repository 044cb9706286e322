"""Decodes files into text, in blocks of whole lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from ..content.source import Content

BLOCK_CHARACTERS = 8 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "surrogateescape"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "replace"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "replace"),
)


def encoding_of(head: bytes) -> tuple[int, str, str]:
    """How many bytes of mark a file begins with, its encoding, and what to do with bytes that are wrong in it."""
    for mark, encoding, errors in _MARKS:
        if head.startswith(mark):
            # Of UTF-16 ripgrep takes away two: one that says what it is, one that its decoder removes.
            return len(mark) * (1 + (encoding != "utf-8" and head.startswith(2 * mark))), encoding, errors
    return 0, "utf-8", "surrogateescape"


def decoded(raw: bytes) -> str:
    """A whole file as text, without its byte order mark: UTF-8, or UTF-16 with one; other bytes become surrogates."""
    skip, encoding, errors = encoding_of(raw[:4])
    return raw[skip:].decode(encoding, errors)


def text_blocks(content: Content, block: int = BLOCK_CHARACTERS) -> Iterator[str]:
    """A file as text in blocks that end after a line feed, of at least `block` characters but for the last."""
    skip, encoding, errors = encoding_of(content.read(0, 4))
    if content.size <= block:
        yield content.read(skip, content.size).decode(encoding, errors)
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    waiting: list[str] = []
    length = 0
    for chunk in content.chunks(skip):
        text = decoder.decode(bytes(chunk))
        waiting.append(text)
        length += len(text)
        if length >= block and "\n" in text:
            whole = "".join(waiting)
            end = whole.rindex("\n") + 1
            yield whole[:end]
            waiting, length = [whole[end:]], len(whole) - end
    yield "".join(waiting) + decoder.decode(b"", True)
