"""Filters records of the in-memory store."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from .protocol import ChangeFilter, MomentFilter
from .record_json import from_json
from .records import Change, ChangeStatus, Reader


@dataclass(slots=True)
class KeptReceipt:
    """A receipt as text, and the copy of what was shown."""

    body: str
    shown: bytes | None


@dataclass(slots=True)
class Shelf:
    """One reader's receipts, least recently used first."""

    kept: OrderedDict[str, KeptReceipt] = field(default_factory=OrderedDict)
    dropped: OrderedDict[str, None] = field(default_factory=OrderedDict)
    used_at: float = 0.0


@dataclass(slots=True)
class KeptChange:
    """A change as it was given, and beside it what may change about it."""

    body: str
    splices: bytes
    keys: list[str]
    reader: Reader
    created_at: float
    revision: int
    status: ChangeStatus
    decided_at: float | None
    decided_by: str | None

    def change(self, *, rows: bool = True) -> Change:
        """The change as it is now."""
        change = from_json(Change, self.body)
        if not rows:
            for diff in (change.diff, *(file.diff for file in change.files)):
                diff.hunks, diff.cells = [], None
        change.revision, change.status = self.revision, self.status
        change.decided_at, change.decided_by = self.decided_at, self.decided_by
        return change

    def meets(self, wanted: ChangeFilter) -> bool:
        """Whether a filter describes it, its `limit`, `offset`, `after` and `before` aside."""
        return (
            (wanted.key is None or wanted.key in self.keys)
            and wanted.reader in (None, self.reader)
            and wanted.session in (None, self.reader.session)
            and (self.status == wanted.status if wanted.status else self.status != "pending")
            and (wanted.key_prefix is None or self.is_below(wanted.key_prefix))
        )

    def is_below(self, prefix: str) -> bool:
        """One of its files is a folder's own, or lies below it."""
        return any(is_below(key, prefix) for key in self.keys)


def is_below(key: str, prefix: str) -> bool:
    """A key is a folder's own, or lies below it."""
    folder = prefix.removesuffix("/")
    return key == folder or key.startswith(folder + "/")


def is_wanted(wanted: MomentFilter, key: str, session: str) -> bool:
    """A filter asks for this file and this session."""
    return wanted.session in (None, session) and (wanted.key_prefix is None or is_below(key, wanted.key_prefix))


def is_within(wanted: MomentFilter, moment: float) -> bool:
    """A filter asks for this time."""
    return (wanted.after is None or moment > wanted.after) and (wanted.before is None or moment < wanted.before)
