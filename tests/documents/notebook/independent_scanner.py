"""Finds cells with the json module's own decoder: shares no code with the scanner under test."""

from __future__ import annotations

import json
import re

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def members(text: str, at: int) -> tuple[dict[str, tuple[int, int]], int]:
    """The span of each value by its key in the object at `at`, and the object's end."""
    assert text[at] == "{"
    found: dict[str, tuple[int, int]] = {}
    at = _blank(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _blank(text, _blank(text, at) + 1)
        _, at = _DECODER.raw_decode(text, start)
        found[key] = (start, at)
        at = _blank(text, at)
        at = _blank(text, at + 1) if text[at] == "," else at
    return found, at + 1


def cell_texts(data: bytes) -> list[str]:
    """The JSON text of every cell, as it stands in the file."""
    text = data.decode()
    start, end = members(text, _blank(text, 0))[0]["cells"]
    found, at = [], _blank(text, start + 1)
    while at < end and text[at] != "]":
        _, stop = _DECODER.raw_decode(text, at)
        found.append(text[at:stop])
        at = _blank(text, stop)
        at = _blank(text, at + 1) if text[at] == "," else at
    return found


def around_cells(data: bytes) -> tuple[str, str]:
    """The text before and after the list of cells."""
    text = data.decode()
    start, end = members(text, _blank(text, 0))[0]["cells"]
    return text[:start], text[end:]


def _blank(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found
    return found.end()
