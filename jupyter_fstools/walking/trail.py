"""Opens folders one after another, sharing common parents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from ..backends.protocol import Backend
from ..errors import FsToolsError
from .folders import open_folder
from .names import Folder, Look, joined

_HELD_OPEN = 32
_T = TypeVar("_T")


class FolderTrail:
    """Opens folders by their canonical paths, one after another; common parents are opened once.

    The folders on the way to the last one are held open, each opened relative to the one above it, without following
    links. If folders are requested in the order of their paths, most take one step.

    Args:
        backend: where they are.
        start: canonical path of a folder around all of them.
    """

    def __init__(self, backend: Backend, start: str = "") -> None:
        self._backend = backend
        self._start = start
        self._held: list[Folder] = []

    def __enter__(self) -> FolderTrail:
        return self

    def __exit__(self, *_: object) -> None:
        while self._held:
            self._held.pop().close()

    def at(self, path: str) -> Folder:
        """The folder, open until the next one is requested. Raises as `open_folder` and `Folder.enter` do."""
        held, wanted = self._held, joined(path, "")
        while held and not wanted.startswith(joined(held[-1].path, "")):
            held.pop().close()
        if not held:
            held.append(open_folder(self._backend, self._start))
        for name in wanted[len(joined(held[-1].path, "")) :].split("/")[:-1]:
            held.append(held[-1].enter(name))
            if len(held) > _HELD_OPEN:
                held.pop(0).close()
        return held[-1]


def look_at(backend: Backend, paths: Iterable[str]) -> Iterator[Look]:
    """Size and time of files by their canonical paths; files of one folder should be consecutive.

    Paths that are gone, or no longer files, are left out.
    """
    for folder, group in opened_folders(backend, _by_folder(paths)):
        yield from folder.look([path.rpartition("/")[2] for path in group])


def reachable(backend: Backend, paths: Iterable[str]) -> Iterator[str]:
    """The paths, grouped by folder, whose folder can be opened now without following links."""
    for _, group in opened_folders(backend, _by_folder(paths)):
        yield from group


def _by_folder(paths: Iterable[str]) -> Iterator[tuple[str, Iterator[str]]]:
    return groupby(paths, lambda path: path.rpartition("/")[0])


def opened_folders(backend: Backend, folders: Iterable[tuple[str, _T]]) -> Iterator[tuple[Folder, _T]]:
    """Each folder that can be opened, with what belongs to its path; it stays open until the next one.

    A folder that has gone since its path was found is left out.
    """
    with FolderTrail(backend) as trail:
        for path, told in folders:
            try:
                folder = trail.at(path)
            except (OSError, FsToolsError):
                continue
            yield folder, told
