"""Tells a session once what a person decided about its changes."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import replace

from ..errors import FsToolsError
from ..gate.workspace import Workspace
from ..stores.records import Change, ChosenHunks
from .commands import is_command
from .journal import Journal
from .listing import ChangeQuery

_TITLE = "Since your last call, a person decided about changes of yours:"
_MOST_CHARACTERS = 2000
"""A call reports at most so many changes; the next one reports the rest."""
_MOST_OF_REASON = 1000
_MOST_OF_TITLE = 200
_MOST_HUNKS = 20
_MOST_READERS = 10_000
_PAGE = 100
_MOST_WAITING = 1000

_log = logging.getLogger("jupyter_fstools")


def follow(workspace: Workspace, change: Change) -> None:
    """Have a later call report to a change's reader what was decided about it, or is decided from now on."""
    followed = workspace.followed.get(change.reader, {})
    for paths, (revision, waiting) in list(followed.items()):
        begins = revision if waiting else change.revision - 1
        followed[paths] = begins, waiting | {change.id}


def decided_since(workspace: Workspace) -> str:
    """The decisions since the reader's last call, in about 3,000 characters; empty where there are none.

    While nothing of the reader waits, only the first call in a process looks into the journal. It never raises: a call
    is answered whatever the store does.
    """
    followed = workspace.followed.get(workspace.reader, {}).get(_paths(workspace))
    if followed is not None and not followed[1]:
        return ""
    try:
        lines = _told(workspace, followed)
    except FsToolsError as problem:
        _log.debug("Decisions are told by a later call: %s", problem.message)
        return ""
    return "\n".join([_TITLE, *lines]) if lines else ""


def heard(workspace: Workspace, change: Change) -> None:
    """Note that a change of this reader was reported to them in another way."""
    if change.reader == workspace.reader and _is_news(change):
        with suppress(FsToolsError):
            Journal(workspace).note_told(change.id)


def _told(workspace: Workspace, followed: tuple[int, frozenset[str]] | None) -> list[str]:
    revision, waiting = followed or (0, frozenset[str]())
    journal, lines = Journal(workspace), list[str]()
    after = None if followed is None else revision
    query = ChangeQuery(reader=workspace.reader, after=after, limit=_PAGE, rows=False)
    found: dict[str, Change] = {}
    if followed is None:  # A proposal may have waited for longer than a page of changes.
        proposed = journal.changes(replace(query, status="proposed", limit=_MOST_WAITING))
        found = {change.id: change for change in proposed}
    found |= {change.id: change for change in journal.changes(query)}
    for change in sorted(found.values(), key=lambda change: change.revision):
        if not is_command(change):
            waiting |= {change.id}
        if _is_news(change):
            # A decision that does not fit, or cannot be noted now, is left for the next call.
            if sum(map(len, lines)) > _MOST_CHARACTERS:
                break
            try:
                lines += [_line(change)] if journal.note_told(change.id) else []
            except FsToolsError:
                break
        if change.status not in ("proposed", "pending"):
            waiting -= {change.id}
        revision = change.revision
    if len(workspace.followed) > _MOST_READERS:
        workspace.followed.clear()  # Each reader's next call looks into the journal again.
    workspace.followed.setdefault(workspace.reader, {})[_paths(workspace)] = revision, waiting
    return lines


def _paths(workspace: Workspace) -> tuple[str, ...]:
    """The paths to which the reader is limited: other calls of the same session may see more of its changes."""
    grant = workspace.paths.grant
    return () if grant is None else grant.paths


def _is_news(change: Change) -> bool:
    """Whether a person's decision, or their reason for an undo, has not been reported to the change's session yet."""
    decided = change.decided
    by_person = decided is not None and bool(change.decided_by or decided.reason) and not change.told
    return by_person and change.status in ("applied", "rejected", "undone") and not is_command(change)


def _line(change: Change) -> str:
    decided = change.decided
    assert decided is not None
    if change.status == "rejected":
        what = "was rejected; nothing of it was written"
    elif change.status == "undone":
        what = "was written, and has been undone since"
    elif decided.edited:
        what = "was approved, but the person wrote other text than you proposed: read it before you go on"
    elif rejected := _hunks(decided.rejected):
        counted = "in part: of its hunks (counted from 0)"
        if change.decided_by:
            what = f"was approved {counted} {_hunks(decided.taken) or 'none'} were written, {rejected} were rejected"
        else:
            what = f"was undone {counted} {rejected} were taken back"
    elif not change.decided_by:  # Its undo was undone.
        what = "was undone, and is written again"
    else:
        what = "was approved and written"
    reason = f". The person says: {_quoted(decided.reason, _MOST_OF_REASON)}" if decided.reason else "."
    return f"- {change.id} of {_quoted(change.title, _MOST_OF_TITLE)} {what}{reason}"


def _hunks(chosen: ChosenHunks) -> str:
    """The positions of hunks; empty where there are none."""
    if isinstance(chosen, list):
        return _cut_list(list(map(str, chosen)))
    return _cut_list([f"{at} of cell {_quoted(cell, 64)}" for cell, places in chosen.items() for at in places])


def _cut_list(items: list[str]) -> str:
    more = f" and {len(items) - _MOST_HUNKS} more" if len(items) > _MOST_HUNKS else ""
    return ", ".join(items[:_MOST_HUNKS]) + more


def _quoted(text: str, most: int) -> str:
    # Kept on one line, so that no text of others looks like a line of ours.
    return json.dumps(text if len(text) <= most else f"{text[: most - 1]}…", ensure_ascii=False)
