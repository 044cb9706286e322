"""Parses the matches that ripgrep prints with `--json`."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator

from ..match_lines import Hit
from ..regex.emit import STRAY
from .process import path_of

_MATCHES = b',"submatches":['
"""Follows the text of the lines in a row; inside that text its quotes would be escaped, as would those of the next."""
_SUBMATCH = re.compile(rb'"start":(\d+),"end":(\d+)\}')
_LONGEST_SUBMATCH_BYTES = 64
_STRAY = re.compile(STRAY.encode())


class MatchRows:
    """Parses output as it comes: a row may list millions of matches, and is never held as a whole.

    Args:
        every_line: a hit for each line that a match begins on, not only for the first.
    """

    def __init__(self, *, every_line: bool) -> None:
        self._every_line = every_line
        self._waiting = bytearray()
        self._looked = 0
        self._row: _Row | None = None

    def take(self, block: bytes) -> Iterator[tuple[str, Hit]]:
        """The hits in a new piece of output, each with its file's path; other rows are skipped."""
        self._waiting += block
        while self._row is not None or self._has_begun():
            assert self._row is not None
            row, end = self._row, self._waiting.find(b"\n")
            listed = bytes(self._waiting if end < 0 else self._waiting[:end])
            for hit in row.hits(listed, complete=end >= 0):
                yield row.path, hit
            if end < 0:
                # The last match may not have been received completely.
                del self._waiting[: max(row.read, len(listed) - _LONGEST_SUBMATCH_BYTES)]
                return
            del self._waiting[: end + 1]
            self._row = None

    def _has_begun(self) -> bool:
        """Advance to the next row's matches; False if they have not been received yet."""
        while True:
            end = self._waiting.find(b"\n", self._looked)
            matches = self._waiting.find(_MATCHES, max(0, self._looked - len(_MATCHES)), None if end < 0 else end)
            if matches < 0 and end < 0:
                self._looked = len(self._waiting)
                return False
            self._looked = 0
            if matches >= 0:
                self._row = _Row(bytes(self._waiting[:matches]) + b"}}", every_line=self._every_line)
                del self._waiting[: matches + len(_MATCHES)]
                return True
            del self._waiting[: end + 1]


class _Row:
    """One matched line, or with `every_line` all adjacent ones."""

    def __init__(self, row: bytes, *, every_line: bool) -> None:
        match = json.loads(row)["data"]
        self.path = path_of(_bytes(match["path"]))
        self.read = 0
        self._raw = _bytes(match["lines"])
        self._every_line = every_line
        self._line, self._line_start, self._line_end = match["line_number"], 0, 0
        self._any_listed = False

    def hits(self, listed: bytes, *, complete: bool) -> Iterator[Hit]:
        """The hits of some more matches, the last ones if `complete`; afterwards `read` is the bytes parsed."""
        self.read = 0
        if self._line_end and not self._every_line:
            return
        for each in _SUBMATCH.finditer(listed):
            self._any_listed, self.read = True, each.end()
            start = int(each[1])
            if start >= self._line_end and (hit := self._hit(start, int(each[2]))):
                yield hit
                if not self._every_line:
                    return
        if complete and not self._any_listed and not self._every_line:
            end_of_line = len(self._raw.removesuffix(b"\n"))  # Ripgrep does not list an empty match there.
            if hit := self._hit(end_of_line, end_of_line):
                yield hit

    def _hit(self, start: int, end: int) -> Hit | None:
        """The hit of the first match on a line."""
        raw = self._raw
        if (start == len(raw) and raw.endswith(b"\n")) or (start == end and _is_inside_character(raw, start)):
            return None
        counted, self._line_start = self._line_start, raw.rfind(b"\n", self._line_end, start) + 1 or self._line_end
        self._line += raw.count(b"\n", counted, self._line_start)
        self._line_end = raw.find(b"\n", start) + 1 or len(raw) + 1
        if stray := _STRAY.match(raw, start, end):
            start = stray.end()  # The match begins after the stray bytes.
        return self._line, _length(raw[self._line_start : start]), _length(raw[start:end]), -1


def _bytes(value: dict[str, str]) -> bytes:
    """The bytes of a text in ripgrep's JSON: a plain string, or base64 where it is not UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _is_inside_character(raw: bytes, at: int) -> bool:
    """Whether a position is inside a character: ripgrep may find an empty match between its bytes."""
    before, after = raw[max(0, at - 3) : at], raw[at : at + 3]
    return _length(before) + _length(after) != _length(before + after)


def _length(raw: bytes) -> int:
    return len(raw.decode("utf-8", "surrogateescape"))
