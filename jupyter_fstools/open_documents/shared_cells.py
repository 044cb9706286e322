"""Carries out operations on the cells of a shared notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from ..content.splices import Splice, trimmed
from ..documents.notebook.operations import (
    CellName,
    CellOperation,
    Convert,
    Delete,
    Insert,
    Members,
    Move,
    SourceSpans,
)
from ..documents.notebook.saved import plain_cell, plain_output
from ..documents.text.spans import splices_of
from ..errors import Conflict
from .saved_document import has_to_stay

CARET = "fstools:caret"
"""Field of a person's awareness state with the id of the cell in which they type."""
_OF_A_RUN = frozenset({"outputs", "execution_count"})


class SharedCells:
    """The cells of a shared notebook, found by their index before the change even if they have moved since."""

    def __init__(self, document: Any, ids: Sequence[str | None], sources: Mapping[int, str]) -> None:
        self._document, self._ycells, self._sources, self._total = document, document.ycells, sources, len(ids)
        live = [cell.get("id") for cell in self._ycells]
        copies = copies_in(live)
        known = {cell_id: index for index, cell_id in enumerate(ids)}
        if live != list(ids) and len(known) < len(ids):
            raise meanwhile("the cells were changed, and some have the same id")
        self._carets = cells_with_carets(document)
        self._twice = {live[at] for at in copies}
        if live == list(ids):
            self._order = list(range(len(ids)))
        else:
            # A cell that somebody inserted since has no index (-1), and neither has a copy.
            self._order = [-1 if at in copies else known.get(cell_id, -1) for at, cell_id in enumerate(live)]

    def beside_a_run(self, operation: CellOperation) -> CellOperation:
        """The operation without the outputs and count of a running cell."""
        if not (isinstance(operation, Members) and is_running(self._require_there(operation.cell))):
            return operation
        kept = {name: value for name, value in operation.set.items() if name not in _OF_A_RUN}
        return operation.model_copy(update={"set": kept})

    def require(self, operation: CellOperation) -> None:
        """Refuse an operation whose cell was changed, or has to stay as it is.

        Raises:
            Conflict
        """
        if isinstance(operation, Insert | Move) and operation.after is not None:
            self._require_there(operation.after)
        if isinstance(operation, Insert):
            return
        cell = self._require_there(operation.cell)
        assert cell is not None
        expected = self._sources.get(operation.cell.index)
        if isinstance(operation, SourceSpans):
            self._splices(operation, str(cell["source"]))
        elif expected is not None and str(cell["source"]) != expected:
            raise meanwhile(f"the cell at index {operation.cell.index} was changed")
        is_made_anew = isinstance(operation, Convert | Move | Delete) or _brings_outputs(cell, operation)
        is_made_anew |= cell.get("id") in self._twice  # The caret may be in either of the two copies.
        if is_made_anew and cell.get("id") in self._carets:
            raise has_to_stay("caret", operation.cell.index)
        sets_outputs = isinstance(operation, Members) and not _OF_A_RUN.isdisjoint(operation.set)
        if (is_made_anew or sets_outputs) and is_running(cell):
            raise has_to_stay("running", operation.cell.index)

    def drop_copies(self, operations: Sequence[CellOperation]) -> None:
        """Remove the copies of the cells that are about to change, which would become separate cells."""
        changed = {self._id_of(one.cell.index) for one in operations if not isinstance(one, Insert)} & self._twice
        for at in reversed(range(len(self._order) if changed else 0)):
            if self._order[at] < 0 and self._ycells[at].get("id") in changed:
                del self._ycells[at], self._order[at]

    def carry_out(self, operation: CellOperation) -> None:
        """Change the document, in a transaction of the caller."""
        if isinstance(operation, Insert):
            self._insert(operation.cell.index, operation.after, plain_cell(operation.content))
            return
        at = self._order.index(operation.cell.index)
        cell = self._ycells[at]
        if isinstance(operation, SourceSpans):
            splice_text(cell["source"], self._splices(operation, str(cell["source"])))
        elif isinstance(operation, Members):
            if _brings_outputs(cell, operation):
                cell = self._without_trust(at, operation.cell.index)
            _set_members(cell, operation.set)
        elif isinstance(operation, Delete):
            del self._ycells[at], self._order[at]
        else:
            content = cell.to_py()
            # Yjs 13 clients support neither moves nor a change of a cell's type.
            del self._ycells[at], self._order[at]
            if isinstance(operation, Move):
                self._insert(operation.cell.index, operation.after, content)
            else:
                self._put(at, operation.cell.index, _converted(content, operation.cell_type))

    def _splices(self, operation: SourceSpans, now: str) -> Sequence[Splice]:
        """The splices of a source, in which somebody may have typed elsewhere since.

        Raises:
            Conflict: they changed the same place.
        """
        before = self._sources.get(operation.cell.index, now)
        return moved_splices(splices_of(operation.spans, before), before.encode(), now.encode())

    def _id_of(self, index: int) -> str | None:
        cell_id: str | None = self._ycells[self._order.index(index)].get("id") if index < self._total else None
        return cell_id

    def _require_there(self, name: CellName) -> Any:
        if name.index >= self._total:
            return None  # The cell is new.
        if name.index not in self._order:
            raise meanwhile(f"the cell at index {name.index} was deleted")
        return self._ycells[self._order.index(name.index)]

    def _without_trust(self, at: int, index: int) -> Any:
        """Recreate a cell without trust: a page checks a cell's trust only when it first sees the cell."""
        content = self._ycells[at].to_py()
        content["metadata"].pop("trusted")
        del self._ycells[at], self._order[at]
        self._put(at, index, content)
        return self._ycells[at]

    def _insert(self, index: int, after: CellName | None, content: dict[str, Any]) -> None:
        self._put(0 if after is None else self._order.index(after.index) + 1, index, content)

    def _put(self, at: int, index: int, content: dict[str, Any]) -> None:
        self._ycells.insert(at, self._document.create_ycell(content))
        self._order.insert(at, index)


def copies_in(ids: Sequence[str | None]) -> set[int]:
    """The positions of cells that have the id of an earlier cell."""
    first = {cell_id: at for at, cell_id in zip(range(len(ids) - 1, -1, -1), reversed(ids), strict=True)}
    return {at for at, cell_id in enumerate(ids) if cell_id is not None and first[cell_id] != at}


def cells_with_carets(document: Any) -> set[str | None]:
    """The ids of the cells in which people type, as their pages report them."""
    states = document.awareness.states.values() if document.awareness is not None else ()
    # A page's state is not trusted: it may have any type.
    told = (state.get(CARET) for state in states if isinstance(state, dict))
    return {cell_id for cell_id in told if isinstance(cell_id, str)}


def splice_text(text: Any, splices: Sequence[Splice]) -> None:
    """Carry out splices of the UTF-8 bytes of a shared text, in a transaction of the caller."""
    for splice in reversed(splices):
        if splice.removed:
            del text[splice.offset : splice.end]
        if splice.inserted:
            text.insert(splice.offset, splice.inserted.decode())


def moved_splices(splices: Sequence[Splice], before: bytes, now: bytes) -> Sequence[Splice]:
    """The splices of a text, moved to their places in its current content.

    Raises:
        Conflict: it has changed in the same place.
    """
    moved = []
    for other in trimmed(before, now):
        shift = len(other.inserted) - len(other.removed)
        for splice in splices:
            if other.offset < splice.end and splice.offset < other.end:
                raise meanwhile("the same place was changed")
            moved.append(splice if splice.end <= other.offset else splice._replace(offset=splice.offset + shift))
        return moved
    return splices


def is_running(cell: Any) -> bool:
    """Whether a cell is running or waits for its turn; False for None."""
    return cell is not None and bool(cell.get("execution_state") == "running")


def _brings_outputs(cell: Any, operation: CellOperation) -> bool:
    """Whether a trusted cell gets new outputs: the person trusted only the outputs of their own runs."""
    if not isinstance(operation, Members) or not cell["metadata"].get("trusted"):
        return False
    own = [plain_output(output) for output in cell["outputs"].to_py()] if "outputs" in cell else []
    return any(plain_output(output) not in own for output in operation.set.get("outputs") or [])


def _set_members(cell: Any, members: dict[str, Any]) -> None:
    for key, value in members.items():
        if key == "outputs":
            cell["outputs"].clear()
            cell["outputs"].extend([_shared_output(output) for output in value or []])
        elif key == "metadata":
            trusted = cell["metadata"].get("trusted")  # Only the room stores it, not the file.
            cell["metadata"].clear()
            cell["metadata"].update((value or {}) | ({} if trusted is None else {"trusted": trusted}))
        elif value is None and key != "execution_count":
            cell.pop(key, None)
        else:
            cell[key] = value


def _shared_output(output: dict[str, Any]) -> Any:
    types, output = shared_types(), plain_output(output)
    if output.get("output_type") == "stream":
        output["text"] = types.Text(output.get("text", ""))
    return types.Map(output)


def _converted(content: dict[str, Any], cell_type: str) -> dict[str, Any]:
    kept = ("id", "source", "metadata") if cell_type == "code" else ("id", "source", "metadata", "attachments")
    new = {key: content[key] for key in kept if key in content} | {"cell_type": cell_type}
    return new | ({"outputs": [], "execution_count": None} if cell_type == "code" else {})


def shared_types() -> Any:
    """The package pycrdt, which only environments with rooms have."""
    return import_module("pycrdt")


def meanwhile(why: str) -> Conflict:
    """The refusal where somebody else's change came first."""
    return Conflict(f"{why} while the change was made (not modified)", hint="Read it again and repeat the change.")
