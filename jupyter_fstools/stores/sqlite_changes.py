"""Stores the journal of changes in SQLite, bounded."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from ..limits import StoreLimits
from .protocol import ChangeFilter
from .record_json import is_below, to_json
from .records import Change
from .sql_values import (
    as_bytes,
    bytes_or_null,
    change_row,
    change_values,
    changes_below,
    every_change,
    is_long,
    step_values,
)
from .sqlite_receipts import ReceiptTable
from .steps import ChangeCounter, ChangeRow, ChangeSteps, Step, dropping, kept_size, require_room

# The columns that filters use are kept apart from the texts: a scan of 10,000 such narrow rows takes a millisecond,
# while every index would cost each new change a page. A pending change has no revision.
SCHEMA = """
CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY, revision INTEGER, id BLOB, key BLOB, user BLOB, session BLOB, status TEXT,
    created_at REAL, decided_at REAL, decided_by BLOB, size INTEGER
);
DROP INDEX IF EXISTS decided;
CREATE INDEX IF NOT EXISTS followed ON changes (revision) WHERE revision IS NOT NULL;
CREATE INDEX IF NOT EXISTS unfinished ON changes (number) WHERE status = 'pending';
CREATE TABLE IF NOT EXISTS further_files (number INTEGER, key BLOB);
CREATE INDEX IF NOT EXISTS further ON further_files (number);
CREATE TABLE IF NOT EXISTS contents (number INTEGER PRIMARY KEY, body TEXT, splices BLOB);
CREATE TABLE IF NOT EXISTS beginning (revision INTEGER);
"""

_NEWEST = "SELECT max(revision) FROM changes WHERE revision IS NOT NULL"
_REVISION = f"SELECT coalesce(({_NEWEST}), (SELECT revision FROM beginning), 0)"  # noqa: S608 - of constants only
_ADD = "INSERT INTO changes VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_CONTENT = "INSERT INTO contents VALUES (?, ?, ?)"
_ADD_FURTHER = "INSERT INTO further_files VALUES (?, ?)"
_NUMBER = "SELECT number FROM changes WHERE id = ? ORDER BY number DESC LIMIT 1"
_STEP = f"""
UPDATE changes SET revision = 1 + ({_REVISION}), status = :status,
decided_at = CASE WHEN :is_new THEN :decided_at ELSE decided_at END,
decided_by = CASE WHEN :is_new THEN :decided_by ELSE decided_by END
WHERE number = ({_NUMBER.replace("?", ":id")}) AND status = :expected
RETURNING number, revision, status, decided_at, decided_by,
(SELECT body FROM contents WHERE contents.number = changes.number)
"""  # noqa: S608 - of constants only
_REPLACE = "UPDATE contents SET splices = coalesce(?, splices), body = coalesce(?, body) WHERE number = ?"
_RESIZE = """
UPDATE changes SET size = (
    SELECT length(CAST(body AS BLOB)) + length(splices) FROM contents WHERE contents.number = changes.number
) WHERE number = ?
"""
_PROPOSED = "SELECT user, session, size FROM changes WHERE status = 'proposed'"
_DROP = f"DELETE FROM changes WHERE number = ({_NUMBER}) AND status = 'pending' RETURNING number"  # noqa: S608 - as above
_SPLICES = f"SELECT splices FROM contents WHERE number = ({_NUMBER})"  # noqa: S608 - as above
_FORGET = (
    "DELETE FROM changes WHERE number = ?",
    "DELETE FROM contents WHERE number = ?",
    "DELETE FROM further_files WHERE number = ?",
)
_MATCHING = """
(:key IS NULL OR key = :key OR number IN (SELECT number FROM further_files WHERE key = :key))
AND (:folder IS NULL OR key = :folder OR (key >= :below AND key < :beyond) OR number IN (
    SELECT number FROM further_files WHERE key = :folder OR (key >= :below AND key < :beyond)))
AND (:reader_user IS NULL OR (user = :reader_user AND session = :reader_session))
AND (:user IS NULL OR user = :user)
AND (:session IS NULL OR session = :session)
AND ((:status IS NULL AND status <> 'pending') OR status = :status)
"""
# Put together from constants only; every value is bound.
_COUNT = f"SELECT count(*) FROM changes WHERE {_MATCHING}"  # noqa: S608 - as said above
_LOAD = """
SELECT page.revision, page.status, page.decided_at, page.decided_by,
CASE WHEN {rows} THEN contents.body
ELSE json_set(contents.body, '$.diff.hunks', json('[]'), '$.diff.cells', NULL) END
FROM (SELECT * FROM changes WHERE {which}) page JOIN contents USING (number) ORDER BY page.{order}
"""
_NEWEST_FIRST = _LOAD.format(
    rows=":rows",
    which=f"""{_MATCHING} AND (:before IS NULL OR created_at < :before)
    ORDER BY number DESC LIMIT :limit OFFSET :offset""",
    order="number DESC",
)
_AFTER = _LOAD.format(
    rows=":rows", which=f"revision > :after AND {_MATCHING} ORDER BY revision LIMIT :limit", order="revision"
)
_ONE = _LOAD.format(rows="TRUE", which=f"number = ({_NUMBER})", order="number")
_UNFINISHED = _LOAD.format(rows="TRUE", which="status = 'pending'", order="number")
_MEASURE = "SELECT count(*), coalesce(sum(size), 0) FROM changes WHERE status <> 'proposed'"
_OLDEST = f"""
SELECT number, size, coalesce(decided_at, created_at) < :oldest AS too_old FROM changes
WHERE status NOT IN ('proposed', 'pending') AND revision IS NOT ({_NEWEST}) ORDER BY too_old DESC, revision
"""  # noqa: S608 - of constants only


class ChangeTable(ReceiptTable, ChangeSteps):
    """Changes over one connection, beside the receipts: a change and its receipt are one step."""

    def __init__(self, connection: sqlite3.Connection, limits: StoreLimits) -> None:
        super().__init__(connection, limits)
        self._adds = ChangeCounter(limits)

    def add_change(self, change: Change, splices: bytes) -> Change:
        """Append a change."""
        body = to_json(change)
        size = kept_size(body, splices)
        columns = _columns(change, size)
        with self._connection:
            self._execute("BEGIN IMMEDIATE")
            if change.status == "proposed":
                place = as_bytes(change.user), as_bytes(change.session)
                require_room(self._limits, size, place, self._execute(_PROPOSED).fetchall())
            revision = None if change.status == "pending" else self.revision() + 1
            number = self._execute(_ADD, (revision, *columns)).lastrowid
            self._execute(_ADD_CONTENT, (number, body, splices))
            for key in change.keys[1:]:
                self._execute(_ADD_FURTHER, (number, as_bytes(key)))
        self._after_add(size)
        return change if revision is None else change.model_copy(update={"revision": revision})

    def take_step(self, step: Step) -> ChangeRow | None:
        """Take a step with a new revision; None: the change has another status."""
        for receipt, _ in step.receipts:
            self._meet(receipt.reader)
        body = None if step.record is None else to_json(step.record)
        with self._connection:
            self._execute("BEGIN IMMEDIATE")
            stepped = self._execute(_STEP, step_values(step)).fetchall()
            if not stepped:
                return None
            number, *columns, kept = stepped[0]
            if step.splices is not None or body is not None:
                self._execute(_REPLACE, (step.splices, body, number))
                self._execute(_RESIZE, (number,))
            self._put_within(step.receipts)
        self._after_put(step.receipts)
        self._after_add(0)
        return change_row((*columns, kept if body is None else body))

    def drop(self, change_id: str) -> bool:
        """Take a pending change out again."""
        with self._connection:
            self._execute("BEGIN IMMEDIATE")
            dropped = self._execute(_DROP, (as_bytes(change_id),)).fetchall()
            for statement in _FORGET:
                self._connection.executemany(statement, dropped)
            return bool(dropped)

    def unfinished(self, key_prefix: str) -> list[Change]:
        """The pending changes of a file at or below that key."""
        found = [change_row(row).change() for row in self._execute(_UNFINISHED)]
        return [change for change in found if any(is_below(key, key_prefix) for key in change.keys)]

    def change(self, change_id: str) -> Change | None:
        """One change."""
        row = self._execute(_ONE, (as_bytes(change_id),)).fetchone()
        return change_row(row).change() if row else None

    def splices(self, change_id: str) -> bytes | None:
        """A change's packed splices."""
        row = self._execute(_SPLICES, (as_bytes(change_id),)).fetchone()
        return row[0] if row else None

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """The changes a filter describes."""
        query = _NEWEST_FIRST if wanted.after is None else _AFTER
        return changes_below(wanted, self._execute(query, change_values(wanted)))

    def count_changes(self, wanted: ChangeFilter) -> int:
        """How many changes a filter describes, its `limit`, `offset` and `after` aside."""
        if is_long(wanted.key_prefix):
            return len(self.changes(every_change(wanted)))
        return int(self._execute(_COUNT, change_values(wanted)).fetchone()[0])

    def revision(self) -> int:
        """The newest revision."""
        return int(self._execute(_REVISION).fetchone()[0])

    def _after_add(self, size: int) -> None:
        if self._adds.add(size):
            with dropping(sqlite3.Error):
                self._prune()

    def _prune(self) -> None:
        if not self._superfluous():
            return
        with self._connection:
            self._execute("BEGIN IMMEDIATE")
            numbers = [(number,) for number in self._superfluous()]
            for statement in _FORGET:
                self._connection.executemany(statement, numbers)

    def _superfluous(self) -> list[int]:
        # The change with the newest revision always stays: the next revision is counted from it.
        count, size = self._execute(_MEASURE).fetchone()
        count -= self._limits.journal_max_changes
        size -= self._limits.journal_max_bytes
        oldest = time.time() - self._limits.journal_max_days * 86400
        numbers = []
        for number, its_size, too_old in self._execute(_OLDEST, {"oldest": oldest}):
            if count <= 0 and size <= 0 and not too_old:
                break
            numbers.append(number)
            count, size = count - 1, size - its_size
        return numbers


def _columns(change: Change, size: int) -> tuple[Any, ...]:
    return (
        as_bytes(change.id),
        as_bytes(change.key),
        as_bytes(change.user),
        as_bytes(change.session),
        change.status,
        change.created_at,
        change.decided_at,
        bytes_or_null(change.decided_by),
        size,
    )
