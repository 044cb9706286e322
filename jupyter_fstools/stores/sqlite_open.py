"""Keeps the SQLite table of the documents that pages have open."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection

from .records import OpenDocument
from .sqlite_receipts import as_blob

SCHEMA = """
CREATE TABLE IF NOT EXISTS open_documents (
    key BLOB, page BLOB, number INTEGER, saved INTEGER, hash TEXT, counter INTEGER, until REAL,
    PRIMARY KEY (key, page, number)
) WITHOUT ROWID;
"""

_CLEAR = "DELETE FROM open_documents WHERE page = ? OR until < ?"
_NOTE = "INSERT INTO open_documents VALUES (?, ?, ?, ?, ?, ?, ?)"
_OF_FILE = "SELECT page, saved, hash, counter FROM open_documents WHERE key = ? AND until >= ?"


class OpenDocumentTable:
    """Open documents over one connection; the caller sees to it that one thread at a time is in here."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def note_open(self, page: str, documents: Collection[OpenDocument], until: float) -> None:
        """Replace what a page said before."""
        name = as_blob(page)
        rows = [
            (as_blob(found.key), name, number, found.saved, found.hash, found.counter, until)
            for number, found in enumerate(documents)
        ]
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(_CLEAR, (name, time.time()))
            self._connection.executemany(_NOTE, rows)

    def open_documents(self, key: str) -> list[OpenDocument]:
        """The documents that pages have open of a file."""
        rows = self._connection.execute(_OF_FILE, (as_blob(key), time.time())).fetchall()
        return [OpenDocument(page.decode(), key, bool(saved), sha, counter) for page, saved, sha, counter in rows]
