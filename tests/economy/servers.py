"""Servers of MCP on a folder, whose calls and bytes are counted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.kernel.real_kernel import private_environment
from tests.processes import RunningServer

CACHE = Path(__file__).parents[2] / ".venv" / "peers"
FILESYSTEM = "@modelcontextprotocol/server-filesystem"
COMMANDER = "@wonderwhy-er/desktop-commander"
DATALAYER = "jupyter-mcp-server"
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "economy", "version": "0"}}


class Counted:
    """Calls tools, and counts the bytes that a model writes and reads, and the bytes sent.

    A model writes the arguments and reads the blocks of content: both are tokens of about four bytes. The arguments and
    the whole result are sent, as JSON without spaces.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls = self.given = self.sent = 0

    def __call__(self, tool: str, **arguments: Any) -> str:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        written, answer = (len(json.dumps(part, separators=(",", ":")).encode()) for part in (arguments, result))
        texts = [block.get("text", "") for block in result["content"]]
        pictures = sum(len(block.get("data", "")) for block in result["content"])
        self.calls += 1
        self.given += written + sum(len(text.encode()) for text in texts) + pictures
        self.sent += written + answer
        return "\n".join(texts)

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        raise NotImplementedError


class Ours(Counted):
    """A Jupyter server's `/mcp`."""

    def __init__(self, root: Path, server: RunningServer) -> None:
        super().__init__(root)
        self._server, self._headers = server, {"Authorization": f"token {server.token}"}
        self.ask("initialize", _HELLO)

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        request = urllib.request.Request(f"{self._server.url}/mcp", json.dumps(message).encode(), self._headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            if given := answer.headers["Mcp-Session-Id"]:
                self._headers["Mcp-Session-Id"] = given
            return json.load(answer)["result"]


class Peer(Counted):
    """A server on standard input and output."""

    def __init__(self, root: Path, process: subprocess.Popen[bytes]) -> None:
        super().__init__(root)
        self._process, self._id = process, 0
        self.ask("initialize", _HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line) if line.startswith(b"{") else {}
            if answer.get("id") == self._id:
                return answer["result"]
        raise RuntimeError("the peer has ended")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def ours(root: Path) -> Iterator[Ours]:
    """Our server on a folder."""
    server = RunningServer(root)
    try:
        server.wait()
        yield Ours(root, server)
    finally:
        server.stop()


@contextmanager
def peer(name: str, root: Path) -> Iterator[Peer]:
    """A peer from npm on a folder; installed once into the environment's cache."""
    scripts = CACHE / "node_modules" / name / "dist" / "index.js"
    if not scripts.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        assert npm is not None, "npm is not installed"
        # Their scripts would download a browser, which no task needs.
        words = [npm, "install", "--silent", "--ignore-scripts", "--prefix", str(CACHE), FILESYSTEM, COMMANDER]
        subprocess.run(words, check=True)
    words = ["node", str(scripts), *([str(root)] if name == FILESYSTEM else [])]
    with tempfile.TemporaryDirectory() as home, _spoken_to(words, root, os.environ | {"HOME": home}) as speaks:
        yield speaks


@contextmanager
def datalayer(root: Path) -> Iterator[Peer]:
    """Datalayer's server, beside a Jupyter server with real-time collaboration; installed once, as the others are."""
    scripts = CACHE / "datalayer" / "bin"
    if not (scripts / DATALAYER).exists():
        venv.create(CACHE / "datalayer")
        words = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "install",
            "--quiet",
            "--python",
            str(scripts / "python"),
            DATALAYER,
        ]
        subprocess.run(words, check=True)
    with tempfile.TemporaryDirectory() as home:
        environment = private_environment(Path(home)) | {"HOME": home}
        server = RunningServer(root, environment=environment, python=str(scripts / "python"))
        server.url = server.url.removesuffix("/fstools")  # It has no fstools.
        environment |= {"JUPYTER_URL": server.url.removesuffix("/api"), "JUPYTER_TOKEN": server.token}
        environment["START_NEW_CODE_SANDBOX"] = "false"  # No task runs code.
        try:
            server.wait()
            with _spoken_to([str(scripts / DATALAYER), "start"], root, environment) as speaks:
                yield speaks
        finally:
            server.stop()


@contextmanager
def _spoken_to(words: list[str], root: Path, environment: dict[str, str]) -> Iterator[Peer]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=root, env=environment
    ) as process:
        try:
            yield Peer(root, process)
        finally:
            process.kill()
