"""Implements `%fs sh` with live output."""

from __future__ import annotations

import re
import sys
from argparse import Namespace

from ..errors import Invalid
from ..plain_text import one_line
from ..progress import Progress
from .arguments import argument, subcommand
from .desk import Desk
from .result import KernelResult

_WITHIN_LINES = re.compile(r"[^\r\n]+")


@subcommand(
    "sh",
    argument("--cwd", metavar="PATH", help="the folder to run it in; left out: the root"),
    argument("--timeout", metavar="S", help="seconds it may run"),
    argument("command", nargs="?", metavar="CMD", help="the rest of the line, as it is"),
    body="optional",
    tool="execute",
    takes_line=True,
)
def sh(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Run a shell command; where that is enabled, and once a person approved it.

    The rest of the line is the command, quotes and all; or the rest of a %%fs sh cell is a script. What it prints is
    shown as it comes; interrupting the kernel ends it. An exit code other than 0 is a result, not an error:
    r = %fs sh CMD, then r.data["exit_code"].
    """
    arguments = dict(vars(given))
    if body is not None:
        if "command" in arguments:
            raise Invalid(
                "the command is given in the line and in the cell", hint="Give it in one of both.", field="command"
            )
        arguments["command"] = body
    return desk.call("execute", arguments, _show)


def _show(progress: Progress) -> None:
    """Show what a running command tells, and nothing that a terminal would obey."""
    text = _WITHIN_LINES.sub(lambda line: one_line(line[0]), progress.text)
    sys.stdout.write(f"{text}\n" if progress.kind == "waiting" else text)
    sys.stdout.flush()
