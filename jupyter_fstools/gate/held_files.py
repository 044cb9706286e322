"""Locks the files of a change until it is written."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from ..backends.protocol import FileStat, Locks
from ..errors import Conflict, Invalid, TimedOut
from ..open_documents.holders import Holders
from ..stores.protocol import Store
from .draft import Draft, ExpectedFile, require_file
from .kept_steps import placed_again
from .read_tracker import ReadTracker
from .stale import explain_change
from .unfinished import Unfinished
from .versions import Versions

_MOST_SETTLED = 3
"""How often a call settles changes that killed writers left in its files, before it gives up."""


class HeldFiles:
    """The files of one reader, held to be changed.

    Args:
        store: knows the pending changes.
        locks: one lock per file.
        unfinished: settles changes that killed writers left.
        holders: find the holder of a file's content.
        tracker: the reader's receipts.
        versions: caches fingerprints.
        until: until when (monotonic) a busy lock restarts the call, which waits in line, not in a thread; None: it
            waits in its thread.
    """

    def __init__(
        self,
        store: Store,
        locks: Locks,
        unfinished: Unfinished,
        holders: Holders,
        tracker: ReadTracker,
        versions: Versions,
        until: float | None,
    ) -> None:
        self._store = store
        self._locks = locks
        self._unfinished = unfinished
        self._holders = holders
        self._tracker = tracker
        self._versions = versions
        self._until = until

    @contextmanager
    def lock(self, keys: Sequence[str]) -> Iterator[None]:
        """Hold the locks of files without touching them; raises `TimedOut` where another call holds one."""
        with self._in_line(), self._hold(keys):
            yield

    def _hold(self, keys: Sequence[str]) -> AbstractContextManager[object]:
        return self._locks.hold(*keys, patience=self._patience, reader=self._tracker.reader)

    @property
    def _patience(self) -> float | None:
        return None if self._until is None else 0

    @contextmanager
    def _in_line(self) -> Iterator[None]:
        try:
            yield
        except TimedOut as busy:
            if self._until is None or time.monotonic() >= self._until:
                busy.lock = None
            raise

    @contextmanager
    def to_write(self, keys: Sequence[str]) -> Iterator[None]:
        """Hold the locks of files to change them, after settling the changes that killed writers left in them.

        Raises:
            TimedOut: another call holds one; Conflict: a change that was left cannot be settled; as `Unfinished.settle`
        """
        with self._in_line():
            for _ in range(_MOST_SETTLED):
                with self._hold(keys):
                    left = [change for key in keys for change in self._store.unfinished(key)]
                    if not left:
                        yield
                        return
                # Outside of the locks: a change may have further files, and all its locks must be taken in order.
                for change in left:
                    self._unfinished.settle(change, patience=self._patience)
        raise Conflict(
            f"a change that another process left unfinished in {left[0].path} cannot be settled now",
            hint="Try again in a moment.",
        )

    @contextmanager
    def restorable(self, stat: FileStat, expected: ExpectedFile) -> Iterator[Draft]:
        """Take a file that must still have the content, or the places, of a change; see `drafts_to_restore`.

        Raises:
            Stale: it has other content; says what changed.
        """
        path, state = expected.path, expected.state
        holder = self._holders.of(stat, to_change=True)
        if stat.path != path:
            raise expected.refusal("has been replaced by a link")
        if (stat.kind == "missing") != (state is None):
            raise expected.refusal("exists by now" if state is None else "does not exist any more")
        if state is None:
            yield Draft(path, stat, None, holder)
            return
        require_file(path, stat)
        with holder.content() as opened:
            receipt, placed = self._tracker.lookup(stat.key), None
            if opened.stat.size != state.size or self._versions.fingerprint(opened).exact != state.exact_sha:
                placed = None if holder.place == "disk" else placed_again(expected.kept, opened)
                if placed is None:
                    refusal = expected.refusal("has changed since")
                    explain_change(refusal, opened, expected, receipt)
                    raise refusal
            if receipt and (placed is not None or receipt.exact_sha != state.exact_sha):
                receipt = None
            yield Draft(path, opened.stat, opened, holder, receipt, placed)


def require_different_files(drafts: Sequence[Draft]) -> None:
    """Refuse to change one file by two of its names, as the second write would undo the first.

    Raises:
        Invalid
    """
    names: dict[str, str] = {}
    for draft in drafts:
        path, inode = draft.stat.path, draft.stat.inode
        first = names.setdefault(inode, path) if inode else path
        if first != path:
            raise Invalid(
                f"edits: {first} and {path} are hard links of one file",
                hint=f"Give all edits of this file the path {first!r}.",
                field="edits",
            )
