"""Changes single members of a JSON text; comments and all else stay."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_BLANKS = re.compile(r"[ \t\n\r]*")
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n\r]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{][ \t\n\r]*,|,(?=[ \t\n\r]*[\]}])', re.DOTALL)
_REST_OF_LINE = re.compile(r"[ \t]*(,?)[ \t]*(?://[^\n\r]*|/\*[^\n\r]*?\*/[ \t]*)?(?=[\n\r])")
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


def plain_json(text: str) -> str:
    """The text with blanks for its comments and for the commas behind last members: the same offsets, plain JSON."""
    return _STRING_OR_LAST_COMMA.sub(_blanked, _STRING_OR_COMMENT.sub(_blanked, text))


def _blanked(found: re.Match[str]) -> str:
    return found[0] if found[0][0] in '"[{' else re.sub(r"[^\n\r]", " ", found[0])


def members(text: str, start: int = 0) -> list[Member]:
    """The members of the object or list that begins at an offset; if a name occurs twice, both members.

    Args:
        text: valid JSON, which may have comments and commas behind last members.
        start: of the container, or of blanks before it.
    """
    text = plain_json(text)
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
        text: as for `members`.
        member: the member of it to replace.
        value: the new value.
        depth: of the member: 1 in the outermost container.
    """
    return f"{text[: member.start]}{_written(text, value, depth)}{text[member.end :]}"


def added(text: str, start: int, name: str | None, value: Any, depth: int) -> str:
    """The text with one more member at the end of a container.

    Args:
        text: as for `members`.
        start: of the container, or of blanks before it.
        name: the member's; None in a list.
        value: the member's.
        depth: of the member: 1 in the outermost container.
    """
    there = members(text, start)
    new = ("" if name is None else f"{json.dumps(name)}: ") + _written(text, value, depth)
    new_line = _break(text, depth)
    if there:
        end = there[-1].end
        rest = _REST_OF_LINE.match(text, end) if new_line else None
        if rest is None:
            return f"{text[:end]},{new_line or ' '}{new}{text[end:]}"
        # A comment behind the last member stays in its line; where a comma ends the last line, one ends the new line.
        line = text[end : rest.end()]
        return f"{text[:end]}{line if rest[1] else ',' + line}{new_line}{new}{rest[1]}{text[rest.end() :]}"
    plain = plain_json(text)
    begin = _next(plain, start) + 1
    close = _next(plain, begin)
    comments = text[begin:close].rstrip()
    if comments:
        new_line = new_line or line_end(text)
    return f"{text[:begin]}{comments}{new_line}{new}{_break(text, depth - 1)}{text[close:]}"


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
    plain = plain_json(text)
    begin = _next(plain, 0) + 1
    end = _next(plain, begin)
    if plain[end] in "]}":
        return "  "
    _, line_break, line = text[begin:end].rpartition("\n")
    return line[: _next(line, 0)] if line_break else None


def _break(text: str, depth: int) -> str:
    indent = _indent(text)
    return "" if indent is None else line_end(text) + indent * depth


def _written(text: str, value: Any, depth: int) -> str:
    # JSON has line ends only between members, as those in strings are escaped.
    return json.dumps(value, indent=_indent(text)).replace("\n", _break(text, depth))
