"""What a backslash means in a grep pattern."""

from __future__ import annotations

import re

from .dialect_refusals import refused_escape, refused_pattern

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
        # A class may begin at NUL, as [^\x00-\x7f] does; text that holds one is no text.
        if (code or in_class) and code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            return chr(code), match.end()
    char = pattern[at + 1 : at + 2]
    if match or not char or char.isalnum() or ord(char) > 127:
        raise refused_escape(pattern, at) or refused_pattern(f"bad escape \\{char}", pattern, at)
    return char, at + 2
