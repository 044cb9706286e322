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

from ..errors import Denied, FsToolsError, InputOutput, TooLarge

_CHUNK = 64 << 10
_MOST_LEFT = 1 << 20
"""Bytes that a pipe holds at most, unless an administrator made it larger."""
_PATIENCE = 5.0
_GUARDING = 'read -r group || exit; read -r _; kill -s KILL -- "-$group"'
"""Its input ends when nobody holds the other end any more."""
_SHORTEST_NAP, _LONGEST_NAP = 0.001, 0.05


def can_run() -> bool:
    """Whether a command and all it started can be ended as one, and its exit code be learned.

    Windows has no process groups; and where SIGCHLD is ignored, as whoever started this process may have arranged, the
    system forgets the exit code.
    """
    has_groups = hasattr(os, "killpg") and hasattr(select, "poll")
    return has_groups and signal.getsignal(signal.SIGCHLD) is not signal.SIG_IGN


@cache
def shell() -> str:
    """The shell that commands are written for: bash, as most who write them expect; where there is none, sh."""
    return shutil.which("bash") or "/bin/sh"


class Processes:
    """A shell that runs a command, and whatever it starts, as far as that stays in its process group.

    They are killed, too, once this process has gone. A process that makes itself a session of its own (`setsid`, a
    daemon) leaves the group and is not ended with it.

    Args:
        command: a line or a script for `shell()`.
        folder: where it begins.
        folder_fd: a descriptor of it, where there is one: nobody can lead it elsewhere.
        environment: all of it.

    Attributes:
        silent: nobody is left who could print anything.

    Raises:
        TooLarge: more than the system hands to a program.
        Denied: the folder cannot be entered.
        InputOutput: what else the system said instead of starting it.
    """

    def __init__(self, command: str, folder: str, folder_fd: int | None, environment: Mapping[str, str]) -> None:
        link = f"/proc/self/fd/{folder_fd}"
        self._guard = _Guard()
        try:
            self._shell = subprocess.Popen(
                [shell(), "-c", "--", os.fsencode(command)],
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
        """The output since the last call; waits a twentieth of a second for it at most."""
        if self.silent:
            # A shell ends right after its last word, as a rule: so the first naps are short.
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
        """Whether the shell has; it keeps its number, so that its group can still be named."""
        if hasattr(os, "waitid"):
            return os.waitid(os.P_PID, self._shell.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return self._shell.poll() is not None

    def ask_to_end(self) -> None:
        """Tell all of them to end; one that was stopped is woken for it."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)

    def end(self, take: Callable[[bytes], None]) -> int:
        """End what is left of them; gives the shell's exit code, 128 + n where signal n ended it, as shells say it.

        Args:
            take: called with every piece of what they still had printed.
        """
        code, left = -signal.SIGKILL, _MOST_LEFT
        self._signal(signal.SIGKILL)
        try:
            self._guard.dismiss()
            # Who runs as somebody else (sudo) may not be ours to end; nobody waits for that.
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._shell.wait(_PATIENCE)
            # Whoever left the group may hold the pipe and go on: what it holds now is all that is taken.
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
    """A small process that kills a process group once this process has gone, however it ended.

    Raises:
        InputOutput: the system starts no more processes.
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
        """Watch over a group, until it is dismissed."""
        assert self._process.stdin is not None
        # Whoever ended the guard meanwhile has the command without one.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(b"%d\n" % group)

    def dismiss(self) -> None:
        """End it; the group keeps its number until then."""
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
