"""Runs one `%fs` line or cell and shows refusals."""

from __future__ import annotations

import difflib
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import FsToolsError, Invalid
from ..tools import TOOLS
from . import cell_subcommands, renderers, shell_subcommand, subcommands
from .arguments import SUBCOMMANDS, Subcommand, overview, words_of_call
from .completion import Completion
from .desk import Desk
from .result import HelpText, KernelResult
from .wording import refusal_lines

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Magic", "cell_subcommands", "renderers", "shell_subcommand", "subcommands"]


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

    def run(self, line: str, cell: str | None, raw_cell: str = "") -> KernelResult | HelpText:
        """Run one line, or one cell.

        Args:
            line: what stands behind `%fs` or `%%fs`.
            cell: the rest of the cell as IPython hands it over; None for `%fs`.
            raw_cell: the cell that is running, as it was typed.

        Raises:
            FsToolsError: refused; IPython shows it as a short message.
        """
        try:
            words = words_of_call(line)
            if not words or words[0] in ("-h", "--help"):
                return HelpText(overview())
            command = _subcommand(words[0])
            if command.asks_for_help(words[1:]):
                return HelpText(command.help)
            body = None if cell is None else self._as_typed(line, cell, raw_cell)
            _require_fitting_body(command, body)
            return command.run(self._desk, command.parsed(words[1:]), body)
        except FsToolsError as refusal:
            if isinstance(refusal, Invalid) and _changes_files(line):
                refusal.say_unmodified()
            # IPython asks the exception itself how to show it; here it speaks of subcommands and shows the diff.
            refusal._render_traceback_ = partial(refusal_lines, refusal)  # type: ignore[method-assign]
            raise

    def complete(self, before: str) -> Any:
        """What may stand at the cursor, as IPython's completer takes it; `before` is the line up to there."""
        return self._completion.matches(before)

    def _as_typed(self, line: str, cell: str, raw_cell: str) -> str:
        """The cell's body without IPython's clean-up, which takes prompts (`>>>`) out of the text.

        The final newline stays: IPython ends every cell with one.
        """
        typed = raw_cell.lstrip("\r\n")
        head, _, body = typed.partition("\n")
        if not head.startswith("%%fs") or not body:
            return cell
        body = body if body.endswith("\n") else f"{body}\n"
        if body == cell:
            return cell
        # Only if it is this very cell: another one may have called the magic by its name.
        called = f"get_ipython().run_cell_magic({'fs'!r}, {line!r}, {cell!r})\n"
        transform: Any = self._shell.transform_cell
        return body if transform(raw_cell) == called else cell


def _subcommand(name: str) -> Subcommand:
    if name in SUBCOMMANDS:
        return SUBCOMMANDS[name]
    near = difflib.get_close_matches(name, SUBCOMMANDS, 1)
    hint = f"Did you mean %fs {near[0]}?" if near else "%fs alone lists what there is."
    raise Invalid(f"%fs has no subcommand {name[:60]!r}", hint=hint, field="subcommand")


def _changes_files(line: str) -> bool:
    """The line's subcommand calls a tool that may change files."""
    command = SUBCOMMANDS.get(line.partition(" ")[0])
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
