"""Keeps receipts of the cells that a reader was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..backends.protocol import FileStat
from ..documents.notebook import Cell, CellAfter, NotebookDocument, ShownLines, cell_fingerprint, order_of
from ..stores.records import FileState, Receipt
from .line_ranges import UNSEEN, Ranges, united
from .read_tracker import ReadTracker, ReceiptAfter
from .shown_cells import ShownCell, ShownCellTexts, source_changes, with_lines
from .shown_text import ShownText, marked_lines


def record_cells(tracker: ReadTracker, stat: FileStat, document: NotebookDocument, shown: Sequence[ShownLines]) -> None:
    """Leave a receipt for cells that are being shown; cells shown earlier stay known as they were then."""
    earlier = cell_receipt(tracker, stat.key)
    keys, order = keys_of([cell.cell_id for cell in document.cells]), document.order
    names = dict(zip(keys_in(earlier, document), keys, strict=True))
    texts = ShownCellTexts.kept_by(tracker, earlier).renamed(names)
    known_before = (earlier.cells or {}) if earlier else {}
    cells = {names[key]: known for key, known in known_before.items() if key in names}
    for one in shown:
        key, fingerprint = keys[one.cell], document.cells[one.cell].fingerprint
        known = ShownCell.of(cells[key]) if key in cells else None
        again = known is not None and known.fingerprint == fingerprint
        cells[key] = with_lines(known if again else None, fingerprint, one.lines).spelled()
        texts.put(key, ((texts.of(key) if again else None) or ShownText()).with_lines(one.lines.first, one.lines.text))
    places = earlier.lines if earlier and earlier.cell_order == order else []
    receipt = _receipt(tracker, stat)
    if earlier is not None and earlier.version == stat.content_version:
        receipt.text_sha, receipt.exact_sha = earlier.text_sha, earlier.exact_sha
    receipt.cells = cells
    receipt.full = _is_full(receipt.cells, keys)
    receipt.cell_order = order
    receipt.lines = united([*places, *((one.cell + 1, one.cell + 1) for one in shown)])
    tracker.put(receipt, texts.packed())


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
        old_keys = keys_in(earlier, before) if before else []
        names = {
            old_keys[cell.origin]: key
            for key, cell in zip(keys, after, strict=True)
            if cell.origin is not None and cell.written is None
        }
        kept = ShownCellTexts.kept_by(tracker, earlier)
        texts = kept.renamed(names)
        receipt = _receipt(tracker, stat)
        receipt.read_at, receipt.own_write = (earlier.read_at, earlier.own_write) if earlier else (tracker.now(), True)
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
        return receipt, texts.packed()

    return receipt_after


def _written(
    cell: CellAfter, old: Cell | None, known: ShownCell | None, shown: ShownText | None
) -> tuple[ShownCell, ShownText]:
    """The receipt of a cell that its reader has written, and the lines to keep of it."""
    assert cell.written is not None
    source, fingerprint = cell.written[1], cell_fingerprint(*cell.written)
    if known is not None and old is not None and known.fingerprint != old.fingerprint:
        known = shown = None
    seen = UNSEEN if known is None else known.seen
    if cell.whole or old is None or seen is None:
        return ShownCell(fingerprint, None), ShownText().with_lines(1, source)
    for touched in cell.touched:
        seen = seen.after(touched)
    total = len(marked_lines(source)) if source else 0
    changes = source_changes(old.source, source)
    return ShownCell.of_lines(fingerprint, seen, total), (shown or ShownText()).with_changes(changes)


def shown_lines(receipt: Receipt | None, document: NotebookDocument) -> dict[int, Ranges]:
    """The lines that the reader was shown of each cell, by index; only of cells that were shown in part."""
    cells = (receipt.cells or {}) if receipt is not None else {}
    known = {at: ShownCell.of(cells[key]).seen for at, key in enumerate(keys_in(receipt, document)) if key in cells}
    return {at: seen.lines for at, seen in known.items() if seen is not None}


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


def keys_in(receipt: Receipt | None, document: NotebookDocument) -> list[str]:
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
        read_at=tracker.now(),
    )


def _is_full(cells: dict[str, str], keys: Sequence[str]) -> bool:
    return all(key in cells and ShownCell.of(cells[key]).seen is None for key in keys)
