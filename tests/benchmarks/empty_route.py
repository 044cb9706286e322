"""A server extension with a route that asks for a login and answers at once: no tool over HTTP can be faster."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web

EMPTY = "/api/empty"
OPTION = f"--ServerApp.jpserver_extensions={{'jupyter_fstools': True, '{__name__}': True}}"


class EmptyHandler(APIHandler):
    auth_resource = "contents"

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Answer nothing, or as many bytes as the query asks for."""
        length = int(self.get_query_argument("bytes", "2"))
        await self.finish("{}" if length == 2 else _filled(length))


@cache
def _filled(length: int) -> bytes:
    return b'{"text":"%b"}' % (b"x" * length)


def environment() -> dict[str, str]:
    """In which a server finds this module."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def _load_jupyter_server_extension(server: ServerApp) -> None:
    web_app = server.web_app
    route = url_path_join(web_app.settings["base_url"], EMPTY)
    web_app.add_handlers(".*$", [(route, EmptyHandler)])  # type: ignore[no-untyped-call]  # Jupyter's.
