"""edit_file: replaces exact strings in one file or several, all or nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..documents.text.edits import TextEdit
from ..errors import Invalid
from ..gate.workspace import Workspace
from .arguments import Arguments, Flag, PathArgument, Text
from .text_change import change_texts
from .tool import Tool, ToolResult

MOST_FILES = 100
"""Files in one call."""

MOST_EDITS = 10_000
"""Edits in one call."""


OldString = Annotated[
    Text,
    Field(
        description="The exact text to replace.",
    ),
]
NewString = Annotated[
    Text,
    Field(
        description="Its replacement; empty deletes it.",
    ),
]
ReplaceAll = Annotated[
    Flag,
    Field(
        description="Replace every occurrence.",
    ),
]


class OneEdit(Arguments):
    """One replacement."""

    path: Annotated[PathArgument | None, Field(description="The file, if not the call's.")] = None
    old_string: OldString
    new_string: NewString
    replace_all: ReplaceAll = False


class EditFileArguments(Arguments):
    """What edit_file takes: a list of edits, or the fields of one at top level."""

    path: PathArgument | None = None
    edits: Annotated[
        list[OneEdit] | None,
        Field(description="Applied in order, each to the result of the one before; all or nothing over all files."),
    ] = None
    old_string: OldString | None = None
    new_string: NewString | None = None
    replace_all: ReplaceAll = False
    if_stale: Annotated[
        Literal["refuse", "match"],
        Field(
            description="match: where the file changed since it was read, go on if every old_string still occurs once."
        ),
    ] = "refuse"

    @model_validator(mode="after")
    def _one_form(self) -> EditFileArguments:
        single = self.old_string is not None or self.new_string is not None or "replace_all" in self.model_fields_set
        if self.edits is not None and single:
            raise ValueError("give either edits or old_string and new_string, not both")
        if self.edits is None and (self.old_string is None or self.new_string is None):
            missing = "old_string" if self.old_string is None else "new_string"
            raise ValueError(f"{missing} is required (or a list of edits)")
        return self

    def text_edits(self) -> list[tuple[str, TextEdit]]:
        """The edits, whichever form they came in, each with the path of its file.

        Raises:
            Invalid: none, too many, or one without a path.
        """
        given = self.edits
        if given is None:
            assert self.old_string is not None and self.new_string is not None
            given = [OneEdit(old_string=self.old_string, new_string=self.new_string, replace_all=self.replace_all)]
        if not given:
            raise Invalid("edits: an empty list changes nothing", hint="Give at least one edit.", field="edits")
        if len(given) > MOST_EDITS:
            raise Invalid(f"edits: takes at most {MOST_EDITS}, got {len(given)}", hint="Split the call.", field="edits")
        edits = []
        for number, one in enumerate(given):
            path = self.path if one.path is None else one.path
            if path is None:
                field = "path" if self.edits is None else f"edits.{number}.path"
                raise Invalid(f"{field}: is required", hint="Name the file, for all edits or in each.", field=field)
            edits.append((path, TextEdit(one.old_string, one.new_string, one.replace_all)))
        if len({path for path, _ in edits}) > MOST_FILES:
            raise Invalid(f"edits: of at most {MOST_FILES} files", hint="Split the call.", field="edits")
        return edits


def run(workspace: Workspace, arguments: EditFileArguments) -> ToolResult:
    """Edit text files through the gate."""
    edits = arguments.text_edits()
    match_stale = arguments.if_stale == "match"
    if match_stale and any(edit.replace_all for _, edit in edits):
        raise Invalid(
            'if_stale: "match" cannot be combined with replace_all',
            hint="Read the file again, or replace one place at a time.",
            field="if_stale",
        )
    return change_texts(workspace, edits, match_stale=match_stale)


EDIT_FILE = Tool(
    name="edit_file",
    title="Edit files",
    description=(
        "Replace exact text in a file that was read in this session (by read_file, or a line that grep showed whole) "
        "and has not changed since. Copy old_string exactly, with its indentation and without line numbers; it must "
        "occur once, or set replace_all. edits with paths change several files as one change. Encoding and line "
        "endings are kept."
    ),
    arguments=EditFileArguments,
    run=run,
    reads_only=False,
    destructive=True,
)
