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
    """Takes bytes as they come and keeps the first and the last of them.

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
        """More output came than is kept."""
        return self._total > self._head_room + self._tail_room

    def add(self, chunk: bytes) -> None:
        """Take what came next."""
        self._total += len(chunk)
        room = self._head_room - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: -self._tail_room]

    def text(self) -> str:
        """All that is kept, as UTF-8 (what is none is replaced), with a marker where something was left out.

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
    """The same bytes as text, as they come; after so many bytes a note says that the rest comes with the result.

    Args:
        most: bytes that are told in all, so that nobody who listens is flooded.
    """

    def __init__(self, most: int) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._left = most

    def next(self, chunk: bytes) -> str:
        """The text that a chunk completes; an unfinished character waits for its rest."""
        if self._left < 0:
            return ""
        text = self._decoder.decode(chunk[: self._left])
        self._left -= len(chunk)
        return text if self._left >= 0 else f"{text}\n[... more output: its end comes with the result ...]\n"

    def end(self) -> str:
        """The rest of a character that was never finished."""
        return self._decoder.decode(b"", final=True) if self._left >= 0 else ""


def _whole_characters(data: bytes) -> bytes:
    """The bytes without an unfinished character at their end."""
    decoder = getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    return data[: len(data) - len(decoder.getstate()[0])]


_KEPT_BACK = re.compile(
    r"JUPYTER_TOKEN.*|JPY_.*|JUPYTERHUB_.*|CONFIGPROXY_AUTH_TOKEN"
    r"|JUPYTER_GATEWAY_AUTH_TOKEN|JUPYTER_GATEWAY_HTTP_PWD|KG_AUTH_TOKEN"  # Of Jupyter's gateway.
    r"|PGPASSWORD"  # Of the store.
    r"|FORCE_COLOR|CLICOLOR.*"  # A kernel sets them to have colours where there is no terminal.
)
"""Tokens, passwords and what leads to them; and what puts colours into output."""
_PLAIN_TEXT = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def environment(folder: str, added: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command.

    Args:
        folder: where it begins.
        added: the caller's own, which replace what is there.
    """
    kept = {name: value for name, value in os.environ.items() if not _KEPT_BACK.fullmatch(name)}
    return {**kept, **_PLAIN_TEXT, "PWD": folder, **added}


def check_environment(added: Mapping[str, str]) -> None:
    """Refuse names and values that no environment can hold.

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
    """Refuse a text that cannot be handed to a program.

    Raises:
        Invalid: it holds a NUL, or a lone surrogate that stands for no byte.
    """
    if "\0" in text:
        raise Invalid(f"{field}: holds a NUL character", hint="Leave it out.", field=field)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise Invalid(f"{field}: holds a lone surrogate", hint="Send whole characters.", field=field) from None


_LAST_WORDS_SECONDS = 0.5
_GRACE_SECONDS = 2.0


class Ran(NamedTuple):
    """The end of a command, and its output.

    Attributes:
        output: what it printed, on both streams, in the order it came; the beginning and the end of it.
        truncated: the middle was left out.
        exit_code: the shell's; 128 + n where signal n ended it.
        timed_out: its time was over before it had ended.
        cancelled: nobody waited any more before it had ended.
        seconds: how long it ran.
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
    """Run a command, and kill what is left of it when its shell ends, its time is up or its caller has gone.

    What it left in the background, and what runs when the time is over, is asked to end and after two seconds made to;
    a cancelled command, or one whose caller is interrupted, is ended at once.

    Args:
        command: for `processes.shell()`.
        folder: where it begins.
        environment: all of it.
        folder_fd: a descriptor of the folder, where there is one: nobody can lead it elsewhere.
        seconds: its time.
        most: bytes of output that are kept, and told.
        cancelled: set once nobody waits.
        tell: called with the output as it comes, in this thread.
        ended: called with the end of a command that was started, also where an exception leaves this function.

    Raises:
        Denied, TooLarge, InputOutput: it was not started.
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
    """Read output until every writer has ended, for so long at most."""
    stop = Stop(seconds, cancelled)
    while not (processes.silent and processes.have_ended()) and not stop.now():
        take(processes.read())


MOST_FILES = 100
MOST_SECONDS = 1.0
_COARSE_CLOCK = 5
"""Linux' CLOCK_REALTIME_COARSE, which goes some milliseconds behind: files are stamped by it or by the real one."""


class ChangedFiles(NamedTuple):
    """Canonical paths in alphabetical order, `MOST_FILES` at most, and how many there are.

    `complete` is False where the search for them took too long.
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

    What `.gitignore` leaves out and folders such as `.git` and `node_modules` are not looked at; a deletion leaves
    nothing to be seen.

    Args:
        backend: where they are.
        moment: as `next_moment` gave it.
        visible: decides which paths are told.
    """
    stop = Stop(MOST_SECONDS)
    every = compile_glob("**", include_hidden=True, root=backend.root_key)
    walk = Walk(backend, "", every, include_ignored=False, visible=visible, stop=stop)
    found: list[str] = []
    try:
        for folder, files, _, _ in walk:
            found += [joined(folder.path, name) for name in folder.changed(files, moment)]
            if stop.now():
                break
    except NoDescriptors:
        stop.end()
    return ChangedFiles(sorted(found)[:MOST_FILES], len(found), stop.reason is None)
