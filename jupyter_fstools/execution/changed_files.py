"""Finds files that a command created or changed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from ..backends.protocol import Backend
from ..globs.patterns import compile_glob
from ..walking.descriptors import NoDescriptors
from ..walking.folders import joined
from ..walking.stopping import Stop
from ..walking.visible import AllAllowed
from ..walking.walk import Walk

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
    """A time after every change there was and before every change to come; nanoseconds since 1970."""
    now = time.time_ns()
    while sys.platform == "linux" and time.clock_gettime_ns(_COARSE_CLOCK) < now:
        time.sleep(0.001)
    return now


def files_changed_since(
    backend: Backend, moment: int, *, may_read: Callable[[str], bool] | None = None, all_allowed: AllAllowed = None
) -> ChangedFiles:
    """The files that were made, written, renamed or given other rights since a moment.

    What `.gitignore` leaves out and folders such as `.git` and `node_modules` are not looked at; a deletion leaves
    nothing to be seen.

    Args:
        backend: where they are.
        moment: as `next_moment` gave it.
        may_read: whether a canonical path may be told; None: every one.
        all_allowed: a quick yes for many names in a folder.
    """
    stop = Stop(MOST_SECONDS)
    every = compile_glob("**", include_hidden=True, root=backend.root_key)
    walk = Walk(backend, "", every, include_ignored=False, may_read=may_read, all_allowed=all_allowed, stop=stop)
    found: list[str] = []
    try:
        for folder, files, _, _ in walk:
            found += [joined(folder.path, name) for name in folder.changed(files, moment)]
            if stop.now():
                break
    except NoDescriptors:
        stop.end()
    return ChangedFiles(sorted(found)[:MOST_FILES], len(found), stop.reason is None)
