"""Loads, starts and stops the server extension."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.fileio import FileManagerMixin
from jupyter_server.utils import url_path_join
from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, HTTPServerRequest, RequestStartLine, ResponseStartLine
from tornado.routing import RuleRouter
from traitlets import TraitError

from ..config import FsToolsConfig, loaded_files
from ..entry_points import absolute_root, open_backend, scheme_of
from ..errors import Disabled, FsToolsError, InputOutput, Invalid
from . import ROOM_EVENTS, SETTING

if TYPE_CHECKING:
    from ..gate.workspace import Workspace
    from .served import Served

_AWAY = "jupyter_fstools cannot be opened for now, and is tried again at the next request to it: %s"


class FsToolsExtension(ExtensionApp):
    """The object for Jupyter's extension manager, which calls only such an object when the server stops."""

    name = "jupyter_fstools"
    tools: Tools | None = None

    def initialize(self, argv: Any = None) -> None:
        """Put the tools into the server; there are no pages, templates or settings of an application."""
        assert self.serverapp is not None
        self.tools = load(self.serverapp)

    async def stop_extension(self) -> None:
        """The server stops."""
        if self.tools is not None and self.tools.served is not None:
            self.tools.served.stop()


class Tools(RuleRouter):
    """Imports and opens the modules that serve the tools on first use: most runs of a server never use them.

    First use is a request to `api/fstools`, a listener to Jupyter's events, or a room of real-time collaboration.

    Args:
        serverapp: the server.
        config: the settings, with the root that was found.
    """

    SUPPORTED_METHODS = ()
    """Empty: Jupyter checks these methods for routes without a login, and this router has none of its own."""

    def __init__(self, serverapp: ServerApp, config: FsToolsConfig) -> None:
        super().__init__()
        self.serverapp = serverapp
        self._config = config
        self.served: Served | None = None
        self._opens = True
        self._opening: asyncio.Future[None] | None = None

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        """The handler of a request; None for one that is not to the tools, and where they cannot be opened."""
        if self.served is None and self._opens:
            return _AfterOpening(self, request)
        return super().find_handler(request, **kwargs)

    def find_handler_now(self, request: HTTPServerRequest) -> HTTPMessageDelegate:
        """The handler of a request among all of the server's, without opening the tools for it."""
        self._opens = False
        try:
            return self.serverapp.web_app.find_handler(request)
        finally:
            self._opens = True

    def get_target_delegate(
        self, target: Any, request: HTTPServerRequest, **target_params: Any
    ) -> HTTPMessageDelegate | None:
        """The handler for a request, made as the application makes its own."""
        return self.serverapp.web_app.get_handler_delegate(request, target, **target_params)

    def refusing_handler(self, request: HTTPServerRequest, refusal: FsToolsError) -> HTTPMessageDelegate | None:
        """The handler that tells why the tools cannot be opened for now; None for a request that is not to them."""
        from .closed_handler import ClosedHandler

        web_app = self.serverapp.web_app
        if not request.path.startswith(url_path_join(web_app.settings["base_url"], "api/fstools")):
            return None
        return web_app.get_handler_delegate(request, ClosedHandler, {"refusal": refusal})

    async def open(self) -> None:
        """Serve the tools from now on.

        Opens them in a thread: imports take long, and so does a database or a bucket that does not answer. Requests
        that come meanwhile share the attempt.

        Raises:
            FsToolsError: as `begin`
        """
        if self.served is None:
            if self._opening is None or self._opening.done():
                self._opening = asyncio.ensure_future(asyncio.to_thread(self.begin))
            await asyncio.shield(self._opening)

    def begin(self) -> None:
        """Serve the tools from now on; in one thread at a time.

        Raises:
            FsToolsError: the root or the store cannot be opened; InputOutput: for now.
        """
        if self.served is None:
            from .routes import patterns
            from .served import serve

            settings = self.serverapp.web_app.settings
            served = settings[SETTING] = serve(self.serverapp, self._config)
            warn_of_exposed_settings(self.serverapp, served.workspace)
            self.add_rules(patterns(settings["base_url"]))
            self.served = served  # Last: from now on the event loop looks at the rules.

    async def room_changed(self, logger: object, schema_id: str, data: dict[str, Any]) -> None:
        """A room was opened: kernels must learn of it."""
        await self.open()


class _AfterOpening(HTTPMessageDelegate):
    """A request that came before the tools were opened: its body is read, and it is answered, once they are.

    Args:
        tools: the tools that are being opened.
        request: the request, of which the headers have come.
    """

    def __init__(self, tools: Tools, request: HTTPServerRequest) -> None:
        self._tools = tools
        self._request = request
        self._handler: HTTPMessageDelegate | None = None

    async def headers_received(self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders) -> None:
        try:
            await self._tools.open()
        except InputOutput as error:
            self._tools.serverapp.log.warning(_AWAY, error)
            self._handler = self._tools.refusing_handler(self._request, error)
        except FsToolsError as error:
            refusal = switched_off(self._tools.serverapp, error)
            self._handler = self._tools.refusing_handler(self._request, refusal)
        self._handler = self._handler or self._tools.find_handler_now(self._request)
        if (begun := self._handler.headers_received(start_line, headers)) is not None:
            await begun

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        assert self._handler is not None
        return self._handler.data_received(chunk)

    def finish(self) -> None:
        assert self._handler is not None
        self._handler.finish()

    def on_connection_close(self) -> None:
        if self._handler is not None:
            self._handler.on_connection_close()


def load(serverapp: ServerApp) -> Tools | None:
    """Put the tools into a server; where a setting is wrong, None: its log tells why, every request is refused."""
    try:
        config = settings_of(serverapp)
        config.set_trait("enable_execute", config.rules.enable_execute and offers_terminals(serverapp))
        config.root = absolute_root(config.root or folder_of_contents(serverapp), os.getcwd())
        config.protected_files = [*config.protected_files, *loaded_files()]
        tools = Tools(serverapp, config)
        if must_begin_at_once(serverapp, config):
            begin_or_wait(tools)
        else:
            open_backend(config.root).close()
    except (TraitError, FsToolsError) as error:
        refuse_requests(serverapp, switched_off(serverapp, error))
        return None
    if config.offer_to_jupyter_ai:
        serverapp.log.warning(
            "jupyter_fstools offers its tools to jupyter_server_mcp, whose port asks for no login: every process that "
            "reaches the port reads and writes files through them."
        )
    config.share_with_kernels()
    used = url_path_join(serverapp.web_app.settings["base_url"], "api/(?:fstools|events/subscribe)")
    serverapp.web_app.add_handlers(".*$", [(f"{used}(?:/.*)?", tools)])  # type: ignore[no-untyped-call]  # Jupyter's.
    assert serverapp.event_logger is not None
    serverapp.event_logger.add_listener(schema_id=ROOM_EVENTS, listener=tools.room_changed)
    return tools


def settings_of(serverapp: ServerApp) -> FsToolsConfig:
    """The server's settings.

    Raises:
        TraitError: one is wrong.
    """
    try:
        return FsToolsConfig(parent=serverapp)
    except ValueError as error:  # For an option that is given twice; its values, which follow, may hold a password.
        raise TraitError(str(error).partition(",")[0]) from None


def switched_off(serverapp: ServerApp, error: Exception) -> Disabled:
    """The refusal where a setting is wrong; its value may hold a password, so only the server's log tells the error."""
    what = "jupyter_fstools is switched off because of a wrong setting"
    serverapp.log.critical("%s: %s", what, error)
    return Disabled(
        what,
        hint="The server's log names the setting; whoever runs the server corrects it and starts the server again.",
    )


def refuse_requests(serverapp: ServerApp, refusal: Disabled) -> None:
    """Refuse every request to the tools, which Jupyter would answer with its page for unknown addresses."""
    from .closed_handler import ClosedHandler

    address = url_path_join(serverapp.web_app.settings["base_url"], "api/fstools(?:/.*)?")
    refusing = [(address, ClosedHandler, {"refusal": refusal})]
    serverapp.web_app.add_handlers(".*$", refusing)  # type: ignore[no-untyped-call]  # Jupyter's.


def begin_or_wait(tools: Tools) -> None:
    """Open the tools; where a database or bucket does not answer, later requests try again.

    Raises:
        FsToolsError: a setting is wrong.
    """
    try:
        tools.begin()
    except InputOutput as error:
        tools.serverapp.log.error(_AWAY, error)


def must_begin_at_once(serverapp: ServerApp, config: FsToolsConfig) -> bool:
    """Whether the tools open at the server's start: to check or warn of a setting, or for a listener to events."""
    elsewhere = scheme_of(config.root) is not None or config.store != FsToolsConfig.store.default_value
    inside = os.path.join(os.path.realpath(config.root), "")
    exposed = any(file.startswith(inside) for file in loaded_files())
    events = serverapp.event_logger
    return bool(elsewhere or exposed or config.offer_to_jupyter_ai or (events and events.handlers))


def folder_of_contents(serverapp: ServerApp) -> str:
    """The folder that Jupyter itself shows.

    Raises:
        Invalid: its contents are not a folder on this machine, so that the server's `root_dir` means nothing.
    """
    contents = serverapp.contents_manager
    if not isinstance(contents, FileManagerMixin):
        raise Invalid(
            f"this server's contents ({type(contents).__name__}) are not a folder on this machine",
            hint="Set c.FsToolsConfig.root to the folder or the address where the tools should work.",
            field="root",
        )
    return str(serverapp.root_dir)


def warn_of_exposed_settings(serverapp: ServerApp, workspace: Workspace) -> None:
    """Warn of each settings file of this server at a path that the rules would let tools write."""
    for file in loaded_files():
        path = workspace.paths.path_of(file)
        if path is not None and workspace.policy.may_write(path):
            serverapp.log.warning(
                "Settings of jupyter_fstools can come from %s, which lies in the folder of its tools. The tools do not "
                "write it, but kernels and terminals can: move it elsewhere, or make it read-only.",
                file,
            )


def offers_terminals(serverapp: ServerApp) -> bool:
    """Whether the server itself runs commands: terminals are enabled, and the extension that offers them is."""
    extension = serverapp.extension_manager.extensions.get("jupyter_server_terminals")
    return bool(serverapp.terminals_enabled and extension is not None and extension.enabled)
