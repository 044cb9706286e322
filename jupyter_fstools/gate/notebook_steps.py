"""Builds a notebook step's diff and receipt by cells."""

from __future__ import annotations

from dataclasses import replace

from ..content.source import BytesContent, Content
from ..content.splices import SplicedContent
from ..documents.notebook import NotebookDocument, compared, notebook_diff
from ..errors import FsToolsError
from .cell_receipts import goes_on
from .draft import Step


def told_by_cells(step: Step, before: Content | None) -> Step:
    """The same step of a notebook, its diff and its receipt by cells; as it is where a side is not a notebook.

    Args:
        step: with a diff of lines.
        before: the content before; None for no file.
    """
    op, splices = step.op, step.splices
    try:
        old = None if before is None else NotebookDocument(before)
        new = None if op == "delete" else NotebookDocument(SplicedContent(before or BytesContent(b""), splices))
    except FsToolsError:
        return step
    after, diffs, hunks, left_out = compared(old, new, splices)
    language = next((side.language for side in (new, old) if side is not None), None)
    diff = notebook_diff(step.diff.path, op, diffs, language, hunks=hunks, left_out=left_out)
    return replace(step, diff=diff, receipt=goes_on(old, after))
