"""Refuses edits of cells that were not shown, or changed since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backends.protocol import FileStat
from ..documents.notebook import Cell, CellEdit, NotebookDocument, Target, cell_fingerprint
from ..errors import NotRead, Stale
from ..stores.records import Receipt
from .cell_receipts import cell_receipt, keys_in
from .line_ranges import SeenLines, covers
from .read_tracker import ReadTracker
from .shown_cells import ShownCell, ShownCellTexts
from .shown_text import ShownText, marked_lines
from .stale import SHOWN_BY_DIFF, say_in_words, show_diff, tells_all

_CELL_TYPES = ("code", "markdown", "raw", "heading", "unknown")
_OVERWRITING = ("replace", "delete")


def require_cells(
    tracker: ReadTracker,
    stat: FileStat,
    document: NotebookDocument,
    edits: Sequence[CellEdit],
    *,
    overwrite_needs_whole_cell: bool,
) -> Receipt | None:
    """The receipt that allows a batch of edits; None where none is needed.

    A cell that is changed must have been shown and still have the type and source that were shown; replacing or
    deleting it requires that all of its lines were shown. If a cell is named by index, it must have been shown in the
    present order of the cells. A cell that only says where another one is placed need not have been shown, if it is
    named by its id: inserting beside it loses nothing.

    Raises:
        NotRead, Stale (`diff`: what changed in the cell), and as `NotebookDocument.targets`
    """
    receipt = cell_receipt(tracker, stat.key)
    if receipt is None:
        beside = [target for target in document.targets(edits) if not (target.changes or target.by_index)]
        if len(beside) == len(edits) and all(edit.edit_mode == "insert" for edit in edits):
            return None
        raise tracker.not_read(
            stat, hint="Read the notebook (or the cell you mean to change) with `read_notebook` first."
        )
    keys = keys_in(receipt, document)
    for target in document.targets(edits):
        if target.by_index:
            _require_order(receipt, document, target, stat.path)
        if target.changes:
            known = _required(receipt, keys[target.index], target, stat.path)
            if known.fingerprint != document.cells[target.index].fingerprint:
                editing = edits[target.number].edit_mode == "edit"
                raise _stale(tracker, receipt, keys[target.index], document, target, stat.path, editing=editing)
            overwritten = overwrite_needs_whole_cell and edits[target.number].edit_mode in _OVERWRITING
            if overwritten and known.seen is not None:
                raise _partly_read(target, known.seen, stat.path)
    return receipt


def _required(receipt: Receipt, key: str, target: Target, path: str) -> ShownCell:
    spelled = (receipt.cells or {}).get(key)
    if spelled is None:
        raise NotRead(
            f"cell {target.cell_id!r} (index {target.index}) of {path} has not been shown to this session",
            hint=f"Read it with `read_notebook` first (`index={target.index}`).",
            **_place(target),
        )
    return ShownCell.of(spelled)


def _require_order(receipt: Receipt, document: NotebookDocument, target: Target, path: str) -> None:
    # Who only inserted beside cells named by their ids was shown no order.
    if receipt.cell_order is not None and receipt.cell_order != document.order:
        raise Stale(
            f"the cells of {path} are no longer in the order that was read: index {target.index} may be another cell",
            hint="Name the cell by its `cell_id`, or read the notebook again.",
            **_place(target),
        )
    if not covers(receipt.lines, target.index + 1, target.index + 1):
        raise NotRead(
            f"the cell at index {target.index} of {path} has not been shown to this session in the present order",
            hint=f"Name the cell by its `cell_id`, or read it with `read_notebook` first (`index={target.index}`).",
            **_place(target),
        )


def _stale(
    tracker: ReadTracker,
    receipt: Receipt,
    key: str,
    document: NotebookDocument,
    target: Target,
    path: str,
    *,
    editing: bool,
) -> Stale:
    """The refusal of a changed cell; if its diff shows the whole change, the receipt is renewed for edits inside it."""
    assert receipt.cells is not None
    known, cell = ShownCell.of(receipt.cells[key]), document.cells[target.index]
    kept = ShownCellTexts.kept_by(tracker, receipt)
    text = kept.of(key)
    whole = text is not None and _is_all_of_it(text, known)
    diff = None if text is None else text.diff(path, cell.source, whole=whole)
    refusal = Stale(
        f"cell {target.cell_id!r} (index {target.index}) of {path} changed since it was read",
        hint="Read the cell again with `read_notebook`, then repeat the call.",
        path=path,
        **_place(target),
    )
    if not show_diff(refusal, diff):
        say_in_words(refusal, *_untold(known, cell, text, whole=whole))
    elif editing and whole and tells_all(refusal, diff):
        seen = SeenLines([(1, len(marked_lines(cell.source)))], {}, since_diff=[])
        receipt.cells[key] = ShownCell(cell.fingerprint, seen).spelled()
        kept.put(key, ShownText().with_lines(1, cell.source))
        tracker.put(receipt.model_copy(update={"full": False}), kept.packed())
        refusal.hint = SHOWN_BY_DIFF
    return refusal


def _is_all_of_it(text: ShownText, known: ShownCell) -> bool:
    """Whether all lines of a cell were shown, and the bounded copy has all of them."""
    texts = text.texts()
    if known.seen is not None or len(texts) != 1:
        return False
    return any(cell_fingerprint(cell_type, texts[0]) == known.fingerprint for cell_type in _CELL_TYPES)


def _untold(known: ShownCell, cell: Cell, text: ShownText | None, *, whole: bool) -> tuple[str, ...]:
    """The kind of change, in words, of a cell in which none of the shown lines differs."""
    for cell_type in _CELL_TYPES:
        if cell_fingerprint(cell_type, cell.source) == known.fingerprint:
            return "cell_type", f"{cell_type} cell and is a {cell.cell_type}"
    if whole:
        return ("line_endings",)
    kept = text.ranges() if text is not None else []
    told = known.seen is not None and all(covers(kept, *lines) for lines in known.seen.lines)
    return ("outside_shown_lines" if text is not None and told else "unknown",)


def _partly_read(target: Target, seen: SeenLines, path: str) -> NotRead:
    lines = seen.for_overwrite
    shown = ", ".join(f"{first}-{last}" for first, last in lines[:5]) or "none whole"
    read = "Read the rest of the cell with `read_notebook` (`source_offset`, `source_column`)"
    if seen.since_diff is not None:
        read = "Only a diff of what changed was shown: read the cell again with `read_notebook`"
    return NotRead(
        f"only a part of cell {target.cell_id!r} of {path} was shown to this session (lines {shown})",
        hint=f'{read}, or change a part of it with `edit_mode` "edit".',
        lines=lines,
        **_place(target),
    )


def _place(target: Target) -> dict[str, Any]:
    return {"cell_id": target.cell_id, "index": target.index, "edit": target.number}
