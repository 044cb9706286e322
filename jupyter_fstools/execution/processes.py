"""Starts a command in its own process group and ends it."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from functools import cache

from ..backends.path_names import spelled_for_system
from ..errors import Denied, FsToolsError, InputOutput, TooLarge

_CHUNK = 64 << 10
_MOST_LEFT = 1 << 20
"""Maximum bytes that a pipe holds, unless an administrator has raised the limit."""
_PATIENCE = 5.0
_GUARDING = 'read -r group || exit; read -r _; kill -s KILL -- "-$group"'
"""Shell script of the guard; its input ends once no process holds the other end of the pipe."""
_SHORTEST_NAP, _LONGEST_NAP = 0.001, 0.05


def can_run() -> bool:
    """True if a command can be ended together with its child processes, and its exit code be read.

    Windows has no process groups. If SIGCHLD is ignored, which this process may inherit from its parent, the system
    discards the exit code.
    """
    has_groups = hasattr(os, "killpg") and hasattr(select, "poll")
    return has_groups and signal.getsignal(signal.SIGCHLD) is not signal.SIG_IGN


@cache
def shell() -> str:
    """The shell that runs commands: bash, as most commands are written for it; sh if there is no bash."""
    return shutil.which("bash") or "/bin/sh"


class Processes:
    """A shell that runs a command, and all processes that stay in its process group.

    They are also killed when this process ends. A process that starts its own session (`setsid`, a daemon) leaves the
    group and is not killed with it.

    Args:
        command: a line or a script for `shell()`.
        folder: its working directory.
        folder_fd: a descriptor of the folder, if there is one; a rename or a link cannot redirect it.
        environment: the whole environment.

    Attributes:
        silent: True once no process has the output open any more.

    Raises:
        TooLarge: the command and environment exceed the system's limit.
        Denied: the folder cannot be entered.
        InputOutput: the system could not start it for another reason.
    """

    def __init__(self, command: str, folder: str, folder_fd: int | None, environment: Mapping[str, str]) -> None:
        link = f"/proc/self/fd/{folder_fd}"
        self._guard = _Guard()
        try:
            self._shell = subprocess.Popen(
                [shell(), "-c", "--", os.fsencode(spelled_for_system(command))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=link if folder_fd is not None and os.path.isdir(link) else folder,
                env=environment,
                start_new_session=True,
                close_fds=True,
            )
        except OSError as error:
            self._guard.dismiss()
            raise _not_started(error) from error
        self._guard.watch(self._shell.pid)
        assert self._shell.stdout is not None
        self._pipe = self._shell.stdout
        os.set_blocking(self._pipe.fileno(), False)
        self._readable = select.poll()
        self._readable.register(self._pipe, select.POLLIN)
        self._nap = _SHORTEST_NAP
        self.silent = False

    def read(self) -> bytes:
        """The output since the last call; waits for it for at most a twentieth of a second."""
        if self.silent:
            # A shell usually ends right after its last output, so the first naps are short.
            time.sleep(self._nap)
            self._nap = min(2 * self._nap, _LONGEST_NAP)
            return b""
        if not self._readable.poll(1000 * _LONGEST_NAP):
            return b""
        try:
            chunk = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return b""
        self.silent = not chunk
        return chunk

    def have_ended(self) -> bool:
        """True if the shell has ended; where possible it is not reaped, so that its group's id stays valid."""
        if hasattr(os, "waitid"):
            return os.waitid(os.P_PID, self._shell.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return self._shell.poll() is not None

    def ask_to_end(self) -> None:
        """Ask the whole group to end with SIGTERM; SIGCONT wakes stopped processes for it."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)

    def end(self, take: Callable[[bytes], None]) -> int:
        """Kill the rest of the group; return the shell's exit code, 128 + n if signal n ended it, as shells report it.

        Args:
            take: called with each piece of the remaining output.
        """
        code, left = -signal.SIGKILL, _MOST_LEFT
        self._signal(signal.SIGKILL)
        try:
            self._guard.dismiss()
            # A command that runs as another user (sudo) cannot be killed from here, so the wait for it is limited.
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._shell.wait(_PATIENCE)
            # A process that left the group may keep writing to the pipe; take only what the pipe holds now.
            while left > 0 and not self.silent and self._readable.poll(0):
                chunk = self.read()
                take(chunk)
                left -= len(chunk)
        finally:
            self._pipe.close()
        return code if code >= 0 else 128 - code

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._shell.pid, number)


class _Guard:
    """A small process that kills a process group once this process has ended for any reason.

    Raises:
        InputOutput: the system cannot start more processes.
    """

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDING],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
                close_fds=True,
            )
        except OSError as error:
            raise _not_started(error) from error

    def watch(self, group: int) -> None:
        """Watch a group until the guard is dismissed."""
        assert self._process.stdin is not None
        # If the guard has been killed in the meantime, the command runs without one.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(b"%d\n" % group)

    def dismiss(self) -> None:
        """End the guard; the shell is reaped only afterwards, as its group's id could then be reused."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()


def _not_started(error: OSError) -> FsToolsError:
    if error.errno == errno.E2BIG:
        return TooLarge(
            "the command and its environment are longer than the system allows",
            hint="Write it to a file with `write_file` and run that file.",
        )
    if error.errno == errno.EACCES:
        return Denied("the folder cannot be entered", hint="Check its permissions.")
    return InputOutput(f"the command cannot be started: {error.strerror}", hint="Try again.")
