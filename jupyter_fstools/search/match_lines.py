"""Finds the matching lines of a text; also runs as a program.

As a program it reads requests from standard input and answers on standard output, see `serve`. It imports nothing of
the package, so that it starts fast.
"""

from __future__ import annotations

import re
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import BinaryIO

Hit = tuple[int, int, int, int]
"""A line (from 1), the character in it where its first match begins (from 0), the match's length in characters, and
the offset of the line in the text (-1 where only its number is known)."""
Range = tuple[int, int]
Search = Callable[..., "re.Match[str] | None"]
SIZE = struct.Struct("<Q")
SWAPPED_I = {0x130: "\ufdd0", 0x131: "\ufdd1"}
PIECE_CHARACTERS = 1 << 18
"""Size of a piece of text in which matching lines are only counted: Python lists all matches of a piece at once."""
STEPS_PER_MATCH = 100
"""Cost of a match that may span lines, on top of Python's `re`."""


class Expensive(Exception):
    """The text may need more steps than are allowed."""


class ManyMatches(Expensive):
    """There are so many matches that their fixed costs exceed the steps allowed."""


def to_line_end(source: str) -> str:
    """A pattern that also matches the rest of the line after its match; group 1 is the end of the match itself."""
    return rf"(?:{source})()[^\n]*\n?"


def line_hits(search: Search, text: str, at: int = 0) -> Iterator[Hit]:
    """The lines with a match of a pattern that never matches a line feed; `search` is that of its `to_line_end`.

    The search begins at `at`, which is the start of a line.
    """
    line, counted = 1, 0
    while match := search(text, at):
        start, end = match.start(), match.end(1)
        if start == len(text) and text[-1:] in ("\n", ""):
            return
        line_start = text.rfind("\n", 0, start) + 1
        line += text.count("\n", counted, line_start)
        counted = line_start
        yield line, start - line_start, end - start, line_start
        at = match.end()
        if at == len(text):
            return


def line_hits_in(lines: Iterable[Range], search: Search, text: str) -> Iterator[Hit]:
    """The same where only some lines have to be searched; `search` is that of the pattern itself."""
    line, counted = 1, 0
    for line_start, line_end in lines:
        if match := search(text, line_start, line_end):
            start, end = match.span()
            line += text.count("\n", counted, line_start)
            counted = line_start
            yield line, start - line_start, end - start, line_start


def lines_with(required: str, text: str) -> Iterator[Range]:
    """The ranges of the lines that contain `required`."""
    at = text.find(required)
    while 0 <= at < len(text):
        line_start, line_end = _line_around(text, at, 0)
        yield line_start, line_end - (text[line_end - 1] == "\n")
        at = text.find(required, line_end)


def count_lines(pattern: re.Pattern[str], text: str, at: int) -> int:
    """How many lines `line_hits` finds from a line's beginning on, but several times as fast.

    `pattern` is made by `to_line_end`.
    """
    count = 0
    # After the last line feed of a piece there is no line, but an empty match may be found there.
    surplus = pattern.match("\n", 1) is not None
    whole = text.rfind("\n") + 1
    while at < whole:
        end = text.find("\n", at + PIECE_CHARACTERS, whole) + 1 or whole
        count += len(pattern.findall(text, at, end)) - surplus
        at = end
    return count + (at < len(text) and pattern.search(text, at) is not None)


def span_hits(search: Search, text: str, most: int | None = None) -> Iterator[Hit]:
    """The lines on which a match begins, of a pattern that may go over several lines.

    As in ripgrep, matches on adjacent lines form a block, and each block is then searched from its beginning; an empty
    match at the end of the text does not count. After `most` matches it raises `ManyMatches`.
    """
    line, line_start, line_end = 1, 0, 0
    for block in _blocks(search, text, most):
        for start, end in _matches(search, text, *block):
            if start >= line_end:
                counted, (line_start, line_end) = line_start, _line_around(text, start, line_end)
                line += text.count("\n", counted, line_start)
                yield line, start - line_start, end - start, line_start


def _blocks(search: Search, text: str, most: int | None) -> Iterator[Range]:
    block = (0, -1)  # An empty block.
    at = first = line_end = found = 0
    while at <= len(text) and (match := search(text, at)):
        found += 1
        if found == most:
            raise ManyMatches
        start, end = match.span()
        at = end + (start == end)
        if start == len(text) and text[-1:] in ("\n", ""):
            break
        if start >= line_end:
            first, line_end = _line_around(text, start, line_end)
        last = line_end if end <= line_end else text.find("\n", end - 1) + 1 or len(text)
        if block[1] < first:
            yield block
            block = first, last
        block = block[0], max(last, block[1])
    yield block


def _line_around(text: str, at: int, since: int) -> Range:
    """The start of the line that contains `at`, which is not before `since`, and the start of the next line."""
    return text.rfind("\n", since, at) + 1 or since, text.find("\n", at) + 1 or len(text)


def _matches(search: Search, text: str, at: int, limit: int) -> Iterator[Range]:
    """Matches that do not overlap, without empty ones directly after another match."""
    last = -1
    while at < limit and (match := search(text, at)):
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
        folded: text that every match in ASCII holds, both in lower case; "" if none is known.
        ignore_case: fold case.
        multiline: matches may go over several lines.
        degree: on a line of n characters the pattern takes at most about factor * n ** (degree + 1) steps.
        factor: see `degree`.
        steps: how many steps a text may take; None: as many as it takes.
    """

    def __init__(
        self,
        plain: str,
        full: Callable[[], str],
        *,
        required: str,
        folded: str = "",
        ignore_case: bool,
        multiline: bool,
        degree: int = 0,
        factor: int = 1,
        steps: int | None = None,
    ) -> None:
        self._sources = {True: lambda: plain, False: full}
        self._compiled: dict[bool, re.Pattern[str]] = {}
        self._required = _swapped(required)
        self._folded = folded
        # Python's `re` finds a pattern's literal prefix as fast as `str.find`, but not when it folds case.
        begins_with_it = plain.startswith(re.escape(self._required))
        self._line_by_line = {
            True: not multiline and (not begins_with_it or folded != ""),
            False: not multiline and not begins_with_it,
        }
        self._ignore_case = ignore_case
        self._multiline = multiline
        self._degree = degree
        self._factor = factor
        self._steps = steps
        self._many = steps and steps // STEPS_PER_MATCH

    def find(self, text: str, most: int, *, count: bool = True) -> tuple[int, list[Hit]]:
        """How many lines match, and the first `most` of them; without `count` no line after these is searched.

        Raises:
            Expensive: more than `steps` could be needed.
            re.error: the pattern is not valid.
        """
        ascii_only = text.isascii()
        if not ascii_only and ("\u0130" in text or "\u0131" in text):
            text = _swapped(text)
        required, searched = (self._folded, text.lower()) if ascii_only and self._folded else (self._required, text)
        first = searched.find(required)
        if first < 0:
            return 0, []
        pattern = self._compiled.get(ascii_only) or self._compile(ascii_only)
        line_by_line = self._line_by_line[ascii_only]
        lines = iter([(0, len(text))]) if self._multiline else lines_with(required, searched)
        if not self._is_cheap(text):
            lines = self._allowed(lines)
            if not line_by_line:
                deque(lines, maxlen=0)
        if not self._multiline and not line_by_line:
            return _find_in_whole(pattern, text, first, most, count)
        search = pattern.search
        found = span_hits(search, text, self._many) if self._multiline else line_hits_in(lines, search, text)
        hits = list(islice(found, most))
        return len(hits) + (sum(1 for _ in found) if count else 0), hits

    def _is_cheap(self, text: str) -> bool:
        if self._steps is None or not text:
            return True
        if self._multiline:
            return bool(self._factor * len(text) ** (self._degree + 1) <= self._steps)
        per_character = self._steps / len(text) / self._factor
        if not self._degree:
            return per_character >= 1
        return _no_line_is_longer(int(per_character ** (1 / self._degree)), text)

    def _allowed(self, lines: Iterable[Range]) -> Iterator[Range]:
        """The same lines, until searching them could take more steps than are allowed."""
        left = self._steps or 0
        for start, end in lines:
            left -= self._factor * (end - start) ** (self._degree + 1)
            if left < 0:
                raise Expensive
            yield start, end

    def _compile(self, ascii_only: bool) -> re.Pattern[str]:
        flags = re.MULTILINE | (re.IGNORECASE if self._ignore_case else 0)
        source = self._sources[ascii_only]()
        if not self._multiline and not self._line_by_line[ascii_only]:
            source = to_line_end(source)
        pattern = self._compiled[ascii_only] = re.compile(source, flags)
        return pattern


def _find_in_whole(pattern: re.Pattern[str], text: str, first: int, most: int, count: bool) -> tuple[int, list[Hit]]:
    """The result of `Finder.find`, for a pattern made by `to_line_end` that matches nothing before `first`."""
    at = text.rfind("\n", 0, first) + 1
    hits = list(islice(line_hits(pattern.search, text, at), most))
    if hits:
        at = text.find("\n", hits[-1][3]) + 1 or len(text)
    return len(hits) + (count_lines(pattern, text, at) if count and len(hits) == most else 0), hits


def _swapped(text: str) -> str:
    """The text with the pattern's stand-ins for the two letters that Python folds differently."""
    for letter, stand_in in SWAPPED_I.items():
        text = text.replace(chr(letter), stand_in)  # Several times as fast as `translate`.
    return text


def _no_line_is_longer(most: int, text: str) -> bool:
    at = 0
    while len(text) - at > most:
        end = text.rfind("\n", at, at + most + 1)
        if end < 0:
            return False
        at = end + 1
    return True


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the requests end.

    The input begins with the two patterns, the two texts that matches hold and two flags; then for each text there are
    the number of hits to keep, and the text. The answer is the count, how many hits follow, and four numbers for each.
    Every number is 8 bytes; text is UTF-8 with its length before it.
    """
    plain, full, required, folded = (_take_text(requests) for _ in range(4))
    ignore_case, multiline = (bool(_take_number(requests)) for _ in range(2))
    finder = Finder(plain, lambda: full, required=required, folded=folded, ignore_case=ignore_case, multiline=multiline)
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
