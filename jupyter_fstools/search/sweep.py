"""What one run of ripgrep says of some folders, each looked through one level deep."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..backends.path_names import HIDDEN_PREFIX
from .batches import Part
from .file_types import globs_of_type
from .folders import joined
from .patterns import GlobPattern
from .ripgrep_process import RipgrepFailed, Said
from .text_query import TextQuery

_PLAIN_GLOB = re.compile(r"(?:[\w.*,-]|\\[*?\[\]{}])+", re.ASCII)
"""Names that mean the same to ripgrep as to us; its `?` is a byte."""
_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\n")
_IO_ERROR = b": IO error for operation on "
_GONE = b"(os error 2)"
_TOUCHSTONE = "fstools-touchstone-"
OPTIONS = ("--count", "--debug", "--max-depth=1", "--no-ignore", "--hidden", "--threads=1", "--iglob=!*.ipynb")
"""Whatever it might leave out by itself has been left out before; notebooks are searched by cells."""


def name_options(query: TextQuery, pattern: GlobPattern) -> list[str] | None:
    """Tell ripgrep to look only at names that may fit; None where that could not be said to it.

    It may take some more: only what the walk came to counts.
    """
    last = pattern.last_names
    if query.file_type is not None:
        globs = globs_of_type(query.file_type)
    elif "**" in last:
        return []
    else:
        globs = sorted(last) if all(map(_PLAIN_GLOB.fullmatch, last)) else []
    wanted = [f"--type-add=wanted:{glob}" for glob in (*globs, _TOUCHSTONE + "*")]
    return [*wanted, "--type=wanted"] if globs else None


def can_be_told(folder: str, names: list[str]) -> bool:
    """Whether these names look the same where ripgrep says what it passed over, a line each in UTF-8, and have a type.

    A name that ends with a dot has no type for it, not even that of every name.
    """
    text = "\0".join([folder, *names, ""])
    return (
        "\n" not in text
        and ".\0" not in text
        and (text.isascii() or not any("\udc80" <= char <= "\udcff" for char in text))
    )


class Wanted:
    """Files of some folders; a path is looked for among those of its folder.

    Attributes:
        folders: canonical paths of the folders, each once.
    """

    def __init__(self, parts: list[Part]) -> None:
        self._names: dict[str, list[str] | set[str]] = {}
        for folder, names, _ in parts:
            self._names[folder] = [*self._names[folder], *names] if folder in self._names else names
        self.folders = list(self._names)

    @property
    def paths(self) -> list[str]:
        """The files' canonical paths."""
        return self.paths_in(self.folders)

    def paths_in(self, folders: list[str]) -> list[str]:
        """Those of the files in some of the folders."""
        return [joined(folder, name) for folder in folders for name in self._names[folder]]

    def __contains__(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        names = self._names.get(folder)
        if isinstance(names, list):
            names = self._names[folder] = set(names)
        return names is not None and name in names


class Report:
    """What a run said of the files it came across.

    Attributes:
        counts: matching lines by path, of text files that have some.
        passed_over: by path, why a file was not searched: `binary`, `large` or `unreadable`.
    """

    def __init__(self, said: Said) -> None:
        found = ((path, int(lines)) for path, lines in _COUNTED.findall(said.printed))
        self.counts = {path_of(path): lines for path, lines in found if lines}
        self.passed_over = dict(_passed_over(said.beside))


def _without_name(line: bytes) -> bytes:
    return line.removeprefix(b"rg: ")


def _passed_over(said: bytes) -> Iterator[tuple[str, str]]:
    for line in map(_without_name, said.split(b"\n")):
        if line.startswith(b"DEBUG|"):
            path, _, why = line.partition(b": ignoring ")[2].rpartition(b": ")
            if why.startswith(b"found binary data"):
                yield path_of(path), "binary"
            elif why.endswith(b" bytes"):
                yield path_of(path), "large"
        elif b"(os error " in line and not line.endswith(_GONE):
            # A path that was given to it and that it cannot open stands twice in its complaint.
            yield path_of(line.rpartition(b": ")[0].partition(_IO_ERROR)[0]), "unreadable"


class Touchstone:
    """A binary and a large file, outside the root: does ripgrep say that it passed them over?

    It says so where it tells what it does for those who debug it, and that may change with every version. A run that
    does not say it of these two would not say it of others.

    Attributes:
        folder: absolute path of the folder that holds them, to be given to every run.

    Raises:
        RipgrepFailed: there is no place for temporary files.
    """

    def __init__(self, held: contextlib.ExitStack, max_file_bytes: int) -> None:
        try:
            self.folder = tempfile.mkdtemp(prefix=HIDDEN_PREFIX + "ripgrep-")
            held.callback(self._remove)
            self._binary, self._large = (Path(self.folder, _TOUCHSTONE + name) for name in ("binary", "large"))
            self._binary.write_bytes(b"\0"[:max_file_bytes])
            with self._large.open("wb") as file:
                file.truncate(max_file_bytes + 1)
        except OSError as error:
            raise RipgrepFailed(str(error)) from error

    def is_told(self, report: Report) -> bool:
        """Whether the run told of both."""
        told = report.passed_over
        return told.get(str(self._binary)) == "binary" and told.get(str(self._large)) == "large"

    def _remove(self) -> None:
        # What `tempfile` has for this needs a descriptor, and there may be none.
        with contextlib.suppress(OSError):
            self._binary.unlink(missing_ok=True)
            self._large.unlink(missing_ok=True)
            os.rmdir(self.folder)


def path_of(printed: bytes) -> str:
    """A path as ripgrep printed it."""
    return os.fsdecode(printed.removeprefix(b"./"))
