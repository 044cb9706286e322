"""A JupyterHub with a server for each of its users, on one project folder and one database."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.emulators import free_port, missing
from tests.kernel.real_kernel import FOLDERS
from tests.legs import python_of
from tests.processes import RunningServer

PROXY = Path(sys.prefix) / "proxy" / "node_modules" / ".bin" / "configurable-http-proxy"
"""Where `make legs` puts it."""

CONFIG = """
import json, os
told = json.loads(os.environ["HUB_OF_THE_TESTS"])
c.JupyterHub.bind_url = f"http://127.0.0.1:{told['port']}"
c.JupyterHub.public_url = f"http://localhost:{told['port']}"
c.JupyterHub.hub_port = told["hub_port"]
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.Spawner.notebook_dir = told["project"]
c.Spawner.cmd = [told["python"], "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root", "--FsToolsConfig.durable=False", f"--FsToolsConfig.store={told['store']}"]
c.Spawner.environment = {
    name: lambda spawner, name=name: os.path.join(told["homes"], spawner.user.name, name.lower())
    for name in told["folders"]
} | {"JUPYTERHUB_ALLOW_TOKEN_IN_URL": "1", "PGPASSWORD": told["password"]}
c.Spawner.http_timeout = c.Spawner.start_timeout = 120
c.ConfigurableHTTPProxy.command = [told["proxy"]]
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{told['proxy_port']}"
c.JupyterHub.services = [{"name": "tests", "api_token": told["token"]}]
c.JupyterHub.load_roles = [
    {"name": "tests", "services": ["tests"], "scopes": ["admin:users", "admin:servers", "tokens"]}
]
"""


class OnHub:
    """A user's server as `RunningServer` is one, reached through the hub's proxy."""

    call = RunningServer.call

    def __init__(self, origin: str, name: str, token: str) -> None:
        self.name, self.token = name, token
        self.url = f"{origin}/user/{name}/api/fstools"


class Hub:
    """The hub's own API."""

    def __init__(self, port: int, token: str) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self._token = token

    def server_of(self, user: str) -> OnHub:
        """Begin a user's server, with a token of the user's own."""
        self._ask("POST", f"/users/{user}")
        self._ask("POST", f"/users/{user}/server")
        token = self._ask("POST", f"/users/{user}/tokens")["token"]
        for _ in range(600):
            if self._ask("GET", f"/users/{user}")["server"]:
                return OnHub(self.origin, user, token)
            time.sleep(0.1)
        raise SystemExit(f"the server of {user} did not start")

    def is_up(self) -> bool:
        try:
            return bool(self._ask("GET", "/")["version"])
        except (OSError, ValueError):
            return False

    def _ask(self, method: str, path: str) -> dict:
        request = urllib.request.Request(
            f"{self.origin}/hub/api{path}", method=method, headers={"Authorization": f"token {self._token}"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"{}")


@contextmanager
def running(folder: Path, store: str):
    """A hub; what it and its users' servers say is in `folder/hub.log`, the project in `folder/project`."""
    python = python_of("hub")
    if not PROXY.exists() or shutil.which("node") is None:
        missing("configurable-http-proxy is not installed: run make legs")
    password = urlsplit(store).password
    project = folder / "project"
    project.mkdir()
    told = {
        **{"port": free_port(), "hub_port": free_port(), "proxy_port": free_port(), "token": secrets.token_hex(16)},
        **{"project": str(project), "python": python, "proxy": str(PROXY)},
        # A hub logs how it starts servers: the password is not in it.
        **{"store": store.replace(f":{password}@", "@"), "password": password},
        **{"homes": str(folder / "homes"), "folders": FOLDERS},
    }
    (folder / "config.py").write_text(CONFIG)
    with (folder / "hub.log").open("wb") as log:
        process = subprocess.Popen(
            [python, "-m", "jupyterhub", "-f", "config.py"],
            env={**os.environ, "HUB_OF_THE_TESTS": json.dumps(told)},
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    try:
        hub = Hub(told["port"], told["token"])
        while not hub.is_up():
            assert process.poll() is None, (folder / "hub.log").read_text()
            time.sleep(0.1)
        yield hub
    finally:
        process.terminate()  # It ends the proxy and the servers that it started.
        try:
            process.wait(30)
        finally:
            process.kill()
            process.wait()
