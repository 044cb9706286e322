"""Handles the WebSocket on which pages report their open documents."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Annotated, Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from pydantic import Field
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ...errors import FsToolsError, Invalid
from ...open_documents.page import Kind, PageDocument, PageGone
from ...tools.arguments import Arguments, Text
from .. import SETTING
from ..bodies import as_json, checked, parsed_object
from ..served import Served, catch_up
from ..token_login import presented
from .kept_documents import KeptDocuments


class SocketPage:
    """A page, as long as its connection lasts; made on the event loop.

    Args:
        name: as it calls itself.
        socket: its connection.
        served: the objects that the handlers share.

    Attributes:
        kept: what it has open, for other processes.
        is_closed: the connection is lost, or the page has another one.
    """

    def __init__(self, name: str, socket: WebSocketHandler, served: Served) -> None:
        self.name = name
        self.kept = KeptDocuments(served.workspace.store, served.pages, self, served.config.unsaved_seconds)
        self._socket = socket
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self.is_closed = False

    @property
    def is_asked(self) -> bool:
        """Whether a call waits for the page's answer."""
        return bool(self._waiting)

    def ask(self, message: dict[str, Any]) -> Future[dict[str, Any]]:
        """Send a message that the page answers."""
        number, answer = next(self._numbers), Future[dict[str, Any]]()
        with self._lock:
            if self.is_closed:
                answer.set_exception(PageGone())
                return answer
            self._waiting[number] = answer
        self.tell({"ask": number, **message})
        return answer

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message that it does not answer."""
        text = as_json(message)
        try:
            self._loop.call_soon_threadsafe(_write, self._socket, text)
        except RuntimeError:  # The server has stopped.
            return

    def answered(self, told: dict[str, Any]) -> bool:
        """Hand an answer to the call that waits for it; False if none does."""
        number = told["answer"]
        with self._lock:
            answer = self._waiting.pop(number, None) if isinstance(number, int) else None
        if answer is not None:
            answer.set_result(told)
        return answer is not None

    def close(self) -> None:
        """The connection is lost, or the page has another one: end all waits for its answers. On the event loop."""
        with self._lock:
            self.is_closed = True
            waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            answer.set_exception(PageGone())
        self.kept.stop()
        self._socket.close()


def _write(socket: WebSocketHandler, text: bytes) -> None:
    """Send a text, on the event loop; a page that has gone, or goes while it is sent, misses it."""
    with suppress(WebSocketClosedError):
        socket.write_message(text.decode()).add_done_callback(lambda sent: sent.cancelled() or sent.exception())


_SAID_GOODBYE = {1000, 1001}
"""Close codes of a page that was left: its unsaved changes are gone."""
_MOST_BYTES = 4 << 20
_MOST_ANSWERED_BYTES = 256 << 20
"""An answer may be a notebook with all its outputs."""
_LARGE_BYTES = 1 << 20
"""Messages from this size on are parsed in a thread, off the event loop."""
_HASH_LENGTH = 64
_WRITTEN_SECONDS = 1.5
"""Longest wait for other writers of a file, in seconds: a write takes milliseconds, and one that was killed pends."""


WholeNumber = Annotated[int, Field(ge=0, le=2**53 - 1, strict=True)]
"""A number that JavaScript represents exactly."""


class ToldDocument(Arguments):
    """A document that a page has open; `document` is the page's name for it.

    Its hash is of the kind that `FileContentsManager.hash_algorithm` names.
    """

    document: WholeNumber
    path: Text
    kind: Kind
    saved: bool
    hash: Annotated[str, Field(pattern="^[0-9a-f]{1,256}$")] | None
    counter: WholeNumber

    @property
    def sha256(self) -> str | None:
        """The hash, if it may be the one with which files are compared here."""
        return self.hash if self.hash is not None and len(self.hash) == _HASH_LENGTH else None


class OpenDocuments(Arguments):
    """A page's message: all the documents that it has open, each time.

    A page that comes back after its connection broke uses the same name, so that it takes back what it said; its
    earlier connection is closed.
    """

    browser: Annotated[Text, Field(pattern=r"^[A-Za-z0-9-]{8,64}$")]
    documents: Annotated[list[ToldDocument], Field(max_length=10_000)]


class DocumentsHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """`WS /documents`: a message is an `OpenDocuments`, answered by `{"known": <number>}` or `{"error"}`; or an answer.

    A page's report holds until its next report or its goodbye, and for `FsToolsConfig.unsaved_seconds` after its
    connection was lost.
    """

    auth_resource = "contents"
    _page: SocketPage | None = None
    _ending: asyncio.Future[None] | None = None
    _catching_up: asyncio.Future[None] | None = None
    _answering: asyncio.Future[None] | None = None

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the socket for who may write files."""
        allowed = await ensure_async(
            self.authorizer.is_authorized(self, self.current_user, "write", self.auth_resource)
        )
        # An assistant's token counts, and not the login that comes with it.
        if not allowed or presented(self.request) is not None:
            raise web.HTTPError(403)
        await super().get(*args, **kwargs)

    @property
    def max_message_size(self) -> int:
        """Bytes of a message; tornado closes the connection above."""
        return _MOST_ANSWERED_BYTES

    async def on_message(self, message: str | bytes) -> None:
        """Handle a page's message or answer; tornado waits for it before it reads the next one."""
        # Never in the threads of calls: these wait for the answers that arrive here.
        try:
            page = self._page
            if page is not None and page.is_closed:
                return
            most = _MOST_ANSWERED_BYTES if page is not None and page.is_asked else _MOST_BYTES
            body = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
            large = len(body) > _LARGE_BYTES
            told = await asyncio.to_thread(parsed_object, body, most) if large else parsed_object(body, most)
            if "answer" in told:
                if page is None or not page.answered(told):
                    raise Invalid("answer: nobody asked", hint="Answer each question once.", field="answer")
            else:
                await self._hear(checked(OpenDocuments, told))
        except FsToolsError as refusal:
            _write(self, as_json({"error": refusal.as_dict()}))

    def on_close(self) -> None:
        """Forget the documents of a page that was left; keep those of a lost connection for a while."""
        super().on_close()
        page = self._page
        # A page that has reconnected is not left, however late its old connection closes.
        if page is not None and not page.is_closed:
            page.close()
            self.served.pages.left(page)
            end = page.kept.forget if self.close_code in _SAID_GOODBYE else page.kept.lose
            self._ending = asyncio.ensure_future(asyncio.to_thread(end))

    @property
    def served(self) -> Served:
        """The objects that the handlers share."""
        served: Served = self.settings[SETTING]
        return served

    async def _hear(self, told: OpenDocuments) -> None:
        page = self._page
        if page is None:
            page = self._page = SocketPage(told.browser, self, self.served)
            self.served.pages.connected(page)
        if page.name != told.browser:
            raise Invalid("browser: this connection is another page's", hint="Open one for each page.", field="browser")
        documents = await asyncio.to_thread(self._noted, page, told.documents)
        if page.is_closed:
            return
        page.kept.keep_renewed()
        new = self.served.pages.heard(page, documents)
        self._answering = asyncio.ensure_future(self._say_known(documents))
        if new:
            # The page could not be notified of changes made before it reported the document.
            self._catching_up = asyncio.ensure_future(asyncio.to_thread(catch_up, self.served.workspace, new))

    async def _say_known(self, documents: Sequence[PageDocument]) -> None:
        """Answer once earlier writes of these files have ended: the page may be about to save."""
        keys = [document.key for document in documents if not document.saved]
        late = time.monotonic() + _WRITTEN_SECONDS
        while keys and time.monotonic() < late and await asyncio.to_thread(self._are_written, keys):
            await asyncio.sleep(0.01)
        if self.ws_connection is not None:
            _write(self, as_json({"known": len(documents)}))

    def _are_written(self, keys: Sequence[str]) -> bool:
        with suppress(FsToolsError):
            return any(self.served.workspace.store.unfinished(key) for key in keys)
        return False

    def _noted(self, page: SocketPage, told: list[ToldDocument]) -> list[PageDocument]:
        folder = os.path.expanduser(self.settings["serverapp"].root_dir)
        found = []
        for one in told:
            key = self.served.workspace.paths.key_at(os.path.join(folder, one.path.lstrip("/")))
            if key is not None:
                found.append(PageDocument(page, one.document, key, one.kind, one.saved, one.sha256, one.counter))
        page.kept.say(found)
        return found
