"""Asks a page over its WebSocket, from the threads of calls."""

from __future__ import annotations

import asyncio
import itertools
import threading
from concurrent.futures import Future
from typing import Any

from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ...open_documents.page import PageGone
from ..bodies import as_json


class SocketPage:
    """A page, as long as its connection lasts; made on the event loop.

    Args:
        name: as it calls itself.
        socket: its connection.
    """

    def __init__(self, name: str, socket: WebSocketHandler) -> None:
        self.name = name
        self._socket = socket
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def is_asked(self) -> bool:
        """Somebody waits for an answer."""
        return bool(self._waiting)

    def ask(self, message: dict[str, Any]) -> Future[dict[str, Any]]:
        """Send a message that the page answers."""
        number, answer = next(self._numbers), Future[dict[str, Any]]()
        with self._lock:
            if self._is_closed:
                answer.set_exception(PageGone())
                return answer
            self._waiting[number] = answer
        self.tell({"ask": number, **message})
        return answer

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message that it does not answer."""
        text = as_json(message)
        try:
            self._loop.call_soon_threadsafe(self._write, text)
        except RuntimeError:  # The server has stopped.
            return

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; on the event loop."""
        self._write(as_json(message))

    def answered(self, told: dict[str, Any]) -> bool:
        """Hand an answer to whoever waits for it; whether anybody did."""
        number = told["answer"]
        with self._lock:
            answer = self._waiting.pop(number, None) if isinstance(number, int) else None
        if answer is not None:
            answer.set_result(told)
        return answer is not None

    def close(self) -> None:
        """The connection is lost: nobody waits for an answer any more."""
        with self._lock:
            self._is_closed = True
            waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            answer.set_exception(PageGone())

    def _write(self, text: bytes) -> None:
        try:
            self._socket.write_message(text.decode())
        except WebSocketClosedError:
            return
