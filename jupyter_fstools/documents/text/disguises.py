"""Recognises text that was copied with signs the file does not have."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from .shown_lines import CARRIAGE_RETURN, LINE_NUMBER

_OTHER_NUMBERS = (re.compile(r"\s*L?\d+[:|\u2192]"), re.compile(r"\s*L?\d+[:|] "))
_ESCAPE = re.compile(r"\\(?:u([\da-fA-F]{4})|([nrt\"'\\]))")
_EXTRA_RETURNS = re.compile(r"(?<!\r)\r+\n")  # A run of \r alone is not tried at each of its places.
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n?```\s*", re.DOTALL)


class Disguise(NamedTuple):
    """A text as the file may have it, without the additions that were copied with it.

    Attributes:
        reason: the kind of addition.
        text: the text without the addition.
        hint: how to send it; `{names}` stands for the arguments to which it applies.
    """

    reason: str
    text: str
    hint: str


def disguises(text: str) -> Iterator[Disguise]:
    """The texts that a given one may stand for, most likely ones first; each differs from it."""
    for reason, bare, hint in _BARE:
        meant = bare(text)
        if meant and meant != text:
            yield Disguise(reason, meant, hint)


def without_extra_returns(text: str) -> str:
    r"""The text with `\n` for every line break; one that was converted twice has several `\r` before it."""
    return _EXTRA_RETURNS.sub("\n", text)


def has_line_numbers(text: str, old: Callable[[], str]) -> bool:
    """Whether every line of a text was copied with its line number; most of the lines must be in the old text.

    A table whose first column counts its rows does not count.
    """
    lines = text.removesuffix("\n").split("\n")
    if not all(LINE_NUMBER.match(line) for line in lines):
        return False
    numbers = [int(line.split("\t", 1)[0]) for line in lines]
    if numbers != list(range(numbers[0], numbers[0] + len(lines))):
        return False
    there = {line.rstrip("\r") for line in old().split("\n") if line.strip()}
    bare = [LINE_NUMBER.sub("", line, count=1).rstrip("\r") for line in lines]
    filled = [line for line in bare if line.strip()]
    return 0 < len(filled) <= 2 * sum(line in there for line in filled) and there.isdisjoint(lines)


def _without(prefix: re.Pattern[str], text: str) -> str | None:
    lines = text.split("\n")
    found = [prefix.match(line) for line in lines]
    if all(one or not line.strip() for one, line in zip(found, lines, strict=True)):
        return "\n".join(line[one.end() :] if one else line for one, line in zip(found, lines, strict=True))
    return None


def _unescaped(text: str) -> str | None:
    plain, count = _ESCAPE.subn(_character, text)
    # A character beyond U+FFFF is two escapes; a half that stands alone stays, and is found in no file.
    joined = plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return joined.replace("\r\n", "\n") if count else None


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])


def _without_entities(text: str) -> str | None:
    try:
        return html.unescape(text)
    except ValueError:  # Python reads no number of thousands of digits.
        return None


def _without_fence(text: str) -> str | None:
    found = _FENCE.fullmatch(text.strip("\n"))
    return found and found[1]


_NUMBER_HINT = "Remove the line-number prefix ({}) from {{names}}; it is not in the file."
_BARE: tuple[tuple[str, Callable[[str], str | None], str], ...] = (
    ("line_numbers", partial(_without, LINE_NUMBER), _NUMBER_HINT.format("the number and the tab")),
    *(
        ("line_numbers", partial(_without, prefix), _NUMBER_HINT.format("the number and the sign after it"))
        for prefix in _OTHER_NUMBERS
    ),
    (
        "carriage_return",
        lambda text: text.replace(CARRIAGE_RETURN, "\r"),
        f"{CARRIAGE_RETURN} stands for a carriage return: send it as \\r.",
    ),
    (
        "carriage_return",
        lambda text: text.rstrip("\r"),
        "The \\r at the end of old_string is half of a line ending: leave it out.",
    ),
    (
        "carriage_return",
        without_extra_returns,
        "Line breaks in {names} have a \\r too many before them: send \\n alone.",
    ),
    (
        "escaped",
        _unescaped,
        'A backslash in {names} spells characters that the file has as they are (such as \\n for a line break, \\" or '
        "\\u00e9): escape them once, as JSON does.",
    ),
    ("entities", _without_entities, "HTML entities (such as &lt;) are in {names}: send the characters."),
    ("code_fence", _without_fence, "Leave the code fence (```) out of {names}; it is not in the file."),
)
