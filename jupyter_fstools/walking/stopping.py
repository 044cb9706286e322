"""Stops searches and reads: time limit, cancellation, out of descriptors."""

from __future__ import annotations

import contextlib
import errno
import threading
import time
from collections.abc import Callable, Iterator
from typing import Literal

from ..backends.protocol import FileStat, OpenFile
from ..content.source import Chunk
from ..errors import FsToolsError, InputOutput, TimedOut


class NoDescriptors(Exception):
    """This process or machine can open no more files: a search would miss all that is left.

    It is no `FsToolsError` and no `OSError`, as a search continues after those.
    """


def check_descriptors(error: BaseException | None) -> None:
    """Turn an error that means a lack of descriptors into `NoDescriptors`.

    Raises:
        NoDescriptors
    """
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        raise NoDescriptors from error


@contextlib.contextmanager
def told_apart() -> Iterator[None]:
    """The same for errors and refusals of a backend within the block."""
    try:
        yield
    except (OSError, FsToolsError) as error:
        check_descriptors(error if isinstance(error, OSError) else error.__cause__)
        raise


@contextlib.contextmanager
def refusing_too_many_open() -> Iterator[None]:
    """Turn `NoDescriptors` within the block, or within a function decorated with it, into the refusal of a search.

    Raises:
        InputOutput
    """
    try:
        yield
    except NoDescriptors as error:
        raise InputOutput("too many files are open", hint="Try again later.") from error


Reason = Literal["timeout", "cancelled"]
Cancelled = Callable[[], bool] | threading.Event | None


class Stop:
    """Tells whether a search must stop, when polled. Once it has a reason, it keeps it.

    Args:
        seconds: how long the search may take; None: no limit.
        cancelled: an event, or a function that returns True once nobody waits for the answer.
    """

    def __init__(self, seconds: float | None = None, cancelled: Cancelled = None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self._cancelled = cancelled.is_set if isinstance(cancelled, threading.Event) else cancelled
        self.reason: Reason | None = None

    def now(self) -> bool:
        """Whether to stop now; `reason` says why."""
        if self.reason is None:
            if self._cancelled is not None and self._cancelled():
                self.reason = "cancelled"
            elif self._until is not None and time.monotonic() >= self._until:
                self.reason = "timeout"
        return self.reason is not None

    def end(self) -> None:
        """Stop the search, as its caller has been interrupted."""
        self.reason = self.reason or "cancelled"

    def extend(self, seconds: float) -> None:
        """Give a search that timed out some more time, to show its results."""
        self.reason = None
        self._until = time.monotonic() + seconds


class BoundedReading:
    """An open file that refuses further reads once its reader has to stop.

    Args:
        opened: the file.
        stop: polled before each piece.
    """

    def __init__(self, opened: OpenFile, stop: Stop) -> None:
        self._opened = opened
        self._stop = stop

    @property
    def stat(self) -> FileStat:
        """The file as it was when it was opened."""
        return self._opened.stat

    @property
    def size(self) -> int:
        """Length in bytes."""
        return self._opened.size

    def read(self, start: int, length: int) -> bytes:
        """As `Content.read`; raises TimedOut."""
        self._check()
        return self._opened.read(start, length)

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
        """As `Content.chunks`; raises TimedOut."""
        for chunk in self._opened.chunks(start, end):
            self._check()
            yield chunk

    def unchanged(self) -> bool:
        """As `OpenFile.unchanged`."""
        return self._opened.unchanged()

    def _check(self) -> None:
        if self._stop.now():
            why = "nobody waits for it any more" if self._stop.reason == "cancelled" else "it took too long"
            raise TimedOut(
                f"{self.stat.path}: reading was stopped: {why}",
                hint="Repeat the call: lines that were counted are not counted again. Or find the place with `grep`.",
            )
