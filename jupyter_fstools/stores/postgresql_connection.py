"""Holds connections to PostgreSQL, each lent to one thread at a time."""

from __future__ import annotations

import contextlib
import math
import os
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
from psycopg import pq

from ..errors import Conflict, FsToolsError, InputOutput
from .postgresql_answers import NoAnswer, Patient
from .postgresql_schema import LOCK_LOST, migrate

T = TypeVar("T")

WAIT_SECONDS = 5.0
"""Longest wait for a connection, in seconds; while the database is away every call fails after this time."""

ANSWER_SECONDS = 60.0
"""Longest wait for an answer, in seconds: connections to a suspended database, or one whose disk hangs, stay open."""

AWAY_SECONDS = 0.5
"""After a wait for a connection in vain, every other call fails at once for so many seconds."""

NOW = "extract(epoch FROM clock_timestamp())::float8"
"""The time by the database's clock, in SQL: those of the servers may differ."""

_MOST_CONNECTIONS = 40
_FRESH_SECONDS = 1.0
_HINT = "Nothing was written. Ask an administrator to look at the database; calls work again once it is back."
# The client's encoding is independent of the database's. The keepalives notice a machine that vanished within seconds.
_OPTIONS: dict[str, Any] = {
    "client_encoding": "UTF8",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
# A database may have other defaults; our statements and functions are written for these. Not part of `_OPTIONS`, as
# poolers refuse most settings at the start of a session.
_SETTINGS = """
SELECT set_config('default_transaction_isolation', 'read committed', false),
set_config('standard_conforming_strings', 'on', false)
"""
_ALIKE_SECONDS = 1.0
"""Clocks that differ by less count as the same."""

# A missing schema, table, column or function has been dropped, or changed by a newer server.
_MISSING = frozenset({"3F000", "42P01", "42703", "42883"})


@dataclass(frozen=True)
class LockedState:
    """The state of a file that came with its lock; only the holder of the lock changes the receipt.

    Attributes:
        reader: the reader that the receipt belongs to; None: there is no reader.
        receipt: as text; None if there is none.
        shown: the copy of what was shown.
        is_pending: a change of the file is pending.
        is_open: a page has it open.
        at: when, by the monotonic clock.
    """

    reader: tuple[str, str] | None
    receipt: str | None
    shown: bytes | None
    is_pending: bool
    is_open: bool
    at: float

    @property
    def is_fresh(self) -> bool:
        """Whether the parts that others than the holder write are recent enough."""
        return time.monotonic() - self.at < _FRESH_SECONDS


@dataclass(eq=False)
class Held:
    """A connection whose session holds locks, and with which their thread does everything until it lets go of them.

    Attributes:
        connection: the locks end with it; nothing can be written under them then.
        fences: fencing numbers of the locks held, by the file's key; each tells this holder from earlier ones.
        states: the state that came with each lock, by the file's key.
        guard: held while another thread sends something, and while locks are released.
    """

    connection: Patient
    fences: dict[str, int] = field(default_factory=dict)
    states: dict[str, LockedState] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


class Database:
    """Connections of one process; made when they are asked for, and again after a fork.

    Args:
        address: as libpq takes it; its password is shown nowhere.
    """

    def __init__(self, address: str) -> None:
        self.me = uuid.uuid4().hex
        self._address = address
        self._starting = threading.Lock()
        self._idle = _Idle()
        self._local = threading.local()
        self._away_until, self._reason = 0.0, ""
        self._ahead, self._measured_with = 0.0, math.inf

    @property
    def held(self) -> Held | None:
        """The locks that this thread holds."""
        return getattr(self._local, "held", None)

    @contextlib.contextmanager
    def connection(self) -> Iterator[Patient]:
        """A connection in autocommit mode, the one that holds this thread's locks if there is one that works.

        Raises:
            InputOutput: the database does not answer, or refuses us; Invalid: a newer server has migrated it;
                Conflict: a lock was lost.
        """
        held = self.held
        try:
            if held is not None and not held.connection.closed:
                yield held.connection
            else:
                with self._lent() as connection:
                    yield connection
        except psycopg.Error as error:
            if error.sqlstate in _MISSING:
                self._look_again()
            if isinstance(error, NoAnswer):  # The next statement would wait as long on each connection that is open.
                self._idle.empty()
            raise self.refusal(error) from None

    @contextlib.contextmanager
    def holding(self) -> Iterator[Held]:
        """The locks of this thread: one connection for all of them."""
        outer = self.held
        with self.connection() as connection:
            held = self._local.held = outer or Held(connection)
            try:
                yield held
            finally:
                self._local.held = outer

    def again_if_lost(self, ask: Callable[[], T]) -> T:
        """Call `ask`; where it loses the connection with this thread's locks, call it again, over another one."""
        held = self.held
        try:
            return ask()
        except InputOutput:
            if held is None or not held.connection.closed:
                raise
            return ask()

    def connect(self) -> Patient:
        """A connection for the caller alone, in autocommit mode."""
        begun = time.monotonic()
        if begun < self._away_until:
            raise psycopg.OperationalError(self._reason)
        try:
            made = Patient.connect(self._address, autocommit=True, connect_timeout=int(WAIT_SECONDS), **_OPTIONS)
        except psycopg.OperationalError as error:
            # A database that refuses at once may be back as soon, and costs nobody time.
            if (now := time.monotonic()) > begun + AWAY_SECONDS:
                self._away_until, self._reason = now + AWAY_SECONDS, str(error)
            raise
        made.patience = ANSWER_SECONDS
        try:
            made.execute(_SETTINGS)
        except psycopg.Error:
            made.close()
            raise
        return made

    def ahead(self) -> float:
        """Seconds by which the database's clock is ahead of this machine's; 0 where they hardly differ.

        Asks the database only at first, and after this machine's clock was set; while it is away, what it said last
        counts.
        """
        if abs(_clock_set() - self._measured_with) > _ALIKE_SECONDS:
            with contextlib.suppress(InputOutput), self.connection() as connection:
                ((now,),) = connection.execute(f"SELECT {NOW}").fetchall()
                ahead = now - time.time()
                self._ahead, self._measured_with = ahead if abs(ahead) > _ALIKE_SECONDS else 0.0, _clock_set()
        return self._ahead

    def close(self) -> None:
        """Let go of the connections; a later call makes others."""
        idle, self._idle = self._idle, _Idle()
        idle.close()

    def refusal(self, error: psycopg.Error) -> FsToolsError:
        """The message of the database or the system, without the address."""
        if error.sqlstate == LOCK_LOST:
            return lock_lost()
        said = re.sub(r"password=\S+|://[^@\s]*@", "", " ".join(str(error).split()))[:300]
        return InputOutput(f"the store's database failed: {said}", hint=_HINT)

    @contextlib.contextmanager
    def _lent(self) -> Iterator[Patient]:
        idle = self._opened()
        if not idle.free.acquire(timeout=WAIT_SECONDS):
            raise psycopg.OperationalError(f"all {_MOST_CONNECTIONS} connections are in use")
        try:
            connection = idle.take() or self.connect()
            try:
                yield connection
            finally:
                idle.give_back(connection)
        finally:
            idle.free.release()

    def _look_again(self) -> None:
        """Make the tables that are gone: the database was restored or replaced.

        Raises:
            Invalid: a newer server has migrated them.
        """
        self._idle.is_ready = False
        with contextlib.suppress(psycopg.Error):
            self._opened()

    def _opened(self) -> _Idle:
        """The connections of this process, once the tables are there: not carried across a fork."""
        with self._starting:
            if self._idle.process != os.getpid():
                self._idle = _Idle()
            if not self._idle.is_ready:
                connection = self.connect()
                connection.patience = None  # Indexes of many rows take their time.
                try:
                    migrate(connection)
                finally:
                    connection.patience = ANSWER_SECONDS
                    self._idle.give_back(connection)
                self._idle.is_ready = True
            return self._idle


class _Idle:
    """Idle connections; the last one given back is taken first."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.free = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self.is_ready = False
        self._kept: list[Patient] = []
        self._is_closed = False

    def take(self) -> Patient | None:
        """A working connection; None if there is none."""
        while self._kept:
            connection = self._kept.pop()
            if connection.is_usable(WAIT_SECONDS):
                return connection
            connection.close()
        return None

    def give_back(self, connection: Patient) -> None:
        """Keep it for the next call, unless it is broken."""
        status = connection.pgconn.transaction_status
        if self._is_closed or status not in (pq.TransactionStatus.IDLE, pq.TransactionStatus.ACTIVE):
            connection.close()
        else:
            self._kept.append(connection)

    def close(self) -> None:
        """Close all connections, and later those that are still to be given back."""
        self._is_closed = True
        if self.process != os.getpid():
            _of_parents.extend(self._kept)
            return
        self.empty()

    def empty(self) -> None:
        """Close the connections that nobody uses."""
        while self._kept:
            self._kept.pop().close()

    def __del__(self) -> None:
        self.close()


def _clock_set() -> float:
    """A number that stays the same until this machine's clock is set."""
    return time.time() - time.monotonic()


def lock_lost() -> Conflict:
    """The refusal of a write under a lock that another holder may have taken in the meantime."""
    return Conflict(
        "the lock of the file was lost: this process was suspended, or cut off from the database (not modified)",
        hint="Read the file again, then repeat the change.",
    )


_of_parents: list[Patient] = []
"""Connections that were open when this process was forked; kept here because its parent closes them."""
