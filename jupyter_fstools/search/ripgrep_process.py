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
from functools import cache
from pathlib import Path

from .stopping import Stop

OLDEST = (12, 0, 0)
OPTIONS = (
    "--no-config",
    "--color=never",
    "--no-heading",
    "--no-mmap",
    "--no-ignore",
    "--hidden",
    "--text",
    "--null",
    "--with-filename",
    "--threads=1",
    "--regex-size-limit=500M",
)
"""The files are given by name: what ripgrep would leave out by itself has been left out before."""


class RipgrepFailed(Exception):
    """It is not there, crashed, or said what we do not understand; what it printed does not count."""


class Stopped(Exception):
    """The search was stopped while ripgrep ran; it has been ended."""


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
    """Run it on files and wait: what it printed, and its complaints.

    Args:
        binary: the program.
        arguments: options and `-e PATTERN`s.
        paths: relative to the folder.
        folder_fd: a descriptor of the folder to start in, where there is one.
        folder: the path of the same folder.
        stop: asked twenty times a second.

    Raises:
        RipgrepFailed, Stopped
    """
    link = f"/proc/self/fd/{folder_fd}"
    start_in = link if folder_fd is not None and os.path.isdir(link) else folder or os.sep
    command = [binary, *OPTIONS, *arguments, "--", *("./" + path for path in paths)]
    try:
        process = subprocess.Popen(
            [os.fsencode(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=start_in,
            start_new_session=True,
            close_fds=True,
        )
    except OSError as error:
        raise RipgrepFailed(str(error)) from error
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                printed, complaints = process.communicate(timeout=0.05)
                break
            if stop.now():
                raise Stopped
    except BaseException:
        end_group(process)
        raise
    # 0: something matched, 1: nothing did, 2: there were complaints, which may be about single files.
    if process.returncode not in (0, 1, 2) or b"error: " in complaints[:200]:
        raise RipgrepFailed(complaints.decode("utf-8", "replace")[:2000])
    return printed, complaints


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it has started, and take up what is left of it."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()
