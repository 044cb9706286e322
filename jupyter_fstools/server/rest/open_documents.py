"""Hears what pages have open, and asks them for it."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Annotated, Any, Literal

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from pydantic import Field
from tornado import web
from tornado.websocket import WebSocketHandler

from ...errors import FsToolsError, Invalid
from ...open_documents.page import PageDocument
from ...stores.records import OpenDocument
from ...tools.arguments import Arguments, Text
from ..bodies import as_json, checked, parsed_object
from ..served import SETTING, Served
from .socket_page import SocketPage

_SAID_GOODBYE = {1000, 1001}
"""Close codes of a page that was left: what was not saved there is gone."""
_MOST_BYTES = 4 << 20
_MOST_ANSWERED_BYTES = 256 << 20
"""An answer may be a notebook with all its outputs."""
_LARGE_BYTES = 1 << 20
"""From here on a message is taken apart off the event loop."""


class ToldDocument(Arguments):
    """A document that a page has open; `document` is the page's name for it."""

    document: Annotated[int, Field(ge=0)]
    path: Text
    kind: Literal["notebook", "text", "other"]
    saved: bool
    hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None
    counter: Annotated[int, Field(ge=0)]


class OpenDocuments(Arguments):
    """What a page says: all the documents that it has open, each time.

    A page that comes back after its connection broke uses the same name, so that it takes back what it said.
    """

    browser: Annotated[Text, Field(pattern=r"^[A-Za-z0-9-]{8,64}$")]
    documents: Annotated[list[ToldDocument], Field(max_length=10_000)]


class DocumentsHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """`WS /documents`: a message is an `OpenDocuments`, answered by `{"known": <number>}` or `{"error"}`; or an answer.

    What a page said holds until it says something else, says goodbye, or has been silent for
    `FsToolsConfig.unsaved_seconds`: a laptop that sleeps still has its person's changes.
    """

    auth_resource = "contents"
    _page: SocketPage | None = None
    _goodbye: asyncio.Future[None] | None = None
    _catching_up: asyncio.Future[None] | None = None

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the socket for who may write files."""
        allowed = await ensure_async(
            self.authorizer.is_authorized(self, self.current_user, "write", self.auth_resource)
        )
        if not allowed:
            raise web.HTTPError(403)
        await super().get(*args, **kwargs)

    @property
    def max_message_size(self) -> int:
        """Bytes of a message; tornado closes the connection above."""
        return _MOST_ANSWERED_BYTES

    async def on_message(self, message: str | bytes) -> None:
        """Take what a page says or answers; tornado waits for it before it reads the next message."""
        # Never in the threads of calls: these wait for what is answered here.
        try:
            page = self._page
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
            self.write_message(as_json({"error": refusal.as_dict()}))

    def on_close(self) -> None:
        """A page that was left has nothing open any more; one that only fell silent still has."""
        super().on_close()
        page = self._page
        if page is not None:
            page.close()
            self.served.pages.left(page)
            # A page that came back has said anew what it has open.
            if self.close_code in _SAID_GOODBYE and page.name not in self.served.pages.names():
                self._goodbye = asyncio.ensure_future(asyncio.to_thread(self._keep, page.name, []))

    @property
    def served(self) -> Served:
        """What the handlers share."""
        served: Served = self.settings[SETTING]
        return served

    async def _hear(self, told: OpenDocuments) -> None:
        comes_back = self._page is None
        if self._page is None or self._page.name != told.browser:
            self._page = SocketPage(told.browser, self)
        page = self._page
        documents = await asyncio.to_thread(self._noted, page, told.documents)
        if self.ws_connection is None:
            return
        new = self.served.pages.heard(page, documents)
        page.send({"known": len(documents)})
        if comes_back and new:
            # While it was away, its files may have been changed.
            self._catching_up = asyncio.ensure_future(asyncio.to_thread(self.served.catch_up, new))

    def _noted(self, page: SocketPage, told: list[ToldDocument]) -> list[PageDocument]:
        folder = os.path.expanduser(self.settings["serverapp"].root_dir)
        found = []
        for one in told:
            key = self.served.workspace.key_at(os.path.join(folder, one.path.lstrip("/")))
            if key is not None:
                found.append(PageDocument(page, one.document, key, one.kind, one.saved, one.hash, one.counter))
        self._keep(page.name, [OpenDocument(page.name, one.key, one.saved, one.hash, one.counter) for one in found])
        return found

    def _keep(self, page: str, documents: list[OpenDocument]) -> None:
        served = self.served
        served.workspace.store.note_open(page, documents, time.time() + served.config.unsaved_seconds)
