"""Repeats a change of cells in a notebook that changed elsewhere."""

from __future__ import annotations

import json
from typing import Any

from ...content.source import Content, all_of
from ...content.splices import Splice, SplicedContent, spliced, trimmed
from ...errors import FsToolsError
from ..text.spans import Span, splices_of
from .anchors import PUT_OUT, CellAnchors
from .cell import Cell, lines_of
from .document import NotebookDocument
from .operations import CellName, Convert, Delete, Insert, Members, Move, SourceSpans
from .source_text import indent_of, rearranged_cells


class _MovedOn(Exception):
    """A cell is no longer as the change expects it."""


def replayed(anchors: CellAnchors, now: Content) -> list[Splice] | None:
    """Splices that repeat a change in the current notebook; None where a cell of the change has other content.

    Outputs that the change removes or restores are left alone where the cell has new ones.
    """
    try:
        return _Replay(NotebookDocument(now), anchors).splices()
    except (_MovedOn, FsToolsError, UnicodeError, RecursionError):
        return None


class _Replay:
    """Applies the operations of one notebook to another one."""

    def __init__(self, now: NotebookDocument, told: CellAnchors) -> None:
        self._now, self._told = now, told
        # Cells by index: first those of the current notebook, then the new ones of the change.
        self._order = list(range(len(now.cells)))
        self._written: dict[int, dict[str, Any]] = {}
        self._moved: set[int] = set()
        self._rewritten: dict[int, str] = {}

    def splices(self) -> list[Splice]:
        fingerprints, lines = self._told.fingerprints, self._told.lines
        for index in fingerprints.keys() | lines.keys():
            name = next(one.cell for one in self._told.operations if one.cell.index == index)
            cell = self._now.cells[self._token(name)]
            if cell.fingerprint != fingerprints.get(index):
                self._rewritten[index] = self._source_where_it_fits(cell, index)
        written = [one for one in self._told.operations if isinstance(one, SourceSpans)]
        splices = self._now.with_sources({self._token(one.cell): self._source(one) for one in written})
        if len(written) == len(self._told.operations):
            return splices
        middle = SplicedContent(self._now.content, splices)
        document = NotebookDocument(middle) if written else self._now
        for operation in self._told.operations:
            if not isinstance(operation, SourceSpans):
                self._carry_out(document, operation)
        whole = SplicedContent(middle, self._rearranged(document))
        NotebookDocument(whole)  # Raises if the result is not a notebook.
        return trimmed(all_of(self._now.content), all_of(whole))

    def _source(self, operation: SourceSpans) -> str:
        rewritten = self._rewritten.get(operation.cell.index)
        if rewritten is not None:
            return rewritten
        source = self._now.cells[self._token(operation.cell)].source
        data, splices = source.encode(), splices_of(operation.spans, source)
        # Line ends are not in the fingerprint, but other ones shift the offsets after them.
        if not all(_fits(data, splice, span) for splice, span in zip(splices, operation.spans, strict=True)):
            raise _MovedOn
        return spliced(data, splices).decode()

    def _source_where_it_fits(self, cell: Cell, index: int) -> str:
        lines = self._told.lines.get(index)
        source = lines.rewritten(cell) if lines else None
        if source is None:
            raise _MovedOn
        return source

    def _carry_out(self, document: NotebookDocument, operation: Members | Convert | Delete | Insert | Move) -> None:
        token = self._token(operation.cell)
        if isinstance(operation, Delete):
            self._order.remove(token)
        elif isinstance(operation, Insert | Move):
            if isinstance(operation, Insert):
                if operation.cell.id in self._now.cells.by_id:
                    raise _MovedOn
                self._written[token] = operation.content | {"source": lines_of(operation.content["source"])}
            else:
                self._order.remove(token)
                self._moved.add(token)
            after = operation.after
            self._order.insert(0 if after is None else self._order.index(self._token(after)) + 1, token)
        else:
            if token not in self._written:
                cell = document.cells[token]
                self._written[token] = json.loads(cell.raw(cell.place))
            self._written[token] = _with(self._written[token], operation)

    def _token(self, name: CellName) -> int:
        if name.index >= self._told.total:
            return len(self._now.cells) + name.index - self._told.total
        found = self._now.cells.by_id.get(name.id or "", [])
        if len(found) != 1 or found[0] not in self._order:
            raise _MovedOn
        return found[0]

    def _rearranged(self, document: NotebookDocument) -> list[Splice]:
        indent = indent_of(document.content, document.spans.root)
        separators = (",", indent.colon.decode()) if indent.newline else (indent.comma.decode(), indent.colon.decode())
        new: list[int | bytes] = []
        for token in self._order:
            if token in self._written:
                unit = indent.unit.decode() if indent.newline else None
                text = json.dumps(self._written[token], indent=unit, ensure_ascii=False, separators=separators)
                new.append(text.encode().replace(b"\n", indent.newline + 2 * indent.unit))
            elif token in self._moved:
                cell = document.cells[token]
                new.append(cell.raw(cell.place))
            else:
                new.append(token)
        return list(rearranged_cells(document.content, document.spans, document.cells, new))


def _fits(data: bytes, splice: Splice, span: Span) -> bool:
    expected = (span.before + span.removed + span.after).encode()
    return data.startswith(expected, splice.offset - len(span.before.encode()))


def _with(cell: dict[str, Any], operation: Members | Convert) -> dict[str, Any]:
    if isinstance(operation, Members):
        if cell.get("cell_type") != "code":
            raise _MovedOn
        return cell | {key: value for key, value in operation.set.items() if not (value and cell.get(key))}
    gone = ("attachments",) if operation.cell_type == "code" else tuple(PUT_OUT)
    kept = {key: value for key, value in cell.items() if key not in gone} | {"cell_type": operation.cell_type}
    return kept | ({"execution_count": None, "outputs": []} if operation.cell_type == "code" else {})
