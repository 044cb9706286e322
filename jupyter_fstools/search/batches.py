"""Files on their way from the walk to an engine: as many as one run of ripgrep is worth, then forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from ..backends.protocol import FileStat
from .folders import Folder, joined
from .match_lines import Hit

EngineName = Literal["ripgrep", "python"]


class Counted(NamedTuple):
    """A file with matching lines: the path to show, its canonical path, and how many lines match."""

    shown: str
    path: str
    lines: int


class Part(NamedTuple):
    """Files of one folder to be searched; `left_out` is how many others of it are not."""

    folder: str
    names: list[str]
    left_out: int

    @property
    def paths(self) -> list[str]:
        """The files' canonical paths."""
        return [joined(self.folder, name) for name in self.names]


@dataclass(slots=True)
class Batch:
    """Some of the files that a search goes through, and what became of them.

    Attributes:
        size: how many files there are.
        length: bytes that the folders in `parts` take on a command line, about.
        parts: files that an engine has still to search.
        named: files to be searched under another name, or because they alone were asked for: the path to show, and
            the file.
        whatever_size: search `named` even if they are large.
        found: those that turned out to hold matching lines.
        skipped: how many were not searched, by reason.
    """

    size: int = 0
    length: int = 0
    parts: list[Part] = field(default_factory=list)
    named: list[tuple[str, FileStat]] = field(default_factory=list)
    whatever_size: bool = False
    found: list[Counted] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, part: Part) -> None:
        """Note files for an engine."""
        self.parts.append(part)
        self.length += len(part.folder) + 12


class Engine(Protocol):
    """Finds out which files hold matching lines, and how many. Both engines give the same answers.

    Attributes:
        name: which engine it was.
        hits_by_python: the lines of a page are to be found by Python's matcher, and `hits` is for what that gives up.
    """

    name: EngineName
    hits_by_python: bool

    def take(self, folder: Folder, part: Part, batch: Batch) -> None:
        """Search files of an open folder, or note them in the batch for later."""

    def searched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches in the same order, each when it has been searched; whoever ends it early ends the search."""

    def hits(self, most: dict[str, int]) -> dict[str, list[Hit]]:
        """The first hits of files that have been counted, as many as asked for by canonical path.

        Raises:
            RipgrepFailed
        """

    def close(self) -> None:
        """End what still runs, and give back what is held."""
