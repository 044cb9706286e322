"""Keeps commands that wait for approval while their caller waits."""

from __future__ import annotations

import logging
import secrets
import shlex
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ..backends.protocol import FileStat
from ..diffs.file_diff import DiffHunk, DiffRow, FileDiff
from ..errors import Conflict, FsToolsError, InputOutput, Rejected, TimedOut
from ..gate.workspace import Workspace
from ..progress import Progress
from ..sessions import system_user
from ..stores.records import Change, ChangeStatus, CommandOutcome
from ..walking.stopping import Stop

_log = logging.getLogger("jupyter_fstools")
_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_TO_WITHDRAW = 1.0
_SECONDS_TO_TAKE_UP = 5.0
"""Time in which a call that waits in another process takes up the approval of its command."""
_waiting_here: set[str] = set()
"""Commands whose calls wait in this process: as long as it lives they take up an approval."""


class Command(NamedTuple):
    """A command to run.

    Attributes:
        text: for the shell.
        folder: where.
        added: variables added to its environment.
    """

    text: str
    folder: FileStat
    added: Mapping[str, str]


def is_command(change: Change) -> bool:
    """Whether a journal entry is about a command rather than a file."""
    return change.diff.op == "execute"


def enter(workspace: Workspace, command: Command) -> Change:
    """Enter a command into the journal, and where a person must approve it wait for that.

    The rule: nothing runs unattended. A command runs only in the call that asked for it, so an approval counts only
    while that call waits (`execute_approval_seconds`, or until its caller goes away). A proposal without a waiting
    call is withdrawn: it becomes `rejected`, without a user who decided.

    Returns:
        The entry, `applied`: the command may be run now, once.

    Raises:
        Rejected: by the person; TimedOut: nobody decided, or the caller has gone.
    """
    status: ChangeStatus = "proposed" if workspace.rules.execute_approval else "applied"
    entry = workspace.store.add_change(_entry(workspace, command, status), b"")
    if status == "proposed":
        return _approved(workspace, entry)
    workspace.settled(entry)
    return entry


def note_outcome(workspace: Workspace, entry: Change, outcome: CommandOutcome) -> Change:
    """Keep the outcome of a command; never raises, for the command has run."""
    return _noted(workspace, entry, "applied", {"ran": outcome})


def note_not_run(workspace: Workspace, entry: Change) -> None:
    """Withdraw a command that was not started; never raises, for its caller is told the reason."""
    _noted(workspace, entry, "rejected", _by_nobody(workspace))


def _by_nobody(workspace: Workspace) -> dict[str, Any]:
    return {"decided_at": workspace.store.now(), "decided_by": None, "decided_via": None}


def _noted(workspace: Workspace, entry: Change, status: ChangeStatus, facts: dict[str, Any]) -> Change:
    try:
        noted = _recorded(workspace, entry, status, facts)
    except FsToolsError as problem:
        _log.warning("The outcome of command %s is not in the journal: %s", entry.id, problem.message)
        noted = None
    return noted or entry.model_copy(update=facts)


def _recorded(
    workspace: Workspace, entry: Change, status: ChangeStatus, facts: dict[str, Any], *, unless_told: bool = False
) -> Change | None:
    """Record facts about an applied command; None: it has been withdrawn, or its caller was told of the approval."""
    # This reader's workspace waits for the lock, while the call's own would restart the call: a command runs once.
    waiting = workspace.for_reader(workspace.reader)
    with waiting.held(*entry.keys):
        # Read again: a person may have marked the entry as seen meanwhile.
        found = workspace.store.change(entry.id) or entry
        if unless_told and found.told:
            return None
        record = found.model_copy(update=facts)
        at, by = record.decided_at, record.decided_by
        noted = workspace.store.decide(record.id, "applied", status, decided_at=at, decided_by=by, record=record)
    if noted is not None:
        workspace.settled(noted)
    return noted


def require_waiting(workspace: Workspace, entry: Change) -> None:
    """Refuse a decision about a command whose caller has gone.

    Raises:
        Conflict
    """
    withdrawn = entry.status == "rejected" and entry.decided_by is None
    # A caller that was killed while it waited could not withdraw its command.
    oldest = workspace.store.now() - workspace.limits.execute_approval_seconds - _SECONDS_TO_WITHDRAW
    if withdrawn or (entry.status == "proposed" and entry.created_at < oldest):
        _withdraw(workspace, entry)
        raise _nobody_waits(entry)


def taken_up(workspace: Workspace, approved: Change) -> Change:
    """The entry of an approved command once the call that waits for it has taken the approval up.

    Raises:
        Conflict: no call does, as its process was killed; the command is withdrawn, and is never run.
    """
    if approved.id in _waiting_here:
        return approved
    stop = Stop(_SECONDS_TO_TAKE_UP)
    while not stop.now():
        found = workspace.store.change(approved.id) or approved
        if found.told or found.status != "applied":
            return found
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    if _recorded(workspace, approved, "rejected", _by_nobody(workspace), unless_told=True) is not None:
        raise _nobody_waits(approved)
    return workspace.store.change(approved.id) or approved


def _nobody_waits(entry: Change) -> Conflict:
    return Conflict(
        f"nobody waits for command {entry.id} any more; it has not been run",
        hint="Ask the assistant to request it again.",
    )


def _approved(workspace: Workspace, proposal: Change) -> Change:
    _waiting_here.add(proposal.id)
    try:
        workspace.settled(proposal)
        if workspace.progress is not None:
            said = f"Waiting for a person to approve the command (change {proposal.id})."
            workspace.progress(Progress("waiting", said, proposal.id))
        _wait(workspace, proposal)
    finally:
        _waiting_here.discard(proposal.id)
        # From here on nobody can approve it; an earlier decision stands.
        _withdraw(workspace, proposal)
    decided = workspace.store.change(proposal.id)
    if decided is not None and decided.status == "applied":
        # If this process was suspended, the one that approved the command may have withdrawn it.
        if (told := _recorded(workspace, decided, "applied", {"told": True})) is not None:
            return told
        decided = workspace.store.change(proposal.id)
    if decided is not None and decided.decided_by is None:
        raise TimedOut(
            f"nobody decided about command {proposal.id} in time; it has not been run",
            hint="Ask the person to look at the proposed changes, then call again: it is proposed again.",
            change_id=proposal.id,
        )
    raise rejection(decided or proposal)


def rejection(change: Change) -> Rejected:
    """The refusal that reports a person's rejection to the proposer of a change or a command."""
    reason = change.decided.reason if change.decided is not None else None
    what, left = ("command", "run") if is_command(change) else ("change", "written")
    return Rejected(
        f"a person rejected {what} {change.id}{f': {reason}' if reason else ''}; it has not been {left}",
        hint="Ask what to do instead.",
        change_id=change.id,
        reason=reason,
    )


def _wait(workspace: Workspace, proposal: Change) -> None:
    """Wait until a person decided, the time is up, or the caller has gone."""
    stop = Stop(workspace.limits.execute_approval_seconds, workspace.cancelled)
    seen = proposal.revision
    while not stop.now():
        with suppress(InputOutput):  # While the store is away nobody can decide; once it is back, they can again.
            if (revision := workspace.store.revision()) != seen:
                found = workspace.store.change(proposal.id)
                if found is None or found.status != "proposed":
                    return
                seen = revision
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _withdraw(workspace: Workspace, proposal: Change) -> None:
    withdrawn = workspace.store.decide(proposal.id, "proposed", "rejected", decided_at=workspace.store.now())
    if withdrawn is not None:
        workspace.settled(withdrawn)


def _entry(workspace: Workspace, command: Command, status: ChangeStatus) -> Change:
    # The root itself is ".": an empty path would not lie below it.
    path = command.folder.path or "."
    rows = [
        DiffRow(kind="context", old=0, new=0, text=f"{name}={shlex.quote(value)}")
        for name, value in command.added.items()
    ]
    lines = command.text.removesuffix("\n").split("\n")
    rows += [DiffRow(kind="add", old=0, new=number, text=line) for number, line in enumerate(lines, 1)]
    hunk = DiffHunk(old_start=0, old_count=0, new_start=1, new_count=len(lines), rows=rows)
    return Change(
        id=f"c{secrets.token_hex(6)}",
        key=workspace.paths.key_of(path),
        path=path,
        tool="execute",
        user=workspace.reader.user,
        session=workspace.reader.session,
        created_at=workspace.store.now(),
        status=status,
        before=None,
        after=None,
        diff=FileDiff(path=path, op="execute", kind="command", added=len(lines), hunks=[hunk]),
        undoable=False,
        account=system_user(),
    )
