"""Runs calls in threads, fairly among clients and their sessions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeVar
from weakref import WeakSet, WeakValueDictionary

from ..errors import InputOutput, TimedOut
from ..stores.records import Reader

_T = TypeVar("_T")
_LONGEST_PAUSE = 0.05
_HEAD_START_SECONDS = 0.005
"""Seconds after which the next call begins beside a running one, which may wait for a disk or another program."""


class Caller(NamedTuple):
    """The owner of a call: `client` is what a login or token proves, while a client chooses its sessions' names."""

    client: str
    reader: Reader


class CallPool:
    """Threads for calls.

    A call that meets a file's lock gives its thread back and waits in line, without one, to begin again. A client has a
    part of the threads, and each of its sessions a part of that: the rest of its calls wait for their turn.

    Calls begin one after another, each with a head start: many short ones at once would only take the interpreter from
    each other, which costs them a fifth more processor time.

    Args:
        threads: calls that run at once.
        per_client: calls of one client that run at once.
        per_session: calls of one session that run at once.
        wait_seconds: how long a call waits in line for a file.
    """

    def __init__(
        self, threads: int = 128, per_client: int = 32, per_session: int = 24, *, wait_seconds: float = 30.0
    ) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="fstools")
        self._parts = per_client, per_session
        self._wait_seconds = wait_seconds
        self._closed = False
        self._start = asyncio.Semaphore(1)
        self._running: WeakSet[threading.Event] = WeakSet()
        self._turns: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()
        self._lines: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    async def run(self, caller: Caller, call: Callable[[], _T], left: threading.Event | None = None) -> _T:
        """Run a call for a caller; return its result or raise its exception.

        Args:
            caller: the client that asks.
            call: the work; if it raises `TimedOut` with a `lock`, it has done nothing and is called again.
            left: set once the caller stops waiting; the pool also sets it when the server stops.

        Raises:
            InputOutput: the server is stopping; TimedOut: `left` was set before its turn came.
        """
        try:
            return await self._in_turn(caller, call, left)
        except TimedOut as refusal:
            busy = refusal
        while busy.lock is not None:
            try:
                return await self._in_line(busy.lock, caller, call, left)
            except TimedOut as refusal:
                busy = refusal
        raise busy

    async def _in_line(
        self, lock: Hashable, caller: Caller, call: Callable[[], _T], left: threading.Event | None
    ) -> _T:
        """Run a call once all earlier ones that wait for the same lock have ended."""
        line = self._lines.get(lock)
        if line is None:
            line = self._lines[lock] = asyncio.Lock()
        try:
            await asyncio.wait_for(line.acquire(), self._wait_seconds)
        except TimeoutError:
            return await self._in_turn(caller, call, left)
        pause = 0.001
        try:
            while True:
                try:
                    return await self._in_turn(caller, call, left)
                except TimedOut as busy:
                    if busy.lock != lock:
                        raise
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)
        finally:
            line.release()

    async def _in_turn(self, caller: Caller, call: Callable[[], _T], left: threading.Event | None) -> _T:
        per_client, per_session = self._parts
        # The session's turn is taken first: a session that waits for it must not use up the client's turns.
        async with self._turn(caller, per_session), self._turn(caller.client, per_client), self._head_start():
            if self._closed:
                raise InputOutput("the server is stopping", hint="Try again when it runs.")
            if left is not None:
                self._running.add(left)
            return await asyncio.get_running_loop().run_in_executor(self._threads, _unless_left, call, left)

    @asynccontextmanager
    async def _head_start(self) -> AsyncIterator[None]:
        """Keep other calls from beginning, for a moment at most."""
        await self._start.acquire()
        others_wait = True

        def let_others_begin() -> None:
            nonlocal others_wait
            if others_wait:
                others_wait = False
                self._start.release()

        timer = asyncio.get_running_loop().call_later(_HEAD_START_SECONDS, let_others_begin)
        try:
            yield
        finally:
            timer.cancel()
            let_others_begin()

    def _turn(self, whose: Hashable, calls: int) -> asyncio.Semaphore:
        turn = self._turns.get(whose)
        if turn is None:
            turn = self._turns[whose] = asyncio.Semaphore(calls)
        return turn

    def close(self) -> None:
        """Start no more calls; running ones finish, and long ones are cancelled."""
        self._closed = True
        for left in list(self._running):
            left.set()
        self._threads.shutdown(wait=False)


def _unless_left(call: Callable[[], _T], left: threading.Event | None) -> _T:
    if left is not None and left.is_set():
        raise TimedOut("the caller left before the call began (not modified)", hint="Call again.")
    return call()
