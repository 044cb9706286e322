"""Runs calls in threads, fairly among readers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from weakref import WeakSet, WeakValueDictionary

from ..errors import Disabled, TimedOut
from ..stores.records import Reader

_T = TypeVar("_T")


class CallPool:
    """Threads for calls.

    A call that waits for a file which another call holds keeps its thread meanwhile. So there are many of them (they
    are made only when needed), and one reader gets a part: the rest of its calls wait for their turn without one.

    Args:
        threads: calls that run at once.
        per_reader: calls of one reader that run at once.
    """

    def __init__(self, threads: int = 128, per_reader: int = 32) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="fstools")
        self._per_reader = per_reader
        self._closed = False
        self._running: WeakSet[threading.Event] = WeakSet()
        self._turns: WeakValueDictionary[Reader, asyncio.Semaphore] = WeakValueDictionary()

    async def run(self, reader: Reader, call: Callable[[], _T], left: threading.Event | None = None) -> _T:
        """Run a call for a reader; gives what it gives and raises what it raises.

        Args:
            reader: who asks.
            call: the work.
            left: set once nobody waits for it; the pool sets it when the server stops.

        Raises:
            Disabled: the server is stopping; TimedOut: `left` was set before its turn came.
        """
        turn = self._turns.get(reader)
        if turn is None:
            turn = self._turns[reader] = asyncio.Semaphore(self._per_reader)
        async with turn:
            if self._closed:
                raise Disabled("the server is stopping", hint="Try again when it runs.")
            if left is not None:
                self._running.add(left)
            return await asyncio.get_running_loop().run_in_executor(self._threads, _unless_left, call, left)

    def close(self) -> None:
        """Start no more calls; those that run finish, and those that take long are told that nobody waits for them."""
        self._closed = True
        for left in list(self._running):
            left.set()
        self._threads.shutdown(wait=False)


def _unless_left(call: Callable[[], _T], left: threading.Event | None) -> _T:
    if left is not None and left.is_set():
        raise TimedOut("the caller has gone before the call's turn came (not modified)", hint="Call again.")
    return call()
