"""Sends progress notifications while a call runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

from ...progress import Progress
from ..base_handler import ToolsHandler
from ..streaming import HEARTBEAT_SECONDS, EventStream
from .json_rpc import INTERNAL_ERROR, Id, as_message, error


class ProgressStream(EventStream):
    """The answer to one request: JSON, or a stream of events from the moment on that there is something to tell.

    Args:
        handler: whose answer it is.
        id: the request's.
        token: what its notifications name.
    """

    def __init__(self, handler: ToolsHandler, id: Id, token: Id) -> None:
        super().__init__(handler)
        self._id = id
        self._token = token
        self._told = 0

    def tell(self, progress: Progress) -> None:
        """Send what the call tells; from any thread."""
        self._told += 1
        params = {"progressToken": self._token, "progress": self._told, "message": progress.text}
        message = as_message({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        # A command that was told to end may end after the loop.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._send, "message", message)

    async def answer(self, call: Awaitable[bytes]) -> None:
        """Send the message that the call answers, once it does; until then keep the connection alive."""
        answered = asyncio.ensure_future(call)
        while not (await asyncio.wait({answered}, timeout=HEARTBEAT_SECONDS))[0]:
            self._write(b": still running\n\n")
        if not self._begun:
            self._handler.answer(answered.result())
            return
        try:
            message = answered.result()
        except Exception as problem:
            message = as_message(error(self._id, INTERNAL_ERROR, self._refusal(problem).message))
        self._send("message", message)
        self._handler.finish()
