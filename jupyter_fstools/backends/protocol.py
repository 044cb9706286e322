"""Defines what a backend must do: six verbs on bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from ..content.source import Chunk, Content

Kind = Literal["file", "directory", "other", "missing"]


@dataclass(frozen=True, slots=True)
class FileStat:
    """The status of a path at one moment.

    Attributes:
        path: canonical, relative to the root, `/`-separated; "" is the root itself. No link, `.` or `..` is left in
            it, also where its tail does not exist yet.
        key: the same file's name for every process and root (`backend.root_key + "/" + path`): locks, receipts and
            the journal go by it.
        kind: `other` is a device, FIFO or socket.
        size: bytes; 0 unless a file.
        mtime_ns: modification time, nanoseconds since 1970; 0 if missing.
        version: equal only while nothing touched the file (on a disk: device, inode, size, mtime, ctime); "" if
            missing. Works like an ETag.
        writable: False for a file that is read-only by its mode bits: nobody writes it, not even root.
    """

    path: str
    key: str
    kind: Kind
    size: int = 0
    mtime_ns: int = 0
    version: str = ""
    writable: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder: `path` is relative to the root; `kind` "link" has not been followed.

    `stat` is what the listing itself told of a file, where it did: looking again would cost a request.
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
        """True while the open file still has the bytes of `stat`; another file may have its name by now."""


class Backend(Protocol):
    """Bytes by path. Refusals are `FsToolsError`s; nothing else is raised for bad input or a broken disk.

    Only `stat` takes a caller's spelling of a path; the other verbs take the `path` of a `FileStat` and follow no
    link: where a part of it has become one meanwhile, they refuse with `Conflict`.
    """

    @property
    def root_key(self) -> str:
        """The beginning of every `FileStat.key` of this backend (on a disk: the root's real path)."""

    def stat(self, path: str) -> FileStat:
        """Look at a path as a caller spells it: relative to the root, or absolute and inside it.

        Links are followed while they stay inside the root. A missing file is `kind="missing"`, not an error.

        Raises:
            OutsideRoot: the path, or a link in it, leads out of the root (whether something is there or not).
            NotADirectory: a part before the last is a file.
            Invalid: a loop of links, a name or path that is too long.
            Denied: the system does not let us look.
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
            chunks: the new bytes, each chunk valid only until the next is asked for. All are taken before the file is
                replaced; where asking for one raises, nothing is written.
            if_match: the version that must still be there; None: the file must not exist.

        Mode, owner, extended attributes and hard links of an existing file stay. After any error the old bytes are
        there and no temporary file is left.

        Raises:
            Conflict: the version is no longer there, or a file is there that should not be.
            Denied: not writable (by its mode bits, also for root), or the system refuses.
            NotADirectory, IsDirectory, InputOutput (disk full, device error)
        """

    def delete(self, path: str, *, if_match: str) -> None:
        """Remove a file whose version is still `if_match`.

        Raises:
            Conflict, NotFound, Denied, IsDirectory, InputOutput
        """

    def close(self) -> None:
        """Let go of what it holds (dropping it does that too); nothing works afterwards."""


@runtime_checkable
class ReadsAhead(Protocol):
    """A backend far away, which is quicker at several files than at one after the other."""

    def read_ahead(self, files: Iterable[FileStat], ended: Callable[[], bool]) -> Iterator[tuple[str, bytes | None]]:
        """The bytes of files that a listing told of, in that order, by path; None for what cannot be read.

        A bounded number of bytes is held at a time. Who ends it early ends the reading; `ended` is asked while bytes
        are waited for.

        Raises:
            TimedOut: it has ended.
        """


@runtime_checkable
class KeepsNotes(Protocol):
    """A backend far away, which keeps on this machine, for all its processes, what was found out about a version."""

    def noted(self, stat: FileStat) -> bytes | None:
        """What was kept about a file's version; None if nothing is, or no longer."""

    def note(self, stat: FileStat, found: bytes) -> None:
        """Keep something about a file's version, instead of what was kept before."""


class Locks(Protocol):
    """One lock per file, across threads and processes."""

    def hold(
        self, *keys: str, patience: float | None = None, reader: tuple[str, str] | None = None
    ) -> AbstractContextManager[object]:
        """Hold the locks of files, taken in an order that is the same for everybody.

        TimedOut (with its `lock`) after `patience` seconds, where None is given after a while. `reader` is the user and
        session whose receipts will be asked for: a database tells them along with the locks.
        """


@runtime_checkable
class HoldsLocks(Protocol):
    """A backend or store with locks of its own, which hold on every machine that uses it."""

    def locks(self, timeout: float) -> Locks:
        """Locks of files; `timeout` is how many seconds to wait for somebody else."""
