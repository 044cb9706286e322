"""What a store must do: keep receipts per reader and changes in order, bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..records import Change, ChangeStatus, Reader, Receipt


@dataclass(frozen=True)
class StoreLimits:
    """How much a store keeps.

    Attributes:
        max_receipts: receipts per reader; the least recently used go first.
        journal_max_changes: changes in all; the oldest go first, never one that is still proposed.
        journal_max_bytes: bytes of kept splices in all.
        journal_max_days: age in days.
    """

    max_receipts: int = 1000
    journal_max_changes: int = 10_000
    journal_max_bytes: int = 256 << 20
    journal_max_days: float = 30


@dataclass(frozen=True)
class ChangeFilter:
    """Which changes are asked for; None means any.

    Attributes:
        key_prefix: files whose key is this or lies below it (`prefix + "/"`).
        key: exactly this file.
        reader: exactly this reader.
        session: this session of any user.
        status: this status.
        after: only revisions above this one, in rising order of revision; None: newest first.
        limit: at most so many.
        offset: leave out so many first (newest-first listing only).
    """

    key_prefix: str | None = None
    key: str | None = None
    reader: Reader | None = None
    session: str | None = None
    status: ChangeStatus | None = None
    after: int | None = None
    limit: int = 100
    offset: int = 0


class Store(Protocol):
    """Receipts and changes. Safe for concurrent use by threads, and by processes where the store says so.

    Newest first means by creation: a change keeps its place when its status changes (its revision grows).
    """

    def receipt(self, reader: Reader, key: str) -> Receipt | None:
        """The reader's receipt of a file; being asked for counts as use."""

    def was_dropped(self, reader: Reader, key: str) -> bool:
        """True if there was a receipt and the bound on their number pushed it out (remembered for a while)."""

    def put_receipt(self, receipt: Receipt, shown: bytes | None = None) -> None:
        """Keep a receipt, replacing the reader's earlier one of that file.

        `shown` (None: leave what is kept) is a bounded copy of the text shown, which only `shown_text` gives back.
        """

    def shown_text(self, reader: Reader, key: str) -> bytes | None:
        """The copy kept by `put_receipt`."""

    def receipts(self, reader: Reader, key_prefix: str | None = None) -> list[Receipt]:
        """All of a reader's receipts below a key prefix, most recently used first."""

    def forget(self, reader: Reader, key: str | None = None) -> int:
        """Drop one receipt, or all of a reader's; says how many."""

    def add_change(
        self, change: Change, splices: bytes, receipt: Receipt | None = None, shown: bytes | None = None
    ) -> Change:
        """Append a change with its packed splices and, in the same step, put a receipt as `put_receipt` does.

        Gives the change with its revision. Enforces the bounds.
        """

    def decide(
        self,
        change_id: str,
        expected: ChangeStatus,
        status: ChangeStatus,
        *,
        decided_at: float,
        decided_by: str | None = None,
        splices: bytes | None = None,
    ) -> Change | None:
        """Move a change from one status to another, if it still has the expected one.

        None: somebody else decided first. `splices`, if given, replace what is kept.
        """

    def change(self, change_id: str) -> Change | None:
        """One change."""

    def splices(self, change_id: str) -> bytes | None:
        """A change's packed splices."""

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """The changes a filter describes."""

    def count_changes(self, wanted: ChangeFilter) -> int:
        """How many changes a filter describes, its `limit`, `offset` and `after` aside."""

    def revision(self) -> int:
        """The newest revision; cheap enough to ask several times a second."""

    def close(self) -> None:
        """Let go of files and connections; a later call opens them again."""
