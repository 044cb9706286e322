"""Which lines of a text match: the inner loop, also run as a program of its own so that it can be stopped.

As a program it reads requests from standard input and answers on standard output, see `serve`. It imports nothing of
the package, so that it starts fast.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO

Hit = tuple[int, int, int]
"""A line (from 1), the character in it where its first match begins (from 0), and the match's length in characters."""
Search = Callable[..., "re.Match[str] | None"]
SIZE = struct.Struct("<Q")
SWAPPED_I = {0x130: "\ufdd0", 0x131: "\ufdd1"}


class Expensive(Exception):
    """More steps could be needed than were allowed."""


def line_hits(search: Search, text: str) -> Iterator[Hit]:
    """The lines that hold a match, of a pattern that never matches a line feed."""
    at, line, counted = 0, 1, 0
    while match := search(text, at):
        start = match.start()
        if start == len(text) and text[-1:] in ("\n", ""):
            return
        line_start = text.rfind("\n", 0, start) + 1
        line += text.count("\n", counted, line_start)
        counted = line_start
        yield line, start - line_start, match.end() - start
        at = text.find("\n", start) + 1
        if not at:
            return


def line_hits_with(required: str, search: Search, text: str, allow: Callable[[int], None]) -> Iterator[Hit]:
    """The same for a pattern whose matches all hold `required`: only lines that hold it are tried.

    `allow` is told the length of each line before it is tried.
    """
    line, counted = 1, 0
    at = text.find(required)
    while at >= 0:
        line_start = text.rfind("\n", 0, at) + 1
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        allow(line_end - line_start)
        if match := search(text, line_start, line_end):
            line += text.count("\n", counted, line_start)
            counted = line_start
            yield line, match.start() - line_start, match.end() - match.start()
        at = text.find(required, line_end)


def span_hits(search: Search, text: str) -> Iterator[Hit]:
    """The lines on which a match begins, of a pattern that may go over several lines.

    As in ripgrep, matches on lines that touch make a block, and each block is then gone through from its beginning.
    """
    line, counted = 1, 0
    previous = 0
    for block_start, block_end in _blocks(search, text):
        for start, end in _matches(search, text, block_start, block_end):
            line_start = text.rfind("\n", 0, start) + 1
            line += text.count("\n", counted, line_start)
            counted = line_start
            if line != previous:
                yield line, start - line_start, end - start
            previous = line


def _blocks(search: Search, text: str) -> Iterator[tuple[int, int]]:
    block: tuple[int, int] | None = None
    at = 0
    while at <= len(text) and (match := search(text, at)):
        start, end = match.span()
        at = end + (start == end)
        if start == len(text) and text[-1:] in ("\n", ""):
            break
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", max(start, end - 1)) + 1 or len(text)
        if block is not None and block[1] >= first:
            block = block[0], max(last, block[1])
        else:
            if block is not None:
                yield block
            block = first, last
    if block is not None:
        yield block


def _matches(search: Search, text: str, at: int, limit: int) -> Iterator[tuple[int, int]]:
    """Matches that do not overlap; none is empty right behind another."""
    last = -1
    while at <= len(text) and (match := search(text, at)):
        start, end = match.span()
        if start >= limit:
            return
        at = end + (start == end)
        if start == end == last:
            continue
        last = end
        yield start, end


class Finder:
    """Finds the matching lines of one text after the other.

    Args:
        plain: the pattern for text that is all ASCII.
        full: makes the pattern for other text.
        required: text that every match holds; "" if none is known.
        ignore_case: fold case.
        multiline: matches may go over several lines.
        degree: on a line of n characters the pattern takes at most about n ** (degree + 1) steps.
        steps: how many steps a text may take; None: as many as it takes.
    """

    def __init__(
        self,
        plain: str,
        full: Callable[[], str],
        *,
        required: str,
        ignore_case: bool,
        multiline: bool,
        degree: int = 0,
        steps: int | None = None,
    ) -> None:
        self._sources = {True: lambda: plain, False: full}
        self._compiled: dict[bool, re.Pattern[str]] = {}
        self._required = required
        self._ignore_case = ignore_case
        self._multiline = multiline
        self._degree = degree
        self._steps = steps
        self._left = 0

    def find(self, text: str, most: int) -> tuple[int, list[Hit]]:
        """How many lines match, and the first `most` of them.

        Raises:
            Expensive: more than `steps` could be needed.
            re.error: the pattern is none.
        """
        if self._required not in text:
            return 0, []
        if self._steps is not None:
            self._left = self._steps
        ascii_only = text.isascii()
        pattern = self._compiled.get(ascii_only) or self._compile(ascii_only)
        if not ascii_only and ("\u0130" in text or "\u0131" in text):
            text = text.translate(SWAPPED_I)
        count, kept = 0, []
        required = self._required if ascii_only else self._required.translate(SWAPPED_I)
        for hit in self._hits(pattern, text, required):
            count += 1
            if count <= most:
                kept.append(hit)
        return count, kept

    def _hits(self, pattern: re.Pattern[str], text: str, required: str) -> Iterator[Hit]:
        if self._multiline:
            self._allow(len(text))
            return span_hits(pattern.search, text)
        if required:
            return line_hits_with(required, pattern.search, text, self._allow)
        if self._degree and self._steps is not None:
            for line in text.split("\n"):
                self._allow(len(line))
        return line_hits(pattern.search, text)

    def _allow(self, length: int) -> None:
        if self._steps is not None:
            self._left -= int(length ** (self._degree + 1))
            if self._left < 0:
                raise Expensive

    def _compile(self, ascii_only: bool) -> re.Pattern[str]:
        flags = re.MULTILINE | (re.IGNORECASE if self._ignore_case else 0)
        pattern = self._compiled[ascii_only] = re.compile(self._sources[ascii_only](), flags)
        return pattern


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the requests end.

    First come the two patterns, the required text and two flags, then for each text: how many hits to keep, and the
    text. The answer is the count, how many hits follow, and three numbers for each. Every number is 8 bytes, text is
    UTF-8 with its length before it.
    """
    plain, full, required = (_take_text(requests) for _ in range(3))
    ignore_case, multiline = (bool(_take_number(requests)) for _ in range(2))
    finder = Finder(plain, lambda: full, required=required, ignore_case=ignore_case, multiline=multiline)
    while True:
        try:
            most = _take_number(requests)
        except EOFError:
            return
        count, hits = finder.find(_take_text(requests), most)
        numbers = [count, len(hits), *(number for hit in hits for number in hit)]
        answers.write(struct.pack(f"<{len(numbers)}Q", *numbers))
        answers.flush()


def _take_number(stream: BinaryIO) -> int:
    raw = stream.read(SIZE.size)
    if len(raw) < SIZE.size:
        raise EOFError
    return int(SIZE.unpack(raw)[0])


def _take_text(stream: BinaryIO) -> str:
    return stream.read(_take_number(stream)).decode("utf-8", "surrogatepass")


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
