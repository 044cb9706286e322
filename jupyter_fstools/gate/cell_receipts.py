"""Keeps receipts of cells; refuses `not_read` and `stale` cell edits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..backends.protocol import FileStat
from ..documents.notebook import (
    Cell,
    CellAfter,
    CellEdit,
    NotebookDocument,
    ShownLines,
    Target,
    cell_fingerprint,
    order_of,
)
from ..errors import NotRead, Stale
from ..stores.records import FileState, Receipt
from .line_ranges import covers, united
from .read_tracker import ReadTracker, ReceiptAfter
from .shown_cells import Ranges, ShownCell, ShownCellTexts, after_edits, source_changes, with_lines
from .shown_text import ShownText, marked_lines
from .stale import SHOWN_BY_DIFF, say_in_words, show_diff, tells_all

_CELL_TYPES = ("code", "markdown", "raw", "heading", "unknown")
_OVERWRITING = ("replace", "delete")


def record_cells(tracker: ReadTracker, stat: FileStat, document: NotebookDocument, shown: Sequence[ShownLines]) -> None:
    """Leave a receipt for cells that are being shown; cells shown earlier stay known as they were then."""
    earlier = cell_receipt(tracker, stat.key)
    keys, order = keys_of([cell.cell_id for cell in document.cells]), document.order
    names = dict(zip(_keys_in(earlier, document), keys, strict=True))
    texts = ShownCellTexts(ShownCellTexts.kept_by(tracker, earlier).packed(names))
    known_before = (earlier.cells or {}) if earlier else {}
    cells = {names[key]: known for key, known in known_before.items() if key in names}
    for one in shown:
        key, fingerprint = keys[one.cell], document.cells[one.cell].fingerprint
        known = ShownCell.of(cells[key]) if key in cells else None
        again = known is not None and known.fingerprint == fingerprint
        cells[key] = with_lines(known if again else None, fingerprint, one).spelled()
        texts.put(key, ((texts.of(key) if again else None) or ShownText()).with_lines(one.first, one.text))
    places = earlier.lines if earlier and earlier.cell_order == order else []
    receipt = _receipt(tracker, stat)
    if earlier is not None and earlier.version == stat.content_version:
        receipt.text_sha, receipt.exact_sha = earlier.text_sha, earlier.exact_sha
    receipt.cells = cells
    receipt.full = _is_full(receipt.cells, keys)
    receipt.cell_order = order
    receipt.lines = united([*places, *((one.cell + 1, one.cell + 1) for one in shown)])
    tracker.put(receipt, texts.packed({key: key for key in keys}))


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
    keys = _keys_in(receipt, document)
    for target in document.targets(edits):
        if target.by_index:
            _require_order(receipt, document, target, stat.path)
        if target.changes:
            known = _required(receipt, keys[target.index], target, stat.path)
            if known.fingerprint != document.cells[target.index].fingerprint:
                editing = edits[target.number].edit_mode == "edit"
                raise _stale(tracker, receipt, keys[target.index], document, target, stat.path, editing=editing)
            overwritten = overwrite_needs_whole_cell and edits[target.number].edit_mode in _OVERWRITING
            if overwritten and known.lines is not None:
                raise _partly_read(target, known, stat.path)
    return receipt


def goes_on(before: NotebookDocument | None, after: Sequence[CellAfter]) -> ReceiptAfter:
    """The receipt after its reader's own step: text that was shown stays shown, text that was written is added.

    Args:
        before: the notebook before the step; None if there was none.
        after: its cells after it.
    """
    old_order = before.order if before else None
    keys = keys_of([cell.cell_id for cell in after])
    written = {key: cell for key, cell in zip(keys, after, strict=True) if cell.written is not None}

    def receipt_after(tracker: ReadTracker, stat: FileStat, state: FileState) -> tuple[Receipt, bytes]:
        earlier = cell_receipt(tracker, stat.key) if before else None
        old_keys = _keys_in(earlier, before) if before else []
        names = {
            old_keys[cell.origin]: key
            for key, cell in zip(keys, after, strict=True)
            if cell.origin is not None and cell.written is None
        }
        kept = ShownCellTexts.kept_by(tracker, earlier)
        texts = ShownCellTexts(kept.packed(names))
        receipt = _receipt(tracker, stat)
        receipt.read_at, receipt.own_write = (earlier.read_at, earlier.own_write) if earlier else (time.time(), True)
        receipt.text_sha, receipt.exact_sha = state.text_sha, state.exact_sha
        known = (earlier.cells or {}) if earlier else {}

        def is_known(at: int) -> bool:
            return bool(before and known and known.get(old_keys[at]) == before.cells[at].fingerprint)

        receipt.cells = {names[key]: spelled for key, spelled in known.items() if key in names}
        for key, cell in written.items():
            # A cell that may be one of several older ones (`perhaps`) may keep their text, which must have been shown.
            if not all(map(is_known, cell.perhaps)):
                continue
            old = before.cells[cell.origin] if before and cell.origin is not None else None
            spelled = known.get(old_keys[old.index]) if old is not None else None
            shown = kept.of(old_keys[old.index]) if old is not None else None
            step = _written(cell, old, ShownCell.of(spelled) if spelled is not None else None, shown)
            receipt.cells[key] = step[0].spelled()
            texts.put(key, step[1])
        receipt.full = _is_full(receipt.cells, keys)
        if before is None or (earlier is not None and earlier.cell_order == old_order):
            receipt.cell_order = order_of([cell.cell_id for cell in after])
            receipt.lines = _places_after(earlier.lines if earlier else [], after)
        elif earlier is not None:
            receipt.cell_order, receipt.lines = earlier.cell_order, earlier.lines
        return receipt, texts.packed({key: key for key in keys})

    return receipt_after


def _written(
    cell: CellAfter, old: Cell | None, known: ShownCell | None, shown: ShownText | None
) -> tuple[ShownCell, ShownText]:
    """The receipt of a cell that its reader has written, and the lines to keep of it."""
    assert cell.written is not None
    source, fingerprint = cell.written[1], cell_fingerprint(*cell.written)
    if known is not None and old is not None and known.fingerprint != old.fingerprint:
        known = shown = None
    if cell.whole or old is None or (known is not None and known.lines is None):
        return ShownCell(fingerprint, None, {}), ShownText().with_lines(1, source)
    changes = source_changes(old.source, source)
    return after_edits(known, fingerprint, cell.touched, source), (shown or ShownText()).with_changes(changes)


def shown_lines(receipt: Receipt | None, document: NotebookDocument) -> dict[int, Ranges]:
    """The lines that the reader was shown of each cell, by index; only of cells that were shown in part."""
    cells = (receipt.cells or {}) if receipt is not None else {}
    known = {at: ShownCell.of(cells[key]).lines for at, key in enumerate(_keys_in(receipt, document)) if key in cells}
    return {at: lines for at, lines in known.items() if lines is not None}


def cell_receipt(tracker: ReadTracker, key: str) -> Receipt | None:
    """The reader's receipt of a notebook's cells; None where there is none, or only one of its text."""
    receipt = tracker.lookup(key)
    return receipt if receipt is not None and receipt.cells is not None else None


def keys_of(ids: Sequence[str]) -> list[str]:
    """The keys of cells in receipts: their ids, and for duplicates a number too."""
    if len(set(ids)) == len(ids):
        return list(ids)
    seen: Counter[str] = Counter()
    keys = []
    for cell_id in ids:
        seen[cell_id] += 1
        keys.append(cell_id if seen[cell_id] == 1 else f"{cell_id}\n{seen[cell_id]}")
    return keys


def _keys_in(receipt: Receipt | None, document: NotebookDocument) -> list[str]:
    """The keys of a notebook's cells in a receipt; a cell whose id has changed since keeps its former key."""
    keys = keys_of([cell.cell_id for cell in document.cells])
    known = set((receipt.cells or {}) if receipt is not None else ())
    for former, index in document.former_indexes(known.difference(keys)).items():
        if keys[index] not in known:
            keys[index] = former
    return keys


def _places_after(places: Ranges, after: Sequence[CellAfter]) -> Ranges:
    before = {at for first, last in places for at in range(first - 1, last)}
    known = [at for at, cell in enumerate(after, 1) if cell.written is not None or cell.origin in before]
    return united([(at, at) for at in known])


def _receipt(tracker: ReadTracker, stat: FileStat) -> Receipt:
    return Receipt(
        user=tracker.reader.user,
        session=tracker.reader.session,
        key=stat.key,
        version=stat.content_version,
        text_sha=None,
        exact_sha=None,
        read_at=time.time(),
    )


def _is_full(cells: dict[str, str], keys: Sequence[str]) -> bool:
    return all(key in cells and ShownCell.of(cells[key]).lines is None for key in keys)


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
        lines = [(1, len(marked_lines(cell.source)))]
        receipt.cells[key] = ShownCell(cell.fingerprint, lines, {}, []).spelled()
        kept.put(key, ShownText().with_lines(1, cell.source))
        tracker.put(receipt.model_copy(update={"full": False}), kept.packed({one: one for one in receipt.cells}))
        refusal.hint = SHOWN_BY_DIFF
    return refusal


def _is_all_of_it(text: ShownText, known: ShownCell) -> bool:
    """Whether all lines of a cell were shown, and the bounded copy has all of them."""
    texts = text.texts()
    if known.lines is not None or len(texts) != 1:
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
    told = known.lines is not None and all(covers(kept, *lines) for lines in known.lines)
    return ("outside_shown_lines" if text is not None and told else "unknown",)


def _partly_read(target: Target, known: ShownCell, path: str) -> NotRead:
    lines = known.lines if known.since_diff is None else known.since_diff
    shown = ", ".join(f"{first}-{last}" for first, last in (lines or [])[:5]) or "none whole"
    read = "Read the rest of the cell with `read_notebook` (`source_offset`, `source_column`)"
    if known.since_diff is not None:
        read = "Only a diff of what changed was shown: read the cell again with `read_notebook`"
    return NotRead(
        f"only a part of cell {target.cell_id!r} of {path} was shown to this session (lines {shown})",
        hint=f'{read}, or change a part of it with `edit_mode` "edit".',
        lines=lines,
        **_place(target),
    )


def _place(target: Target) -> dict[str, Any]:
    return {"cell_id": target.cell_id, "index": target.index, "edit": target.number}
