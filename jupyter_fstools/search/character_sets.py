r"""What `\w`, `\d` and `\s` stand for, alike in both engines."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

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
"""What stands for two Turkish letters while case is folded; no text has these."""
_SURROGATES: Ranges = [(0xD800, 0xDFFF)]
_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_PLANES_WITH_NEWS = ((0x0, 0x20000), (0xE0100, 0xE01F0))
"""Where characters differ in kind from their neighbours; the planes between are letters or nothing."""


@cache
def class_body(shorthand: str) -> str:
    r"""What to write between `[` and `]` for `\w`, `\d`, `\s`, `\W`, `\D` or `\S`, for Python's `re` on text.

    The sets are those of UTS 18, Annex C, as ripgrep's engine has them; the capitals leave out the surrogates that
    stand for bytes that are no UTF-8.
    """
    letter = shorthand.lower()
    ranges = _SPACES if letter == "s" else _digits() if letter == "d" else _word()
    if shorthand.isupper():
        ranges = _complement([*ranges, *_SURROGATES])
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
