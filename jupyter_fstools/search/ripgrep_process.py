"""The ripgrep program: which one, started without a shell, ended with everything it started."""

from __future__ import annotations

import contextlib
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


class RipgrepFailed(Exception):
    """It is not there, crashed, or said what we do not understand; what it printed does not count."""


class Stopped(Exception):
    """The search was stopped while ripgrep ran; it has been ended. `printed` is what it had said by then."""

    def __init__(self, printed: bytes = b"") -> None:
        super().__init__()
        self.printed = printed


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


def run_ripgrep(
    binary: str, arguments: list[str], paths: list[str], folder_fd: int | None, folder: str, stop: Stop
) -> tuple[bytes, bytes]:
    """Run it and wait: what it printed, and its complaints.

    Args:
        binary: the program.
        arguments: options and `-e PATTERN`s.
        paths: files, or a folder, relative to the folder to start in.
        folder_fd: a descriptor of the folder to start in, where there is one.
        folder: the path of the same folder.
        stop: asked twenty times a second.

    Raises:
        RipgrepFailed, Stopped
    """
    link = f"/proc/self/fd/{folder_fd}"
    start_in = link if folder_fd is not None and os.path.isdir(link) else folder or os.sep
    command = [binary, *OPTIONS, *arguments, "--", *("./" + path for path in paths)]
    # A pipe would wake us for every file that ripgrep has something to say about.
    with tempfile.TemporaryFile() as printed:
        try:
            process = subprocess.Popen(
                [os.fsencode(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.PIPE,
                cwd=start_in,
                start_new_session=True,
                close_fds=True,
            )
        except OSError as error:
            raise RipgrepFailed(str(error)) from error
        try:
            complaints = _complaints(process, stop)
        except BaseException:
            end_group(process)
            raise
        printed.seek(0)
        if complaints is None:
            raise Stopped(printed.read())
        # 0: something matched, 1: nothing did, 2: there were complaints, which may be about single files.
        if process.returncode not in (0, 1, 2) or b"error: " in complaints[:200]:
            raise RipgrepFailed(complaints.decode("utf-8", "replace")[:2000])
        return printed.read(), complaints


def _complaints(process: subprocess.Popen[bytes], stop: Stop) -> bytes | None:
    """What it complains of until it has ended; None if it had to be."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=0.05)[1]
        if stop.now():
            end_group(process)
            return None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it has started, and take up what is left of it."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()
