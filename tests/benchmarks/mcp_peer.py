"""The reference file server of MCP, over its own stdio."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .harness import NotHere

PEER = "@modelcontextprotocol/server-filesystem"
Peer = Callable[[str, dict[str, Any]], Any]
"""Calls one of its tools with arguments; gives the result, and raises where it is an error."""


@contextmanager
def peer_on(root: Path) -> Iterator[Peer]:
    """The peer as a child process, on a folder; installed once into the environment's cache."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotHere("npm is not installed")
    cache = Path(__file__).parents[2] / ".venv" / "peers"
    script = cache / "node_modules" / PEER / "dist" / "index.js"
    if not script.exists():
        cache.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([npm, "install", "--silent", "--prefix", str(cache), PEER], check=False)
        if done.returncode or not script.exists():
            raise NotHere(f"{PEER} cannot be installed")
    with subprocess.Popen(
        ["node", str(script), str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        ask = _requests(process.stdin, process.stdout)
        ask(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}},
        )
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        yield lambda tool, arguments: ask("tools/call", {"name": tool, "arguments": arguments})
        process.kill()


def _requests(stdin: Any, stdout: Any) -> Callable[[str, dict[str, Any]], Any]:
    number = 0

    def ask(method: str, parameters: dict[str, Any]) -> Any:
        nonlocal number
        number += 1
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        stdin.write(json.dumps(message).encode() + b"\n")
        stdin.flush()
        while True:
            answer = json.loads(stdout.readline())
            if answer.get("id") == number:
                break
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(str(answer)[:500])
        return answer["result"]

    return ask
