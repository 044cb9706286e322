"""The word of a text that is most like a mistyped one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_WORDS = re.compile(r"\w+")
_SHORTEST = 3
"""A shorter word is like too many."""
_LONGEST = 60
_MOST_LINES = 100_000
_MOST_CHARACTERS = 400
_MOST_WORDS = 20_000
_ALIKE = 0.75


def similar_word(lines: Iterable[str], mistyped: str) -> tuple[int, str] | None:
    """The index of the first line with the word most like the longest one of `mistyped`, and that word."""
    wanted = max(_WORDS.findall(mistyped), key=len, default="")
    if not _SHORTEST <= len(wanted) <= _LONGEST:
        return None
    sizes = range(max(_SHORTEST, len(wanted) - 2), len(wanted) + 3)
    places: dict[str, int] = {}
    for at, line in zip(range(_MOST_LINES), lines, strict=False):
        for word in _WORDS.findall(line[:_MOST_CHARACTERS]):
            if len(word) in sizes:
                places.setdefault(word, at)
        if len(places) > _MOST_WORDS:
            break
    near = difflib.get_close_matches(wanted, places, 1, _ALIKE)
    return (places[near[0]], near[0]) if near else None
