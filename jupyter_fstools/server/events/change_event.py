"""Defines the event of a change, without its diff."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ...diffs.file_diff import Operation
from ...gate.workspace import Workspace
from ...journal.standing import is_covered, is_stale
from ...stores.records import Change, ChangeStatus, Place

SCHEMA_ID = "https://schema.jupyter.org/jupyter_fstools/change/v1"


class ChangeEvent(BaseModel):
    """A change was made, proposed, decided about or undone."""

    kind: Literal["change"] = "change"
    id: Annotated[str, Field(description="The change's id.")]
    revision: Annotated[int, Field(description="Grows with every step in the journal.")]
    at: Annotated[float, Field(description="When it was made or proposed, seconds since 1970.")]
    path: Annotated[str, Field(description="The file, relative to the root.")]
    paths: Annotated[list[str], Field(description="Of a change of several files all of them.")] = []
    op: Annotated[Operation, Field(description="What happens to the file.")]
    status: Annotated[ChangeStatus, Field(description="Where the change stands now.")]
    tool: Annotated[str, Field(description="The tool that made it.")]
    user: Annotated[str, Field(description="The user of the session that made it.")]
    session: Annotated[str, Field(description="The session that made it.")]
    added: Annotated[int, Field(description="Lines added.")]
    removed: Annotated[int, Field(description="Lines removed.")]
    undoes: Annotated[str | None, Field(description="The id of the change that this one takes back.")] = None
    undoable: Annotated[
        bool, Field(description="False where a later change covers it, or too much would have had to be kept.")
    ] = True
    stale: Annotated[bool, Field(description="It waits, and its file is no longer what it was proposed for.")] = False
    place: Annotated[Place, Field(description="Where it landed: on the disk, in an open document, or in a room.")] = (
        "disk"
    )
    saved: Annotated[bool, Field(description="False where a room had not saved it yet.")] = True
    decided_at: Annotated[float | None, Field(description="When it was approved, rejected or undone.")] = None
    decided_by: Annotated[str | None, Field(description="The user who did.")] = None
    seen_by: Annotated[list[str], Field(description="The users who have seen it and keep it.")] = []


def change_entry(workspace: Workspace, change: Change) -> ChangeEvent | None:
    """What is said about a change; None where the file lies outside the root or may not be read there."""
    seen = [path for key in change.keys if (path := workspace.told_path(change.user, key)) is not None]
    if len(seen) < len(change.keys):
        return None
    diffs = [file.diff for file in change.all_files]
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
        undoes=change.undoes,
        undoable=change.undoable and change.status == "applied" and not is_covered(workspace, change),
        stale=is_stale(workspace, change),
        place=change.place,
        saved=change.saved,
        decided_at=change.decided_at,
        decided_by=change.decided_by,
        seen_by=change.seen_by,
    )


def event_schema() -> dict[str, Any]:
    """The schema to register with an event logger."""
    schema = ChangeEvent.model_json_schema()
    return {"$id": SCHEMA_ID, "version": "1", "personal-data": True, **schema}
