"""What is told of the names in a folder, and the names that mean something wherever they are."""

from __future__ import annotations

from typing import Literal, NamedTuple

EXCLUDED = frozenset({".git", "node_modules", "__pycache__", ".ipynb_checkpoints"})
"""Folders that nobody enters who was not asked to."""
CONTROL = (".git", ".gitignore")
"""Names that say which rules hold in a folder; a walk hears of them whatever it asks for."""


class Names(NamedTuple):
    """What is in one folder, in no order, without temporary files.

    Attributes:
        folders: names of folders.
        files: names of regular files.
        links: names of links, wherever they lead.
        others: names of devices, FIFOs and sockets.
        control: those of all these that are in `CONTROL`.
    """

    folders: list[str]
    files: list[str]
    links: list[str]
    others: list[str]
    control: list[str]


class Seen(NamedTuple):
    """What a name in a folder is; `size` is 0 unless it is a file."""

    kind: Literal["directory", "file", "link", "other"]
    size: int
    mtime_ns: int
