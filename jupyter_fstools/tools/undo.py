"""undo: takes back one's own change."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ..errors import NotFound
from ..gate.workspace import Workspace
from ..journal.journal import Journal
from ..stores.records import Change
from .arguments import Arguments, PathArgument, Text, beside_others
from .tool import Tool, ToolResult, answer_named, text_block


class UndoArguments(Arguments):
    """The arguments of undo: a change, or a file."""

    change_id: Annotated[
        Text | None,
        Field(description="The change to take back."),
    ] = None
    path: Annotated[PathArgument | None, Field(description="Take back your newest change of this file.")] = None

    @model_validator(mode="after")
    def _one_of_both(self) -> UndoArguments:
        if (self.change_id is None) == (self.path is None):
            raise beside_others("change_id", "give either change_id or path")
        return self


def run(workspace: Workspace, arguments: UndoArguments) -> ToolResult:
    """Take back a change of the same session, through the same approval as any change."""
    journal = Journal(workspace)
    if arguments.path is not None:
        workspace.peek(arguments.path)  # A root that is gone is refused with a hint of its own.
    change = _meant(journal, arguments)
    done = journal.undo(change, by_person=False)
    what = f"change {change.id} ({change.tool} of {change.title})"
    if done.status == "proposed":
        said = f"Not undone yet: change {done.id} (the undo of {what}) waits for a person's approval."
    elif done.diff.op == "delete":
        said = f"Undid {what}: the file it had created is removed."
    else:
        said = f"Undid {what}."
    data = {"path": change.path, "change": done.id, "undoes": change.id, "status": done.status}
    return ToolResult(tool="undo", content=[text_block(said)], data=data, change=done)


def _meant(journal: Journal, arguments: UndoArguments) -> Change:
    try:
        if arguments.path is not None:
            return journal.newest_to_undo(arguments.path, own=True)
        assert arguments.change_id is not None
        return journal.change(arguments.change_id)
    except NotFound as refusal:
        if "waiting" not in refusal.details:
            # The hint cannot name a tool: none lists changes.
            refusal.hint = (
                "Give the change_id from the answer to the change, or the file's path to undo your newest change of it."
                if arguments.path is None
                else "This session changed nothing there, or all of it is undone already: look with `read_file`."
            )
        raise


UNDO = Tool(
    name="undo",
    title="Undo a change",
    description=(
        "Take back your own change, by change_id or the newest of path, while the file still has the content that "
        "it left (in an open document: the same cells or lines). Undoing a creation removes the file."
    ),
    arguments=UndoArguments,
    run=run,
    reads_only=False,
    destructive=True,
    answer=answer_named("UndoAnswer"),
)
