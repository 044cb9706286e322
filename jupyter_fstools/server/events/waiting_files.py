"""Watches the files of changes that wait, whichever program writes them."""

from __future__ import annotations

import time
from collections.abc import Hashable
from contextlib import suppress

from ...backends.local_disk import LocalDisk
from ...errors import FsToolsError
from ...gate.workspace import Workspace
from ...journal.listing import workspace_change
from ...journal.standing import is_stale
from ...stores.protocol import ChangeFilter
from ...stores.records import Change

_MOST_WATCHED = 200
"""Most proposals that are watched, the newest."""
_LOOK_SECONDS = 1.0
"""Shortest time between two looks, in seconds."""
_SHARE = 20
"""Looking takes at most one part in so many of the time, however many files there are to look at."""


class WaitingFiles:
    """Tells which proposals may be out of date, or fit again, because some program wrote their files.

    Other programs do not notify the server of their writes. A look at a local file takes some microseconds; in an
    object store, where each look is a request, nothing is watched: there the page polls.

    Args:
        workspace: the workspace with the root and store to follow.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._is_local = isinstance(workspace.backend, LocalDisk)
        self._mark: Hashable = None
        self._proposals: list[Change] = []
        self._versions: dict[str, list[str]] = {}
        self._next_look = 0.0

    def look(self, mark: Hashable) -> list[Change]:
        """The proposals with a file that has changed since the last look, or, at the first one, since the proposal.

        Args:
            mark: the store's (`Store.mark`); while it stays the same, the same proposals wait.
        """
        began = time.monotonic()
        if not self._is_local or began < self._next_look:
            return []
        if mark != self._mark:
            root = self._workspace.backend.root_key
            wanted = ChangeFilter(key_prefix=root, status="proposed", limit=_MOST_WATCHED, rows=False)
            self._proposals, self._mark = self._workspace.store.changes(wanted), mark
        found = {change.id: [self._version(key) for key in change.keys] for change in self._proposals}
        written = [one for one in self._proposals if self._is_written(one, found[one.id])]
        self._versions = found
        now = time.monotonic()
        self._next_look = now + max(_LOOK_SECONDS, _SHARE * (now - began))
        return written

    def _is_written(self, proposal: Change, versions: list[str]) -> bool:
        """Whether a file was written since the last look or, at the first one, since the change was proposed."""
        known = self._versions.get(proposal.id)
        if known is None:
            return is_stale(self._workspace, workspace_change(self._workspace, proposal))
        return known != versions

    def _version(self, key: str) -> str:
        path = self._workspace.paths.path_of(key)
        if path is not None:
            with suppress(FsToolsError):
                return self._workspace.backend.stat(f"./{path}").version
        return ""
