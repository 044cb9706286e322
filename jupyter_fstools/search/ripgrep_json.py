"""Matches as ripgrep prints them with `--json`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from .match_lines import Hit
from .ripgrep_process import path_of


def matches_of(row: bytes, *, every_line: bool) -> Iterator[tuple[str, Hit]]:
    """The hits that one row tells, with the file's path; none of a row that is about something else.

    Args:
        row: what was printed, without the line feed.
        every_line: a hit for each line that a match begins on, not only for the first.
    """
    if row.startswith(b'{"type":"match"'):
        match = json.loads(row)["data"]
        path = path_of(_bytes(match["path"]))
        for hit in _hits(match, every_line=every_line):
            yield path, hit


def _bytes(value: dict[str, str]) -> bytes:
    """Text as ripgrep's JSON holds it: as it is, or in base64 where it is no UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _hits(found: dict[str, Any], *, every_line: bool) -> Iterator[Hit]:
    """The hit of one matched line; with `every_line` one for each line that a match begins on."""
    raw = _bytes(found["lines"])  # with every_line all the lines that follow each other
    line, line_start, previous = 0, 0, -1
    end_of_line = len(raw.removesuffix(b"\n"))  # where an empty match is that ripgrep does not list
    for match in found["submatches"] or [{"start": end_of_line, "end": end_of_line}]:
        start, end = match["start"], match["end"]
        if (start == len(raw) and raw.endswith(b"\n")) or (start == end and _is_inside_character(raw, start)):
            continue
        counted, line_start = line_start, raw.rfind(b"\n", line_start, start) + 1 or line_start
        line += raw.count(b"\n", counted, line_start)
        if line != previous:
            yield found["line_number"] + line, _length(raw[line_start:start]), _length(raw[start:end]), -1
        if not every_line:
            return
        previous = line


def _is_inside_character(raw: bytes, at: int) -> bool:
    """Whether to cut there would cut a character: to ripgrep there may be an empty match between its bytes."""
    before, after = raw[max(0, at - 3) : at], raw[at : at + 3]
    return _length(before) + _length(after) != _length(before + after)


def _length(raw: bytes) -> int:
    return len(raw.decode("utf-8", "surrogateescape"))
