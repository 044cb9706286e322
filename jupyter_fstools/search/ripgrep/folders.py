"""Counts matching lines in whole folders with one ripgrep run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..batches import Part
from .name_rules import NameRules
from .process import Ripgrep, RipgrepFailed, counts_of, names_what_it_skips, path_of

_ALL_IN_FOLDER = ("--no-ignore", "--hidden", "--max-depth=1", "--threads=1", "--count")
_PASSED_OVER = re.compile(rb"ignoring \.//([^\n]+): (?:found binary data at offset \d+|(\d+) bytes)\n")
_NAME_RULE = b": Ignore(IgnoreMatch("
"""Part of each long line of `--debug` about a file that a rule on names excludes."""
_SEARCHED = re.compile(rb"\n(\d+) files searched\n[^\0]*\Z")
_OF_ALL = "--include-zero"
_NOTHING = ("-e", r"(?-u:\xc0)")
"""A byte that never occurs in UTF-8; searching for it is as fast as possible."""
_FEW = 10
"""Ratio of all files to those that match, or to those skipped by name, above which they are few."""


class Found(NamedTuple):
    """The files that ripgrep named.

    Attributes:
        lines: how many lines match, by path.
        binary: paths of files that hold a NUL.
        untold: paths of files that the output does not mention: they are large, binary or gone.
    """

    lines: dict[str, int]
    binary: Collection[str] = ()
    untold: Collection[str] = ()


class WholeFolders:
    """Counts matching lines in folders where all files with fitting names are searched.

    Ripgrep takes half as long for a whole folder as for files given by name, because it resolves the path of each of
    those three times. In a file that it finds by itself it stops at a NUL and prints nothing. Ripgrep 14 names such
    files with `--debug`, together with all files that a rule on names excludes: that is used where few are excluded.
    Otherwise ripgrep also prints the files without a match: the files it leaves out are binary, large or gone. Printing
    names takes half as long again, so while few files match, a run that prints only numbers comes first: it shows how
    many files match, and in which folders.

    Args:
        rules: choose the files.
        ripgrep: the program.
    """

    def __init__(self, rules: NameRules, ripgrep: Ripgrep) -> None:
        self._options = [*_ALL_IN_FOLDER, *rules.options]
        self._ripgrep = ripgrep
        self._says_little = rules.any_kind
        self._can_count = rules.no_more  # Otherwise an extra file could make up, in the count, for a binary one.
        self._numbers_first = rules.no_more

    @staticmethod
    def can_search(part: Part) -> bool:
        """Whether rules can select the files: ripgrep's file types never match a name that ends with a dot."""
        return part.complete and not any(name[-1] == "." for name in part.names)

    def count(self, pattern: list[str], parts: list[Part], *, over_lines: bool) -> Found:
        """Search all the files of some folders.

        Args:
            pattern: the pattern, as options of ripgrep.
            parts: the folders; `can_search` is true for each.
            over_lines: a match may go over lines. Then the numbers are not those of lines on which a match begins.

        Raises:
            RipgrepFailed: a folder cannot be opened, or another error; files given by name may still be searched.
            Stopped
        """
        if not over_lines:
            return self._count_in_lines(pattern, parts)
        # In a file that it does not search line by line, ripgrep looks for a NUL only at the beginning.
        found = self._count_in_lines(list(_NOTHING), parts)
        lines = _among(parts, counts_of(self._printed(pattern, parts)))
        for path in (*found.binary, *found.untold):
            lines.pop(path, None)
        return found._replace(lines=lines)

    def _count_in_lines(self, pattern: list[str], parts: list[Part]) -> Found:
        if self._says_little and names_what_it_skips(self._ripgrep.binary) and _fit_on_lines(parts):
            printed, said = self._ended(["--debug", "--stats", *pattern], parts)
            if (found := self._by_reasons(printed, said, parts)) is not None:
                return found
        if self._numbers_first and (lines := self._lines_by_numbers(pattern, parts)) is not None:
            return Found(lines)
        told = counts_of(self._printed([_OF_ALL, *pattern], parts))
        untold = [path for part in parts for path in part.paths if path not in told]
        self._numbers_first = self._can_count and not untold and _are_few(told.values())
        return Found(_among(parts, told), untold=untold)

    def _by_reasons(self, printed: bytes, said: bytes, parts: list[Part]) -> Found | None:
        """Read the lines of `--debug`; None where they do not account for all files."""
        paths = {path for part in parts for path in part.paths}
        binary, large = set[str](), set[str]()
        for each in _PASSED_OVER.finditer(said):
            (large if each[2] else binary).add(path_of(each[1]))
        large &= paths
        searched = _SEARCHED.search(printed)
        self._says_little = said.count(_NAME_RULE) * _FEW <= len(paths)
        if not searched or int(searched[1]) + len(large) < len(paths):
            return None
        return Found(_among(parts, counts_of(printed)), binary & paths, large)

    def _lines_by_numbers(self, pattern: list[str], parts: list[Part]) -> dict[str, int] | None:
        """Matching lines by path; None where the numbers do not add up, as a file is binary or has changed."""
        printed = self._printed([_OF_ALL, "--no-filename", *pattern], parts)
        numbers = [int(number) for number in printed.split() if number.isdigit()]
        if len(numbers) != sum(len(part.names) for part in parts):
            return None
        self._numbers_first = _are_few(numbers)
        matching = list(_with_matches(parts, numbers))
        told = counts_of(self._printed(pattern, matching)) if matching else {}
        # The sums differ if ripgrep printed the folders in another order than requested.
        return _among(matching, told) if sum(told.values()) == sum(numbers) else None

    def _printed(self, asked: list[str], parts: list[Part]) -> bytes:
        return self._ended(asked, parts)[0]

    def _ended(self, asked: list[str], parts: list[Part]) -> tuple[bytes, bytes]:
        """The output and the messages of a completed run."""
        # The trailing slash makes ripgrep refuse a folder that has become a FIFO instead of waiting for it.
        folders = [part.folder and f"{part.folder}/" for part in parts]
        printed, said, code = self._ripgrep.ended([*self._options, *asked], folders)
        if code not in (0, 1):
            raise RipgrepFailed(said.decode("utf-8", "replace")[:500])
        return printed, said


def _fit_on_lines(parts: list[Part]) -> bool:
    """Whether every path appears unchanged on one line of ripgrep's output."""
    paths = "/".join(part.folder + "/".join(part.names) for part in parts)
    return "\n" not in paths and re.search("[\ud800-\udfff]", paths) is None


def _are_few(numbers: Collection[int]) -> bool:
    """Whether few files have matches; the numbers are those of each file's matching lines."""
    return sum(map(bool, numbers)) * _FEW <= len(numbers)


def _with_matches(parts: list[Part], numbers: list[int]) -> Iterator[Part]:
    """The folders with matching lines; the numbers are those of each file, in order."""
    at = 0
    for part in parts:
        end = at + len(part.names)
        if any(numbers[at:end]):
            yield part
        at = end


def _among(parts: list[Part], told: dict[str, int]) -> dict[str, int]:
    """The lines that match in files of the parts."""
    return {path: lines for part in parts for path in part.paths if (lines := told.get(path))}
