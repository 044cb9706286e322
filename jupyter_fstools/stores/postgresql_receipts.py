"""Stores receipts in PostgreSQL, bounded per reader."""

from __future__ import annotations

import time
from typing import Any

from psycopg import Connection

from .in_memory import DROPPED_PER_RECEIPT
from .postgresql_connection import CHANNEL, Database, News
from .protocol import MomentFilter, PutReceipt, StoreLimits
from .record_json import from_json, to_json
from .records import Reader, Receipt

_PLACE = "owner = %(owner)s AND session = %(session)s"
# A receipt that was used a moment ago is not written again for that: it is not among those whose turn it is to go.
_FIND = f"""
WITH touched AS (
    UPDATE fstools.receipts SET used = %(used)s WHERE {_PLACE} AND key = %(key)s AND used < %(used)s - %(hot)s
) SELECT body FROM fstools.receipts WHERE {_PLACE} AND key = %(key)s
"""
_PUT = f"""
WITH kept AS (
    INSERT INTO fstools.receipts
    VALUES (%(owner)s, %(session)s, %(key)s, %(used)s, %(read_at)s, %(own_write)s, %(body)s, %(shown)s)
    ON CONFLICT (owner, session, key) DO UPDATE SET used = excluded.used, read_at = excluded.read_at,
    own_write = excluded.own_write, body = excluded.body, shown = coalesce(excluded.shown, receipts.shown)
), back AS (DELETE FROM fstools.dropped WHERE {_PLACE} AND key = %(key)s)
SELECT pg_notify('{CHANNEL}', %(me)s)
"""
_EVICT = f"""
WITH gone AS (
    DELETE FROM fstools.receipts WHERE {_PLACE} AND key IN (
        SELECT key FROM fstools.receipts WHERE {_PLACE} ORDER BY used DESC OFFSET %(most)s
    ) RETURNING owner, session, key, used
) INSERT INTO fstools.dropped SELECT * FROM gone ON CONFLICT (owner, session, key) DO UPDATE SET used = excluded.used
"""
_FADE = f"""
DELETE FROM fstools.dropped WHERE {_PLACE} AND key IN (
    SELECT key FROM fstools.dropped WHERE {_PLACE} ORDER BY used DESC OFFSET %(most_dropped)s
)
"""
_BELOW = "(%(folder)s::bytea IS NULL OR key = %(folder)s OR (key >= %(below)s AND key < %(beyond)s))"
_READS = f"""
SELECT body FROM fstools.receipts WHERE NOT own_write AND {_BELOW}
AND (%(after)s::float8 IS NULL OR read_at > %(after)s) AND (%(before)s::float8 IS NULL OR read_at < %(before)s)
AND (%(within)s::bytea IS NULL OR session = %(within)s) ORDER BY read_at DESC LIMIT %(limit)s
"""

_HOT_MICROSECONDS = 1_000_000
_SMALL = 64
_DAY = 86400.0
LARGEST = 2**62
_FAR_SECONDS = 1e12


def as_bytes(text: str) -> bytes:
    """Any string as bytes, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def as_text(name: bytes) -> str:
    """What `as_bytes` was given."""
    return bytes(name).decode("utf-8", "surrogatepass")


def bounds(prefix: str | None) -> dict[str, bytes | None]:
    """The values of `_BELOW`: the folder itself, and what lies below it ("0" follows "/")."""
    if prefix is None:
        return {"folder": None, "below": None, "beyond": None}
    folder = as_bytes(prefix.removesuffix("/"))
    return {"folder": folder, "below": folder + b"/", "beyond": folder + b"0"}


def moments(wanted: MomentFilter) -> dict[str, Any]:
    """A filter's values by the names that queries give them."""
    times = {"after": wanted.after, "before": wanted.before}
    return {
        **bounds(wanted.key_prefix),
        **{name: one and max(-_FAR_SECONDS, min(one, _FAR_SECONDS)) for name, one in times.items()},
        "within": None if wanted.session is None else as_bytes(wanted.session),
        "limit": max(0, min(wanted.limit, LARGEST)),
    }


class PostgresqlReceipts:
    """Receipts of all readers; see `Store`."""

    def __init__(self, database: Database, limits: StoreLimits) -> None:
        self._database = database
        self._limits = limits
        self._news = News(database)
        self._puts_left: dict[Reader, int] = {}
        self._last_stamp = 0
        self._next_sweep = 0.0

    def receipt(self, reader: Reader, key: str) -> Receipt | None:
        """The reader's receipt of a file; being asked for counts as use."""
        hot = 0 if self._limits.max_receipts < _SMALL else _HOT_MICROSECONDS
        row = self._one(_FIND, {**self._place(reader), "key": as_bytes(key), "used": self._stamp(), "hot": hot})
        return from_json(Receipt, row[0]) if row else None

    def was_dropped(self, reader: Reader, key: str) -> bool:
        """True if the bound on their number pushed the receipt out."""
        query = f"SELECT 1 FROM fstools.dropped WHERE {_PLACE} AND key = %(key)s"
        return self._one(query, {**self._place(reader), "key": as_bytes(key)}) is not None

    def put_receipt(self, receipt: Receipt, shown: bytes | None = None) -> None:
        """Keep a receipt; `shown` None leaves the text that is kept."""
        with self._database.connection() as connection:
            self._put_within(connection, receipt, shown)
        self._news.add()
        self._after_put([(receipt, shown)])

    def shown_text(self, reader: Reader, key: str) -> bytes | None:
        """The copy kept by `put_receipt`."""
        query = f"SELECT shown FROM fstools.receipts WHERE {_PLACE} AND key = %(key)s"
        row = self._one(query, {**self._place(reader), "key": as_bytes(key)})
        return row[0] if row else None

    def receipts(self, reader: Reader, key_prefix: str | None = None) -> list[Receipt]:
        """All of a reader's receipts below a key prefix, most recently used first."""
        query = f"SELECT body FROM fstools.receipts WHERE {_PLACE} AND {_BELOW} ORDER BY used DESC"
        return [from_json(Receipt, body) for (body,) in self._all(query, {**self._place(reader), **bounds(key_prefix)})]

    def reads(self, wanted: MomentFilter) -> list[Receipt]:
        """The receipts of all readers that a filter describes, latest read first."""
        return [from_json(Receipt, body) for (body,) in self._all(_READS, moments(wanted))]

    def forget(self, reader: Reader, key: str | None = None) -> int:
        """Drop one receipt, or all of a reader's; says how many."""
        which = _PLACE if key is None else f"{_PLACE} AND key = %(key)s"
        values = {**self._place(reader), "key": None if key is None else as_bytes(key), "me": self._database.me}
        with self._database.connection() as connection, connection.transaction():
            count = connection.execute(f"DELETE FROM fstools.receipts WHERE {which}", values).rowcount
            connection.execute(f"DELETE FROM fstools.dropped WHERE {which}", values)
            connection.execute(f"SELECT pg_notify('{CHANNEL}', %(me)s)", values)
        self._news.add()
        return count

    def _put_within(self, connection: Connection[Any], receipt: Receipt, shown: bytes | None) -> None:
        values = {
            **self._place(receipt.reader),
            "key": as_bytes(receipt.key),
            "used": self._stamp(),
            "read_at": receipt.read_at,
            "own_write": receipt.own_write,
            "body": to_json(receipt),
            "shown": shown,
            "me": self._database.me,
        }
        connection.execute(_PUT, values)

    def _after_put(self, receipts: list[PutReceipt]) -> None:
        for receipt, _ in receipts:
            left = self._puts_left.get(receipt.reader, 1) - 1
            if left <= 0:
                self._evict(receipt.reader)
                left = max(1, self._limits.max_receipts // 32)
            self._puts_left[receipt.reader] = left
        if time.time() > self._next_sweep:
            self._sweep()

    def _evict(self, reader: Reader) -> None:
        most = self._limits.max_receipts
        values = {**self._place(reader), "most": most, "most_dropped": DROPPED_PER_RECEIPT * most}
        with self._database.connection() as connection:
            if connection.execute(_EVICT, values).rowcount:
                connection.execute(_FADE, values)

    def _sweep(self) -> None:
        """Once a day, and at first: receipts that nobody used for as long as changes are kept."""
        self._next_sweep = time.time() + _DAY
        oldest = int((time.time() - max(self._limits.journal_max_days, 2) * _DAY) * 1e6)
        with self._database.connection() as connection:
            for table in ("receipts", "dropped"):
                connection.execute(f"DELETE FROM fstools.{table} WHERE used < %s", (oldest,))

    def _stamp(self) -> int:
        # Microseconds, rising also where the clock does not.
        self._last_stamp = max(self._last_stamp + 1, time.time_ns() // 1000)
        return self._last_stamp

    def _place(self, reader: Reader) -> dict[str, Any]:
        return {"owner": as_bytes(reader.user), "session": as_bytes(reader.session)}

    def _one(self, query: Any, values: dict[str, Any]) -> Any:
        with self._database.connection() as connection:
            return connection.execute(query, values).fetchone()

    def _all(self, query: Any, values: dict[str, Any]) -> list[Any]:
        with self._database.connection() as connection:
            return connection.execute(query, values).fetchall()
