"""Translates one name of a glob pattern into a regular expression."""

from __future__ import annotations

import re

from .braces import class_end

_POSIX = {
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
NOTHING = "(?!)"
"""A regular expression that never matches: an empty class."""


class MalformedSegment(ValueError):
    """A class without its `]` or with a range that goes backwards, or a backslash at the end."""


def segment_regex(segment: str, *, as_git: bool = True) -> str:
    r"""The regular expression of one name with `*`, `?`, `[...]` and `\`; it fits the whole name.

    A star takes as little as it can and never gives back (an atomic group), so that many stars cost no more than one.

    Args:
        segment: the name.
        as_git: of a range that goes backwards its first character counts, as in git; else it is malformed.

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
    """A segment that stands for `name` and nothing else."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", name)


def _unescaped(segment: str) -> str:
    return re.sub(r"\\(.)", r"\1", segment, flags=re.S)


def _single(segment: str, at: int, as_git: bool) -> tuple[str, int]:
    """The expression of one character position, and where the next one begins."""
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
            if posix[1] not in _POSIX:
                raise MalformedSegment(f"[:{posix[1]}:] is no class of characters")
            items.append(_POSIX[posix[1]])
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
