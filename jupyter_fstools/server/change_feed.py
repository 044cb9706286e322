"""Follows the store, so that the changes of every process on this root are told here."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..records import Change
from ..stores.protocol import ChangeFilter
from ..workspace import Workspace

_log = logging.getLogger("jupyter_fstools")


class ChangeFeed:
    """Tells what is new in the journal, in order, on the event loop.

    The store is where processes meet: a kernel's change is seen here without the kernel knowing the server. A thread
    asks the store for its revision now and then, and at once when this process made a change itself.

    Args:
        workspace: whose root and store to follow.
        tell: called on the event loop with every change that is new or has a new status.
        loop: the event loop.
        interval: seconds between two looks at the store.
    """

    def __init__(
        self,
        workspace: Workspace,
        tell: Callable[[Change], None],
        loop: asyncio.AbstractEventLoop,
        *,
        interval: float = 0.25,
    ) -> None:
        self._workspace = workspace
        self._tell = tell
        self._loop = loop
        self._interval = interval
        self._woken = threading.Event()
        self._stopped = False
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._seen = workspace.store.revision()
        self._thread = threading.Thread(target=self._follow, name="fstools-feed", daemon=True)

    def start(self) -> None:
        """Begin to follow the store, from the revision it had when the feed was made."""
        self._thread.start()

    def wake(self) -> None:
        """Look at the store now; from any thread."""
        self._woken.set()

    def stop(self) -> None:
        """Follow no longer, and let nobody wait for a decision any more; called on the event loop."""
        self._stopped = True
        self._woken.set()
        for waiting in self._waiting.values():
            for decided in waiting:
                decided.set()
        self._thread.join(timeout=5)

    @contextmanager
    def decision(self, change_id: str) -> Iterator[asyncio.Event]:
        """An event that is set once a change is no longer proposed; begin to listen, then look at the change."""
        decided = asyncio.Event()
        if self._stopped:
            decided.set()
        waiting = self._waiting.setdefault(change_id, set())
        waiting.add(decided)
        try:
            yield decided
        finally:
            waiting.discard(decided)
            if not waiting:
                self._waiting.pop(change_id, None)

    def _follow(self) -> None:
        failing = False
        while not (self._stopped or self._loop.is_closed()):
            self._woken.wait(self._interval)
            self._woken.clear()
            try:
                for page in self._news():
                    self._loop.call_soon_threadsafe(self._publish, page)
                failing = False
            except Exception as error:  # Whatever a broken disk makes the store raise: the feed goes on.
                if not failing and not self._loop.is_closed():
                    _log.warning("The journal cannot be followed for now: %s", error)
                failing = True

    def _news(self) -> Iterator[list[Change]]:
        store = self._workspace.store
        newest = store.revision()
        if newest < self._seen:
            self._seen = 0  # A damaged journal was set aside and a new one begun.
        while self._seen < newest and not self._stopped:
            wanted = ChangeFilter(key_prefix=self._workspace.backend.root_key.rstrip("/"), after=self._seen)
            page = store.changes(wanted)
            self._seen = page[-1].revision if page else newest
            yield page

    def _publish(self, page: list[Change]) -> None:
        for found in page:
            if found.status != "proposed":
                for decided in self._waiting.get(found.id, ()):
                    decided.set()
            path = self._workspace.path_of(found.key)
            if path is None or not self._workspace.policy.may_read(path, found.key):
                continue
            try:
                self._tell(found.model_copy(update={"path": path}))
            except Exception:
                _log.exception("A listener failed for change %s", found.id)
