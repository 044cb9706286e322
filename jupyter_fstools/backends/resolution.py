"""Opens a path component by component, never leaving the root."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from ..errors import Conflict, FsToolsError, Invalid, NotFound
from .operating_system import Folder, is_link
from .path_names import leads_out, parts_of
from .root_folder import Root
from .system_errors import file_instead, refused

MOST_LINKS = 40
_HELD_OPEN = 32
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class Found(NamedTuple):
    """Where a caller's path leads.

    Attributes:
        names: the canonical path.
        status: the status of the target; None if it does not exist.
        name: the last name, inside the trail's current folder; None if that folder is the target itself, or if more
            than the last name is missing.
    """

    names: list[str]
    status: os.stat_result | None
    name: str | None


class Trail:
    """A walk down from the root: its names so far, and the last folders on it (at most `most`) held open.

    `places` are the canonical paths of the links that it followed and of a file that blocked it.
    """

    __slots__ = ("_below", "_held", "_most", "_root", "names", "places")

    def __init__(self, root: Root, most: int = _HELD_OPEN) -> None:
        self._below = root
        self._root = root.current()
        self._held: list[Folder] = []
        self._most = most
        self.names: list[str] = []
        self.places: list[str] = []

    def __enter__(self) -> Trail:
        return self

    def __exit__(self, *_: object) -> None:
        for folder in self._held:
            folder.close()
        self._held.clear()

    @property
    def folder(self) -> Folder:
        """The current folder. Raises `OSError` if an upper folder that was closed no longer exists."""
        if not self.names:
            return self._root
        if not self._held:
            names, self.names = self.names, []
            try:
                for name in names:
                    self.enter(name)
            except BaseException:
                self.__exit__()
                self.names = names
                raise
        return self._held[-1]

    def enter(self, name: str) -> None:
        """Go one step down; raise `NotADirectoryError` if the name is a file or a link."""
        self._held.append(self.folder.enter(name))
        self.names.append(name)
        if len(self._held) > self._most:
            self._held.pop(0).close()

    def up(self) -> None:
        """Go one step up, to the folder that the trail came from."""
        self.names.pop()
        if self._held:
            self._held.pop().close()

    def back_to_root(self) -> None:
        """Go up as far as the trail came."""
        while self.names:
            self.up()

    def confirm(self, path: str) -> None:
        """Refuse a change if the same names now lead to another folder: it would be made in the one that was moved.

        Raises:
            NotFound, NotADirectory, Conflict
        """
        folder = self.folder
        folder.confirm()
        with Trail(self._below, most=1) as again:
            descend(again, self.names, path, writing=True)
            if not os.path.samestat(again.folder.status(), folder.status()):
                hint = "Look at the path again."
                raise refused(Conflict, path, "its folder was moved meanwhile", hint=hint, writing=True)


def follow(root: Root, trail: Trail, path: str) -> Found:
    """Where a caller's path leads; links are followed while they stay inside.

    Raises:
        OutsideRoot, NotADirectory, Invalid, Denied, OSError
    """
    pending, links = root.parts(path)[::-1], 0
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part == "..":
            _step_up(root, trail, path)
            continue
        name = root.spelling(trail.folder, part)
        if pending and _entered(trail, name):
            continue
        status = trail.folder.look(name)
        if status is None:
            return _missing(root, trail, name, pending, path)
        if is_link(status):
            trail.places.append("/".join([*trail.names, name]))
            links += 1
            if links > MOST_LINKS:
                raise Invalid(f"'{path}' is a loop of links.", hint="Name the file itself.")
            pending += reversed(_target(root, trail, name, path))
        elif not pending:
            return Found([*trail.names, name], status, name)
        elif stat.S_ISDIR(status.st_mode):
            trail.enter(name)
        else:
            trail.places.append("/".join([*trail.names, name]))
            raise file_instead(path, name)
    return Found(list(trail.names), trail.folder.status(), None)


def descend(trail: Trail, names: Iterable[str], path: str, *, writing: bool = False) -> None:
    """Go down a canonical path, through folders only.

    Raises:
        NotFound, NotADirectory: a part of it does not exist, or is a file.
        Conflict: a part of it has become a link.
    """
    for name in names:
        if not _entered(trail, name):
            raise _blocked(trail, name, path, writing=writing)


def descend_making(trail: Trail, names: Iterable[str], path: str, *, durable: bool) -> int:
    """Go down a canonical path, making missing folders; return how many `unmake` may remove. An error leaves none.

    Raises:
        NotADirectory, Conflict
    """
    made = 0
    try:
        for name in names:
            if not _entered(trail, name):
                made = made + 1 if _made(trail, name, path, durable=durable) else 0
    except BaseException:
        unmake(trail, made)
        raise
    return made


def unmake(trail: Trail, made: int) -> None:
    """Remove the folders that a failed write made, unless somebody else already uses them."""
    with contextlib.suppress(OSError):
        for _ in range(made):
            name = trail.names[-1]
            trail.up()
            trail.folder.unmake(name)


def _made(trail: Trail, name: str, path: str, *, durable: bool) -> bool:
    """Make a folder and enter it; False if somebody else made it first."""
    folder, ours = trail.folder, True
    if folder.look(name) is not None:
        raise _blocked(trail, name, path, writing=True)
    try:
        folder.make(name)
    except FileExistsError:
        ours = False
    try:
        if durable:
            folder.sync()
        descend(trail, [name], path, writing=True)
    except BaseException:
        if ours:
            with contextlib.suppress(OSError):
                folder.unmake(name)
        raise
    return ours


def _entered(trail: Trail, name: str) -> bool:
    """Go one step down; False if the name does not exist or is not a folder."""
    try:
        trail.enter(name)
    except OSError as error:
        if error.errno not in _NO_FOLDER:
            raise
        return False
    return True


def _blocked(trail: Trail, name: str, path: str, *, writing: bool) -> FsToolsError:
    status = trail.folder.look(name)
    if status is None:
        reason, hint = f"'{name}' does not exist", "List the folder above it."
        return refused(NotFound, path, reason, hint=hint, writing=writing)
    if not is_link(status) and not stat.S_ISDIR(status.st_mode):
        return file_instead(path, name, writing=writing)
    reason = f"'{name}' has become a link meanwhile"
    return refused(Conflict, path, reason, hint="Look at the path again.", writing=writing)


def _step_up(root: Root, trail: Trail, path: str) -> None:
    if trail.names:
        trail.up()
    elif not root.is_top:
        raise leads_out(path)


def _target(root: Root, trail: Trail, name: str, path: str) -> list[str]:
    try:
        target = trail.folder.readlink(name)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return [name]  # It is no longer a link: look again.
        raise
    if not os.path.isabs(target):
        return parts_of(target)
    trail.back_to_root()
    try:
        return root.parts(target)
    except FsToolsError:
        raise leads_out(path) from None


def _missing(root: Root, trail: Trail, name: str, pending: list[str], path: str) -> Found:
    depth, rest, stepped = len(trail.names) + 1, [name], False
    for part in reversed(pending):
        if part == "..":
            depth, stepped = depth - 1, True
            if depth < 0 and not root.is_top:
                raise leads_out(path)
        elif part not in ("", "."):
            depth += 1
            rest.append(part)
    if stepped:
        raise Invalid(f"'{path}' steps up from a folder that does not exist.", hint="Leave the '..' out.")
    return Found([*trail.names, *rest], None, None if len(rest) > 1 else name)
