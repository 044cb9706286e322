"""Describes names in a folder, and names of special meaning."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from ..backends.path_names import LONGEST_NAME, LONGEST_PATH

EXCLUDED = frozenset({".git", "node_modules", "__pycache__", ".ipynb_checkpoints"})
"""Folders that nobody enters who was not asked to."""
CONTROL = (".git", ".gitignore")
"""Names that say which rules hold in a folder; a walk hears of them whatever it asks for."""


class Names(NamedTuple):
    """The names in one folder, in no order, without temporary files.

    Attributes:
        folders: names of folders.
        files: names of regular files.
        links: names of links, wherever they lead.
        others: names of devices, FIFOs and sockets.
        control: those of all these that are in `CONTROL`.
        too_long: names of any kind, in none of the others, whose paths nobody could give back to us.
    """

    folders: list[str]
    files: list[str]
    links: list[str]
    others: list[str]
    control: list[str]
    too_long: list[str]

    @classmethod
    def none(cls) -> Names:
        """Lists to be filled."""
        return cls([], [], [], [], [], [])

    def without_long(self, folder: str) -> Names:
        """The same with all names where they belong that would make the path of the folder too long."""
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
    """Whether a path in that folder can be, told without encoding any."""
    return 4 * (len(folder) + 1 + LONGEST_NAME) > most_bytes


def is_long(path: str, most_bytes: int) -> bool:
    """Whether it holds more bytes than that."""
    return 4 * len(path) > most_bytes and len(os.fsencode(path)) > most_bytes
