"""edit_notebook: changes cells, all or nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..gate.workspace import Workspace
from .arguments import Arguments, Count, Flag, PathArgument, Text
from .tool import Tool, ToolResult


class OneCellEdit(Arguments):
    """One edit of one cell."""

    # How the fields fit together is checked by `CellEdit`, once for every caller.

    edit_mode: Annotated[
        Literal["replace", "edit", "insert", "delete", "move", "convert", "clear_outputs"],
        Field(
            description="replace: new_source is the whole new source; edit: old_string becomes new_string inside the "
            "cell; insert: a new cell of cell_type with new_source; delete; move; convert: to cell_type; clear_outputs."
        ),
    ] = "replace"
    cell_id: Annotated[
        Text | None,
        Field(description="The cell, as read_notebook shows it. For insert: the new cell lands after this one."),
    ] = None
    index: Annotated[
        Count | None, Field(description="The cell by its index (from 0), where its id is missing or not unique.")
    ] = None
    new_source: Annotated[
        Text | None, Field(description="replace, insert: the whole source of the cell, as plain text.")
    ] = None
    old_string: Annotated[
        Text | None, Field(description="edit: the exact text in the cell, without line numbers; it must be there once.")
    ] = None
    new_string: Annotated[Text | None, Field(description="edit: the text to put in its place; empty to delete it.")] = (
        None
    )
    replace_all: Annotated[Flag, Field(description="edit: replace old_string wherever it stands in the cell.")] = False
    cell_type: Annotated[
        Literal["code", "markdown", "raw"] | None,
        Field(description="insert: the new cell's type; convert, replace: the type the cell gets."),
    ] = None
    after: Annotated[Text | None, Field(description="insert, move: the cell_id to land after.")] = None
    before: Annotated[Text | None, Field(description="insert, move: the cell_id to land before.")] = None
    at: Annotated[
        Literal["start", "end"] | None, Field(description="insert, move: to the start or the end of the notebook.")
    ] = None
    after_index: Annotated[Count | None, Field(description="insert, move: like after, by index.")] = None
    before_index: Annotated[Count | None, Field(description="insert, move: like before, by index.")] = None
    keep_outputs: Annotated[
        Flag, Field(description="Keep a code cell's outputs and execution count although its source changes.")
    ] = False


class EditNotebookArguments(OneCellEdit):
    """What edit_notebook takes: a list of edits, or the fields of one at top level."""

    path: PathArgument
    edits: Annotated[
        list[OneCellEdit] | None,
        Field(
            description="Edits, all or nothing. Cells are named as they were before the first of them. Several inserts "
            "at one place keep their order."
        ),
    ] = None

    @model_validator(mode="after")
    def _one_form(self) -> EditNotebookArguments:
        single = self.model_fields_set - {"path", "edits"}
        if self.edits is not None and single:
            raise ValueError(f"give either edits or the fields of one edit ({', '.join(sorted(single))}), not both")
        if self.edits is None and not single:
            raise ValueError("give edits, or the fields of one edit (edit_mode, cell_id, new_source, ...)")
        return self


def run(workspace: Workspace, arguments: EditNotebookArguments) -> ToolResult:
    """Change cells through the gate."""
    # What knows notebooks is imported where the first one is edited.
    from ..documents.notebook import CellEdit
    from .notebook_change import change_notebook

    asked = [arguments] if arguments.edits is None else arguments.edits
    edits = [CellEdit(**one.model_dump(exclude={"path", "edits"}, exclude_unset=True)) for one in asked]
    return change_notebook(workspace, arguments.path, edits)


EDIT_NOTEBOOK = Tool(
    name="edit_notebook",
    title="Edit a notebook",
    description=(
        "Change cells of a Jupyter notebook (.ipynb). A cell must have been read in this session (read_notebook) and "
        "must not have changed since; changes of other cells, and new outputs, do not matter. Either one edit "
        "(edit_mode, cell_id, new_source, ...) or edits for several, all or nothing. new_source is plain text, never "
        "JSON. A code cell whose source changes loses its outputs, unless keep_outputs. The rest of the file keeps "
        "every byte."
    ),
    arguments=EditNotebookArguments,
    run=run,
    reads_only=False,
    destructive=True,
)
