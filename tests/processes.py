"""Real processes for the demo and the tests: a Jupyter server with a token, a kernel."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

_START_SECONDS = 120
_INTERFACE = "jupyterlab", "jupyter_lsp", "notebook", "notebook_shim"


class RunningServer:
    """A real Jupyter server with a token, in a folder of its own.

    It takes environment variables and a Python of its own, if there are any, and `interface`: without JupyterLab it
    starts in half the time.
    """

    def __init__(
        self,
        root: Path,
        *options: str,
        environment: dict[str, str] | None = None,
        python: str = sys.executable,
        token: str | None = None,
        module: str = "jupyter_server",
        interface: bool = False,
    ) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.token = secrets.token_hex(16) if token is None else token
        self.url = f"http://127.0.0.1:{port}/api/fstools"
        self._environment = environment
        self._folder = root.parent  # Where collaboration leaves a database.
        self._command = [
            *(python, "-m", module, "--no-browser", "--ip=127.0.0.1", f"--port={port}"),
            *("--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={self.token}"),
            *([] if interface else [f"--ServerApp.jpserver_extensions={dict.fromkeys(_INTERFACE, False)}"]),
            *options,
            *(["--allow-root"] if hasattr(os, "getuid") and os.getuid() == 0 else []),
        ]
        self.start()

    def start(self) -> None:
        """Start the server; after `stop` again, at the same address."""
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  # stop() closes it
        self.process = subprocess.Popen(
            self._command, stdout=self.log, stderr=subprocess.STDOUT, env=self._environment, cwd=self._folder
        )

    def wait(self) -> None:
        """Wait until it answers; the first start compiles newly installed packages."""
        late = time.monotonic() + _START_SECONDS
        while self.process.poll() is None and time.monotonic() < late:
            try:
                self.call("GET", "/")
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"the server did not start:\n{self.output()}")

    def call(
        self, method: str, path: str, body: dict[str, Any] | None = None, session: str = "default"
    ) -> tuple[int, dict[str, Any]]:
        """One request below /api/fstools: the status, and what was answered."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": f"token {self.token}", "X-Fstools-Session": session},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.load(refusal)

    def output(self) -> str:
        """Output so far."""
        self.log.seek(0)
        return self.log.read().decode()

    def stop(self, seconds: float = 60) -> None:
        """End the process; one that does not end by itself in this time is killed, and that is an error."""
        self.process.terminate()
        try:
            self.process.wait(seconds)
        finally:
            self.process.kill()
            self.process.wait()
            self.log.close()


@contextmanager
def running_kernel(folder: Path, environment: dict[str, str] | None = None) -> Iterator[BlockingKernelClient]:
    """A real kernel of this environment, or of one that is given, working in a folder."""
    manager, kernel = start_new_kernel(cwd=str(folder), env={**(environment or os.environ)}, stderr=subprocess.DEVNULL)
    try:
        yield kernel
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


def run_cell(kernel: BlockingKernelClient, code: str) -> str:
    """Run code; gives the output that a person sees below the cell."""
    seen: list[str] = []

    def collect(message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] == "stream":
            seen.append(content["text"])
        elif message["msg_type"] in ("execute_result", "display_data"):
            seen.append(content["data"]["text/plain"])
        elif message["msg_type"] == "error":
            seen.append("\n".join(content["traceback"]))

    kernel.execute_interactive(code, output_hook=collect, timeout=60)
    return "\n".join(seen)


def wait_for_line(file: Path) -> str:
    """Content of a file, once it ends with a whole line."""
    for _ in range(600):
        if file.exists() and (text := file.read_text()).endswith("\n"):
            return text
        time.sleep(0.1)
    raise AssertionError(f"{file} was never written")


def wait_until_gone(process: str) -> None:
    """Wait until a process, by its number, has ended; a zombie counts as ended."""
    for _ in range(600):
        try:
            state = Path(f"/proc/{int(process)}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return
        time.sleep(0.1)
    raise AssertionError(f"{process} still runs")
