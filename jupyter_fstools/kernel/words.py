"""Splits a line into words and quotes them."""

from __future__ import annotations

import shlex

from ..errors import Invalid


def words_of(line: str) -> list[str]:
    """The words of a line: split at spaces, except between quotes; a backslash is a character like any other.

    Raises:
        Invalid: a quote is not closed.
    """
    try:
        return list(_lexer(line))
    except ValueError:
        raise Invalid(
            "a quote is opened and not closed",
            hint="""Put what holds a ' between " and what holds a " between '; texts with both go into %%fs edit.""",
        ) from None


def quoted(word: str) -> str:
    """A word so that `words_of` gives it back."""
    if word and not any(character.isspace() or character in "'\"" for character in word):
        return word
    return shlex.quote(word) if "'" in word and '"' in word else f'"{word}"' if "'" in word else f"'{word}'"


def _lexer(line: str) -> shlex.shlex:
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""
    return lexer
