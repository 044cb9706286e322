"""Follows the store and passes on every process's changes."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ...gate.workspace import Workspace
from ...stores.protocol import ChangeFilter, MomentFilter, TellsNews
from ...stores.records import Change, Receipt
from .payloads import ActivityEvent, ChangeEvent, ReadEntry, RefusalEntry, change_entry, read_entry, refusal_entry
from .waiting_files import WaitingFiles

_LOOK_SECONDS = 0.25
"""Time between two polls of the store, in seconds."""
_PAGE = 20
"""Changes that are read at a time: meanwhile no other thread of this process can use the store."""
_MOST_TOLD = 50
"""Most reads and most refusals in one event, so that an assistant that reads a thousand files floods nobody."""

_LATE_SECONDS = 2.0
"""A receipt may reach the store this long after its time: it waited there for another process."""
_AHEAD_SECONDS = 60.0
"""Tolerated lead of another machine's clock, in seconds."""

_Read = tuple[str, str, str, float]


class ActivityNews:
    """Follows the reads and refusals below one workspace's root.

    Args:
        workspace: the workspace with the root and store to follow; what happened before is no news.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._prefix = workspace.backend.root_key
        self._started = self._reads_after = workspace.store.now()
        self._told: set[_Read] = set()
        newest = workspace.store.refusals(MomentFilter(limit=1))
        self._refusals_after = newest[0].at if newest else 0.0

    def look(self) -> ActivityEvent | None:
        """The news since the last look; None if there is none. A look that fails is repeated by the next one."""
        now = self._workspace.store.now()
        if now < self._reads_after:  # The clock was set back.
            self._started = self._reads_after = now - _LATE_SECONDS
        store = self._workspace.store
        # A read noted while the clock was far ahead would stay the newest until then: reads have an upper bound, too.
        after, before = self._reads_after, now + _AHEAD_SECONDS
        found = store.reads(MomentFilter(self._prefix, after=after, before=before, limit=_MOST_TOLD + 1))
        fresh = [receipt for receipt in found if _read(receipt) not in self._told]
        refusals = store.refusals(MomentFilter(self._prefix, after=self._refusals_after, limit=_MOST_TOLD + 1))
        told: list[ReadEntry | RefusalEntry | None] = [
            *(read_entry(self._workspace, receipt) for receipt in fresh[:_MOST_TOLD]),
            *(refusal_entry(self._workspace, refusal) for refusal in refusals[:_MOST_TOLD]),
        ]
        # The next look overlaps this one: reads told already are skipped there.
        self._told = {_read(receipt) for receipt in found}
        self._reads_after = max(self._started, now - _LATE_SECONDS)
        if refusals:
            self._refusals_after = refusals[0].at
        entries = sorted((entry for entry in told if entry is not None), key=lambda entry: entry.at)
        more = max(len(fresh), len(refusals)) > _MOST_TOLD
        return ActivityEvent(entries=entries, more=more) if entries else None


def _read(receipt: Receipt) -> _Read:
    return receipt.user, receipt.session, receipt.key, receipt.read_at


Event = TypeVar("Event")

_log = logging.getLogger("jupyter_fstools")


class ChangeFeed:
    """Tells what is new in the journal, in order, and what was read and refused, on the event loop.

    The store is where processes meet: a kernel's change is seen here without the kernel knowing the server. A thread
    looks now and then whether anything was kept in the store, and at once when this process made a change itself.

    Args:
        workspace: the workspace with the root and store to follow.
        tell: called on the event loop with every change that is new or has a new status.
        tell_activity: called on the event loop with what was read and refused.
        loop: the event loop.
        followed: called there with every such change of the root, before it is told.

    Attributes:
        stopped: it has stopped following the store.
    """

    def __init__(
        self,
        workspace: Workspace,
        tell: Callable[[ChangeEvent], None],
        tell_activity: Callable[[ActivityEvent], None],
        loop: asyncio.AbstractEventLoop,
        *,
        followed: Callable[[Change], None] = lambda change: None,
    ) -> None:
        self._workspace = workspace
        self._tell = tell
        self._tell_activity = tell_activity
        self._loop = loop
        self._followed = followed
        self._woken = threading.Event()
        self.stopped = False
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._listening: set[asyncio.Event] = set()
        self._seen = workspace.store.revision()
        self._news = ActivityNews(workspace)
        self._mark: Hashable = None
        self._files = WaitingFiles(workspace)
        self._thread = threading.Thread(target=self._follow, name="fstools-feed", daemon=True)

    def start(self) -> None:
        """Begin to follow the store, from the revision it had when the feed was made."""
        store = self._workspace.store
        if isinstance(store, TellsNews):
            store.subscribe(self.wake)
        self._thread.start()

    def wake(self) -> None:
        """Look at the store now; from any thread."""
        self._woken.set()

    def stop(self) -> None:
        """Stop following, and end all waits for decisions; called on the event loop."""
        self.stopped = True
        self._woken.set()
        for waiting in (*self._waiting.values(), self._listening):
            for event in waiting:
                event.set()
        self._thread.join(timeout=5)

    @contextmanager
    def decision(self, change_id: str) -> Iterator[asyncio.Event]:
        """An event that is set once a change is no longer proposed; begin to listen, then look at the change."""
        decided = asyncio.Event()
        if self.stopped:
            decided.set()
        waiting = self._waiting.setdefault(change_id, set())
        waiting.add(decided)
        try:
            yield decided
        finally:
            waiting.discard(decided)
            if not waiting:
                self._waiting.pop(change_id, None)

    @contextmanager
    def news(self) -> Iterator[asyncio.Event]:
        """An event that is set once anything was kept in the store; begin to listen, then look at the store."""
        kept = asyncio.Event()
        self._listening.add(kept)
        try:
            yield kept
        finally:
            self._listening.discard(kept)

    def _follow(self) -> None:
        failing = False
        while not (self.stopped or self._loop.is_closed()):
            self._woken.wait(_LOOK_SECONDS)
            self._woken.clear()
            try:
                self._look()
                failing = False
            except Exception as error:  # The feed survives anything that the store raises, as on a broken disk.
                if not failing and not self._loop.is_closed():
                    _log.warning("The journal cannot be followed for now: %s", error)
                failing = True

    def _look(self) -> None:
        mark = self._workspace.store.mark()
        # Changes with a newer revision are told below, in their order.
        written = [change for change in self._files.look(mark) if change.revision <= self._seen]
        if written:
            self._hand_over(written)
        if mark == self._mark:
            return
        for page in self._new_changes():
            self._hand_over(page)
        event = self._news.look()
        if event is not None:
            self._loop.call_soon_threadsafe(self._call, self._tell_activity, event)
        self._loop.call_soon_threadsafe(self._announce)
        self._mark = mark

    def _new_changes(self) -> Iterator[list[Change]]:
        store = self._workspace.store
        newest = store.revision()
        if newest < self._seen:
            self._seen = 0  # A damaged journal was set aside and a new one begun.
        while self._seen < newest and not self.stopped:
            root = self._workspace.backend.root_key
            page = store.changes(ChangeFilter(key_prefix=root, after=self._seen, limit=_PAGE, rows=False))
            yield page
            # Only once the page was handed over: after a failed look-up it is read again.
            self._seen = page[-1].revision if page else newest

    def _announce(self) -> None:
        for kept in self._listening:
            kept.set()

    def _hand_over(self, page: list[Change]) -> None:
        """Publish changes on the event loop, and wait until that is done, so that a busy loop is not flooded."""
        news = [(change, change_entry(self._workspace, change)) for change in page]
        told = threading.Event()
        self._loop.call_soon_threadsafe(self._publish, news, told)
        while not (told.wait(_LOOK_SECONDS) or self.stopped or self._loop.is_closed()):
            pass

    def _publish(self, news: list[tuple[Change, ChangeEvent | None]], told: threading.Event) -> None:
        for change, event in news:
            if change.status != "proposed":
                for decided in self._waiting.get(change.id, ()):
                    decided.set()
            self._call(self._followed, change)
            if event is not None:
                self._call(self._tell, event)
        told.set()

    def _call(self, listener: Callable[[Event], None], event: Event) -> None:
        try:
            listener(event)
        except Exception:
            _log.exception("A listener of the change feed failed")
