"""Implements the `%fs` subcommands for cells of notebooks and for shell commands."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from typing import Any

from ..errors import Invalid
from ..plain_text import one_line
from ..progress import Progress
from .arguments import argument, subcommand
from .desk import Desk
from .edit_blocks import called_with_edits
from .result import KernelResult
from .wording import OPTIONS

_MODES = ("replace", "edit", "insert", "delete", "move", "convert", "clear_outputs")
_WITH_BODY = ("replace", "insert", "edit")
_READING = {
    "outputs": "outputs",
    "output": "output_index",
    "offset": "source_offset",
    "limit": "source_limit",
    "column": "source_column",
}
_EDITING = {
    "mode": "edit_mode",
    "type": "cell_type",
    "old": "old_string",
    "new": "new_string",
    **{name: name for name in ("replace_all", "after", "before", "at", "after_index", "before_index", "keep_outputs")},
}
_OUTPUTS = ("summary", "none", "full")
OPTIONS.update(
    {argument: f"--{option}" for option, argument in {**_READING, "mode": "edit_mode", "type": "cell_type"}.items()}
)


@subcommand(
    "cells",
    argument("path", help="the notebook, relative to the root"),
    argument("--offset", metavar="N", help="index of the first cell to show, from 0"),
    argument("--limit", metavar="N", help="how many cells to show"),
    argument("--outputs", choices=_OUTPUTS, help="summary: how they begin; none; full: as much as fits, with pictures"),
    tool="read_notebook",
)
def cells(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show the cells of a notebook; what was shown may be changed."""
    return desk.call("read_notebook", vars(given))


@subcommand(
    "cell",
    argument("path", help="the notebook, relative to the root"),
    argument("cell_id", nargs="?", metavar="ID", help="the cell; for insert: the cell to insert after"),
    argument("--index", metavar="N", help="the cell by its index, from 0, where its id is not unique"),
    argument("--outputs", choices=_OUTPUTS, help="what to show of its outputs"),
    argument("--output", metavar="N", help="show only this output, from 0"),
    argument("--offset", metavar="N", help="first line of the source to show, 1-based"),
    argument("--limit", metavar="N", help="how many lines of the source to show"),
    argument("--column", metavar="N", help="first character of that line to show, 1-based"),
    argument("--mode", choices=_MODES, help="how to change it (default with text in the cell: replace)"),
    argument("--old", metavar="S", help="the exact text to replace in it; it must occur exactly once"),
    argument("--new", metavar="S", help="the text to put in its place; '' to delete"),
    argument("--all", dest="replace_all", action="store_true", help="replace every occurrence"),
    argument("--type", choices=("code", "markdown", "raw"), help="the type of a new or converted cell"),
    argument("--after", metavar="ID", help="insert, move: place it after this cell"),
    argument("--before", metavar="ID", help="insert, move: place it before this cell"),
    argument("--at", choices=("start", "end"), help="insert, move: place it at the start or end"),
    argument("--after-index", metavar="N", help="like --after, by index"),
    argument("--before-index", metavar="N", help="like --before, by index"),
    argument("--keep-outputs", action="store_true", help="keep the outputs when the source changes"),
    body="optional",
    tool="edit_notebook",
    names=_READING | _EDITING,
)
def cell(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Show a cell of a notebook, or change it.

    The rest of a %%fs cell is the new source, without the newline at its end: %%fs cell PATH ID replaces,
    %%fs cell PATH --mode insert --after ID --type code inserts. With --mode edit it holds blocks as in %%fs edit.
    In a line, --mode delete, move, convert and clear_outputs change the cell, and --old with --new a part of it;
    %fs cell PATH ID alone shows it.
    """
    told = vars(given)
    place: dict[str, Any] = {name: told[name] for name in ("path", "cell_id", "index") if name in told}
    asked = {_EDITING[name]: value for name, value in told.items() if name in _EDITING}
    if body is None and not asked:
        if "cell_id" not in place and "index" not in place:
            raise Invalid("%fs cell: name the cell", hint="%fs cells PATH shows their ids.", field="cell_id")
        return desk.call("read_notebook", place | {_READING[name]: told[name] for name in _READING if name in told})
    reading = next((name for name in _READING if name in told), None)
    if reading is not None:
        raise Invalid(f"--{reading} is for showing a cell, not for changing it", hint="Leave it out.", field=reading)
    change = _change(place, asked, body)
    if body is None or change["edit_mode"] != "edit":
        return desk.call("edit_notebook", change)

    path = change.pop("path")
    return called_with_edits(body, lambda edits: desk.call("edit_notebook", {"path": path, "edits": edits}), change)


def _change(place: dict[str, Any], asked: dict[str, Any], body: str | None) -> dict[str, Any]:
    """The arguments of `edit_notebook`."""
    in_line = "old_string" in asked or "new_string" in asked
    mode = asked.setdefault("edit_mode", "edit" if in_line else "insert" if _has_place(asked) else "replace")
    if body is None:
        if mode in ("replace", "insert"):
            raise Invalid(
                f"%fs cell: {mode} takes the source from the cell",
                hint="Begin a cell with %%fs cell and go on in the next line.",
                field="body",
            )
        return place | asked
    if mode not in _WITH_BODY or in_line:
        raise Invalid(f"%%fs cell: {mode} takes no text from the cell", hint="Use %fs cell (one %).", field="body")
    if mode == "edit":
        return place | asked
    # IPython ends every cell with a newline, while a notebook's source ends without one.
    return place | asked | {"new_source": body.removesuffix("\n")}


def _has_place(asked: dict[str, Any]) -> bool:
    return any(name in asked for name in ("after", "before", "at", "after_index", "before_index"))


_WITHIN_LINES = re.compile(r"[^\r\n]+")


@subcommand(
    "sh",
    argument("--cwd", metavar="PATH", help="the folder to run it in (default: the root)"),
    argument("--timeout", metavar="S", help="seconds that it may run"),
    argument("command", nargs="?", metavar="CMD", help="the rest of the line, unchanged"),
    body="optional",
    tool="execute",
    takes_line=True,
)
def sh(desk: Desk, given: Namespace, body: str | None) -> KernelResult:
    """Run a shell command, where that is enabled and once a person has approved it.

    The rest of the line is the command, quotes and all; or the rest of a %%fs sh cell is a script. Its output is shown
    as it comes; interrupting the kernel ends it. An exit code other than 0 is a result, not an error:
    r = %fs sh CMD, then r.data["exit_code"].
    """
    arguments = dict(vars(given))
    if body is not None:
        if "command" in arguments:
            raise Invalid(
                "the command is given in the line and in the cell", hint="Give it in one of the two.", field="command"
            )
        arguments["command"] = body
    elif "command" not in arguments:
        raise Invalid(
            "%fs sh: CMD is required", hint="Write it behind %fs sh, or a script into a %%fs sh cell.", field="command"
        )
    return desk.call("execute", arguments, _show)


def _show(progress: Progress) -> None:
    """Show a running command's output, without terminal control characters."""
    text = _WITHIN_LINES.sub(lambda line: one_line(line[0]), progress.text)
    if sys.stdout is not None:  # A program without a console has none.
        sys.stdout.write(f"{text}\n" if progress.kind == "waiting" else text)
        sys.stdout.flush()
