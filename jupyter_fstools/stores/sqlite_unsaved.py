"""Stores in SQLite who holds which documents unsaved."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection

from .sqlite_receipts import as_blob

SCHEMA = """
CREATE TABLE IF NOT EXISTS unsaved (
    key BLOB, holder BLOB, until REAL,
    PRIMARY KEY (key, holder)
) WITHOUT ROWID;
"""

_CLEAR = "DELETE FROM unsaved WHERE holder = ? OR until < ?"
_NOTE = "INSERT INTO unsaved VALUES (?, ?, ?)"
_HAS = "SELECT 1 FROM unsaved WHERE key = ? AND until >= ? LIMIT 1"


class UnsavedTable:
    """Unsaved documents over one connection; the caller sees to it that one thread at a time is in here."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def note_unsaved(self, holder: str, keys: Collection[str], until: float) -> None:
        """Replace what a holder said before."""
        name = as_blob(holder)
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(_CLEAR, (name, time.time()))
            self._connection.executemany(_NOTE, [(as_blob(key), name, until) for key in set(keys)])

    def has_unsaved(self, key: str) -> bool:
        """Somebody has unsaved changes of this file open."""
        return self._connection.execute(_HAS, (as_blob(key), time.time())).fetchone() is not None
