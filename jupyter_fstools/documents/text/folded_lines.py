"""Finds text that differs only in spaces, case or confusables."""

from __future__ import annotations

import difflib
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

# Cyrillic and Greek letters that most fonts draw as Latin ones.
_LETTERS = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051b\u051d"
        "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408"
        "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd",
        "aeopcyxsijhdqwABEKMHOPCTXSIJABEZHIKMNOPTYXov",
        strict=True,
    )
)
_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", None),
        "\u2026": "...",
        "\uff9e": "\u3099",  # As NFKC does, which makes them combining characters.
        "\uff9f": "\u309a",
        **_LETTERS,
    }
)
_MANY_MARKS = re.compile(r"[^\w\x00-\x7f]{31,}")
"""Matches every run of more than 30 combining characters, and some others."""


def plain_characters(line: str) -> str:
    """A line with every look-alike replaced by the plain character it resembles; for comparing only."""
    if line.isascii():
        return line.replace("`", "'")
    return unicodedata.normalize("NFKC", _MANY_MARKS.sub(_stream_safe, line.translate(_LOOK_ALIKES)))


def _stream_safe(run: re.Match[str]) -> str:
    """A run with a joiner after every 30 of its combining characters (UAX #15): sorting many takes quadratic time."""
    signs = run[0]
    if not any(map(unicodedata.combining, signs)):
        return signs
    return "\u034f".join(signs[at : at + 30] for at in range(0, len(signs), 30))


def different_code_points(wanted: str, there: str, *, most: int = 1000) -> str:
    """The code points that differ between two texts, with counts; empty if there are more than `most`."""
    # Compares runs of equal characters, which differ by their length: a matcher over all characters would be slower.
    runs = dict.fromkeys(_different_runs(wanted[:2000], there[:2000]))
    if len(runs) > most:
        return ""
    return "; ".join(f"old_string has {_named(old)}, the file has {_named(new)}" for old, new in list(runs)[:3])


def _different_runs(one: str, other: str) -> list[tuple[str, str]]:
    runs = [[match[0] for match in re.finditer(r"(.)\1*", text, re.DOTALL)] for text in (one, other)]
    codes = difflib.SequenceMatcher(None, runs[0], runs[1], autojunk=False).get_opcodes()
    # The file's text before and after the quoted text is no difference.
    inner = [code for code in codes if code[0] != "insert" or 0 < code[1] < len(runs[0])]
    return [("".join(runs[0][a:b])[:40], "".join(runs[1][c:d])[:40]) for kind, a, b, c, d in inner if kind != "equal"]


def _named(text: str) -> str:
    if not text:
        return "nothing"
    if len(set(text)) == 1 and len(text) > 1:
        return f"{len(text)} of U+{ord(text[0]):04X}"
    return " ".join(f"U+{ord(character):04X}" for character in text[:4]) + (" ..." if len(text) > 4 else "")


Fold = Callable[[str], str]
Folds = Sequence[tuple[str, Fold]]
"""Ways to fold differences, each with its description; the one that folds least comes first."""
_MOST_COMPARISONS = 100_000


class Found(NamedTuple):
    """A text was found at line `start` (0-based) when differences of the kind `name` are ignored."""

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
    """The first place of the wanted lines, by the first fold that finds one.

    `whole` says that the last wanted line reaches to the end of its line.
    """
    for name, fold in folds:
        start = _find_block(lines, wanted, fold, whole=whole)
        if start is not None:
            return Found(name, start)
    return None


def part_that_looks_alike(there: str, wanted: str) -> str:
    """The part of a text which begins and ends where a wanted one does, when look-alikes are taken for each other."""
    for name, fold in FOLDS:
        folded = partial(_folded, fold)
        if name != "look_alikes" or (part := folded(wanted)) not in folded(there):
            continue
        end = bisect_left(range(len(there)), True, key=lambda at: part in folded(there[:at]))
        begins_later = bisect_left(range(end), True, key=lambda at: part not in folded(there[at:end]))
        return there[begins_later - 1 : end]
    return there


def _folded(fold: Fold, text: str) -> str:
    return "\n".join(map(fold, text.split("\n")))


def find_in_other_case(lines: Sequence[str], wanted: Sequence[str], *, whole: bool) -> Found | None:
    """The same for upper and lower case; only where the case is the reason that the lines were not found."""
    found = find_folded(lines, wanted, _CASE_FOLDS, whole=whole)
    if found is None or found.name == "case":
        return found
    return None if find_folded(lines, wanted, _SPACES, whole=whole) else found


def find_folded_words(lines: Sequence[str], wanted: Sequence[str], *, whole: bool) -> Found | None:
    """The same, with case, for a text so short that it is part of many words: a single line must match whole words."""
    if len(wanted) > 1:
        return find_folded(lines, wanted, FOLDS, whole=whole) or find_in_other_case(lines, wanted, whole=whole)
    for name, fold in (*FOLDS, *_CASE_FOLDS):
        if not (only := fold(wanted[0])):
            continue
        # A text that ends in a bracket or comma may be followed directly by a word.
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
    """How many lines agree, from the first on; the first may begin, and the last may end, inside a line."""
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
