"""Finds ripgrep, starts it without a shell, and ends it in time."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ...walking.stopping import Stop
from .run import Run

OLDEST = (13, 0, 0)
FAULTS = 2
"""Ripgrep's exit code after an error, even if only single files failed."""
OPTIONS = (
    "--no-config",
    "--color=never",
    "--no-heading",
    "--no-mmap",
    "--null",
    "--with-filename",
    "--regex-size-limit=500M",
)
BEGINNING = ".//"
"""Prefix of every relative path in the output: no name can contain its two slashes in a row."""
NUL = r"\x00"
"""A pattern that matches no text, only binary files."""
_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\n")
_COMPLAINT_BEGINS = re.compile(rb"(?:^|\n)(?:rg: )?" + re.escape(BEGINNING.encode()))
_COMPLAINT = re.compile(rb"(?s)(.+): ([^:\n]+ \(os error (\d+)\))")
_TWICE = b": IO error for operation on " + BEGINNING.encode()
"""Precedes the repetition of the path in an error about a given path that cannot be opened."""
_SHORTAGES = {errno.ENOMEM, errno.ENFILE, errno.EMFILE}
"""System errors that are not about the file in the message."""


class RipgrepFailed(Exception):
    """Ripgrep is missing, crashed, or gave unexpected output; its output is discarded."""


def ripgrep_binary() -> str | None:
    """The newest `rg` of this environment and of the system; None if there is none that runs."""
    try:
        return newest_ripgrep()
    except FileNotFoundError:
        return None


@cache
def newest_ripgrep() -> str:
    """The same; FileNotFoundError if there is none, which is not cached: there may have been too few descriptors."""
    places = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    found = [shutil.which("rg", path=str(place)) for place in places] + [shutil.which("rg")]
    versions = {path: version for path in dict.fromkeys(filter(None, found)) if (version := _version(path)) >= OLDEST}
    if not versions:
        raise FileNotFoundError
    return max(versions, key=lambda path: versions[path])


def is_since(binary: str, oldest: tuple[int, ...]) -> bool:
    """Whether a ripgrep has at least this version."""
    return not oldest or _version(binary) >= oldest


def names_what_it_skips(binary: str) -> bool:
    """Whether the `--debug` lines of this ripgrep are known; they may change with every version."""
    return _version(binary)[:1] == (14,)


def _version(binary: str) -> tuple[int, ...]:
    try:
        return _version_said(binary)
    except (OSError, subprocess.SubprocessError):
        return ()


@cache
def _version_said(binary: str) -> tuple[int, ...]:
    said = subprocess.run(
        [binary, "--version"], capture_output=True, timeout=10, stdin=subprocess.DEVNULL, check=True
    ).stdout
    match = re.match(rb"ripgrep (\d+)\.(\d+)\.(\d+)", said)
    return tuple(map(int, match.groups())) if match else ()


class Stopped(Exception):
    """The search was stopped before or while ripgrep ran, and it has been ended."""


class Ripgrep:
    """Runs the program in one folder, from any thread; all runs can be ended.

    Args:
        binary: the program.
        folder_fd: a descriptor of the folder to start in, where there is one.
        folder: the path of the same folder.
        stop: tells when no run may begin or continue.

    Attributes:
        binary: the program.
    """

    def __init__(self, binary: str, folder_fd: int | None, folder: str, stop: Stop) -> None:
        link = f"/proc/self/fd/{folder_fd}"
        self._start_in = link if folder_fd is not None and os.path.isdir(link) else folder or os.sep
        self.binary = binary
        self._stop = stop
        self._running: set[Run] = set()

    @contextlib.contextmanager
    def started(self, arguments: list[str], paths: list[str]) -> Iterator[Run]:
        """Start a run, which ends with the block.

        Args:
            arguments: options and `-e PATTERN`s.
            paths: files and folders, relative to the folder to start in.

        Raises:
            RipgrepFailed
            Stopped: before it began.
        """
        run = self._launched(arguments, paths)
        self._running.add(run)
        try:
            try:
                run.read()
            except RuntimeError as error:
                raise RipgrepFailed(str(error)) from error
            if self._stop.now():
                run.end()
            yield run
        finally:
            run.close()
            self._running.discard(run)

    def _launched(self, arguments: list[str], paths: list[str]) -> Run:
        named = os.fsencode("\0".join([BEGINNING + path for path in paths])).split(b"\0")  # Faster than one by one.
        # Ripgrep reads patterns as UTF-8 in any locale.
        options = [each.encode("utf-8", "surrogateescape") for each in (*OPTIONS, *arguments, "--")]
        command = [os.fsencode(self.binary), *options, *named]
        if self._stop.now():
            raise Stopped
        try:
            process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._start_in,
                start_new_session=True,
                close_fds=True,
            )
        except OSError as error:
            raise RipgrepFailed(str(error)) from error
        return Run(process)

    def output(self, arguments: list[str], paths: list[str]) -> tuple[bytes, list[str]]:
        """The output of a run that was not stopped, and the files that it could not read.

        Raises:
            RipgrepFailed, Stopped
        """
        printed, beside, code = self.ended(arguments, paths)
        return printed, unreadable_at_end(code, beside, paths)

    def ended(self, arguments: list[str], paths: list[str]) -> tuple[bytes, bytes, int]:
        """The output, the messages and the exit code of a run.

        Raises:
            RipgrepFailed: it cannot be started.
            Stopped
        """
        with self.started(arguments, paths) as run:
            blocks = list(run.said())
            if run.code is None:
                raise Stopped
        return b"".join(block for block, _ in blocks), b"".join(block for _, block in blocks), run.code

    def end(self) -> None:
        """End every run that is still going."""
        for run in list(self._running):
            run.end()


def unreadable_at_end(code: int, complaints: bytes, paths: list[str]) -> list[str]:
    """The files given to a run that it reported as unreadable, except files that do not exist any more.

    A complete run ends with 0 (something matched), 1 (nothing did) or `FAULTS`, if only single files failed.

    Raises:
        RipgrepFailed: the run is not complete, or it reported any other error, which may be about all files.
    """
    if code in (0, 1):
        return []
    # A file name may contain line feeds, and so may a message.
    before, *each = _COMPLAINT_BEGINS.split(complaints.removesuffix(b"\n"))
    if code != FAULTS or before or not each:
        raise RipgrepFailed((before and complaints).decode("utf-8", "replace")[:2000] or f"it ended with {code}")
    given, unreadable = _as_printed(paths), []
    for complaint in each:
        said = _COMPLAINT.fullmatch(complaint)
        path = given.get(said[1].partition(_TWICE)[0]) if said else None
        if not said or path is None or int(said[3]) in _SHORTAGES:
            raise RipgrepFailed("it complained of " + (said[2].decode("utf-8", "replace") if said else "no file"))
        if int(said[3]) != errno.ENOENT:
            unreadable.append(path)
    return unreadable


def _as_printed(paths: list[str]) -> dict[bytes, str | None]:
    """Paths by how error messages show them, U+FFFD for bytes that are not UTF-8; None for two that look the same."""
    said: dict[bytes, str | None] = {}
    for path in paths:
        name = os.fsencode(path).decode("utf-8", "replace").encode()
        said[name] = None if name in said else path
    return said


def path_of(printed: bytes) -> str:
    """A path as ripgrep printed it."""
    return os.fsdecode(printed.removeprefix(BEGINNING.encode()))


def listed(printed: bytes) -> list[str]:
    """Paths that were printed, each followed by a NUL."""
    return [path_of(path) for path in printed.split(b"\0")[:-1]]  # Statistics may follow them.


def counts_of(printed: bytes) -> dict[str, int]:
    """Matching lines by path, as `--count` prints them."""
    return {path_of(each[1]): int(each[2]) for each in _COUNTED.finditer(printed)}
