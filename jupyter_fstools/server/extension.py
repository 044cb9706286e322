"""Loads, starts and stops the server extension."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.fileio import FileManagerMixin
from traitlets import TraitError

from ..backends.open_backend import absolute_root
from ..config import FsToolsConfig, loaded_files, system_user
from ..errors import FsToolsError, Invalid
from ..gate.workspace import Workspace
from ..open_documents.browser import BrowserDocuments, Pages
from ..sessions import DEFAULT_SESSION
from ..stores.records import Change, Reader
from .call_pool import CallPool
from .events import activity_event, change_event
from .events.activity_event import ActivityEvent
from .events.change_event import ChangeEvent
from .events.change_feed import ChangeFeed
from .rooms import Rooms
from .routes import patterns
from .served import SETTING, Served


class FsToolsExtension(ExtensionApp):
    """What Jupyter's extension manager holds; only such an object is told that the server stops."""

    name = "jupyter_fstools"
    served: Served | None = None

    def initialize(self, argv: Any = None) -> None:
        """Put the tools into the server; there are no pages, templates or settings of an application."""
        assert self.serverapp is not None
        self.served = load(self.serverapp)

    async def stop_extension(self) -> None:
        """The server stops."""
        if self.served is not None:
            self.served.stop()


def load(serverapp: ServerApp) -> Served | None:
    """Put the tools into a server; None, and a message in its log, where a setting is wrong."""
    try:
        config = FsToolsConfig(parent=serverapp)
        config.enable_execute = config.enable_execute and offers_terminals(serverapp)
        root = absolute_root(config.root or folder_of_contents(serverapp), os.getcwd())
        config.protected_files = [*config.protected_files, *loaded_files()]
        served = _served(serverapp, config, root)
    except (TraitError, FsToolsError) as error:
        serverapp.log.critical("jupyter_fstools is switched off because of a wrong setting: %s", error)
        return None
    warn_of_exposed_settings(serverapp, served.workspace)
    if config.offer_to_jupyter_ai:
        serverapp.log.warning(
            "jupyter_fstools offers its tools to jupyter_server_mcp, whose port asks for no login: every process that "
            "reaches the port reads and writes files through them."
        )
    config.share_with_kernels(root)
    web_app = serverapp.web_app
    web_app.settings[SETTING] = served
    web_app.add_handlers(".*$", patterns(web_app.settings["base_url"]))  # type: ignore[no-untyped-call]  # Jupyter's.
    served.feed.start()
    return served


def folder_of_contents(serverapp: ServerApp) -> str:
    """The folder that Jupyter itself shows.

    Raises:
        Invalid: its contents are no folder of this machine, so that the server's `root_dir` means nothing.
    """
    contents = serverapp.contents_manager
    if not isinstance(contents, FileManagerMixin):
        raise Invalid(
            f"this server's contents ({type(contents).__name__}) are no folder of this machine",
            hint="Set c.FsToolsConfig.root to the folder or the address that the tools shall work in.",
            field="root",
        )
    return str(serverapp.root_dir)


def warn_of_exposed_settings(serverapp: ServerApp, workspace: Workspace) -> None:
    """Say which files with this server's settings lie where the rules alone would let tools write them."""
    for file in loaded_files():
        path = workspace.path_of(file)
        if path is not None and workspace.policy.may_write(path):
            serverapp.log.warning(
                "Settings of jupyter_fstools can come from %s, which lies in the folder of its tools. The tools do not "
                "write it, but kernels and terminals can: move it elsewhere, or make it read-only.",
                file,
            )


def offers_terminals(serverapp: ServerApp) -> bool:
    """The server's own setting for what runs commands: its terminals are switched on, and there is who offers them."""
    extension = serverapp.extension_manager.extensions.get("jupyter_server_terminals")
    return bool(serverapp.terminals_enabled and extension is not None and extension.enabled)


def _served(serverapp: ServerApp, config: FsToolsConfig, root: str) -> Served:
    feed: ChangeFeed | None = None

    def committed(change: Change) -> None:
        if feed is not None:
            feed.wake()

    def tell(event: ChangeEvent) -> None:
        emit(schema_id=change_event.SCHEMA_ID, data=event.model_dump())

    def tell_activity(event: ActivityEvent) -> None:
        emit(schema_id=activity_event.SCHEMA_ID, data=event.model_dump(mode="json"))

    account = system_user()
    rooms, pages = Rooms(serverapp, _loop(serverapp), config.browser_seconds), Pages()
    workspace = config.workspace(
        root,
        Reader(account, DEFAULT_SESSION),
        committed=committed,
        documents=lambda backend, store: [rooms, BrowserDocuments(pages, backend, store, config.browser_seconds)],
    )
    events = serverapp.event_logger
    assert events is not None
    for schema in (change_event.event_schema(), activity_event.event_schema()):
        events.register_event_schema(schema)
    emit = events.emit
    feed = ChangeFeed(workspace, tell, tell_activity, _loop(serverapp), followed=lambda change: follow(pages, change))

    rooms.follow(workspace)
    return Served(config, workspace, CallPool(), CallPool(), feed, rooms, pages, account)


def follow(pages: Pages, change: Change) -> None:
    """Have open documents follow a change on the disk, whichever process made it."""
    if change.status == "applied" and change.after is not None and change.place != "room":
        pages.follow(change.key, change.after.exact_sha)


def _loop(serverapp: Any) -> asyncio.AbstractEventLoop:
    loop: asyncio.AbstractEventLoop = serverapp.io_loop.asyncio_loop
    return loop
