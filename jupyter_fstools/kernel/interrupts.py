"""Carries out calls between the interrupts of a kernel."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")

_LOOK_SECONDS = 0.2
"""Longest single wait, in seconds: on Windows an interrupt does not end a wait without a limit."""


def between_interrupts(call: Callable[[threading.Event], Answer]) -> Answer:
    """Run a call in a thread and return its result: Python interrupts only the main thread, at any point of its work.

    Args:
        call: given an event that an interrupt sets; it may end early then, or finish normally.

    Raises:
        KeyboardInterrupt: once the call has ended; at a second interrupt, at once, while the call goes on.
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

    # With the caller's context, its output belongs to the cell that is running.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(carry_out,), name="fs", daemon=True)
    try:
        thread.start()
        _wait_for(ended)
    except KeyboardInterrupt:
        cancelled.set()
        if begun.is_set():  # Otherwise the call has not begun, and will not.
            _wait_for(ended)
        raise
    if problems:
        raise problems[0]
    return answers[0]


def _wait_for(event: threading.Event) -> None:
    while not event.wait(_LOOK_SECONDS):
        pass
