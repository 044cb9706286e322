"""Expands brace alternatives in a glob pattern."""

from __future__ import annotations

import re

from ..errors import Invalid

DEEPEST = 50
"""Braces inside each other: each is read by a call inside another."""
MOST_ALTERNATIVES = 1000
MOST_CHARACTERS = 100_000
"""More than a person writes; a product such as {a,b}{a,b}... passes the first after ten factors."""
_CLASS = re.compile(r"\[[!^]?+\]?+(?:[^\]\\]|\\.)*+\]", re.DOTALL)
_CLASS_WITH_NAMES = re.compile(r"\[[!^]?+\]?+(?:\[:[^\]]++(?<=:)\]|[^\]\\]|\\.)*+\]", re.DOTALL)


def expand_braces(pattern: str) -> list[str]:
    """Every pattern that the braces of `pattern` stand for, in the order written.

    `{a,b}` nests; a brace that is escaped or inside `[...]` is an ordinary character.

    Raises:
        Invalid: a brace is open or closed without its partner, more than 50 are inside each other, or there are more
            than 1,000 alternatives.
    """
    alternatives, end = _sequence(pattern, 0, depth=0)
    if end < len(pattern):
        raise Invalid(f"'}}' without '{{' at position {end} in {pattern!r}", hint="Escape it: \\}")
    return alternatives


def _sequence(pattern: str, at: int, *, depth: int) -> tuple[list[str], int]:
    """What can stand from `at` up to the `,` or `}` that ends this alternative."""
    found = [""]
    plain = at
    while at < len(pattern):
        char = pattern[at]
        if char == "}" or (depth and char == ","):
            break
        if char == "{":
            found = _times(found, [pattern[plain:at]], pattern)
            options, at = _options(pattern, at, depth + 1)
            found = _times(found, options, pattern)
            plain = at
        else:
            at = _past(pattern, at)
    return _times(found, [pattern[plain:at]], pattern), at


def _options(pattern: str, opening: int, depth: int) -> tuple[list[str], int]:
    if depth > DEEPEST:
        raise Invalid(
            f"the braces of {pattern[:80]!r} are nested more than {DEEPEST} deep",
            hint="Write the choices side by side ({a,b,c}), or escape braces that are meant literally: \\{",
        )
    options: list[str] = []
    at = opening + 1
    while True:
        more, at = _sequence(pattern, at, depth=depth)
        options += more
        _bound(len(options), pattern)
        if at >= len(pattern):
            raise Invalid(f"'{{' at position {opening} is never closed in {pattern!r}", hint="Escape it: \\{")
        at += 1
        if pattern[at - 1] == "}":
            return options, at


def _past(pattern: str, at: int) -> int:
    """The position after the character, escape or `[...]` that begins at `at`."""
    if pattern[at] == "\\":
        return min(at + 2, len(pattern))
    return (bracket_end(pattern, at) or at + 1) if pattern[at] == "[" else at + 1


def bracket_end(pattern: str, at: int) -> int | None:
    """The position after the `]` of the class that opens at `at`; None if it is never closed in this name."""
    end = class_end(pattern, at)
    return None if end is None or "/" in pattern[at:end] else end


def class_end(pattern: str, at: int) -> int | None:
    """The same where a slash in a class is a character like any other."""
    if pattern.find("]", at) < 0:
        return None
    found = (_CLASS_WITH_NAMES if pattern.find(":]", at) >= 0 else _CLASS).match(pattern, at)
    return found.end() if found else None


def _times(left: list[str], right: list[str], pattern: str) -> list[str]:
    _bound(len(left) * len(right), pattern)
    characters = len(right) * sum(map(len, left)) + len(left) * sum(map(len, right))
    _bound(characters // (MOST_CHARACTERS // MOST_ALTERNATIVES), pattern)
    return [first + second for first in left for second in right]


def _bound(count: int, pattern: str) -> None:
    if count > MOST_ALTERNATIVES:
        raise Invalid(
            f"the braces of {pattern[:80]!r} stand for more than {MOST_ALTERNATIVES} alternatives",
            hint="Write a shorter pattern, or several calls.",
        )
