"""Moves a change from one status to the next; bounds records."""

from __future__ import annotations

import logging
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ..errors import TooLarge
from ..limits import StoreLimits
from .protocol import PutReceipt
from .record_json import from_json
from .records import Change, ChangeStatus, Reader

_log = logging.getLogger("jupyter_fstools")

N = TypeVar("N", str, bytes)
"""A name, as a store keeps it."""

DROPPED_PER_RECEIPT = 4
"""How many evicted receipts are remembered as such, for each one that may be kept."""

MOST_READERS = 10_000
"""Readers that a process remembers; beyond that it forgets them all and begins again."""

REFUSALS_BETWEEN_PRUNING = 32
"""A process looks for refusals beyond the bounds whenever it has added so many."""

_PART = 32
"""A bound may be exceeded by one part in so many: counting at every write would cost too much."""


class ChangeRow(NamedTuple):
    """A change as a store keeps it, its splices aside; `revision` None or 0: it is pending."""

    revision: int | None
    status: ChangeStatus
    decided_at: float | None
    decided_by: str | None
    body: str

    def change(self) -> Change:
        """The change as it is now."""
        change = from_json(Change, self.body)
        change.revision, change.status = self.revision or 0, self.status
        change.decided_at, change.decided_by = self.decided_at, self.decided_by
        return change


@dataclass(frozen=True)
class Step:
    """One step of a change.

    Attributes:
        change_id: of which change.
        expected: the status that it must have.
        status: the one that it gets.
        decided: when and by whom that was decided; None: what is kept of that stays.
        splices: replace those that are kept; None: they stay.
        record: replaces the one that is kept; None: it stays.
        receipts: are put in the same step.
    """

    change_id: str
    expected: ChangeStatus
    status: ChangeStatus
    decided: tuple[float | None, str | None] | None = None
    splices: bytes | None = None
    record: Change | None = None
    receipts: Sequence[PutReceipt] = ()


class ChangeSteps(ABC):
    """Decides and finishes changes as `Store` describes; a store adds only how it takes a step."""

    @abstractmethod
    def take_step(self, step: Step) -> ChangeRow | None:
        """Take a step with a new revision, all of it or nothing; None: the change has another status."""

    def finish(
        self,
        change_id: str,
        receipts: Sequence[PutReceipt] = (),
        *,
        splices: bytes | None = None,
        record: Change | None = None,
    ) -> int | None:
        """A pending change becomes applied and, in the same step, receipts are put."""
        step = Step(change_id, "pending", "applied", splices=splices, record=record, receipts=receipts)
        row = self.take_step(step)
        return None if row is None else row.revision

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
        row = self.take_step(Step(change_id, expected, status, (decided_at, decided_by), splices, record))
        return None if row is None else row.change()


@contextmanager
def dropping(failure: type[Exception]) -> Iterator[None]:
    """Drop what is beyond the bounds; a failure is logged and left to a later step, as the step before it is taken.

    Args:
        failure: of the database.
    """
    try:
        yield
    except failure as problem:
        _log.warning("What the store keeps beyond its bounds is dropped later: %s", problem)


def kept_size(body: str, splices: bytes) -> int:
    """The bytes that a store keeps of a change: its record, with the rows of its diff, and its splices."""
    # The splices are compressed, the rows are not: for a text that repeats itself the rows are nearly all of it.
    return len(body.encode()) + len(splices)


def require_room(limits: StoreLimits, size: int, reader: tuple[N, N], waiting: Sequence[tuple[N, N, int]]) -> None:
    """Refuse a proposal beyond the bounds.

    Args:
        limits: the bounds.
        size: bytes of the new proposal, as `kept_size` counts them.
        reader: who proposes it: user and session, as the store keeps them.
        waiting: user, session and bytes of each change that is proposed.

    Raises:
        TooLarge
    """
    own = [its_size for user, session, its_size in waiting if (user, session) == reader]
    for whose, sizes, most, most_bytes in (
        ("this session", own, limits.session_proposals, limits.session_proposal_bytes),
        ("all sessions", [its_size for *_, its_size in waiting], limits.max_proposals, limits.max_proposal_bytes),
    ):
        if len(sizes) >= most or sum(sizes) + size > most_bytes:
            raise TooLarge(
                f"{len(sizes)} changes of {whose} ({sum(sizes)} bytes) wait for a person's decision, and this one has "
                f"{size} bytes; at most {most} changes and {most_bytes} bytes may wait (not modified)",
                hint="Have the waiting changes approved or rejected first, or propose less at once.",
                waiting=len(sizes),
                limit=most,
                limit_bytes=most_bytes,
            )


def without_rows(change: Change) -> Change:
    """The change without its diffs' hunks and cells."""
    for diff in (change.diff, *(file.diff for file in change.files)):
        diff.hunks, diff.cells = [], None
    return change


class ReceiptCounter:
    """Counts receipts that one process puts, until it is time to look for those beyond the bounds.

    Args:
        limits: how many a store keeps.
    """

    def __init__(self, limits: StoreLimits) -> None:
        self._left: dict[Reader, int] = {}
        self._between = max(1, limits.max_receipts // _PART)
        self._between_all = max(1, limits.max_all_receipts // _PART)
        # Starts at random: short-lived processes then look as often, together, as one long-lived process would.
        self._all_left = random.randint(1, self._between_all)  # noqa: S311 - no secret

    def put(self, reader: Reader) -> tuple[bool, bool]:
        """Count one more; whether it is time to check this reader's receipts, and whether those of all readers."""
        if len(self._left) >= MOST_READERS:
            self._left.clear()
        self._all_left -= 1
        of_all = self._all_left <= 0
        if of_all:
            self._all_left = self._between_all
        left = self._left.get(reader, 1) - 1
        self._left[reader] = left if left > 0 else self._between
        return left <= 0, of_all


class ChangeCounter:
    """Counts changes that one process adds, until it is time to look for those beyond the bounds.

    Args:
        limits: how many changes a store keeps, and bytes of them.
    """

    def __init__(self, limits: StoreLimits) -> None:
        self._limits = limits
        self._adds_left = self._bytes_left = 0
        self._looked_at = 0.0

    def add(self, size: int) -> bool:
        """Count one more change of so many bytes; whether it is time to look for those beyond the bounds."""
        self._adds_left -= 1
        self._bytes_left -= size
        limits, now = self._limits, time.monotonic()
        is_due = now - self._looked_at > limits.journal_max_days * 86400 / _PART
        if self._adds_left > 0 and self._bytes_left > 0 and not is_due:
            return False
        self._looked_at = now
        self._adds_left = max(1, limits.journal_max_changes // _PART)
        self._bytes_left = min(limits.journal_max_bytes // _PART, limits.journal_max_bytes - size)
        return True
