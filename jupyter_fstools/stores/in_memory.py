"""Keeps receipts and changes in this process's memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass

from ..errors import Invalid
from ..limits import StoreLimits
from .in_memory_receipts import InMemoryReceipts
from .protocol import MAX_REFUSALS, USE_SECONDS, ChangeFilter, Closing, LocalClock, MomentFilter
from .record_json import is_below, is_wanted, is_within, to_json
from .records import Change, ChangeStatus, OpenDocument, Reader, Refusal, Token
from .steps import ChangeRow, ChangeSteps, Step, kept_size, require_room, without_rows

_DEFAULTS = StoreLimits()


@dataclass(slots=True)
class KeptChange:
    """A change as it was given, and beside it what may change about it."""

    body: str
    splices: bytes
    size: int
    keys: list[str]
    reader: Reader
    created_at: float
    revision: int
    status: ChangeStatus
    decided_at: float | None
    decided_by: str | None

    def change(self, *, rows: bool = True) -> Change:
        """The change as it is now."""
        change = self.row().change()
        return change if rows else without_rows(change)

    def row(self) -> ChangeRow:
        """The same as it is kept."""
        return ChangeRow(self.revision, self.status, self.decided_at, self.decided_by, self.body)

    @property
    def moment(self) -> float:
        """When it was decided, or made."""
        return self.created_at if self.decided_at is None else self.decided_at

    def meets(self, wanted: ChangeFilter) -> bool:
        """Whether a filter describes it, its `limit`, `offset`, `after` and `before` aside."""
        return (
            (wanted.key is None or wanted.key in self.keys)
            and wanted.reader in (None, self.reader)
            and wanted.user in (None, self.reader.user)
            and wanted.session in (None, self.reader.session)
            and (self.status == wanted.status if wanted.status else self.status != "pending")
            and (wanted.key_prefix is None or self.is_below(wanted.key_prefix))
        )

    def is_below(self, prefix: str) -> bool:
        """One of its files is a folder's own, or lies below it."""
        return any(is_below(key, prefix) for key in self.keys)


class InMemoryChanges(InMemoryReceipts, ChangeSteps):
    """Changes beside the receipts: a change and its receipts are one step; see `Store`."""

    def __init__(self, limits: StoreLimits, first_revision: int) -> None:
        super().__init__(limits)
        self._changes: dict[str, KeptChange] = {}
        self._revision = first_revision

    def add_change(self, change: Change, splices: bytes) -> Change:
        """Append a change."""
        body = to_json(change)
        size = kept_size(body, splices)
        with self._lock:
            if change.status == "proposed":
                waiting = [(*kept.reader, kept.size) for kept in self._changes.values() if kept.status == "proposed"]
                require_room(self._limits, size, change.reader, waiting)
            kept = KeptChange(
                body=body,
                splices=splices,
                size=size,
                keys=change.keys,
                reader=change.reader,
                created_at=change.created_at,
                revision=0,
                status=change.status,
                decided_at=change.decided_at,
                decided_by=change.decided_by,
            )
            self._changes[change.id] = kept
            if change.status != "pending":
                self._number(kept)
            self._steps += 1
            self._prune()
            return change.model_copy(update={"revision": kept.revision})

    def take_step(self, step: Step) -> ChangeRow | None:
        """Take a step with a new revision; None: the change has another status."""
        with self._lock:
            kept = self._changes.get(step.change_id)
            if kept is None or kept.status != step.expected:
                return None
            kept.status = step.status
            if step.decided is not None:
                kept.decided_at, kept.decided_by = step.decided
            kept.body = kept.body if step.record is None else to_json(step.record)
            kept.splices = kept.splices if step.splices is None else step.splices
            kept.size = kept_size(kept.body, kept.splices)
            for receipt, shown in step.receipts:
                self.put_receipt(receipt, shown)
            self._number(kept)
            self._prune()
            return kept.row()

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

    def _number(self, kept: KeptChange) -> None:
        self._steps += 1
        self._revision += 1
        kept.revision = self._revision

    def _prune(self) -> None:
        limits = self._limits
        counted = {name: kept for name, kept in self._changes.items() if kept.status != "proposed"}
        count = len(counted) - limits.journal_max_changes
        size = sum(kept.size for kept in counted.values()) - limits.journal_max_bytes
        oldest = time.time() - limits.journal_max_days * 86400
        if count <= 0 and size <= 0 and all(kept.moment >= oldest for kept in counted.values()):
            return
        newest = max(kept.revision for kept in self._changes.values())
        for name, kept in sorted(counted.items(), key=lambda one: (one[1].moment >= oldest, one[1].revision)):
            if kept.status == "pending" or kept.revision == newest:
                continue
            if count <= 0 and size <= 0 and kept.moment >= oldest:
                break
            del self._changes[name]
            count, size = count - 1, size - kept.size

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


class InMemoryStore(InMemoryChanges, LocalClock, Closing):
    """A `Store` for one process; safe for its threads.

    It keeps records as text, as a store on disk does, so nobody shares an object with it.

    Args:
        limits: how much it keeps.
        first_revision: the revision of the empty journal.
    """

    in_memory = True

    def __init__(self, limits: StoreLimits = _DEFAULTS, *, first_revision: int = 0) -> None:
        super().__init__(limits, first_revision)
        self._refusals: deque[Refusal] = deque(maxlen=MAX_REFUSALS)
        self._open: dict[str, tuple[tuple[OpenDocument, ...], float]] = {}
        self._tokens: dict[str, Token] = {}

    @classmethod
    def from_setting(cls, where: str, limits: StoreLimits = _DEFAULTS) -> InMemoryStore:
        """An empty store.

        Raises:
            Invalid: something stands behind the scheme.
        """
        if where not in ("memory:", "memory://"):
            raise Invalid(f"store: nothing may follow memory:, got {where!r}", hint="Use memory: alone.")
        return cls(limits)

    def _forget_older(self, oldest: float) -> None:
        super()._forget_older(oldest)
        while self._refusals and self._refusals[0].at < oldest:
            self._refusals.popleft()

    def add_refusal(self, refusal: Refusal) -> Refusal:
        """Keep a refusal."""
        with self._lock:
            self._steps += 1
            newest = self._refusals[-1].at if self._refusals else 0.0
            # Whole microseconds, as a store on disk keeps them.
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
        """A value that changes whenever anything is kept or dropped."""
        return self._steps

    def note_open(self, page: str, documents: Collection[OpenDocument], until: float) -> None:
        """Replace what a page said before."""
        now = time.monotonic()
        with self._lock:
            told = {**self._open, page: (tuple(documents), now + until - time.time())}
            self._open = {name: (found, end) for name, (found, end) in told.items() if found and end >= now}

    def open_documents(self, key: str) -> list[OpenDocument]:
        """The documents that pages have open of a file."""
        now = time.monotonic()
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
                self._steps += 1
            return kept and kept.model_copy(deep=True)

    def tokens(self, user: str) -> list[Token]:
        """A user's tokens, newest first."""
        with self._lock:
            kept = [token.model_copy(deep=True) for token in reversed(self._tokens.values())]
        return sorted((token for token in kept if token.user == user), key=lambda token: -token.created_at)

    def drop_token(self, user: str, token_id: str) -> bool:
        """Forget a token of this user; False if no token has this id."""
        with self._lock:
            held = [d for d, token in self._tokens.items() if (token.user, token.id) == (user, token_id)]
            for digest in held:
                del self._tokens[digest]
                self._steps += 1
            return bool(held)

    def close(self) -> None:
        """Do nothing: there is nothing to release, and the records stay in memory."""
