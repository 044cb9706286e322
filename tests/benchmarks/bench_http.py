"""H1: reading over HTTP, against Jupyter's own contents service on the same server."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from tests.processes import RunningServer

from .floor_routes import EMPTY, OPTION, STRAIGHT_LINE, environment
from .harness import Result, compare
from .samples import folder, notebook_of_pictures, source_file


def reading() -> Iterator[Result]:
    """One client asking again and again, then eight at once."""
    with folder() as root:
        for name in ("config", "runtime"):
            os.environ[f"JUPYTER_{name.upper()}_DIR"] = str(root.parent / name)
        source_file(root / "small.py", 10_000)
        source_file(root / "large.py", 1_000_000)
        sizes = "--FsToolsConfig.max_output_bytes=2000000", "--FsToolsConfig.full_read_bytes=2000000"
        server = RunningServer(root, *sizes, OPTION, environment=environment(), interface=True)
        try:
            server.wait()
            client = _Client(server)
            for name, size, wanted, target, rounds in (
                ("small.py", "10 KB", "both", 0.65, 200),
                ("large.py", "1 MB", "data", 0.6, 40),
            ):
                body = json.dumps({"path": name, "force": True, "limit": 100_000, "line_numbers": False}).encode()
                yield compare(
                    f"H1 read of {size} over HTTP, to GET contents",
                    lambda body=body, wanted=wanted: client.ask(
                        "POST", f"/api/fstools/tools/read_file?answer={wanted}", body
                    ),
                    lambda name=name: client.ask("GET", f"/api/contents/{name}"),
                    target=target,
                    rounds=rounds,
                )
                yield compare(
                    f"H1 login and straight-line read of {size}, to GET contents",
                    lambda body=body, wanted=wanted: client.ask("POST", f"{STRAIGHT_LINE}?answer={wanted}", body),
                    lambda name=name: client.ask("GET", f"/api/contents/{name}"),
                    target=None,
                    rounds=rounds,
                )
            notebook_of_pictures(root / "large.ipynb", 5_000_000)
            # An old modification time: a recent one could mean that a program is still writing.
            os.utime(root / "large.ipynb", (time.time() - 60,) * 2)
            cell = json.dumps({"path": "large.ipynb", "cell_id": "middle"}).encode()
            yield compare(
                "H1 one cell of a 5 MB notebook over HTTP, to GET contents",
                lambda: client.ask("POST", "/api/fstools/tools/read_notebook", cell),
                lambda: client.ask("GET", "/api/contents/large.ipynb"),
                target=0.12,
                rounds=15,
            )
            yield compare(
                "H1 login and an empty answer, to GET contents of a 5 MB notebook",
                lambda: client.ask("POST", EMPTY, b"{}"),
                lambda: client.ask("GET", "/api/contents/large.ipynb"),
                target=None,
                rounds=15,
            )
            body = json.dumps({"path": "small.py", "force": True, "line_numbers": False}).encode()
            for name, path, target in (
                ("reads of 10 KB per second", "/api/fstools/tools/read_file", 1.6),
                ("straight-line reads of 10 KB per second", STRAIGHT_LINE, None),
            ):
                yield compare(
                    f"H1 {name}, 8 clients, to GET contents",
                    lambda path=path: _crowd(server, "POST", path, body),
                    lambda: _crowd(server, "GET", "/api/contents/small.py"),
                    target=target,
                    rounds=5,
                    ratio=lambda ours, theirs: theirs / ours,
                    better="higher",
                )
        finally:
            server.stop()


class _Client:
    """A connection that is kept."""

    def __init__(self, server: RunningServer) -> None:
        parts = urlsplit(server.url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        self._headers = {"Authorization": f"token {server.token}"}

    def ask(self, method: str, path: str, body: bytes | None = None) -> None:
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status}")


def _crowd(server: RunningServer, method: str, path: str, body: bytes | None = None) -> float:
    """Seconds for 400 requests from eight connections."""
    clients = [_Client(server) for _ in range(8)]
    start = time.perf_counter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda client: [client.ask(method, path, body) for _ in range(50)], clients))
    return time.perf_counter() - start


BENCHMARKS = {"H1": reading}
