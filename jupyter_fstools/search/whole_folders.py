"""Searching whole folders with ripgrep, in which a rule on names tells it which files: what it reads tells the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from ..backends.path_names import HIDDEN_PREFIX
from .batches import Part
from .file_types import globs_of_type
from .patterns import GlobPattern
from .ripgrep_debug import NOTEBOOKS
from .ripgrep_process import Ripgrep, counts_of, listed
from .text_query import TextQuery

_MOST_GLOBS = 100
_SAFE_NAME = re.compile(r"[\w.+@*-]+", re.ASCII)
"""What every dialect reads alike."""
_SAFE_ENDING = re.compile(r"[\w.+@-]+\Z", re.ASCII)
_STATS = re.compile(rb"\n(?P<files>\d+) files searched\n(?:.*\n)*?(?P<bytes>\d+) bytes searched\n")
_ALL_IN_FOLDER = ("--no-ignore", "--hidden", "--max-depth=1", "--threads=1")
_NUL = r"\x00"


class Found(NamedTuple):
    """Matching lines by path, and how many files are binary."""

    lines: dict[str, int]
    binary: int


class WholeFolders:
    """Counts matching lines in folders of which all files are searched whose names fit.

    To ripgrep that is less work than files given by name, whose whole paths it follows three times; and it looks for a
    NUL as it reads, and leaves the file there. Where it has read as many files and bytes as there are, it has left
    none; else it is asked which files hold one. A byte order mark, which it does not count, is no more than a reason to
    ask.

    Args:
        rules: options by which ripgrep chooses names: those that fit, and maybe more.
        tells_unwanted: by them it passes over what a glob with `!` keeps out.
    """

    def __init__(self, rules: list[str], *, tells_unwanted: bool) -> None:
        self._options = [*_ALL_IN_FOLDER, *rules]
        self.tells_unwanted = tells_unwanted

    def count(
        self, ripgrep: Ripgrep, pattern: list[str], parts: list[Part], *, over_lines: bool = False
    ) -> Found | None:
        """Search all the files of some folders, each of its `size`; None if they have to be given by name.

        Args:
            ripgrep: the program.
            pattern: what to look for, in ripgrep's words.
            parts: the folders, `is_all` of each.
            over_lines: a match may go over lines. Then the numbers are of something else, and ripgrep looks for a NUL
                in a part of a file alone.

        Raises:
            RipgrepFailed, Stopped
        """
        folders = [part.folder for part in parts]
        printed, _, code = ripgrep.ended([*self._options, "--count", "--stats", *pattern], folders)
        lines, left = counts_of(printed)
        stats = _STATS.search(left)
        files, size = sum(len(part.names) for part in parts), sum(part.size for part in parts)
        if code not in (0, 1) or not stats or int(stats["files"]) < files:
            return None  # Something is closed or gone.
        binary: set[str] = set()
        if over_lines or (int(stats["files"]), int(stats["bytes"])) != (files, size):
            printed, _, code = ripgrep.ended([*self._options, "--text", "--files-with-matches", "-e", _NUL], folders)
            if code not in (0, 1):
                return None
            binary = set(_among(parts, listed(printed)))
        return Found({path: lines[path] for path in _among(parts, lines) if path not in binary}, len(binary))


def whole_folders(pattern: GlobPattern, query: TextQuery, unwanted: GlobPattern | None = None) -> WholeFolders | None:
    """For one search; None if ripgrep cannot be told well enough which names fit.

    Args:
        pattern: what the walk goes by.
        query: its `file_type`; whether names may be hidden.
        unwanted: what is kept out of that, be it all or nothing in a folder.
    """
    globs: list[str] | None = sorted({_wider(name) for name in pattern.last_names})
    if globs and "*" in globs:
        globs = globs_of_type(query.file_type) if query.file_type is not None else None
    if globs is not None and ("" in globs or len(globs) > _MOST_GLOBS):
        return None
    hidden = query.include_hidden or any(name.lstrip("\\").startswith(".") for name in pattern.last_names)
    rules = [f"--type-add=chosen:{glob}" for glob in globs or ()] + ["--type=chosen"] * (globs is not None)
    kept_out = sorted(filter(_SAFE_NAME.fullmatch, unwanted.bare_names)) if unwanted else []
    rules += [f"--type-add=unwanted:{name}" for name in kept_out] + ["--type-not=unwanted"] * bool(kept_out)
    rules += [f"--type-add=unseen:{HIDDEN_PREFIX if hidden else '.'}*", "--type-not=unseen", *NOTEBOOKS]
    return WholeFolders(rules, tells_unwanted=bool(kept_out))


def _wider(name: str) -> str:
    """A glob that ripgrep reads as we do, and that fits at least what this one does; empty if it would be any name."""
    if _SAFE_NAME.fullmatch(name):
        return re.sub(r"\*+", "*", name)
    ending = _SAFE_ENDING.search(name)
    return f"*{ending[0]}" if ending else ""


def _among(parts: list[Part], paths: Iterable[str]) -> Iterator[str]:
    """Those of the paths, which come by folder, that are among the files of the parts."""
    names = {part.folder: part.names for part in parts}
    for folder, group in groupby(paths, lambda path: path.rpartition("/")[0]):
        known = set(names.get(folder, ()))
        yield from (path for path in group if path.rpartition("/")[2] in known)
