"""Defines the batches of files that search engines work on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from ..backends.protocol import FileStat
from ..documents.notebook import is_notebook_name
from ..walking.names import Folder, joined
from .match_lines import Hit

EngineName = Literal["ripgrep", "python"]


class Counted(NamedTuple):
    """A file with matching lines: the path to show, its canonical path, and how many lines match."""

    shown: str
    path: str
    lines: int


class Part(NamedTuple):
    """Files of one folder to be searched.

    Attributes:
        folder: canonical path of the folder.
        names: names of the files.
        complete: they are all files in the folder whose names fit the search, except notebooks.
    """

    folder: str
    names: list[str]
    complete: bool = False

    @property
    def paths(self) -> list[str]:
        """The files' canonical paths."""
        return [joined(self.folder, name) for name in self.names]


@dataclass(slots=True)
class Batch:
    """Some of the files that a search goes through, and their results.

    Attributes:
        size: how many files there are.
        parts: files that an engine has still to search.
        named: files shown under another name, or requested as the only file: the path to show, and the file. They are
            searched even if they are large.
        notebooks: notebooks still to be searched by their cells.
        named_notebooks: notebooks of the same kind as `named`.
        found: the files with matching lines.
        skipped: how many were not searched, by reason.
    """

    size: int = 0
    parts: list[Part] = field(default_factory=list)
    named: list[tuple[str, FileStat]] = field(default_factory=list)
    notebooks: list[Part] = field(default_factory=list)
    named_notebooks: list[tuple[str, FileStat]] = field(default_factory=list)
    found: list[Counted] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def add_file(self, shown: str, file: FileStat) -> None:
        """Note a file by the path to show."""
        (self.named_notebooks if is_notebook_name(file.path) else self.named).append((shown, file))


def notebooks_among(names: list[str]) -> list[str]:
    """The names among these that are notebooks'."""
    # Most folders hold none: one search in all the names together is cheaper than a check of each.
    return [name for name in names if is_notebook_name(name)] if ".ipynb" in "/".join(names).lower() else []


class Engine(Protocol):
    """Finds out which files hold matching lines, and how many. Both engines give the same answers.

    Attributes:
        name: the engine's name.
        hits_by_python: Python's matcher finds the lines of a page; `hits` is for files on which it gives up.
    """

    name: EngineName
    hits_by_python: bool

    def take(self, folder: Folder, part: Part, batch: Batch) -> None:
        """Search files of an open folder, or note them in the batch for later."""

    def searched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches in the same order, each once it has been searched; closing the iterator ends the search."""

    def hits(self, most: dict[str, int]) -> dict[str, list[Hit]]:
        """The first hits of counted files; `most` has the number for each canonical path.

        Raises:
            RipgrepFailed
        """

    def close(self) -> None:
        """End running work, and release threads and descriptors."""
