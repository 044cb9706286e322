"""Decodes the files of a search as ripgrep does."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator

from ..backends.protocol import Backend, FileStat
from ..content.source import Content
from ..errors import FsToolsError, TooLarge

BLOCK_CHARACTERS = 8 << 20
MOST_AT_ONCE = 256 << 20
"""Most bytes of a large file that are held in memory at once: a line, or all of it if a match may span lines or it is a
notebook."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "surrogateescape"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "replace"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "replace"),
)


def encoding_of(head: bytes) -> tuple[int, str, str]:
    """The length of a file's byte order mark, its encoding, and the error handler for invalid bytes."""
    for mark, encoding, errors in _MARKS:
        if head.startswith(mark):
            # Ripgrep removes two marks from UTF-16: it drops the one that it detects, and its decoder another one.
            return len(mark) * (1 + (encoding != "utf-8" and head.startswith(2 * mark))), encoding, errors
    return 0, "utf-8", "surrogateescape"


def is_utf16(head: bytes) -> bool:
    """Whether a file is UTF-16, in which a NUL byte does not make it binary."""
    return head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def decoded(raw: bytes) -> str:
    """A whole file as text, without its byte order mark: UTF-8, or UTF-16 with one; other bytes become surrogates."""
    skip, encoding, errors = encoding_of(raw[:4])
    return raw[skip:].decode(encoding, errors)


def text_blocks(content: Content, *, whole: bool = False) -> Iterator[str]:
    """A file as text in blocks that end after a line feed, of `BLOCK_CHARACTERS` or more; or as a `whole`.

    The block that holds a NUL is the last one, as the file is binary.

    Raises:
        TooLarge: a line has more than `MOST_AT_ONCE` characters.
    """
    skip, encoding, errors = encoding_of(content.read(0, 4))
    if whole or content.size <= BLOCK_CHARACTERS:
        yield content.read(skip, content.size).decode(encoding, errors)
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    waiting: list[str] = []
    length = 0
    for chunk in content.chunks(skip):
        text = decoder.decode(bytes(chunk))
        waiting.append(text)
        length += len(text)
        if "\0" in text:
            break
        if length >= BLOCK_CHARACTERS and "\n" in text:
            block = "".join(waiting)
            end = block.rindex("\n") + 1
            yield block[:end]
            waiting, length = [block[end:]], len(block) - end
        if length > MOST_AT_ONCE:
            raise TooLarge(f"a line has more than {MOST_AT_ONCE >> 20} MiB", hint="Search another file.")
    yield "".join(waiting) + decoder.decode(b"", True)


def binary_or_long(backend: Backend, file: FileStat, ended: Callable[[], bool]) -> str:
    """The reason not to search a file by a program that holds whole lines in memory: `binary`, `long`, or none ("")."""
    if file.size <= MOST_AT_ONCE:
        return ""
    length = 0
    try:
        with backend.read(file.path) as opened:
            is_wide = is_utf16(opened.read(0, 2))
            for chunk in opened.chunks():
                if 0 in chunk and not is_wide:
                    return "binary"
                newline = chunk.rfind(b"\n")
                length = len(chunk) - newline - 1 if newline >= 0 else length + len(chunk)
                if length > MOST_AT_ONCE:
                    return "long"
                if ended():
                    break
    except FsToolsError:
        return ""  # The program tells what is wrong with it.
    return ""
