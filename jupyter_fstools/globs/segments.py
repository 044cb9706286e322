"""Expands braces and translates one path segment."""

from __future__ import annotations

import re

from ..errors import Invalid

DEEPEST = 50
"""Most nested braces: each level is a recursive call."""
MOST_ALTERNATIVES = 1000
MOST_CHARACTERS = 100_000
"""Most characters of all alternatives: more than a person writes. A product such as {a,b}{a,b}... exceeds
`MOST_ALTERNATIVES` after ten factors."""
_CLASS = re.compile(r"\[[!^]?+\]?+(?:[^\]\\]|\\.)*+\]", re.DOTALL)
_CLASS_WITH_NAMES = re.compile(r"\[[!^]?+\]?+(?:\[:[^\]]++(?<=:)\]|[^\]\\]|\\.)*+\]", re.DOTALL)


class ExcessiveBraces(Invalid):
    """The braces of a pattern stand for too much, or are nested too deep."""


def expand_braces(pattern: str) -> list[str]:
    """Every pattern that the braces of `pattern` stand for, in the order written.

    `{a,b}` nests; a brace that is escaped or inside `[...]` is an ordinary character.

    Raises:
        Invalid: a brace is open or closed without its partner.
        ExcessiveBraces: more than 50 are inside each other, or there are more than 1,000 alternatives.
    """
    alternatives, end = _sequence(pattern, 0, depth=0)
    if end < len(pattern):
        raise Invalid(f"'}}' without '{{' at position {end} in {pattern!r}", hint="Escape it: \\}")
    return alternatives


def _sequence(pattern: str, at: int, *, depth: int) -> tuple[list[str], int]:
    """The segments from `at` up to the `,` or `}` that ends this alternative."""
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
        raise ExcessiveBraces(
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
    """The position after the character, escape or `[...]` that begins at `at`; a `[...]` is within one name."""
    if pattern[at] == "\\":
        return min(at + 2, len(pattern))
    end = class_end(pattern, at) if pattern[at] == "[" else None
    return at + 1 if end is None or "/" in pattern[at:end] else end


def class_end(pattern: str, at: int) -> int | None:
    """The position after the `]` of the class that opens at `at`; None if it is never closed."""
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
        raise ExcessiveBraces(
            f"the braces of {pattern[:80]!r} stand for more than {MOST_ALTERNATIVES} alternatives",
            hint="Write a shorter pattern, or several calls.",
        )


POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t-\\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
"""The ASCII sets of `[[:name:]]`, as written between brackets in a regular expression."""
NOTHING = "(?!)"
"""A regular expression that never matches: an empty class."""


class MalformedSegment(ValueError):
    """The segment has a class without its `]` or with a reversed range, or a backslash at its end."""


def segment_regex(segment: str, *, as_git: bool = True) -> str:
    r"""The regular expression of one name with `*`, `?`, `[...]` and `\`; it fits the whole name.

    A star matches as little as possible without backtracking (an atomic group), so that many stars cost no more than
    one.

    Args:
        segment: the name.
        as_git: a reversed range matches its first character, as in git; otherwise it is malformed.

    Raises:
        MalformedSegment
    """
    chunks: list[str] = [""]
    at = 0
    while at < len(segment):
        char = segment[at]
        if char == "*":
            at += len(segment[at:]) - len(segment[at:].lstrip("*"))
            chunks.append("")
            continue
        regex, at = _single(segment, at, as_git)
        chunks[-1] += regex
    if len(chunks) == 1:
        return chunks[0]
    middle = "".join(f"(?>[^/]*?{chunk})" for chunk in chunks[1:-1])
    return f"{chunks[0]}{middle}[^/]*{chunks[-1]}"


def literal_name(segment: str) -> str | None:
    """The name that `segment` spells, if it has no wildcard."""
    if any(char in segment for char in "*?["):
        return None if re.search(r"(?<!\\)(?:\\\\)*[*?\[]", segment) else _unescaped(segment)
    return _unescaped(segment)


def escaped(name: str) -> str:
    """A segment that matches only `name`."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", name)


def _unescaped(segment: str) -> str:
    return re.sub(r"\\(.)", r"\1", segment, flags=re.S)


def _single(segment: str, at: int, as_git: bool) -> tuple[str, int]:
    """The expression of one character position, and the start of the next one."""
    char = segment[at]
    if char == "?":
        return "[^/]", at + 1
    if char == "[":
        end = class_end(segment, at)
        if end is None:
            raise MalformedSegment(f"'[' at position {at} is never closed")
        return _class(segment[at + 1 : end - 1], as_git), end
    if char == "\\":
        if at + 1 == len(segment):
            raise MalformedSegment("a backslash at the end escapes nothing")
        return re.escape(segment[at + 1]), at + 2
    return re.escape(char), at + 1


def _class(body: str, as_git: bool) -> str:
    """`[...]`: ranges, `!` or `^` for "none of these", escapes, `[:alpha:]`."""
    negated = body[:1] in ("!", "^")
    items: list[str] = []
    at = 1 if negated else 0
    while at < len(body):
        posix = re.match(r"\[:(\w+):\]", body[at:])
        if posix:
            if posix[1] not in POSIX_CLASSES:
                raise MalformedSegment(f"[:{posix[1]}:] is not a character class")
            items.append(POSIX_CLASSES[posix[1]])
            at += posix.end()
            continue
        low, at = _member(body, at)
        if body[at : at + 1] == "-" and at + 1 < len(body):
            high, at = _member(body, at + 1)
            if low > high and not as_git:
                raise MalformedSegment(f"the range {f'{low}-{high}'!r} goes backwards")
            items.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low))
        else:
            items.append(re.escape(low))
    inside = "".join(items)
    if not inside:
        return "[^/]" if negated else NOTHING
    return f"(?!/)[{'^' if negated else ''}{inside}]"


def _member(body: str, at: int) -> tuple[str, int]:
    if body[at] == "\\" and at + 1 < len(body):
        return body[at + 1], at + 2
    return body[at], at + 1
