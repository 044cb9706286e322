"""Writes pieces of a regular expression for ripgrep and Python."""

from __future__ import annotations

import re
from dataclasses import dataclass

BYTES = "\\udc80-\\udcff"
"""The range of surrogates that stand for bytes that are not UTF-8; ripgrep's wildcards never match those bytes."""
SET = "\0"
"""Precedes `w`, `d`, `s` or a capital in `Written.full`: a long set of characters, written out when it is needed."""
FOLDED_I = {"\u0130": "\ufdd0", "\u0131": "\ufdd1"}
"""Stand-ins, in pattern and text, for the Turkish dotted I and dotless i: Python folds them to i, ripgrep does not."""

STRAY = r"(?:[0-9A-Za-z_][\x80-\xBF]{1,3}|[\xC2-\xDF][\x80-\xBF]{2,3}|[\xE0-\xEF][\x80-\xBF]{3})"
r"""A character followed by bytes that are not UTF-8. Ripgrep 14 treats them as part of the character and finds no `\b`
after them, so the pattern matches them explicitly. No other match contains such bytes."""
SINCE_CRLF = (14, 0, 0)
"""The first version of ripgrep that knows `(?R:$)`."""
NEVER = (1 << 30,)
"""Version for syntax that no ripgrep reads as Python does."""
_ATOM = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?s:\.", re.DOTALL)
"""A part of `Written.plain` that may match a line feed."""


@dataclass(frozen=True, slots=True)
class Written:
    """One piece.

    Attributes:
        rust, plain, full: as in `Expression`.
        required: text that every match of the piece holds.
        exact: the piece matches `required` and nothing else.
        assertion: it matches a place, not a character.
        degree: how many unbounded repetitions it has, none of them nested; None: one is nested.
        ways: in how many ways a backtracking engine may try it, at most.
        repeats: nested bounded repetitions, multiplied.
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

    def may_match_line_feed(self) -> bool:
        """Whether a match can contain a line feed."""
        return any(atom == "(?s:." or re.fullmatch(atom, "\n") for atom in _ATOM.findall(self.plain))

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
    """A literal character; a line feed also matches a carriage return before it."""
    if char == "\n":
        return Written(r"(?:\r?\n)", r"(?:\r?\n)", r"(?:\r?\n)")
    python = re.escape(FOLDED_I.get(char, char))
    rust = f"\\x{{{ord(char):x}}}" if not char.isalnum() and char not in " _" else char
    return Written(rust, python, python, required=char, exact=True)


def any_character(newlines: bool) -> Written:
    """`.`: any character except the end of a line, or with `newlines` any at all."""
    if newlines:
        return Written("(?s:.)", "(?s:.)", f"[^{BYTES}]")
    return Written(r"[^\r\n]", r"[^\r\n]", rf"[^\r\n{BYTES}]")


def line_end(*, multiline: bool) -> Written:
    """`$`: before a line feed and its carriage return; a match over lines may end between the two."""
    if not multiline:
        return Written(r"(?:\r?$)", r"(?:\r?$)", r"(?:\r?$)", assertion=True)
    python = r"(?:(?!(?<=\r)(?!\Z)$)\r?$)"
    return Written(r"(?:(?R:$)\r?$)", python, python, assertion=True)


def boundary(*, at_first: bool) -> Written:
    r"""`\b`; `at_first`: a match may begin with it, and continues with a part of a word."""
    word = f"[{SET}w]"
    full = f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
    return Written(rf"(?:\b|(?-u:{STRAY}\b))" if at_first else r"\b", r"\b", full, assertion=True)


def no_boundary() -> Written:
    r"""`\B`, for Python only: ripgrep matches it between CR and LF, and does not match it beside stray bytes."""
    word = f"[{SET}w]"
    inside = r"(?!(?<=\r)$)"
    full = f"{inside}(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"
    return Written("", rf"(?:{inside}\B)", f"(?:{full})", assertion=True)
