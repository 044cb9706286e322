"""Defines the event of a read or a refusal."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ...gate.workspace import Workspace
from ...stores.records import Receipt, Refusal

SCHEMA_ID = "https://schema.jupyter.org/jupyter_fstools/activity/v1"

EntryId = Annotated[str, Field(description="The same word wherever this is told.")]
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
    path: Annotated[str | None, Field(description="The file; null where none was named, or none is told.")] = None
    user: Annotated[str, Field(description="The session's user.")]
    session: Annotated[str, Field(description="The session.")]
    tool: Annotated[str, Field(description="The tool that was called.")]
    code: Annotated[str, Field(description="The refusal's code.")]
    message: Annotated[str, Field(description="What was wrong.")]
    hint: Annotated[str, Field(description="The caller's next step.")] = ""


class ActivityEvent(BaseModel):
    """What was read and refused since the last such event, by whichever process."""

    entries: Annotated[
        list[Annotated[ReadEntry | RefusalEntry, Field(discriminator="kind")]],
        Field(description="In the order in which it happened."),
    ]
    more: Annotated[bool, Field(description="There was more than is told here: GET api/fstools/activity has it.")]


def read_entry(workspace: Workspace, receipt: Receipt) -> ReadEntry | None:
    """What is said about a read; None where the file lies outside the root or may not be read there."""
    path = workspace.told_path(receipt.user, receipt.key)
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
    """What is said about a refusal; None where it is about what may not be read here."""
    path = workspace.path_of(refusal.key)
    if path is not None and workspace.told_path(refusal.user, refusal.key) is None:
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


def event_schema() -> dict[str, Any]:
    """The schema to register with an event logger."""
    schema = ActivityEvent.model_json_schema()
    return {"$id": SCHEMA_ID, "version": "1", "personal-data": True, **schema}
