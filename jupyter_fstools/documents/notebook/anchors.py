"""Carries out a change of cells in a notebook that changed elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...content.source import BytesContent, Content
from ...content.splices import Splice, SplicedContent, trimmed
from ...errors import FsToolsError
from ..text.spans import splices_of
from .cell import lines_of
from .cell_edit import CellEdit
from .document import NotebookDocument
from .operations import (
    CellName,
    Convert,
    Delete,
    Insert,
    Members,
    Move,
    NotebookOperations,
    SourceSpans,
    operations_between,
)
from .source_text import gaps_of, indent_of, rearranged

_PUT_OUT = {"outputs", "execution_count"}


class _MovedOn(Exception):
    """A cell is no longer as the change expects it."""


class CellAnchors(NotebookOperations):
    """Operations on cells, and by index the type and source (`cell_fingerprint`) that a cell must still have."""

    fingerprints: dict[int, str]

    def placed(self, now: Content) -> list[Splice] | None:
        """Splices that do the same to what the notebook is now; None where a cell of the change is another one.

        Outputs that the change takes away or brings back are left alone where the cell has new ones.
        """
        try:
            return _Replay(NotebookDocument(now), self).splices()
        except (_MovedOn, FsToolsError, UnicodeError, RecursionError):
            return None


def cell_anchors(before: NotebookDocument, after: NotebookDocument, splices: Sequence[Splice]) -> CellAnchors | None:
    """Anchors for repeating a change of these cells; None where more than cells and their outputs changes.

    Raises:
        NotebookRefused: it is no notebook.
    """
    told = operations_between(before, after, splices, [cell.cell_id for cell in before.cells])
    if told is None or any(isinstance(one, Members) and not _PUT_OUT.issuperset(one.set) for one in told.operations):
        return None
    named = [one.cell.index for one in told.operations if isinstance(one, SourceSpans | Convert | Delete)]
    fingerprints = {index: before.cells[index].fingerprint for index in named}
    return CellAnchors(total=told.total, operations=told.operations, fingerprints=fingerprints)


class _Replay:
    """Does to one notebook what operations did to another one."""

    def __init__(self, now: NotebookDocument, told: CellAnchors) -> None:
        self._now, self._told = now, told
        self._ids: dict[str, list[int]] = {}
        for cell in now.cells:
            self._ids.setdefault(cell.cell_id, []).append(cell.index)
        # Cells by their index: those of the notebook as it is now, then the new ones of the change.
        self._order = list(range(len(now.cells)))
        self._written: dict[int, dict[str, Any]] = {}
        self._moved: set[int] = set()

    def splices(self) -> list[Splice]:
        for index, expected in self._told.fingerprints.items():
            name = next(one.cell for one in self._told.operations if one.cell.index == index)
            if self._now.cells[self._token(name)].fingerprint != expected:
                raise _MovedOn
        edits = [self._edit(one) for one in self._told.operations if isinstance(one, SourceSpans)]
        splices = self._now.apply(edits).splices if edits else []
        if len(edits) == len(self._told.operations):
            return splices
        middle = SplicedContent(self._now.content, splices)
        document = NotebookDocument(middle) if edits else self._now
        for operation in self._told.operations:
            if not isinstance(operation, SourceSpans):
                self._carry_out(document, operation)
        whole = SplicedContent(middle, self._rearranged(document))
        NotebookDocument(whole)  # Refused if it is none.
        return trimmed(_all_of(self._now.content), _all_of(whole))

    def _edit(self, operation: SourceSpans) -> CellEdit:
        cell = self._now.cells[self._token(operation.cell)]
        data = cell.source.encode()
        new = SplicedContent(BytesContent(data), splices_of(operation.spans, cell.source))
        return CellEdit(index=cell.index, new_source=_all_of(new).decode(), keep_outputs=True)

    def _carry_out(self, document: NotebookDocument, operation: Members | Convert | Delete | Insert | Move) -> None:
        token = self._token(operation.cell)
        if isinstance(operation, Delete):
            self._order.remove(token)
        elif isinstance(operation, Insert | Move):
            if isinstance(operation, Insert):
                if operation.cell.id in self._ids:
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
                self._written[token] = json.loads(
                    cell.content.read(cell.place.start, cell.place.end - cell.place.start)
                )
            self._written[token] = _with(self._written[token], operation)

    def _token(self, name: CellName) -> int:
        if name.index >= self._told.total:
            return len(self._now.cells) + name.index - self._told.total
        found = self._ids.get(name.id or "", [])
        if len(found) != 1 or found[0] not in self._order:
            raise _MovedOn
        return found[0]

    def _rearranged(self, document: NotebookDocument) -> list[Splice]:
        array = document.spans.array
        assert array is not None
        places = [(cell.place.start, cell.place.end) for cell in document.cells]
        indent = indent_of(document.content, document.spans.root)
        gaps = gaps_of(document.content, array, places, indent.comma) or indent.gaps(1)
        separators = (",", indent.colon.decode()) if indent.newline else (indent.comma.decode(), indent.colon.decode())
        new: list[int | bytes] = []
        for token in self._order:
            if token in self._written:
                unit = indent.unit.decode() if indent.newline else None
                text = json.dumps(self._written[token], indent=unit, ensure_ascii=False, separators=separators)
                new.append(text.encode().replace(b"\n", indent.newline + 2 * indent.unit))
            elif token in self._moved:
                start, end = places[token]
                new.append(document.content.read(start, end - start))
            else:
                new.append(token)
        return list(rearranged(document.content, array, places, new, gaps))


def _with(cell: dict[str, Any], operation: Members | Convert) -> dict[str, Any]:
    if isinstance(operation, Members):
        if cell.get("cell_type") != "code":
            raise _MovedOn
        return cell | {key: value for key, value in operation.set.items() if not (value and cell.get(key))}
    gone = ("attachments",) if operation.cell_type == "code" else tuple(_PUT_OUT)
    kept = {key: value for key, value in cell.items() if key not in gone} | {"cell_type": operation.cell_type}
    return kept | ({"execution_count": None, "outputs": []} if operation.cell_type == "code" else {})


def _all_of(content: Content) -> bytes:
    return content.read(0, content.size)
