"""Streams a call's progress and result as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Iterator
from typing import TYPE_CHECKING

from ..progress import Progress
from .bodies import as_json

if TYPE_CHECKING:
    from .base_handler import ToolsHandler

MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
"""Seconds between two comments on an idle stream, so that no proxy takes the connection for dead."""


class EventStream:
    """The events of one call, as `text/event-stream`.

    `waiting` (`{"text", "change_id"}`) and `output` (`{"text"}`) come as they happen; `result` (what is answered
    without a stream) or `error` (`{"code", "message", "hint", "details"}`) is the last. A call that is refused before
    there was anything to tell is answered by the status of its refusal, without a stream.

    Args:
        handler: the handler that answers.
    """

    def __init__(self, handler: ToolsHandler) -> None:
        self._handler = handler
        self._loop = asyncio.get_running_loop()
        self._begun = False

    def tell(self, progress: Progress) -> None:
        """Send the call's progress; from any thread."""
        told = {"text": progress.text} | ({"change_id": progress.change_id} if progress.kind == "waiting" else {})
        self._send_soon(progress.kind, as_json(told))

    async def answer(self, call: Awaitable[bytes]) -> None:
        """Send what the call answers, once it does; until then keep the connection alive."""
        try:
            with self._kept_alive():
                result = await call
        except Exception as error:
            if not self._begun:
                raise
            self._send("error", as_json(self._handler.as_refusal(error).as_dict()))
        else:
            self._send("result", result)
        self._handler.finish()

    @contextlib.contextmanager
    def _kept_alive(self) -> Iterator[None]:
        """Keep the connection alive while a call runs; a timer costs a short call less than a task that waits."""
        timer: asyncio.TimerHandle

        def tell() -> None:
            nonlocal timer
            self._write(b": still running\n\n")
            timer = self._loop.call_later(HEARTBEAT_SECONDS, tell)

        timer = self._loop.call_later(HEARTBEAT_SECONDS, tell)
        try:
            yield
        finally:
            timer.cancel()

    def _send_soon(self, event: str, data: bytes) -> None:
        # A command that was told to end may end after the loop.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._send, event, data)

    def _send(self, event: str, data: bytes) -> None:
        self._write(b"event: %s\ndata: %s\n\n" % (event.encode("ascii"), data))

    def _write(self, block: bytes) -> None:
        handler = self._handler
        if not self._begun:
            self._begun = True
            handler.set_header("Content-Type", MEDIA_TYPE)
            handler.set_header("Cache-Control", "no-store")
            # nginx would keep events back until it has a page of them.
            handler.set_header("X-Accel-Buffering", "no")
        handler.write(block)
        handler.flush()
