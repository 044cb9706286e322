"""Recognises pictures and PDFs by their first bytes."""

from __future__ import annotations

import codecs
import re

HEAD_BYTES = 64
"""As much of a file's beginning as tells what it is."""
PDF = "application/pdf"

_MARKS = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"RIFF.{4}WEBPVP8", re.DOTALL), "image/webp"),
    (re.compile(rb"II\*\0|MM\0\*|II\+\0|MM\0\+"), "image/tiff"),
    # "BM" begins words too: the length of the header that follows is one that there is, and holds NULs.
    (re.compile(rb"BM.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0\0\0", re.DOTALL), "image/bmp"),
    (re.compile(rb"%PDF-\d\.\d"), PDF),
)
_GIF = re.compile(rb"GIF8[79]a")
_TEXT = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f]+")


def media_type(head: bytes) -> str | None:
    """The media type of a picture or PDF that begins with these bytes (up to `HEAD_BYTES`); None: neither."""
    for mark, name in _MARKS:
        if mark.match(head):
            return name
    if _GIF.match(head) and not _goes_on_as_text(head[6:HEAD_BYTES]):
        return "image/gif"
    return None


def _goes_on_as_text(rest: bytes) -> bool:
    # The signature of a GIF is made of letters, which a text may begin with; the header behind it has control bytes.
    try:
        return bool(_TEXT.fullmatch(codecs.getincrementaldecoder("utf-8")().decode(rest)))
    except UnicodeDecodeError:
        return False
