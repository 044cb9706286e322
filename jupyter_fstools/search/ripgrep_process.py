"""The ripgrep program: which one, started without a shell, ended with everything it started."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO

from .stopping import Stop

OLDEST = (13, 0, 0)
FAULTS = 2
"""What it ends with where it has complained of something, maybe of single files only."""
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
"""What stands before every path that is relative: no name of a file or a folder can bring two slashes in a row."""
_BUFFER_BYTES = 64 << 10
"""What ripgrep may still have to print when it ends."""
_DISK_FULL = b"(os error %d)\n" % errno.ENOSPC


_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\n")


class RipgrepFailed(Exception):
    """It is not there, crashed, or said what we do not understand; what it printed does not count."""


def ripgrep_binary() -> str | None:
    """The newest `rg` of this environment and of the system; None if there is none that runs."""
    try:
        return newest_ripgrep()
    except FileNotFoundError:
        return None


@cache
def newest_ripgrep() -> str:
    """The same; FileNotFoundError if there is none, and that is not remembered: descriptors may have been short."""
    places = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    found = [shutil.which("rg", path=str(place)) for place in places] + [shutil.which("rg")]
    versions = {path: version for path in dict.fromkeys(filter(None, found)) if (version := _version(path)) >= OLDEST}
    if not versions:
        raise FileNotFoundError
    return max(versions, key=lambda path: versions[path])


def _version(binary: str) -> tuple[int, ...]:
    try:
        said = subprocess.run(
            [binary, "--version"], capture_output=True, timeout=10, stdin=subprocess.DEVNULL, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    match = re.match(rb"ripgrep (\d+)\.(\d+)\.(\d+)", said)
    return tuple(map(int, match.groups())) if match else ()


class Stopped(Exception):
    """The search was stopped before or while ripgrep ran, and it has been ended."""


class Run:
    """One run: wait for it, then read what it has said from the beginning.

    Attributes:
        printed: what it found.
        beside: complaints, and with `--debug` what it passed over.
    """

    def __init__(self, process: subprocess.Popen[bytes], printed: IO[bytes], beside: IO[bytes]) -> None:
        self.printed = printed
        self.beside = beside
        self._process = process
        self._ended = False

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """What it ended with; None if it has been ended before."""
        return None if self._ended else self._process.returncode

    def wait(self) -> None:
        """Until it has ended.

        Raises:
            RipgrepFailed: there was no room for what it printed.
        """
        self._process.wait()
        _check_room(self.printed)
        self.printed.seek(0)
        self.beside.seek(0)

    def end(self) -> None:
        """End it with all that it has started; after its end nothing is done."""
        if self._process.returncode is None:
            self._ended = True
            end_group(self._process)


class Ripgrep:
    """The program in one folder: any thread may run it, and all runs can be ended.

    Args:
        binary: the program.
        folder_fd: a descriptor of the folder to start in, where there is one.
        folder: the path of the same folder.
        stop: when no run is to begin, or to go on.

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
        """Start it; it is ended with the block.

        Args:
            arguments: options and `-e PATTERN`s.
            paths: files and folders, relative to the folder to start in, or absolute.

        Raises:
            RipgrepFailed
            Stopped: before it began.
        """
        named = (path if os.path.isabs(path) else BEGINNING + path for path in paths)
        command = [os.fsencode(part) for part in (self.binary, *OPTIONS, *arguments, "--", *named)]
        with _temporary_file() as printed, _temporary_file() as beside:
            run = Run(self._start(command, printed, beside), printed, beside)
            self._running.add(run)
            try:
                if self._stop.now():
                    run.end()
                yield run
            finally:
                run.end()
                self._running.discard(run)

    @contextlib.contextmanager
    def ran(self, arguments: list[str], paths: list[str]) -> Iterator[Run]:
        """Run it and wait; inside the block what it has said can be read, even if it has been ended."""
        with self.started(arguments, paths) as run:
            run.wait()
            yield run

    def output(self, arguments: list[str], paths: list[str]) -> tuple[bytes, bytes]:
        """What it printed, and what it said beside that, of a run that came to its end.

        Raises:
            RipgrepFailed, Stopped
        """
        with self.ran(arguments, paths) as run:
            if run.code is None:
                raise Stopped
            printed, beside = run.printed.read(), run.beside.read()
            check_end(run.code, beside)
        return printed, beside

    def end(self) -> None:
        """End every run that goes on."""
        for run in list(self._running):
            run.end()

    def _start(self, command: list[bytes], printed: IO[bytes], beside: IO[bytes]) -> subprocess.Popen[bytes]:
        if self._stop.now():
            raise Stopped
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=beside,
                cwd=self._start_in,
                start_new_session=True,
                close_fds=True,
            )
        except OSError as error:
            raise RipgrepFailed(str(error)) from error


def _temporary_file() -> IO[bytes]:
    # A pipe would wake us for every file that ripgrep has something to say about.
    try:
        return tempfile.TemporaryFile(buffering=0)
    except OSError as error:
        raise RipgrepFailed(str(error)) from error


def _check_room(printed: IO[bytes]) -> None:
    """Whether there was room for all that was printed: where the disk is full, ripgrep may say that all is well.

    Raises:
        RipgrepFailed
    """
    end = printed.seek(0, os.SEEK_END)
    try:
        room = printed.write(bytes(_BUFFER_BYTES))
        printed.truncate(end)
    except OSError as error:
        raise RipgrepFailed(str(error)) from error
    if room < _BUFFER_BYTES:
        raise RipgrepFailed("there is no room for what it prints")


def check_end(code: int, complaints: bytes) -> None:
    """Whether a run came to its end: 0: something matched, 1: nothing did, `FAULTS`: complaints.

    Raises:
        RipgrepFailed
    """
    if code in (0, 1) and _DISK_FULL not in complaints:
        return
    several = b"error: " in complaints[:200] or _DISK_FULL in complaints
    if code != FAULTS or several or not complaints:
        raise RipgrepFailed(complaints.decode("utf-8", "replace")[:2000] or f"it ended with {code}")


def path_of(printed: bytes) -> str:
    """A path as ripgrep printed it."""
    return os.fsdecode(printed.removeprefix(BEGINNING.encode()))


def counts_of(printed: bytes) -> tuple[dict[str, int], bytes]:
    """Matching lines by path, as `--count` prints them, and what is left over of a line that is not whole."""
    counts, end = {}, 0
    for each in _COUNTED.finditer(printed):
        counts[path_of(each[1])] = int(each[2])
        end = each.end()
    return counts, printed[end:]


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it has started, and take up what is left of it."""
    with contextlib.suppress(OSError):
        if process.returncode is not None:
            return
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
