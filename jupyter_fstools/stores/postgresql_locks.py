"""Locks files across machines by advisory locks with leases and fences."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
import weakref
from collections.abc import Iterator, Sequence

import psycopg
from psycopg import errors, pq

from ..errors import TimedOut
from .postgresql_connection import Database, Held, LockedState
from .postgresql_receipts import HOT_MICROSECONDS
from .sql_values import as_bytes

LEASE_SECONDS = 30.0
"""A holder that does not renew its lease for this time (a suspended machine) loses its locks to the next caller."""

_LOOK_MILLISECONDS = 500
_TAKE = """
SELECT * FROM fstools.take(%b::bigint[], %b::bytea[], %s, %s::bytea, %s::bytea, %s, %s)
"""
# Any statement on the holder's connection renews its lease.
_EVICT = """
SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND (classid::bigint << 32) | objid::bigint = %s
AND datname = current_database() AND state <> 'active' AND state_change < clock_timestamp() - %s * interval '1 second'
"""
_FREE = "SELECT pg_advisory_unlock(one) FROM unnest(%s::bigint[]) one"
_FREE_ALL = b"SELECT pg_advisory_unlock_all()"


class PostgresqlLocks:
    """`Locks` over all servers of one database.

    A lock ends with its connection; a thread that holds one sends all its statements over that connection. Each commit
    to the store checks, in its own transaction, that the locks are still held: a process that was suspended past its
    lease writes nothing under a lost lock.

    Args:
        database: where the locks are.
        timeout: seconds to wait for another holder.
        lease: after how many seconds without a renewal a holder loses its locks to the next caller.
    """

    def __init__(self, database: Database, *, timeout: float, lease: float = LEASE_SECONDS) -> None:
        self._database = database
        self._timeout = timeout
        self._lease = lease
        self._held: set[Held] = set()
        self._guard = threading.Lock()
        self._renewing: threading.Thread | None = None

    @contextlib.contextmanager
    def hold(self, *keys: str, patience: float | None = None, reader: tuple[str, str] | None = None) -> Iterator[None]:
        """Hold the locks of some files, taken in an order that is the same for everybody.

        Args:
            keys: of the files.
            patience: seconds to wait for another holder; None: the `timeout` of these locks.
            reader: user and session whose receipts of the files are fetched in the same round trip.

        Raises:
            TimedOut: another holder kept one for too long; none is held then.
            RuntimeError: this thread holds one already.
            InputOutput: the database does not answer.
        """
        outer = self._database.held
        if outer is not None and (already := set(keys) & set(outer.fences)):
            raise RuntimeError(f"this thread holds the lock of {sorted(already)[0]!r} already")
        until = time.monotonic() + (self._timeout if patience is None else patience)
        wanted = sorted(set(keys))
        with self._database.holding() as held:
            try:
                if not _taken(held, wanted, reader, wait=False):
                    for key in wanted:
                        self._wait_for(held, key, reader, until)
                self._note(held)
                yield
            finally:
                self._release(held, wanted)

    def _wait_for(self, held: Held, key: str, reader: tuple[str, str] | None, until: float) -> None:
        connection = held.connection
        while True:
            left = until - time.monotonic()
            try:
                with connection.transaction():
                    wait = max(1, min(_LOOK_MILLISECONDS, int(left * 1000)))
                    connection.execute("SELECT set_config('lock_timeout', %s, true)", (f"{wait}ms",))
                    _taken(held, [key], reader, wait=True)
                return
            except errors.LockNotAvailable:
                connection.execute(_EVICT, (_number(key), self._lease))
                if left <= 0:
                    busy = TimedOut(
                        f"'{key.rpartition('/')[2]}' was locked by another call",
                        hint="Another call is changing this file. Wait a little, then try again.",
                    )
                    busy.lock = key
                    raise busy from None

    def _release(self, held: Held, keys: Sequence[str]) -> None:
        freed = [key for key in keys if key in held.fences]
        # A lost connection holds no locks any more.
        with held.guard, contextlib.suppress(psycopg.Error):
            for key in freed:
                del held.fences[key]
                held.states.pop(key, None)
            if held.fences:
                held.connection.execute(_FREE, ([_number(key) for key in freed],))
                return
            with self._guard:
                self._held.discard(held)
            if held.connection.pgconn.transaction_status == pq.TransactionStatus.IDLE:
                held.connection.send(_FREE_ALL)
            else:
                held.connection.close()

    def _note(self, held: Held) -> None:
        with self._guard:
            self._held.add(held)
            if self._renewing is None or not self._renewing.is_alive():
                self._renewing = threading.Thread(
                    target=_renew, args=(weakref.ref(self), self._lease / 3), name="fstools-leases", daemon=True
                )
                self._renewing.start()


def _taken(held: Held, keys: Sequence[str], reader: tuple[str, str] | None, *, wait: bool) -> bool:
    """Take the locks and all that the gate will ask about the files: one round trip where nobody else holds them."""
    whose, visit = (None, None) if reader is None else map(as_bytes, reader)
    stamp = time.time_ns() // 1000
    numbers, files = [_number(key) for key in keys], [as_bytes(key) for key in keys]
    values = (numbers, files, wait, whose, visit, stamp, HOT_MICROSECONDS)
    rows = held.connection.execute(_TAKE, values, binary=True).fetchall()
    for key, (fence, receipt, shown, is_pending, is_open) in zip(keys, rows, strict=False):
        held.fences[key] = fence
        held.states[key] = LockedState(reader, receipt, shown, is_pending, is_open, time.monotonic())
    return bool(rows)


def _renew(holder: weakref.ref[PostgresqlLocks], seconds: float) -> None:
    """Renew the leases of all locks held, until none is held."""
    while True:
        time.sleep(seconds)
        locks = holder()
        if locks is None:
            return
        with locks._guard:
            due = list(locks._held)
            if not due:
                locks._renewing = None
                return
        for held in due:
            # While the database is away, nobody else can take the lock either.
            with held.guard, contextlib.suppress(psycopg.Error):
                if held.fences:
                    held.connection.execute("SELECT 1")
        del locks, due


def _number(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(as_bytes(key), digest_size=8).digest(), "big", signed=True)
