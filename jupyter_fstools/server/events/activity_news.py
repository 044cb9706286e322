"""What was read and refused since the last look at the store, by whichever process."""

from __future__ import annotations

import time

from ...gate.workspace import Workspace
from ...stores.protocol import MomentFilter
from ...stores.records import Receipt
from .activity_event import ActivityEvent, ReadEntry, RefusalEntry, read_entry, refusal_entry

_MOST_TOLD = 50
"""Reads and refusals that one event tells of, each; an assistant that reads a thousand files floods nobody."""

_LATE_SECONDS = 2.0
"""A receipt may reach the store this long after its time: it waited there for another process."""

_Read = tuple[str, str, str, float]


class ActivityNews:
    """Follows the reads and refusals below one workspace's root.

    Args:
        workspace: whose root and store to follow; what happened before is no news.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._prefix = workspace.backend.root_key.rstrip("/")
        self._started = self._reads_after = time.time()
        self._told: set[_Read] = set()
        newest = workspace.store.refusals(MomentFilter(limit=1))
        self._refusals_after = newest[0].at if newest else 0.0

    def look(self) -> ActivityEvent | None:
        """What is new; None if nothing is."""
        reads, more_reads = self._reads()
        refusals, more_refusals = self._refusals()
        if not (reads or refusals):
            return None
        entries: list[ReadEntry | RefusalEntry] = [*reads, *refusals]
        entries.sort(key=lambda entry: entry.at)
        return ActivityEvent(entries=entries, more=more_reads or more_refusals)

    def _reads(self) -> tuple[list[ReadEntry], bool]:
        now = time.time()
        wanted = MomentFilter(self._prefix, after=self._reads_after, limit=_MOST_TOLD + 1)
        found = self._workspace.store.reads(wanted)
        fresh = [receipt for receipt in found if _read(receipt) not in self._told]
        # What lies in the time that is looked at again is told once.
        self._told = {_read(receipt) for receipt in found}
        self._reads_after = max(self._started, now - _LATE_SECONDS)
        entries = [read_entry(self._workspace, receipt) for receipt in fresh[:_MOST_TOLD]]
        return [entry for entry in entries if entry is not None], len(fresh) > _MOST_TOLD

    def _refusals(self) -> tuple[list[RefusalEntry], bool]:
        wanted = MomentFilter(self._prefix, after=self._refusals_after, limit=_MOST_TOLD + 1)
        found = self._workspace.store.refusals(wanted)
        if found:
            self._refusals_after = found[0].at
        entries = [refusal_entry(self._workspace, refusal) for refusal in found[:_MOST_TOLD]]
        return [entry for entry in entries if entry is not None], len(found) > _MOST_TOLD


def _read(receipt: Receipt) -> _Read:
    return receipt.user, receipt.session, receipt.key, receipt.read_at
