"""Defines an open folder and the names in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from ..backends.path_names import LONGEST_NAME, LONGEST_PATH

EXCLUDED = frozenset({".git", "node_modules", "__pycache__", ".ipynb_checkpoints"})
"""Folders that walks and listings do not enter by default."""
CONTROL = (".git", ".gitignore")
"""Names that define the ignore rules of a folder; a listing always reports them."""


class Names(NamedTuple):
    """The names in one folder, in no order, without temporary files.

    Attributes:
        folders: names of folders.
        files: names of regular files.
        links: names of links to any target.
        others: names of devices, FIFOs and sockets.
        control: all names above that are in `CONTROL`.
        too_long: names of any kind, in no other list, whose paths are too long for a caller to send.
    """

    folders: list[str]
    files: list[str]
    links: list[str]
    others: list[str]
    control: list[str]
    too_long: list[str]

    @classmethod
    def none(cls) -> Names:
        """Empty lists, to be filled."""
        return cls([], [], [], [], [], [])

    def without_long(self, folder: str) -> Names:
        """The same, with all names whose path in the folder is too long moved to `too_long`."""
        if not may_be_long(folder, LONGEST_PATH):
            return self
        long = {name for names in self for name in names if is_long(f"{folder}/{name}", LONGEST_PATH)}
        return Names._make([*([name for name in names if name not in long] for names in self[:-1]), sorted(long)])


class Seen(NamedTuple):
    """The kind and size of a name in a folder; `size` is 0 unless it is a file."""

    kind: Literal["directory", "file", "link", "other"]
    size: int
    mtime_ns: int


def may_be_long(folder: str, most_bytes: int) -> bool:
    """Whether a path in the folder can have more bytes than that; needs no encoding."""
    return 4 * (len(folder) + 1 + LONGEST_NAME) > most_bytes


def is_long(path: str, most_bytes: int) -> bool:
    """Whether a path has more bytes than that."""
    return 4 * len(path) > most_bytes and len(os.fsencode(path)) > most_bytes


Look = tuple[int, str, int]
"""Negated modification time in nanoseconds since 1970, path, size in bytes: sorted, the newest come first."""


class Folder(Protocol):
    """An open folder. Every method raises `FsToolsError` or `OSError` if the name is gone or cannot be read.

    Methods that open a file or folder raise `NoDescriptors`, too.
    """

    path: str

    def names(self, most: int | None = None) -> Names:
        """The names in the folder, at most `most`."""

    def check_readable(self) -> None:
        """Refuse a folder that nobody may read; the system would still list it for a superuser."""

    def check_enterable(self) -> None:
        """Refuse a folder that may be listed but not entered, so that its files cannot be described."""

    def enter(self, name: str) -> Folder:
        """A folder in this one; a link is refused."""

    def look(self, names: list[str]) -> list[Look]:
        """Size and time of files in this folder, without names that are gone or no longer files."""

    def see(self, name: str) -> Seen:
        """The kind and size of a name in this folder; a link is not followed."""

    def larger(self, names: list[str], size: int) -> list[str]:
        """The files in this folder, among these, with more than `size` bytes."""

    def changed(self, names: list[str], moment: int) -> list[str]:
        """The files in this folder, among these, that were changed at `moment` (nanoseconds since 1970) or later."""

    def expect(self, names: list[str], most: int, ended: Callable[[], bool]) -> None:
        """Announce the files to be read next, in this order; files with more than `most` bytes will be skipped.

        `ended` is polled while a file is waited for.
        """

    def read(self, name: str, most: int) -> bytes | None:
        """A file's bytes; None if it holds more than `most`."""

    def has(self, name: str) -> bool:
        """Whether the folder has this name."""

    def close(self) -> None:
        """Release the folder's resources."""


def joined(folder: str, name: str) -> str:
    """The path of `name` in `folder`."""
    return f"{folder}/{name}" if folder else name
