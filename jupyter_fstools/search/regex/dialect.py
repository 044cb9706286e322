"""Parses a grep pattern and translates it for both engines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import Invalid
from .classes import ESCAPES, class_body, code_point, read_class, shorthand
from .emit import (
    NEVER,
    SET,
    SINCE_CRLF,
    Written,
    any_character,
    boundary,
    character,
    line_end,
    no_boundary,
    one_of,
    wrapped,
)
from .refusals import OVER_LINES, PLAIN_TEXT, refused_escape, refused_group, refused_pattern

MOST_REPEATS = 1000
"""Most repetitions of one `{n,m}`, and of nested ones multiplied."""
_MOST_HINT = f"Repeat at most {MOST_REPEATS} times, or any number of times: + or *."
DEEPEST_GROUPS = 50
LONGEST_PATTERN = 10_000
_WORD = re.compile(r"(?:\((?:\?:)?)*(?:\[(?:\w|\\w)|(?:\w|\\w)(?![*?{]))", re.ASCII)
"""Matches the beginning of a piece that continues a word."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A pattern that both engines read alike.

    Attributes:
        rust: for ripgrep.
        plain: for Python's `re` on text that is all ASCII.
        full: for any other text, where bytes that are not UTF-8 are surrogates; `write_full` makes it a pattern.
        required: text that every match holds; "" if none is known.
        folded: the same in lower case where case is folded: text that every match in lower-cased ASCII text holds.
        degree: on a line of n characters Python's `re` takes at most about factor * n ** (degree + 1) steps; None: it
            may take exponentially many.
        factor: how many steps bounded repetitions and alternatives make of one.
        ignore_case: compile with `re.IGNORECASE`.
        over_lines: a match can contain a line feed; if not, every line may be searched by itself.
        oldest: the first version of ripgrep that reads `rust` in this way; () if all do.
    """

    rust: str
    plain: str
    full: str
    required: str
    folded: str
    degree: int | None
    factor: int
    ignore_case: bool
    over_lines: bool
    oldest: tuple[int, ...]

    def write_full(self) -> str:
        """`full` with its sets of characters written out, for Python's `re`."""
        return re.sub(f"{SET}(.)", lambda shorthand: class_body(shorthand[1]), self.full)


def compile_expression(
    pattern: str, *, literal: bool = False, case_insensitive: bool = False, multiline: bool = False
) -> Expression:
    r"""Read a pattern, or refuse it with the reason.

    It is ripgrep's syntax without the parts that Python's `re` reads differently: no look-around, back-reference,
    possessive quantifier, `\p{..}`, `\A` or `\z`; flags only as `(?i)`, `(?s)`, `(?m)` at the start or `(?i:...)`. `^`
    and `$` are the ends of a line; `\r` is matched only by `\r` (with `multiline` by classes too), so that CRLF files
    answer like LF files. Case is folded character by character.

    Raises:
        Invalid: empty, not well formed, or not alike in both engines.
    """
    if not pattern:
        raise Invalid(
            "pattern: is empty", hint="It takes a regular expression, or text with `literal=true`.", field="pattern"
        )
    if len(pattern) > LONGEST_PATTERN:
        raise Invalid(
            f"pattern: is longer than {LONGEST_PATTERN} characters",
            hint="Search for a part of it, or in several calls.",
            field="pattern",
        )
    if "\0" in pattern or re.search("[\ud800-\udfff]", pattern):
        raise Invalid(
            "pattern: holds a NUL or half a surrogate pair, which no text line has",
            hint="Take it out, and search for the text beside it.",
            field="pattern",
        )
    flags = re.match(r"\(\?([ims]+)\)", pattern) if not literal else None
    if flags:
        case_insensitive = case_insensitive or "i" in flags[1]
    reader = _Reader(pattern, flags.end() if flags else 0, case_insensitive, multiline)
    reader.dot_all = bool(flags and "s" in flags[1])
    written = reader.read_literal() if literal else reader.read_all()
    folds = case_insensitive or reader.flagged
    return Expression(
        rust=("(?i)" if case_insensitive else "") + written.rust,
        plain=written.plain,
        full=written.full,
        required="" if folds else written.required,
        folded=written.required.lower() if folds and written.required.isascii() else "",
        degree=written.degree if written.ways <= MOST_REPEATS else None,
        factor=max(written.ways, written.repeats),
        ignore_case=case_insensitive,
        over_lines=multiline and written.may_match_line_feed(),
        oldest=reader.oldest,
    )


class _Reader:
    """Reads one pattern from left to right, writing each piece for both engines as it goes."""

    def __init__(self, pattern: str, at: int, ignore_case: bool, multiline: bool) -> None:
        self.pattern = pattern
        self.at = at
        self.ignore_case = ignore_case
        self.multiline = multiline
        self.dot_all = False
        self.flagged = False
        self.names: set[str] = set()
        self.depth = 0
        self.oldest: tuple[int, ...] = ()
        self.at_first = True  # The match may still be empty.

    def read_literal(self) -> Written:
        pieces = []
        for char in self.pattern:
            self._check_newline(char)
            pieces.append(character(char))
        return wrapped(pieces)

    def read_all(self) -> Written:
        written = self._alternatives()
        if self.at < len(self.pattern):
            raise self._wrong("unbalanced parenthesis", hint="Escape it: \\)")
        return written

    def _alternatives(self) -> Written:
        at_first = self.at_first
        found = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            self.at_first = at_first
            found.append(self._sequence())
        return found[0] if len(found) == 1 else one_of(found)

    def _sequence(self) -> Written:
        pieces: list[Written] = []
        while self.at < len(self.pattern) and self._peek() not in "|)":
            at_first = self.at_first
            pieces.append(self._quantified(self._atom(), at_first=at_first))
        return wrapped(pieces)

    def _atom(self) -> Written:
        char = self.pattern[self.at]
        start = self.at
        self.at += 1
        if char == "(":
            return self._group(start)
        if char == "[":
            written, self.at = read_class(self.pattern, start, multiline=self.multiline)
            return written
        if char == "\\":
            return self._escape(start)
        if char == ".":
            return any_character(self.multiline and self.dot_all)
        if char == "^":
            return Written("^", "^", "^", assertion=True)
        if char == "$":
            self.oldest = max(self.oldest, SINCE_CRLF if self.multiline else ())
            return line_end(multiline=self.multiline)
        if char in "*+?":
            raise self._wrong("nothing to repeat", start)
        if char == "{":
            raise self._wrong(
                "a repetition has nothing to repeat, or '{' is meant literally", start, hint="Escape it: \\{"
            )
        self._check_newline(char)
        return character(char)

    def _group(self, start: int) -> Written:
        opening = "(?:"
        was = self.dot_all
        if self._peek() == "?":
            opening = self._group_kind(start)
        self.depth += 1
        if self.depth > DEEPEST_GROUPS:
            raise self._wrong(f"groups are nested deeper than {DEEPEST_GROUPS}", start)
        inside = self._alternatives()
        self.depth -= 1
        self.dot_all = was
        if self._peek() != ")":
            raise self._wrong("missing ), unterminated subpattern", start, hint="Escape a literal one: \\(")
        self.at += 1
        return inside.grouped(opening)

    def _group_kind(self, start: int) -> str:
        rest = self.pattern[self.at :]
        named = re.match(r"\?P?<([A-Za-z_]\w*)>", rest)
        flags = re.match(r"\?([is]*)(?:-([is]+))?:", rest)
        if named:
            if named[1] in self.names:
                raise self._wrong(f"redefinition of group name {named[1]!r}", start)
            self.names.add(named[1])
            self.at += named.end()
            return "(?:"
        if not flags:
            raise refused_group(self.pattern, start)
        self.at += flags.end()
        on, off = flags[1], flags[2] or ""
        self.dot_all = ("s" in on) or (self.dot_all and "s" not in off)
        self.flagged = self.flagged or "i" in on + off
        case = "i" if "i" in on and "i" not in off else "-i" if "i" in off else ""
        return f"(?{case}:"

    def _escape(self, start: int) -> Written:
        char = self._peek()
        if not char:
            raise self._wrong("bad escape (end of pattern)", start)
        self.at += 1
        if refusal := refused_escape(self.pattern, start):
            raise refusal
        if char in "bB":
            return self._boundary(char)
        if char in "dDsSwW":
            return shorthand(char, multiline=self.multiline)
        if char in ESCAPES:
            literal = ESCAPES[char]
        else:
            literal, self.at = code_point(self.pattern, start)
        self._check_newline(literal)
        return character(literal)

    def _boundary(self, char: str) -> Written:
        if char == "b" and (not self.at_first or _WORD.match(self.pattern, self.at)):
            return boundary(at_first=self.at_first)
        self.oldest = NEVER
        return boundary(at_first=False) if char == "b" else no_boundary()

    def _quantified(self, atom: Written, *, at_first: bool) -> Written:
        self.at_first = False
        match = re.compile(r"[*+?]|\{(\d*)(,?)(\d*)\}").match(self.pattern, self.at)
        if not match:
            return atom
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(match[0]) or self._bounds(match)
        if atom.assertion:
            raise self._wrong("nothing to repeat: ^, $, \\b and \\B take no quantifier")
        self.at = match.end()
        lazy = self._peek() == "?"
        self.at += lazy
        if self._peek() and self._peek() in "*+?{":
            what = "possessive quantifier" if self._peek() == "+" else "multiple repeat"
            raise self._wrong(what, hint="Put the inner one in a group: (?:...)")
        self.at_first = at_first and not low
        repeated = atom.repeated(low, high, lazy)
        if repeated.repeats > MOST_REPEATS:
            raise self._wrong(f"repetitions inside each other make more than {MOST_REPEATS}", hint=_MOST_HINT)
        return repeated

    def _bounds(self, match: re.Match[str]) -> tuple[int, int | None]:
        low, comma, high = match.groups()
        if not (low or high):
            raise self._wrong(f"bad repetition {match[0]!r}", hint="Escape a literal brace: \\{")
        # Python refuses to read numbers of thousands of digits.
        least, highest = (int(one.lstrip("0")[:5] or 0) for one in (low, high))
        if max(least, highest) > MOST_REPEATS:
            raise self._wrong(f"{match[0]!r} repeats more than {MOST_REPEATS} times", hint=_MOST_HINT)
        most = (highest if high else None) if comma else least
        if most is not None and least > most:
            raise self._wrong(f"min repeat greater than max repeat in {match[0]!r}")
        return least, most

    def _check_newline(self, char: str) -> None:
        if char == "\n" and not self.multiline:
            raise self._wrong("a line never holds a line feed", hint=OVER_LINES)

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _wrong(self, what: str, at: int | None = None, hint: str = PLAIN_TEXT) -> Invalid:
        return refused_pattern(what, self.pattern, self.at if at is None else at, hint)
