"""Listening to a ripgrep that walks by itself: what it meets there may do it no good."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from .ripgrep_process import RipgrepFailed
from .ripgrep_run import LOOK_SECONDS, Run, Said
from .stopping import Stop

MOST_LINES = 8000
"""Of the long ones that it says of what is ignored or a link: from there on, to be given names is quicker for it."""
MOST_SAID_BYTES = 64 << 20
MOST_MEMORY_BYTES = 256 << 20
"""It reads ignore files whole, whatever they are."""
IDLE_SECONDS, LEAST_BUSY = 3.0, 0.5
"""It is idle if it says nothing in that time, and at fewer looks than this part of them one of its threads runs, could
run or waits for a disk: to open a FIFO for an ignore file takes for ever, while other threads sleep and look around."""
_LONG = (b": Ignore(IgnoreMatch(", b": failed to pass haystack filter: ")


class Watch:
    """Listens to a run, and ends it when the search is stopped or it goes wrong.

    What it does is seen where there is `/proc`; elsewhere only what it says.

    Args:
        run: the run.
        stop: when to end.
    """

    def __init__(self, run: Run, stop: Stop) -> None:
        self._run = run
        self._stop = stop
        self._lines = self._said_beside = self._said = 0
        self._looked = time.monotonic()
        self._begin()

    @property
    def code(self) -> int | None:
        """What it ended with; None if it has been ended before."""
        return self._run.code

    def said(self) -> Iterator[Said]:
        """What it says to its end, or until the search is stopped; see `Run.said`.

        Raises:
            RipgrepFailed: it has been ended because it goes wrong.
        """
        for printed, beside in self._run.said():
            fault = self._what_it_said(beside) or self._what_it_does(waited=not (printed or beside))
            if fault:
                raise RipgrepFailed(fault)
            if self._stop.now():
                self._run.end()
            yield printed, beside

    def _begin(self) -> None:
        self._since, self._looks, self._busy = time.monotonic(), 0, 0

    def _what_it_said(self, beside: bytes) -> str:
        self._lines += sum(map(beside.count, _LONG))
        self._said_beside += len(beside)
        too_much = self._lines > MOST_LINES or self._said_beside > MOST_SAID_BYTES
        return "it passes over too much" if too_much else ""

    def _what_it_does(self, *, waited: bool) -> str:
        if not waited and time.monotonic() - self._looked < LOOK_SECONDS:
            return ""
        self._looked = time.monotonic()
        try:
            threads = [_fields(path) for path in Path(f"/proc/{self._run.pid}/task").iterdir()]
            memory = max(int(fields[21]) for fields in threads) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError):
            return ""  # no such system, or it has just ended
        if memory > MOST_MEMORY_BYTES:
            return "it takes too much memory"
        self._looks += 1
        self._busy += any(fields[0] in (b"R", b"D") for fields in threads)
        if self._run.said_bytes > self._said or not waited:  # Or it waited for us.
            self._said = self._run.said_bytes
            self._begin()
        elif time.monotonic() - self._since > IDLE_SECONDS:
            if self._busy <= LEAST_BUSY * self._looks:
                return "it does nothing"
            self._begin()
        return ""


def _fields(thread: Path) -> list[bytes]:
    """What the system says of a thread (`man 5 proc_pid_stat`), from its state on."""
    return (thread / "stat").read_bytes().rpartition(b")")[2].split()
