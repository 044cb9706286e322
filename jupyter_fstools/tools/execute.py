"""execute: runs a shell command."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from ..backends.local_disk import LocalDisk
from ..backends.path_names import spelled_for_system
from ..documents.text.shown_lines import collapsed
from ..errors import Disabled, FsToolsError, Invalid, TimedOut, TooLarge
from ..execution.processes import can_run
from ..execution.run import (
    ChangedFiles,
    Ran,
    check_environment,
    check_text,
    environment,
    files_changed_since,
    next_moment,
    run_command,
)
from ..gate.workspace import Workspace
from ..journal.commands import Command, enter, note_not_run, note_outcome
from ..progress import Progress
from ..stores.records import Change, CommandOutcome
from .arguments import Arguments, Seconds, Text
from .search_notes import shown_path
from .tool import Block, Tool, ToolResult, answer_named, text_block

MOST_COMMAND_BYTES = (128 << 10) - 1
"""Linux's limit for one argument of a program."""
_KEPT_CHARACTERS = 4000
"""Characters of a command's output kept in the journal: people can ask the assistant for more."""


class ExecuteArguments(Arguments):
    """The arguments of execute."""

    command: Annotated[Text, Field(description="A line or a script for the shell (bash where there is one, else sh).")]
    cwd: Annotated[Text, Field(description='Folder to run it in, relative to the root; "." is the root.')] = "."
    timeout: Annotated[
        Seconds | None, Field(description="Seconds it may run; it is then ended, and what it printed is returned.")
    ] = None
    env: Annotated[dict[str, Text], Field(default_factory=dict, description="Environment variables to add, by name.")]


def run(workspace: Workspace, arguments: ExecuteArguments) -> ToolResult:
    """Run a command once it is approved, and end it with the call.

    Raises:
        Disabled: commands cannot run here; Rejected, TimedOut: nobody approved it; as `_checked` and `_run`
    """
    disk = workspace.backend
    if not (isinstance(disk, LocalDisk) and can_run()):
        raise Disabled(
            "execute needs files on this machine, and a system with process groups where SIGCHLD is not ignored",
            hint="Use a terminal.",
        )
    command, seconds = _checked(workspace, arguments)
    entry = enter(workspace, command)
    workspace.let_save()
    moment = next_moment()
    ran, entry = _run(workspace, disk, command, entry, seconds)
    changed = _changed_files(workspace, disk, moment)
    data = {
        "cwd": command.folder.path or ".",
        **ran._asdict(),
        "seconds": round(ran.seconds, 3),
        "changed_files": changed.paths,
        "changed_files_truncated": not changed.complete or len(changed.paths) < changed.total,
    }
    return ToolResult("execute", lambda: _shown(ran, changed, seconds), data, entry)


def _run(workspace: Workspace, disk: LocalDisk, command: Command, entry: Change, seconds: float) -> tuple[Ran, Change]:
    """Run a command, and note in its entry how it ended, or that it was not run.

    Raises:
        TimedOut, NotFound, NotADirectory, Denied, Conflict, TooLarge, InputOutput: it was not run.
    """

    def note(ran: Ran) -> None:
        nonlocal entry
        entry = note_outcome(workspace, entry, _outcome(ran))

    try:
        if workspace.cancelled is not None and workspace.cancelled.is_set():
            raise TimedOut("the caller has gone; the command has not been run", hint="Call again.")
        with disk.opened_folder(command.folder.path) as folder:
            path = workspace.paths.key_of(command.folder.path) or "/"
            ran = run_command(
                command.text,
                path,
                environment(path, command.added),
                folder_fd=folder.dir_fd,
                seconds=seconds,
                most=workspace.limits.execute_output_bytes,
                cancelled=workspace.cancelled,
                tell=_teller(workspace),
                ended=note,
            )
    except FsToolsError:
        if entry.ran is None:
            note_not_run(workspace, entry)
        raise
    return ran, entry


def _changed_files(workspace: Workspace, disk: LocalDisk, moment: int) -> ChangedFiles:
    try:
        return files_changed_since(disk, moment, visible=workspace.paths)
    except FsToolsError:
        # The command has run, but may have removed the root.
        return ChangedFiles([], 0, complete=False)


def _checked(workspace: Workspace, arguments: ExecuteArguments) -> tuple[Command, float]:
    """The command and its time limit.

    Raises:
        Invalid, TooLarge; NotFound, NotADirectory, Denied, OutsideRoot: the folder.
    """
    limits = workspace.limits
    if not arguments.command.strip():
        raise Invalid("command: is empty", hint="Give the command to run.", field="command")
    check_text("command", arguments.command)
    if (size := len(os.fsencode(spelled_for_system(arguments.command)))) > MOST_COMMAND_BYTES:
        raise TooLarge(
            f"command: has {size} bytes, more than {MOST_COMMAND_BYTES}",
            hint="Write it to a file with `write_file` and run that file.",
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
    try:
        folder = workspace.paths.existing_folder(arguments.cwd, "Name the folder to run the command in.")
    except FsToolsError as refusal:
        refusal.say_which_argument("cwd")
        raise
    return Command(arguments.command, folder, arguments.env), seconds


def _teller(workspace: Workspace) -> Callable[[str], None] | None:
    progress = workspace.progress
    return None if progress is None else lambda text: progress(Progress("output", text))


def _outcome(ran: Ran) -> CommandOutcome:
    output = collapsed(ran.output)
    note: Any = "timed out" if ran.timed_out else "cancelled" if ran.cancelled else None
    cut = ran.truncated or len(output) > _KEPT_CHARACTERS
    return CommandOutcome(exit_code=ran.exit_code, output=output[-_KEPT_CHARACTERS:], cut=cut, note=note)


def _shown(ran: Ran, changed: ChangedFiles, seconds: float) -> list[Block]:
    """The output as a terminal would show it, and notes about it."""
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
        notes.append("[the search for changed files was not completed: there may be more]")
    return [text_block(collapsed(ran.output).removesuffix("\n") or "(no output)"), text_block("\n".join(notes))]


EXECUTE = Tool(
    name="execute",
    title="Run a command",
    description=(
        "Run a shell command in a folder below the root. It has no input and no terminal. It answers when the command "
        "has ended, with what it printed (of long output the beginning and the end), its exit code and the files it "
        "changed; read them again before you edit them. Its background processes end with it. A person "
        "may have to approve it first: the call waits for that. To read, search and change files use the other tools."
    ),
    arguments=ExecuteArguments,
    run=run,
    reads_only=False,
    destructive=True,
    runs_commands=True,
    answer=answer_named("ExecuteAnswer"),
)
