"""Parses the options of each `%fs` subcommand; prints their help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from IPython.core import magic_arguments as ipython
from IPython.core.error import UsageError

from ..errors import Invalid
from .desk import Desk
from .edit_blocks import EDIT_FIELDS
from .result import KernelResult
from .wording import OPTIONS, SIGNS, words_of

Body = Literal["none", "optional", "required"]
"""Whether a subcommand takes the rest of the cell."""
Run = Callable[[Desk, argparse.Namespace, str | None], KernelResult]
"""Runs a subcommand, given the kernel's desk, the given arguments (without defaults) and the cell's body."""

# IPython's decorators have no types.
argument: Any = ipython.argument
_magic_arguments: Any = ipython.magic_arguments
_kwds: Any = ipython.kwds
_parser: Any = ipython.MagicArgumentParser
_formatter: Any = ipython.MagicHelpFormatter

_HELP = ("-h", "--help")
_LEADING_OPTION = re.compile(r"""\s*--\w[\w-]*(?:=|\s+)(?:"[^"]*"|'[^']*'|\S+)(?=\s|$)""")

SUBCOMMANDS: dict[str, Subcommand] = {}
"""Every subcommand by its name, in the order of the overview."""


class _HelpFormatter(_formatter):  # type: ignore[misc]  # As above.
    """IPython's, without the markup that it adds for reStructuredText: `<>` around choices, `::` above the usage."""

    _format_action_invocation = argparse.HelpFormatter._format_action_invocation

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = "%") -> None:
        """Take the usage, whose further lines are indented by the prefix too."""
        super().add_usage(usage, actions, groups, prefix)


@dataclass(frozen=True)
class Subcommand:
    """One subcommand of `%fs`.

    Attributes:
        name: the word behind `%fs`.
        run: does the work.
        parser: knows its arguments.
        options: knows those of them that are options.
        summary: one sentence.
        body: whether it takes the rest of the cell.
        tool: the tool that it calls; None where it calls none.
        takes_line: its last argument is the rest of the line as it is, behind its options.
        names: arguments of the tool, by the options that set them, where their names differ.
    """

    name: str
    run: Run
    parser: argparse.ArgumentParser
    options: argparse.ArgumentParser
    summary: str
    body: Body
    tool: str | None
    takes_line: bool
    names: Mapping[str, str]

    @property
    def actions(self) -> list[argparse.Action]:
        """The arguments, as the parser stores them."""
        return list(self.parser._actions)

    def typed(self, body: str | None) -> dict[str, str]:
        """The words that are typed for the arguments of the tool; in a cell with a body, the edits are in the body."""
        words = {}
        for action in self.actions:
            option = action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
            words[self.names.get(action.dest, action.dest)] = option
        return {name: word for name, word in words.items() if body is None or name not in EDIT_FIELDS}

    @property
    def help(self) -> str:
        """The text of `-h`."""
        return self.parser.format_help().strip()

    @property
    def sign(self) -> str:
        """The beginning of a line with this subcommand."""
        return "%%fs" if self.body == "required" else "%fs"

    def asks_for_help(self, words: Sequence[str]) -> bool:
        """Whether `-h` or `--help` is among the options, not as the value of an option, and before any `--`."""
        options, _ = self._split(words)
        return not set(_HELP).isdisjoint(options)

    def parsed(self, words: Sequence[str]) -> argparse.Namespace:
        """The given arguments only; options may come before, between and after the others.

        Raises:
            Invalid: they do not fit.
        """
        before, behind = self._split(words)
        try:
            # Two passes: in one, argparse would skip an optional positional argument that follows an option.
            given, others = self.options.parse_known_args(before)
            return self.parser.parse_args([*others, *behind], given)
        except UsageError as error:
            hint = f"%fs {self.name} -h shows what it takes."
            if "unrecognized arguments" in str(error):
                hint = f"Quote arguments that hold spaces, such as 'a b.txt'. {hint}"
            raise Invalid(f"%fs {self.name}: {error}", hint=hint) from None

    def _split(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """The words that may contain options, and `--` with the words after it.

        `--old VALUE` becomes `--old=VALUE`, so that a value may begin with a dash.
        """
        valued = {option for action in self.actions if action.nargs != 0 for option in action.option_strings}
        before: list[str] = []
        for at, word in enumerate(words):
            if before and before[-1] in valued and before[-1].startswith("--"):
                before[-1] += f"={word}"
            elif word == "--":
                return before, list(words[at:])
            else:
                before.append(word)
        return before, []


def subcommand(
    name: str,
    *arguments: Any,
    body: Body = "none",
    tool: str | None = None,
    takes_line: bool = False,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Run], Run]:
    """Make a function a subcommand of `%fs`.

    Args:
        name: the word behind `%fs`.
        arguments: its arguments, as `argument(...)`; completion depends on the names of positional ones.
        body: whether it takes the rest of the cell.
        tool: the tool that it calls.
        takes_line: its last argument is the rest of the line as it is.
        names: arguments of the tool, by the options that set them, where their names differ.
    """

    def register(run: Run) -> Run:
        summary = (run.__doc__ or "").partition("\n")[0]
        described: Any = run
        for one in reversed(arguments):
            described = one(described)
        described = _kwds(argument_default=argparse.SUPPRESS)(described)
        described = _magic_arguments("%fs " + name if body == "required" else "fs " + name)(described)
        described.parser.formatter_class = _HelpFormatter
        options = _parser(argument_default=argparse.SUPPRESS)
        for one in arguments:
            if one.args[0].startswith("-"):
                one.add_to_parser(options, None)
        command = Subcommand(name, run, described.parser, options, summary, body, tool, takes_line, names)
        SUBCOMMANDS[name] = command
        SIGNS[tool or name] = f"{command.sign} {name}"
        for action in command.actions:
            if action.option_strings:
                OPTIONS.setdefault(action.dest, action.option_strings[-1])
        return run

    return register


def words_of_call(line: str) -> list[str]:
    """The words after `%fs`; for a subcommand with `takes_line` its options, and the rest as one word.

    Raises:
        Invalid: a quote is not closed.
    """
    name, rest = [*line.split(None, 1), "", ""][:2]
    if name not in SUBCOMMANDS or not SUBCOMMANDS[name].takes_line:
        return words_of(line)
    words = [name]
    while option := _LEADING_OPTION.match(rest):
        words += words_of(option[0])
        rest = rest[option.end() :]
    rest = rest.strip()
    return [*words, rest] if rest in _HELP else [*words, "--", rest] if rest else words


def overview() -> str:
    """Every subcommand with its summary."""
    rows = [(f"{command.sign} {name}", command.summary) for name, command in SUBCOMMANDS.items()]
    width = max(len(sign) for sign, _ in rows) + 2
    listed = "\n".join(f"  {sign:<{width}}{summary}" for sign, summary in rows)
    return (
        "Read, search and change files: nobody writes what they have not read.\n\n"
        f"{listed}\n\n"
        "%fs SUBCOMMAND -h explains one. Paths are relative to the root (%fs status shows it). Quote arguments\n"
        "that hold spaces, and a ? at the end of the line, with which IPython asks for help; nothing else is special:\n"
        "backslashes, braces and dollars are taken literally."
    )
