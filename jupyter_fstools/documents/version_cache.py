"""Caches what was computed of files, by version; thread-safe."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Found = TypeVar("Found")


class VersionCache(Generic[Found]):
    """Something about each version of a file that costs a look at all of it, for as many files as `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str], Found] = OrderedDict()
        self._lock = Lock()

    def of(self, key: str, version: str) -> Found | None:
        """What is kept of one version of a file; None if nothing is."""
        with self._lock:
            if (key, version) in self._kept:
                self._kept.move_to_end((key, version))
            return self._kept.get((key, version))

    def drop(self, key: str, version: str) -> bool:
        """Forget what is kept of one version; whether there was something."""
        with self._lock:
            return self._kept.pop((key, version), None) is not None

    def keep(self, key: str, version: str, found: Found) -> Found:
        """Keep it, if nothing is kept of this version yet; what is kept then."""
        with self._lock:
            found = self._kept.setdefault((key, version), found)
            self._kept.move_to_end((key, version))
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return found
