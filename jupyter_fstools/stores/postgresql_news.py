"""Listens to PostgreSQL for what other servers write."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

import psycopg

from .postgresql_answers import Patient
from .postgresql_connection import WAIT_SECONDS, Database

CHANNEL = "fstools"

_RECONNECT_SECONDS = 0.2


class News:
    """Counts writes by any server, as LISTEN reports them, in a thread of its own from the first `mark` on.

    A lost connection counts as one write: a caller that then reads the revisions has missed nothing.

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
        """A number that changes with each write."""
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
        """Count a write, by this server or another one."""
        self._count += 1
        for heard in self._heard:
            heard()

    def subscribe(self, heard: Callable[[], None]) -> None:
        """Have a function called whenever something was written; it must not block."""
        self._heard.append(heard)

    def stop(self) -> None:
        """Stop listening."""
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
                _hear(connection, database.me, told, stopped, ready)
        except psycopg.Error:
            ready.set()
            stopped.wait(_RECONNECT_SECONDS)


def _hear(
    connection: Patient, me: str, told: weakref.ref[News], stopped: threading.Event, ready: threading.Event
) -> None:
    """Pass on the notices of other servers, until nobody listens any more."""
    while not stopped.is_set():
        ready.set()
        for notice in connection.notifies(timeout=0.5, stop_after=1):
            news = told()
            if news is None:
                return
            if notice.payload != me:
                news.add()
            del news
