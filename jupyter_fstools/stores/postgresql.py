"""Stores receipts and changes in PostgreSQL, shared by servers on many machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

from psycopg import Connection

from .postgresql_connection import CHANNEL, Database
from .postgresql_locks import PostgresqlLocks
from .postgresql_receipts import LARGEST, PostgresqlReceipts, as_bytes, as_text, bounds, moments
from .postgresql_tokens import PostgresqlTokens
from .protocol import MAX_REFUSALS, ChangeFilter, Closing, MomentFilter, PutReceipt, Store, StoreLimits, require_room
from .record_json import from_json, to_json
from .records import Change, ChangeStatus, OpenDocument, Reader, Receipt, Refusal

_DEFAULTS = StoreLimits()

# One row is locked from here to the end of the transaction: revisions become visible in their order, none is missed.
_STEP = "UPDATE fstools.state SET revision = revision + 1 RETURNING revision"
_ADD = """
INSERT INTO fstools.changes
(revision, id, keys, owner, session, status, created_at, decided_at, decided_by, body, splices)
VALUES (%(revision)s, %(id)s, %(keys)s, %(owner)s, %(session)s, %(status)s, %(created_at)s, %(decided_at)s,
%(decided_by)s, %(body)s, %(splices)s)
"""
_COLUMNS = "revision, status, decided_at, decided_by, body"
_DECIDE = """
UPDATE fstools.changes SET revision = %(revision)s, status = %(status)s, decided_at = %(decided_at)s,
decided_by = %(decided_by)s, splices = coalesce(%(splices)s, splices), body = coalesce(%(body)s, body)
WHERE id = %(id)s AND status = %(expected)s
"""
_LOCKED = "SELECT 1 FROM fstools.changes WHERE id = %(id)s AND status = %(expected)s FOR UPDATE"
_PENDING = """
SELECT decided_at, decided_by FROM fstools.changes WHERE id = %(id)s AND status = 'pending' FOR UPDATE
"""
_MATCHING = """
(%(key)s::bytea IS NULL OR keys @> ARRAY[%(key)s::bytea])
AND (%(folder)s::bytea IS NULL OR EXISTS (
    SELECT 1 FROM unnest(keys) one WHERE one = %(folder)s OR (one >= %(below)s AND one < %(beyond)s)))
AND (%(owner)s::bytea IS NULL OR (owner = %(owner)s AND session = %(readers)s))
AND (%(session)s::bytea IS NULL OR session = %(session)s)
AND ((%(status)s::text IS NULL AND status <> 'pending') OR status = %(status)s)
"""
_NEWEST_FIRST = f"""
SELECT {_COLUMNS} FROM fstools.changes WHERE {_MATCHING}
AND (%(before)s::float8 IS NULL OR created_at < %(before)s) ORDER BY number DESC LIMIT %(limit)s OFFSET %(offset)s
"""
_AFTER = f"""
SELECT {_COLUMNS} FROM fstools.changes WHERE revision > %(after)s AND {_MATCHING} ORDER BY revision LIMIT %(limit)s
"""
_PRUNE = """
WITH kept AS (
    SELECT number, created_at, status, revision, row_number() OVER newest AS place,
    sum(length(splices)) OVER newest AS size FROM fstools.changes WHERE status <> 'proposed'
    WINDOW newest AS (ORDER BY number DESC)
) DELETE FROM fstools.changes WHERE number IN (
    SELECT number FROM kept WHERE status <> 'pending' AND revision < (SELECT revision FROM fstools.state)
    AND (place > %(most)s OR size > %(most_bytes)s OR created_at < %(oldest)s)
)
"""
_REFUSE = """
WITH step AS (UPDATE fstools.state SET refused = greatest(refused + 1, %(number)s) RETURNING refused)
INSERT INTO fstools.refusals SELECT refused, %(key)s, %(session)s, %(body)s FROM step RETURNING number
"""
_REFUSALS = """
SELECT number, body FROM fstools.refusals
WHERE (%(folder)s::bytea IS NULL OR key = %(folder)s OR (key >= %(below)s AND key < %(beyond)s))
AND (%(within)s::bytea IS NULL OR session = %(within)s)
AND (%(after)s::float8 IS NULL OR number > %(after)s) AND (%(before)s::float8 IS NULL OR number < %(before)s)
ORDER BY number DESC LIMIT %(limit)s
"""
_FORGET_REFUSALS = """
DELETE FROM fstools.refusals WHERE number < %s
OR number <= (SELECT number FROM fstools.refusals ORDER BY number DESC LIMIT 1 OFFSET %s)
"""
_NOTE_OPEN = """
INSERT INTO fstools.open VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (key, page, number) DO UPDATE
SET until = excluded.until, saved = excluded.saved, hash = excluded.hash, counter = excluded.counter
"""
_OPEN = """
SELECT page, saved, hash, counter FROM fstools.open WHERE key = %(key)s AND until >= %(now)s ORDER BY page, number
"""
_ADDS_BETWEEN_PRUNING = 32
_MICROSECONDS = 1_000_000


class PostgresqlStore(PostgresqlReceipts, PostgresqlTokens, Closing):
    """A `Store` in a PostgreSQL database, in a schema of its own (`fstools`), for servers on any number of machines.

    Nothing is connected before the first call. While the database is away every call is refused; once it is back,
    calls work again by themselves.

    Args:
        address: `postgresql://user@host/database`; a password comes from it, PGPASSFILE or the environment.
        limits: how much it keeps.

    Every method raises:
        InputOutput: the database does not answer, or refuses us.
    """

    def __init__(self, address: str, limits: StoreLimits = _DEFAULTS) -> None:
        super().__init__(Database(address), limits)
        self._adds_left = self._refusals_left = 0

    @classmethod
    def from_setting(cls, where: str, limits: StoreLimits = _DEFAULTS) -> Store:
        """The database of an address."""
        return cls(where, limits)

    def add_change(
        self, change: Change, splices: bytes, receipt: Receipt | None = None, shown: bytes | None = None
    ) -> Change:
        """Append a change and, in the same step, put a receipt."""
        values = {
            "id": as_bytes(change.id),
            "keys": [as_bytes(key) for key in change.keys],
            "owner": as_bytes(change.user),
            "session": as_bytes(change.session),
            "status": change.status,
            "created_at": change.created_at,
            "decided_at": change.decided_at,
            "decided_by": None if change.decided_by is None else as_bytes(change.decided_by),
            "body": to_json(change),
            "splices": splices,
        }
        receipts: list[PutReceipt] = [] if receipt is None else [(receipt, shown)]
        with self._database.connection() as connection, connection.transaction():
            self._database.require_held(connection)
            revision = None
            if change.status != "pending":
                revision = self._step(connection)
            if change.status == "proposed":
                self._require_room(connection, change.reader, len(splices))
            connection.execute(_ADD, {**values, "revision": revision})
            self._tell(connection, receipts)
        self._after(receipts)
        return change.model_copy(update={"revision": revision or 0})

    def finish(
        self,
        change_id: str,
        receipts: Sequence[PutReceipt] = (),
        *,
        splices: bytes | None = None,
        record: Change | None = None,
    ) -> int | None:
        """A pending change becomes applied and, in the same step, receipts are put."""
        decided = (record.decided_at, record.decided_by) if record else (None, None)
        with self._database.connection() as connection, connection.transaction():
            values = self._values_of_step(change_id, "pending", "applied", decided, splices, record)
            row = connection.execute(_PENDING, values).fetchone()
            if row is None:
                return None
            revision = self._step(connection)
            values |= {"revision": revision, "decided_at": row[0], "decided_by": row[1]}
            connection.execute(_DECIDE, values)
            self._tell(connection, receipts)
        self._after(list(receipts))
        return revision

    def drop(self, change_id: str) -> bool:
        """Take a pending change out again."""
        query = "DELETE FROM fstools.changes WHERE id = %s AND status = 'pending'"
        with self._database.connection() as connection:
            dropped = connection.execute(query, (as_bytes(change_id),)).rowcount == 1
        self._news.add()
        return dropped

    def unfinished(self, key_prefix: str) -> list[Change]:
        """The pending changes of a file at or below that key."""
        return self.changes(ChangeFilter(key_prefix=key_prefix, status="pending", limit=LARGEST))

    def decide(
        self,
        change_id: str,
        expected: ChangeStatus,
        status: ChangeStatus,
        *,
        decided_at: float | None,
        decided_by: str | None = None,
        splices: bytes | None = None,
        record: Change | None = None,
    ) -> Change | None:
        """Move a change from one status to another, if it still has the expected one."""
        values = self._values_of_step(change_id, expected, status, (decided_at, decided_by), splices, record)
        with self._database.connection() as connection, connection.transaction():
            if connection.execute(_LOCKED, values).fetchone() is None:
                return None
            connection.execute(_DECIDE, {**values, "revision": self._step(connection)})
            self._tell(connection, ())
            query = f"SELECT {_COLUMNS} FROM fstools.changes WHERE id = %(id)s"
            row = connection.execute(query, values).fetchone()
        self._news.add()
        return _loaded(row)

    def change(self, change_id: str) -> Change | None:
        """One change."""
        query = f"SELECT {_COLUMNS} FROM fstools.changes WHERE id = %(id)s"
        row = self._one(query, {"id": as_bytes(change_id)})
        return _loaded(row) if row else None

    def splices(self, change_id: str) -> bytes | None:
        """A change's packed splices."""
        row = self._one("SELECT splices FROM fstools.changes WHERE id = %(id)s", {"id": as_bytes(change_id)})
        return row[0] if row else None

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """The changes a filter describes."""
        rows = self._all(_NEWEST_FIRST if wanted.after is None else _AFTER, _values(wanted))
        found = [_loaded(row) for row in rows]
        for change in found if not wanted.rows else ():
            for diff in (change.diff, *(file.diff for file in change.files)):
                diff.hunks, diff.cells = [], None
        return found

    def count_changes(self, wanted: ChangeFilter) -> int:
        """How many changes a filter describes, its `limit`, `offset` and `after` aside."""
        return int(self._one(f"SELECT count(*) FROM fstools.changes WHERE {_MATCHING}", _values(wanted))[0])

    def revision(self) -> int:
        """The newest revision."""
        return int(self._one("SELECT revision FROM fstools.state", {})[0])

    def add_refusal(self, refusal: Refusal) -> Refusal:
        """Keep a refusal."""
        values = {"key": as_bytes(refusal.key), "session": as_bytes(refusal.session), "body": to_json(refusal)}
        with self._database.connection() as connection, connection.transaction():
            moment = round(refusal.at * _MICROSECONDS)
            row = connection.execute(_REFUSE, {**values, "number": moment}).fetchone()
            self._tell(connection, ())
            self._refusals_left -= 1
            if self._refusals_left <= 0:
                oldest = round((time.time() - self._limits.journal_max_days * 86400) * _MICROSECONDS)
                connection.execute(_FORGET_REFUSALS, (oldest, MAX_REFUSALS))
                self._refusals_left = _ADDS_BETWEEN_PRUNING
        self._news.add()
        assert row is not None
        return refusal.model_copy(update={"at": row[0] / _MICROSECONDS})

    def refusals(self, wanted: MomentFilter) -> list[Refusal]:
        """The refusals that a filter describes, newest first."""
        values = moments(wanted)
        for name in ("after", "before"):
            values[name] = None if values[name] is None else round(values[name] * _MICROSECONDS)
        found = [(number, from_json(Refusal, body)) for number, body in self._all(_REFUSALS, values)]
        return [refusal.model_copy(update={"at": number / _MICROSECONDS}) for number, refusal in found]

    def locks(self, timeout: float) -> PostgresqlLocks:
        """Locks of files that hold on every machine."""
        return PostgresqlLocks(self._database, timeout=timeout)

    def mark(self) -> Hashable:
        """Something that is another once anything is kept or dropped, on whichever machine."""
        return self._news.mark()

    def subscribe(self, heard: Callable[[], None]) -> None:
        """Have a function called at once when anything is kept; it must not block."""
        self._news.subscribe(heard)

    def note_open(self, page: str, documents: Collection[OpenDocument], until: float) -> None:
        """Replace what a page said before."""
        name = as_bytes(page)
        with self._database.connection() as connection, connection.transaction():
            connection.execute("DELETE FROM fstools.open WHERE page = %s OR until < %s", (name, time.time()))
            for number, document in enumerate(documents):
                told = (number, until, document.saved, document.hash, document.counter)
                connection.execute(_NOTE_OPEN, (as_bytes(document.key), name, *told))

    def open_documents(self, key: str) -> list[OpenDocument]:
        """The documents that pages have open of a file."""
        rows = self._all(_OPEN, {"key": as_bytes(key), "now": time.time()})
        return [OpenDocument(as_text(page), key, saved, hash, counter) for page, saved, hash, counter in rows]

    def close(self) -> None:
        """Let go of the connections; a later call makes others."""
        self._news.stop()
        self._database.close()

    def _step(self, connection: Connection[Any]) -> int:
        row = connection.execute(_STEP).fetchone()
        assert row is not None
        return int(row[0])

    def _tell(self, connection: Connection[Any], receipts: Sequence[PutReceipt]) -> None:
        for receipt, shown in receipts:
            self._put_within(connection, receipt, shown)
        if not receipts:
            connection.execute(f"SELECT pg_notify('{CHANNEL}', %s)", (self._database.me,))

    def _after(self, receipts: list[PutReceipt]) -> None:
        self._news.add()
        self._after_put(receipts)
        self._adds_left -= 1
        if self._adds_left <= 0:
            limits = self._limits
            self._adds_left = max(1, min(limits.journal_max_changes, 1 + limits.journal_max_bytes >> 20) // 32)
            oldest = time.time() - limits.journal_max_days * 86400
            bounds = {"most": limits.journal_max_changes, "most_bytes": limits.journal_max_bytes, "oldest": oldest}
            with self._database.connection() as connection:
                connection.execute(_PRUNE, bounds)

    def _require_room(self, connection: Connection[Any], reader: Reader, size: int) -> None:
        query = "SELECT owner, session, length(splices) FROM fstools.changes WHERE status = 'proposed'"
        waiting = connection.execute(query).fetchall()
        place = as_bytes(reader.user), as_bytes(reader.session)
        own = [its_size for owner, session, its_size in waiting if (owner, session) == place]
        require_room(self._limits, size, own, [its_size for _, _, its_size in waiting])

    def _values_of_step(
        self,
        change_id: str,
        expected: ChangeStatus,
        status: ChangeStatus,
        decided: tuple[float | None, str | None],
        splices: bytes | None,
        record: Change | None,
    ) -> dict[str, Any]:
        at, by = decided
        return {
            "id": as_bytes(change_id),
            "expected": expected,
            "status": status,
            "decided_at": at,
            "decided_by": None if by is None else as_bytes(by),
            "splices": splices,
            "body": None if record is None else to_json(record),
        }


def _loaded(row: Any) -> Change:
    revision, status, decided_at, decided_by, body = row
    change = from_json(Change, body)
    change.revision, change.status, change.decided_at = revision or 0, status, decided_at
    change.decided_by = None if decided_by is None else as_text(decided_by)
    return change


def _values(wanted: ChangeFilter) -> dict[str, Any]:
    user, session = wanted.reader or (None, None)
    texts = {"key": wanted.key, "owner": user, "readers": session, "session": wanted.session}
    return {
        **bounds(wanted.key_prefix),
        **{name: None if text is None else as_bytes(text) for name, text in texts.items()},
        "status": wanted.status,
        "after": max(-LARGEST, min(wanted.after or 0, LARGEST)),
        "before": wanted.before,
        "limit": max(0, min(wanted.limit, LARGEST)),
        "offset": max(0, min(wanted.offset, LARGEST)),
    }
