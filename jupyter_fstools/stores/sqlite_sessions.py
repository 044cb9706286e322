"""Keeps tokens, open documents and refused calls in SQLite."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from pathlib import Path

from ..limits import StoreLimits
from .protocol import MAX_REFUSALS, USE_SECONDS, MomentFilter
from .record_json import to_json
from .records import OpenDocument, Refusal, Token
from .sql_values import as_bytes, as_text, numbered, refusal_number, refusal_values, refusals_below, token_of
from .steps import REFUSALS_BETWEEN_PRUNING

TOKENS = """
CREATE TABLE IF NOT EXISTS tokens (
    number INTEGER PRIMARY KEY, digest TEXT UNIQUE, id TEXT, user BLOB, created_at REAL, last_used_at REAL, body TEXT
);
"""

_ADD = "INSERT INTO tokens VALUES (NULL, ?, ?, ?, ?, ?, ?)"
_FIND = "SELECT body, last_used_at FROM tokens WHERE digest = ?"
_USE = "UPDATE tokens SET last_used_at = ? WHERE digest = ?"
_LIST = "SELECT body, last_used_at FROM tokens WHERE user = ? ORDER BY created_at DESC, number DESC"
_DROP = "DELETE FROM tokens WHERE user = ? AND id = ?"


class TokenTable:
    """Tokens over one connection; the caller makes sure that one thread at a time uses it."""

    _connection: sqlite3.Connection

    def add_token(self, token: Token, digest: str) -> None:
        """Keep a token under the digest of its secret."""
        row = digest, token.id, as_bytes(token.user), token.created_at, token.last_used_at, to_json(token)
        self._connection.execute(_ADD, row)

    def token(self, digest: str, now: float) -> Token | None:
        """The token whose secret has this digest, also an expired one; notes its use, once a minute."""
        row = self._connection.execute(_FIND, (digest,)).fetchone()
        if row is not None and now - (row[1] or 0.0) >= USE_SECONDS:
            with suppress(sqlite3.OperationalError):  # On a full disk the use is not noted.
                self._connection.execute(_USE, (now, digest))
                row = row[0], now
        return row and token_of(*row)

    def tokens(self, user: str) -> list[Token]:
        """A user's tokens, newest first."""
        return [token_of(*row) for row in self._connection.execute(_LIST, (as_bytes(user),))]

    def drop_token(self, user: str, token_id: str) -> bool:
        """Forget a token of this user; False if no token has this id."""
        dropped = self._connection.execute(_DROP, (as_bytes(user), token_id))
        return dropped.rowcount > 0


# The computer's clock may be set meanwhile: until the next boot, the uptime is compared instead.
OPEN_DOCUMENTS = """
DROP TABLE IF EXISTS open_documents;
CREATE TABLE open_documents (
    key BLOB, page BLOB, number INTEGER, saved INTEGER, hash TEXT, counter INTEGER,
    until REAL, boot TEXT, until_up REAL,
    PRIMARY KEY (key, page, number)
) WITHOUT ROWID;
"""

_CLEAR = """
DELETE FROM open_documents WHERE page = :page OR CASE WHEN boot = :boot THEN until_up < :up ELSE until < :now END
"""
_NOTE = "INSERT INTO open_documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_OF_FILE = """
SELECT page, saved, hash, counter FROM open_documents
WHERE key = :key AND CASE WHEN boot = :boot THEN until_up >= :up ELSE until >= :now END
"""


@cache
def _boot() -> str | None:
    """Linux's id of the current boot; None on other systems."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None


def _moment() -> dict[str, str | float | None]:
    return {"boot": _boot(), "up": time.monotonic(), "now": time.time()}


class OpenDocumentTable:
    """Open documents over one connection; the caller makes sure that one thread at a time uses it."""

    _connection: sqlite3.Connection

    def note_open(self, page: str, documents: Collection[OpenDocument], until: float) -> None:
        """Replace what a page said before."""
        name = as_bytes(page)
        ends = until, _boot(), time.monotonic() + until - time.time()
        rows = [
            (as_bytes(found.key), name, number, found.saved, found.hash, found.counter, *ends)
            for number, found in enumerate(documents)
        ]
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(_CLEAR, {"page": name, **_moment()})
            self._connection.executemany(_NOTE, rows)

    def open_documents(self, key: str) -> list[OpenDocument]:
        """The documents that pages have open of a file."""
        rows = self._connection.execute(_OF_FILE, {"key": as_bytes(key), **_moment()}).fetchall()
        return [OpenDocument(as_text(page), key, bool(saved), sha, counter) for page, saved, sha, counter in rows]


# A refusal's number is its time in microseconds, made later than every other's: a listing can continue after it.
REFUSALS = """
CREATE TABLE IF NOT EXISTS refusals (number INTEGER PRIMARY KEY, key BLOB, session BLOB, body TEXT);
"""

_ADD_REFUSAL = """
INSERT INTO refusals VALUES (max(?, (SELECT coalesce(max(number), 0) + 1 FROM refusals)), ?, ?, ?) RETURNING number
"""
_REFUSALS_BY_TIME = """
SELECT number, body FROM refusals WHERE
(:folder IS NULL OR key = :folder OR (key >= :below AND key < :beyond))
AND (:session IS NULL OR session = :session)
AND (:after IS NULL OR number > :after)
AND (:before IS NULL OR number < :before)
ORDER BY number DESC LIMIT :limit
"""
_PRUNE = """
DELETE FROM refusals WHERE number < ?
OR number <= (SELECT number FROM refusals ORDER BY number DESC LIMIT 1 OFFSET ?)
"""


class RefusalTable:
    """Refusals over one connection; the caller makes sure that one thread at a time uses it."""

    _connection: sqlite3.Connection
    _limits: StoreLimits
    _refusals_left = 0

    def add_refusal(self, refusal: Refusal) -> Refusal:
        """Keep a refusal."""
        columns = as_bytes(refusal.key), as_bytes(refusal.session), to_json(refusal)
        [(number,)] = self._connection.execute(_ADD_REFUSAL, (refusal_number(refusal.at), *columns)).fetchall()
        self._refusals_left -= 1
        if self._refusals_left <= 0:
            oldest = refusal_number(time.time() - self._limits.journal_max_days * 86400)
            self._connection.execute(_PRUNE, (oldest, MAX_REFUSALS))
            self._refusals_left = REFUSALS_BETWEEN_PRUNING
        return numbered(refusal, number)

    def refusals(self, wanted: MomentFilter) -> list[Refusal]:
        """The refusals that a filter describes, newest first."""
        return refusals_below(wanted, self._connection.execute(_REFUSALS_BY_TIME, refusal_values(wanted)))
