"""Checks that a text is written in the encoding it declares."""

from __future__ import annotations

from ...content.source import BytesContent, Content
from ...errors import EncodingRefused
from .encoding import HEAD_BYTES, TextEncoding, encoding_of


def encoding_for(text: str, path: str) -> TextEncoding:
    """What a new text is to be written in: what it declares (PEP 263, XML), else UTF-8.

    Raises:
        EncodingRefused: it declares an unknown encoding.
    """
    return encoding_of(BytesContent(text[:HEAD_BYTES].encode("utf-8", "replace")), path, None)


def require_declared(content: Content, path: str, written_in: TextEncoding) -> None:
    """Refuse a content that would be read in another encoding than it is written in.

    Raises:
        EncodingRefused: it declares another one, or the one that it needs no more.
    """
    read_in = encoding_of(content, path, None)
    same = read_in == written_in or (read_in.is_utf8 and written_in.is_utf8)
    if same or all(bytes(chunk).isascii() for chunk in content.chunks()):
        return
    raise EncodingRefused(
        f"written in {written_in.codec}, but by what it would declare it would be read as {read_in.codec}",
        hint=f"Leave or make its declaration {written_in.codec}, or write the text to another file.",
        encoding=written_in.codec,
    )
