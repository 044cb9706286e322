"""Stores assistants' tokens in SQLite, by the digests of their secrets."""

from __future__ import annotations

import sqlite3

from .protocol import USE_SECONDS
from .record_json import from_json, to_json
from .records import Token
from .sqlite_receipts import as_blob

SCHEMA = """
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
    """Tokens over one connection; the caller sees to it that one thread at a time is in here."""

    _connection: sqlite3.Connection

    def add_token(self, token: Token, digest: str) -> None:
        """Keep a token under the digest of its secret."""
        row = digest, token.id, as_blob(token.user), token.created_at, token.last_used_at, to_json(token)
        self._connection.execute(_ADD, row)

    def token(self, digest: str, now: float) -> Token | None:
        """The token whose secret has this digest, also an expired one; notes its use, once a minute."""
        row = self._connection.execute(_FIND, (digest,)).fetchone()
        if row is not None and now - (row[1] or 0.0) >= USE_SECONDS:
            self._connection.execute(_USE, (now, digest))
            row = row[0], now
        return row and _token(*row)

    def tokens(self, user: str) -> list[Token]:
        """A user's tokens, newest first."""
        return [_token(*row) for row in self._connection.execute(_LIST, (as_blob(user),))]

    def drop_token(self, user: str, token_id: str) -> bool:
        """Forget a token of this user; False if there is none of this id."""
        dropped = self._connection.execute(_DROP, (as_blob(user), token_id))
        return dropped.rowcount > 0


def _token(body: str, last_used_at: float | None) -> Token:
    return from_json(Token, body).model_copy(update={"last_used_at": last_used_at})
