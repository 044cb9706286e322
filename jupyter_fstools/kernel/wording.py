"""Rewrites refusals and notes in the words of `%fs`."""

from __future__ import annotations

import re

from ..errors import Binary, FsToolsError
from ..plain_text import lines_of

_ARGUMENT = r"(\w+)=(?:\"([^\"]*)\"|('[^']*'|\d+|true))"
_TERM = re.compile(rf"`([^`\n=]+)`|`{_ARGUMENT}`|(?<![\w/.]){_ARGUMENT}(?![\w/.]\w)")
"""How hints and notes tell the tools and arguments that they name: in backticks, or as `name=value`."""
SIGNS: dict[str, str] = {}
"""How a line of `%fs` begins, by the tool that it calls or by its subcommand; each subcommand enters its own."""
OPTIONS: dict[str, str] = {}
"""The options of `%fs` by the arguments that they give; each subcommand enters its own."""


def in_words_of_the_magic(text: str) -> str:
    """A hint or note with subcommands and options in the place of the tools and arguments that it names."""
    return _TERM.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    term, *given = match.groups()
    if term is not None:
        return SIGNS.get(term) or OPTIONS.get(term) or match[0]
    name, value, as_it_is = given[:3] if given[0] else given[3:]
    option = OPTIONS.get(name)
    if option is None or as_it_is == "true":
        return option or match[0]
    return f"{option} {value or as_it_is}"


def refusal_lines(refusal: FsToolsError) -> list[str]:
    """How IPython shows a refusal: what was wrong, the next step, and what changed where that is known."""
    first, *more = lines_of(refusal.message) or [""]
    shown = [f"{refusal.code}: {first}", *more]
    if refusal.hint:
        hint = in_words_of_the_magic(refusal.hint)
        if isinstance(refusal, Binary):
            hint = f"In Python, open(path, 'rb') has its bytes. {hint}"
        first, *more = lines_of(hint)
        shown += [f"Hint: {first}", *more]
    diff = refusal.details.get("diff")
    if isinstance(diff, str):
        shown += lines_of(diff)
    return shown
