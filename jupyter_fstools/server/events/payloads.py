"""Builds the payloads of events, and their schemas."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ...diffs.file_diff import Operation
from ...gate.workspace import Workspace
from ...journal.listing import changed_path, told_path
from ...journal.standing import can_be_undone, is_stale
from ...stores.records import Change, ChangeStatus, Place, Receipt, Refusal, Via

CHANGE_SCHEMA = "https://schema.jupyter.org/jupyter_fstools/change/v1"
ACTIVITY_SCHEMA = "https://schema.jupyter.org/jupyter_fstools/activity/v1"


class ChangeEvent(BaseModel):
    """A change was made, proposed, decided about or undone."""

    kind: Literal["change"] = "change"
    id: Annotated[str, Field(description="The change's id.")]
    revision: Annotated[int, Field(description="Grows with every step in the journal.")]
    at: Annotated[float, Field(description="When it was made or proposed, seconds since 1970.")]
    path: Annotated[str, Field(description="The file, relative to the root.")]
    paths: Annotated[list[str], Field(description="All files, if the change has several.")] = []
    op: Annotated[Operation, Field(description="The operation on the file.")]
    status: Annotated[ChangeStatus, Field(description="The current status.")]
    tool: Annotated[str, Field(description="The tool that made it.")]
    user: Annotated[str, Field(description="The user of the session that made it.")]
    session: Annotated[str, Field(description="The session that made it.")]
    added: Annotated[int, Field(description="Lines added.")]
    removed: Annotated[int, Field(description="Lines removed.")]
    truncated: Annotated[
        bool, Field(description="Its diff is cut; all of it has to be looked at before it can be approved.")
    ] = False
    undoes: Annotated[str | None, Field(description="The id of the change that this one takes back.")] = None
    redo: Annotated[bool, Field(description="It undoes an undo.")] = False
    undoable: Annotated[
        bool, Field(description="False if a later change covers it, or if it was too large to be kept for undo.")
    ] = True
    exit_code: Annotated[int | None, Field(description="The exit code of a command that has ended.")] = None
    stale: Annotated[bool, Field(description="It waits, and its file changed since it was proposed.")] = False
    place: Annotated[
        Place, Field(description="Where it was made: on the disk, in an open document, or in a collaboration room.")
    ] = "disk"
    saved: Annotated[bool, Field(description="False if a room had not saved it yet.")] = True
    decided_at: Annotated[float | None, Field(description="When it was approved, rejected or undone.")] = None
    decided_by: Annotated[str | None, Field(description="The user who approved, rejected or undid it.")] = None
    decided_via: Annotated[
        Via | None, Field(description="How that decision came in; null if a program made it, or nobody.")
    ] = None
    seen_by: Annotated[list[str], Field(description="The users who marked it as seen (keep).")] = []


def change_entry(workspace: Workspace, change: Change) -> ChangeEvent | None:
    """The event of a change; None where the file lies outside the root or may not be read there."""
    files = change.all_files
    seen = [path for file in files if (path := changed_path(workspace, change, file)) is not None]
    if len(seen) < len(files):
        return None
    diffs = [file.diff for file in files]
    return ChangeEvent(
        id=change.id,
        revision=change.revision,
        at=change.created_at,
        path=seen[0],
        paths=seen if change.files else [],
        op=change.diff.op,
        status=change.status,
        tool=change.tool,
        user=change.user,
        session=change.session,
        added=sum(diff.added for diff in diffs),
        removed=sum(diff.removed for diff in diffs),
        truncated=any(diff.truncated for diff in diffs),
        undoes=change.undoes,
        redo=_takes_an_undo_back(workspace, change),
        undoable=can_be_undone(workspace, change),
        exit_code=change.ran.exit_code if change.ran else None,
        stale=is_stale(workspace, change),
        place=change.place,
        saved=change.saved,
        decided_at=change.decided_at,
        decided_by=change.decided_by,
        decided_via=change.decided_via,
        seen_by=change.seen_by,
    )


def _takes_an_undo_back(workspace: Workspace, change: Change) -> bool:
    undone = workspace.store.change(change.undoes) if change.undoes else None
    return undone is not None and undone.undoes is not None


EntryId = Annotated[str, Field(description="The same in events and in GET api/fstools/activity.")]
Moment = Annotated[float, Field(description="When, in seconds since 1970.")]


class ReadEntry(BaseModel):
    """A session was shown a file: its latest read, with all that it has been shown of this content."""

    kind: Literal["read"] = "read"
    id: EntryId
    at: Moment
    path: Annotated[str, Field(description="The file, relative to the root.")]
    user: Annotated[str, Field(description="The session's user.")]
    session: Annotated[str, Field(description="The session.")]
    lines: Annotated[list[tuple[int, int]], Field(description="The line ranges shown; of a notebook the cells.")]
    cells: Annotated[list[str] | None, Field(description="The ids of a notebook's cells that were shown.")] = None
    full: Annotated[bool, Field(description="The whole file was shown.")]


class RefusalEntry(BaseModel):
    """A call was refused."""

    kind: Literal["refusal"] = "refusal"
    id: EntryId
    at: Moment
    path: Annotated[
        str | None, Field(description="The file; null if the call named none, or if it may not be told.")
    ] = None
    user: Annotated[str, Field(description="The session's user.")]
    session: Annotated[str, Field(description="The session.")]
    tool: Annotated[str, Field(description="The tool that was called.")]
    code: Annotated[str, Field(description="The refusal's code.")]
    message: Annotated[str, Field(description="The reason.")]
    hint: Annotated[str, Field(description="The caller's next step.")] = ""


class ActivityEvent(BaseModel):
    """The reads and refusals since the last such event, by whichever process."""

    entries: Annotated[
        list[Annotated[ReadEntry | RefusalEntry, Field(discriminator="kind")]],
        Field(description="Oldest first."),
    ]
    more: Annotated[bool, Field(description="There were more: GET api/fstools/activity lists them.")]


def read_entry(workspace: Workspace, receipt: Receipt) -> ReadEntry | None:
    """The event of a read; None where the file lies outside the root or may not be read there."""
    path = told_path(workspace, receipt.user, receipt.key)
    if path is None:
        return None
    return ReadEntry(
        id=f"read {receipt.read_at:.6f} {receipt.session} {path}",
        at=receipt.read_at,
        path=path,
        user=receipt.user,
        session=receipt.session,
        lines=receipt.lines,
        cells=None if receipt.cells is None else list(receipt.cells),
        full=receipt.full,
    )


def refusal_entry(workspace: Workspace, refusal: Refusal) -> RefusalEntry | None:
    """The event of a refusal; None where it is about a file that may not be read here."""
    path = workspace.paths.path_of(refusal.key)
    if path is not None and told_path(workspace, refusal.user, refusal.key) is None:
        return None
    return RefusalEntry(
        id=f"refusal {refusal.at:.6f}",
        at=refusal.at,
        path=None if refusal.path is None else path,
        user=refusal.user,
        session=refusal.session,
        tool=refusal.tool,
        code=refusal.code,
        message=refusal.message,
        hint=refusal.hint,
    )


def event_schemas() -> list[dict[str, Any]]:
    """The schemas to register with an event logger."""
    return [
        {"$id": name, "version": "1", "personal-data": True, **model.model_json_schema()}
        for name, model in ((CHANGE_SCHEMA, ChangeEvent), (ACTIVITY_SCHEMA, ActivityEvent))
    ]
