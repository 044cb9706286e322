"""Reads and writes files below one folder of this machine."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..content.source import Chunk
from ..errors import Conflict, Denied, FsToolsError, Invalid, IsDirectory
from .disk_write import Target, check_removable, write_file
from .hidden_files import PATIENCE, sweep
from .in_place import new_inode, settle
from .open_file import InMemoryCopy, Stream, file_stat, not_a_file, open_content
from .operating_system import O_NONBLOCK, Folder
from .path_names import HIDDEN_PREFIX, canonical_parts
from .protocol import Entry, FileStat, OpenFile
from .resolution import Trail, descend, descend_making, follow, unmake
from .root_folder import Root
from .system_errors import missing, refusal, refused


def _entries(folder: Folder, path: str) -> Iterator[Entry]:
    if not folder.status().st_mode & 0o444:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    prefix, hidden = f"{path}/" if path else "", list[str]()
    with folder.entries() as found:
        for item in found:
            name = item.name
            if name.startswith(HIDDEN_PREFIX):
                hidden.append(name)
                continue
            if item.is_file(follow_symlinks=False):
                yield Entry(prefix + name, name, "file")
            elif item.is_symlink():
                yield Entry(prefix + name, name, "link")
            elif item.is_dir(follow_symlinks=False):
                yield Entry(prefix + name, name, "directory")
            else:
                yield Entry(prefix + name, name, "other")
    sweep(folder, hidden)


class LocalDisk:
    """A folder of this machine as a `Backend`.

    Args:
        root: the folder; it must be there.
        durable: return from a write only once it is on the disk (fsync of file and folder).
        openat: open below descriptors if True (safe against folders swapped for links), else check joined paths;
            None: use descriptors if the system supports it.
        case_insensitive: whether names that differ only in case are one file; None: detect it in the root.

    Raises:
        NotFound, NotADirectory: the root is not there, or is a file.
        Denied, InputOutput: the system does not let us open it.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        durable: bool = True,
        openat: bool | None = None,
        case_insensitive: bool | None = None,
    ) -> None:
        try:
            self._root = Root(os.fspath(root), openat=openat, case_insensitive=case_insensitive)
        except OSError as error:
            raise refusal(error, "root") from error
        self._durable = durable

    @classmethod
    def from_setting(cls, where: str, *, durable: bool) -> LocalDisk:
        """The folder of a `file:` address.

        Raises:
            Invalid: the address names another machine, lacks an absolute path, or has a query or fragment.
        """
        from urllib.request import url2pathname

        host, slash, path = where.partition("://")[2].partition("/")
        if "?" in path or "#" in path:
            raise Invalid(
                f"root: {where!r} has a query or a fragment",
                hint="Write %3F for a question mark, %23 for a number sign.",
            )
        folder = url2pathname(slash + path)
        if host not in ("", "localhost") or not slash or "\0" in folder:
            raise Invalid(f"root: {where!r} names no folder on this machine", hint="Takes file:///absolute/path.")
        return cls(folder, durable=durable)

    @property
    def root(self) -> Path:
        """The root's real path."""
        return Path(self._root.path)

    @property
    def root_key(self) -> str:
        """The root's real path in the form that begins every key; "" for the top of the disk."""
        return self._root.key

    def close(self) -> None:
        """Release the root. New calls fail; calls in progress stay in the same folder."""
        self._root.close()

    def stat(self, path: str) -> FileStat:
        """Look at a path as a caller spells it; see `Backend.stat`."""
        with Trail(self._root) as trail:
            try:
                return self._looked_at(trail, path)
            except FsToolsError as fault:
                # The gate checks these places against the deny rules before it shows the refusal.
                fault.places = (*trail.places, *(["/".join(trail.names)] if trail.names else []))
                raise

    def _looked_at(self, trail: Trail, path: str) -> FileStat:
        try:
            names, status, name = follow(self._root, trail, path)
            if name is not None:
                with contextlib.suppress(TimeoutError):
                    if settle(trail.folder, name, status, patience=0):
                        status = trail.folder.look(name)
        except OSError as error:
            raise refusal(error, "this path" if os.path.isabs(path) else path) from error
        return file_stat(self._root.key, "/".join(names), status)

    @contextlib.contextmanager
    def opened_folder(self, path: str) -> Iterator[Folder]:
        """A folder held open, to start programs in: a rename or a link cannot redirect its `dir_fd`.

        Raises:
            NotFound, NotADirectory, Denied, Conflict
        """
        names = canonical_parts(path)
        with Trail(self._root) as trail:
            try:
                descend(trail, names, path)
                folder = trail.folder
            except OSError as error:
                raise refusal(error, path) from error
            yield folder

    def list(self, path: str) -> Iterator[Entry]:
        """The names in one folder; see `Backend.list`."""
        with self.opened_folder(path) as folder:
            try:
                yield from _entries(folder, path)
            except OSError as error:
                raise refusal(error, path) from error

    @contextlib.contextmanager
    def read(self, path: str) -> Iterator[OpenFile]:
        """Open a file's bytes; see `Backend.read`. A file without any read permission is `Denied`, also for root."""
        try:
            with Trail(self._root) as trail:
                content = self._open(trail, path)
        except OSError as error:
            raise refusal(error, path) from error
        try:
            yield content
        finally:
            content.close()

    def write(self, path: str, chunks: Iterable[Chunk], *, if_match: str | None) -> FileStat:
        """Replace a file's bytes at once; see `Backend.write`. Identical bytes are not written again."""
        names = canonical_parts(path)
        with Trail(self._root) as trail:
            made = 0
            try:
                name = _last(names, path)
                if if_match is None:
                    made = descend_making(trail, names[:-1], path, durable=self._durable)
                    status = trail.folder.look(name)
                else:
                    descend(trail, names[:-1], path, writing=True)
                    status = _settled(trail.folder, name, path)
                target = Target(trail.folder, name, path, self._durable, trail.confirm)
                return file_stat(self._root.key, path, write_file(target, status, chunks, if_match=if_match))
            except BaseException as error:
                unmake(trail, made)
                if isinstance(error, OSError):
                    raise refusal(error, path, writing=True) from error
                raise

    def delete(self, path: str, *, if_match: str) -> None:
        """Remove a file; see `Backend.delete`."""
        names = canonical_parts(path)
        try:
            with Trail(self._root) as trail:
                name = _last(names, path)
                descend(trail, names[:-1], path, writing=True)
                status = _settled(trail.folder, name, path)
                target = Target(trail.folder, name, path, self._durable, trail.confirm)
                if status is None:
                    raise missing(path, writing=True)
                check_removable(target, status, if_match)
                trail.confirm(path)
                trail.folder.remove(name)
                if self._durable:
                    trail.folder.sync()
        except OSError as error:
            raise refusal(error, path, writing=True) from error

    def _open(self, trail: Trail, path: str) -> InMemoryCopy | Stream:
        names = canonical_parts(path)
        name = _last(names, path)
        descend(trail, names[:-1], path)
        folder = trail.folder
        for _ in range(3):
            status = _settled(folder, name, path)
            if status is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            _check_readable(status, path)
            writer = new_inode(folder, status)
            fd = folder.open(name, os.O_RDONLY | O_NONBLOCK)
            try:
                folder.confirm()
                status = os.fstat(fd)
                _check_readable(status, path)
                content = open_content(fd, status, self._root.key, path)
                if new_inode(folder, status) == writer:
                    return content
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)  # A write in place began during the read; try again.
        raise _busy(path)


def _last(names: list[str], path: str) -> str:
    if not names:
        raise refused(IsDirectory, path, "it is the root folder", hint="Name a file in it.")
    return names[-1]


def _settled(folder: Folder, name: str, path: str) -> os.stat_result | None:
    status = folder.look(name)
    try:
        return folder.look(name) if settle(folder, name, status, patience=PATIENCE) else status
    except TimeoutError:
        raise _busy(path) from None


def _busy(path: str) -> FsToolsError:
    return refused(Conflict, path, "another program is writing it", hint="Try again.")


def _check_readable(status: os.stat_result, path: str) -> None:
    if fault := not_a_file(status, path):
        raise fault
    if not status.st_mode & 0o444:
        raise refused(Denied, path, "it has no read permission", hint="Check its permissions.")
