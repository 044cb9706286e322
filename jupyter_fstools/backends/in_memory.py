"""Keeps files in this process's memory; thread-safe."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..content.source import BytesContent, Chunk
from ..errors import Invalid
from .path_names import canonical_parts, names_without_links
from .protocol import Entry, FileStat, OpenFile
from .system_errors import EXISTS, file_instead, folder_instead, missing, overtaken


class _File(NamedTuple):
    data: bytes
    mtime_ns: int
    version: str


class _Opened(BytesContent):
    """One version of a file; immutable."""

    def __init__(self, backend: InMemory, data: bytes, stat: FileStat) -> None:
        super().__init__(data)
        self.stat = stat
        self._backend = backend

    def unchanged(self) -> bool:
        """True while the file still has this version."""
        return self._backend.stat(self.stat.path).version == self.stat.version


class InMemory:
    """A `Backend` without a disk. Its root is "/", so that absolute paths are inside; there are no links.

    Args:
        files: the files at the start, by path.
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._key = f"memory:{uuid.uuid4().hex[:12]}"
        self._files: dict[str, _File] = {}
        self._folders = {""}
        self._versions = itertools.count(1)
        self._lock = threading.RLock()
        for path, data in (files or {}).items():
            self.write(self.stat(path).path, [data], if_match=None)

    @classmethod
    def from_setting(cls, where: str, *, durable: bool) -> InMemory:
        """A new, empty backend; `durable` has no effect.

        Raises:
            Invalid: something follows the scheme.
        """
        if where not in ("memory:", "memory://"):
            raise Invalid(f"root: nothing may follow memory:, got {where!r}", hint="Use memory: alone.")
        return cls()

    @property
    def root_key(self) -> str:
        """A key that is unique for each object."""
        return self._key

    def close(self) -> None:
        """Do nothing, as there is nothing to release."""

    def stat(self, path: str) -> FileStat:
        """Look at a path as a caller spells it; see `Backend.stat`."""
        with self._lock:
            return self._stat("/".join(names_without_links(path, self._files.__contains__, self._folders.__contains__)))

    def list(self, path: str) -> Iterator[Entry]:
        """The names in one folder; see `Backend.list`."""
        with self._lock:
            self._check_folder(path)
            return iter(self._inside(path))

    @contextlib.contextmanager
    def read(self, path: str) -> Iterator[OpenFile]:
        """Open a file's bytes; see `Backend.read`."""
        with self._lock:
            canonical_parts(path)
            file = self._file(path)
            opened = _Opened(self, file.data, self._stat(path))
        yield opened

    def write(self, path: str, chunks: Iterable[Chunk], *, if_match: str | None) -> FileStat:
        """Replace a file's bytes at once; see `Backend.write`."""
        names = canonical_parts(path)
        data = b"".join(bytes(chunk) for chunk in chunks)
        with self._lock:
            self._check_version(path, if_match)
            folders = ["/".join(names[:depth]) for depth in range(len(names))]
            for folder in folders:
                if folder in self._files:
                    raise file_instead(path, folder, writing=True)
            if path not in self._files or self._files[path].data != data:
                self._folders.update(folders)
                self._files[path] = _File(data, time.time_ns(), str(next(self._versions)))
            return self._stat(path)

    def delete(self, path: str, *, if_match: str) -> None:
        """Remove a file; see `Backend.delete`."""
        canonical_parts(path)
        with self._lock:
            self._file(path)
            self._check_version(path, if_match)
            del self._files[path]

    def _stat(self, path: str) -> FileStat:
        key = f"{self._key}/{path}" if path else self._key
        if path in self._folders:
            return FileStat(path, key, "directory", 0, 0, "folder")
        if (file := self._files.get(path)) is None:
            return FileStat(path, key, "missing")
        return FileStat(path, key, "file", len(file.data), file.mtime_ns, file.version)

    def _file(self, path: str) -> _File:
        if path in self._folders:
            raise folder_instead(path)
        self._check_parents(path)
        if path not in self._files:
            raise missing(path)
        return self._files[path]

    def _check_parents(self, path: str) -> None:
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            if folder in self._files:
                raise file_instead(path, folder)

    def _check_folder(self, path: str) -> None:
        canonical_parts(path)
        if path in self._files:
            raise file_instead(path)
        if path not in self._folders:
            self._check_parents(path)
            raise missing(path, folder=True)

    def _check_version(self, path: str, if_match: str | None) -> None:
        if path in self._folders:
            raise folder_instead(path, writing=True)
        there = self._files[path].version if path in self._files else None
        if there != if_match:
            raise overtaken(path, EXISTS) if if_match is None else overtaken(path)

    def _inside(self, path: str) -> tuple[Entry, ...]:
        prefix = f"{path}/" if path else ""
        found = []
        for names, kind in ((self._folders, "directory"), (self._files, "file")):
            for name in names:
                rest = name.removeprefix(prefix)
                if name and name.startswith(prefix) and rest and "/" not in rest:
                    found.append(Entry(name, rest, "file" if kind == "file" else "directory"))
        return tuple(found)
