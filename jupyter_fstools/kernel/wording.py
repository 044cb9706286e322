"""Splits and quotes `%fs` lines; translates hints into `%fs` commands."""

from __future__ import annotations

import re
import shlex

from ..errors import Binary, FsToolsError, Invalid
from ..plain_text import lines_of


def words_of(line: str) -> list[str]:
    """The words of a line: split at spaces, except within quotes; a backslash has no special meaning.

    Raises:
        Invalid: a quote is not closed.
    """
    try:
        return list(_lexer(line))
    except ValueError:
        raise Invalid(
            "a quote is not closed",
            hint="""Quote text that holds ' with " and text that holds " with '; text with both goes into %%fs edit.""",
        ) from None


def quoted(word: str) -> str:
    """A word, quoted if needed, so that `words_of` returns it unchanged."""
    if word and not any(character.isspace() or character in "'\"" for character in word):
        return word
    return shlex.quote(word) if "'" in word and '"' in word else f'"{word}"' if "'" in word else f"'{word}'"


def _lexer(line: str) -> shlex.shlex:
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""
    return lexer


_ARGUMENT = r"(\w+)=(?:\"([^\"]*)\"|('[^']*'|\d+|true))"
_TERM = re.compile(rf"`([^`\n=]+)`|`{_ARGUMENT}`|(?<![\w/.]){_ARGUMENT}(?![\w/.]\w)")
"""Matches tools and arguments in hints and notes: in backticks, or as `name=value`."""
SIGNS: dict[str, str] = {}
"""Beginnings of `%fs` lines, by the tool that they call or by subcommand; each subcommand registers its own."""
OPTIONS: dict[str, str] = {}
"""Options of `%fs`, by the argument that they set; each subcommand registers its own."""


def in_words_of_the_magic(text: str) -> str:
    """A hint or note with its tools and arguments replaced by subcommands and options."""
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
    """The lines that IPython shows for a refusal: the problem, the next step, and the changes if they are known."""
    first, *more = lines_of(refusal.message) or [""]
    shown = [f"{refusal.code}: {first}", *more]
    if refusal.hint:
        hint = in_words_of_the_magic(refusal.hint)
        if isinstance(refusal, Binary):
            hint = f"In Python, open(path, 'rb') reads its bytes. {hint}"
        first, *more = lines_of(hint)
        shown += [f"Hint: {first}", *more]
    for name in ("diff", "since_last_call"):
        more_told = refusal.details.get(name)
        shown += lines_of(more_told) if isinstance(more_told, str) else []
    return shown
