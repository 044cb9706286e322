"""Runs a command within its limits; finds files it changed."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..backends.path_names import spelled_for_system
from ..backends.protocol import Backend
from ..errors import Invalid
from ..globs.patterns import compile_glob
from ..walking.listing import EVERYTHING, Visible
from ..walking.names import joined
from ..walking.stopping import NoDescriptors, Stop
from ..walking.walk import Walk
from .processes import Processes

_CONTINUATION = range(0x80, 0xC0)
_LONGEST_CHARACTER = 4


class CappedOutput:
    """Collects output and keeps its first and last bytes.

    Args:
        most: bytes kept; half of them from the beginning.
    """

    def __init__(self, most: int) -> None:
        self._head_room = most // 2
        self._tail_room = most - self._head_room
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    @property
    def truncated(self) -> bool:
        """True if there was more output than is kept."""
        return self._total > self._head_room + self._tail_room

    def add(self, chunk: bytes) -> None:
        """Add the next output."""
        self._total += len(chunk)
        room = self._head_room - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: -self._tail_room]

    def text(self) -> str:
        """The kept output as UTF-8 (invalid bytes are replaced), with a marker where bytes were left out.

        The cuts are between characters.
        """
        if not self.truncated:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = _whole_characters(bytes(self._head))
        tail = bytes(self._tail[-self._tail_room :])
        cut = next((at for at, byte in enumerate(tail[:_LONGEST_CHARACTER]) if byte not in _CONTINUATION), 0)
        tail = tail[cut:]
        left_out = self._total - len(head) - len(tail)
        marker = f"\n[... {left_out} bytes left out ...]\n"
        return head.decode("utf-8", "replace") + marker + tail.decode("utf-8", "replace")


class LiveText:
    """The output as text, piece by piece; after `most` bytes a note says that the end comes with the result.

    Args:
        most: bytes that are passed on in all, to avoid flooding the listener.
    """

    def __init__(self, most: int) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._left = most

    def next(self, chunk: bytes) -> str:
        """The text that a chunk completes; an incomplete character is held back until its rest comes."""
        if self._left < 0:
            return ""
        text = self._decoder.decode(chunk[: self._left])
        self._left -= len(chunk)
        return text if self._left >= 0 else f"{text}\n[... more output: its end comes with the result ...]\n"

    def end(self) -> str:
        """The replacement for a character that remained incomplete."""
        return self._decoder.decode(b"", final=True) if self._left >= 0 else ""


def _whole_characters(data: bytes) -> bytes:
    """The bytes without an incomplete character at their end."""
    decoder = getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    return data[: len(data) - len(decoder.getstate()[0])]


_KEPT_BACK = re.compile(
    r"JUPYTER_TOKEN.*|JPY_.*|JUPYTERHUB_.*|CONFIGPROXY_AUTH_TOKEN"
    r"|JUPYTER_GATEWAY_AUTH_TOKEN|JUPYTER_GATEWAY_HTTP_PWD|KG_AUTH_TOKEN"  # Jupyter's gateway.
    r"|PGPASSWORD"  # The store.
    r"|FORCE_COLOR|CLICOLOR.*"  # A kernel sets these to get colours without a terminal.
)
"""Variables withheld from commands: tokens, passwords, variables that lead to them, and switches for colours."""
_PLAIN_TEXT = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def environment(folder: str, added: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command.

    Args:
        folder: its working directory.
        added: the caller's own variables; they replace inherited ones.
    """
    kept = {name: value for name, value in os.environ.items() if not _KEPT_BACK.fullmatch(name)}
    spelled = {name: spelled_for_system(value) for name, value in added.items()}
    return {**kept, **_PLAIN_TEXT, "PWD": folder, **spelled}


def check_environment(added: Mapping[str, str]) -> None:
    """Refuse names and values that an environment cannot hold.

    Raises:
        Invalid
    """
    for name, value in added.items():
        if not _NAME.fullmatch(name):
            raise Invalid(
                f"env: takes names of letters, digits and _, got {ascii(name)[:60]}",
                hint="Correct the name.",
                field="env",
            )
        check_text("env", value)


def check_text(field: str, text: str) -> None:
    """Refuse a text that cannot be passed to a program.

    Raises:
        Invalid: it contains a NUL, or a lone surrogate that is not an escaped byte.
    """
    if "\0" in text:
        raise Invalid(f"{field}: holds a NUL character", hint="Leave it out.", field=field)
    try:
        spelled_for_system(text)
    except UnicodeEncodeError:
        raise Invalid(f"{field}: holds a lone surrogate", hint="Send whole characters.", field=field) from None


_LAST_WORDS_SECONDS = 0.5
_GRACE_SECONDS = 2.0


class Ran(NamedTuple):
    """The end of a command, and its output.

    Attributes:
        output: the output of both streams in order; only the beginning and end if it was long.
        truncated: True if the middle was left out.
        exit_code: the shell's; 128 + n if signal n ended it.
        timed_out: True if its time was up before it ended.
        cancelled: True if the caller stopped waiting before it ended.
        seconds: its running time.
    """

    output: str
    truncated: bool
    exit_code: int
    timed_out: bool
    cancelled: bool
    seconds: float


def run_command(
    command: str,
    folder: str,
    environment: Mapping[str, str],
    *,
    folder_fd: int | None,
    seconds: float,
    most: int,
    cancelled: threading.Event | None = None,
    tell: Callable[[str], None] | None = None,
    ended: Callable[[Ran], None] | None = None,
) -> Ran:
    """Run a command, and kill its remaining processes when its shell ends, its time is up or its caller has gone.

    Processes left in the background, or still running after the time limit, are asked to end and killed after two
    seconds; after a cancellation, or an interrupt of the caller, they are killed at once.

    Args:
        command: for `processes.shell()`.
        folder: its working directory.
        environment: the whole environment.
        folder_fd: a descriptor of the folder, if there is one; a rename or a link cannot redirect it.
        seconds: its time limit.
        most: bytes of output that are kept, and passed to `tell`.
        cancelled: set once the caller stops waiting.
        tell: called with the output as it comes, in this thread.
        ended: called with the result of a command that was started, even if this function raises an exception.

    Raises:
        Denied, TooLarge, InputOutput: the command was not started.
    """
    stop = Stop(seconds, cancelled)
    output, live = CappedOutput(most), LiveText(most)

    def take(chunk: bytes) -> None:
        output.add(chunk)
        if tell is not None and chunk and (text := live.next(chunk)):
            tell(text)

    began = time.monotonic()
    processes = Processes(command, folder, folder_fd, environment)
    try:
        while not (processes.have_ended() or stop.now()):
            take(processes.read())
        if stop.reason is None:
            _listen(processes, take, _LAST_WORDS_SECONDS, cancelled)
        processes.ask_to_end()
        _listen(processes, take, _GRACE_SECONDS, cancelled)
    except BaseException:
        tell = None
        stop.end()
        raise
    finally:
        code = processes.end(take)
        seconds, why = time.monotonic() - began, stop.reason
        ran = Ran(output.text(), output.truncated, code, why == "timeout", why == "cancelled", seconds)
        if ended is not None:
            ended(ran)
    if tell is not None and (text := live.end()):
        tell(text)
    return ran


def _listen(
    processes: Processes, take: Callable[[bytes], None], seconds: float, cancelled: threading.Event | None
) -> None:
    """Read output until every writer has ended, for at most `seconds`."""
    stop = Stop(seconds, cancelled)
    while not (processes.silent and processes.have_ended()) and not stop.now():
        take(processes.read())


MOST_FILES = 100
MOST_SECONDS = 1.0
_COARSE_CLOCK = 5
"""Id of Linux' CLOCK_REALTIME_COARSE, which lags by some milliseconds; file times come from it or the precise clock."""


class ChangedFiles(NamedTuple):
    """Paths in alphabetical order, at most `MOST_FILES`, and the total number found.

    `complete` is False if the search for them took too long.
    """

    paths: list[str]
    total: int
    complete: bool


def next_moment() -> int:
    """A time after all changes so far and before all later ones; nanoseconds since 1970."""
    now = time.time_ns()
    while sys.platform == "linux" and time.clock_gettime_ns(_COARSE_CLOCK) < now:
        time.sleep(0.001)
    return now


def files_changed_since(backend: Backend, moment: int, *, visible: Visible = EVERYTHING) -> ChangedFiles:
    """The files that were made, written, renamed or given other rights since a moment.

    A link to a file counts under its own name, as in `glob`. Files that `.gitignore` excludes and folders such as
    `.git` and `node_modules` are skipped; deletions are not found, nor files whose folder was renamed.

    Args:
        backend: the files.
        moment: the result of `next_moment`.
        visible: decides which paths are shown.
    """
    stop = Stop(MOST_SECONDS)
    every = compile_glob("**", include_hidden=True, root=backend.root_key)
    walk = Walk(backend, "", every, include_ignored=False, visible=visible, stop=stop)
    found: list[str] = []
    try:
        for folder, files, links, _ in walk:
            names = [*files, *dict(links)]
            found += [joined(folder.path, name) for name in folder.changed(names, moment)]
            if stop.now():
                break
    except NoDescriptors:
        stop.end()
    return ChangedFiles(sorted(found)[:MOST_FILES], len(found), stop.reason is None)
