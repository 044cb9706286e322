"""A server in this process for settings of its own, and one beside it that the other tests share."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from tornado.simple_httpclient import SimpleAsyncHTTPClient

REPOSITORY = Path(__file__).parents[2]
TOKEN = "the-token"
JUPYTER_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")


@dataclass
class Answer:
    """Response of a server."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]


def pieces(path, params, body, session, headers):
    """URL, body and headers of a request."""
    url = f"api/fstools{path}" + (f"?{urlencode(params)}" if params else "")
    sent = {"X-Fstools-Session": session} if session else {}
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    return url, data, {**sent, **(headers or {})}


@dataclass
class Server:
    """A server in a process of its own, asked without an event loop."""

    port: int
    root: str
    environment: dict[str, str]

    def ask(self, method, path, body=None, /, *, session=None, headers=None, token=TOKEN, **params):
        url, data, sent = pieces(path, params, body, session, headers)
        if token:
            sent = {"Authorization": f"token {token}", **sent}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, f"/{url}", data, sent)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body=b"", **more):
        return self.ask("POST", path, body, **more)

    def call(self, tool, session=None, **arguments):
        return self.post(f"/tools/{tool}", arguments, session=session)


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory):
    home = tmp_path_factory.mktemp("shared_server")
    root = home / "root"
    root.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JPY_", "JUPYTER"))}
    for name in JUPYTER_FOLDERS:
        (home / name.lower()).mkdir(mode=0o700)
        environment[name] = str(home / name.lower())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "ServerApp.jpserver_extensions": "{'jupyter_fstools': True}",
        "ServerApp.port": port,
        "ServerApp.root_dir": root,
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": True,
        "ServerApp.log_level": "WARN",
        "IdentityProvider.token": TOKEN,
        "FsToolsConfig.durable": False,
        "FsToolsConfig.structured_content": True,
        "FsToolsConfig.lock_seconds": 2.0,
        "FsToolsConfig.max_write_bytes": 1_000_000,
        "FsToolsConfig.deny_read": "*.secret",
    }
    command = [sys.executable, "-m", "jupyter_server", *(f"--{name}={value}" for name, value in options.items())]
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=REPOSITORY, stdout=log, stderr=log)
    server = Server(port, str(root), environment)
    wait_until_ready(server, process)
    yield server
    process.terminate()
    process.wait(30)
    said = (home / "log").read_text()
    assert "Traceback" not in said, said


def wait_until_ready(server, process):
    for _ in range(600):
        assert process.poll() is None, "the server has ended"
        try:
            assert server.get("/").status == 200
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server does not answer")


@pytest.fixture
def folder(shared_server, request):
    """A folder for one test below the shared server's root, its name the test's session too."""
    name = "".join(sign if sign.isalnum() else "_" for sign in request.node.name)[:80]
    path = os.path.join(shared_server.root, name)
    os.mkdir(path)
    return Folder(shared_server, name, path)


@dataclass
class Folder:
    """A folder of the shared server, used in a session of its own."""

    server: Server
    name: str
    path: str

    def write(self, name, data):
        path = os.path.join(self.path, name)
        with open(path, "wb") as file:
            file.write(data)
        return f"{self.name}/{name}"

    def read(self, name):
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    def call(self, tool, **arguments):
        return self.server.call(tool, session=self.name, **arguments)

    def raw(self, name, **headers):
        return self.server.get(f"/raw/{self.name}/{quote(name)}", headers=headers)


@pytest.fixture
def settings(request):
    """Settings of the tools in the server of this process: `parametrize(..., indirect=True)`."""
    return getattr(request, "param", {})


@pytest.fixture
def jp_server_config(settings):
    return {
        "ServerApp": {"jpserver_extensions": {"jupyter_fstools": True, "jupyter_server_terminals": False}},
        "FsToolsConfig": {"durable": False, **settings},
    }


@pytest.fixture
def served(jp_serverapp):
    """The object that serves the tools in this process; without this fixture the first request makes it."""
    [app] = jp_serverapp.extension_manager.extension_apps["jupyter_fstools"]
    app.tools.begin()
    return app.tools.served


@pytest.fixture
def jp_base_url():
    return "/a%40b/"


@pytest.fixture
def ask(jp_serverapp, jp_http_port, http_server, jp_auth_header):
    """Ask the server of this process; the headers replace the token's."""
    clients = []

    async def ask(method, path, body=None, /, *, session=None, headers=None, **params):
        url, data, sent = pieces(path, params, body, session, headers)
        if headers is None:
            sent.update(jp_auth_header)
        if not clients:
            clients.append(SimpleAsyncHTTPClient(force_instance=True, max_clients=200))
        response = await clients[0].fetch(
            f"http://127.0.0.1:{jp_http_port}{jp_serverapp.base_url}{url}",
            follow_redirects=False,
            method=method,
            body=data,
            headers=sent,
            raise_error=False,
            allow_nonstandard_methods=True,
            request_timeout=60,
        )
        return Answer(response.code, {k.lower(): v for k, v in response.headers.get_all()}, response.body or b"")

    yield ask
    for client in clients:
        client.close()


@pytest.fixture
def call(ask):
    async def call(tool, session=None, **arguments):
        return await ask("POST", f"/tools/{tool}", arguments, session=session)

    return call
