"""Stops a search at its time limit or when it is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal

Reason = Literal["timeout", "cancelled"]
Cancelled = Callable[[], bool] | threading.Event | None


class Stop:
    """Asked now and then by whoever searches; once it gave a reason, it keeps giving it.

    Args:
        seconds: how long the search may take; None: as long as it takes.
        cancelled: an event, or a function that returns True once nobody waits for the answer.
    """

    def __init__(self, seconds: float | None = None, cancelled: Cancelled = None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self._cancelled = cancelled.is_set if isinstance(cancelled, threading.Event) else cancelled
        self.reason: Reason | None = None

    def now(self) -> bool:
        """Whether to end here; `reason` says why."""
        if self.reason is None:
            if self._cancelled is not None and self._cancelled():
                self.reason = "cancelled"
            elif self._until is not None and time.monotonic() >= self._until:
                self.reason = "timeout"
        return self.reason is not None

    def end(self) -> None:
        """End now: whoever waited for the search has been interrupted."""
        self.reason = self.reason or "cancelled"

    def extend(self, seconds: float) -> None:
        """Give a search that ran out of time a little more, to show what it has."""
        self.reason = None
        self._until = time.monotonic() + seconds
