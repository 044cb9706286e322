"""The beginning or the end of a long JSON text, decoded without the rest."""

from __future__ import annotations

import json
import re

from ...content.source import Content
from .cell import decoded, joined_text
from .spans import items_at

_LINE_END = re.compile(rb"(?<!\\)(?:\\\\)*\\[nr]")
_NEXT_ITEM = re.compile(rb'(?<!\\)(?:\\\\)*"[ \t\r\n]*,[ \t\r\n]*(?=")')
_LONGEST_SPLIT = 16  # Bytes that a cut can leave of an escaped pair and a character.


def head_of(content: Content, start: int, end: int, limit: int) -> tuple[str, bool]:
    """About the first `limit` bytes of a string or list of strings, and whether that is all of it."""
    if end - start <= limit:
        return joined_text(decoded(content.read(start, end - start))), True
    if content.read(start, 1) == b'"':
        return _prefix(content, start, limit), False
    parts, left = [], limit
    for item_start, item_end in items_at(content, start, end):
        if item_end - item_start > left:
            parts.append(_prefix(content, item_start, left) if content.read(item_start, 1) == b'"' else "")
            break
        parts.append(joined_text(decoded(content.read(item_start, item_end - item_start))))
        left -= item_end - item_start
    return "".join(parts), False


def last_items(content: Content, start: int, end: int, limit: int) -> tuple[list[str], bool]:
    """The items of a list of strings (a string is one item) in about the last `limit` bytes, and if that is all.

    A string that is cut begins after a line break; where none is near, nothing is given.
    """
    if end - start <= limit:
        value = decoded(content.read(start, end - start))
        items = value if isinstance(value, list) else [value]
        return [item for item in items if isinstance(item, str)], True
    raw = content.read(end - limit, limit)
    if content.read(start, 1) == b"[":
        for cut in _NEXT_ITEM.finditer(raw):
            try:  # A quote may open a string that only looks like the seam between two.
                items = json.loads(b"[" + raw[cut.end() :])
            except ValueError:
                continue
            return [item for item in items if isinstance(item, str)], False
        raw = raw.rstrip(b" \t\r\n]").rstrip(b" \t\r\n")
    line_end = _LINE_END.search(raw)
    if line_end is None:
        return [], False
    try:
        return [str(json.loads(b'"' + raw[line_end.end() :]))], False
    except ValueError:
        return [], False


def _prefix(content: Content, start: int, limit: int) -> str:
    raw = content.read(start, max(limit, 2))
    for cut in range(len(raw), max(0, len(raw) - _LONGEST_SPLIT), -1):
        try:
            text = str(json.loads(raw[:cut] + b'"'))
        except ValueError:
            continue
        return text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text
    return ""
