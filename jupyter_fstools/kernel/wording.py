"""Splits and quotes `%fs` lines; translates hints into `%fs` commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import partial

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


_QUOTED = r"""(?<![\w=])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_ARGUMENT = r"(\w+)=(?:\"([^\"]*)\"|('[^']*'|\d+|true))"
_TERM = re.compile(rf"{_QUOTED}|`([^`\n=]+)`|`{_ARGUMENT}`|(?<![\w/.]){_ARGUMENT}(?![\w/.]\w)")
"""Matches tools and arguments in hints and notes: in backticks, or as `name=value`. A quoted text is left as it is."""
_NAME = re.compile(rf"{_QUOTED}|((?:^|(?<=; ))\w+(?=: )|(?<![\w/.`])[a-z]+_[a-z_]+\b(?![\w/.`]))")
"""Matches arguments in messages and hints: `name:` at the beginning, or a name of several words anywhere."""
SIGNS: dict[str, str] = {}
"""Beginnings of `%fs` lines, by the tool that they call or by subcommand; each subcommand registers its own."""
OPTIONS: dict[str, str] = {}
"""Options of `%fs`, by the argument that they set; each subcommand registers its own."""


def in_words_of_the_magic(text: str, typed: Mapping[str, str] | None = None) -> str:
    """A hint or note with its tools and arguments replaced by subcommands and options.

    `typed` is that of the subcommand that was called.
    """
    return _TERM.sub(partial(_spelled, typed or {}), text)


def _as_typed(text: str, typed: Mapping[str, str]) -> str:
    """A message or hint with the arguments that it names replaced by the words that are typed for them."""
    return _NAME.sub(lambda match: typed.get(match[1], match[0]), text)


def _spelled(typed: Mapping[str, str], match: re.Match[str]) -> str:
    term, *given = match.groups()
    if term is not None:
        return SIGNS.get(term) or typed.get(term) or OPTIONS.get(term) or match[0]
    name, value, as_it_is = given[:3] if given[0] else given[3:]
    option = typed.get(name) or OPTIONS.get(name)
    if option is None or as_it_is == "true":
        return option or match[0]
    return f"{option} {value or as_it_is}"


def refusal_lines(refusal: FsToolsError, typed: Mapping[str, str]) -> list[str]:
    """The lines that IPython shows for a refusal: the problem, the next step, and the changes if they are known.

    Args:
        refusal: raised by a subcommand.
        typed: words that are typed for the arguments of its tool.
    """
    first, *more = lines_of(refusal.message) or [""]
    shown = [f"{refusal.code}: {_as_typed(first, typed)}", *more]
    if refusal.hint:
        first, *more = lines_of(refusal.hint)  # From the second line on it quotes a file.
        first = _as_typed(in_words_of_the_magic(first, typed), typed)
        if isinstance(refusal, Binary):
            first = f"In Python, open(path, 'rb') reads its bytes. {first}"
        shown += [f"Hint: {first}", *more]
    for name in ("diff", "since_last_call"):
        more_told = refusal.details.get(name)
        shown += lines_of(more_told) if isinstance(more_told, str) else []
    return shown
