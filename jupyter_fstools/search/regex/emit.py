"""Writes pieces of a regular expression for ripgrep and Python."""

from __future__ import annotations

import re
from dataclasses import dataclass

BYTES = "\\udc80-\\udcff"
"""What bytes that are no UTF-8 become in Python; ripgrep's wildcards never match such bytes."""
SET = "\0"
"""Before `w`, `d`, `s` or a capital in `Written.full`: a long set of characters, written out when it is needed."""
FOLDED_I = {"\u0130": "\ufdd0", "\u0131": "\ufdd1"}
"""Python folds the Turkish dotted I and dotless i to i, ripgrep does not: both sides swap them for these."""

STRAY = r"(?:[0-9A-Za-z_][\x80-\xBF]{1,3}|[\xC2-\xDF][\x80-\xBF]{2,3}|[\xE0-\xEF][\x80-\xBF]{3})"
r"""A character and bytes behind it that are no UTF-8. Ripgrep 14 takes them for a part of it and sees no `\b` behind
it all, so it is told to find this. No other match holds such bytes."""
SINCE_CRLF = (14, 0, 0)
"""The ripgrep that knows `(?R:$)`."""
NEVER = (1 << 30,)
"""No ripgrep reads it as Python does."""


@dataclass(frozen=True, slots=True)
class Written:
    """One piece.

    Attributes:
        rust, plain, full: as in `Expression`.
        required: text that every match of the piece holds.
        exact: the piece matches `required` and nothing else.
        assertion: it matches a place, not a character.
        degree: how many repetitions without a bound it has, none inside another; None: one is inside another.
        ways: in how many ways a backtracking engine may try it, at most.
        repeats: bounded repetitions inside each other, multiplied.
    """

    rust: str
    plain: str
    full: str
    required: str = ""
    exact: bool = False
    assertion: bool = False
    degree: int | None = 0
    ways: int = 1
    repeats: int = 1

    def grouped(self, opening: str) -> Written:
        """The piece in brackets; `opening` is `(?:` or has a flag."""
        return Written(
            f"{opening}{self.rust})",
            f"{opening}{self.plain})",
            f"{opening}{self.full})",
            required=self.required,
            degree=self.degree,
            ways=self.ways,
            repeats=self.repeats,
        )

    def repeated(self, low: int, high: int | None, lazy: bool) -> Written:
        """The piece from `low` to `high` times."""
        times = f"{{{low},{'' if high is None else high}}}{'?' if lazy else ''}"
        most = max(low, high or 1, 1)
        return Written(
            f"(?:{self.rust}){times}",
            f"(?:{self.plain}){times}",
            f"(?:{self.full}){times}",
            required=self.required if low else "",
            degree=self._degree_repeated(high),
            ways=self.ways if high is None else min(self.ways ** min(most, 30) * (most - low + 1), 10**9),
            repeats=self.repeats * most,
        )

    def _degree_repeated(self, high: int | None) -> int | None:
        if high is not None:
            return self.degree if not self.degree or high <= 1 else None
        return 1 if self.degree == 0 and self.ways == 1 else None


def one_of(options: list[Written]) -> Written:
    """One of several pieces."""
    return Written(
        "|".join(option.rust for option in options),
        "|".join(option.plain for option in options),
        "|".join(option.full for option in options),
        degree=_total([option.degree for option in options]),
        ways=sum(option.ways for option in options),
        repeats=max(option.repeats for option in options),
    )


def wrapped(pieces: list[Written]) -> Written:
    """Several pieces one after the other."""
    runs, run = [""], ""
    ways = 1
    for piece in pieces:
        ways = min(ways * piece.ways, 10**9)
        if piece.exact:
            run += piece.required
        else:
            runs += [run, piece.required]
            run = ""
    return Written(
        "".join(piece.rust for piece in pieces),
        "".join(piece.plain for piece in pieces),
        "".join(piece.full for piece in pieces),
        required=max([*runs, run], key=len),
        degree=_total([piece.degree for piece in pieces]),
        ways=ways,
        repeats=max((piece.repeats for piece in pieces), default=1),
    )


def _total(degrees: list[int | None]) -> int | None:
    known = [degree for degree in degrees if degree is not None]
    return sum(known) if len(known) == len(degrees) else None


def character(char: str) -> Written:
    """A character that means itself; a line feed takes a carriage return before it along."""
    if char == "\n":
        return Written(r"(?:\r?\n)", r"(?:\r?\n)", r"(?:\r?\n)")
    python = re.escape(FOLDED_I.get(char, char))
    rust = f"\\x{{{ord(char):x}}}" if not char.isalnum() and char not in " _" else char
    return Written(rust, python, python, required=char, exact=True)


def any_character(newlines: bool) -> Written:
    """`.`: any character but a line's end."""
    if newlines:
        return Written("(?s:.)", "(?s:.)", f"[^{BYTES}]")
    return Written(r"[^\r\n]", r"[^\r\n]", rf"[^\r\n{BYTES}]")


def line_end(*, multiline: bool) -> Written:
    """`$`: before a line feed and the carriage return that goes with it; a match over lines may come between them."""
    if not multiline:
        return Written(r"(?:\r?$)", r"(?:\r?$)", r"(?:\r?$)", assertion=True)
    python = r"(?:(?!(?<=\r)(?!\Z)$)\r?$)"
    return Written(r"(?:(?R:$)\r?$)", python, python, assertion=True)


def boundary(*, at_first: bool) -> Written:
    r"""`\b`; `at_first`: a match may begin with it, and goes on with a part of a word."""
    word = f"[{SET}w]"
    full = f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
    return Written(rf"(?:\b|(?-u:{STRAY}\b))" if at_first else r"\b", r"\b", full, assertion=True)


def no_boundary() -> Written:
    r"""`\B`, but not between CR and LF; ripgrep has it there, and has none beside stray bytes."""
    word = f"[{SET}w]"
    inside = r"(?!(?<=\r)$)"
    full = f"{inside}(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"
    return Written("", rf"(?:{inside}\B)", f"(?:{full})", assertion=True)
