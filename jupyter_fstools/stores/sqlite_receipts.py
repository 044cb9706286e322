"""Stores receipts in SQLite; evicts the least recently used."""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Sequence

from ..limits import StoreLimits
from .protocol import MomentFilter, PutReceipt
from .record_json import from_json, to_json
from .records import Reader, Receipt
from .sql_values import LARGEST, as_bytes, moment_values, receipts_below
from .steps import DROPPED_PER_RECEIPT, MOST_READERS, ReceiptCounter, dropping

SCHEMA = """
CREATE TABLE IF NOT EXISTS receipts (
    user BLOB, session BLOB, key BLOB, used INTEGER, body TEXT,
    PRIMARY KEY (user, session, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shown (
    user BLOB, session BLOB, key BLOB, content BLOB,
    PRIMARY KEY (user, session, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dropped (
    user BLOB, session BLOB, key BLOB, used INTEGER,
    PRIMARY KEY (user, session, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS readers (
    user BLOB, session BLOB, seen REAL,
    PRIMARY KEY (user, session)
) WITHOUT ROWID;
"""

_READ_AT = "json_extract(body, '$.read_at')"
_FIND = "SELECT body FROM receipts WHERE user = ? AND session = ? AND key = ?"
_TOUCH = "UPDATE receipts SET used = ? WHERE user = ? AND session = ? AND key = ?"
_PUT = """
INSERT INTO receipts VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET used = excluded.used, body = excluded.body
"""
_PUT_SHOWN = """
INSERT INTO shown VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET content = excluded.content WHERE content IS NOT excluded.content
"""
_SHOWN = "SELECT content FROM shown WHERE user = ? AND session = ? AND key = ?"
_LIST = """
SELECT body FROM receipts WHERE user = :user AND session = :session
AND (:folder IS NULL OR key = :folder OR (key >= :below AND key < :beyond)) ORDER BY used DESC
"""
# No index: it would make each write of a receipt half as expensive again. A follower asks for reads since its last
# poll, and `used`, which is never before the read, excludes older rows before their JSON is parsed.
_READS = f"""
SELECT body FROM receipts WHERE (:after IS NULL OR (used > :after * 1e6 AND {_READ_AT} > :after))
AND (:folder IS NULL OR key = :folder OR (key >= :below AND key < :beyond))
AND (:session IS NULL OR session = :session)
AND (:before IS NULL OR {_READ_AT} < :before)
AND json_extract(body, '$.own_write') IS NOT 1
ORDER BY {_READ_AT} DESC LIMIT :limit
"""  # noqa: S608 - put together from constants only
_WAS_DROPPED = """
SELECT EXISTS (SELECT 1 FROM dropped WHERE user = ? AND session = ? AND key = ?)
AND NOT EXISTS (SELECT 1 FROM receipts WHERE user = ? AND session = ? AND key = ?)
"""
_FORGET_ONE = (
    "DELETE FROM receipts WHERE user = ? AND session = ? AND key = ?",
    "DELETE FROM shown WHERE user = ? AND session = ? AND key = ?",
    "DELETE FROM dropped WHERE user = ? AND session = ? AND key = ?",
)
_FORGET_ALL = (
    "DELETE FROM receipts WHERE user = ? AND session = ?",
    "DELETE FROM shown WHERE user = ? AND session = ?",
    "DELETE FROM dropped WHERE user = ? AND session = ?",
)
_SEEN = "INSERT INTO readers VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seen = excluded.seen"
_UNSEEN = "SELECT user, session FROM readers WHERE seen < ?"
_FORGET_READER = "DELETE FROM readers WHERE user = ? AND session = ?"
_LAST_USED = "SELECT coalesce(max(used), 0) FROM receipts WHERE user = ? AND session = ?"
# Receipts of one reader, or of all.
_OF_READER, _OF_ALL = "WHERE user = ? AND session = ?", ""
_COUNT = "SELECT count(*) FROM receipts {whose}"
_LEAST_USED = "SELECT user, session, key, used FROM receipts {whose} ORDER BY used LIMIT ?"
_DROP = "INSERT OR REPLACE INTO dropped VALUES (?, ?, ?, ?)"
_FADE = """
DELETE FROM dropped WHERE (user, session, key) IN (
    SELECT user, session, key FROM dropped {whose} ORDER BY used DESC LIMIT -1 OFFSET ?
)
"""

_DAY = 86400.0
_HOT_SECONDS = 1.0

Place = tuple[bytes, bytes, bytes]


class ReceiptTable:
    """Receipts over one connection; the caller makes sure that one thread at a time uses it.

    Its state beside the table only saves work: the readers seen today, and the receipts used so recently that
    another note of their use would not change which ones are evicted.
    """

    def __init__(self, connection: sqlite3.Connection, limits: StoreLimits) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._limits = limits
        self._hot: OrderedDict[tuple[Reader, str], tuple[float, int]] = OrderedDict()
        self._notes = 0
        self._most_hot = limits.max_receipts // 2
        self._puts = ReceiptCounter(limits)
        self._met: dict[Reader, float] = {}
        self._last_stamp = 0

    def receipt(self, reader: Reader, key: str) -> Receipt | None:
        """The reader's receipt of a file; a lookup counts as use."""
        place = place_of(reader, key)
        row = self._execute(_FIND, place).fetchone()
        if row is None:
            return None
        try:
            self._meet(reader)
            if not self._use(reader, key):
                self._execute(_TOUCH, (self._stamp(), *place))
        except sqlite3.OperationalError:
            pass  # On a full disk the use is not noted, and reading goes on.
        return from_json(Receipt, row[0])

    def was_dropped(self, reader: Reader, key: str) -> bool:
        """True if the bound on their number pushed the receipt out."""
        return bool(self._execute(_WAS_DROPPED, 2 * place_of(reader, key)).fetchone()[0])

    def put_receipt(self, receipt: Receipt, shown: bytes | None = None) -> None:
        """Keep a receipt; `shown` None leaves the text that is kept."""
        self._meet(receipt.reader)
        with self._connection:
            if shown is not None:  # One statement alone is a transaction by itself, and faster.
                self._execute("BEGIN IMMEDIATE")
            self._put_within([(receipt, shown)])
        self._after_put([(receipt, shown)])

    def _put_within(self, receipts: Sequence[PutReceipt]) -> None:
        for receipt, shown in receipts:
            place = place_of(receipt.reader, receipt.key)
            self._execute(_PUT, (*place, self._stamp(), to_json(receipt)))
            if shown is not None:
                self._execute(_PUT_SHOWN, (*place, shown))

    def shown_text(self, reader: Reader, key: str) -> bytes | None:
        """The copy kept by `put_receipt`."""
        row = self._execute(_SHOWN, place_of(reader, key)).fetchone()
        return row[0] if row else None

    def receipts(self, reader: Reader, key_prefix: str | None = None) -> list[Receipt]:
        """All of a reader's receipts below a key prefix, most recently used first."""
        wanted = MomentFilter(key_prefix, reader.session, limit=LARGEST)
        rows = self._execute(_LIST, {**moment_values(wanted), "user": as_bytes(reader.user)})
        return receipts_below(wanted, rows)

    def reads(self, wanted: MomentFilter) -> list[Receipt]:
        """The receipts of all readers that a filter describes, latest read first."""
        return receipts_below(wanted, self._execute(_READS, moment_values(wanted)))

    def forget(self, reader: Reader, key: str | None = None) -> int:
        """Drop one receipt, or all of a reader's; says how many."""
        place: tuple[bytes, ...] = place_of(reader, key or "")
        statements = _FORGET_ONE
        if key is None:
            statements, place = _FORGET_ALL, place[:2]
        with self._connection:
            self._execute("BEGIN IMMEDIATE")
            counts = [self._execute(statement, place).rowcount for statement in statements]
        return counts[0]

    def _stamp(self) -> int:
        # Microseconds; they rise even where the clock does not. Always eight bytes, so a touch rewrites in place.
        self._last_stamp = max(self._last_stamp + 1, time.time_ns() // 1000)
        return self._last_stamp

    def _use(self, reader: Reader, key: str) -> bool:
        """Note a use; True if the last one noted in the table still stands for it."""
        now, place = time.monotonic(), (reader, key)
        noted_at, number = self._hot.get(place, (-_HOT_SECONDS, 0))
        # Fewer uses were noted since than half of the receipts kept: this one is not among the least recently used.
        if now - noted_at < _HOT_SECONDS and self._notes - number < self._most_hot:
            return True
        self._notes += 1
        self._hot[place] = now, self._notes
        self._hot.move_to_end(place)
        if len(self._hot) > self._most_hot:
            self._hot.popitem(last=False)
        return False

    def _meet(self, reader: Reader) -> None:
        """Note once a day that the session is in use, and forget sessions that are not."""
        now = time.time()
        if now - self._met.get(reader, 0.0) < _DAY:
            return
        if len(self._met) >= MOST_READERS:
            self._met.clear()
        self._met[reader] = now
        user, session = as_bytes(reader.user), as_bytes(reader.session)
        self._execute(_SEEN, (user, session, now))
        self._last_stamp = max(self._last_stamp, self._execute(_LAST_USED, (user, session)).fetchone()[0])
        self._forget_unused(now - max(self._limits.journal_max_days, 2) * _DAY)

    def _forget_unused(self, before: float) -> None:
        if self._execute(_UNSEEN, (before,)).fetchone() is None:
            return
        with self._connection:
            self._execute("BEGIN IMMEDIATE")
            unused = self._execute(_UNSEEN, (before,)).fetchall()
            for statement in (*_FORGET_ALL, _FORGET_READER):
                self._connection.executemany(statement, unused)

    def _after_put(self, receipts: Sequence[PutReceipt]) -> None:
        for receipt, _ in receipts:
            reader = receipt.reader
            if self._use(reader, receipt.key):
                continue
            of_reader, of_all = self._puts.put(reader)
            with dropping(sqlite3.Error):
                if of_all:
                    self._evict(_OF_ALL, (), self._limits.max_all_receipts)
                if of_reader:
                    own = as_bytes(reader.user), as_bytes(reader.session)
                    self._evict(_OF_READER, own, self._limits.max_receipts)

    def _evict(self, whose: str, reader: tuple[bytes, ...], most: int) -> None:
        """Drop the least recently used receipts beyond the bound; `reader` has the values for `whose`."""
        count = _COUNT.format(whose=whose)
        if self._execute(count, reader).fetchone()[0] <= most:
            return
        with self._connection:
            self._execute("BEGIN IMMEDIATE")
            excess = max(0, self._execute(count, reader).fetchone()[0] - most)
            rows = self._execute(_LEAST_USED.format(whose=whose), (*reader, excess)).fetchall()
            for statement in _FORGET_ONE:
                self._connection.executemany(statement, [row[:3] for row in rows])
            self._connection.executemany(_DROP, rows)
            self._execute(_FADE.format(whose=whose), (*reader, DROPPED_PER_RECEIPT * most))


def place_of(reader: Reader, key: str) -> Place:
    """The columns that name a receipt."""
    return as_bytes(reader.user), as_bytes(reader.session), as_bytes(key)
