"""Keeps receipts and changes in this process's memory."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Collection, Hashable, Iterator, Sequence

from ..errors import Invalid
from .kept_records import KeptChange, KeptReceipt, Shelf, is_below, is_wanted, is_within
from .protocol import (
    MAX_REFUSALS,
    USE_SECONDS,
    ChangeFilter,
    Closing,
    MomentFilter,
    PutReceipt,
    StoreLimits,
    require_room,
)
from .record_json import from_json, to_json
from .records import Change, ChangeStatus, OpenDocument, Reader, Receipt, Refusal, Token

DROPPED_PER_RECEIPT = 4
"""How many evicted receipts are remembered as such, for each one that may be kept."""

_DEFAULTS = StoreLimits()
_SWEEP_SECONDS = 3600.0


class InMemoryStore(Closing):
    """A `Store` for one process; safe for its threads.

    It keeps records as text, as a store on disk does, so nobody shares an object with it.

    Args:
        limits: how much it keeps.
        first_revision: the revision of the empty journal.
    """

    def __init__(self, limits: StoreLimits = _DEFAULTS, *, first_revision: int = 0) -> None:
        self._limits = limits
        self._lock = threading.RLock()
        self._shelves: dict[Reader, Shelf] = {}
        self._changes: dict[str, KeptChange] = {}
        self._revision = first_revision
        self._steps = 0
        self._refusals: deque[Refusal] = deque(maxlen=MAX_REFUSALS)
        self._next_sweep = 0.0
        self._open: dict[str, tuple[tuple[OpenDocument, ...], float]] = {}
        self._tokens: dict[str, Token] = {}

    @classmethod
    def from_setting(cls, where: str, limits: StoreLimits = _DEFAULTS) -> InMemoryStore:
        """An empty store.

        Raises:
            Invalid: something stands behind the scheme.
        """
        if where not in ("memory:", "memory://"):
            raise Invalid(f"store: memory: takes nothing more, not {where!r}", hint="Takes memory: alone.")
        return cls(limits)

    def receipt(self, reader: Reader, key: str) -> Receipt | None:
        """The reader's receipt of a file; being asked for counts as use."""
        with self._lock:
            shelf = self._shelves.get(reader)
            if shelf is None or key not in shelf.kept:
                return None
            shelf.kept.move_to_end(key)
            shelf.used_at = time.time()
            return from_json(Receipt, shelf.kept[key].body)

    def was_dropped(self, reader: Reader, key: str) -> bool:
        """True if the bound on their number pushed the receipt out."""
        with self._lock:
            shelf = self._shelves.get(reader)
            return shelf is not None and key in shelf.dropped

    def put_receipt(self, receipt: Receipt, shown: bytes | None = None) -> None:
        """Keep a receipt; `shown` None leaves the text that is kept."""
        body = to_json(receipt)
        with self._lock:
            self._sweep()
            self._steps += 1
            shelf = self._shelves.setdefault(receipt.reader, Shelf())
            earlier = shelf.kept.pop(receipt.key, None)
            if shown is None and earlier is not None:
                shown = earlier.shown
            shelf.kept[receipt.key] = KeptReceipt(body, shown)
            shelf.dropped.pop(receipt.key, None)
            shelf.used_at = time.time()
            self._evict(shelf)

    def _evict(self, shelf: Shelf) -> None:
        while len(shelf.kept) > self._limits.max_receipts:
            key, _ = shelf.kept.popitem(last=False)
            shelf.dropped[key] = None
        while len(shelf.dropped) > DROPPED_PER_RECEIPT * self._limits.max_receipts:
            shelf.dropped.popitem(last=False)

    def _sweep(self) -> None:
        now = time.time()
        if now < self._next_sweep:
            return
        self._next_sweep = now + _SWEEP_SECONDS
        oldest = now - self._limits.journal_max_days * 86400
        self._shelves = {reader: shelf for reader, shelf in self._shelves.items() if shelf.used_at >= oldest}
        while self._refusals and self._refusals[0].at < oldest:
            self._refusals.popleft()

    def shown_text(self, reader: Reader, key: str) -> bytes | None:
        """The copy kept by `put_receipt`."""
        with self._lock:
            shelf = self._shelves.get(reader)
            kept = shelf.kept.get(key) if shelf else None
            return kept.shown if kept else None

    def receipts(self, reader: Reader, key_prefix: str | None = None) -> list[Receipt]:
        """All of a reader's receipts below a key prefix, most recently used first."""
        with self._lock:
            shelf = self._shelves.get(reader, Shelf())
            return [
                from_json(Receipt, kept.body)
                for key, kept in reversed(shelf.kept.items())
                if key_prefix is None or is_below(key, key_prefix)
            ]

    def reads(self, wanted: MomentFilter) -> list[Receipt]:
        """The receipts of all readers that a filter describes, latest read first."""
        with self._lock:
            kept = [
                from_json(Receipt, one.body)
                for reader, shelf in self._shelves.items()
                for key, one in shelf.kept.items()
                if is_wanted(wanted, key, reader.session)
            ]
        found = [one for one in kept if not one.own_write and is_within(wanted, one.read_at)]
        return sorted(found, key=lambda one: one.read_at, reverse=True)[: max(0, wanted.limit)]

    def forget(self, reader: Reader, key: str | None = None) -> int:
        """Drop one receipt, or all of a reader's; says how many."""
        with self._lock:
            self._steps += 1
            if key is None:
                return len(self._shelves.pop(reader, Shelf()).kept)
            shelf = self._shelves.get(reader, Shelf())
            shelf.dropped.pop(key, None)
            return 0 if shelf.kept.pop(key, None) is None else 1

    def add_change(
        self, change: Change, splices: bytes, receipt: Receipt | None = None, shown: bytes | None = None
    ) -> Change:
        """Append a change and, in the same step, put a receipt."""
        body = to_json(change)
        with self._lock:
            if change.status == "proposed":
                self._require_room(change.reader, len(splices))
            kept = KeptChange(
                body=body,
                splices=splices,
                keys=change.keys,
                reader=change.reader,
                created_at=change.created_at,
                revision=0,
                status=change.status,
                decided_at=change.decided_at,
                decided_by=change.decided_by,
            )
            self._changes[change.id] = kept
            if receipt is not None:
                self.put_receipt(receipt, shown)
            self._step(kept)
            self._prune()
            return change.model_copy(update={"revision": kept.revision})

    def finish(
        self,
        change_id: str,
        receipts: Sequence[PutReceipt] = (),
        *,
        splices: bytes | None = None,
        record: Change | None = None,
    ) -> int | None:
        """A pending change becomes applied and, in the same step, receipts are put."""
        with self._lock:
            kept = self._changes.get(change_id)
            if kept is None or kept.status != "pending":
                return None
            kept.status = "applied"
            kept.body = kept.body if record is None else to_json(record)
            kept.splices = kept.splices if splices is None else splices
            for receipt, shown in receipts:
                self.put_receipt(receipt, shown)
            self._step(kept)
            self._prune()
            return kept.revision

    def drop(self, change_id: str) -> bool:
        """Take a pending change out again."""
        with self._lock:
            kept = self._changes.get(change_id)
            if kept is None or kept.status != "pending":
                return False
            self._steps += 1
            del self._changes[change_id]
            return True

    def unfinished(self, key_prefix: str) -> list[Change]:
        """The pending changes of a file at or below that key."""
        with self._lock:
            kept = [one for one in self._changes.values() if one.status == "pending"]
            return [one.change() for one in kept if one.is_below(key_prefix)]

    def _step(self, kept: KeptChange) -> None:
        self._steps += 1
        if kept.status != "pending":
            self._revision += 1
            kept.revision = self._revision

    def _require_room(self, reader: Reader, size: int) -> None:
        waiting = [kept for kept in self._changes.values() if kept.status == "proposed"]
        own = [len(kept.splices) for kept in waiting if kept.reader == reader]
        require_room(self._limits, size, own, [len(kept.splices) for kept in waiting])

    def _prune(self) -> None:
        limits = self._limits
        counted = [kept for kept in self._changes.values() if kept.status != "proposed"]
        count = len(counted) - limits.journal_max_changes
        size = sum(len(kept.splices) for kept in counted) - limits.journal_max_bytes
        oldest = time.time() - limits.journal_max_days * 86400
        newest = max((kept.revision for kept in self._changes.values()), default=0)
        for name, kept in list(self._changes.items()):
            if kept.status in ("proposed", "pending") or kept.revision == newest:
                continue
            if count <= 0 and size <= 0 and kept.created_at >= oldest:
                break
            del self._changes[name]
            count, size = count - 1, size - len(kept.splices)

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
        with self._lock:
            kept = self._changes.get(change_id)
            if kept is None or kept.status != expected:
                return None
            self._steps += 1
            self._revision += 1
            kept.revision, kept.status = self._revision, status
            kept.decided_at, kept.decided_by = decided_at, decided_by
            kept.splices = kept.splices if splices is None else splices
            kept.body = kept.body if record is None else to_json(record)
            return kept.change()

    def change(self, change_id: str) -> Change | None:
        """One change."""
        with self._lock:
            kept = self._changes.get(change_id)
            return kept.change() if kept else None

    def splices(self, change_id: str) -> bytes | None:
        """A change's packed splices."""
        with self._lock:
            kept = self._changes.get(change_id)
            return kept.splices if kept else None

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """The changes a filter describes."""
        limit, start = max(0, wanted.limit), 0
        with self._lock:
            found = list(self._matching(wanted))
            if wanted.after is None:
                found = [kept for kept in found if wanted.before is None or kept.created_at < wanted.before]
                start = max(0, wanted.offset)
            else:
                newer = (kept for kept in found if kept.revision > max(wanted.after, 0))
                found = sorted(newer, key=lambda kept: kept.revision)
            return [kept.change(rows=wanted.rows) for kept in found[start : start + limit]]

    def count_changes(self, wanted: ChangeFilter) -> int:
        """How many changes a filter describes, its `limit`, `offset` and `after` aside."""
        with self._lock:
            return sum(1 for _ in self._matching(wanted))

    def _matching(self, wanted: ChangeFilter) -> Iterator[KeptChange]:
        return (kept for kept in reversed(self._changes.values()) if kept.meets(wanted))

    def revision(self) -> int:
        """The newest revision."""
        return self._revision

    def add_refusal(self, refusal: Refusal) -> Refusal:
        """Keep a refusal."""
        with self._lock:
            self._steps += 1
            newest = self._refusals[-1].at if self._refusals else 0.0
            # In whole microseconds, as a store on disk keeps it.
            kept = refusal.model_copy(update={"at": max(round(refusal.at * 1e6), round(newest * 1e6) + 1) / 1e6})
            self._refusals.append(kept)
            return kept.model_copy()

    def refusals(self, wanted: MomentFilter) -> list[Refusal]:
        """The refusals that a filter describes, newest first."""
        with self._lock:
            kept = list(reversed(self._refusals))
        found = [one for one in kept if is_wanted(wanted, one.key, one.session) and is_within(wanted, one.at)]
        return [one.model_copy() for one in found[: max(0, wanted.limit)]]

    def mark(self) -> Hashable:
        """Something that is another once anything is kept or dropped."""
        return self._steps

    def note_open(self, page: str, documents: Collection[OpenDocument], until: float) -> None:
        """Replace what a page said before."""
        now = time.time()
        with self._lock:
            told = {**self._open, page: (tuple(documents), until)}
            self._open = {name: (found, end) for name, (found, end) in told.items() if found and end >= now}

    def open_documents(self, key: str) -> list[OpenDocument]:
        """The documents that pages have open of a file."""
        now = time.time()
        told = [found for found, end in self._open.values() if end >= now]
        return [document for found in told for document in found if document.key == key]

    def add_token(self, token: Token, digest: str) -> None:
        """Keep a token under the digest of its secret."""
        with self._lock:
            self._tokens[digest] = token.model_copy(deep=True)

    def token(self, digest: str, now: float) -> Token | None:
        """The token whose secret has this digest, also an expired one; notes its use, once a minute."""
        with self._lock:
            kept = self._tokens.get(digest)
            if kept is not None and now - (kept.last_used_at or 0.0) >= USE_SECONDS:
                kept.last_used_at = now
            return kept and kept.model_copy(deep=True)

    def tokens(self, user: str) -> list[Token]:
        """A user's tokens, newest first."""
        with self._lock:
            kept = [token.model_copy(deep=True) for token in reversed(self._tokens.values())]
        return sorted((token for token in kept if token.user == user), key=lambda token: -token.created_at)

    def drop_token(self, user: str, token_id: str) -> bool:
        """Forget a token of this user; False if there is none of this id."""
        with self._lock:
            held = [d for d, token in self._tokens.items() if (token.user, token.id) == (user, token_id)]
            for digest in held:
                del self._tokens[digest]
            return bool(held)

    def close(self) -> None:
        """Nothing to let go of: what is remembered stays."""
