"""Runs and completes `%fs` lines and cells; shows refusals."""

from __future__ import annotations

import difflib
import posixpath
import re
import shlex
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from IPython.core.completer import SimpleCompletion

from ..errors import FsToolsError, Invalid
from ..journal.listing import ChangeQuery
from ..plain_text import one_line
from ..tools import TOOLS
from . import subcommands

# The overview lists the subcommands in the order of these imports.
# isort: split
from . import cell_subcommands, renderers
from .arguments import SUBCOMMANDS, Subcommand, overview, words_of_call
from .desk import Desk
from .result import HelpText, KernelResult
from .wording import quoted, refusal_lines, words_of

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Magic", "cell_subcommands", "renderers", "subcommands"]
_LINE = re.compile(r"\s*(?:[\w.,\[\]'\" ]+=\s*)?(%%?)fs[ \t]+")
_ABOVE = re.compile(r"\A(?:[^\S\n]*\n|%%(?!fs\s).*\n)+")
"""Matches the lines allowed above the `%%fs` of a cell: empty ones, and other cell magics such as `%%capture`."""
_MOST_OFFERED = 300


class Completion:
    """Completes lines of `%fs`, for the files of one kernel."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def matches(self, before: str) -> Any:
        """The completions at the cursor, in the form of an IPython matcher (API version 2).

        Args:
            before: the line up to the cursor.
        """
        found = _LINE.match(before)
        if found is None:
            return {"completions": []}
        finished, fragment = _split(before[found.end() :])
        offered = list(islice(self._offered(finished, fragment, in_cell=found[1] == "%%"), _MOST_OFFERED))
        # IPython suppresses its own completions only if this list is not empty.
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
            # An option that was offered as a value would be taken for one.
            return _beginning(fragment, before.choices or [fragment], "param")
        return self._positional(command, fragment)

    def _positional(self, command: Subcommand, fragment: str) -> Iterable[tuple[str, str]]:
        wanted = {action.dest for action in command.actions if not action.option_strings}
        try:
            if "change_id" in wanted:
                return _beginning(fragment, self._changes(), "text")
            if wanted & {"path", "command"}:
                return self._paths(fragment, for_shell=command.takes_line)
            if "target" in wanted:
                return [*self._paths(fragment), *_beginning(fragment, self._changes(), "text")]
        except FsToolsError:
            # The folder does not exist, or is denied: there is nothing to offer.
            pass
        return []

    def _changes(self) -> list[str]:
        return [change.id for change in self._desk.files.changes(ChangeQuery(limit=20))[0]]

    def _paths(self, fragment: str, *, for_shell: bool = False) -> list[tuple[str, str]]:
        quote = fragment[:1] if fragment[:1] in ("'", '"') else ""
        folder, name = posixpath.split(fragment[len(quote) :])
        offered = []
        for one in self._desk.files.names(folder, name):
            path = posixpath.join(folder, one.name)
            if _fits(one.name, name) and one_line(path) == path:
                kind = "directory" if one.is_directory else "file"
                offered.append((kind, _spelled(path, kind, quote, for_shell)))
        return [(text, "path") for _, text in sorted(offered)]


def _fits(name: str, beginning: str) -> bool:
    return name.startswith(beginning) and (name[0] != "." or bool(beginning))


def _split(line: str) -> tuple[list[str], str]:
    """The finished words of a line, and the literal text of the word at the cursor."""
    quote, start = "", 0
    for at, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character.isspace():
            start = at + 1
    return words_of(line[:start]), line[start:]


def _spelled(path: str, kind: str, quote: str, for_shell: bool) -> str:
    """A path as written into the line; a folder's quote is left open, so that its path can be continued.

    A shell has more special characters than spaces and quotes, and `$` is special within double quotes, too.
    """
    path = f"./{path}" if path.startswith("-") else path
    path = path if kind == "file" else f"{path}/"
    spelled = shlex.quote(path) if for_shell else quoted(path)
    if quote and (spelled == path or (quote not in path and not for_shell)):
        spelled = f"{quote}{path}{quote}"
    return spelled if kind == "file" or spelled == path else spelled[:-1]


def _beginning(fragment: str, words: Iterable[str], kind: str) -> Iterable[tuple[str, str]]:
    return ((word, kind) for word in words if word.startswith(fragment))


def _options(command: Subcommand) -> list[str]:
    named = [option for action in command.actions for option in action.option_strings]
    return [*(option for option in named if option.startswith("--")), "--help"]


def _action(command: Subcommand, word: str) -> Any:
    return next((action for action in command.actions if word in action.option_strings), None)


class Magic:
    """`%fs` and `%%fs` of one shell.

    Args:
        shell: the shell they are used in.
        folder: the root, unless the settings name one.
    """

    def __init__(self, shell: InteractiveShell, folder: str) -> None:
        self._shell = shell
        self._desk = Desk(shell.config, folder)
        self._completion = Completion(self._desk)

    def run(self, line: str, cell: str | None, running: Sequence[str] = ()) -> KernelResult | HelpText:
        """Run one line, or one cell.

        Args:
            line: the text after `%fs` or `%%fs`.
            cell: the rest of the cell as IPython passes it; None for `%fs`.
            running: the cells that are running, as they were typed; each runs the next one.

        Raises:
            FsToolsError: refused; IPython shows it as a short message.
        """
        typed: dict[str, str] = {}
        try:
            words = words_of_call(line)
            if not words or words[0] in ("-h", "--help"):
                return HelpText(overview())
            command = _subcommand(words[0])
            if command.asks_for_help(words[1:]):
                return HelpText(command.help)
            body = None if cell is None else self._as_typed(line, cell, running)
            typed = command.typed(body)
            _require_fitting_body(command, body)
            return command.run(self._desk, command.parsed(words[1:]), body)
        except FsToolsError as refusal:
            if _changes_files(line):
                refusal.say_unmodified()
            # IPython calls this to show the exception: with subcommands in its hint, and with the diff.
            refusal._render_traceback_ = partial(refusal_lines, refusal, typed)  # type: ignore[method-assign]
            raise

    def complete(self, before: str) -> Any:
        """The completions at the cursor, in the form of IPython's completer; `before` is the line up to the cursor."""
        return self._completion.matches(before)

    def _as_typed(self, line: str, cell: str, running: Sequence[str]) -> str:
        """The cell's body as it was typed: IPython's clean-up removes prompts (`>>>`) from the text.

        The final newline stays: IPython ends every cell with one.
        """
        called = f"get_ipython().run_cell_magic({'fs'!r}, {line!r}, {cell!r})\n"
        transform: Any = self._shell.transform_cell
        for raw_cell in running:
            typed = _ABOVE.sub("", raw_cell)
            head, _, body = typed.partition("\n")
            body = body if body.endswith("\n") else f"{body}\n"
            # Only if it is exactly this cell: another one may have called the magic by its name.
            if head.startswith("%%fs") and body not in ("\n", cell) and transform(typed) == called:
                return body
        return cell


def _subcommand(name: str) -> Subcommand:
    if name in SUBCOMMANDS:
        return SUBCOMMANDS[name]
    near = difflib.get_close_matches(name, SUBCOMMANDS, 1)
    hint = f"Did you mean %fs {near[0]}?" if near else "%fs alone lists what there is."
    raise Invalid(f"%fs has no subcommand {name[:60]!r}", hint=hint, field="subcommand")


def _changes_files(line: str) -> bool:
    """Whether the line's subcommand calls a tool that may change files."""
    command = SUBCOMMANDS.get((line.split(None, 1) or [""])[0])
    return command is not None and command.tool is not None and not TOOLS[command.tool].reads_only


def _require_fitting_body(command: Subcommand, body: str | None) -> None:
    if body is None and command.body == "required":
        raise Invalid(
            f"%fs {command.name} takes its text from the cell",
            hint=f"Begin a cell with %%fs {command.name} and go on in the next line.",
            field="body",
        )
    if body is not None and command.body == "none":
        raise Invalid(
            f"%fs {command.name} takes no text from the cell",
            hint=f"Use %fs {command.name} (one %).",
            field="body",
        )
