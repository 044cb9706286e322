"""read_notebook: shows cells with ids, sources and outputs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..gate.workspace import Workspace
from .arguments import Arguments, Count, Ordinal, PathArgument, Text, beside_others
from .notebook_view import NotebookRequest, show_notebook
from .tool import Tool, ToolResult, answer_named

_OF_SOURCE = {"source_offset": 1, "source_limit": 0, "source_column": 1}
"""The arguments about a cell's source, and the largest value of each that asks for nothing."""


class ReadNotebookArguments(Arguments):
    """The arguments of read_notebook."""

    path: PathArgument
    cell_id: Annotated[Text | None, Field(description="Show only this cell.")] = None
    index: Annotated[Count | None, Field(description="Show only this cell, by index from 0.")] = None
    offset: Annotated[Count, Field(description="First cell to show, from 0.")] = 0
    limit: Annotated[Count, Field(description="Cells to show.")] = 0
    outputs: Annotated[
        Literal["summary", "none", "full"],
        Field(description="summary: types, sizes and beginnings; full: as much text as fits, and pictures."),
    ] = "summary"
    output_index: Annotated[
        Count | None,
        Field(description="Show only this output of the cell, from 0."),
    ] = None
    output_offset: Annotated[Count, Field(description="First character of that output, to page through it.")] = 0
    mime_type: Annotated[Text | None, Field(description="The form of that output, such as text/html.")] = None
    source_offset: Annotated[
        Count,
        Field(description="First line of the cell's source, from 1, to page in a long cell."),
    ] = 1
    source_limit: Annotated[Count, Field(description="Lines of the cell's source to show.")] = 0
    source_column: Annotated[
        Ordinal, Field(description="First character of that line, to page inside a long line.")
    ] = 1
    max_output_bytes: Annotated[Ordinal | None, Field(description="Maximum bytes of text.")] = None

    @model_validator(mode="after")
    def _one_cell_where_one_is_meant(self) -> ReadNotebookArguments:
        one = self.cell_id is not None or self.index is not None
        # Many clients send defaults for arguments that they leave out.
        of_source = next((name for name, nothing in _OF_SOURCE.items() if getattr(self, name) > nothing), None)
        within = of_source if self.output_index is None else "output_index"
        if within and not one:
            raise beside_others(within, "is about one cell: name it by cell_id or index")
        if of_source and self.output_index is not None:
            raise beside_others(of_source, "is about the cell's source: leave it out, or output_index")
        if one and (self.offset or self.limit):
            field = "offset" if self.offset else "limit"
            raise beside_others(field, "give either a cell (cell_id or index) or offset and limit, not both")
        if self.output_index is None and (self.output_offset or self.mime_type is not None):
            field = "output_offset" if self.output_offset else "mime_type"
            raise beside_others(field, "is about one output: name it by output_index")
        return self


def run(workspace: Workspace, arguments: ReadNotebookArguments) -> ToolResult:
    """Show cells and leave a receipt for them.

    Raises:
        NotebookRefused, NotFound, Ambiguous, OutOfRange, Invalid, Conflict, and as `Workspace.show`
    """
    wanted = NotebookRequest(**arguments.model_dump(exclude={"path"}))
    with workspace.show(arguments.path) as opened:
        return show_notebook(workspace, opened, wanted)


READ_NOTEBOOK = Tool(
    name="read_notebook",
    title="Read a notebook",
    description=(
        "Read the cells of a Jupyter notebook (.ipynb); do so before you edit them. Shows their ids, sources with "
        "line numbers (not part of them) and summaries of their outputs, in pages: go on with offset. Pictures and "
        "long outputs are shown on request (outputs, output_index)."
    ),
    arguments=ReadNotebookArguments,
    run=run,
    reads_only=True,
    idempotent=True,
    answer=answer_named("NotebookAnswer"),
)
