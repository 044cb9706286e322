"""A look now and then at a ripgrep that walks by itself: what it meets there may do it no good."""

from __future__ import annotations

import os
import time
from pathlib import Path

from .ripgrep_process import Run

MOST_LINES = 8000
"""Of the long ones that it says of what is ignored or a link: from there on, to be given names is quicker for it."""
MOST_SAID_BYTES = 64 << 20
MOST_MEMORY_BYTES = 256 << 20
"""It reads ignore files whole, whatever they are."""
IDLE_SECONDS, LEAST_BUSY = 3.0, 0.5
"""It is idle if it says nothing in that time, and at fewer looks than this part of them one of its threads runs, could
run or waits for a disk: to open a FIFO for an ignore file takes for ever, while other threads sleep and look around."""
_LONG = (b": Ignore(IgnoreMatch(", b": failed to pass haystack filter: ")
_BLOCK_BYTES = 1 << 20


class Watch:
    """Ends a run that goes wrong. What it does is seen where there is `/proc`; elsewhere only what it says.

    Args:
        run: the run.

    Attributes:
        fault: why it has been ended; empty if it has not.
    """

    def __init__(self, run: Run) -> None:
        self.fault = ""
        self._run = run
        self._read = 0
        self._lines = 0
        self._said = 0
        self._begin()

    def _begin(self) -> None:
        self._since, self._looks, self._busy = time.monotonic(), 0, 0

    def look(self) -> None:
        """Look at what it has said, at the memory it holds, and whether it does anything."""
        if not self.fault:
            self.fault = self._what_it_said() or self._what_it_does()
            if self.fault:
                self._run.end()

    def _what_it_said(self) -> str:
        if not hasattr(os, "pread"):
            return ""
        said = os.pread(self._run.beside.fileno(), _BLOCK_BYTES, self._read)
        self._read += len(said)
        self._lines += sum(map(said.count, _LONG))
        too_much = self._lines > MOST_LINES or os.fstat(self._run.beside.fileno()).st_size > MOST_SAID_BYTES
        return "it passes over too much" if too_much else ""

    def _what_it_does(self) -> str:
        try:
            threads = [_fields(path) for path in Path(f"/proc/{self._run.pid}/task").iterdir()]
            memory = max(int(fields[21]) for fields in threads) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError):
            return ""  # no such system, or it has just ended
        if memory > MOST_MEMORY_BYTES:
            return "it takes too much memory"
        said = sum(os.fstat(file.fileno()).st_size for file in (self._run.printed, self._run.beside))
        self._looks += 1
        self._busy += any(fields[0] in (b"R", b"D") for fields in threads)
        if said > self._said:
            self._said = said
            self._begin()
        elif time.monotonic() - self._since > IDLE_SECONDS:
            if self._busy <= LEAST_BUSY * self._looks:
                return "it does nothing"
            self._begin()
        return ""


def _fields(thread: Path) -> list[bytes]:
    """What the system says of a thread (`man 5 proc_pid_stat`), from its state on."""
    return (thread / "stat").read_bytes().rpartition(b")")[2].split()
