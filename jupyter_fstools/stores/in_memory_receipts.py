"""Keeps receipts in this process's memory, bounded."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from ..limits import StoreLimits
from .protocol import MomentFilter
from .record_json import from_json, is_below, is_wanted, is_within, to_json
from .records import Reader, Receipt
from .steps import DROPPED_PER_RECEIPT

_SWEEP_SECONDS = 3600.0


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


class InMemoryReceipts:
    """Receipts of all readers; see `Store`."""

    def __init__(self, limits: StoreLimits) -> None:
        self._limits = limits
        self._lock = threading.RLock()
        self._shelves: dict[Reader, Shelf] = {}
        self._steps = 0
        self._next_sweep = 0.0

    def receipt(self, reader: Reader, key: str) -> Receipt | None:
        """The reader's receipt of a file; a lookup counts as use."""
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
            self._evict(shelf, self._limits.max_receipts)
            self._evict_of_all()

    def _evict_of_all(self) -> None:
        excess = sum(len(shelf.kept) for shelf in self._shelves.values()) - self._limits.max_all_receipts
        while excess > 0:
            shelf = min((one for one in self._shelves.values() if one.kept), key=lambda one: one.used_at)
            self._evict(shelf, len(shelf.kept) - 1)
            excess -= 1

    def _evict(self, shelf: Shelf, most: int) -> None:
        while len(shelf.kept) > most:
            key, _ = shelf.kept.popitem(last=False)
            shelf.dropped[key] = None
        while len(shelf.dropped) > DROPPED_PER_RECEIPT * self._limits.max_receipts:
            shelf.dropped.popitem(last=False)

    def _sweep(self) -> None:
        now = time.time()
        if now < self._next_sweep:
            return
        self._next_sweep = now + _SWEEP_SECONDS
        self._forget_older(now - self._limits.journal_max_days * 86400)

    def _forget_older(self, oldest: float) -> None:
        self._shelves = {reader: shelf for reader, shelf in self._shelves.items() if shelf.used_at >= oldest}

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
