"""Carries out calls between the interrupts of a kernel."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

_LOOK_SECONDS = 0.2
"""On Windows no interrupt ends a wait without a limit."""


def between_interrupts(call: Callable[[threading.Event], Answer]) -> Answer:
    """What a call gives, carried out in a thread: Python interrupts the main thread alone, wherever it is.

    Args:
        call: given an event that an interrupt sets; it ends early then, or as if nothing had happened.

    Raises:
        KeyboardInterrupt: once the call has ended; at a second interrupt it is left to itself.
    """
    begun, cancelled, ended = threading.Event(), threading.Event(), threading.Event()
    answers: list[Answer] = []
    problems: list[BaseException] = []

    def carry_out() -> None:
        begun.set()
        try:
            if not cancelled.is_set():
                answers.append(call(cancelled))
        except BaseException as problem:
            problems.append(problem)
        finally:
            ended.set()

    # What it prints belongs to the cell that is running.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(carry_out,), name="fs", daemon=True)
    try:
        thread.start()
        _wait_for(ended)
    except KeyboardInterrupt:
        cancelled.set()
        if begun.is_set():  # Otherwise it has not called anything, and will not.
            _wait_for(ended)
        raise
    if problems:
        raise problems[0]
    return answers[0]


def _wait_for(event: threading.Event) -> None:
    while not event.wait(_LOOK_SECONDS):
        pass
