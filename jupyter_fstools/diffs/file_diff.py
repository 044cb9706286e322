"""Describes what changed in one file, for people and panels."""

from __future__ import annotations

from collections.abc import Iterator
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

    `moved_from` is the index that it had before, if it moves, whatever else changes in it; None for others.
    `follows` is the id of the cell that this one follows in the new notebook (in the old one if deleted), "" at its
    beginning; None in older changes.
    `duplicate` is True where several cells have its id, so that a page gives some of them another one.
    `hunks` are of its source; `carried` of the outputs, metadata and attachments that come with it, as lines of JSON.
    """

    cell_id: str
    index: int
    action: Action
    cell_type: str
    moved_from: int | None = None
    follows: str | None = None
    duplicate: bool = False
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
    kind: Literal["text", "notebook", "command"] = "text"
    added: int = 0
    removed: int = 0
    hunks: list[DiffHunk] = Field(default_factory=list)
    cells: list[CellDiff] | None = None
    truncated: bool = False
    language: str | None = None
    encoding: str | None = None


def unified(diff: FileDiff, most_bytes: int = 4096) -> str:
    """A diff as unified text, cut after whole rows to a number of bytes."""
    lines: list[str] = []
    size = 0
    for line in _unified_lines(diff):
        size += len(line.encode("utf-8", "surrogatepass")) + 1
        if size > most_bytes:
            return "\n".join([*lines, f"[... {diff.added} lines added and {diff.removed} removed in all]"])
        lines.append(line)
    return "\n".join(lines)


def titled_hunks(diff: FileDiff) -> list[tuple[str, list[DiffHunk]]]:
    """The hunks of a diff below their titles: a notebook has one for every cell, a text its encoding if not UTF-8."""
    if diff.cells is None:
        return [(f"encoding: {diff.encoding}" if diff.encoding else "", diff.hunks)]
    titled = [("around the cells", diff.hunks)] if diff.hunks else []
    for cell in diff.cells:
        moved = f", moved from {cell.moved_from}" if cell.moved_from is not None else ""
        titled.append((f"cell {cell.index} {cell.cell_id} ({cell.cell_type}): {cell.action}{moved}", cell.hunks))
        if cell.carried:
            titled.append((f"cell {cell.index} {cell.cell_id}: outputs, metadata, attachments", cell.carried))
    return titled


def hunk_title(hunk: DiffHunk) -> str:
    """The line that begins a hunk in a unified diff."""
    return f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"


def _unified_lines(diff: FileDiff) -> Iterator[str]:
    signs = {"context": " ", "add": "+", "remove": "-"}
    for title, hunks in titled_hunks(diff):
        if title:
            yield title
        for hunk in hunks:
            yield hunk_title(hunk)
            yield from (signs[row.kind] + row.text for row in hunk.rows)
