"""Finds text that differs only in spaces, case or confusables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .confusables import plain_characters

Fold = Callable[[str], str]
Folds = Sequence[tuple[str, Fold]]
"""Ways to set something aside, each with its name; what sets least aside comes first."""
_MOST_COMPARISONS = 100_000


class Found(NamedTuple):
    """A text was found from line `start` (0-based), with what `name` says set aside."""

    name: str
    start: int


def _collapsed(line: str) -> str:
    return " ".join(line.split())


FOLDS: Folds = (
    ("trailing_space", str.rstrip),
    ("indentation", str.strip),
    ("spaces", _collapsed),
    ("look_alikes", plain_characters),
    ("look_alikes", lambda line: _collapsed(plain_characters(line))),
)
_SPACES: Folds = (("spaces", _collapsed),)
_CASE_FOLDS: Folds = (
    ("case", str.casefold),
    ("case_and_spaces", lambda line: _collapsed(line).casefold()),
)
NAMES = {
    "trailing_space": "Spaces at the end of a line differ",
    "indentation": "The indentation differs",
    "spaces": "Spaces or tabs differ",
    "look_alikes": "Characters that only look alike differ",
    "case": "Upper and lower case differ",
    "case_and_spaces": "Upper and lower case and spaces differ",
}


def find_folded(lines: Sequence[str], wanted: Sequence[str], folds: Folds, *, whole: bool) -> Found | None:
    """The first place where the wanted lines stand, by the first fold that finds one.

    `whole` says that the last of them goes to the end of its line.
    """
    for name, fold in folds:
        start = _find_block(lines, wanted, fold, whole=whole)
        if start is not None:
            return Found(name, start)
    return None


def find_in_other_case(lines: Sequence[str], wanted: Sequence[str], *, whole: bool) -> Found | None:
    """The same for upper and lower case: only where it is what keeps the lines from being found."""
    found = find_folded(lines, wanted, _CASE_FOLDS, whole=whole)
    if found is None or found.name == "case":
        return found
    return None if find_folded(lines, wanted, _SPACES, whole=whole) else found


def find_folded_words(lines: Sequence[str], wanted: Sequence[str], *, whole: bool) -> Found | None:
    """The same, case included, for a text so short that it is part of many words: one line must be whole words."""
    if len(wanted) > 1:
        return find_folded(lines, wanted, FOLDS, whole=whole) or find_in_other_case(lines, wanted, whole=whole)
    for name, fold in (*FOLDS, *_CASE_FOLDS):
        if not (only := fold(wanted[0])):
            continue
        # Beside a bracket or a comma a word may stand.
        after = "$" if whole else r"(?!\w)" if re.match(r"\w", only[-1]) else ""
        word = re.compile((r"(?<!\w)" if re.match(r"\w", only) else "") + re.escape(only) + after)
        start = next((at for at, line in enumerate(lines) if word.search(fold(line))), None)
        if start is not None:
            return Found(name, start)
    return None


def _find_block(lines: Sequence[str], wanted: Sequence[str], fold: Fold, *, whole: bool) -> int | None:
    folded = [fold(line) for line in wanted]
    if not any(folded):
        return None
    if len(folded) == 1:
        only = folded[0]
        there = str.endswith if whole else str.__contains__
        return next((at for at, line in enumerate(lines) if there(fold(line), only)), None)
    anchor = max(range(len(folded)), key=lambda at: len(folded[at]))
    left = _MOST_COMPARISONS
    for at in range(anchor, len(lines) - len(folded) + anchor + 1):
        if folded[anchor] not in fold(lines[at]):
            continue
        here = map(fold, lines[at - anchor : at - anchor + len(folded)])
        alike = _lines_alike(folded, here, whole=whole)
        if alike == len(folded):
            return at - anchor
        left -= alike + 1 + len(folded) // 100
        if left < 0:
            return None
    return None


def _lines_alike(folded: Sequence[str], here: Iterable[str], *, whole: bool) -> int:
    """How many lines agree, from the first on; the first one may begin, the last one end inside a line."""
    last = len(folded) - 1
    for at, (want, have) in enumerate(zip(folded, here, strict=False)):
        if at == 0:
            alike = have.endswith(want)
        elif at == last and not whole:
            alike = have.startswith(want)
        else:
            alike = have == want
        if not alike:
            return at
    return len(folded)
