"""Commits a batch of cell edits and describes the result."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..diffs.file_diff import CellDiff
from ..documents.notebook import CellEdit, NotebookDocument, NotebookEdit, notebook_diff
from ..documents.text.shown_lines import shown_body
from ..errors import FsToolsError, NotebookRefused, NotRead
from ..gate.cell_receipts import goes_on, require_cells, shown_lines_of
from ..gate.draft import Draft, Step
from ..gate.workspace import Workspace
from ..stores.records import Change, Receipt
from .notebook_view import require_notebook_name
from .opened_notebook import is_recent, kept_with, opened_notebook
from .tool import ToolResult, text_block

_ATTEMPTS = 4
_PAUSE_SECONDS = 0.1
_SNIPPET_ROWS = 40
_SNIPPET_CHARACTERS = 200
_OUTSIDE_NAMED = 20
_NAMED = 20
_DONE = {
    "replace": "replaced",
    "edit": "edited",
    "insert": "inserted",
    "delete": "deleted",
    "move": "moved",
    "convert": "converted",
    "clear_outputs": "cleared the outputs of",
}


class _HalfSaved(Exception):
    """The file is no notebook, and was written just now: somebody may still be saving it."""


def change_notebook(workspace: Workspace, path: str, edits: Sequence[CellEdit]) -> ToolResult:
    """Carry out (or propose) a batch of edits.

    Raises:
        NotRead, Stale (with the cell's diff), NotebookRefused, and as `NotebookDocument.apply` and `Workspace.draft`
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            return _changed(workspace, path, edits, patient=left > 0)
        except _HalfSaved:
            time.sleep(_PAUSE_SECONDS)
    raise AssertionError("the last attempt is not patient")


def _changed(workspace: Workspace, path: str, edits: Sequence[CellEdit], *, patient: bool) -> ToolResult:
    documents: list[NotebookDocument] = []

    def gate(draft: Draft) -> None:
        require_notebook_name(draft.stat.path, path)
        for edit in edits:
            edit.check()
        documents.append(_opened(workspace, draft, patient=patient))
        draft.receipt = require_cells(
            workspace.tracker,
            draft.stat,
            documents[0],
            edits,
            overwrite_needs_whole_cell=workspace.rules.overwrite_needs_full_read,
        )

    with workspace.draft(path, gate=gate) as draft:
        document = documents[0]
        outcome = document.apply(edits)
        outside = _outside_shown_lines(document, draft.receipt, edits, outcome)
        if outside and workspace.rules.refuse_unseen_edits:
            raise NotRead(
                f"line {outside[0][1]} of cell {outside[0][0]!r} has not been shown to this session",
                hint="Read the cell around that line first (`source_offset`).",
                cell_id=outside[0][0],
                lines=[line for _, line in outside],
            )
        newer = _newer_pair(workspace, draft, document)
        diff = notebook_diff(draft.stat.path, "edit", outcome.diffs, document.language)
        receipt = kept_with(workspace, document, outcome.splices, goes_on(document, outcome.after))
        change = workspace.commit(draft, Step("edit", outcome.splices, diff, "edit_notebook", receipt=receipt))
    return _result(draft, outcome, change, outside, newer)


def _opened(workspace: Workspace, draft: Draft, *, patient: bool) -> NotebookDocument:
    assert draft.before is not None
    try:
        return opened_notebook(workspace, draft.before)
    except NotebookRefused:
        if patient and is_recent(draft.stat):
            raise _HalfSaved from None
        raise


def _outside_shown_lines(
    document: NotebookDocument, receipt: Receipt | None, edits: Sequence[CellEdit], outcome: NotebookEdit
) -> list[tuple[str, int]]:
    """Cell and line of every changed line that no read has shown, where cells were shown in part."""
    outside = []
    place = {cell.origin: at for at, cell in enumerate(outcome.after)}
    diffs = {diff.index: diff for diff in outcome.diffs if diff.action == "edit"}
    for target in document.targets(edits):
        shown = shown_lines_of(receipt, document, target.index)
        diff = diffs.get(place.get(target.index, -1))
        if not target.changes or shown is None or diff is None:
            continue
        changed = [row.old for hunk in diff.hunks for row in hunk.rows if row.kind == "remove"]
        outside += [
            (target.cell_id, line) for line in changed if not any(first <= line <= last for first, last in shown)
        ]
    return outside[:_OUTSIDE_NAMED]


def _newer_pair(workspace: Workspace, draft: Draft, document: NotebookDocument) -> str | None:
    """The text file that jupytext keeps in step with the notebook, if it is newer."""
    stem = posixpath.splitext(draft.stat.path)[0]
    for form in (document.pair_formats or "").split(","):
        # `folder//prefix/ipynb`, `py:percent`: only pairs beside the notebook are looked for.
        extension = form.split(":")[0].strip().lstrip(".")
        if "/" in extension or extension in ("", "ipynb"):
            continue
        try:
            stat = workspace.peek(f"{stem}.{extension}")
        except FsToolsError:
            continue
        if stat.kind == "file" and stat.mtime_ns > draft.stat.mtime_ns:
            return stat.path
    return None


def _result(
    draft: Draft, outcome: NotebookEdit, change: Change | None, outside: list[tuple[str, int]], newer: str | None
) -> ToolResult:
    path = draft.stat.path
    done = "; ".join(f"{_DONE[one.edit_mode]} cell {one.cell_id} (index {one.index})" for one in outcome.cells[:_NAMED])
    done += f"; and {len(outcome.cells) - _NAMED} more" if len(outcome.cells) > _NAMED else ""
    if change is None:
        said = f"The edits cancel each other: {path} is unchanged; nothing was written."
    elif change.status == "proposed":
        said = f"Not written yet: change {change.id} of {path} ({done}) waits for a person's approval."
    else:
        said = f"Edited {path}: {done}."
    if outside:
        said += f" Note: line {outside[0][1]} of cell {outside[0][0]} had not been shown in this session."
    if newer is not None:
        said += f" Note: {newer}, which jupytext pairs with this notebook, is newer: it may overwrite the edit."
    edited = {one.index for one in outcome.cells if one.edit_mode == "edit"}
    diffs = [diff for diff in outcome.diffs if diff.index in edited and diff.action == "edit"]
    snippet = _snippet(diffs) if change is not None else ""
    data: dict[str, Any] = {
        "path": path,
        "cells": [asdict(one) for one in outcome.cells],
        "renamed": [asdict(one) for one in outcome.renamed[:_NAMED]],
        "total_renamed": len(outcome.renamed),
        "total_cells": outcome.total_cells,
        "snippet": snippet,
        "outside_shown_lines": bool(outside),
        "newer_pair": newer,
        "changed": change is not None,
        "status": change.status if change is not None else "unchanged",
        "change_id": change.id if change is not None else None,
        "fingerprint": change.after.text_sha if change is not None and change.after is not None else None,
    }
    said += _renamed(outcome) if change is not None else ""
    content = [text_block(f"{said}\n{snippet}" if snippet else said)]
    return ToolResult(tool="edit_notebook", content=content, data=data, change=change)


def _renamed(outcome: NotebookEdit) -> str:
    """A line about the cells that are called something else after the edits, without being asked for."""
    if not outcome.renamed:
        return ""
    names = ", ".join(f"{one.old_id} -> {one.cell_id}" for one in outcome.renamed[:_NAMED])
    rest = len(outcome.renamed) - _NAMED
    return f"\nIds after this: {names}" + (f", and {rest} more (`read_notebook` shows them)." if rest > 0 else ".")


def _snippet(diffs: Sequence[CellDiff]) -> str:
    """The new lines of edited cells with some around them, numbered in their cell, bounded."""
    shown: list[str] = []
    for diff in diffs:
        shown.append(f"cell {diff.cell_id}:")
        for hunk in diff.hunks:
            for row in hunk.rows:
                if row.kind != "remove":
                    shown.append(shown_body([row.text[:_SNIPPET_CHARACTERS]], row.new, numbers=True))
                if len(shown) >= _SNIPPET_ROWS:
                    return "\n".join([*shown, "..."])
    return "\n".join(shown)
