"""`%fs` in a kernel that an Enterprise Gateway starts for a server, and that cannot open the server's files."""

from __future__ import annotations

import json
import os
import secrets
import sys
import urllib.request
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest
from websocket import create_connection

from tests.emulators import free_port, running
from tests.kernel.elsewhere import LOOK, ways
from tests.kernel.real_kernel import FOLDERS, Shown, private_environment
from tests.legs import python_of
from tests.processes import RunningServer

pytestmark = pytest.mark.slow

NAME = "elsewhere"


class KernelBehind:
    """A kernel that a server has started on its gateway, reached through the server as a notebook reaches it."""

    def __init__(self, server: RunningServer) -> None:
        self.origin = server.url.removesuffix("/api/fstools")
        self.headers = {"Authorization": f"token {server.token}"}
        asked = urllib.request.Request(
            f"{self.origin}/api/kernels", json.dumps({"name": NAME}).encode(), self.headers, method="POST"
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            kernel = json.load(answer)["id"]
        address = f"{self.origin.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
        self._socket = create_connection(address, header=self.headers, timeout=60)

    def run(self, code: str) -> Shown:
        shown = Shown("")
        self._ask("execute_request", {"code": code, "silent": False, "allow_stdin": False}, shown.add)
        return shown

    def completions(self, line: str) -> list[str]:
        told = []
        self._ask(
            "complete_request", {"code": line, "cursor_pos": len(line)}, lambda message: told.append(message["content"])
        )
        return next(content["matches"] for content in told if "matches" in content)

    def _ask(self, kind: str, content: dict, heard) -> None:
        """Send a request on the shell channel; gives `heard` the kernel's messages until it has replied and is idle."""
        name = uuid.uuid4().hex
        header = {"msg_id": name, "msg_type": kind, "username": "", "session": name, "version": "5.3"}
        header["date"] = datetime.now(UTC).isoformat()
        request = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self._socket.send(json.dumps(request))
        waiting = {"idle", "reply"}
        while waiting:
            message = json.loads(self._socket.recv())
            if message["parent_header"].get("msg_id") != name:
                continue
            heard(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                waiting.discard("idle")
            elif message["msg_type"].endswith("_reply"):
                waiting.discard("reply")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory, files):
    """An Enterprise Gateway whose kernels see none of the files; gives its address and the folder of their settings."""
    home = tmp_path_factory.mktemp("gateway")
    spec = home / "jupyter_data_dir" / "kernels" / NAME
    environment = private_environment(home)
    spec.mkdir(parents=True)
    command = [*ways(files)[0], sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    # A gateway passes on none of its own environment.
    folders = {name: environment[name] for name in FOLDERS}
    told = {"argv": command, "display_name": NAME, "language": "python", "env": folders}
    (spec / "kernel.json").write_text(json.dumps(told))
    profile = home / "ipythondir" / "profile_default"
    profile.mkdir(parents=True, mode=0o700)
    program = Path(python_of("gateway")).with_name("jupyter-enterprisegateway")
    port = free_port()
    options = [
        "--ip=127.0.0.1",
        f"--port={port}",
        "--port_retries=0",
        "--EnterpriseGatewayApp.client_envs=JUPYTER_TOKEN",
    ]
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ.keys() - environment.keys():
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        with running([str(program), *options], port, home / "gateway.log"):
            yield f"http://127.0.0.1:{port}", profile


@pytest.fixture(scope="module")
def server(gateway, files, tmp_path_factory):
    """A server whose kernels are the gateway's; it hands its token on to them."""
    address, profile = gateway
    token = secrets.token_hex(16)
    options = {
        "GatewayClient.url": address,
        "GatewayClient.allowed_envs": "JUPYTER_TOKEN",
        "FsToolsConfig.durable": False,
        "FsToolsConfig.enable_execute": True,
        "FsToolsConfig.execute_approval": False,
    }
    # A gateway starts nothing for root.
    handed = {"JUPYTER_TOKEN": token, "KERNEL_USERNAME": "ada"}
    environment = private_environment(tmp_path_factory.mktemp("server")) | handed
    given = [f"--{name}={value}" for name, value in options.items()]
    server = RunningServer(files, *given, environment=environment, token=token)
    try:
        server.wait()
        (profile / "ipython_kernel_config.py").write_text(
            f"c = get_config()\nc.FsToolsConfig.server = {server.url.removesuffix('api/fstools')!r}\n"
        )
        yield server
    finally:
        server.stop()


@pytest.fixture
def kernel(server):
    kernel = KernelBehind(server)
    yield kernel
    kernel.close()


def test_a_kernel_behind_an_enterprise_gateway_works_by_the_servers_gate(kernel, server, files):
    file = files / "far.py"
    file.write_text("one = 1\n")
    assert kernel.run(LOOK.format(str(file))).streams == "nothing\n"
    refused = kernel.run("%fs edit far.py --old 1 --new 2")
    assert (refused.error["ename"], file.read_text()) == ("NotRead", "one = 1\n")
    assert "one = 1" in kernel.run("%fs read far.py").text
    shown = kernel.run("%fs edit far.py --old 1 --new 2")
    assert file.read_text() == "one = 2\n", shown.message
    assert "-one = 1" in shown.text
    assert "one = 2" in shown.html
    listed = server.call("GET", "/changes?path=far.py")[1]["changes"]
    assert [one["path"] for one in listed] == ["far.py"]
    file.write_text("one = 3\n")
    stale = kernel.run("%fs edit far.py --old one --new two")
    assert stale.error["ename"] == "Stale"
    assert "+one = 3" in stale.message
    assert kernel.run("r = %fs read far.py\nprint(r.data['total_lines'])").streams == "1\n"
    assert kernel.run("r = %fs sh cat far.py\nprint(r.data['exit_code'])").streams == "one = 3\n0\n"
    assert "far.py" in kernel.completions("%fs read fa")
