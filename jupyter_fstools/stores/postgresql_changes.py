"""Stores the journal of changes in PostgreSQL, bounded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from ..errors import FsToolsError, InputOutput
from ..limits import StoreLimits
from .postgresql_connection import NOW, Database, lock_lost
from .postgresql_news import CHANNEL
from .postgresql_receipts import PUT_VALUES, PostgresqlReceipts
from .protocol import ChangeFilter, PutReceipt
from .record_json import to_ascii_json
from .records import Change
from .sql_values import (
    LARGEST,
    as_bytes,
    bytes_or_null,
    change_row,
    change_values,
    changes_below,
    every_change,
    is_long,
    step_values,
)
from .steps import ChangeCounter, ChangeRow, ChangeSteps, Step, dropping, kept_size, require_room

# A step is one function of the database; receipts are put and the notification is sent only if the step is taken.
_HELD = "%(held)s::bytea[], %(fences)s::bigint[]"
_PUT = f"fstools.put({PUT_VALUES})"
_TELL = f"pg_notify('{CHANNEL}', %(me)s)"
_ADDED = f"""
FROM fstools.add({_HELD}, %(id)s::bytea, %(keys)s::bytea[], %(owner)s::bytea, %(session)s::bytea, %(status)s,
%(created_at)s, %(decided_at)s::float8, %(decided_by)s::bytea, %(body)s, %(splices)s::bytea) added (revision)
"""
# Nobody is shown a pending change, so none is notified.
_ADD_PENDING = f"SELECT added.revision {_ADDED}"
_ADD = f"SELECT added.revision, {_TELL} {_ADDED}"
_STEP = f"""
SELECT stepped, new_status, new_at, new_by, new_body, {_PUT}, {_TELL}
FROM fstools.decide({_HELD}, %(id)s::bytea, %(expected)s, %(status)s, %(is_new)s, %(decided_at)s::float8,
%(decided_by)s::bytea, %(splices)s::bytea, %(body)s::text) decided
"""
_PROPOSED = """
SELECT owner, session, octet_length(body) + length(splices) FROM fstools.changes WHERE status = 'proposed'
"""
_COLUMNS = "revision, status, decided_at, decided_by, body"
_MATCHING = """
(%(key)s::bytea IS NULL OR keys[1] = %(key)s OR (cardinality(keys) > 1 AND keys @> ARRAY[%(key)s::bytea]))
AND (%(folder)s::bytea IS NULL OR EXISTS (
    SELECT 1 FROM unnest(keys) one WHERE one = %(folder)s OR (one >= %(below)s AND one < %(beyond)s)))
AND (%(reader_user)s::bytea IS NULL OR (owner = %(reader_user)s AND session = %(reader_session)s))
AND (%(user)s::bytea IS NULL OR owner = %(user)s)
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
_PRUNE = f"""
WITH kept AS (
    SELECT number, coalesce(decided_at, created_at) AS moment, status, revision, row_number() OVER newest AS place,
    sum(octet_length(body) + length(splices)) OVER newest AS size FROM fstools.changes WHERE status <> 'proposed'
    WINDOW newest AS (ORDER BY revision DESC)
) DELETE FROM fstools.changes WHERE number IN (
    SELECT number FROM kept WHERE status <> 'pending' AND revision < (SELECT revision FROM fstools.state)
    AND (place > %(most)s OR size > %(most_bytes)s
        OR moment < {NOW} - %(most_seconds)s)
)
"""


class PostgresqlChanges(PostgresqlReceipts, ChangeSteps):
    """Changes beside the receipts: a change and its receipts are one step; see `Store`."""

    def __init__(self, database: Database, limits: StoreLimits) -> None:
        super().__init__(database, limits)
        self._adds = ChangeCounter(limits)

    def add_change(self, change: Change, splices: bytes) -> Change:
        """Append a change with its splices."""
        body = to_ascii_json(change)
        size = kept_size(body, splices)
        values = {
            **self._fences(),
            "me": self._database.me,
            "id": as_bytes(change.id),
            "keys": [as_bytes(key) for key in change.keys],
            "owner": as_bytes(change.user),
            "session": as_bytes(change.session),
            "status": change.status,
            "created_at": change.created_at,
            "decided_at": change.decided_at,
            "decided_by": bytes_or_null(change.decided_by),
            "body": body,
            "splices": splices,
        }
        revision = self._added(change, values, size)
        self._after((), size)
        return change.model_copy(update={"revision": revision})

    def _added(self, change: Change, values: dict[str, Any], size: int) -> int:
        add = _ADD_PENDING if change.status == "pending" else _ADD
        proposed, asked = change.status == "proposed", False
        try:
            with self._database.connection() as connection, connection.transaction() if proposed else nullcontext():
                asked = True
                if proposed:
                    # A simultaneous proposal waits for this row lock, and then counts this one too.
                    connection.execute("SELECT FROM fstools.state FOR UPDATE")
                    waiting = connection.execute(_PROPOSED).fetchall()
                    require_room(self._limits, size, (values["owner"], values["session"]), waiting)
                row = connection.execute(add, values).fetchone()
        except InputOutput as lost:
            # The connection may have been lost after the commit; the locks that a pending change needs went with it.
            if change.status == "pending" or not asked or (found := self._found(change, lost)) is None:
                raise
            return found.revision
        assert row is not None
        return int(row[0])

    def _found(self, added: Change, lost: InputOutput) -> Change | None:
        """A change whose answer was lost, if it was added.

        Raises:
            InputOutput: the database is still away.
        """
        try:
            return self.change(added.id)
        except InputOutput:
            if added.status != "proposed":
                raise
            raise InputOutput(
                f"{lost.message}; change {added.id} may wait for a person's approval all the same",
                hint="No file was written. Once the database is back, ask the person to look at the waiting changes "
                "before you call again.",
                change_id=added.id,
            ) from None

    def take_step(self, step: Step) -> ChangeRow | None:
        """Take a step with a new revision; None: the change has another status."""
        if step.decided is not None:
            return self._decided(step)
        # The file is written already: where the connection with its locks was lost, another one records the step.
        return self._database.again_if_lost(lambda: self._stepped(step))

    def _decided(self, step: Step) -> ChangeRow | None:
        try:
            return self._stepped(step)
        except InputOutput:
            # The connection may have been lost after the commit; the locks that a pending change needs went with it.
            if step.status in ("pending", step.expected) or (found := self._row(step.change_id)) is None:
                raise
            if (found.status, (found.decided_at, found.decided_by)) != (step.status, step.decided):
                raise
            self._after(step.receipts, 0)
            return found

    def _stepped(self, step: Step) -> ChangeRow | None:
        values = {
            # A file that is written already is recorded without a check of its lock, even if that was lost meanwhile.
            **(self._fences() if step.decided else {"held": [], "fences": []}),
            **self._put_values(step.receipts),
            **step_values(step),
            "splices": step.splices,
            "body": None if step.record is None else to_ascii_json(step.record),
        }
        with self._database.connection() as connection:
            row = connection.execute(_STEP, values).fetchone()
        if row is None:
            return None
        self._after(step.receipts, 0)
        return change_row(row[:5])

    def drop(self, change_id: str) -> bool:
        """Take a pending change out again."""
        query = "DELETE FROM fstools.changes WHERE id = %s AND status = 'pending'"
        with self._database.connection() as connection:
            dropped = connection.execute(query, (as_bytes(change_id),)).rowcount == 1
        self._news.add()
        return dropped

    def unfinished(self, key_prefix: str) -> list[Change]:
        """The pending changes of a file at or below that key."""
        state = self._state(key_prefix)
        if state is not None and state.is_fresh and not state.is_pending:
            return []
        return self.changes(ChangeFilter(key_prefix=key_prefix, status="pending", limit=LARGEST))

    def change(self, change_id: str) -> Change | None:
        """One change."""
        row = self._row(change_id)
        return row.change() if row else None

    def _row(self, change_id: str) -> ChangeRow | None:
        query = f"SELECT {_COLUMNS} FROM fstools.changes WHERE id = %(id)s"
        row = self._one(query, {"id": as_bytes(change_id)})
        return change_row(row) if row else None

    def splices(self, change_id: str) -> bytes | None:
        """A change's packed splices."""
        row = self._one("SELECT splices FROM fstools.changes WHERE id = %(id)s", {"id": as_bytes(change_id)})
        return row[0] if row else None

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """The changes a filter describes."""
        query = _NEWEST_FIRST if wanted.after is None else _AFTER
        return changes_below(wanted, self._all(query, change_values(wanted)))

    def count_changes(self, wanted: ChangeFilter) -> int:
        """How many changes a filter describes, its `limit`, `offset` and `after` aside."""
        if is_long(wanted.key_prefix):
            return len(self.changes(every_change(wanted)))
        return int(self._one(f"SELECT count(*) FROM fstools.changes WHERE {_MATCHING}", change_values(wanted))[0])

    def revision(self) -> int:
        """The newest revision."""
        return int(self._one("SELECT revision FROM fstools.state", {})[0])

    def _after(self, receipts: Sequence[PutReceipt], size: int) -> None:
        self._after_put(receipts)
        if not self._adds.add(size):
            return
        limits = self._limits
        # Ages are counted by the database's clock: a server whose clock is ahead would drop what the others keep.
        bounds = {
            "most": limits.journal_max_changes,
            "most_bytes": limits.journal_max_bytes,
            "most_seconds": limits.journal_max_days * 86400,
        }
        with dropping(FsToolsError), self._database.connection() as connection:
            connection.execute(_PRUNE, bounds)

    def _fences(self) -> dict[str, Any]:
        held = self._database.held
        if held is not None and held.connection.closed:
            raise lock_lost()
        fences = {} if held is None else held.fences
        return {"held": [as_bytes(key) for key in fences], "fences": list(fences.values())}
