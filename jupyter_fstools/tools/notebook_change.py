"""Edits cells through the gate, all or none."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..backends.protocol import OpenFile
from ..documents.notebook import CellEdit, ChangedNotebook, NotebookDocument, NotebookEdit, notebook_diff
from ..errors import FsToolsError, NotebookRefused, NotRead
from ..gate.cell_receipts import goes_on, shown_lines
from ..gate.draft import Draft, Step
from ..gate.line_ranges import covers
from ..gate.required_cells import require_cells
from ..gate.workspace import Workspace
from ..stores.records import Receipt
from .change_result import OUTSIDE_NAMED, EditedNotebook, notebooks_result
from .opened_notebook import is_recent, kept_with, opened_notebook, require_notebook_name
from .tool import ToolResult

_ATTEMPTS = 4
_PAUSE_SECONDS = 0.1


class _HalfSaved(Exception):
    """The file is not a notebook, but was written just now: a save may be in progress."""


def change_notebooks(workspace: Workspace, edits: Sequence[tuple[str, CellEdit]]) -> ToolResult:
    """Carry out (or propose) edits, each of the notebook that its path names; all or none, as one change.

    Raises:
        NotRead, Stale (with the cell's diff), NotebookRefused, and as `NotebookDocument.apply` and `Workspace.drafts`;
        with several notebooks a refusal names the one that it is about.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            return _changed(workspace, edits, patient=left > 0)
        except _HalfSaved:
            time.sleep(_PAUSE_SECONDS)
    raise AssertionError("the last attempt is not patient")


def _changed(workspace: Workspace, edits: Sequence[tuple[str, CellEdit]], *, patient: bool) -> ToolResult:
    check = _CellCheck(workspace, edits, patient=patient)
    with workspace.drafts([path for path, _ in edits], check) as drafts:
        notebooks = [
            _edited(workspace, draft, edits, numbers, check.checked[draft.stat.key]) for draft, numbers in drafts
        ]
        change = workspace.commit_all([(notebook.draft, notebook.step) for notebook in notebooks])
    in_order = sorted(notebooks, key=lambda notebook: notebook.numbers[0])
    return notebooks_result(in_order, change)


def _edited(
    workspace: Workspace,
    draft: Draft,
    edits: Sequence[tuple[str, CellEdit]],
    numbers: Sequence[int],
    document: NotebookDocument,
) -> EditedNotebook:
    own = [edits[number][1] for number in numbers]
    with _naming_edit(draft.stat.path, numbers, len(edits)):
        outcome = document.apply(own)
        outside = _outside_shown_lines(document, draft.receipt, outcome)
        if outside and workspace.rules.refuse_unseen_edits:
            raise NotRead(
                f"line {outside[0][1]} of cell {outside[0][0]!r} has not been shown to this session",
                hint="Read the cell around that line first (`source_offset`).",
                cell_id=outside[0][0],
                lines=[line for _, line in outside],
            )
    newer = _newer_pair(workspace, draft, document)
    diff = notebook_diff(draft.stat.path, "edit", outcome.diffs, document.language, left_out=outcome.left_out)
    changed = ChangedNotebook(document, outcome.splices)
    receipt = kept_with(workspace, changed, goes_on(document, outcome.after))
    step = Step(outcome.splices, diff, "edit_notebook", receipt=receipt, notebook=changed)
    return EditedNotebook(draft, step, numbers, outcome, outside, newer)


@contextmanager
def _naming_edit(path: str, numbers: Sequence[int], total: int) -> Iterator[None]:
    """With several notebooks, name the one that a refusal is about, and number its edit among all of the call's."""
    try:
        yield
    except FsToolsError as refusal:
        if len(numbers) < total:
            own = int(refusal.details.get("edit", 0))
            said = refusal.message.removeprefix(f"edit {own + 1} of {len(numbers)}: ")
            refusal.message = f"{path}: edit {numbers[own] + 1} of {total}: {said}"
            refusal.details |= {"path": path, "edit": numbers[own]}
            done = refusal.details.get("already_applied_by")
            if done is not None:
                refusal.details["already_applied_by"] = numbers[done - 1] + 1
                refusal.hint = refusal.hint.replace(f"edit {done} of", f"edit {numbers[done - 1] + 1} of")
        raise


class _CellCheck:
    """Requires receipts for the cells that the edits change.

    Attributes:
        checked: the notebook that was checked, by its key.
    """

    def __init__(self, workspace: Workspace, edits: Sequence[tuple[str, CellEdit]], *, patient: bool) -> None:
        self._workspace = workspace
        self._edits = edits
        self._patient = patient
        self.checked: dict[str, NotebookDocument] = {}

    def receipt(self, numbers: Sequence[int], opened: OpenFile) -> Receipt | None:
        """The receipt of the cells; None where new ones are only inserted beside others.

        Raises:
            NotRead, Stale, NotebookRefused, and as `NotebookDocument.targets`
        """
        path = opened.stat.path
        require_notebook_name(path, self._edits[numbers[0]][0])
        own = [self._edits[number][1] for number in numbers]
        with _naming_edit(path, numbers, len(self._edits)):
            self.checked[opened.stat.key] = document = self._opened(opened)
            return require_cells(
                self._workspace.tracker,
                opened.stat,
                document,
                own,
                overwrite_needs_whole_cell=self._workspace.rules.overwrite_needs_full_read,
            )

    def _opened(self, opened: OpenFile) -> NotebookDocument:
        try:
            return opened_notebook(self._workspace, opened)
        except NotebookRefused:
            if self._patient and is_recent(opened.stat):
                raise _HalfSaved from None
            raise


def _outside_shown_lines(
    document: NotebookDocument, receipt: Receipt | None, outcome: NotebookEdit
) -> list[tuple[str, int]]:
    """Cell and line of each replaced line that no read has shown, in cells that were shown in part."""
    known = shown_lines(receipt, document)
    outside = {
        (document.cells[cell.origin].cell_id, line): None
        for cell in outcome.after
        if cell.origin is not None and cell.origin in known
        for first, last in cell.replaced
        for line in range(first, last + 1)
        if not covers(known[cell.origin], line, line)
    }
    return list(outside)[:OUTSIDE_NAMED]


def _newer_pair(workspace: Workspace, draft: Draft, document: NotebookDocument) -> str | None:
    """The text file that jupytext pairs with the notebook, if it is newer."""
    stem = posixpath.splitext(draft.stat.path)[0]
    for form in (document.pair_formats or "").split(","):
        # `folder//prefix/ipynb`, `py:percent`: only pairs in the notebook's folder are checked.
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
