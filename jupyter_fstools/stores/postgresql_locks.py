"""Locks files across machines by advisory locks with leases and fences."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import Connection, errors

from ..errors import TimedOut
from .postgresql_connection import Database
from .postgresql_receipts import as_bytes

LEASE_SECONDS = 30.0
"""A holder that does not renew its lease for so long (a suspended machine) loses its locks to whoever waits."""

_LOOK_MILLISECONDS = 500
# The advisory lock comes first; the fence then tells this holder from every earlier one.
_TAKE = """
WITH locked AS MATERIALIZED ({lock})
INSERT INTO fstools.locks AS locks
SELECT %(key)s, 1, pg_backend_pid(), clock_timestamp() + %(lease)s * interval '1 second' FROM locked WHERE got
ON CONFLICT (key) DO UPDATE SET fence = locks.fence + 1, process = excluded.process, until = excluded.until
RETURNING fence
"""
_TAKE_NOW = _TAKE.format(lock="SELECT pg_try_advisory_lock(%(number)s) AS got")
_TAKE_LATER = _TAKE.format(lock="SELECT pg_advisory_lock(%(number)s) IS NOT NULL AS got")
_EVICT = """
SELECT pg_terminate_backend(process) FROM fstools.locks WHERE key = %s AND until < clock_timestamp()
"""
_RENEW = """
UPDATE fstools.locks SET until = clock_timestamp() + %s * interval '1 second' WHERE key = %s AND fence = %s
"""
# Whoever waits for the lock must not take an earlier holder's lease for this one's.
_FREE = """
WITH freed AS (
    UPDATE fstools.locks SET until = NULL WHERE (key, fence) IN (SELECT unnest(%s::bytea[]), unnest(%s::bigint[]))
) SELECT pg_advisory_unlock_all()
"""


class PostgresqlLocks:
    """`Locks` over all servers of one database.

    A lock ends with its connection. Each commit to the store checks, in its own transaction, that the locks of its
    thread are still held: so a process that was suspended past its lease writes nothing on an old lock.

    Args:
        database: where the locks are.
        timeout: how many seconds to wait for somebody else.
        lease: after how many seconds without a sign of life a holder loses its locks to whoever waits.
    """

    def __init__(self, database: Database, *, timeout: float, lease: float = LEASE_SECONDS) -> None:
        self._database = database
        self._timeout = timeout
        self._lease = lease
        self._held: dict[tuple[str, int], float] = {}
        self._guard = threading.Lock()
        self._renewing: threading.Thread | None = None

    @contextlib.contextmanager
    def hold(self, *keys: str, patience: float | None = None) -> Iterator[None]:
        """Hold the locks of some files, taken in an order that is the same for everybody.

        Args:
            keys: of the files.
            patience: how many seconds to wait for somebody else; None: as long as the locks always do.

        Raises:
            TimedOut: somebody else held one for too long; none is held then.
            RuntimeError: this thread holds one already.
            InputOutput: the database does not answer.
        """
        fences = self._database.fences
        if already := set(keys) & set(fences):
            raise RuntimeError(f"this thread holds the lock of {sorted(already)[0]!r} already")
        until = time.monotonic() + (self._timeout if patience is None else patience)
        with self._database.lock_connection() as connection:
            try:
                for key in sorted(set(keys)):
                    fences[key] = self._taken(connection, key, until)
                    self._note(key, fences[key])
                yield
            finally:
                self._release(connection, keys)

    def _taken(self, connection: Connection[Any], key: str, until: float) -> int:
        values = {"number": _number(key), "key": as_bytes(key), "lease": self._lease}
        # Mostly nobody else wants the file: one round trip, without a limit to be set first.
        if (row := connection.execute(_TAKE_NOW, values).fetchone()) is not None:
            return int(row[0])
        while True:
            left = until - time.monotonic()
            try:
                with connection.transaction():
                    wait = max(1, min(_LOOK_MILLISECONDS, int(left * 1000)))
                    connection.execute("SELECT set_config('lock_timeout', %s, true)", (f"{wait}ms",))
                    row = connection.execute(_TAKE_LATER, values).fetchone()
                assert row is not None
                return int(row[0])
            except errors.LockNotAvailable:
                if left <= 0:
                    raise TimedOut(
                        f"'{key.rpartition('/')[2]}' was locked by another call for {self._timeout:g} s.",
                        hint="Another call is changing this file. Wait a little, then try again.",
                    ) from None
                connection.execute(_EVICT, (as_bytes(key),))

    def _release(self, connection: Connection[Any], keys: tuple[str, ...]) -> None:
        fences = self._database.fences
        with self._guard:
            freed = [(key, fences.pop(key)) for key in set(keys) & set(fences)]
            for place in freed:
                self._held.pop(place, None)
        # A connection that is lost has no locks any more.
        with contextlib.suppress(psycopg.Error):
            connection.execute(_FREE, ([as_bytes(key) for key, _ in freed], [fence for _, fence in freed]))

    def _note(self, key: str, fence: int) -> None:
        with self._guard:
            self._held[key, fence] = time.monotonic()
            if self._renewing is None or not self._renewing.is_alive():
                self._renewing = threading.Thread(
                    target=_renew, args=(weakref.ref(self), self._lease / 3), name="fstools-leases", daemon=True
                )
                self._renewing.start()


def _renew(holder: weakref.ref[PostgresqlLocks], seconds: float) -> None:
    """Renew the leases of what is held, until nothing is."""
    while True:
        time.sleep(seconds)
        locks = holder()
        if locks is None:
            return
        with locks._guard:
            due = [place for place, since in locks._held.items() if time.monotonic() - since > seconds / 2]
            if not locks._held:
                locks._renewing = None
                return
        # While the database is away nobody else gets the lock either.
        with contextlib.suppress(psycopg.Error), locks._database.connect() as connection:
            for key, fence in due:
                connection.execute(_RENEW, (locks._lease, as_bytes(key), fence))
        del locks


def _number(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(as_bytes(key), digest_size=8).digest(), "big", signed=True)
