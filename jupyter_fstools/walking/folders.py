"""Holds a folder open while it is walked."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal

from ..backends.hidden_files import sweep
from ..backends.local_disk import LocalDisk
from ..backends.open_file import read_at_one_moment
from ..backends.operating_system import Folder as OpenedFolder
from ..backends.path_names import HIDDEN_PREFIX
from ..backends.protocol import Backend, FileStat, ReadsAhead
from ..content.source import CHUNK_BYTES
from ..errors import Conflict, FsToolsError
from .names import CONTROL, Folder, Look, Names, Seen, joined
from .stopping import check_descriptors, told_apart

DESCRIPTORS = os.scandir in os.supports_fd and {os.open, os.stat} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether this system can open names relative to an open folder, so that no link swapped in is followed."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# For more names than this, a listing, which returns a thousand at once, is faster than a request for each.
_FEW = 8
_PASSAGE = getattr(os, "O_PATH", 0)
"""Flag that opens a folder without permission to list it: names that are known may still be opened in it."""
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def open_folder(backend: Backend, path: str) -> Folder:
    """A folder of `backend` by its canonical path, open.

    Raises:
        NotFound, NotADirectory, Denied, Conflict: where the system can tell before its names are asked for.
    """
    if DESCRIPTORS and isinstance(backend, LocalDisk):
        with told_apart(), backend.opened_folder(path) as opened:
            if opened.dir_fd is not None:
                return DiskFolder(os.open(".", _FOLDER, dir_fd=opened.dir_fd), path)
    return BackendFolder(backend, path)


class DiskFolder:
    """A folder on a disk; names are opened relative to its descriptor, even if its path leads elsewhere by now."""

    __slots__ = ("_fd", "path")

    def __init__(self, fd: int, path: str) -> None:
        self._fd = fd
        self.path = path

    def names(self, most: int | None = None) -> Names:
        """The names in the folder, at most `most`."""
        folders: list[str] = []
        files: list[str] = []
        links: list[str] = []
        others: list[str] = []
        control: list[str] = []
        hidden: list[str] = []
        try:
            listing = os.scandir(self._fd)
        except OSError as error:
            check_descriptors(error)
            if error.errno == errno.EBADF:  # The folder may be entered, but not listed.
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from error
            raise
        with listing as entries:
            for entry in entries if most is None else islice(entries, most):
                name = entry.name
                if name[0] == ".":
                    if name in CONTROL:
                        control.append(name)
                    elif name.startswith(HIDDEN_PREFIX):
                        hidden.append(name)
                        continue
                if entry.is_file(follow_symlinks=False):
                    files.append(name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                elif entry.is_symlink():
                    links.append(name)
                else:
                    others.append(name)
        sweep(OpenedFolder("", self._fd), hidden)
        return Names(folders, files, links, others, control, []).without_long(self.path)

    def check_readable(self) -> None:
        """Refuse a folder that nobody may read; the system would still list it for a superuser.

        A folder that may be listed but not entered is refused too, as its files cannot be described.
        """
        if not os.stat(".", dir_fd=self._fd).st_mode & 0o444:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def check_enterable(self) -> None:
        """Refuse a folder that may be listed but not entered, so that its files cannot be described."""
        os.stat(".", dir_fd=self._fd)

    def enter(self, name: str) -> DiskFolder:
        """A folder in this one; a link is refused."""
        path = self.path
        try:
            fd = os.open(name, _FOLDER, dir_fd=self._fd)
        except OSError as error:
            check_descriptors(error)
            if not (_PASSAGE and isinstance(error, PermissionError)):
                raise
            fd = os.open(name, _FOLDER | _PASSAGE, dir_fd=self._fd)
        return DiskFolder(fd, f"{path}/{name}" if path else name)

    def look(self, names: list[str]) -> list[Look]:
        """Size and time of files in this folder, without names that are gone or no longer files."""
        prefix = self.path and self.path + "/"
        return [
            (-found.st_mtime_ns, prefix + name, found.st_size)
            for name, found in self._stats(names)
            if stat.S_ISREG(found.st_mode)
        ]

    def see(self, name: str) -> Seen:
        """The kind and size of a name in this folder; a link is not followed."""
        found = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode):
            return Seen("file", found.st_size, found.st_mtime_ns)
        kinds: dict[int, Literal["directory", "link"]] = {stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}
        return Seen(kinds.get(stat.S_IFMT(found.st_mode), "other"), 0, found.st_mtime_ns)

    def larger(self, names: list[str], size: int) -> list[str]:
        """The files in this folder, among these, with more than `size` bytes."""
        return [name for name, found in self._stats(names) if found.st_size > size]

    def changed(self, names: list[str], moment: int) -> list[str]:
        """The files in this folder, among these, that were changed (content, name or rights) at `moment` or later."""
        return [name for name, found in self._stats(names) if found.st_ctime_ns >= moment]

    def _stats(self, names: list[str]) -> Iterator[tuple[str, os.stat_result]]:
        """The names that are still there, each with its status; links are not followed."""
        for name in names:
            try:
                found = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
            except OSError:
                continue
            yield name, found

    def expect(self, names: list[str], most: int, ended: Callable[[], bool]) -> None:
        """Do nothing: a disk is fast enough without reading ahead."""

    def read(self, name: str, most: int) -> bytes | None:
        """A file's bytes at one moment; None if it holds more than `most`.

        Raises:
            Conflict: it is no longer a file, or kept changing; OSError
        """
        try:
            fd = os.open(name, _FILE, dir_fd=self._fd)
        except OSError as error:
            check_descriptors(error)
            raise
        try:
            found = os.fstat(fd)
            size = found.st_size
            if not stat.S_ISREG(found.st_mode):
                raise Conflict(f"{joined(self.path, name)}: no longer a file")
            if size > most:
                return None
            if size:
                return read_at_one_moment(fd, found, joined(self.path, name))[0]
            # The system reports size 0 for files that it generates, as in /proc.
            text = os.read(fd, 1)
            wanted = most + 1 if text else 0
            while len(text) < wanted and (more := os.read(fd, min(wanted - len(text), CHUNK_BYTES))):
                text += more
            return text if len(text) <= most else None
        finally:
            os.close(fd)

    def has(self, name: str) -> bool:
        """Whether there is such a name."""
        try:
            os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._fd)


class BackendFolder:
    """A folder of any other backend: every verb checks the path anew."""

    def __init__(self, backend: Backend, path: str) -> None:
        self._backend = backend
        self.path = path
        self._told: dict[str, FileStat] | None = None
        self._ahead: Iterator[tuple[str, bytes | None]] = iter(())
        self._waiting: deque[str] = deque()

    def names(self, most: int | None = None) -> Names:
        """The names in the folder, at most `most`."""
        found = Names.none()
        lists = {"directory": found.folders, "file": found.files, "link": found.links, "other": found.others}
        self._told = {}
        with told_apart():
            for entry in islice(self._backend.list(self.path), most):
                if entry.stat is not None:
                    self._told[entry.name] = entry.stat
                lists[entry.kind].append(entry.name)
                if entry.name in CONTROL:
                    found.control.append(entry.name)
        return found.without_long(self.path)

    def check_readable(self) -> None:
        """Do nothing: the backend checks this when it lists."""

    def check_enterable(self) -> None:
        """Do nothing: the backend checks this when it lists."""

    def enter(self, name: str) -> BackendFolder:
        """A folder in this one; whether it is a folder is checked when its names are listed."""
        return BackendFolder(self._backend, joined(self.path, name))

    def look(self, names: list[str]) -> list[Look]:
        """Size and time of files in this folder, without names that are gone or no longer files."""
        looks = []
        if len(names) > _FEW:
            with contextlib.suppress(OSError, FsToolsError):  # Then each name is requested by itself.
                self._ask_together()
        for name in names:
            path = joined(self.path, name)
            try:
                found = self._told_of(name) or self._backend.stat(path)
            except FsToolsError:
                continue
            if found.kind == "file" and found.path == path:
                looks.append((-found.mtime_ns, path, found.size))
        return looks

    def see(self, name: str) -> Seen:
        """The kind and size of a name in this folder; a link is not followed."""
        path = joined(self.path, name)
        self._ask_together()
        found = self._told_of(name) or self._backend.stat(path)
        if found.path != path:
            return Seen("link", 0, 0)
        if found.kind == "missing":
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return Seen(found.kind, found.size, found.mtime_ns)

    def _ask_together(self) -> None:
        """Request all names of a remote backend at once."""
        if self._told is None and isinstance(self._backend, ReadsAhead):
            self.names()

    def larger(self, names: list[str], size: int) -> list[str]:
        """The files in this folder, among these, with more than `size` bytes."""
        prefix = self.path + "/" if self.path else ""
        return [path.removeprefix(prefix) for _, path, found in self.look(names) if found > size]

    def changed(self, names: list[str], moment: int) -> list[str]:
        """The files in this folder, among these, that were changed at `moment` or later, if the backend tells."""
        prefix = self.path + "/" if self.path else ""
        return [path.removeprefix(prefix) for age, path, _ in self.look(names) if -age >= moment]

    def expect(self, names: list[str], most: int, ended: Callable[[], bool]) -> None:
        """Have files fetched several at a time, where the backend can."""
        wanted = [told for name in names if (told := self._told_of(name)) is not None and told.size <= most]
        if isinstance(self._backend, ReadsAhead) and len(wanted) > 1:
            self._ahead = self._backend.read_ahead(wanted, ended)
            self._waiting = deque(one.path for one in wanted)

    def read(self, name: str, most: int) -> bytes | None:
        """A file's bytes; None if it holds more than `most`."""
        path, told = joined(self.path, name), self._told_of(name)
        if told is not None and told.size > most:
            return None
        while path in self._waiting:
            read, found = next(self._ahead)
            self._waiting.popleft()
            if read == path and found is not None:
                return found
        with self._backend.read(path) as file:
            return None if file.size > most else file.read(0, file.size)

    def has(self, name: str) -> bool:
        """Whether there is such a name."""
        try:
            return self._backend.stat(joined(self.path, name)).kind != "missing"
        except FsToolsError:
            return False

    def close(self) -> None:
        """Drop the files that were fetched ahead."""
        self._ahead = iter(())
        self._waiting.clear()

    def _told_of(self, name: str) -> FileStat | None:
        return None if self._told is None else self._told.get(name)
