"""Settles pending changes whose writer was killed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Literal

from ..backends.protocol import FileStat, Locks
from ..content.fingerprint import fingerprint_of
from ..content.splices import parts_of, unpacked_undo, ways_of
from ..errors import Conflict, FsToolsError, TimedOut
from ..open_documents.holders import Holders
from ..stores.protocol import Store
from ..stores.record_json import from_json
from ..stores.records import Change, ChangedFile, Place
from .commits import settle
from .draft import Draft
from .path_resolver import PathResolver
from .write_ahead import WriteAhead

_log = logging.getLogger("jupyter_fstools")


class Unfinished:
    """Finds out from the files whether pending changes were carried out, and completes the journal.

    A writer holds the locks of its files until its change is finished: a change that is pending while somebody else
    holds these locks was left by a killed writer.

    Args:
        paths: where paths lead.
        store: where changes are recorded.
        locks: one lock per file.
        ahead: takes back a change that is half done.
        holders: find the holder of a file's content.
    """

    def __init__(self, paths: PathResolver, store: Store, locks: Locks, ahead: WriteAhead, holders: Holders) -> None:
        self._paths = paths
        self._store = store
        self._locks = locks
        self._ahead = ahead
        self._holders = holders

    def settle_free(self) -> None:
        """Settle all pending changes below the root, except those of live writers; never raises."""
        try:
            for change in self._store.unfinished(self._paths.backend.root_key):
                if self._is_below_root(change):
                    self._settle_if_free(change)
        except FsToolsError as problem:
            _log.warning("Changes left by processes that ended early are not settled yet: %s", problem.message)

    def settle(self, change: Change, *, patience: float | None = None) -> None:
        """Settle one change, unless a live writer holds its files for longer than `patience` seconds.

        Raises:
            TimedOut: a live writer did; InputOutput, Conflict, Denied: a file cannot be read or put back.
            Conflict: also, some of its files are outside of the root.
        """
        if not self._is_below_root(change):
            raise Conflict(
                "a change of files inside and outside of the root was left unfinished by a process that was killed",
                hint=f"Ask the person to open {self._root_of(change)} with these tools, which settles it.",
            )
        with self._locks.hold(*change.keys, patience=patience):
            found = self._store.change(change.id)
            if found is not None and found.status == "pending":
                self._settle(found)

    def _is_below_root(self, change: Change) -> bool:
        return all(self._paths.path_of(key) is not None for key in change.keys)

    def _root_of(self, change: Change) -> str:
        """The innermost folder around the root that has all files of a change below it."""
        folder = self._paths.backend.root_key
        while folder and not all(key.startswith(f"{folder}/") for key in change.keys):
            folder = folder.rpartition("/")[0]
        return folder or "/"

    def _settle_if_free(self, change: Change) -> None:
        try:
            self.settle(change, patience=0)
        except TimedOut:
            pass  # The writer is alive.
        except FsToolsError as problem:
            _log.warning("Change %s, whose writer ended early, is not settled yet: %s", change.id, problem.message)

    def _settle(self, change: Change) -> None:
        files = change.all_files
        kept = self._store.splices(change.id) or b""
        landed, *proposed = ways_of(kept) or [kept]
        found = [self._content_of(file) for file in files]
        is_retractable = not change.interrupted and _is_retractable(found, change.place)
        if "other" in found and not is_retractable:
            # Noted before any file is put back, as that file would then look as if it had not been written.
            self._note_interrupted(change)
        if "before" in found:
            # In reverse order: if this is interrupted too, the files still changed are those that were written first.
            for index, file in reversed(list(enumerate(files))):
                if found[index] == "after":
                    self._put_back(parts_of(landed)[index], file)
        if is_retractable:
            self._retract(change, proposed)
            _log.info("Change %s was not carried out: its writer ended early", change.id)
            return
        settle(self._store, change, decided_by=change.decided_by or change.user)
        self._store.finish(change.id, splices=landed)
        _log.info("Change %s was carried out, though its writer ended early", change.id)

    def _note_interrupted(self, change: Change) -> None:
        record = change.model_copy(update={"interrupted": True})
        at, by = change.decided_at, change.decided_by
        self._store.decide(change.id, "pending", "pending", decided_at=at, decided_by=by, record=record)

    def _retract(self, change: Change, proposed: Sequence[bytes]) -> None:
        if not proposed:
            self._store.drop(change.id)
        else:  # A person approved the change, or a part of it: all of it waits again.
            splices, record = proposed[0], from_json(Change, proposed[1])
            self._store.decide(change.id, "pending", "proposed", decided_at=None, splices=splices, record=record)

    def _content_of(self, file: ChangedFile) -> Literal["before", "after", "other"]:
        stat = self._stat(file)
        if stat.kind == "missing":
            return "after" if file.after is None else "before" if file.before is None else "other"
        if stat.kind != "file" or stat.key != file.key:
            return "other"
        with self._holders.of(stat, to_change=False).content() as opened:
            exact = fingerprint_of(opened.chunks()).exact
        is_after = file.after is not None and exact == file.after.exact_sha
        if file.before is not None and exact == file.before.on_disk:
            # The file below an unsaved document may have had that content before the change, written by somebody else.
            return "other" if is_after else "before"
        if is_after:
            return "after"
        if file.before is None:
            return "other"
        # A very large file may not have been hashed before the change: then its size decides.
        if file.before.exact_sha is None:
            return "before" if stat.size == file.before.size else "other"
        return "before" if exact == file.before.exact_sha else "other"

    def _put_back(self, kept: bytes, file: ChangedFile) -> None:
        stat = self._stat(file)
        holder = self._holders.of(stat, to_change=True)
        with holder.content() as opened:
            if file.after is None or fingerprint_of(opened.chunks()).exact != file.after.exact_sha:
                raise Conflict(f"{file.path} has changed meanwhile", hint="Look at the file.")
            self._ahead.put_back(Draft(stat.path, opened.stat, opened, holder), unpacked_undo(kept, opened))

    def _stat(self, file: ChangedFile) -> FileStat:
        return self._paths.backend.stat(f"./{self._paths.path_of(file.key)}")


def _is_retractable(found: Sequence[str], place: Place) -> bool:
    """Whether a change leaves no trace once the files `found` with it are put back.

    Files are written in order: behind the first file that is as before none was written, so any other content there is
    somebody else's. But a room saves later than it is written to, and may have been lost with the change.
    """
    if "before" not in found or "other" not in found:
        return "before" in found
    first = found.index("before")
    return place != "room" and "other" not in found[:first] and "after" not in found[first:]
