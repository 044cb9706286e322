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
_DEBUG = re.compile(rb"^(?:rg: )?DEBUG\|.*\n?", re.M)


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


class Said(NamedTuple):
    """What one run printed, and what it said beside that: complaints, and with `--debug` what it passed over."""

    printed: bytes
    beside: bytes


_NOTHING = Said(b"", b"")


class Stopped(Exception):
    """The search was stopped before or while ripgrep ran, and it has been ended; `said` is what it had by then."""

    def __init__(self, said: Said = _NOTHING) -> None:
        super().__init__()
        self.said = said


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

    def run(self, arguments: list[str], paths: list[str]) -> Said:
        """Run it and wait.

        Args:
            arguments: options and `-e PATTERN`s.
            paths: files and folders, relative to the folder to start in, or absolute.

        Raises:
            RipgrepFailed, Stopped
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
            said = Said(printed.read(), beside.read())
        if process in self._ended:
            raise Stopped(said)
        _check(process.returncode, said)
        return said

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


def _check(code: int, said: Said) -> None:
    """Whether it came to its end: 0: something matched, 1: nothing did, 2: complaints, maybe about single files."""
    if code in (0, 1) and _DISK_FULL not in said.beside:
        return
    complaints = _DEBUG.sub(b"", said.beside)
    if code not in (0, 1, 2) or b"error: " in complaints[:200] or _DISK_FULL in complaints:
        raise RipgrepFailed(complaints.decode("utf-8", "replace")[:2000] or f"it ended with {code}")


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
