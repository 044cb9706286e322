"""edit_notebook: changes cells of one notebook or several, all or nothing."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ..documents.notebook import CellEdit
from ..gate.workspace import Workspace
from .arguments import Arguments, AsList, Count, Flag, PathArgument, Text, beside_others, paths_of
from .notebook_change import change_notebooks
from .tool import Tool, ToolResult, answer_named


class OneCellEdit(Arguments):
    """One edit of one cell."""

    # `CellEdit` checks how the fields fit together, for every caller.

    path: Annotated[PathArgument | None, Field(description="The notebook, if not the call's.")] = None
    edit_mode: Annotated[
        Literal["replace", "edit", "insert", "delete", "move", "convert", "clear_outputs"],
        Field(
            description="replace: new_source becomes the whole source; edit: new_string replaces old_string; insert: "
            "a cell_type cell with new_source; convert: to cell_type."
        ),
    ] = "replace"
    cell_id: Annotated[
        Text | None,
        Field(description="The cell. insert: the new cell goes after this one."),
    ] = None
    index: Annotated[Count | None, Field(description="The cell by index from 0, where ids are not unique.")] = None
    new_source: Annotated[Text | None, Field(description="replace, insert: the cell's whole source.")] = None
    old_string: Annotated[Text | None, Field(description="edit: the exact text; it must occur once in the cell.")] = (
        None
    )
    new_string: Annotated[Text | None, Field(description="edit: its replacement; empty deletes it.")] = None
    replace_all: Annotated[Flag, Field(description="edit: replace every occurrence.")] = False
    cell_type: Annotated[
        Literal["code", "markdown", "raw"] | None,
        Field(description="The type that the cell gets."),
    ] = None
    after: Annotated[Text | None, Field(description="insert, move: to after this cell_id.")] = None
    before: Annotated[Text | None, Field(description="insert, move: to before this cell_id.")] = None
    at: Annotated[
        Literal["start", "end"] | None, Field(description="insert, move: to the start or end of the notebook.")
    ] = None
    after_index: Annotated[Count | None, Field(description="after, by index.")] = None
    before_index: Annotated[Count | None, Field(description="before, by index.")] = None
    keep_outputs: Annotated[Flag, Field(description="Keep the outputs when the source changes.")] = False

    @model_validator(mode="after")
    def _mode_of_strings(self) -> Self:
        """Two strings without a mode or a source can only be an edit."""
        if "edit_mode" not in self.model_fields_set and self.old_string and self.new_source is None:
            self.edit_mode = "edit"
        return self


class EditNotebookArguments(OneCellEdit):
    """The arguments of edit_notebook: a list of edits, or the fields of one at top level."""

    path: PathArgument | None = None
    edits: Annotated[
        list[OneCellEdit] | None,
        AsList,
        Field(
            description="All or nothing over all notebooks. Cells are named as they were before the first edit; "
            "inserts at one place keep their order."
        ),
    ] = None

    @model_validator(mode="after")
    def _one_form(self) -> EditNotebookArguments:
        own = self.model_fields_set - {"path", "edits"}
        # Many clients send defaults for arguments that they leave out: an empty list, empty strings, the defaults.
        said = [name for name in sorted(own) if getattr(self, name) not in ("", type(self).model_fields[name].default)]
        if self.edits and said:
            raise beside_others("edits", f"give either edits or the fields of one edit ({', '.join(said)}), not both")
        if not self.edits and said:
            self.edits = None
        if self.edits is None and not own:
            raise beside_others("edits", "give edits, or the fields of one edit (edit_mode, cell_id, new_source, ...)")
        return self

    def cell_edits(self) -> list[tuple[str, CellEdit]]:
        """The edits from either form of the arguments, each with the path of its notebook.

        Raises:
            Invalid: as `paths_of`
        """
        given = [self] if self.edits is None else self.edits
        paths = paths_of(self.path, [one.path for one in given], single=self.edits is None)
        fields = [one.model_dump(exclude={"path", "edits"}, exclude_unset=True) for one in given]
        return [(path, CellEdit(**one)) for path, one in zip(paths, fields, strict=True)]


def run(workspace: Workspace, arguments: EditNotebookArguments) -> ToolResult:
    """Change cells through the gate."""
    return change_notebooks(workspace, arguments.cell_edits())


EDIT_NOTEBOOK = Tool(
    name="edit_notebook",
    title="Edit a notebook",
    description=(
        "Change cells of Jupyter notebooks that were read in this session (by read_notebook, or lines that grep showed "
        "whole) and have not changed since; other cells and new outputs do not matter. To insert beside a cell named "
        "by its id needs no reading. Sources are plain text, never JSON. A code cell whose source changes loses its "
        "outputs, unless keep_outputs."
    ),
    arguments=EditNotebookArguments,
    run=run,
    reads_only=False,
    destructive=True,
    answer=answer_named("EditNotebookAnswer"),
)
