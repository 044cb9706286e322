"""Describes what changed in one file, for people and panels."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Operation = Literal["create", "edit", "overwrite", "delete", "execute"]
Action = Literal["edit", "insert", "delete", "move", "convert", "clear_outputs"]
"""A change of one cell of a notebook."""


class DiffRow(BaseModel):
    """One line of a hunk; `old` and `new` are 1-based line numbers, 0 on the side that has none.

    `crlf` tells that it ends in CR LF; `text` is without its ending.
    """

    kind: Literal["context", "add", "remove"]
    old: int
    new: int
    text: str
    crlf: bool = False


class DiffHunk(BaseModel):
    """Neighbouring changed lines with up to three lines of context, as in a unified diff."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    rows: list[DiffRow]


class CellDiff(BaseModel):
    """One cell of a notebook that changed; `index` is 0-based in the new notebook (in the old one if deleted).

    `hunks` are of its source; `carried` of the outputs, metadata and attachments that come with it, as lines of JSON.
    """

    cell_id: str
    index: int
    action: Action
    cell_type: str
    hunks: list[DiffHunk] = Field(default_factory=list)
    carried: list[DiffHunk] = Field(default_factory=list)


class FileDiff(BaseModel):
    """One file's change: counts of added and removed lines, and hunks.

    A notebook has `cells`; its `hunks` are of what comes around them (kernelspec, metadata), as lines of JSON.

    A command stands here like a text that is added (`execute`, `command`); `path` is the folder it runs in.

    `truncated` is True where rows were left out or cut; the counts are still whole. `language` is what a notebook's
    code cells are written in (`unknown` where it does not say), None for other files. `encoding` is the text's where it
    is not UTF-8, or what a text in UTF-8 declares: other programs may read something else in the same bytes.
    """

    path: str
    op: Operation
    kind: Literal["text", "notebook", "binary", "command"] = "text"
    added: int = 0
    removed: int = 0
    hunks: list[DiffHunk] = Field(default_factory=list)
    cells: list[CellDiff] | None = None
    truncated: bool = False
    language: str | None = None
    encoding: str | None = None
