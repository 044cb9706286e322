"""Lists the visible names of a folder, or of a tree."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..backends.protocol import Backend, FileStat
from ..backends.system_errors import refusal
from ..errors import Denied, FsToolsError, InputOutput
from .names import EXCLUDED, Folder, Names, Seen, joined
from .stopping import refusing_too_many_open
from .trail import FolderTrail


class Visible:
    """Decides which paths a caller is shown; this base class allows all of them."""

    def may_read(self, path: str) -> bool:
        """Whether a canonical path may be shown."""
        return True

    def all_allowed(self, folder: str, names: list[str]) -> bool:
        """A fast check of many names in a readable canonical folder; if it fails, check each with `may_read`."""
        return True


EVERYTHING = Visible()


def permitted(folder: str, names: list[str], visible: Visible) -> list[str]:
    """The names in a folder, among these, that may be shown; the list itself if all of them may."""
    if not names or visible.all_allowed(folder, names):
        return names
    return [name for name in names if visible.may_read(joined(folder, name))]


def link_target(backend: Backend, path: str, visible: Visible) -> FileStat | None:
    """The target of a link (by its canonical path); None unless it exists, in the root, and may be shown."""
    try:
        target = backend.stat(path)
    except FsToolsError:
        return None
    return target if target.kind != "missing" and visible.may_read(target.path) else None


class Run(NamedTuple):
    """Names in a folder (by its canonical path) that are consecutive in a listing; may be empty."""

    folder: str
    names: list[str]


class _Level(NamedTuple):
    """The entries of one folder that are still to be listed: folders, last first, then the rest."""

    path: str
    folders: list[str]
    rest: list[str]


@refusing_too_many_open()
def names_in(backend: Backend, path: str, visible: Visible, *, most: int | None = None, beginning: str = "") -> Names:
    """The names in one readable folder, by its canonical path, that may be shown; with links to any target.

    With `most`, only that many names are looked at, in no order; with `beginning`, only those that begin so are kept.

    Raises:
        NotFound, NotADirectory, Denied, Conflict
        InputOutput: too many files are open.
    """
    try:
        with FolderTrail(backend, path) as trail:
            return _permitted_names(trail.at(path), visible, most, beginning)
    except OSError as error:
        raise refusal(error, path) from error


class Listing:
    """The names in a folder in order: folders first, then by name; a folder's contents follow it.

    Links are listed among the files, if they lead to something that may be shown; none is entered. Memory holds only
    the names that are still to be listed in the folders on the way down.

    Args:
        backend: where the files are.
        path: canonical path of a folder that may be read.
        recursive: list subfolders as well, except folders of other programs (`EXCLUDED`).
        visible: decides which paths are shown.
        ended: polled before a folder is entered and before a link is followed; once true, the listing ends.

    Attributes:
        not_entered: paths of folders of other programs, so far.
        unreadable: paths of folders that the system did not let us look into, and paths that are too long, so far.
    """

    def __init__(
        self,
        backend: Backend,
        path: str,
        *,
        recursive: bool,
        visible: Visible = EVERYTHING,
        ended: Callable[[], bool] | None = None,
    ) -> None:
        self.not_entered: list[str] = []
        self.unreadable: list[str] = []
        self._backend = backend
        self._path = path
        self._recursive = recursive
        self._visible = visible
        self._ended = ended

    def __iter__(self) -> Iterator[Run]:
        """All names, in runs; iterate once.

        Raises:
            NotFound, NotADirectory, Denied, Conflict: for the folder itself.
            InputOutput: too many files are open, now or further down.
        """
        start = self._level(self._path, names_in(self._backend, self._path, self._visible))
        if not self._recursive:
            yield Run(self._path, start.folders[::-1])
            yield Run(self._path, start.rest)
            return
        with refusing_too_many_open():
            yield from self._below(start)

    def _below(self, start: _Level) -> Iterator[Run]:
        waiting = [start]
        with FolderTrail(self._backend, self._path) as trail:
            while waiting:
                path, folders, rest = waiting[-1]
                if self._is_over():
                    return
                if not folders:
                    waiting.pop()
                    yield Run(path, rest)
                    continue
                name = folders.pop()
                yield Run(path, [name])
                if name in EXCLUDED:
                    self.not_entered.append(joined(path, name))
                else:
                    waiting += self._entered(trail, joined(path, name))

    def _entered(self, trail: FolderTrail, path: str) -> list[_Level]:
        """The level of a folder; none where it cannot be read, or is gone by now."""
        try:
            found = _permitted_names(trail.at(path), self._visible)
        except (OSError, FsToolsError) as error:
            fault = refusal(error, path) if isinstance(error, OSError) else error
            if isinstance(fault, Denied | InputOutput):
                self.unreadable.append(path)
            return []
        return [self._level(path, found)]

    def _level(self, path: str, names: Names) -> _Level:
        self.unreadable += [joined(path, name) for name in names.too_long]
        links = [name for name in names.links if not self._is_over() and self._is_seen(joined(path, name))]
        return _Level(path, sorted(names.folders, reverse=True), sorted([*names.files, *links, *names.others]))

    def _is_over(self) -> bool:
        return self._ended is not None and self._ended()

    def _is_seen(self, link: str) -> bool:
        return link_target(self._backend, link, self._visible) is not None


def _permitted_names(folder: Folder, visible: Visible, most: int | None = None, beginning: str = "") -> Names:
    folder.check_readable()
    kept = folder.names(most)
    if beginning:
        kept = Names(*([name for name in names if name.startswith(beginning)] for names in kept))
    return Names(*(permitted(folder.path, names, visible) for names in kept))


def seen_in(backend: Backend, path: str, runs: Iterable[Run]) -> Iterator[tuple[str, Seen]]:
    """The paths in runs of a listing of the folder `path`, each with its kind; without names that are gone by now.

    Raises:
        InputOutput: too many files are open.
    """
    with refusing_too_many_open(), FolderTrail(backend, path) as trail:
        for folder, names in runs:
            for name in names:
                with contextlib.suppress(OSError, FsToolsError):
                    yield joined(folder, name), trail.at(folder).see(name)
