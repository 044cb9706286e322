"""Defines what a backend must do: six verbs on bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from ..content.source import Chunk, Content

Kind = Literal["file", "directory", "other", "missing"]


@dataclass(frozen=True, slots=True)
class FileStat:
    """The status of a path at one moment.

    Attributes:
        path: canonical, relative to the root, `/`-separated; "" is the root itself. It contains no link, `.` or `..`,
            even if its tail does not exist yet.
        key: identifies the file for every process and root (`backend.root_key + "/" + path`); used by locks, receipts
            and the journal.
        kind: `other` is a device, FIFO or socket.
        size: bytes; 0 unless a file.
        mtime_ns: modification time, nanoseconds since 1970; 0 if missing.
        version: works like an ETag: it changes whenever the file is touched (on a disk: device, inode, size, mtime,
            ctime); "" if missing.
        writable: False for a file whose mode bits make it read-only; then even root is refused.
        look: differs at each look at a file that may be written again without getting another version, as its times
            are coarse and it was written just now; "" otherwise.
        inode: equal for all names (hard links) of one file; "" for a file with one name.
    """

    path: str
    key: str
    kind: Kind
    size: int = 0
    mtime_ns: int = 0
    version: str = ""
    writable: bool = True
    look: str = field(default="", compare=False)
    inode: str = field(default="", compare=False)

    @property
    def content_version(self) -> str:
        """A version that is equal only for equal content: receipts and caches use it."""
        return self.version + self.look


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder: `path` is relative to the root; `kind` "link" has not been followed.

    `stat` is the status that the listing already included, if any; another look would cost a request.
    """

    path: str
    name: str
    kind: Literal["file", "directory", "link", "other"]
    stat: FileStat | None = None


class OpenFile(Content, Protocol):
    """A file held open: one consistent version of its bytes."""

    @property
    def stat(self) -> FileStat:
        """The file as it was when it was opened."""

    def unchanged(self) -> bool:
        """True while the open file still has the bytes of `stat`, even if another file has taken its name."""


@runtime_checkable
class TakesSpace(Protocol):
    """An open file whose bytes stay on the disk while it is open, also once another file has taken its name."""

    def close(self) -> None:
        """Release the bytes; later reads fail. Closing it again does nothing."""


class Backend(Protocol):
    """Bytes by path. Refusals are `FsToolsError`s; nothing else is raised for bad input or a broken disk.

    Only `stat` takes a caller's spelling of a path; the other methods take the `path` of a `FileStat` and follow no
    links: if a part of it has become a link in the meantime, they raise `Conflict`.
    """

    @property
    def root_key(self) -> str:
        """The beginning of every `FileStat.key` of this backend (on a disk: the root's real path)."""

    def stat(self, path: str) -> FileStat:
        """Look at a path as a caller spells it: relative to the root, or absolute and inside it.

        Links are followed while they stay inside the root. A missing file is `kind="missing"`, not an error.

        Raises:
            OutsideRoot: the path, or a link in it, leads out of the root (whether or not the target exists).
            NotADirectory: a part before the last is a file.
            Invalid: a loop of links, a name or path that is too long.
            Denied: the system does not permit the look.
        """

    def list(self, path: str) -> Iterator[Entry]:
        """The names in one folder, in no order, without the backend's own temporary files.

        Raises:
            NotFound, NotADirectory, Denied, Conflict
        """

    def read(self, path: str) -> AbstractContextManager[OpenFile]:
        """Open a file's bytes.

        Raises:
            NotFound, IsDirectory, Denied (also: a device, FIFO or socket, without blocking), Conflict, InputOutput
        """

    def write(self, path: str, chunks: Iterable[Chunk], *, if_match: str | None) -> FileStat:
        """Replace a file's bytes at once: a reader sees the old or the new bytes, never a mixture.

        Args:
            path: canonical; missing folders above it are made.
            chunks: the new bytes, each chunk valid only until the next is requested. All are consumed before the file
                is replaced; if the iterator raises, nothing is written.
            if_match: the version that the file must still have; None: the file must not exist.

        Mode, owner, extended attributes and hard links of an existing file are kept. After any error the old bytes are
        there and no temporary file is left.

        Raises:
            Conflict: the file has another version, or exists although it should not.
            Denied: not writable (by its mode bits, also for root), or the system refuses.
            NotADirectory, IsDirectory, InputOutput (disk full, device error)
        """

    def delete(self, path: str, *, if_match: str) -> None:
        """Remove a file whose version is still `if_match`.

        Raises:
            Conflict, NotFound, Denied, IsDirectory, InputOutput
        """

    def close(self) -> None:
        """Release everything it holds (garbage collection does so too); later calls fail."""


@runtime_checkable
class ReadsAhead(Protocol):
    """A remote backend, which reads several files at a time faster than one after the other."""

    def read_ahead(self, files: Iterable[FileStat], ended: Callable[[], bool]) -> Iterator[tuple[str, bytes | None]]:
        """The path and bytes of each listed file, in the given order; None for a file that cannot be read.

        The number of bytes held at a time is bounded. Closing the iterator stops the reading; `ended` is polled while
        waiting for bytes.

        Raises:
            TimedOut: `ended` returned True.
        """


@runtime_checkable
class KeepsNotes(Protocol):
    """A remote backend that caches findings about a file's version on this machine, for all its processes."""

    def noted(self, stat: FileStat) -> bytes | None:
        """The note kept about a file's version; None if there is none, or it was evicted."""

    def note(self, stat: FileStat, found: bytes) -> None:
        """Keep a note about a file's version; it replaces an earlier one."""


class Locks(Protocol):
    """One lock per file, across threads and processes."""

    def hold(
        self, *keys: str, patience: float | None = None, reader: tuple[str, str] | None = None
    ) -> AbstractContextManager[object]:
        """Hold the locks of files; every caller takes them in the same order.

        Raises `TimedOut` (with its `lock`) after `patience` seconds; None: after the locks' own timeout. `reader` is
        the user and session whose receipts will be read next: a database fetches them together with the locks.
        """


@runtime_checkable
class HoldsLocks(Protocol):
    """A backend or store with its own locks, which hold on every machine that uses it."""

    def locks(self, timeout: float) -> Locks:
        """Locks of files; `timeout` is the number of seconds to wait for another holder."""
