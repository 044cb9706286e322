"""Completes `%fs` subcommands, options, paths and change ids."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from IPython.core.completer import SimpleCompletion

from ..errors import FsToolsError
from ..journal.journal import ChangeQuery
from ..plain_text import one_line
from .arguments import SUBCOMMANDS, Subcommand
from .desk import Desk
from .words import quoted, words_of

_LINE = re.compile(r"\s*(?:[\w.,\[\]'\" ]+=\s*)?(%%?)fs[ \t]+")
_MOST_OFFERED = 300


class Completion:
    """Completes lines of `%fs`, for the files of one kernel."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def matches(self, before: str) -> Any:
        """What may stand at the cursor, in the form of an IPython matcher (API version 2).

        Args:
            before: the line up to the cursor.
        """
        found = _LINE.match(before)
        if found is None:
            return {"completions": []}
        finished, fragment = _split(before[found.end() :])
        offered = list(islice(self._offered(finished, fragment, in_cell=found[1] == "%%"), _MOST_OFFERED))
        # IPython keeps its own guesses back only if there is something to offer in their place.
        offered = offered or [(fragment or "--help", "param")]
        return {
            "completions": [SimpleCompletion(text=text, type=kind) for text, kind in offered],
            "matched_fragment": fragment,
            "suppress": True,
            "ordered": True,
        }

    def _offered(self, finished: list[str], fragment: str, *, in_cell: bool) -> Iterable[tuple[str, str]]:
        if not finished:
            names = [name for name, one in SUBCOMMANDS.items() if one.body != ("none" if in_cell else "required")]
            return _beginning(fragment, names, "function")
        command = SUBCOMMANDS.get(finished[0])
        if command is None:
            return []
        if fragment.startswith("-"):
            return _beginning(fragment, _options(command), "param")
        before = _action(command, finished[-1])
        if before is not None and before.nargs != 0:
            return _beginning(fragment, before.choices or [], "param")
        return self._positional(command, fragment)

    def _positional(self, command: Subcommand, fragment: str) -> Iterable[tuple[str, str]]:
        wanted = {action.dest for action in command.actions if not action.option_strings}
        try:
            if "change_id" in wanted:
                return _beginning(fragment, self._changes(), "text")
            if wanted & {"path", "command"}:
                return self._paths(fragment)
            if "target" in wanted:
                return [*self._paths(fragment), *_beginning(fragment, self._changes(), "text")]
        except FsToolsError:
            # A folder that is not there, or not for this caller: nothing to offer.
            pass
        return []

    def _changes(self) -> list[str]:
        return [change.id for change in self._desk.files.changes(ChangeQuery(limit=20))[0]]

    def _paths(self, fragment: str) -> list[tuple[str, str]]:
        quote = fragment[:1] if fragment[:1] in ("'", '"') else ""
        folder, name = posixpath.split(fragment[len(quote) :])
        offered = []
        for one in self._desk.files.names(folder):
            path = posixpath.join(folder, one.name)
            if _fits(one.name, name) and one_line(path) == path:
                kind = "directory" if one.is_directory else "file"
                offered.append((kind, _spelled(path, kind, quote)))
        return [(text, "path") for _, text in sorted(offered)]


def _fits(name: str, beginning: str) -> bool:
    return name.startswith(beginning) and (name[0] != "." or bool(beginning))


def _split(line: str) -> tuple[list[str], str]:
    """The finished words of a line and the one the cursor is in, as it is written."""
    quote, start = "", 0
    for at, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character.isspace():
            start = at + 1
    return words_of(line[:start]), line[start:]


def _spelled(path: str, kind: str, quote: str) -> str:
    """A path as it goes into the line; a folder's quote is left open, to go on below it."""
    if path.startswith("-"):
        path = f"./{path}"
    if kind == "file":
        return f"{quote}{path}{quote}" if quote and quote not in path else quoted(path)
    if not quote and quoted(path) != path:
        quote = quoted(path)[0]
    return f"{quote}{path}/"


def _beginning(fragment: str, words: Iterable[str], kind: str) -> Iterable[tuple[str, str]]:
    return ((word, kind) for word in words if word.startswith(fragment))


def _options(command: Subcommand) -> list[str]:
    named = [option for action in command.actions for option in action.option_strings]
    return [*(option for option in named if option.startswith("--")), "--help"]


def _action(command: Subcommand, word: str) -> Any:
    return next((action for action in command.actions if word in action.option_strings), None)
