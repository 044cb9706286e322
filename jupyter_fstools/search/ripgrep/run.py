"""Reads the output of one ripgrep process in threads."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from queue import Empty, Full, Queue
from threading import Thread
from typing import IO

LOOK_SECONDS = 0.05
"""Longest time between two checks whether a run should go on."""
_PAUSE_SECONDS, _PAUSE_PART, _MUCH_BYTES = 0.005, 0.05, 32 << 10
"""Pause after a short read of a pipe, in seconds and as a part of the time since it was opened, and the size of a read
that is not short: waking up for every few bytes costs more than searching a file."""
_PIPE_BYTES, _READ_BYTES = 1 << 20, 128 << 10
"""Size of the pipe's buffer, which holds the output of a pause, and of one read."""
_BLOCK_BYTES, _MOST_WAITING = 128 << 10, 4
"""Size of a block for the reader (one or two thousand paths), and how many blocks may wait for it."""
Said = tuple[bytes, bytes]
"""A piece of standard output and one of standard error; usually one of them is empty."""


class Run:
    """One run, with its standard output (results) and standard error (errors and skipped files).

    Args:
        process: the process, with pipes.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._ended = self._closed = False
        self._blocks: Queue[tuple[int, bytes]] = Queue(_MOST_WAITING)
        assert process.stdout and process.stderr
        self._pipes = (process.stdout, process.stderr)
        self._readers: list[Thread] = []

    def read(self) -> None:
        """Begin to read its output.

        Raises:
            RuntimeError: no thread can be started.
        """
        for which, pipe in enumerate(self._pipes):
            reader = Thread(target=self._read, args=(which, pipe), daemon=True)
            reader.start()
            self._readers.append(reader)

    @property
    def code(self) -> int | None:
        """The exit code; None if the run was killed before its end."""
        return None if self._ended else self._process.returncode

    def said(self) -> Iterator[Said]:
        """The output to its end, in pieces; an empty one where nothing came for `LOOK_SECONDS`."""
        speaking = len(self._pipes)
        while speaking:
            try:
                which, block = self._blocks.get(timeout=LOOK_SECONDS)
            except Empty:
                yield b"", b""
                continue
            speaking -= not block
            yield (b"", block) if which else (block, b"")
        self._process.wait()

    def end(self) -> None:
        """Kill the process and its children, unless it has ended; its output so far can still be read."""
        if self._process.returncode is None:
            self._ended = True
            end_group(self._process)

    def close(self) -> None:
        """End the run, and stop reading its output."""
        self._closed = True
        self.end()
        for reader in self._readers:
            reader.join()
        for pipe in self._pipes:
            pipe.close()

    def _read(self, which: int, pipe: IO[bytes]) -> None:
        try:
            for block in self._gathered(pipe):
                self._hand_on(which, block)
        finally:
            self._hand_on(which, b"")

    def _gathered(self, pipe: IO[bytes]) -> Iterator[bytes]:
        gathered: list[bytes] = []
        much = min(_MUCH_BYTES, _widened(pipe) // 2)
        began = handed_on = time.monotonic()
        while self._has_come(pipe) and (block := os.read(pipe.fileno(), _READ_BYTES)):
            gathered.append(block)
            now = time.monotonic()
            if now - handed_on >= LOOK_SECONDS or sum(map(len, gathered)) >= _BLOCK_BYTES:
                yield b"".join(gathered)
                gathered, handed_on = [], now
            if len(block) < much:
                time.sleep(min(_PAUSE_SECONDS, _PAUSE_PART * (now - began)))
        if gathered:
            yield b"".join(gathered)

    def _has_come(self, pipe: IO[bytes]) -> bool:
        """Wait for more output; False at its end, or once the run is closed.

        The pipe itself may outlive its process, if another process forked at the same moment holds it too.
        """
        if not hasattr(select, "poll"):
            return not self._closed
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while not self._closed:
            ended = self._process.poll() is not None
            if poll.poll(0 if ended else LOOK_SECONDS * 1000):
                return True
            if ended:
                return False
        return False

    def _hand_on(self, which: int, block: bytes) -> None:
        while not self._closed:
            with contextlib.suppress(Full):
                self._blocks.put((which, block), timeout=LOOK_SECONDS)
                return


def _widened(pipe: IO[bytes]) -> int:
    """Enlarge a pipe's buffer where the system can; returns its size in bytes."""
    try:
        import fcntl

        with contextlib.suppress(OSError):
            return fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        return fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    except (ImportError, AttributeError, OSError):
        return 2 * _MUCH_BYTES


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children, and reap it."""
    with contextlib.suppress(OSError):
        if process.returncode is not None:
            return
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
