"""Stores receipts in PostgreSQL, bounded per reader."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ..errors import FsToolsError
from ..limits import StoreLimits
from .postgresql_connection import NOW, Database, LockedState
from .postgresql_news import CHANNEL, News
from .protocol import MomentFilter, PutReceipt
from .record_json import from_json, to_ascii_json
from .records import Reader, Receipt
from .sql_values import LARGEST, as_bigint, as_bytes, moment_values, prefix_values, receipts_below
from .steps import DROPPED_PER_RECEIPT, ReceiptCounter, dropping

PUT_VALUES = """
%(owners)b::bytea[], %(sessions)b::bytea[], %(files)b::bytea[], %(stamps)b::bigint[], %(moments)b::float8[],
%(own)b::boolean[], %(bodies)b::text[], %(texts)b::bytea[]
"""
_PLACE = "owner = %(reader_user)s AND session = %(reader_session)s"
# The commit does not wait for the database's disk: a crash may lose the last receipts; those files are read again.
_SOON = "set_config('synchronous_commit', 'off', true)"
# A use shortly after another one is not written: that receipt is not among the least recently used.
_MINE = "owner = $1 AND session = $2 AND key = $3"
_FIND = f"""
WITH touched AS (
    UPDATE fstools.receipts SET used = $4::bigint WHERE {_MINE} AND used < $4 - $5::bigint
) SELECT body, {_SOON} FROM fstools.receipts WHERE {_MINE}
"""
_PUT = f"SELECT {_SOON}, fstools.put({PUT_VALUES}), pg_notify('{CHANNEL}', %(me)s)"
# Receipts of one reader are those of `_PLACE`.
_OF_ALL = "TRUE"
_EVICT = """
WITH gone AS (
    DELETE FROM fstools.receipts WHERE {whose} AND (owner, session, key) IN (
        SELECT owner, session, key FROM fstools.receipts WHERE {whose} ORDER BY used DESC OFFSET %(most)s
    ) RETURNING owner, session, key, used
) INSERT INTO fstools.dropped SELECT * FROM gone ON CONFLICT (owner, session, key) DO UPDATE SET used = excluded.used
"""
_FADE = """
DELETE FROM fstools.dropped WHERE {whose} AND (owner, session, key) IN (
    SELECT owner, session, key FROM fstools.dropped WHERE {whose} ORDER BY used DESC OFFSET %(most_dropped)s
)
"""
BELOW = "(%(folder)s::bytea IS NULL OR key = %(folder)s OR (key >= %(below)s AND key < %(beyond)s))"
_READS = f"""
SELECT body FROM fstools.receipts WHERE NOT own_write AND {BELOW}
AND (%(after)s::float8 IS NULL OR read_at > %(after)s) AND (%(before)s::float8 IS NULL OR read_at < %(before)s)
AND (%(session)s::bytea IS NULL OR session = %(session)s) ORDER BY read_at DESC LIMIT %(limit)s
"""
_UNUSED = f"used < ({NOW} - %s) * 1e6"

HOT_MICROSECONDS = 1_000_000
_SMALL = 64
_DAY = 86400.0


class PostgresqlReceipts:
    """Receipts of all readers; see `Store`."""

    def __init__(self, database: Database, limits: StoreLimits) -> None:
        self._database = database
        self._limits = limits
        self._news = News(database)
        self._puts = ReceiptCounter(limits)
        self._last_stamp = 0
        self._next_sweep = 0.0

    def receipt(self, reader: Reader, key: str) -> Receipt | None:
        """The reader's receipt of a file; a lookup counts as use."""
        if (state := self._state(key)) is not None and state.reader == reader:
            return None if state.receipt is None else from_json(Receipt, state.receipt)
        hot = 0 if self._limits.max_receipts < _SMALL else HOT_MICROSECONDS
        place = as_bytes(reader.user), as_bytes(reader.session), as_bytes(key)
        with self._database.connection() as connection:
            row = connection.ask(_FIND, *place, as_bigint(self._stamp()), as_bigint(hot))
        return from_json(Receipt, row[0]) if row and row[0] else None

    def was_dropped(self, reader: Reader, key: str) -> bool:
        """True if the bound on their number pushed the receipt out."""
        query = f"SELECT 1 FROM fstools.dropped WHERE {_PLACE} AND key = %(key)s"
        return self._one(query, {**self._place(reader), "key": as_bytes(key)}) is not None

    def put_receipt(self, receipt: Receipt, shown: bytes | None = None) -> None:
        """Keep a receipt; `shown` None leaves the text that is kept."""
        with self._database.connection() as connection:
            connection.execute(_PUT, self._put_values([(receipt, shown)]))
        self._after_put([(receipt, shown)])

    def shown_text(self, reader: Reader, key: str) -> bytes | None:
        """The copy kept by `put_receipt`."""
        if (state := self._state(key)) is not None and state.reader == reader:
            return state.shown
        query = f"SELECT shown FROM fstools.receipts WHERE {_PLACE} AND key = %(key)s"
        row = self._one(query, {**self._place(reader), "key": as_bytes(key)})
        return row[0] if row else None

    def receipts(self, reader: Reader, key_prefix: str | None = None) -> list[Receipt]:
        """All of a reader's receipts below a key prefix, most recently used first."""
        query = f"SELECT body FROM fstools.receipts WHERE {_PLACE} AND {BELOW} ORDER BY used DESC"
        wanted = MomentFilter(key_prefix, limit=LARGEST)
        rows = self._all(query, {**self._place(reader), **prefix_values(key_prefix)})
        return receipts_below(wanted, rows)

    def reads(self, wanted: MomentFilter) -> list[Receipt]:
        """The receipts of all readers that a filter describes, latest read first."""
        return receipts_below(wanted, self._all(_READS, moment_values(wanted)))

    def forget(self, reader: Reader, key: str | None = None) -> int:
        """Drop one receipt, or all of a reader's; says how many."""
        which = _PLACE if key is None else f"{_PLACE} AND key = %(key)s"
        values = {**self._place(reader), "key": None if key is None else as_bytes(key), "me": self._database.me}
        with self._database.connection() as connection, connection.transaction():
            count = connection.execute(f"DELETE FROM fstools.receipts WHERE {which}", values).rowcount
            connection.execute(f"DELETE FROM fstools.dropped WHERE {which}", values)
            connection.execute(f"SELECT pg_notify('{CHANNEL}', %(me)s)", values)
        self._forget_states()
        self._news.add()
        return count

    def _state(self, key: str) -> LockedState | None:
        held = self._database.held
        return None if held is None else held.states.get(key)

    def _forget_states(self) -> None:
        if (held := self._database.held) is not None:
            held.states.clear()

    def _put_values(self, receipts: Sequence[PutReceipt]) -> dict[str, Any]:
        return {
            "owners": [as_bytes(receipt.user) for receipt, _ in receipts],
            "sessions": [as_bytes(receipt.session) for receipt, _ in receipts],
            "files": [as_bytes(receipt.key) for receipt, _ in receipts],
            "stamps": [self._stamp() for _ in receipts],
            "moments": [receipt.read_at for receipt, _ in receipts],
            "own": [receipt.own_write for receipt, _ in receipts],
            "bodies": [to_ascii_json(receipt) for receipt, _ in receipts],
            "texts": [shown for _, shown in receipts],
            "me": self._database.me,
        }

    def _after_put(self, receipts: Sequence[PutReceipt]) -> None:
        self._news.add()
        if receipts:
            self._forget_states()
        with dropping(FsToolsError):
            for receipt, _ in receipts:
                of_reader, of_all = self._puts.put(receipt.reader)
                if of_all:
                    self._evict(_OF_ALL, {}, self._limits.max_all_receipts)
                if of_reader:
                    self._evict(_PLACE, self._place(receipt.reader), self._limits.max_receipts)
            if time.time() > self._next_sweep:
                self._sweep()

    def _evict(self, whose: str, reader: dict[str, Any], most: int) -> None:
        """Drop the least recently used receipts beyond the bound; `reader` has the values for `whose`."""
        values = {**reader, "most": most, "most_dropped": DROPPED_PER_RECEIPT * most}
        with self._database.connection() as connection:
            if connection.execute(_EVICT.format(whose=whose), values).rowcount:
                connection.execute(_FADE.format(whose=whose), values)

    def _sweep(self) -> None:
        """Drop receipts that nobody used for as long as changes are kept; once a day, and at first."""
        self._next_sweep = time.time() + _DAY
        kept = max(self._limits.journal_max_days, 2) * _DAY
        with self._database.connection() as connection:
            for table in ("receipts", "dropped"):
                connection.execute(f"DELETE FROM fstools.{table} WHERE {_UNUSED}", (kept,))

    def _stamp(self) -> int:
        # Microseconds; they rise even where the clock does not.
        self._last_stamp = max(self._last_stamp + 1, time.time_ns() // 1000)
        return self._last_stamp

    def _place(self, reader: Reader) -> dict[str, Any]:
        return {"reader_user": as_bytes(reader.user), "reader_session": as_bytes(reader.session)}

    def _one(self, query: Any, values: dict[str, Any]) -> Any:
        return next(iter(self._all(query, values)), None)

    def _all(self, query: Any, values: dict[str, Any]) -> list[Any]:
        # A lost lock bars writes, not questions: the answers are needed to put back files that were written under it.
        return self._database.again_if_lost(lambda: self._answers(query, values))

    def _answers(self, query: Any, values: dict[str, Any]) -> list[Any]:
        with self._database.connection() as connection:
            return connection.execute(query, values).fetchall()
