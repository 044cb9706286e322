"""Keeps receipts and changes in one shared SQLite file."""

from __future__ import annotations

import functools
import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from ..errors import InputOutput, Invalid
from ..limits import StoreLimits
from ..own_folders import PASSING, data_folder
from . import sqlite_changes, sqlite_receipts
from .in_memory import InMemoryStore
from .protocol import Closing, LocalClock, Store
from .record_json import UnreadableRecord
from .sqlite_changes import ChangeTable
from .sqlite_file import Unusable, connected, identity, is_damage, is_text, primary_code, set_aside
from .sqlite_sessions import OPEN_DOCUMENTS, REFUSALS, TOKENS, OpenDocumentTable, RefusalTable, TokenTable

_DEFAULTS = StoreLimits()
_SCHEMA = "".join((sqlite_receipts.SCHEMA, sqlite_changes.SCHEMA, REFUSALS, OPEN_DOCUMENTS, TOKENS))
_HINTS = {
    sqlite3.SQLITE_BUSY: "Another process holds the store; try again.",
    sqlite3.SQLITE_FULL: "The disk is full: free some space, then try again.",
}

_LOOK_SECONDS = 0.01
"""Seconds between two checks whether another file has taken the place of ours: one costs a third of a lookup."""

_log = logging.getLogger("jupyter_fstools")


class _Database(ChangeTable, RefusalTable, OpenDocumentTable, TokenTable, LocalClock, Closing):
    """The tables over one open connection; dropping them closes it too."""

    def __init__(self, connection: sqlite3.Connection, limits: StoreLimits) -> None:
        super().__init__(connection, limits)
        self._close = weakref.finalize(self, connection.close)
        self._opened_at = time.monotonic_ns()

    def mark(self) -> Hashable:
        """A mark that changes with each commit: of others, of this connection, and with the connection."""
        others = self._execute("PRAGMA data_version").fetchone()[0]
        return others, self._connection.total_changes, self._opened_at

    def close(self) -> None:
        self._close()


class SqliteStore(LocalClock, Closing):
    """A `Store` in one SQLite file; safe for threads and processes, also across a fork.

    The file is opened at the first call and when another has taken its place. A damaged file is set aside
    in a folder beside it and a new one begun; where no file can be used from the first call on, the store goes on in
    memory. Both are said once, by a warning of the logger `jupyter_fstools`.

    Args:
        path: the file; made (0600), with its folder (0700), where it does not exist.
        limits: how much it keeps.

    Every method raises:
        InputOutput: the disk is full or broken, another process held the file for more than ten seconds, or the file
            can be used no more.
    """

    def __init__(self, path: Path, limits: StoreLimits = _DEFAULTS) -> None:
        self.path = Path(os.path.realpath(path))
        self._limits = limits
        self._lock = threading.RLock()
        self._database: _Database | None = None
        self._identity: tuple[int, int] | None = None
        self._memory: InMemoryStore | None = None
        self._looked_at = 0.0
        self._restarted = self._was_opened = False
        _stores.add(self)

    @classmethod
    def from_setting(cls, where: str, limits: StoreLimits = _DEFAULTS) -> SqliteStore:
        """The file of an absolute path behind `sqlite:`; one in Jupyter's data folder where none is given.

        Raises:
            Invalid: the path is not absolute.
        """
        rest = where.partition(":")[2]
        if not rest:
            return cls(data_folder() / "store.sqlite", limits)
        path = Path(rest).expanduser()
        if not path.is_absolute():
            raise Invalid(
                f"store: {rest!r} is not an absolute path", hint="Takes sqlite:/absolute/path, or sqlite: alone."
            )
        return cls(path, limits)

    @property
    def in_memory(self) -> bool:
        """No file could be used: what is kept ends with this process."""
        return self._memory is not None

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        with self._lock:
            self._disconnect()

    def _current(self) -> Store:
        if self._memory is not None:
            return self._memory
        if self._database is None:
            return self._opened()
        now = time.monotonic()
        if now - self._looked_at > _LOOK_SECONDS:
            if identity(self.path) != self._identity:
                return self._opened()
            self._looked_at = now
        return self._database

    def _opened(self) -> Store:
        if self._database is not None:
            self._restarted = True
        self._disconnect()
        self._identity = identity(self.path)
        try:
            connection = connected(self.path, _SCHEMA, self._first_revision())
        except Unusable as problem:
            if self._was_opened:  # A journal in memory would know nothing of the changes that are being made.
                raise self._refusal(problem) from problem
            return self._in_memory(str(problem))
        self._was_opened = True
        self._database = _Database(connection, self._limits)
        self._identity = self._identity or identity(self.path)
        return self._database

    def _first_revision(self) -> int:
        # The time in milliseconds is above every old revision: followers need not wait until a new journal catches up.
        return int(time.time() * 1000) if self._restarted else 0

    def _recover(self, problem: Exception) -> None:
        """Set a damaged file aside, or reopen one that was replaced, for a second try; refuse otherwise."""
        if primary_code(problem) == sqlite3.SQLITE_BUSY:
            raise self._refusal(problem) from problem
        moved = identity(self.path) != self._identity
        self._disconnect()
        if is_damage(problem) and is_text(self.path):
            self._in_memory("it is a text, no database")
        elif isinstance(problem, UnreadableRecord) or is_damage(problem):
            self._restarted = True
            self._set_aside(problem)
        elif not moved and primary_code(problem) != sqlite3.SQLITE_READONLY:
            raise self._refusal(problem) from problem

    def _set_aside(self, problem: Exception) -> None:
        try:
            aside = set_aside(self.path, self._identity) if self._identity else None
        except OSError as refused:
            if refused.errno in PASSING:
                raise self._refusal(refused) from refused
            self._in_memory(f"it is damaged ({problem}) and cannot be moved ({refused})")
            return
        if aside is not None:
            _log.warning(
                "The store %s is damaged (%s). It was set aside as %s and a new one begun: what assistants had read "
                "and the journal of their changes start afresh; no file of yours is affected.",
                self.path,
                problem,
                aside,
            )

    def _in_memory(self, reason: str) -> InMemoryStore:
        _log.warning(
            "The store %s is left alone: %s. Until this process ends, what assistants have read and changed is "
            "remembered in its memory only.",
            self.path,
            reason,
        )
        self._memory = InMemoryStore(self._limits, first_revision=self._first_revision())
        return self._memory

    def _refusal(self, problem: Exception) -> InputOutput:
        hint = _HINTS.get(primary_code(problem), "Look whether the disk of the store is there and healthy.")
        return InputOutput(f"the store {self.path} failed: {problem}", hint=hint)

    def _disconnect(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _on_the_open_file(name: str) -> Callable[..., Any]:
    """The store's method of that name: that of the tables, or of the memory where no file can be used."""

    @functools.wraps(getattr(Store, name))
    def call(store: SqliteStore, *given: Any, **named: Any) -> Any:
        with store._lock:
            for left in (2, 1, 0):
                try:
                    return getattr(store._current(), name)(*given, **named)
                except (sqlite3.Error, UnreadableRecord) as problem:
                    if not left:
                        raise store._refusal(problem) from problem
                    store._recover(problem)

    return call


for _name in vars(Store):
    if not _name.startswith("_") and not hasattr(SqliteStore, _name):
        setattr(SqliteStore, _name, _on_the_open_file(_name))


# SQLite must not be carried across a fork: the child would share, and on closing drop, locks it does not hold.
# So no connection is open while a process forks; both sides open their own at the next call.
# One thread forks at a time: two would wait for each other's stores, or release each other's locks.
_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
_forking = threading.Lock()
_held: list[SqliteStore] = []


def _before_fork() -> None:
    _forking.acquire()
    for store in list(_stores):
        store._lock.acquire()
        _held.append(store)
        store._disconnect()


def _after_fork() -> None:
    while _held:
        _held.pop()._lock.release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
