r"""Translates character classes and escapes for both engines."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

from ...globs.segments import POSIX_CLASSES
from .emit import BYTES, FOLDED_I, SET, Written
from .refusals import OVER_LINES, refused_escape, refused_pattern

ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_CODE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]{1,6})\})")


def code_point(pattern: str, at: int, *, in_class: bool = False) -> tuple[str, int]:
    r"""The character of the escape at `at` (`\x41`, `\u00e9`, `\x{1F600}`, `\.`), and the position after it.

    Raises:
        Invalid: a letter that escapes nothing, or no code point.
    """
    match = _CODE.match(pattern, at)
    if match:
        code = int(next(filter(None, match.groups())), 16)
        # Only a class may contain NUL, as [^\x00-\x7f] does: a file with a NUL is no text.
        if (code or in_class) and code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            return chr(code), match.end()
    char = pattern[at + 1 : at + 2]
    if match or not char or char.isalnum() or ord(char) > 127:
        raise refused_escape(pattern, at) or refused_pattern(f"bad escape \\{char}", pattern, at)
    return char, at + 2


_PLAIN = {"s": "\\t-\\r ", "S": "\\S\\x1c-\\x1f"}
"""Shorthands that differ in Python on ASCII text: its `\\s` includes four control characters."""
_SURROGATES = (0xD800, 0xDFFF)
_HOW_A_RANGE_GOES = "A range goes from one character up to a later one, as a-z; a dash itself is \\-."
_TWO_WAYS = "Classes cannot be nested or subtracted: list the characters, as [a-ce-z]; {0} itself is \\{0}."
_OVER_LINE_ENDS = frozenset({r"\s", r"\W", r"\D", "[:space:]", "[:cntrl:]"})
"""Sets that contain the characters which end a line."""


def shorthand(letter: str, *, multiline: bool) -> Written:
    r"""`\w`, `\d`, `\s` and their opposites; without `multiline` never the end of a line."""
    return _written([], [letter], [], negated=False, multiline=multiline)


def read_class(pattern: str, start: int, *, multiline: bool) -> tuple[Written, int]:
    """The class that opens at `start`, and the position after it.

    Raises:
        Invalid: never closed, a reversed range, or syntax that the engines read differently (`&&`, `--`, `[` in it).
    """
    at = start + 1
    negated = pattern[at : at + 1] == "^"
    at += negated
    ranges: list[tuple[int, int]] = []
    letters: list[str] = []
    posix: list[str] = []
    first = True
    while first or pattern[at : at + 1] != "]":
        first = False
        if at >= len(pattern):
            raise refused_pattern("unterminated character set", pattern, start, "Escape a literal one: \\[")
        named = re.compile(r"\[:(\w+):\]").match(pattern, at)
        if named and named[1] in POSIX_CLASSES:
            posix.append(named[1])
            at = named.end()
            continue
        low, at = _item(pattern, at)
        if len(low) == 2:
            letters.append(low[1])
            continue
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("]", ""):
            high, at = _item(pattern, at + 1)
            if len(high) == 2 or ord(high) < ord(low):
                raise refused_pattern("bad character range", pattern, at, _HOW_A_RANGE_GOES)
        ranges.append((ord(low), ord(high)))
    if not multiline and not negated and any(low == high == 10 for low, high in ranges):
        raise refused_pattern("a line never holds a line feed", pattern, start, OVER_LINES)
    return _written(ranges, letters, posix, negated=negated, multiline=multiline), at + 1


def _item(pattern: str, at: int) -> tuple[str, int]:
    r"""One character, or a shorthand as `\` and its letter."""
    char = pattern[at]
    if char == "[" or (char in "&~-" and pattern[at + 1 : at + 2] == char):
        raise refused_pattern(
            f"{char!r} in a class is read in different ways by different engines", pattern, at, _TWO_WAYS.format(char)
        )
    if char != "\\":
        return char, at + 1
    escaped = pattern[at + 1 : at + 2]
    if escaped and escaped in "dDsSwW":
        return "\\" + escaped, at + 2
    if escaped in ESCAPES:
        return ESCAPES[escaped], at + 2
    return code_point(pattern, at, in_class=True)


def _written(
    ranges: list[tuple[int, int]], letters: list[str], posix: list[str], *, negated: bool, multiline: bool
) -> Written:
    ends = "" if multiline else r"\r\n"
    if not (multiline or negated):
        ranges = [part for low, high in ranges for part in _without_line_feed(low, high)]
    rust = "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in ranges)
    sets = [f"[:{name}:]" for name in posix] + [f"\\{letter}" for letter in letters]
    over = [] if multiline else [each for each in sets if each in _OVER_LINE_ENDS]
    rust += "".join(f"[{each}--[\\r\\n]]" if each in over else each for each in sets)
    body = "".join(_python_range(low, high) for low, high in ranges) + "".join(POSIX_CLASSES[name] for name in posix)
    plain = body + "".join(_PLAIN.get(letter, f"\\{letter}") for letter in letters)
    full = body + "".join(SET + letter for letter in letters)
    if negated:
        return Written(f"[^{rust}{ends}]", f"[^{plain}{ends}]", f"[^{full}{ends}{BYTES}]")
    guard = "" if not over else "(?!\\n)" if _holds(ranges, 13) else "(?![\\r\\n])"
    return Written(f"[{rust}]", f"{guard}[{plain}]", f"{guard}[{full}]")


def _without_line_feed(low: int, high: int) -> list[tuple[int, int]]:
    """A range without the line feed, which ripgrep leaves out as well."""
    parts = [(low, 9), (11, high)] if low <= 10 <= high else [(low, high)]
    return [(first, last) for first, last in parts if first <= last]


def _python_range(low: int, high: int) -> str:
    """A range with the two swapped letters replaced by their stand-ins."""
    if low < _SURROGATES[0] <= high:  # Surrogates stand for bytes that are not UTF-8, which no class contains.
        after = _python_range(_SURROGATES[1] + 1, high) if high > _SURROGATES[1] else ""
        return _python_range(low, _SURROGATES[0] - 1) + after
    written = ""
    for char, swap in sorted(FOLDED_I.items()):
        if low <= ord(char) <= high:
            written += (span(low, ord(char) - 1) if low < ord(char) else "") + swap
            low = ord(char) + 1
    return written + (span(low, high) if low <= high else "")


def _holds(ranges: list[tuple[int, int]], code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


Ranges = list[tuple[int, int]]
_SPACES: Ranges = [
    (0x09, 0x0D),
    (0x20, 0x20),
    (0x85, 0x85),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
]
_ALPHABETIC_SYMBOLS: Ranges = [(0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)]
_JOINERS: Ranges = [(0x200C, 0x200D)]
_SWAPPED_I: Ranges = [(0xFDD0, 0xFDD1)]
"""Stand-ins for two Turkish letters while case is folded: noncharacters, which hardly any text has."""
_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_PLANES_WITH_NEWS = ((0x0, 0x20000), (0xE0100, 0xE01F0))
"""Code points whose categories are looked up; all others are letters or unassigned."""


@cache
def class_body(shorthand: str) -> str:
    r"""The inside of `[...]` for `\w`, `\d`, `\s`, `\W`, `\D` or `\S`, for Python's `re` on text.

    The sets are those of UTS 18, Annex C, as ripgrep's engine has them; the capitals leave out the surrogates that
    stand for bytes that are not UTF-8.
    """
    letter = shorthand.lower()
    ranges = _SPACES if letter == "s" else _digits() if letter == "d" else _word()
    if shorthand.isupper():
        ranges = _complement([*ranges, _SURROGATES])
    return "".join(span(low, high) for low, high in ranges)


def span(low: int, high: int) -> str:
    """One range inside `[...]`, for Python's `re`."""
    return f"\\U{low:08x}" if low == high else f"\\U{low:08x}-\\U{high:08x}"


def _digits() -> Ranges:
    return _of_categories(frozenset({"Nd"}))


def _word() -> Ranges:
    letters = [*_of_categories(_WORD_CATEGORIES), (0x20000, 0x323AF)]
    return sorted(letters + _ALPHABETIC_SYMBOLS + _JOINERS + _SWAPPED_I)


def _of_categories(categories: frozenset[str]) -> Ranges:
    ranges: Ranges = []
    for first, end in _PLANES_WITH_NEWS:
        start = None
        for code in range(first, end + 1):
            inside = code < end and unicodedata.category(chr(code)) in categories
            if inside and start is None:
                start = code
            elif not inside and start is not None:
                ranges.append((start, code - 1))
                start = None
    return ranges


def _complement(ranges: Ranges) -> Ranges:
    gaps: Ranges = []
    free = 0
    for low, high in sorted(ranges):
        if low > free:
            gaps.append((free, low - 1))
        free = max(free, high + 1)
    return [*gaps, (free, sys.maxunicode)] if free <= sys.maxunicode else gaps
