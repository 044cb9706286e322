"""Searching whole folders with ripgrep, where a rule on names tells it which files."""

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
from .ripgrep_process import NUL, Ripgrep, counts_of, listed
from .segments import literal_name
from .text_query import TextQuery

_MOST_GLOBS = 100
_SAFE = r"\w.+@\-"
"""What every dialect reads alike."""
_SAFE_NAME = re.compile(rf"[{_SAFE}*]+", re.ASCII)
_UNSAFE = re.compile(rf"[^{_SAFE}]+", re.ASCII)
_ALL_IN_FOLDER = ("--no-ignore", "--hidden", "--max-depth=1", "--threads=1")
_SEARCHED = re.compile(rb"\n(\d+) files searched\n[^\0]*\Z")


class Found(NamedTuple):
    """Matching lines by path, and how many files are binary."""

    lines: dict[str, int]
    binary: int


class WholeFolders:
    """Counts matching lines in folders of which all files are searched whose names fit.

    To ripgrep that is half the work of files given by name, whose whole paths it follows three times, in patterns with
    a NUL beside them, which it finds slowly. It is asked twice: for the lines, and for the files that hold a NUL.

    Args:
        rules: options by which ripgrep chooses files: those that fit, and few more.
        tells_unwanted: by them it passes over what a glob with `!` keeps out.
    """

    def __init__(self, rules: list[str], *, tells_unwanted: bool) -> None:
        self._options = [*_ALL_IN_FOLDER, *rules]
        self.tells_unwanted = tells_unwanted

    @staticmethod
    def can_search(part: Part) -> bool:
        """Whether files are told by a rule: no kind of file holds to ripgrep a name that ends with a dot."""
        return part.is_all and not any(name[-1] == "." for name in part.names)

    def count(self, ripgrep: Ripgrep, pattern: list[str], parts: list[Part]) -> Found | None:
        """Search all the files of some folders; None if they have to be given by name.

        Args:
            ripgrep: the program.
            pattern: what to look for, in ripgrep's words. Where a match may go over lines, the numbers are of
                something else.
            parts: the folders, of each of which that `can_search` holds.

        Raises:
            RipgrepFailed, Stopped
        """
        # With a slash at its end, what has become a FIFO meanwhile is refused, not waited for.
        folders = [part.folder and f"{part.folder}/" for part in parts]
        printed = []
        for asked in (["--count", *pattern], ["--text", "--files-with-matches", "-e", NUL]):
            said, _, code = ripgrep.ended([*self._options, "--stats", *asked], folders)
            searched = _SEARCHED.search(said)
            if code not in (0, 1) or not searched or int(searched[1]) < sum(len(part.names) for part in parts):
                return None  # Something is closed or gone.
            printed.append(said)
        lines, binary = counts_of(printed[0])[0], set(_among(parts, listed(printed[1])))
        return Found({path: lines[path] for path in _among(parts, lines) if path not in binary}, len(binary))


def whole_folders(pattern: GlobPattern, query: TextQuery, unwanted: GlobPattern | None = None) -> WholeFolders | None:
    """For one search; None if ripgrep cannot be told well enough which names fit: it would read all that lies beside.

    Args:
        pattern: what the walk goes by.
        query: its `file_type`; whether names may be hidden; the largest files.
        unwanted: what is kept out of that, be it all or nothing in a folder.
    """
    read_alike = sorted(set(map(_as_everybody_reads_it, pattern.last_names)))
    globs: list[str] | None = read_alike
    if "*" in read_alike:
        globs = globs_of_type(query.file_type) if query.file_type is not None else None
    elif "" in read_alike or len(read_alike) > _MOST_GLOBS or query.file_type is not None:
        return None
    hidden = query.include_hidden or any(name.lstrip("\\").startswith(".") for name in pattern.last_names)
    rules = [f"--type-add=chosen:{glob}" for glob in globs or ()] + ["--type=chosen"] * (globs is not None)
    kept_out = sorted(filter(_SAFE_NAME.fullmatch, unwanted.bare_names)) if unwanted else []
    rules += [f"--type-add=unwanted:{name}" for name in kept_out] + ["--type-not=unwanted"] * bool(kept_out)
    rules += [f"--type-add=unseen:{HIDDEN_PREFIX if hidden else '.'}*", "--type-not=unseen", *NOTEBOOKS]
    return WholeFolders([*rules, f"--max-filesize={query.max_file_bytes}"], tells_unwanted=bool(kept_out))


def _as_everybody_reads_it(name: str) -> str:
    """A glob that fits what this one does, and hardly more, in ripgrep's dialect as in ours; empty if there is none."""
    if _SAFE_NAME.fullmatch(name):
        return re.sub(r"\*+", "*", name)
    literal = literal_name(name)
    return _UNSAFE.sub("*", literal) if literal else ""


def _among(parts: list[Part], paths: Iterable[str]) -> Iterator[str]:
    """Those of the paths, which come by folder, that are among the files of the parts."""
    names = {part.folder: part.names for part in parts}
    for folder, group in groupby(paths, lambda path: path.rpartition("/")[0]):
        known = set(names.get(folder, ()))
        yield from (path for path in group if path.rpartition("/")[2] in known)
