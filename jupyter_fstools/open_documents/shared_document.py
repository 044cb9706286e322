"""Edits the shared documents of rooms by minimal operations in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from ..content.splices import Splice
from ..documents.notebook.operations import NotebookOperations, SourceSpans
from .protocol import ROOM
from .shared_cells import (
    SharedCells,
    cells_with_carets,
    copies_in,
    is_running,
    moved_splices,
    shared_types,
    splice_text,
)

ORIGIN = "jupyter_fstools"
"""The origin of our transactions, by which a person's undo leaves them alone: they are not the person's typing."""


class SharedDocument:
    """A document of jupyter_ydoc whose changes are counted; touched on the event loop alone.

    Args:
        document: a `YNotebook` or `YUnicode`.
        observed: the parts of it that are its content.

    Attributes:
        changes: grows with each change of the content, by anyone.
        token: different from that of any other document.
    """

    def __init__(self, document: Any, *observed: Any) -> None:
        self.document = document
        self.changes = 0
        self.token = secrets.token_hex(8)
        self._subscriptions = [(part, part.observe_deep(self._changed)) for part in observed]

    def version(self, changes: int) -> str:
        """The version of the content after so many changes; equal only for equal content."""
        return f"{ROOM}{self.token} {changes}"

    def value(self) -> Any:
        """The content, as the contents API has it."""
        return self.document.get()

    def close(self) -> None:
        """Stop counting changes."""
        for part, subscription in self._subscriptions:
            part.unobserve(subscription)

    def _changed(self, events: object) -> None:
        self.changes += 1


class SharedText(SharedDocument):
    """A text in a room."""

    def __init__(self, document: Any) -> None:
        self._text = document.ydoc.get("source", type=shared_types().Text)
        super().__init__(document, self._text)

    def patch(self, splices: Sequence[Splice], before: bytes) -> None:
        """Apply splices of a UTF-8 text, even if somebody has typed elsewhere in it since.

        Raises:
            Conflict: somebody changed the same place; nothing was changed.
        """
        now = str(self._text).encode()
        moved = moved_splices(splices, before, now)
        with self.document.ydoc.transaction(origin=ORIGIN):
            splice_text(self._text, moved)


class SharedNotebook(SharedDocument):
    """A notebook in a room."""

    def __init__(self, document: Any) -> None:
        super().__init__(document, document.ycells, document.ydoc.get("meta", type=shared_types().Map))

    @property
    def ids(self) -> list[str | None]:
        """The ids of the cells in the content; also for a format in which files have no ids.

        The content has only one of equal cells with the same id. If such cells differ, reading the content gives them
        new ids.
        """
        ids = [cell.get("id") for cell in self.document.ycells]
        copies = copies_in(ids)
        return [cell_id for at, cell_id in enumerate(ids) if at not in copies]

    def staying_cells(self) -> set[str | None]:
        """The ids of cells that run or are typed in: recreated, they would lose outputs or keystrokes."""
        running = {cell.get("id") for cell in self.document.ycells if is_running(cell)}
        return running | cells_with_carets(self.document)

    def patch(self, told: NotebookOperations, ids: Sequence[str | None], sources: Mapping[int, str]) -> bool:
        """Carry out operations, even if somebody has changed other cells since.

        False: a running cell got its new source, but kept its current outputs.

        Args:
            told: the operations.
            ids: of all cells before.
            sources: of the cells whose source must be as it was, by index.

        Raises:
            Conflict: one of their cells was changed, would have to be recreated while somebody types in it, or would
            lose its outputs while it is running; nothing was changed.
        """
        cells = SharedCells(self.document, ids, sources)
        edited = {one.cell.index for one in told.operations if isinstance(one, SourceSpans)}
        operations = [cells.beside_a_run(one) if one.cell.index in edited else one for one in told.operations]
        for operation in operations:
            cells.require(operation)
        with self.document.ydoc.transaction(origin=ORIGIN):
            cells.drop_copies(operations)
            for operation in operations:
                cells.carry_out(operation)
        return operations == told.operations
