r"""What a backslash means in a grep pattern, and what it may not mean."""

from __future__ import annotations

import re

from ..errors import Invalid

ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
REFUSED_ESCAPES = {
    "A": "the start of the file; ^ is the start of a line",
    "z": "the end of the file; $ is the end of a line",
    "Z": "the end of the file; $ is the end of a line",
    "p": "a Unicode property",
    "P": "a Unicode property",
    "k": "a back-reference",
    "g": "a back-reference",
    "K": "keeping out what came before",
    "G": "the end of the last match",
    "Q": "quoting; literal=true takes plain text",
    "E": "quoting; literal=true takes plain text",
    "R": "any line break",
    "X": "a grapheme",
    "h": "horizontal space",
    "H": "no horizontal space",
    "<": "the start of a word; use \\b",
    ">": "the end of a word; use \\b",
    **dict.fromkeys("0123456789", "a back-reference or an octal number"),
}
REFUSED_GROUPS = {
    "?=": "look-ahead",
    "?!": "look-ahead",
    "?<=": "look-behind",
    "?<!": "look-behind",
    "?>": "an atomic group",
    "?(": "a condition",
    "?#": "a comment",
    "?P=": "a back-reference",
    "?P>": "a call of a group",
    "?&": "a call of a group",
    "?R": "recursion",
    "?|": "a branch reset",
}
_CODE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]{1,6})\})")


def code_point(pattern: str, at: int, *, in_class: bool = False) -> tuple[str, int]:
    r"""The character of the escape at `at` (`\x41`, `\u00e9`, `\x{1F600}`, `\.`), and the position after it.

    Raises:
        Invalid: a letter that escapes nothing, or no code point.
    """
    match = _CODE.match(pattern, at)
    if match:
        code = int(next(filter(None, match.groups())), 16)
        # A class may begin at NUL, as [^\x00-\x7f] does; text that holds one is no text.
        if (code or in_class) and code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            return chr(code), match.end()
    char = pattern[at + 1 : at + 2]
    if match or not char or char.isalnum() or ord(char) > 127:
        raise Invalid(
            f"pattern: bad escape \\{char} at position {at} of {pattern[:200]!r}",
            hint="literal=true takes the pattern as plain text.",
            position=at,
        )
    return char, at + 2
