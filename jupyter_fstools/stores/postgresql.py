"""Stores receipts and changes in PostgreSQL, shared by servers on many machines."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Hashable

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from ..errors import Invalid
from ..limits import StoreLimits
from .postgresql_changes import PostgresqlChanges
from .postgresql_connection import NOW, Database
from .postgresql_locks import PostgresqlLocks
from .postgresql_news import CHANNEL, News
from .postgresql_receipts import BELOW
from .protocol import MAX_REFUSALS, USE_SECONDS, Closing, MomentFilter, Store
from .record_json import to_ascii_json
from .records import OpenDocument, Refusal, Token
from .sql_values import as_bytes, as_text, numbered, refusal_number, refusal_values, refusals_below, token_of
from .steps import REFUSALS_BETWEEN_PRUNING

_DEFAULTS = StoreLimits()

_REFUSE = f"""
WITH step AS (UPDATE fstools.state SET refused = greatest(refused + 1, %(number)s) RETURNING refused),
added AS (INSERT INTO fstools.refusals SELECT refused, %(key)s, %(session)s, %(body)s FROM step RETURNING number)
SELECT number, pg_notify('{CHANNEL}', %(me)s) FROM added
"""
_REFUSALS = f"""
SELECT number, body FROM fstools.refusals WHERE {BELOW}
AND (%(session)s::bytea IS NULL OR session = %(session)s)
AND (%(after)s::float8 IS NULL OR number > %(after)s) AND (%(before)s::float8 IS NULL OR number < %(before)s)
ORDER BY number DESC LIMIT %(limit)s
"""
_FORGET_REFUSALS = f"""
DELETE FROM fstools.refusals WHERE number < ({NOW} - %s) * 1e6
OR number <= (SELECT number FROM fstools.refusals ORDER BY number DESC LIMIT 1 OFFSET %s)
"""
_NOTE_OPEN = f"""
INSERT INTO fstools.open VALUES (%s, %s, %s, {NOW} + %s, %s, %s, %s) ON CONFLICT (key, page, number) DO UPDATE
SET until = excluded.until, saved = excluded.saved, hash = excluded.hash, counter = excluded.counter
"""
_OPEN = f"""
SELECT page, saved, hash, counter FROM fstools.open WHERE key = %(key)s AND until >= {NOW} ORDER BY page, number
"""
_FORGET_OPEN = f"DELETE FROM fstools.open WHERE page = %s OR until < {NOW}"
_ADD = """
INSERT INTO fstools.tokens (digest, id, owner, created_at, last_used_at, body) VALUES (%s, %s, %s, %s, %s, %s)
"""
_FIND = "SELECT body, last_used_at FROM fstools.tokens WHERE digest = %s"
_USE = f"""
WITH used AS (UPDATE fstools.tokens SET last_used_at = %s WHERE digest = %s RETURNING 1)
SELECT pg_notify('{CHANNEL}', %s) FROM used
"""
_LIST = "SELECT body, last_used_at FROM fstools.tokens WHERE owner = %s ORDER BY created_at DESC, number DESC"
_DROP = f"""
WITH dropped AS (DELETE FROM fstools.tokens WHERE owner = %s AND id = %s RETURNING 1)
SELECT pg_notify('{CHANNEL}', %s) FROM dropped
"""


def _is_port(text: str) -> bool:
    """Whether libpq takes a text as a port; an empty one stands for the usual port."""
    digits = text.strip()
    return not digits or (re.fullmatch("[0-9]{1,9}", digits) is not None and 0 < int(digits) < 1 << 16)


class PostgresqlTokens:
    """Tokens in one database."""

    _database: Database
    _news: News

    def add_token(self, token: Token, digest: str) -> None:
        """Keep a token under the digest of its secret."""
        row = digest, token.id, as_bytes(token.user), token.created_at, token.last_used_at, to_ascii_json(token)
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
                connection.execute(_USE, (now, digest, self._database.me))
                used = now
                self._news.add()
        return token_of(body, used)

    def tokens(self, user: str) -> list[Token]:
        """A user's tokens, newest first."""
        with self._database.connection() as connection:
            return [token_of(*row) for row in connection.execute(_LIST, (as_bytes(user),))]

    def drop_token(self, user: str, token_id: str) -> bool:
        """Forget a token of this user; False if no token has this id."""
        with self._database.connection() as connection:
            dropped = connection.execute(_DROP, (as_bytes(user), token_id, self._database.me)).fetchone()
        self._news.add()
        return dropped is not None


class PostgresqlStore(PostgresqlChanges, PostgresqlTokens, Closing):
    """A `Store` in a PostgreSQL database, in a schema of its own (`fstools`), for servers on any number of machines.

    Nothing is connected before the first call. While the database is away every call raises `InputOutput`; once it is
    back, calls work again by themselves.

    Args:
        address: `postgresql://user@host/database`; a password comes from it, PGPASSFILE or the environment.
        limits: how much it keeps.

    Every method raises:
        InputOutput: the database does not answer, or refuses us.
    """

    def __init__(self, address: str, limits: StoreLimits = _DEFAULTS) -> None:
        super().__init__(Database(address), limits)
        self._refusals_left = 0

    @classmethod
    def from_setting(cls, where: str, limits: StoreLimits = _DEFAULTS) -> Store:
        """The database of an address.

        Raises:
            Invalid: it is no address; a character in its password that is not escaped makes it another one.
        """
        try:
            parts = conninfo_to_dict(where)
        except ProgrammingError:  # Its message repeats the address, which may hold a password.
            parts = {"host": "@"}
        ports = str(parts.get("port", "")).split(",")
        if any("@" in str(parts.get(part, "")) for part in ("host", "dbname")) or not all(map(_is_port, ports)):
            raise Invalid(
                "store: this is no address of a PostgreSQL database",
                hint="It looks like postgresql://user@host:5432/database. In a password, write an @ as %40 and other "
                "signs likewise, or leave it to PGPASSFILE. A port is a number up to 65535.",
                field="store",
            )
        return cls(where, limits)

    def add_refusal(self, refusal: Refusal) -> Refusal:
        """Keep a refusal."""
        values = {
            "number": refusal_number(refusal.at),
            "key": as_bytes(refusal.key),
            "session": as_bytes(refusal.session),
            "body": to_ascii_json(refusal),
            "me": self._database.me,
        }
        with self._database.connection() as connection:
            row = connection.execute(_REFUSE, values).fetchone()
            self._refusals_left -= 1
            if self._refusals_left <= 0:
                connection.execute(_FORGET_REFUSALS, (self._limits.journal_max_days * 86400, MAX_REFUSALS))
                self._refusals_left = REFUSALS_BETWEEN_PRUNING
        self._news.add()
        assert row is not None
        return numbered(refusal, row[0])

    def refusals(self, wanted: MomentFilter) -> list[Refusal]:
        """The refusals that a filter describes, newest first."""
        return refusals_below(wanted, self._all(_REFUSALS, refusal_values(wanted)))

    def locks(self, timeout: float) -> PostgresqlLocks:
        """Locks of files that hold on every machine."""
        return PostgresqlLocks(self._database, timeout=timeout)

    def now(self) -> float:
        """The time by the database's clock, the only one that all servers have in common."""
        return time.time() + self._database.ahead()

    def mark(self) -> Hashable:
        """A value that changes whenever anything is kept or dropped, on any machine."""
        return self._news.mark()

    def subscribe(self, heard: Callable[[], None]) -> None:
        """Have a function called at once when anything is kept; it must not block."""
        self._news.subscribe(heard)

    def note_open(self, page: str, documents: Collection[OpenDocument], until: float) -> None:
        """Replace what a page said before."""
        name = as_bytes(page)
        with self._database.connection() as connection, connection.transaction():
            connection.execute(_FORGET_OPEN, (name,))
            for number, document in enumerate(documents):
                told = (number, until - time.time(), document.saved, document.hash, document.counter)
                connection.execute(_NOTE_OPEN, (as_bytes(document.key), name, *told))

    def open_documents(self, key: str) -> list[OpenDocument]:
        """The documents that pages have open of a file."""
        if (state := self._state(key)) is not None and state.is_fresh and not state.is_open:
            return []
        rows = self._all(_OPEN, {"key": as_bytes(key)})
        return [OpenDocument(as_text(page), key, saved, hash, counter) for page, saved, hash, counter in rows]

    def close(self) -> None:
        """Close the connections; a later call makes others."""
        self._news.stop()
        self._database.close()
