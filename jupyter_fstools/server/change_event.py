"""What Jupyter's event bus says about a change: everything but the diff."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from ..file_diff import Operation
from ..records import Change, ChangeStatus

SCHEMA_ID = "https://schema.jupyter.org/jupyter_fstools/change/v1"


class ChangeEvent(BaseModel):
    """A change was made, proposed, decided about or undone."""

    id: Annotated[str, Field(description="The change's id.")]
    revision: Annotated[int, Field(description="Grows with every step in the journal.")]
    path: Annotated[str, Field(description="The file, relative to the root.")]
    op: Annotated[Operation, Field(description="What happens to the file.")]
    status: Annotated[ChangeStatus, Field(description="Where the change stands now.")]
    tool: Annotated[str, Field(description="The tool that made it.")]
    user: Annotated[str, Field(description="The user of the session that made it.")]
    session: Annotated[str, Field(description="The session that made it.")]
    created_at: Annotated[float, Field(description="When it was made or proposed, seconds since 1970.")]
    added: Annotated[int, Field(description="Lines added.")]
    removed: Annotated[int, Field(description="Lines removed.")]
    undoes: Annotated[str | None, Field(description="The id of the change that this one takes back.")] = None


def event_of(change: Change) -> dict[str, Any]:
    """What is said about a change, as the schema describes it."""
    return ChangeEvent(
        id=change.id,
        revision=change.revision,
        path=change.path,
        op=change.diff.op,
        status=change.status,
        tool=change.tool,
        user=change.user,
        session=change.session,
        created_at=change.created_at,
        added=change.diff.added,
        removed=change.diff.removed,
        undoes=change.undoes,
    ).model_dump()


def event_schema() -> dict[str, Any]:
    """The schema to register with an event logger."""
    schema = ChangeEvent.model_json_schema()
    return {"$id": SCHEMA_ID, "version": "1", "personal-data": True, **schema}
