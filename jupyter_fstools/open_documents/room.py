"""Reads and changes a file through its collaboration room."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

from ..backends.protocol import Backend, FileStat, OpenFile
from ..content.fingerprint import fingerprint_of
from ..content.source import BytesContent, all_of
from ..content.splices import Splice, spliced
from ..documents.notebook import NotebookDocument
from ..documents.notebook.operations import (
    CellOperation,
    Convert,
    Delete,
    Members,
    Move,
    SourceSpans,
    notebook_operations,
)
from ..documents.notebook.saved import is_saved_as, saved_bytes
from ..documents.text.spans import spans_of, splices_of
from ..errors import Conflict, FsToolsError, NotebookRefused, Unsaved
from ..stores.records import Place
from .protocol import Applied, Rewrite
from .shared_document import SharedNotebook, SharedText

Answer = TypeVar("Answer")

_SAVE_SECONDS = 3.0
_PAUSE_SECONDS = 0.02
# Rooms load CRLF as LF: a page counts each as one character, so with CRLF typed text would land in a wrong place.
_OTHER_LINE_ENDINGS = (
    r"is open in a collaboration room, where no other line endings than \n are written",
    r"Write it with \n. Or: ",
)


class EventLoop(Protocol):
    """Runs a function where a room's document may be touched."""

    def __call__(self, step: Callable[[], Answer]) -> Answer:
        """The result, or the exception that it raised.

        Raises:
            Unsaved: the room was not ready in time; the function has not run and never will.
        """


class Snapshot(NamedTuple):
    """A room's content as bytes, and the number of changes so far; `ids` are the cells' ids in the document."""

    changes: int
    data: bytes
    ids: Sequence[str | None]


class Look(NamedTuple):
    """The state of a room's document, as seen on the event loop.

    Attributes:
        changes: as `SharedDocument` counts them.
        value: the content; None: it is the expected one.
        ids: the cells' ids in the document.
    """

    changes: int
    value: Any
    ids: Sequence[str | None]


class RoomContent(BytesContent):
    """A room's content at one moment."""

    def __init__(self, stat: FileStat, snapshot: Snapshot, unchanged: Callable[[], bool]) -> None:
        super().__init__(snapshot.data)
        self.stat = stat
        self.snapshot = snapshot
        self.unchanged = unchanged


class Room:
    """The holder of a file for which there is a room, which saves it by itself after every change.

    Args:
        backend: where the file is.
        stat: the file as it is there.
        shared: the room's document.
        kept: the last snapshot of every document, by its token.
        on_loop: runs what touches the document.
        save_at_once: saves a room that would end without saving by itself; False for any other room. Called on the
            event loop.
    """

    place: Place = "room"

    def __init__(
        self,
        backend: Backend,
        stat: FileStat,
        shared: SharedText | SharedNotebook,
        kept: dict[str, Snapshot],
        on_loop: EventLoop,
        save_at_once: Callable[[], bool],
    ) -> None:
        self._backend, self._stat, self._shared = backend, stat, shared
        self._kept, self._on_loop, self._save_at_once = kept, on_loop, save_at_once

    @contextmanager
    def content(self) -> Iterator[OpenFile]:
        """The content that people see now, as the bytes that the room would save."""
        known, shared = self._kept.get(self._shared.token), self._shared
        look = self._on_loop(lambda: _look(shared, expected=known is not None and known.changes == shared.changes))
        snapshot = self._snapshot(look, known.data if known is not None else b"")
        yield RoomContent(self._stat_of(snapshot), snapshot, lambda: shared.changes == snapshot.changes)

    def on_disk(self) -> None:
        """None: the room may save at any time, so the file's content is not known."""

    def apply(self, rewrite: Rewrite) -> Applied:
        """Change the document in one transaction; the room saves it about a second later."""
        before, splices = rewrite.before, rewrite.splices
        if not isinstance(before, RoomContent):
            raise self._refusal("was deleted, and is still open in a collaboration room")
        after = spliced(before.data, splices)
        if isinstance(self._shared, SharedText):
            if b"\r" in after and b"\r" not in before.data:
                raise self._refusal(*_OTHER_LINE_ENDINGS)
            patch = _text_patch(self._shared, before, splices)
        else:
            patch = _notebook_patch(
                self._shared, before, NotebookDocument(before, rewrite.outline), splices, self._on_loop
            )
        old = fingerprint_of([before.data]) if rewrite.hash_before else None
        new = fingerprint_of([after])
        rewrite.begin(old, new)
        look, is_saving = self._on_loop(lambda: (patch(), self._save_at_once()))
        snapshot = self._snapshot(look, after)
        stat = self._stat_of(snapshot)
        written = self._outlived(snapshot.data) if is_saving else None
        if snapshot.data == after:
            return Applied(written or stat, old, new, saved=written is not None)
        # No caller was shown text that others typed meanwhile, so the answer is about the change alone.
        meant = replace(stat, size=len(after), version=f"{stat.version} as meant")
        return Applied(meant, old, new, saved=written is not None)

    def _outlived(self, data: bytes) -> FileStat | None:
        """Wait until the room has saved, or write the file if the room ended before; None if it takes too long.

        Raises:
            as `Backend.write`: the room has ended, and somebody else has changed the file; the change is gone.
        """
        seen, end = self._stat.version, time.monotonic() + _SAVE_SECONDS
        while time.monotonic() < end:
            ended = self._has_ended()
            stat = self._backend.stat(self._stat.path)
            if stat.version != seen and self._is_saved(data):
                return stat if ended else self._stat_of(self._kept[self._shared.token])
            if ended:
                return self._written(data)
            seen = stat.version
            time.sleep(_PAUSE_SECONDS)
        return None

    def _written(self, data: bytes) -> FileStat:
        """Write the content that the room did not save, unless the room's last save comes after all."""
        try:
            return self._backend.write(self._stat.path, [data], if_match=self._stat.version)
        except Conflict:
            # That save goes on in its thread after the room has ended, and writes in place: first the file is empty.
            end = time.monotonic() + _SAVE_SECONDS
            while not self._is_saved(data):
                if time.monotonic() > end:
                    raise
                time.sleep(_PAUSE_SECONDS)
            return self._backend.stat(self._stat.path)

    def _has_ended(self) -> bool:
        try:
            self._on_loop(lambda: None)
        except Conflict:
            return True
        except Unsaved:  # The room is loading its file again.
            return False
        return False

    def _is_saved(self, data: bytes) -> bool:
        found = self._saved_data()
        return found == data or (isinstance(self._shared, SharedNotebook) and is_saved_as(found, json.loads(data)))

    def remove(self, before: OpenFile) -> None:
        """Refuse: the room would write the file again."""
        raise self._refusal("is open in a collaboration room, which would write it again")

    def _snapshot(self, look: Look, expected: bytes) -> Snapshot:
        if look.value is None or (isinstance(look.value, dict) and is_saved_as(expected, look.value)):
            data = expected
        elif isinstance(look.value, str):
            data = look.value.encode()
        else:
            data = self._saved_data()
            data = data if is_saved_as(data, look.value) else saved_bytes(look.value)
        snapshot = self._kept[self._shared.token] = Snapshot(look.changes, data, look.ids)
        return snapshot

    def _saved_data(self) -> bytes:
        try:
            with self._backend.read(self._stat.path) as opened:
                return all_of(opened)
        except FsToolsError:  # The file was deleted meanwhile.
            return b""

    def _stat_of(self, snapshot: Snapshot) -> FileStat:
        version = self._shared.version(snapshot.changes)
        return replace(self._stat, size=len(snapshot.data), version=version, look="")

    def _refusal(self, why: str, other: str = "") -> Unsaved:
        hint = "Ask the person to close the document: about a minute later the room has ended, then repeat the call."
        return Unsaved(f"{self._stat.path} {why} (not modified)", hint=other + hint, path=self._stat.path)


def _look(shared: SharedText | SharedNotebook, *, expected: bool) -> Look:
    value = None if expected else shared.value()
    ids = shared.ids if isinstance(shared, SharedNotebook) else ()
    return Look(shared.changes, value, ids)


def _text_patch(shared: SharedText, before: RoomContent, splices: Sequence[Splice]) -> Callable[[], Look]:
    minimal = splices_of(spans_of(before, splices, as_in_browser=False), before.data.decode())

    def patch() -> Look:
        alone = shared.changes == before.snapshot.changes
        shared.patch(minimal, before.data)
        return _look(shared, expected=alone)

    return patch


def _notebook_patch(
    shared: SharedNotebook,
    before: RoomContent,
    document: NotebookDocument,
    splices: Sequence[Splice],
    on_loop: EventLoop,
) -> Callable[[], Look]:
    known = before.snapshot
    names = [cell_id or "" for cell_id in known.ids]
    told = notebook_operations(document, splices, names)
    if told is None:
        raise NotebookRefused(
            f"{before.stat.path} is open in a collaboration room, where only its cells are changed (not modified)",
            hint="Change its cells with `edit_notebook`.",
        )
    if any(isinstance(operation, Move) for operation in told.operations):
        there = on_loop(shared.staying_cells)
        staying = [index for index, cell_id in enumerate(known.ids) if cell_id in there]
        told = notebook_operations(document, splices, names, staying) or told
    checked = (SourceSpans, Convert, Delete)
    sources = {
        one.cell.index: document.cells[one.cell.index].source for one in told.operations if isinstance(one, checked)
    }
    expected = all(_is_plain(operation) for operation in told.operations)

    def patch() -> Look:
        alone = shared.changes == known.changes
        is_whole = shared.patch(told, known.ids, sources)
        return _look(shared, expected=expected and alone and is_whole)

    return patch


def _is_plain(operation: CellOperation) -> bool:
    """Whether the document will hold exactly the operation's content, so that it need not be read again."""
    if isinstance(operation, Members):
        return all(key in ("outputs", "execution_count") and not value for key, value in operation.set.items())
    return isinstance(operation, SourceSpans)
