"""execute: runs a shell command."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from ..backends.local_disk import LocalDisk
from ..documents.notebook.terminal_text import collapsed
from ..errors import Disabled, Invalid, NotADirectory, TimedOut, TooLarge
from ..execution.changed_files import MOST_SECONDS, ChangedFiles, files_changed_since, next_moment
from ..execution.processes import can_run
from ..execution.run import Ran, check_environment, check_text, environment, run_command
from ..gate.workspace import Workspace
from ..journal.commands import Command, enter
from ..progress import Progress
from .arguments import Arguments, Seconds, Text
from .search_notes import shown_path
from .tool import Block, Tool, ToolResult, text_block

MOST_COMMAND_BYTES = (128 << 10) - 1
"""What Linux takes as one argument of a program."""


class ExecuteArguments(Arguments):
    """What execute takes."""

    command: Annotated[Text, Field(description="A line or a script for the shell (bash where there is one, else sh).")]
    cwd: Annotated[Text, Field(description='Folder to run it in, relative to the root; "." is the root.')] = "."
    timeout: Annotated[
        Seconds | None, Field(description="Seconds it may run; then it is ended, with what it printed by then.")
    ] = None
    env: Annotated[dict[str, Text], Field(default_factory=dict, description="Environment variables to add, by name.")]


def run(workspace: Workspace, arguments: ExecuteArguments) -> ToolResult:
    """Run a command once it may be run, and end it with the call."""
    limits, disk = workspace.limits, workspace.backend
    if not (isinstance(disk, LocalDisk) and can_run()):
        raise Disabled(
            "execute takes files of this machine, and a system with process groups where SIGCHLD is not ignored",
            hint="Use a terminal.",
        )
    command, seconds = _checked(workspace, arguments)
    entry = enter(workspace, command)
    if workspace.cancelled is not None and workspace.cancelled.is_set():
        raise TimedOut("the caller has gone; the command has not been run", hint="Call again.")
    moment = next_moment()
    with disk.opened_folder(command.folder.path) as folder:
        path = workspace.key_of(command.folder.path) or "/"
        ran = run_command(
            command.text,
            path,
            environment(path, command.added),
            folder_fd=folder.dir_fd,
            seconds=seconds,
            most=limits.execute_output_bytes,
            cancelled=workspace.cancelled,
            tell=_teller(workspace),
        )
    changed = files_changed_since(disk, moment, may_read=workspace.may_read, all_allowed=workspace.all_allowed)
    data = {
        "cwd": command.folder.path or ".",
        **ran._asdict(),
        "seconds": round(ran.seconds, 3),
        "changed_files": changed.paths,
        "changed_files_truncated": not changed.complete or len(changed.paths) < changed.total,
    }
    return ToolResult(tool="execute", content=_shown(ran, changed, seconds), data=data, change=entry)


def _checked(workspace: Workspace, arguments: ExecuteArguments) -> tuple[Command, float]:
    """The command and its time.

    Raises:
        Invalid, TooLarge; NotFound, NotADirectory, Denied, OutsideRoot: the folder.
    """
    limits = workspace.limits
    if not arguments.command.strip():
        raise Invalid("command: is empty", hint="Say what to run.", field="command")
    check_text("command", arguments.command)
    if (size := len(os.fsencode(arguments.command))) > MOST_COMMAND_BYTES:
        raise TooLarge(
            f"command: has {size} bytes, more than {MOST_COMMAND_BYTES}",
            hint="Write it into a file with `write_file` and run that.",
        )
    check_environment(arguments.env)
    seconds = min(limits.execute_seconds, limits.max_execute_seconds)
    seconds = seconds if arguments.timeout is None else arguments.timeout
    if seconds > limits.max_execute_seconds:
        raise Invalid(
            f"timeout: takes up to {limits.max_execute_seconds:g} seconds, got {seconds:g}",
            hint="Name a shorter time, in seconds.",
            field="timeout",
        )
    folder = workspace.peek(arguments.cwd)
    if folder.kind == "missing":
        raise workspace.not_found(arguments.cwd, folder)
    if folder.kind != "directory":
        raise NotADirectory(f"{arguments.cwd!r} is not a folder", hint="Name the folder to run the command in.")
    return Command(arguments.command, folder, arguments.env), seconds


def _teller(workspace: Workspace) -> Callable[[str], None] | None:
    progress = workspace.progress
    return None if progress is None else lambda text: progress(Progress("output", text))


def _shown(ran: Ran, changed: ChangedFiles, seconds: float) -> list[Block]:
    """The output as a terminal would show it, and what is said beside it."""
    notes = [f"[exit code {ran.exit_code}]"]
    if ran.timed_out:
        notes = [f"[ended after {seconds:g} seconds (timeout): exit code {ran.exit_code}]"]
    elif ran.cancelled:
        notes = ["[ended: the call was cancelled]"]
    if changed.paths:
        more = changed.total - len(changed.paths)
        listed = ", ".join(map(shown_path, changed.paths))
        notes.append(f"[files changed: {listed}{f' and {more} more' if more else ''}]")
    if not changed.complete:
        notes.append(f"[changed files were looked for during {MOST_SECONDS:g} second only: there may be more]")
    return [text_block(collapsed(ran.output).removesuffix("\n") or "(no output)"), text_block("\n".join(notes))]


EXECUTE = Tool(
    name="execute",
    title="Run a command",
    description=(
        "Run a shell command in a folder below the root. It has no input and no terminal. It answers when the command "
        "has ended, with what it printed (of much output the beginning and the end), its exit code and the files it "
        "changed; read them again before you edit them. What it leaves in the background is ended with it. A person "
        "may have to approve it first: the call waits for that. To read, search and change files use the other tools."
    ),
    arguments=ExecuteArguments,
    run=run,
    reads_only=False,
    destructive=True,
    runs_commands=True,
)
