"""Finds the files that real-time collaboration holds open, and tells the store."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from typing import Any

from ..errors import FsToolsError, Unsaved

EXTENSIONS = ("jupyter_server_documents", "jupyter_server_ydoc")
ROOM_EVENTS = "https://schema.jupyter.org/jupyter_collaboration/session/v1"
"""Both extensions emit these."""

_RENEWED_SECONDS = 10
_ANSWER_SECONDS = 3

_log = logging.getLogger("jupyter_fstools")


class Rooms:
    """The files for which jupyter-collaboration or jupyter-server-documents has a room in this server.

    A room writes its file itself, and takes what somebody else wrote there over what a person is typing.

    Args:
        serverapp: the server. Its extensions are looked up with each question: they load after this one.
        loop: its event loop; rooms are touched nowhere else.
    """

    def __init__(self, serverapp: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._serverapp = serverapp
        self._loop = loop
        self._told = asyncio.Lock()
        self._holder = f"rooms-{secrets.token_hex(8)}"
        self._note: Callable[[str, list[str], float], object] | None = None
        self._renewal: asyncio.TimerHandle | None = None

    def files(self) -> list[str]:
        """Absolute paths of the files, with the links that are in them; from any thread but the event loop's.

        Raises:
            Unsaved: the event loop did not answer.
        """
        if not self._apps():
            return []
        answer: Future[list[str]] = Future()
        self._loop.call_soon_threadsafe(lambda: answer.set_result(self._files()))
        try:
            return answer.result(_ANSWER_SECONDS)
        except NoAnswer:
            raise Unsaved(
                "the server did not say in time which files it has open for collaboration (not modified)",
                hint="Try again.",
            ) from None

    def follow(self, note: Callable[[str, list[str], float], object]) -> None:
        """Tell the files to `note(holder, files, until)` when a room opens or ends, in a thread.

        Kernels, and other servers on the same files, learn of rooms in no other way.
        """
        self._note = note
        self._serverapp.event_logger.add_listener(schema_id=ROOM_EVENTS, listener=self._heard)

    def stop(self) -> None:
        """Tell that there are no rooms any more."""
        if self._renewal is not None:
            self._renewal.cancel()
        if self._note is not None and self._apps():
            self._note(self._holder, [], 0)
        self._note = None

    def _apps(self) -> list[Any]:
        """The extensions that are enabled; JupyterLab opens no room where one says `disable_rtc`."""
        known = self._serverapp.extension_manager.extensions
        enabled = [known[name] for name in EXTENSIONS if name in known and known[name].enabled]
        apps = [point.app for extension in enabled for point in extension.extension_points.values()]
        return [app for app in apps if not getattr(app, "disable_rtc", False)]

    def _files(self) -> list[str]:
        folder = os.path.expanduser(self._serverapp.root_dir)
        file_ids = self._serverapp.web_app.settings.get("file_id_manager")
        # Forks and the users' presence have rooms too, whose names are not `format:type:file id`.
        names = [name for app in self._apps() for name in _rooms(app) if name.count(":") == 2]
        paths = (file_ids.get_path(name.rpartition(":")[2]) for name in names)
        return [os.path.join(folder, path) for path in paths if path]

    async def _heard(self, logger: object, schema_id: str, data: dict[str, Any]) -> None:
        if data.get("action") in ("initialize", "clean"):
            await self._tell()

    async def _tell(self) -> None:
        async with self._told:  # Two that tell at once could end with the older answer.
            if self._note is None:
                return
            files = self._files()
            if self._renewal is not None:
                self._renewal.cancel()
            if files:
                self._renewal = self._loop.call_later(_RENEWED_SECONDS, lambda: asyncio.ensure_future(self._tell()))
            try:
                await asyncio.to_thread(self._note, self._holder, files, time.time() + 3 * _RENEWED_SECONDS)
            except FsToolsError as problem:
                _log.warning("Kernels do not know of the rooms: %s", problem.message)


def _rooms(app: Any) -> list[str]:
    """The names of an extension's rooms, as the extension itself keeps them; none where it failed to load."""
    if getattr(app, "yroom_manager", None) is not None:
        return [room.room_id for room in app.yroom_manager.list_document_rooms() if not room.stopped]
    server = getattr(app, "ywebsocket_server", None)
    return list(server.rooms) if server is not None else []
