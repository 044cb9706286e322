"""M1-M2: tools called over MCP, against the plain REST call and against the reference file server over stdio."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.processes import RunningServer

from .floor_routes import EMPTY, OPTION, environment
from .harness import Result, compare
from .mcp_peer import PEER, peer_on
from .samples import folder, source_file


def against_rest() -> Iterator[Result]:
    """The same call of the same server on two routes: one client, then eight at once."""
    with _served() as (server, root):
        rest, mcp = _Client(server), _McpClient(server)
        for client in (rest, mcp):
            client.call("read_file", {"path": "small.py"})
        for name, arguments, rounds in (
            ("read_file", {"path": "small.py", "force": True}, 200),
            ("grep", {"pattern": "ANSWER"}, 50),
        ):
            yield compare(
                f"M1 {name} over MCP, to REST",
                lambda name=name, arguments=arguments: mcp.call(name, arguments),
                lambda name=name, arguments=arguments: rest.call(name, arguments),
                target=1.1,
                rounds=rounds,
            )
        source_file(root / "other.py", 10_000)
        rest.call("read_file", {"path": "other.py"})
        yield compare(
            "M1 edit_file of 10 KB over MCP, to REST",
            _toggled(mcp.call, "edit_file", "small.py"),
            _toggled(rest.call, "edit_file", "other.py"),
            target=1.1,
            rounds=100,
        )
        empty = _Client(server, below="")
        yield compare(
            "M1 ping over MCP, to a login and an empty answer",
            mcp.ping,
            lambda: _asked(empty.post, EMPTY, {}),
            target=None,
            rounds=200,
        )
        yield compare(
            "M1 reads of 10 KB by 8 clients over MCP, to REST",
            lambda: _crowd(lambda: _McpClient(server)),
            lambda: _crowd(lambda: _Client(server)),
            target=1.1,
            rounds=5,
        )


def against_the_peer() -> Iterator[Result]:
    """The same work on the same files; ours goes through HTTP, a login and the gate."""
    with _served() as (server, root), peer_on(root) as peer:
        mcp = _McpClient(server)
        for name, size, target, rounds in (("small.py", "10 KB", 1.5, 100), ("large.py", "1 MB", None, 30)):
            source_file(root / f"their_{name}", (root / name).stat().st_size)
            theirs = str(root / f"their_{name}")
            yield compare(
                f"M2 read of {size} over MCP, to {PEER}",
                lambda name=name: mcp.call("read_file", {"path": name, "force": True, "limit": 100_000}),
                lambda theirs=theirs: _asked(peer, "read_text_file", {"path": theirs}),
                target=target,
                rounds=rounds,
            )
            yield compare(
                f"M2 edit of {size} over MCP, to {PEER}",
                _toggled(mcp.call, "edit_file", name),
                _toggled(peer, "edit_file", theirs, list_of=("oldText", "newText")),
                target=target,
                rounds=rounds,
            )
        empty = _Client(server, below="")
        # A file of its own: `_toggled` has to begin with an untouched text.
        source_file(root / "their_other.py", 10_000)
        small = str(root / "their_other.py")
        for what, theirs in (
            ("read", lambda: _asked(peer, "read_text_file", {"path": small})),
            ("edit", _toggled(peer, "edit_file", small, list_of=("oldText", "newText"))),
        ):
            yield compare(
                f"M2 login and an empty answer, to {what} of 10 KB by {PEER}",
                lambda: _asked(empty.post, EMPTY, {}),
                theirs,
                target=None,
                rounds=100,
            )
        tree = root / "tree"
        for number in range(2000):
            (tree / f"folder{number % 50}").mkdir(parents=True, exist_ok=True)
            (tree / f"folder{number % 50}" / f"file{number}.{'py' if number % 10 else 'md'}").write_text("x\n")
        yield compare(
            f"M2 search of 2,000 files by name over MCP, to {PEER}",
            lambda: mcp.call("glob", {"pattern": "**/*.md", "path": "tree"}),
            lambda: _asked(peer, "search_files", {"path": str(tree), "pattern": "**/*.md"}),
            target=None,
            rounds=20,
        )


@contextmanager
def _served() -> Iterator[tuple[RunningServer, Path]]:
    """A server on a folder with a small and a large file."""
    with folder() as root:
        for name in ("config", "runtime"):
            os.environ[f"JUPYTER_{name.upper()}_DIR"] = str(root.parent / name)
        source_file(root / "small.py", 10_000)
        source_file(root / "large.py", 1_000_000)
        sizes = "--FsToolsConfig.max_output_bytes=2000000", "--FsToolsConfig.full_read_bytes=2000000"
        server = RunningServer(root, *sizes, OPTION, environment=environment(), interface=True)
        try:
            server.wait()
            yield server, root
        finally:
            server.stop()


class _Client:
    """A connection that is kept, to the tools' routes."""

    def __init__(self, server: RunningServer, below: str | None = None) -> None:
        parts = urlsplit(server.url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        self._headers = {"Authorization": f"token {server.token}", "Content-Type": "application/json"}
        self._path = parts.path if below is None else below

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        self.post(f"/tools/{tool}", arguments)

    def post(self, path: str, body: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        self._connection.request("POST", self._path + path, json.dumps(body).encode(), self._headers)
        answer = self._connection.getresponse()
        told = answer.read()
        if answer.status not in (200, 202) or b'"isError":true' in told:
            raise RuntimeError(f"{path}: {answer.status} {told[:300]!r}")
        return answer.headers, told


class _McpClient(_Client):
    """A session of the protocol."""

    def __init__(self, server: RunningServer) -> None:
        super().__init__(server)
        self._numbers = itertools.count()
        asked = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}
        headers, _ = self._request("initialize", asked)
        self._headers |= {"Mcp-Session-Id": headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
        self.post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        self._request("tools/call", {"name": tool, "arguments": arguments})

    def ping(self) -> None:
        self._request("ping", {})

    def _request(self, method: str, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return self.post("/mcp", {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params})


def _toggled(
    call: Callable[[str, dict[str, Any]], Any], tool: str, path: str, list_of: tuple[str, str] | None = None
) -> Callable[[], None]:
    """An edit there and back again, one step a call."""
    state = ["ANSWER = 0", "ANSWER = 1"]
    old, new = list_of or ("old_string", "new_string")

    def step() -> None:
        edit = {old: state[0], new: state[1]}
        call(tool, {"path": path, "edits": [edit]})
        state.reverse()

    return step


def _asked(peer: Callable[[str, dict[str, Any]], object], tool: str, arguments: dict[str, Any]) -> None:
    """Make a call whose answer the measurement does not need."""
    peer(tool, arguments)


def _crowd(client: Callable[[], _Client]) -> float:
    """Seconds for 400 reads by eight clients."""
    clients = [client() for _ in range(8)]
    start = time.perf_counter()
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda one: [one.call("read_file", {"path": "small.py", "force": True}) for _ in range(50)], clients
            )
        )
    return time.perf_counter() - start


BENCHMARKS = {"M1": against_rest, "M2": against_the_peer}
