"""Changes single members of a JSON text without touching the rest."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_BLANKS = re.compile(r"[ \t\n\r]*")
_read = json.JSONDecoder().raw_decode


class Member(NamedTuple):
    """A member of an object, or an item of a list.

    Attributes:
        name: the member's; None in a list.
        value: as Python parses it.
        start: offset at which the text of the value begins.
        end: offset at which it ends.
    """

    name: str | None
    value: Any
    start: int
    end: int


def members(text: str, start: int = 0) -> list[Member]:
    """The members of the object or list that begins at an offset; if a name occurs twice, both members.

    Args:
        text: valid JSON.
        start: of the container, or of blanks before it.
    """
    at = _next(text, start)
    named = text[at] == "{"
    at = _next(text, at + 1)
    found = []
    while text[at] not in "]}":
        name = None
        if named:
            name, at = _read(text, at)
            at = _next(text, _next(text, at) + 1)
        value, end = _read(text, at)
        found.append(Member(name, value, at, end))
        at = _next(text, end)
        if text[at] == ",":
            at = _next(text, at + 1)
    return found


def replaced(text: str, member: Member, value: Any, depth: int) -> str:
    """The text with another value of a member.

    Args:
        text: valid JSON.
        member: the member of it to replace.
        value: the new value.
        depth: of the member: 1 in the outermost container.
    """
    return f"{text[: member.start]}{_written(text, value, depth)}{text[member.end :]}"


def added(text: str, start: int, name: str | None, value: Any, depth: int) -> str:
    """The text with one more member at the end of a container.

    Args:
        text: valid JSON.
        start: of the container, or of blanks before it.
        name: the member's; None in a list.
        value: the member's.
        depth: of the member: 1 in the outermost container.
    """
    there = members(text, start)
    new = ("" if name is None else f"{json.dumps(name)}: ") + _written(text, value, depth)
    if there:
        end = there[-1].end
        return f"{text[:end]},{_break(text, depth) or ' '}{new}{text[end:]}"
    begin = _next(text, start) + 1
    return f"{text[:begin]}{_break(text, depth)}{new}{_break(text, depth - 1)}{text[_next(text, begin) :]}"


def line_end(text: str) -> str:
    """The line end of a text: CRLF if it has any, else LF."""
    return "\r\n" if "\r\n" in text else "\n"


def _next(text: str, at: int) -> int:
    """The offset of the next character that is not blank."""
    found = _BLANKS.match(text, at)
    assert found is not None  # The pattern also matches no characters.
    return found.end()


def _indent(text: str) -> str | None:
    """The indentation of one level of the text; None: the text is in one line."""
    begin = _next(text, 0) + 1
    end = _next(text, begin)
    if text[end] in "]}":
        return "  "
    return text[begin:end].rpartition("\n")[2] if "\n" in text[begin:end] else None


def _break(text: str, depth: int) -> str:
    indent = _indent(text)
    return "" if indent is None else line_end(text) + indent * depth


def _written(text: str, value: Any, depth: int) -> str:
    # JSON has line ends only between members, as those in strings are escaped.
    return json.dumps(value, indent=_indent(text)).replace("\n", _break(text, depth))
