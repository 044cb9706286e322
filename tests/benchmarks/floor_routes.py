"""A server extension with routes that ask for a login and do the least: no tool over HTTP can be faster."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack
from pathlib import Path

import orjson
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web

from . import floors

EMPTY = "/api/empty"
STRAIGHT_LINE = "/api/straight-line"
OPTION = f"--ServerApp.jpserver_extensions={{'jupyter_fstools': True, '{__name__}': True}}"


class _Handler(APIHandler):
    auth_resource = "contents"

    def compute_etag(self) -> str | None:
        """No hash over every answer."""
        return None


class EmptyHandler(_Handler):
    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Answer nothing."""
        await self.finish("{}")


class StraightLineHandler(_Handler):
    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Read as `floors.read` does, off the event loop: "one slow call never blocks another"."""
        only_data = self.get_query_argument("answer", "both") == "data"
        work = _answer, self.settings["floor"], self.request.body, only_data
        await self.finish(await asyncio.get_running_loop().run_in_executor(None, *work))


def _answer(gate: floors.Gate, body: bytes, only_data: bool) -> bytes:
    return orjson.dumps(floors.read(gate, orjson.loads(body), only_data=only_data))


def environment() -> dict[str, str]:
    """The environment in which a server finds this module."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def _load_jupyter_server_extension(server: ServerApp) -> None:
    web_app = server.web_app
    held = ExitStack()
    web_app.settings |= {"floor": held.enter_context(floors.opened(Path(server.root_dir))), "floor_held": held}
    routes = {EMPTY: EmptyHandler, STRAIGHT_LINE: StraightLineHandler}
    base = web_app.settings["base_url"]
    handlers = [(url_path_join(base, path), handler) for path, handler in routes.items()]
    web_app.add_handlers(".*$", handlers)  # type: ignore[no-untyped-call]  # Jupyter's.
