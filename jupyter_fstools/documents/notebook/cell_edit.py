"""Defines one notebook edit as a caller requests it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ...errors import Invalid
from .source_text import refuse_surrogates

EditMode = Literal["replace", "edit", "insert", "delete", "move", "convert", "clear_outputs"]
CellType = Literal["code", "markdown", "raw"]

_PLACES = ("after", "before", "at", "after_index", "before_index")
_PLACE_HINT = 'Give `after` or `before` (the id of a cell), `at` ("start" or "end"), `after_index` or `before_index`.'
_TEXTS = ("new_source", "old_string", "new_string")
_NEEDED = {"replace": ("new_source",), "edit": ("old_string", "new_string"), "insert": ("new_source", "cell_type"),
           "convert": ("cell_type",)}  # fmt: skip
_ALLOWED = {"replace": ("new_source",), "insert": ("new_source",), "edit": ("old_string", "new_string", "replace_all")}


class CellEdit(BaseModel):
    """One edit of one cell.

    Cells are named by `cell_id`; `index` is for cells whose id is missing or duplicated. Everything is resolved
    against the notebook before the batch.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    edit_mode: EditMode = Field("replace", description="The operation on the cell.")
    cell_id: str | None = Field(
        None, description="The cell, as read_notebook shows it. For insert: the new cell is placed after this one."
    )
    index: int | None = Field(None, description="The cell by its 0-based index, where its id is missing or duplicated.")
    new_source: str | None = Field(None, description="replace, insert: the whole source of the cell, as plain text.")
    old_string: str | None = Field(None, description="edit: the exact text in the cell; it must occur exactly once.")
    new_string: str | None = Field(None, description="edit: what to put in its place; empty deletes it.")
    replace_all: bool = Field(False, description="edit: replace every occurrence of old_string.")
    cell_type: CellType | None = Field(None, description="insert: the new cell's type; convert: its new type.")
    after: str | None = Field(None, description="insert, move: place the cell after this cell_id.")
    before: str | None = Field(None, description="insert, move: place the cell before this cell_id.")
    at: Literal["start", "end"] | None = Field(None, description="insert, move: to the start or end of the notebook.")
    after_index: int | None = Field(None, description="insert, move: like after, by 0-based index.")
    before_index: int | None = Field(None, description="insert, move: like before, by 0-based index.")
    keep_outputs: bool = Field(
        False, description="Keep a code cell's outputs and execution count when its source changes."
    )

    def check(self) -> None:
        """Whether the arguments fit together, without looking at a notebook.

        Raises:
            EncodingRefused: a lone surrogate in a text. Invalid: an argument is missing, too much, or contradictory.
        """
        for field in _TEXTS:
            refuse_surrogates(getattr(self, field), field)
        self._check_texts()
        self._check_places()
        if self.edit_mode != "insert" and self.cell_id is None and self.index is None:
            raise Invalid(
                f"{self.edit_mode}: name the cell",
                hint="Give its `cell_id`, as `read_notebook` shows it.",
                field="cell_id",
            )

    def _check_texts(self) -> None:
        mode = self.edit_mode
        if missing := [field for field in _NEEDED.get(mode, ()) if getattr(self, field) is None]:
            needed, named = " and ".join(missing), "`" + "` and `".join(missing) + "`"
            types = ' ("code", "markdown" or "raw")' if "cell_type" in missing else ""
            other = ' (old_string and new_string belong to edit_mode "edit")' if self.old_string is not None else ""
            place = f" {_PLACE_HINT}" if mode == "insert" and not self._places() else ""
            raise Invalid(f"{mode} needs {needed}", hint=f"Give {named}{types}{other}.{place}", field=missing[0])
        for field in (*_TEXTS, "replace_all"):
            # A deletion is clear whatever is beside it: Claude Code's form of it has a source.
            if getattr(self, field) and field not in _ALLOWED.get(mode, ()) and mode != "delete":
                raise Invalid(
                    f"{mode} takes no {field}", hint=f"Leave {field} out, or change `edit_mode`.", field=field
                )

    def _places(self) -> list[str]:
        """The arguments that name a place."""
        names = (*_PLACES, "cell_id") if self.edit_mode == "insert" else _PLACES
        return [field for field in names if getattr(self, field) is not None]

    def _check_places(self) -> None:
        given = self._places()
        if self.edit_mode not in ("insert", "move"):
            if given:
                raise Invalid(f"{self.edit_mode} takes no {given[0]}", hint="Use move to move a cell.", field=given[0])
            return
        if self.edit_mode == "insert" and self.index is not None:
            raise Invalid("insert takes no index", hint="Give `after_index`, `before_index` or `at`.", field="index")
        if len(given) != 1:
            raise Invalid(
                f"{self.edit_mode} needs exactly one place, got {' and '.join(given) or 'none'}",
                hint=_PLACE_HINT,
                field=given[-1] if given else "after",
            )
