"""Finds collaboration rooms in this server, and tells the store of them."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from functools import partial
from typing import Any, NamedTuple, TypeVar

from jupyter_server.utils import ensure_async
from tornado.web import HTTPError

from ..backends.protocol import FileStat
from ..errors import Conflict, FsToolsError, InputOutput, Unsaved
from ..gate.workspace import Workspace
from ..open_documents.room import Room, Snapshot
from ..open_documents.shared_document import SharedNotebook, SharedText
from ..stores.records import OpenDocument
from . import ROOM_EVENTS
from .extension_rooms import document_of, has_seen, is_empty, is_loaded, last_path, rooms_of, save_at_once, saved

Answer = TypeVar("Answer")

EXTENSIONS = ("jupyter_server_documents", "jupyter_server_ydoc")
_RENEWED_SECONDS = 10
_PAUSE_SECONDS = 0.02

_log = logging.getLogger("jupyter_fstools")


class _Found(NamedTuple):
    """A room as its extension keeps it.

    Attributes:
        name: `format:type:file id`.
        path: absolute, links not resolved.
        room: itself.
        is_lost: its file is not there any more, or another one is in its place: the room cannot save.
    """

    name: str
    path: str
    room: Any
    is_lost: bool


class Rooms:
    """The files for which jupyter-collaboration or jupyter-server-documents has a room in this server.

    A room writes its file itself, and if somebody else writes the file, their text replaces what a person is typing.
    Changes of the file must therefore go through the room.

    Args:
        serverapp: the server. Its extensions are looked up with each question: they load after this one.
        loop: its event loop; rooms are touched nowhere else.
        seconds: how long a call waits for it.
    """

    def __init__(self, serverapp: Any, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._serverapp = serverapp
        self._loop = loop
        self._seconds = seconds
        self._told = asyncio.Lock()
        self._holder = f"rooms-{secrets.token_hex(8)}"
        self._workspace: Workspace | None = None
        self._renewal: asyncio.TimerHandle | None = None
        self._noted: set[str] = set()
        self._shared: dict[str, SharedText | SharedNotebook] = {}
        self._kept: dict[str, Snapshot] = {}

    def follow(self, workspace: Workspace) -> None:
        """Serve this workspace, and note in its store when a room opens or ends.

        Kernels, and other servers on the same files, learn of rooms in no other way.
        """
        self._workspace = workspace
        self._serverapp.event_logger.add_listener(schema_id=ROOM_EVENTS, listener=self._heard)
        self._loop.call_soon_threadsafe(lambda: asyncio.ensure_future(self._tell()))  # Rooms may be open already.

    def stop(self) -> None:
        """Tell that there are no rooms any more."""
        if self._renewal is not None:
            self._renewal.cancel()
        if self._workspace is not None and self._apps():
            self._workspace.store.note_open(self._holder, [], 0)
        self._workspace = None

    def holder(self, stat: FileStat, *, to_change: bool) -> Room | None:
        """The room of a file; None where it has none. From any thread but the event loop's.

        Raises:
            Unsaved, Conflict: for a change, where the room cannot save it, or something else has the file open, too.
        """
        if self._workspace is None or not self._apps():
            return None
        rooms = self._run(self._found, lambda: True)
        mine = [found for found in rooms if os.path.realpath(found.path) == stat.key]
        if to_change and any(found.is_lost for found in mine):
            raise Unsaved(
                f"{stat.path} was deleted or replaced while it was open in a collaboration room, which cannot save it "
                "any more (not modified)",
                hint="Ask the person to copy what they typed there, and to close the document; then repeat the call.",
                path=stat.path,
            )
        if len(mine) > 1 and to_change:
            raise Conflict(
                f"{stat.path} is open in {len(mine)} collaboration rooms, as different kinds of document "
                "(not modified)",
                hint="Ask the person to close all but one of them: rooms end about a minute later.",
                path=stat.path,
            )
        found = next((found for found in mine if _kind(found) is not None), None)
        if found is None:
            if not mine and stat.key in self._noted:  # Some rooms end without an event.
                self._note(self._workspace, [found.path for found in rooms])
            if mine and to_change:
                raise Unsaved(
                    f"{stat.path} is open in a collaboration room as a document no tool can change (not modified)",
                    hint="Ask the person to close it: the room ends about a minute later.",
                    path=stat.path,
                )
            return None
        if to_change:
            self._require_alone(self._workspace, stat)
        self._settle(found, stat, to_change=to_change)
        run = partial(self._run, ready=lambda: self._is_ready(found))
        shared = run(lambda: self._shared_of(found))
        return Room(self._workspace.backend, stat, shared, self._kept, run, partial(save_at_once, found.room))

    def _require_alone(self, workspace: Workspace, stat: FileStat) -> None:
        """Refuse a change in a room while a page or another server's room may hold other text: one would be lost."""
        told = workspace.store.open_documents(stat.key)
        if any(not document.saved and document.page != self._holder for document in told):
            raise Conflict(
                f"{stat.path} is open in a collaboration room, and unsaved or in a room elsewhere (not modified)",
                hint="Ask the person to save and close all but one (rooms end a minute later), then read it again.",
                path=stat.path,
            )

    def let_save(self) -> None:
        """Have all rooms save their pending changes, and wait for it; from any thread but the event loop's."""
        if self._workspace is not None and self._apps():
            self._ends(self._saved())

    def _ends(self, step: Coroutine[Any, Any, None]) -> bool:
        """Wait for a step on the event loop; False, and it is cancelled, where it takes too long."""
        waiting = asyncio.run_coroutine_threadsafe(step, self._loop)
        try:
            waiting.result(self._seconds)
        except NoAnswer:
            waiting.cancel()
            return False
        return True

    async def _saved(self) -> None:
        await asyncio.gather(*map(saved, self._registered().values()), return_exceptions=True)

    def _settle(self, found: _Found, stat: FileStat, *, to_change: bool) -> None:
        """Wait until a room has loaded what others wrote into its file: loading drops earlier changes in the room.

        Raises:
            Conflict: the room has ended. Unsaved: it takes too long, and a change is meant.
        """
        if not self._ends(self._settled(found)) and to_change:
            raise Unsaved(
                f"{stat.path} is open in a collaboration room, which has not yet loaded the file as it is on the "
                "disk (not modified)",
                hint="Repeat the call; if it is refused again, ask the person to close the document.",
                path=stat.path,
            )

    async def _settled(self, found: _Found) -> None:
        while not (self._is_ready(found) and await self._is_current(found)):
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _is_current(self, found: _Found) -> bool:
        """Whether the room has loaded or saved the current file, by the modification time that the room itself uses."""
        path = self._serverapp.web_app.settings["file_id_manager"].get_path(found.name.rpartition(":")[2])
        if not path:
            return True
        try:
            model = await ensure_async(self._serverapp.contents_manager.get(path, content=False))
        except HTTPError:  # The file does not exist any more.
            return True
        return has_seen(found.room, model["last_modified"])

    def _run(self, step: Callable[[], Answer], ready: Callable[[], bool]) -> Answer:
        """Run a step on the event loop once `ready` holds, in the same callback, so that nothing runs in between."""
        answer: Future[Answer] = Future()

        def attempt() -> None:
            try:
                if not answer.cancelled() and not ready():
                    self._loop.call_later(_PAUSE_SECONDS, attempt)
                elif answer.set_running_or_notify_cancel():
                    answer.set_result(step())
            except FsToolsError as refusal:
                answer.set_exception(refusal)
            except BaseException as problem:  # A panic of pycrdt is a BaseException.
                _log.exception("A room failed")
                answer.set_exception(InputOutput(f"the collaboration room failed: {problem}", hint="Read it again."))

        self._loop.call_soon_threadsafe(attempt)
        try:
            return answer.result(self._seconds)
        except NoAnswer:
            if not answer.cancel():
                return answer.result()
            raise Unsaved("the collaboration room did not answer in time (not modified)", hint="Try again.") from None

    def _apps(self) -> list[Any]:
        """The extensions that are enabled; JupyterLab opens no room where one says `disable_rtc`."""
        known = self._serverapp.extension_manager.extensions
        enabled = [known[name] for name in EXTENSIONS if name in known and known[name].enabled]
        apps = [point.app for extension in enabled for point in extension.extension_points.values()]
        return [app for app in apps if not getattr(app, "disable_rtc", False)]

    def _found(self) -> list[_Found]:
        folder = os.path.expanduser(self._serverapp.root_dir)
        file_ids = self._serverapp.web_app.settings.get("file_id_manager")
        found = []
        for name, room in self._registered().items():
            path = file_ids.get_path(name.rpartition(":")[2])
            if path:
                found.append(_Found(name, os.path.join(folder, path), room, is_lost=False))
            elif not is_empty(room) and (last := last_path(room)):
                found.append(_Found(name, os.path.join(folder, last), room, is_lost=True))
        return found

    def _registered(self) -> dict[str, Any]:
        # Forks and the users' presence have rooms too, whose names are not `format:type:file id`.
        rooms = [item for app in self._apps() for item in rooms_of(app).items()]
        return {name: room for name, room in rooms if name.count(":") == 2}

    def _is_ready(self, found: _Found) -> bool:
        """The room has loaded its file, and is not loading it again.

        Raises:
            Conflict: the room has ended.
        """
        if not any(room is found.room for room in self._registered().values()):
            raise Conflict(
                "the collaboration room has ended meanwhile (not modified)", hint="Read the file again and repeat."
            )
        return is_loaded(found.room)

    def _shared_of(self, found: _Found) -> SharedText | SharedNotebook:
        for name in self._shared.keys() - self._registered().keys():
            self._forget(name)
        document = document_of(found.room)
        shared = self._shared.get(found.name)
        if shared is None or shared.document is not document:
            self._forget(found.name)
            shared = self._shared[found.name] = _KINDS[_kind(found) or ""](document)
        return shared

    def _forget(self, name: str) -> None:
        shared = self._shared.pop(name, None)
        if shared is not None:
            self._kept.pop(shared.token, None)
            shared.close()

    async def _heard(self, logger: object, schema_id: str, data: dict[str, Any]) -> None:
        if data.get("action") in ("initialize", "clean"):
            await self._tell()

    async def _tell(self) -> None:
        async with self._told:  # Simultaneous notes could be written in the wrong order.
            if self._workspace is None:
                return
            files = [found.path for found in self._found()]
            if not (files or self._noted):
                return
            if self._renewal is not None:
                self._renewal.cancel()
            if files:
                self._renewal = self._loop.call_later(_RENEWED_SECONDS, lambda: asyncio.ensure_future(self._tell()))
            try:
                await asyncio.to_thread(self._note, self._workspace, files)
            except FsToolsError as problem:
                _log.warning("Kernels do not know of the rooms: %s", problem.message)

    def _note(self, workspace: Workspace, files: list[str]) -> None:
        keys = {key for file in files if (key := workspace.paths.key_at(file)) is not None}
        self._noted = keys
        documents = [OpenDocument(self._holder, key, saved=False) for key in keys]
        workspace.store.note_open(self._holder, documents, time.time() + 3 * _RENEWED_SECONDS)


_KINDS: dict[str, type[SharedText] | type[SharedNotebook]] = {"text": SharedText, "notebook": SharedNotebook}


def _kind(found: _Found) -> str | None:
    """The kind of the room's document; None for one that no tool changes there."""
    if found.name.startswith("json:notebook:"):
        # A text file that jupytext opens as a notebook is saved as something else than its cells.
        return "notebook" if found.path.endswith(".ipynb") else None
    return "text" if found.name.startswith("text:") and hasattr(document_of(found.room), "_ysource") else None
