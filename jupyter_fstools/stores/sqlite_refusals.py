"""Stores the newest refusals in SQLite."""

from __future__ import annotations

import sqlite3
import time

from .protocol import MAX_REFUSALS, MomentFilter, StoreLimits
from .record_json import from_json, to_json
from .records import Refusal
from .sqlite_receipts import as_blob, moment_values

# A refusal's number is its time in microseconds, later than every other's: so it is what a listing goes on after.
SCHEMA = """
CREATE TABLE IF NOT EXISTS refusals (number INTEGER PRIMARY KEY, key BLOB, session BLOB, body TEXT);
"""

_ADD = """
INSERT INTO refusals VALUES (max(?, (SELECT coalesce(max(number), 0) + 1 FROM refusals)), ?, ?, ?) RETURNING number
"""
_LIST = """
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

_ADDS_BETWEEN_PRUNING = 32
_MICROSECONDS = 1_000_000


class RefusalTable:
    """Refusals over one connection; the caller sees to it that one thread at a time is in here."""

    _connection: sqlite3.Connection
    _limits: StoreLimits
    _refusals_left = 0

    def add_refusal(self, refusal: Refusal) -> Refusal:
        """Keep a refusal."""
        columns = as_blob(refusal.key), as_blob(refusal.session), to_json(refusal)
        [(number,)] = self._connection.execute(_ADD, (_number(refusal.at), *columns)).fetchall()
        self._refusals_left -= 1
        if self._refusals_left <= 0:
            oldest = _number(time.time() - self._limits.journal_max_days * 86400)
            self._connection.execute(_PRUNE, (oldest, MAX_REFUSALS))
            self._refusals_left = _ADDS_BETWEEN_PRUNING
        return refusal.model_copy(update={"at": number / _MICROSECONDS})

    def refusals(self, wanted: MomentFilter) -> list[Refusal]:
        """The refusals that a filter describes, newest first."""
        values = moment_values(wanted)
        for bound in ("after", "before"):
            values[bound] = None if values[bound] is None else _number(values[bound])
        found = [(number, from_json(Refusal, body)) for number, body in self._connection.execute(_LIST, values)]
        return [refusal.model_copy(update={"at": number / _MICROSECONDS}) for number, refusal in found]


def _number(seconds: float) -> int:
    return round(seconds * _MICROSECONDS)
