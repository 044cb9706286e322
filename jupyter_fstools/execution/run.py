"""One command from its start to its end: how long it may take, who may stop it, and what it printed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..search.stopping import Stop
from .capped_output import CappedOutput, LiveText
from .processes import Processes

_LAST_WORDS_SECONDS = 0.1
_GRACE_SECONDS = 2.0


class Ran(NamedTuple):
    """What became of a command.

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
) -> Ran:
    """Run a command, and end whatever is left of it when its shell ends, its time is over or nobody waits.

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
    finally:
        code = processes.end(take)
    if tell is not None and (text := live.end()):
        tell(text)
    seconds = time.monotonic() - began
    return Ran(output.text(), output.truncated, code, stop.reason == "timeout", stop.reason == "cancelled", seconds)


def _listen(
    processes: Processes, take: Callable[[bytes], None], seconds: float, cancelled: threading.Event | None
) -> None:
    """Take what is printed until nobody is left to print, for so long at most."""
    stop = Stop(seconds, cancelled)
    while not (processes.silent and processes.have_ended()) and not stop.now():
        take(processes.read())
