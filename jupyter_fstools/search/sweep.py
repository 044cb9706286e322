"""One run of ripgrep over a whole folder: how many lines of each text file match, wherever ripgrep itself walks."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from .file_types import globs_of_type
from .patterns import GlobPattern
from .text_query import TextQuery
from .walk import EXCLUDED

_PLAIN_GLOB = re.compile(r"[\w.*?-]+", re.ASCII)
"""Names that mean the same to ripgrep as to us."""
_SEARCHED = re.compile(r"\n(\d+) files searched\n")
_WALK = ("--no-require-git", "--no-ignore-dot", "--no-ignore-global")


class Area(NamedTuple):
    """What a walk is about to go through, as ripgrep can be told.

    Ripgrep may understand it a little differently, so the walk decides: what ripgrep searched besides does not count,
    and what it did not search is searched afterwards.

    Attributes:
        folder: canonical path of the folder to begin with.
        names: a file's name fits one of these globs; None: any name.
        left_out: names of folders that are passed over.
        include_hidden: names that begin with a dot as well.
        include_ignored: what ignore files leave out as well.
    """

    folder: str
    names: list[str] | None
    left_out: list[str]
    include_hidden: bool
    include_ignored: bool

    def options(self) -> list[str]:
        """The same in ripgrep's words. Notebooks are searched by cells, not by ripgrep."""
        rules = ["--no-ignore"] if self.include_ignored else [*_WALK]
        rules += [] if self.folder or self.include_ignored else ["--no-ignore-parent"]
        hidden = ["--hidden"] if self.include_hidden else []
        # A positive --glob would bring ignored files back; a type only narrows.
        types = [f"--type-add=wanted:{glob}" for glob in self.names or []]
        types += ["--type=wanted"] if types else []
        return [*rules, *hidden, *types, "--iglob=!*.ipynb", *(f"--glob=!{name}" for name in self.left_out)]


def area_of(query: TextQuery, pattern: GlobPattern, base: str) -> Area | None:
    """The area of a search below `base` for files that fit `pattern`; None where ripgrep could not be told enough."""
    last = pattern.last_names
    globs: list[str] | None = None
    if query.file_type is not None:
        globs = globs_of_type(query.file_type)
    elif "**" not in last:
        globs = sorted(filter(_PLAIN_GLOB.fullmatch, last))
        if not globs:
            return None
    excluded = set() if query.include_ignored else EXCLUDED - pattern.literals
    folder = "/".join(filter(None, [base, *pattern.prefix]))
    return Area(folder, globs, sorted(excluded), query.include_hidden, query.include_ignored)


class Swept:
    """What ripgrep said of an area: a record for each text file, and how many files it looked into.

    Attributes:
        counts: matching lines by canonical path, for files that have some.
        texts: every text file.
        searched: how many files it looked into, binary ones too; None if it did not come to the end.
    """

    def __init__(self, printed: bytes, folder: str) -> None:
        # Between two NULs stand the number of one file and, after a line feed, the path of the next one.
        first, *parts = os.fsdecode(printed).split("\0")
        said = _SEARCHED.search(parts[-1]) if parts else _SEARCHED.search(first)
        self.searched = int(said[1]) if said else None
        if parts and "\n" not in parts[-1]:
            parts[-1:] = []  # It was ended in the middle of this one.
        paths = ["\n" + first, *(part[part.index("\n") :] for part in parts)]
        start = len("\n./")
        prefix = folder and folder + "/"
        records = [(prefix + path[start:], part) for path, part in zip(paths, parts, strict=False)]
        self.texts = {path for path, _ in records}
        self.counts = {path: int(part[: part.index("\n")]) for path, part in records if part[:2] != "0\n"}
