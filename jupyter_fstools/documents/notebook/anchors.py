"""Applies a change of cells to a notebook that changed elsewhere."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...content.source import BytesContent, Content
from ...content.splices import Splice, SplicedContent, trimmed
from ...diffs.line_diff import CONTEXT_LINES, changed_blocks, grouped
from ...errors import FsToolsError
from ..text.spans import Span, splices_of
from .cell import Cell, lines_of
from .cell_ids import is_synthetic
from .document import NotebookDocument
from .operations import (
    CellName,
    CellOperation,
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
_MOST_CHARACTERS = 1 << 16


class _MovedOn(Exception):
    """A cell is no longer as the change expects it."""


class LineAnchors(BaseModel):
    """The lines of one cell that a change replaces, with those around them, as a diff has them.

    Attributes:
        cell_type: that the cell must still have.
        hunks: of each hunk the lines before and after the change; none where the cell is converted alone.
    """

    cell_type: str
    hunks: list[tuple[list[str], list[str]]]

    def of_hunks(self, positions: Collection[int] | Literal["all"]) -> LineAnchors:
        """The lines of some hunks."""
        hunks = [hunk for at, hunk in enumerate(self.hunks) if positions == "all" or at in positions]
        return LineAnchors(cell_type=self.cell_type, hunks=hunks)

    def rewritten(self, cell: Cell) -> str | None:
        """The source that the change makes of a cell that was edited since; None where a hunk is not there once."""
        if cell.cell_type != self.cell_type:
            return None
        lines, done, at = cell.source.split("\n"), list[str](), 0
        for old, new in self.hunks:
            starts = [start for start in range(len(lines) - len(old) + 1) if lines[start : start + len(old)] == old]
            if len(starts) != 1 or starts[0] < at:
                return None
            done += [*lines[at : starts[0]], *new]
            at = starts[0] + len(old)
        return "\n".join([*done, *lines[at:]])


class CellAnchors(NotebookOperations):
    """Operations on cells, and what they expect, by the cells' indexes.

    Attributes:
        fingerprints: type and source (`cell_fingerprint`) that a cell must still have.
        lines: of a cell whose source alone changes, the lines that are enough where the person went on in it, or where
            it has no fingerprint.
    """

    model_config = ConfigDict(ser_json_inf_nan="constants")  # Plots hold NaN, and notebooks have it as it is.

    fingerprints: dict[int, str]
    lines: dict[int, LineAnchors] = Field(default_factory=dict)

    def of_hunks(self, named: Mapping[str, Collection[int] | Literal["all"]]) -> CellAnchors | None:
        """The part of them that is about some cells; None where one of these is not told, or a hunk of it is not.

        A cell without id has another name once it is edited, and one that moves goes and comes: they are told together.
        A cell that comes or moves lands after the nearest one before it that is there without the other parts.

        Args:
            named: by the ids of cells the positions of their hunks.
        """
        if any(is_synthetic(one.cell.id) for one in self.operations):
            return None
        chosen = [one for one in self.operations if one.cell.id in named]
        if {one.cell.id for one in chosen} != set(named):
            return None
        names = {one.cell.index: one.cell.id or "" for one in chosen}
        hunks = {index: positions for index, name in names.items() if (positions := named[name]) != "all"}
        if not hunks.keys() <= self.lines.keys():
            return None
        left = {
            one.cell.index: one.after
            for one in self.operations
            if isinstance(one, Insert | Move) and one.cell.index not in names
        }

        def fits(operation: CellOperation) -> bool:
            # Outputs that come back are those of the whole source.
            comes = isinstance(operation, Members) and any(operation.set.values())
            return not (comes and operation.cell.index in hunks)

        def landing(operation: CellOperation) -> CellOperation:
            if not isinstance(operation, Insert | Move):
                return operation
            after = operation.after
            while after is not None and after.index in left:
                after = left[after.index]
            return operation.model_copy(update={"after": after})

        return CellAnchors(
            total=self.total,
            operations=[landing(one) for one in chosen if fits(one)],
            # Of a cell whose other hunks are left alone, the source as a whole says nothing.
            fingerprints={at: told for at, told in self.fingerprints.items() if at in names and at not in hunks},
            lines={at: told.of_hunks(hunks.get(at, "all")) for at, told in self.lines.items() if at in names},
        )

    def placed(self, now: Content) -> list[Splice] | None:
        """Splices that do the same to what the notebook is now; None where a cell of the change is another one.

        Outputs that the change takes away or brings back are left alone where the cell has new ones.
        """
        try:
            return _Replay(NotebookDocument(now), self).splices()
        except (_MovedOn, FsToolsError, UnicodeError, RecursionError):
            return None


def cell_anchors(
    before: NotebookDocument,
    after: NotebookDocument,
    splices: Sequence[Splice],
    *,
    back: bool = False,
    moved: Collection[str] = (),
) -> CellAnchors | None:
    """Anchors for repeating a change of these cells; None where more than cells and their outputs changes.

    Args:
        before: the notebook before.
        after: the notebook after.
        splices: what leads from one to the other.
        back: they take a change back.
        moved: the cells, by id, that are to be moved rather than those around them.

    Raises:
        NotebookRefused: it is no notebook.
    """
    staying = {cell.index for cell in before.cells if cell.cell_id not in moved} if moved else ()
    told = operations_between(before, after, splices, [cell.cell_id for cell in before.cells], staying)
    if told is None or any(isinstance(one, Members) and not _PUT_OUT.issuperset(one.set) for one in told.operations):
        return None
    named = [one for one in told.operations if isinstance(one, SourceSpans | Convert | Delete)]
    fingerprints = {one.cell.index: before.cells[one.cell.index].fingerprint for one in named}
    # What a cell had with its type before was of the source that it had then.
    fixed = Delete | Convert if back else Delete
    whole = {one.cell.index for one in named if isinstance(one, fixed)}
    now = {cell.cell_id: cell for cell in after.cells}
    anchors = {
        index: _line_anchors(cell := before.cells[index], now.get(cell.cell_id))
        for index in fingerprints
        if index not in whole
    }
    lines = {index: found for index, found in anchors.items() if found is not None}
    return CellAnchors(total=told.total, operations=told.operations, fingerprints=fingerprints, lines=lines)


def _line_anchors(cell: Cell, after: Cell | None) -> LineAnchors | None:
    """Anchors for what a cell's source becomes; None where it was empty and is written, or they would be too large."""
    source = after.source if after is not None else ""
    if source and not cell.source:
        return None
    before, now = cell.source.split("\n"), source.split("\n")
    hunks = []
    for group in grouped(changed_blocks(before, now), CONTEXT_LINES):
        (start, _, new_start, _), (_, end, _, new_end) = group[0], group[-1]
        above, below = before[max(0, start - CONTEXT_LINES) : start], before[end : end + CONTEXT_LINES]
        hunks.append(([*above, *before[start:end], *below], [*above, *now[new_start:new_end], *below]))
    size = sum(len(line) for sides in hunks for side in sides for line in side)
    return LineAnchors(cell_type=cell.cell_type, hunks=hunks) if size <= _MOST_CHARACTERS else None


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
        NotebookDocument(whole)  # Refused if it is none.
        return trimmed(_all_of(self._now.content), _all_of(whole))

    def _source(self, operation: SourceSpans) -> str:
        rewritten = self._rewritten.get(operation.cell.index)
        if rewritten is not None:
            return rewritten
        source = self._now.cells[self._token(operation.cell)].source
        data, splices = source.encode(), splices_of(operation.spans, source)
        # Other line ends make no other fingerprint, and move what stands behind them.
        if not all(_fits(data, splice, span) for splice, span in zip(splices, operation.spans, strict=True)):
            raise _MovedOn
        return _all_of(SplicedContent(BytesContent(data), splices)).decode()

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


def _fits(data: bytes, splice: Splice, span: Span) -> bool:
    expected = (span.before + span.removed + span.after).encode()
    return data.startswith(expected, splice.offset - len(span.before.encode()))


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
