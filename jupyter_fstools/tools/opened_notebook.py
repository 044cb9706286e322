"""Opens a notebook and reuses what is known of it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..backends.protocol import FileStat, OpenFile
from ..content.splices import Splice, SplicedContent
from ..documents.notebook import NotebookDocument, outline_after, outline_of
from ..gate.read_tracker import ReadTracker, ReceiptAfter
from ..gate.workspace import Workspace
from ..stores.records import FileState, Receipt

# A program that saves a notebook in place leaves half of it for a moment.
_RECENT_NS = 500_000_000
_MOST_CELLS = 20_000  # Of more the places take too much memory.


def is_recent(stat: FileStat) -> bool:
    """The file was written a moment ago: somebody may be in the middle of saving it."""
    return 0 <= time.time_ns() - stat.mtime_ns < _RECENT_NS


def opened_notebook(workspace: Workspace, opened: OpenFile) -> NotebookDocument:
    """The notebook in an open file.

    Raises:
        NotebookRefused, TooLarge: see `NotebookDocument`.
    """
    stat = opened.stat
    known = workspace.notebooks.of(stat.key, stat.version)
    document = NotebookDocument(opened, known)
    if known is None and not is_recent(stat) and len(document.cells) <= _MOST_CELLS and opened.unchanged():
        workspace.notebooks.keep(stat.key, stat.version, outline_of(document.spans))
    return document


def kept_with(
    workspace: Workspace, document: NotebookDocument, splices: Sequence[Splice], receipt: ReceiptAfter
) -> ReceiptAfter:
    """A receipt that, once the splices are written, keeps where the cells lie then, if that is known from before.

    Raises:
        NotebookRefused: the splices would leave a cell that is no JSON.
    """
    if len(document.cells) > _MOST_CELLS:
        return receipt
    outline = outline_after(document.spans, splices, SplicedContent(document.content, splices))
    if outline is None:
        return receipt

    def receipt_after(tracker: ReadTracker, stat: FileStat, state: FileState) -> tuple[Receipt, bytes]:
        workspace.notebooks.keep(stat.key, stat.version, outline)
        return receipt(tracker, stat, state)

    return receipt_after
