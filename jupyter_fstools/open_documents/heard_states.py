"""Keeps the last states of unsaved documents that pages reported."""

from __future__ import annotations

from collections.abc import Collection
from threading import Lock
from typing import NamedTuple

_MOST_HEARD = 16


class Snapshot(NamedTuple):
    """A page's state of a document: its counter, the bytes that saving would write, and the page's ids of the cells."""

    number: int
    counter: int
    data: bytes
    names: list[str]


class Heard:
    """Keeps the last reported states of unsaved documents, up to a bound; safe for threads."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Snapshot] = {}
        self._lock = Lock()

    def last(self, key: str, page: str) -> Snapshot | None:
        """The last state of a file that a page reported."""
        return self._kept.get((key, page))

    def keep(self, key: str, page: str, snapshot: Snapshot) -> Snapshot:
        """Keep a state, and drop all but the newest ones."""
        with self._lock:
            self._kept.pop((key, page), None)
            self._kept[key, page] = snapshot
            while len(self._kept) > _MOST_HEARD:
                self._kept.pop(next(iter(self._kept)))
        return snapshot

    def forget(self, key: str, page: str) -> None:
        """Drop a state, as the page has saved other content since."""
        with self._lock:
            self._kept.pop((key, page), None)

    def forget_all_but(self, page: str, unsaved: Collection[tuple[str, int]]) -> None:
        """Drop a page's states of all documents but these (by key and number): the others were saved or closed."""
        with self._lock:
            for (key, name), snapshot in list(self._kept.items()):
                if name == page and (key, snapshot.number) not in unsaved:
                    del self._kept[key, name]
