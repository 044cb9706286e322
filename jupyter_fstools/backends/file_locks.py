"""Locks a file against every other thread and process."""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputOutput, TimedOut
from ..own_folders import FULL, PASSING
from .operating_system import HAS_FLOCK, hold_lock_file

BUCKETS = 4096
"""Maximum number of lock files. Keys that share one merely wait for each other."""

_HINT = "Another call is changing this file. Wait a little, then try again."
_FOLDER_HINT = "Check the permissions of Jupyter's data folder, and whether its disk has locks."
_FULL_HINT = "Free some space on the disk of Jupyter's data folder, then try again."


class _Mine(threading.local):
    """The locks of this thread: its keys, and for each lock the number of its holds and the call that releases it."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.locks: dict[int | str, list[Any]] = {}


class FileLocks:
    """Locks by key (`FileStat.key`).

    Args:
        folder: where the lock files are, the same for all processes; made if it is missing, for the user alone.
            None: lock out only the threads of this process.
        timeout: seconds to wait for another holder.
        flock: lock by descriptor if True, else with `filelock`.

    Raises:
        InputOutput: the folder cannot be made, for another reason than a full disk.
    """

    def __init__(self, folder: Path | None, *, timeout: float = 30.0, flock: bool = HAS_FLOCK) -> None:
        self._folder = folder
        self._timeout = timeout
        self._flock = flock
        self._mine = _Mine()
        self._in_process = _KeyedLocks()
        if folder is not None:
            try:
                self._make(folder)
            except OSError as error:
                if error.errno not in PASSING:
                    raise _unusable(error) from error

    def hold(self, *keys: str, patience: float | None = None, reader: tuple[str, str] | None = None) -> Hold:
        """`with locks.hold(key):` lets one thread of one process in at a time. Not re-entrant.

        Several keys are locked in the same order by every caller. Name them in one call: in separate calls, two callers
        can deadlock until the timeout.

        Args:
            keys: of the files.
            patience: seconds to wait for another holder; None: the `timeout` of these locks.
            reader: the user and session that ask; ignored here.

        Raises:
            TimedOut: another holder kept one (its `lock`) for too long; none is held then.
            RuntimeError: this thread holds one already.
            InputOutput: a lock file cannot be made or locked.
        """
        return Hold(self, tuple(dict.fromkeys(keys)), self._timeout if patience is None else patience)

    def _lock_of(self, key: str) -> int | str:
        return key if self._folder is None else zlib.crc32(key.encode("utf-8", "surrogatepass")) % BUCKETS

    def _acquire(self, keys: tuple[str, ...], timeout: float) -> list[int | str]:
        mine = self._mine
        for key in keys:
            if key in mine.keys:
                raise RuntimeError(f"this thread holds the lock of '{_shown(key)}' already")
        taken: list[int | str] = []
        try:
            for lock in sorted({self._lock_of(key) for key in keys}):
                if lock in mine.locks:
                    mine.locks[lock][0] += 1
                else:
                    mine.locks[lock] = [1, self._take(lock, keys, timeout)]
                taken.append(lock)
        except BaseException:
            self._release((), taken)
            raise
        mine.keys.update(keys)
        return taken

    def _release(self, keys: tuple[str, ...], taken: list[int | str]) -> None:
        mine = self._mine
        mine.keys.difference_update(keys)
        for lock in reversed(taken):
            shared = mine.locks[lock]
            shared[0] -= 1
            if not shared[0]:
                del mine.locks[lock]
                shared[1]()

    def _take(self, lock: int | str, keys: tuple[str, ...], timeout: float) -> Callable[[], None]:
        try:
            if self._folder is None:
                return self._in_process.take(str(lock), timeout)
            path = f"{self._folder}{os.sep}{lock:03x}.lock"
            try:
                return hold_lock_file(path, timeout, flock=self._flock)
            except FileNotFoundError:
                self._make(self._folder)
                return hold_lock_file(path, timeout, flock=self._flock)
        except TimeoutError:
            names = ", ".join(f"'{_shown(key)}'" for key in keys)
            busy = TimedOut(f"{names} was locked by another call", hint=_HINT)
            busy.lock = lock
            raise busy from None
        except OSError as error:
            raise _unusable(error) from error

    def _make(self, folder: Path) -> None:
        # mkdir applies the mode to the last folder only; the parent may be the store's and must be private too.
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)


class Hold:
    """Context manager that holds locks."""

    __slots__ = ("_keys", "_locks", "_taken", "_timeout")

    def __init__(self, locks: FileLocks, keys: tuple[str, ...], timeout: float) -> None:
        self._locks = locks
        self._keys = keys
        self._timeout = timeout
        self._taken: list[int | str] = []

    def __enter__(self) -> None:
        self._taken = self._locks._acquire(self._keys, self._timeout)

    def __exit__(self, *_: object) -> None:
        self._locks._release(self._keys, self._taken)


class _KeyedLocks:
    """Locks of one process; each exists only while a thread holds it or waits for it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    def take(self, key: str, timeout: float) -> Callable[[], None]:
        with self._guard:
            lock, users = self._locks.get(key) or (threading.Lock(), 0)
            self._locks[key] = lock, users + 1
        try:
            if not lock.acquire(timeout=timeout):
                raise TimeoutError
        except BaseException:
            self._leave(key)
            raise

        def release() -> None:
            lock.release()
            self._leave(key)

        return release

    def _leave(self, key: str) -> None:
        with self._guard:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = lock, users - 1


def _unusable(error: OSError) -> InputOutput:
    hint = _FULL_HINT if error.errno in FULL else _FOLDER_HINT
    return InputOutput(f"The lock files cannot be used: {error.strerror}.", hint=hint)


def _shown(key: str) -> str:
    return key.rpartition("/")[2]
