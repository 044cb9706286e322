"""Holds connections to PostgreSQL, and hears what other servers write."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from psycopg import Connection
from psycopg_pool import ConnectionPool, PoolTimeout

from ..errors import Conflict, FsToolsError, InputOutput
from .postgresql_schema import migrate

CHANNEL = "fstools"
WAIT_SECONDS = 5.0
"""For a connection; while the database is away every call ends after that."""

_IDLE_SECONDS = 1.0
_RECONNECT_SECONDS = 0.2
_MOST_CONNECTIONS, _MOST_LOCKING = 8, 32
_HINT = "Nothing was written. Ask an administrator to look at the database; calls work again once it is back."


class Database:
    """Connections of one process; made when they are asked for, and again after a fork.

    Args:
        address: as libpq takes it; its password is shown nowhere.
    """

    def __init__(self, address: str) -> None:
        self.me = uuid.uuid4().hex
        self._address = address
        self._lock = threading.Lock()
        self._pools: tuple[ConnectionPool[Any], ConnectionPool[Any]] | None = None
        self._process = 0
        self._local = threading.local()

    @property
    def fences(self) -> dict[str, int]:
        """The locks that this thread holds: by key the number that tells this holder from earlier ones."""
        held: dict[str, int] = self._local.__dict__.setdefault("fences", {})
        return held

    def connection(self) -> contextlib.AbstractContextManager[Connection[Any]]:
        """A connection in autocommit mode, given back at the end.

        Raises:
            InputOutput: the database does not answer, or refuses us; Invalid: a newer server has migrated it.
        """
        return self._from_pool(0)

    def lock_connection(self) -> contextlib.AbstractContextManager[Connection[Any]]:
        """The same of those that hold locks: apart, for who holds a lock needs another one."""
        return self._from_pool(1)

    def require_held(self, connection: Connection[Any]) -> None:
        """Refuse to go on where a lock of this thread has been lost; others wait for the end of the transaction.

        Raises:
            Conflict
        """
        for key, fence in self.fences.items():
            query = "SELECT 1 FROM fstools.locks WHERE key = %s AND fence = %s AND until > clock_timestamp() FOR SHARE"
            if connection.execute(query, (key.encode("utf-8", "surrogatepass"), fence)).fetchone() is None:
                raise Conflict(
                    f"the lock of '{key.rpartition('/')[2]}' was lost: this process did not run for too long "
                    "(not modified)",
                    hint="Read the file again, then repeat the change.",
                )

    @contextlib.contextmanager
    def _from_pool(self, number: int) -> Iterator[Connection[Any]]:
        try:
            with self._opened()[number].connection(timeout=WAIT_SECONDS) as connection:
                yield connection
        except FsToolsError:
            raise
        except psycopg.Error as error:
            raise self.refusal(error) from None

    def connect(self) -> Connection[Any]:
        """A connection of one's own, in autocommit mode."""
        return psycopg.connect(self._address, autocommit=True, connect_timeout=int(WAIT_SECONDS), **_KEEPALIVE)

    def close(self) -> None:
        """Let go of the connections; a later call makes others."""
        with self._lock:
            pools, self._pools = self._pools, None
        for pool in pools or () if self._process == os.getpid() else ():
            pool.close()

    def refusal(self, error: psycopg.Error) -> InputOutput:
        """What the database or the system said, without the address."""
        said = "it does not answer" if isinstance(error, PoolTimeout) else " ".join(str(error).split())
        said = re.sub(r"password=\S+|://[^@\s]*@", "", said)[:300]
        return InputOutput(f"the store's database failed: {said}", hint=_HINT)

    def _opened(self) -> tuple[ConnectionPool[Any], ConnectionPool[Any]]:
        with self._lock:
            if self._pools is None or self._process != os.getpid():
                self._process = os.getpid()
                with self.connect() as first:
                    migrate(first)
                self._pools = self._pool(_MOST_CONNECTIONS), self._pool(_MOST_LOCKING)
            return self._pools

    def _pool(self, most: int) -> ConnectionPool[Any]:
        pool = ConnectionPool(
            self._address,
            min_size=0,
            max_size=most,
            kwargs={"autocommit": True, **_KEEPALIVE},
            check=_check_idle,
            reset=_note_use,
            reconnect_timeout=WAIT_SECONDS,
            open=True,
        )
        weakref.finalize(self, pool.close)
        return pool


_KEEPALIVE: dict[str, Any] = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3}
_used: weakref.WeakKeyDictionary[Connection[Any], float] = weakref.WeakKeyDictionary()


def _note_use(connection: Connection[Any]) -> None:
    _used[connection] = time.monotonic()


def _check_idle(connection: Connection[Any]) -> None:
    # One that was used a moment ago is taken as it is: asking would cost each call a round trip.
    if time.monotonic() - _used.get(connection, 0.0) > _IDLE_SECONDS:
        ConnectionPool.check_connection(connection)


class News:
    """Counts what is written by anybody, as LISTEN tells; a thread of its own from the first look on.

    After a lost connection one more is counted: whoever looks then at the revisions has missed nothing.

    Args:
        database: where to listen.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._count = 0
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._heard: list[Callable[[], None]] = []

    def mark(self) -> int:
        """Another number once anything was written."""
        if self._thread is None or not self._thread.is_alive():
            self._stopped = threading.Event()
            ready = threading.Event()
            self._thread = threading.Thread(
                target=_listen, args=(weakref.ref(self), self._stopped, ready), name="fstools-news", daemon=True
            )
            self._thread.start()
            ready.wait(WAIT_SECONDS)
        return self._count

    def add(self) -> None:
        """Something was written: here, or elsewhere."""
        self._count += 1
        for heard in self._heard:
            heard()

    def subscribe(self, heard: Callable[[], None]) -> None:
        """Have a function called whenever something was written; it must not block."""
        self._heard.append(heard)

    def stop(self) -> None:
        """Listen no longer."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(2 * WAIT_SECONDS)
            self._thread = None


def _listen(told: weakref.ref[News], stopped: threading.Event, ready: threading.Event) -> None:
    while not stopped.is_set() and (news := told()) is not None:
        database = news._database
        try:
            with database.connect() as connection:
                connection.execute(f"LISTEN {CHANNEL}")
                news.add()
                del news
                while not stopped.is_set():
                    ready.set()
                    for notice in connection.notifies(timeout=0.5, stop_after=1):
                        news = told()
                        if news is None:
                            return
                        if notice.payload != database.me:
                            news.add()
                        del news
        except psycopg.Error:
            ready.set()
            stopped.wait(_RECONNECT_SECONDS)
