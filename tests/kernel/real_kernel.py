"""A real kernel, and what a notebook would show of the cells it runs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client import KernelManager

FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
INHERITED = ("JUPYTER_", "JPY_", "IPYTHON", "FSTOOLS_")


@dataclass
class Shown:
    """Output of one cell: `results` are the mime bundles, `error` the message of a failed cell."""

    status: str
    results: list[dict[str, Any]] = field(default_factory=list)
    streams: str = ""
    error: dict[str, Any] = field(default_factory=dict)

    def add(self, message: dict[str, Any]) -> None:
        """Take in one message of the kernel."""
        content = message["content"]
        if message["msg_type"] in ("execute_result", "display_data"):
            self.results.append(content["data"])
        elif message["msg_type"] == "stream":
            self.streams += content["text"]
        elif message["msg_type"] == "error":
            self.error = content

    @property
    def text(self) -> str:
        return "\n".join(bundle["text/plain"] for bundle in self.results)

    @property
    def html(self) -> str:
        return "\n".join(bundle["text/html"] for bundle in self.results)

    @property
    def message(self) -> str:
        return "\n".join(self.error.get("traceback", []))


def private_environment(home: Path) -> dict[str, str]:
    """The environment with Jupyter and IPython folders below `home`."""
    for name in FOLDERS:
        (home / name.lower()).mkdir(mode=0o700, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(INHERITED)}
    return kept | {name: str(home / name.lower()) for name in FOLDERS}


class RealKernel:
    """A kernel of this environment whose working directory is `folder`; `more` is added to its environment."""

    def __init__(self, folder: Path, home: Path, *, name: str = "python3", more: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.environment = private_environment(home) | (more or {})
        self._manager = KernelManager(kernel_name=name, connection_file=str(home / "kernel.json"))
        self._manager.start_kernel(cwd=str(folder), env=self.environment)
        self.client = self._manager.blocking_client()
        self.client.start_channels()
        try:
            self.client.wait_for_ready(timeout=60)
        except RuntimeError:
            self.stop()
            raise

    def run(self, code: str) -> Shown:
        shown = Shown("")
        reply = self.client.execute_interactive(code, output_hook=shown.add, timeout=60, allow_stdin=False)
        shown.status = reply["content"]["status"]
        return shown

    def completions(self, line: str) -> dict[str, Any]:
        return self.client.complete(line, len(line), reply=True, timeout=60)["content"]

    def stop(self) -> None:
        self.client.stop_channels()
        self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()
