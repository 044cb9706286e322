"""Opens folders one after another, sharing common parents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from ..backends.protocol import Backend
from ..errors import FsToolsError
from .folders import open_folder
from .names import Folder, Look, joined

_HELD_OPEN = 32


class FolderTrail:
    """Folders by their canonical paths, one after the other; what two paths share from the top is opened once.

    The folders on the way to the last one are held open, each opened relative to the one above it, without following
    links. If folders are asked for in the order of their paths, most take one step.

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
        """The folder, open until the next one is asked for. Raises as `open_folder` and `Folder.enter` do."""
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
    """Size and time of files by their canonical paths, those of one folder one after the other.

    What is gone, or no file any more, is left out.
    """
    for folder, group in _opened(backend, paths):
        yield from folder.look([path.rpartition("/")[2] for path in group])


def reachable(backend: Backend, paths: Iterable[str]) -> Iterator[str]:
    """Those of some paths, by folder, whose folder can be opened now, through no link."""
    for _, group in _opened(backend, paths):
        yield from group


def _opened(backend: Backend, paths: Iterable[str]) -> Iterator[tuple[Folder, Iterator[str]]]:
    """Each folder that can be opened, with those of the paths that are in it; it is open until the next one."""
    with FolderTrail(backend) as trail:
        for path, group in groupby(paths, lambda path: path.rpartition("/")[0]):
            try:
                folder = trail.at(path)
            except (OSError, FsToolsError):
                continue
            yield folder, group
