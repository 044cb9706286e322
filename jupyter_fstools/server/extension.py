"""Where Jupyter loads, starts and stops the extension."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from traitlets import TraitError

from ..config import FsToolsConfig, system_user
from ..errors import FsToolsError
from ..records import Change, Reader
from ..sessions import DEFAULT_SESSION
from .call_pool import CallPool
from .change_event import SCHEMA_ID, event_of, event_schema
from .change_feed import ChangeFeed
from .handlers import routes
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
        root = os.path.abspath(config.root or serverapp.root_dir)
        served = _served(serverapp, config, root)
    except (TraitError, FsToolsError) as error:
        serverapp.log.critical("jupyter_fstools is switched off because of a wrong setting: %s", error)
        return None
    config.share_with_kernels(root)
    web_app = serverapp.web_app
    web_app.settings[SETTING] = served
    web_app.add_handlers(".*$", routes(web_app.settings["base_url"]))  # type: ignore[no-untyped-call]  # Jupyter's.
    served.feed.start()
    return served


def _served(serverapp: ServerApp, config: FsToolsConfig, root: str) -> Served:
    feed: ChangeFeed | None = None

    def committed(change: Change) -> None:
        if feed is not None:
            feed.wake()

    def tell(change: Change) -> None:
        emit(schema_id=SCHEMA_ID, data=event_of(change))

    account = system_user()
    workspace = config.workspace(root, Reader(account, DEFAULT_SESSION), committed=committed)
    events = serverapp.event_logger
    assert events is not None
    events.register_event_schema(event_schema())
    emit = events.emit
    feed = ChangeFeed(workspace, tell, _loop(serverapp))
    return Served(config, workspace, CallPool(), feed, account)


def _loop(serverapp: Any) -> asyncio.AbstractEventLoop:
    loop: asyncio.AbstractEventLoop = serverapp.io_loop.asyncio_loop
    return loop
