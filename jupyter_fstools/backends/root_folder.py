"""Holds the root folder and finds a path's parts below it."""

from __future__ import annotations

import os

from ..errors import Invalid, NotADirectory, NotFound
from .operating_system import HAS_OPENAT, Folder, open_folder
from .path_names import check_names, folded, leads_out, parts_of


class Root:
    """The folder that no path leads out of.

    Args:
        path: the folder; may contain links.
        openat: open below descriptors if True, else check joined paths; None: descriptors if the system supports it.
        case_insensitive: whether names that differ only in case are one file; None: detect it.
    """

    def __init__(self, path: str, *, openat: bool | None, case_insensitive: bool | None) -> None:
        given, real = os.path.abspath(path), os.path.realpath(path)
        self._openat = HAS_OPENAT if openat is None else openat
        try:
            folder = open_folder(real, openat=self._openat)
            self._opened: tuple[Folder, os.stat_result] | None = (folder, folder.status())
        except NotADirectoryError:
            raise NotADirectory(f"The root is a file: {given}", hint="Set the root to a folder.") from None
        except FileNotFoundError:
            raise NotFound(f"The root does not exist: {given}", hint="Make the folder, or set another root.") from None
        self.path = real
        self.key = real.replace(os.sep, "/").rstrip("/")
        self.is_top = os.path.dirname(real) == real
        self._spellings = [[part for part in parts_of(real) if part]]
        if given != real and os.path.samefile(given, real):
            self._spellings.append([part for part in parts_of(given) if part])
        self._case_insensitive = _ignores_case(folder) if case_insensitive is None else case_insensitive

    def current(self) -> Folder:
        """The folder that is now at the root's path; one that was moved away is no longer used.

        Raises:
            NotFound, NotADirectory: the path no longer leads to a folder.
            Invalid: the root was closed.
        """
        if (opened := self._opened) is None:
            raise Invalid("These files were closed.", hint="Open the workspace again.")
        folder, known = opened
        try:
            status = os.stat(self.path, follow_symlinks=False)
            if status.st_ino == known.st_ino and status.st_dev == known.st_dev:
                return folder
            now = open_folder(self.path, openat=self._openat)
        except FileNotFoundError:
            raise NotFound("The root no longer exists.", hint="Ask the person to make it again.") from None
        except NotADirectoryError:
            raise NotADirectory("The root is no longer a folder.", hint="Ask the person to look at it.") from None
        self._opened = now, now.status()
        return now

    def close(self) -> None:
        """Release the folder; calls in progress keep it open, so that its descriptor is not reused under them."""
        self._opened = None

    def parts(self, path: str) -> list[str]:
        """The parts of a path below the root, given relative or absolute.

        Raises:
            OutsideRoot, Invalid, Denied
        """
        parts = parts_of(path)
        if not parts[0] or ":" in path:  # Only such paths can be absolute, on any system.
            if os.path.isabs(path):
                parts = self._inside(path, parts)
            elif os.path.splitdrive(path)[0]:
                raise leads_out(path)
        check_names(parts)
        return parts

    def spelling(self, folder: Folder, name: str) -> str:
        """The name in the disk's own spelling, if the disk ignores case."""
        if not self._case_insensitive:
            return name
        wanted, other = folded(name), name
        try:
            with folder.entries() as entries:
                for entry in entries:
                    if entry.name == name:
                        return name
                    if folded(entry.name) == wanted:
                        other = entry.name
        except PermissionError:
            return name
        return other

    def _inside(self, path: str, parts: list[str]) -> list[str]:
        for spelling in self._spellings:
            rest = list(reversed(parts))
            for name in spelling:
                while rest and rest[-1] in ("", "."):
                    rest.pop()
                if not rest or not self._same(rest.pop(), name):
                    break
            else:
                return rest[::-1]
        raise leads_out(path)

    def _same(self, one: str, other: str) -> bool:
        return one == other or (self._case_insensitive and folded(one) == folded(other))


def _ignores_case(folder: Folder) -> bool:
    swapped = ""
    try:
        with folder.entries() as entries:
            name = next((entry.name for entry in entries if entry.name.swapcase() != entry.name), "")
            swapped = name.swapcase()
        mine, other = (folder.look(name), folder.look(swapped)) if name else (None, None)
        if mine is None or other is None or not os.path.samestat(mine, other):
            return False
        with folder.entries() as entries:
            return all(entry.name != swapped for entry in entries)
    except OSError:
        return False
