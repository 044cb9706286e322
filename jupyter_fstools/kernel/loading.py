"""Registers the magics; imports everything heavy on first use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from IPython.core.completer import context_matcher
from IPython.core.magic import no_var_expand

if TYPE_CHECKING:
    import threading

    from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell

    from .magic import Magic

_NAME = "fs"
_KEPT_AS = "_jupyter_fstools_magic"


class MagicHook:
    """Registers `%fs` and `%%fs` with a shell; imports their code on first use.

    Args:
        shell: the shell they are used in.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._folder = _working_directory()
        self._running: list[str] = []
        self._made: Magic | None = None

    # Nothing is expanded: braces and dollars are common characters in the texts that are edited here.
    @no_var_expand
    def fs(self, line: str, cell: str | None = None) -> Any:
        """Read, search and change files through the gate of jupyter-fstools: nobody writes what they have not read.

        `%fs` alone lists what there is, `%fs SUBCOMMAND -h` explains one. Nothing in the line is expanded: `{name}`
        and `$name` mean themselves.
        """
        return self._magic().run(line, cell, self._running)

    # Highest priority: within quotes and slashes other completions make no sense. (IPython's decorator is a partial
    # without a type.)
    @context_matcher(identifier="jupyter_fstools.fs", priority=1000)  # type: ignore[untyped-decorator]
    def complete(self, context: Any) -> Any:
        """Complete subcommands, options and paths after `%fs`, and nothing elsewhere."""
        before = context.text_until_cursor
        if "%fs " not in before:
            return {"completions": []}
        return self._magic().complete(before)

    def note_cell(self, info: ExecutionInfo) -> None:
        """Remember a cell as it was typed: IPython removes `>>>` from the text that it passes to a cell magic."""
        self._running.append(info.raw_cell or "")

    def forget_cell(self, result: Any) -> None:
        """Forget a cell at its end; cells may be nested, as `%%capture` runs one within another."""
        del self._running[-1:]

    def _magic(self) -> Magic:
        if self._made is None:
            from .interrupts import between_interrupts

            # A module whose import is interrupted may be left unusable, or hide the interrupt in another exception.
            self._made = between_interrupts(self._first_used)
        return self._made

    def _first_used(self, cancelled: threading.Event) -> Magic:
        from .magic import Magic

        return Magic(self._shell, self._folder)


def _working_directory() -> str:
    """The working directory; "" if it was removed, so that a root that the settings name can be used nevertheless."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def load(shell: InteractiveShell) -> None:
    """Register `%fs`, `%%fs` and their completion; a second time does nothing."""
    if hasattr(shell, _KEPT_AS):
        return
    hook = MagicHook(shell)
    register: Any = shell.register_magic_function
    register(hook.fs, magic_kind="line_cell", magic_name=_NAME)
    shell.Completer.custom_matchers.append(hook.complete)
    shell.events.register("pre_run_cell", hook.note_cell)
    shell.events.register("post_run_cell", hook.forget_cell)
    setattr(shell, _KEPT_AS, hook)


def unload(shell: InteractiveShell) -> None:
    """Unregister everything that `load` registered."""
    hook: MagicHook | None = getattr(shell, _KEPT_AS, None)
    if hook is None:
        return
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop(_NAME, None)
    shell.Completer.custom_matchers.remove(hook.complete)
    shell.events.unregister("pre_run_cell", hook.note_cell)
    shell.events.unregister("post_run_cell", hook.forget_cell)
    delattr(shell, _KEPT_AS)
