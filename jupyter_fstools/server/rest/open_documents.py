"""Receives which documents browsers hold unsaved."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Annotated, Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from pydantic import Field
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ...errors import FsToolsError
from ...tools.arguments import Arguments, Text
from ..bodies import as_json, checked, parsed_object
from ..served import SETTING, Served

_SAID_GOODBYE = {1000, 1001}
"""Close codes of a page that was left: what was not saved there is gone."""
_MOST_BYTES = 4 << 20


class OpenDocuments(Arguments):
    """What a browser says: all its documents with unsaved changes, each time.

    A page that comes back after its connection broke uses the same name, so that it takes back what it said.
    """

    browser: Annotated[Text, Field(pattern=r"^[A-Za-z0-9-]{8,64}$")]
    unsaved: Annotated[list[Text], Field(max_length=10_000)]


class DocumentsHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """`WS /documents`: each message is an `OpenDocuments`; the answer is `{"unsaved": <number>}` or `{"error"}`.

    What a page said holds until it says something else, says goodbye, or has been silent for
    `FsToolsConfig.unsaved_seconds`: a laptop that sleeps still has its person's changes.
    """

    auth_resource = "contents"
    _browser: str | None = None
    _goodbye: asyncio.Future[int] | None = None

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the socket for who may write files."""
        allowed = await ensure_async(
            self.authorizer.is_authorized(self, self.current_user, "write", self.auth_resource)
        )
        if not allowed:
            raise web.HTTPError(403)
        await super().get(*args, **kwargs)

    async def on_message(self, message: str | bytes) -> None:
        """Note what is unsaved; tornado waits for it before it reads the next message."""
        try:
            body = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
            told = checked(OpenDocuments, parsed_object(body, _MOST_BYTES))
            self._browser = told.browser
            self._say({"unsaved": await self._note(told.unsaved)})
        except FsToolsError as refusal:
            self._say({"error": refusal.as_dict()})

    def on_close(self) -> None:
        """A page that was left has nothing unsaved any more; one that only fell silent still has."""
        super().on_close()
        if self._browser is not None and self.close_code in _SAID_GOODBYE:
            self._goodbye = asyncio.ensure_future(self._note([]))

    @property
    def served(self) -> Served:
        """What the handlers share."""
        served: Served = self.settings[SETTING]
        return served

    async def _note(self, paths: list[str]) -> int:
        served, holder = self.served, str(self._browser)
        folder = os.path.expanduser(self.settings["serverapp"].root_dir)

        def note() -> int:
            found = (served.workspace.key_at(os.path.join(folder, path.lstrip("/"))) for path in paths)
            keys = {key for key in found if key is not None}
            until = time.time() + served.config.unsaved_seconds
            served.workspace.store.note_unsaved(holder, keys, until)
            return len(keys)

        return await served.calls.run(served.workspace.reader, note)

    def _say(self, answer: dict[str, Any]) -> None:
        try:
            self.write_message(as_json(answer))
        except WebSocketClosedError:
            return
