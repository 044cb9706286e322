"""A look now and then at a ripgrep that walks by itself: what it meets there may do it no good."""

from __future__ import annotations

import os
import time

from .ripgrep_process import Run

MOST_LINES = 8000
"""Of the long ones that it says of what is ignored or a link: from there on, to be given names is quicker for it."""
MOST_SAID_BYTES = 64 << 20
MOST_MEMORY_BYTES = 256 << 20
"""It reads ignore files whole, whatever they are."""
IDLE_SECONDS = 3.0
LEAST_WORK = 0.1
"""In this many seconds it says nothing, and works for less than this part of them: it waits for ever to open a FIFO
for an ignore file, while its other threads look now and then whether there is something for them."""
_LONG = (b": Ignore(IgnoreMatch(", b": failed to pass haystack filter: ")
_BLOCK_BYTES = 1 << 20


class Watch:
    """Ends a run that goes wrong.

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
        self._since, self._worked, self._said = time.monotonic(), 0.0, 0

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
            with open(f"/proc/{self._run.pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            memory = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
            worked = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):
            return ""  # no such system, or it has just ended
        if memory > MOST_MEMORY_BYTES:
            return "it takes too much memory"
        said = sum(os.fstat(file.fileno()).st_size for file in (self._run.printed, self._run.beside))
        seconds = time.monotonic() - self._since
        if said > self._said or worked - self._worked > LEAST_WORK * IDLE_SECONDS:
            self._since, self._worked, self._said = time.monotonic(), worked, said
        elif seconds > IDLE_SECONDS:
            return "it does nothing"
        return ""
