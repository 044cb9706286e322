"""Opens notebooks for tools, and records the cells that a search shows."""

from __future__ import annotations

import time
from collections.abc import Iterable

from ..backends.protocol import FileStat, OpenFile
from ..documents.notebook import ChangedNotebook, NotebookDocument, ShownLines, is_notebook_name, lines_of, outline_of
from ..documents.text.shown_lines import Shown
from ..errors import FsToolsError, NotebookRefused
from ..gate.cell_receipts import record_cells
from ..gate.read_tracker import ReadTracker, ReceiptAfter
from ..gate.workspace import Workspace
from ..stores.records import FileState, Receipt

# While a program saves a notebook in place, the file is incomplete for a moment.
_RECENT_NS = 500_000_000
_MOST_CELLS = 20_000  # The places of more cells would take too much memory.


def is_recent(stat: FileStat) -> bool:
    """Whether the file was written a moment ago, so that a save may be in progress."""
    return 0 <= time.time_ns() - stat.mtime_ns < _RECENT_NS


def opened_notebook(workspace: Workspace, opened: OpenFile) -> NotebookDocument:
    """The notebook in an open file.

    Raises:
        NotebookRefused, TooLarge: see `NotebookDocument`.
    """
    stat = opened.stat
    known = workspace.versions.notebooks.of(stat.key, stat.content_version)
    document = NotebookDocument(opened, known)
    if known is None and not is_recent(stat) and len(document.cells) <= _MOST_CELLS and opened.unchanged():
        workspace.versions.notebooks.keep(stat.key, stat.content_version, outline_of(document.spans))
    return document


def kept_with(workspace: Workspace, changed: ChangedNotebook, receipt: ReceiptAfter) -> ReceiptAfter:
    """A receipt maker that also caches the places of the cells after the change, if those before it are known.

    Raises:
        NotebookRefused: the change would leave a cell that is not JSON.
    """
    if len(changed.before.cells) > _MOST_CELLS:
        return receipt
    outline = changed.outline
    if outline is None:
        return receipt

    def receipt_after(tracker: ReadTracker, stat: FileStat, state: FileState) -> tuple[Receipt, bytes]:
        workspace.versions.notebooks.keep(stat.key, stat.content_version, outline)
        return receipt(tracker, stat, state)

    return receipt_after


def require_notebook_name(path: str, asked: str = "") -> None:
    """Refuse a file that is no `.ipynb`; `asked` is the name in the call, if that is another one.

    Raises:
        NotebookRefused
    """
    if not is_notebook_name(path):
        if is_notebook_name(asked):
            raise NotebookRefused(
                f"{asked} is a link to {path}, which is not a notebook (.ipynb)",
                hint=f"Use `read_file`, `edit_file` and `write_file`, with path {path!r}.",
            )
        raise NotebookRefused(
            f"{path} is not a notebook (.ipynb)", hint="Use `read_file`, `edit_file` and `write_file` for other files."
        )


def leave_receipt_of_cells(workspace: Workspace, path: str, found: Iterable[tuple[int, int, list[str]]]) -> None:
    """Record the lines of a notebook's cells that a search has shown, if they are still the same.

    Args:
        workspace: for which reader.
        path: of the notebook.
        found: runs of lines without their ends: the cell's index, the first line from 1, the lines.
    """
    try:
        with workspace.show(path) as opened:
            document = opened_notebook(workspace, opened)
            shown = [one for run in found if (one := _still_there(document, *run)) is not None]
            if shown and opened.unchanged():
                record_cells(workspace.tracker, opened.stat, document, shown)
    except FsToolsError:  # The notebook is gone or broken by now: it must be read before it can be edited.
        return


def _still_there(document: NotebookDocument, index: int, first: int, lines: list[str]) -> ShownLines | None:
    if index >= len(document.cells):
        return None
    source = lines_of(document.cells[index].source)
    there = source[first - 1 : first - 1 + len(lines)]
    if [line.removesuffix("\n").removesuffix("\r") for line in there] != [line.removesuffix("\r") for line in lines]:
        return None
    return ShownLines(index, Shown(first, first + len(there) - 1, "".join(there), len(source)))
