"""Stores assistants' tokens in PostgreSQL, by the digests of their secrets."""

from __future__ import annotations

from .postgresql_connection import Database
from .postgresql_receipts import as_bytes
from .protocol import USE_SECONDS
from .record_json import from_json, to_json
from .records import Token

_ADD = """
INSERT INTO fstools.tokens (digest, id, owner, created_at, last_used_at, body) VALUES (%s, %s, %s, %s, %s, %s)
"""
_FIND = "SELECT body, last_used_at FROM fstools.tokens WHERE digest = %s"
_USE = "UPDATE fstools.tokens SET last_used_at = %s WHERE digest = %s"
_LIST = "SELECT body, last_used_at FROM fstools.tokens WHERE owner = %s ORDER BY created_at DESC, number DESC"
_DROP = "DELETE FROM fstools.tokens WHERE owner = %s AND id = %s"


class PostgresqlTokens:
    """Tokens in one database."""

    _database: Database

    def add_token(self, token: Token, digest: str) -> None:
        """Keep a token under the digest of its secret."""
        row = digest, token.id, as_bytes(token.user), token.created_at, token.last_used_at, to_json(token)
        with self._database.connection() as connection:
            connection.execute(_ADD, row)

    def token(self, digest: str, now: float) -> Token | None:
        """The token whose secret has this digest, also an expired one; notes its use, once a minute."""
        with self._database.connection() as connection:
            row = connection.execute(_FIND, (digest,)).fetchone()
            if row is None:
                return None
            body, used = row
            if now - (used or 0.0) >= USE_SECONDS:
                connection.execute(_USE, (now, digest))
                used = now
        return _token(body, used)

    def tokens(self, user: str) -> list[Token]:
        """A user's tokens, newest first."""
        with self._database.connection() as connection:
            return [_token(*row) for row in connection.execute(_LIST, (as_bytes(user),))]

    def drop_token(self, user: str, token_id: str) -> bool:
        """Forget a token of this user; False if there is none of this id."""
        with self._database.connection() as connection:
            return connection.execute(_DROP, (as_bytes(user), token_id)).rowcount > 0


def _token(body: str, last_used_at: float | None) -> Token:
    return from_json(Token, body).model_copy(update={"last_used_at": last_used_at})
