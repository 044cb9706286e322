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
from typing import IO, NamedTuple

from .stopping import Stop

OLDEST = (13, 0, 0)
OPTIONS = (
    "--no-config",
    "--color=never",
    "--no-heading",
    "--no-mmap",
    "--null",
    "--with-filename",
    "--regex-size-limit=500M",
)
_BUFFER_BYTES = 64 << 10
"""What ripgrep may still have to print when it ends."""
_DISK_FULL = b"(os error %d)\n" % errno.ENOSPC


_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\n")


class RipgrepFailed(Exception):
    """It is not there, crashed, or said what we do not understand; what it printed does not count."""


@cache
def ripgrep_binary() -> str | None:
    """The newest `rg` of this environment and of the system; None if there is none that runs."""
    places = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    found = [shutil.which("rg", path=str(place)) for place in places] + [shutil.which("rg")]
    versions = {path: version for path in dict.fromkeys(filter(None, found)) if (version := _version(path)) >= OLDEST}
    return max(versions, key=lambda path: versions[path], default=None)


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


class Output(NamedTuple):
    """What one run has said, to be read from the beginning.

    Attributes:
        printed: what it found.
        beside: complaints, and with `--debug` what it passed over.
        code: what it ended with; None if it has been ended before.
    """

    printed: IO[bytes]
    beside: IO[bytes]
    code: int | None


class Ripgrep:
    """The program in one folder: any thread may run it, and all runs can be ended.

    Args:
        binary: the program.
        folder_fd: a descriptor of the folder to start in, where there is one.
        folder: the path of the same folder.
        stop: when no run is to begin, or to go on.
    """

    def __init__(self, binary: str, folder_fd: int | None, folder: str, stop: Stop) -> None:
        link = f"/proc/self/fd/{folder_fd}"
        self._start_in = link if folder_fd is not None and os.path.isdir(link) else folder or os.sep
        self._binary = binary
        self._stop = stop
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended: set[subprocess.Popen[bytes]] = set()

    @contextlib.contextmanager
    def ran(self, arguments: list[str], paths: list[str]) -> Iterator[Output]:
        """Run it and wait; inside the block what it has said can be read, even if it has been ended.

        Args:
            arguments: options and `-e PATTERN`s.
            paths: files and folders, relative to the folder to start in, or absolute.

        Raises:
            RipgrepFailed
            Stopped: before it began.
        """
        named = (path if os.path.isabs(path) else "./" + path for path in paths)
        command = [os.fsencode(part) for part in (self._binary, *OPTIONS, *arguments, "--", *named)]
        with _temporary_file() as printed, _temporary_file() as beside:
            process = self._start(command, printed, beside)
            try:
                if self._stop.now():
                    self._end(process)
                process.wait()
            except BaseException:
                self._end(process)
                raise
            finally:
                self._running.discard(process)
            _check_room(printed)
            printed.seek(0)
            beside.seek(0)
            yield Output(printed, beside, None if process in self._ended else process.returncode)

    def run(self, arguments: list[str], paths: list[str]) -> tuple[bytes, bytes]:
        """What it printed, and what it said beside that, of a run that came to its end.

        Raises:
            RipgrepFailed, Stopped
        """
        with self.ran(arguments, paths) as output:
            if output.code is None:
                raise Stopped
            printed, beside = output.printed.read(), output.beside.read()
        check_end(output.code, beside)
        return printed, beside

    def end(self) -> None:
        """End every run that goes on."""
        for process in list(self._running):
            self._end(process)

    def _start(self, command: list[bytes], printed: IO[bytes], beside: IO[bytes]) -> subprocess.Popen[bytes]:
        if self._stop.now():
            raise Stopped
        try:
            process = subprocess.Popen(
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
        self._running.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._ended.add(process)
        end_group(process)


def _temporary_file() -> IO[bytes]:
    # A pipe would wake us for every file that ripgrep has something to say about.
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise RipgrepFailed(str(error)) from error


def _check_room(printed: IO[bytes]) -> None:
    """Whether there was room for all that was printed: where the disk is full, ripgrep may say that all is well.

    Raises:
        RipgrepFailed
    """
    end = printed.seek(0, os.SEEK_END)
    try:
        printed.write(bytes(_BUFFER_BYTES))
        printed.flush()
        printed.truncate(end)
    except OSError as error:
        raise RipgrepFailed(str(error)) from error


def check_end(code: int, complaints: bytes) -> None:
    """Whether a run came to its end: 0: something matched, 1: nothing did, 2: complaints, maybe about single files.

    Raises:
        RipgrepFailed
    """
    if code in (0, 1) and _DISK_FULL not in complaints:
        return
    if code not in (0, 1, 2) or b"error: " in complaints[:200] or _DISK_FULL in complaints:
        raise RipgrepFailed(complaints.decode("utf-8", "replace")[:2000] or f"it ended with {code}")


def path_of(printed: bytes) -> str:
    """A path as ripgrep printed it."""
    return os.fsdecode(printed.removeprefix(b"./"))


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
