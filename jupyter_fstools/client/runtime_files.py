"""Finds running Jupyter servers through their runtime files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class JupyterServer:
    """A server; its address and token come from the same file, as they belong together.

    Only these two are known where the server runs elsewhere.

    Attributes:
        url: its address, with its base URL.
        root: the real path of the folder it serves.
        token: the token it accepts as a login; shown nowhere.
        process: its process id.
        written_at: when its file was written, in nanoseconds since 1970.
    """

    url: str
    root: str = ""
    token: str = field(default="", repr=False)
    process: int = 0
    written_at: int = 0


def running_servers() -> Iterator[JupyterServer]:
    """The servers whose process is running; unreadable files are skipped."""
    from jupyter_core.paths import jupyter_runtime_dir

    for path in Path(jupyter_runtime_dir()).glob("jpserver-*.json"):
        server = _described(path)
        if server is not None:
            yield server


def servers_around(folder: str) -> list[JupyterServer]:
    """The servers whose root contains a folder (a real path): deepest root first, then the newest server first."""
    around = [server for server in running_servers() if Path(folder).is_relative_to(server.root)]
    return sorted(around, key=lambda server: (len(Path(server.root).parts), server.written_at), reverse=True)


def _described(path: Path) -> JupyterServer | None:
    try:
        if not path.is_file():  # Opening a named pipe would block.
            return None
        told: Any = json.loads(path.read_text("utf-8"))
        root = os.path.realpath(told["root_dir"])
        process = int(told["pid"])
        server = JupyterServer(str(told["url"]), root, str(told["token"]), process, path.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return server if _is_alive(process) else None


def _is_alive(process: int) -> bool:
    # On Windows signal 0 is CTRL_C_EVENT instead of a check.
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
