"""Defines what a store must do; everything bounded."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from .records import Change, ChangeStatus, OpenDocument, Reader, Receipt, Refusal, Token

MAX_REFUSALS = 1000
"""Refusals kept in all; the oldest go first, as do those older than `journal_max_days`."""


PutReceipt = tuple[Receipt, bytes | None]
"""A receipt and the copy of what was shown, as `Store.put_receipt` takes them."""

USE_SECONDS = 60.0
"""A token's last use is noted again after this time: not every call is worth a write."""


@dataclass(frozen=True)
class ChangeFilter:
    """A filter of changes; None means any.

    Attributes:
        key_prefix: changes of a file whose key is this or lies below it (`prefix + "/"`); a slash at its
            end does not count.
        key: changes of exactly this file.
        reader: exactly this reader.
        user: this user, in whichever session.
        session: this session of any user.
        status: this status; None: any but `pending`.
        after: only revisions above this one, in rising order of revision; None: newest first.
        before: only what was made before this time (newest-first listing only).
        limit: at most so many.
        offset: leave out so many first (newest-first listing only).
        rows: with the diffs' hunks and cells; False leaves them empty.
    """

    key_prefix: str | None = None
    key: str | None = None
    reader: Reader | None = None
    user: str | None = None
    session: str | None = None
    status: ChangeStatus | None = None
    after: int | None = None
    before: float | None = None
    limit: int = 100
    offset: int = 0
    rows: bool = True


@dataclass(frozen=True)
class MomentFilter:
    """A filter of reads or refusals, newest first; None means any.

    Attributes:
        key_prefix: files whose key is this or lies below it (`prefix + "/"`); a slash at its
            end does not count.
        session: of this session of any user.
        after: only what is later than this time, in seconds since 1970.
        before: only what is earlier than this time.
        limit: at most so many.
    """

    key_prefix: str | None = None
    session: str | None = None
    after: float | None = None
    before: float | None = None
    limit: int = 100


class Closing(Protocol):
    """Something that a `with` block closes at its end."""

    def close(self) -> None:
        """Let go of files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LocalClock:
    """The clock of a store that only processes of this machine share."""

    def now(self) -> float:
        """This machine's time."""
        return time.time()


class Store(Closing, Protocol):
    """Receipts, changes and refusals. Safe for concurrent use by threads, and by processes where the store says so.

    Dropping a store closes it.
    Newest first means by creation: a change keeps its place when its status changes (its revision grows).
    """

    def now(self) -> float:
        """The time in seconds since 1970, by a clock that all machines with this store have in common.

        Records have their times by it. Cheap enough for every call, and never raises.
        """

    def receipt(self, reader: Reader, key: str) -> Receipt | None:
        """The reader's receipt of a file; a lookup counts as use."""

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

    def reads(self, wanted: MomentFilter) -> list[Receipt]:
        """The receipts of all readers that a filter describes by `read_at`, latest read first.

        Receipts that stem from the reader's own writing alone (`own_write`) are left out.
        """

    def forget(self, reader: Reader, key: str | None = None) -> int:
        """Drop one receipt, or all of a reader's; says how many."""

    def add_change(self, change: Change, splices: bytes) -> Change:
        """Append a change with its packed splices; gives it with its revision.

        Enforces the bounds: those of the lowest revisions go first, and those that are too old since they were decided,
        or made. One that is `pending` has no revision (0) yet, is shown by `change`, `unfinished` and a filter for that
        status alone, and is never pushed out.

        Raises:
            TooLarge: too many changes, or too many bytes of them, are proposed already.
        """

    def finish(
        self,
        change_id: str,
        receipts: Sequence[PutReceipt] = (),
        *,
        splices: bytes | None = None,
        record: Change | None = None,
    ) -> int | None:
        """A pending change becomes applied and, in the same step, receipts are put as `put_receipt` does.

        Gives its revision; None: it is not pending. `splices` and `record`, if given, replace what is kept.
        """

    def drop(self, change_id: str) -> bool:
        """Take a pending change out again, as if it had never been; False: it is not pending."""

    def unfinished(self, key_prefix: str) -> list[Change]:
        """The pending changes of a file whose key is this or lies below it; cheap enough for every edit."""

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
        """Move a change from one status to another, if it still has the expected one.

        None: somebody else decided first. `splices` and `record`, if given, replace what is kept. From and to `pending`
        the same rules hold as in `add_change`, and the revision rises, too.
        """

    def change(self, change_id: str) -> Change | None:
        """One change."""

    def splices(self, change_id: str) -> bytes | None:
        """A change's packed splices."""

    def changes(self, wanted: ChangeFilter) -> list[Change]:
        """The changes a filter describes."""

    def count_changes(self, wanted: ChangeFilter) -> int:
        """How many changes a filter describes, its `limit`, `offset`, `after` and `before` aside."""

    def revision(self) -> int:
        """The newest revision; cheap enough to ask several times a second."""

    def add_refusal(self, refusal: Refusal) -> Refusal:
        """Keep a refusal; gives it with the time it has in the store, which is later than that of every other one."""

    def refusals(self, wanted: MomentFilter) -> list[Refusal]:
        """The refusals that a filter describes by `at`, newest first."""

    def mark(self) -> Hashable:
        """A value that changes whenever anything is kept or dropped, by any process; cheaper than a query."""

    def note_open(self, page: str, documents: Collection[OpenDocument], until: float) -> None:
        """Keep which files a page has open; replaces what it said before.

        After `until` (seconds since 1970) nothing of it counts any more.
        """

    def open_documents(self, key: str) -> list[OpenDocument]:
        """The documents that pages have open of a file."""

    def add_token(self, token: Token, digest: str) -> None:
        """Keep a token under the digest of its secret."""

    def token(self, digest: str, now: float) -> Token | None:
        """The token whose secret has this digest, also an expired one; notes its use, once a minute."""

    def tokens(self, user: str) -> list[Token]:
        """A user's tokens, newest first."""

    def drop_token(self, user: str, token_id: str) -> bool:
        """Forget a token of this user; False if no token has this id."""

    def close(self) -> None:
        """Let go of files and connections; a later call opens them again."""


@runtime_checkable
class TellsNews(Protocol):
    """A store that notifies at once when anything is kept, so that nothing has to poll it."""

    def subscribe(self, heard: Callable[[], None]) -> None:
        """Have a function called whenever anything was kept, by whichever process; it must not block."""
