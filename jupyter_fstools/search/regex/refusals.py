r"""Refuses unsupported pattern syntax and names what to write instead."""

from __future__ import annotations

import re

from ...errors import Invalid

PLAIN_TEXT = "`literal=true` takes the pattern as plain text."
OVER_LINES = "Set multiline=true to match across lines."
_WRITTEN_OUT = "Write the repeated text out, or search for a part of it and read the lines found."
_PROPERTY = (
    r"Write [[:alpha:]] for a letter of ASCII, [^\W\d_] for one of any script; [[:upper:]], [[:lower:]], [[:punct:]] "
    r"and \d, \s, \w are supported too."
)
ESCAPES_REFUSED = {
    "A": ("the start of the file", "Write ^ for the start of a line."),
    **dict.fromkeys("zZ", ("the end of the file", "Write $ for the end of a line.")),
    **dict.fromkeys("pP", ("a Unicode property", _PROPERTY)),
    **dict.fromkeys("kg", ("a back-reference", _WRITTEN_OUT)),
    **dict.fromkeys("0123456789", ("a back-reference or an octal number", rf"{_WRITTEN_OUT} \x41 is a character.")),
    "K": ("keeping out what came before", "Leave it out: the line is shown whole."),
    "G": ("the end of the last match", "Leave it out."),
    **dict.fromkeys("QE", ("quoting", PLAIN_TEXT)),
    "R": ("any line break", "Write $ for the end of a line, or \\r?\\n with `multiline=true`."),
    "X": ("a grapheme", "Write a dot for any character."),
    "h": ("horizontal space", r"Write [ \t]."),
    "H": ("no horizontal space", r"Write [^ \t]."),
    "<": ("the start of a word", r"Write \b."),
    ">": ("the end of a word", r"Write \b."),
}
"""Meanings of escapes in other dialects, and what to write here, by the character after the backslash."""

_NO_LOOKING = "Search for the whole text, or for one of both parts and read what is found."
GROUPS_REFUSED = {
    "?=": ("look-ahead", _NO_LOOKING),
    "?!": ("look-ahead", _NO_LOOKING),
    "?<=": ("look-behind", _NO_LOOKING),
    "?<!": ("look-behind", _NO_LOOKING),
    "?>": ("an atomic group", "Write (?:...)."),
    "?(": ("a condition", "Write both ways out, as (?:...|...)."),
    "?#": ("a comment", "Leave it out."),
    "?P=": ("a back-reference", _WRITTEN_OUT),
    "?P>": ("a call of a group", _WRITTEN_OUT),
    "?&": ("a call of a group", _WRITTEN_OUT),
    "?R": ("recursion", _WRITTEN_OUT),
    "?|": ("a branch reset", "Write (?:...|...)."),
}
"""Meanings of groups in other dialects, and what to write here, by the characters after the parenthesis."""

_FLAGS = re.compile(r"\?([A-Za-z-]+)[:)]")
_WHERE_FLAGS_GO = (
    "Only i, s and m are supported, at the start of the pattern, as (?i); i and s also for a group, as (?i:...)."
)
_WITHOUT_FLAG = {
    "x": "Leave x out, and the spaces and comments that it would ignore.",
    "m": "Leave m out: ^ and $ match at every line anyway.",
    "u": r"Leave u out; for ASCII alone write [0-9A-Za-z_] for \w and [0-9] for \d.",
}
_HALF_BOUNDARY = re.compile(r"\\b\{(start|end)(?:-half)?\}")
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MOST_SHOWN = 200


def refused_pattern(what: str, pattern: str, at: int, hint: str = PLAIN_TEXT) -> Invalid:
    """The refusal of a pattern: what is wrong, at which position, and (`hint`) what to write."""
    shown = _UNSHOWABLE.sub(lambda match: ascii(match[0])[1:-1], pattern[:_MOST_SHOWN])
    return Invalid(f"pattern: {what} at position {at} of '{shown}'", hint=hint, field="pattern", position=at)


def refused_escape(pattern: str, at: int) -> Invalid | None:
    """The refusal of the escape at `at`, if it has a meaning in other dialects."""
    half = _HALF_BOUNDARY.match(pattern, at)
    if half:
        return refused_pattern(f"{half[0]} (the {half[1]} of a word) is not supported", pattern, at, r"Write \b.")
    char = pattern[at + 1 : at + 2]
    if char not in ESCAPES_REFUSED:
        return None
    elsewhere, hint = ESCAPES_REFUSED[char]
    return refused_pattern(f"\\{char} ({elsewhere}) is not supported", pattern, at, hint)


def refused_group(pattern: str, at: int) -> Invalid:
    """The refusal of the unsupported group that opens at `at` with a question mark."""
    rest = pattern[at + 1 :]
    for opening, (elsewhere, hint) in GROUPS_REFUSED.items():
        if rest.startswith(opening):
            return refused_pattern(f"{elsewhere} is not supported", pattern, at, hint)
    flags = _FLAGS.match(rest)
    if flags is None:
        return refused_pattern(f"unknown group ({rest[:2]}", pattern, at, r"Write (?:...), or \( for a parenthesis.")
    hints = [_WITHOUT_FLAG[flag] for flag in _WITHOUT_FLAG if flag in flags[1]]
    written = f"({flags[0]}" if flags[0].endswith(")") else f"({flags[0]}...)"
    here = "" if set(flags[1]) - set("ims-") else " here"
    return refused_pattern(f"{written} is not supported{here}", pattern, at, " ".join([_WHERE_FLAGS_GO, *hints]))
