"""Caches versions of a store's files on this disk, bounded in size."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
from pathlib import Path

_PART_EVICTED = 0.8
_DIGEST_BYTES = 16


class VersionFiles:
    """Cache of bytes by key and version; evicts the least recently used.

    Safe for threads and processes: a file is written under another name and renamed into place, and one that another
    process removed is simply fetched again. A digest at the start of each file detects damage by a power failure or the
    disk; a damaged file counts as missing.

    Args:
        folder: the folder of the cache; made with access for the user alone.
        most_bytes: the most bytes in all.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most = most_bytes
        self._lock = threading.Lock()
        self._size = -1

    def get(self, key: str, version: str) -> bytes | None:
        """The cached bytes; None if there are none or they are damaged."""
        path = self._path(key, version)
        try:
            with path.open("rb") as file:
                digest, data = file.read(_DIGEST_BYTES), file.read()
            os.utime(path)
        except OSError:
            return None
        return data if digest == _digest(data) else None

    def put(self, key: str, version: str, data: bytes) -> None:
        """Cache bytes; on a full or read-only disk they are not kept, and are fetched again when needed."""
        if len(data) > self._most:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.writelines((_digest(data), data))
                os.replace(name, self._path(key, version))
            except OSError:
                os.unlink(name)
                return
            self._make_room(_DIGEST_BYTES + len(data))

    def _path(self, key: str, version: str) -> Path:
        named = f"{key}\0{version}".encode("utf-8", "surrogatepass")
        return self._folder / hashlib.blake2b(named, digest_size=20).hexdigest()

    def _make_room(self, added: int) -> None:
        with self._lock:
            self._size = self._size + added if self._size >= 0 else self._measured()
            if self._size <= self._most:
                return
            kept = sorted((entry.stat().st_mtime_ns, entry.stat().st_size, entry.path) for entry in self._entries())
            self._size = sum(size for _, size, _ in kept)
            for _, size, path in kept:
                if self._size <= self._most * _PART_EVICTED:
                    break
                with contextlib.suppress(OSError):
                    os.unlink(path)
                self._size -= size

    def _measured(self) -> int:
        return sum(entry.stat().st_size for entry in self._entries())

    def _entries(self) -> list[os.DirEntry[str]]:
        with os.scandir(self._folder) as entries:
            return [entry for entry in entries if entry.is_file(follow_symlinks=False)]


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
