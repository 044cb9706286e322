"""Starts, kills and counts the processes of a soak."""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import threading
import time
import urllib.error
from pathlib import Path

import pytest

from jupyter_fstools.config import ENVIRONMENT
from tests.processes import RunningServer

from .model import FILES, MOST, Found, compare, content, name
from .worker import step

WORKERS = 2
CLIENTS = 4
JUPYTER_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
OPTIONS = {"durable": False, "journal_max_changes": MOST, "journal_max_bytes": 1 << 40, "lock_seconds": 5.0}


class Counts:
    """What the threads of a soak were told."""

    def __init__(self) -> None:
        self.found = Found()
        self.accepted: set[tuple[int, str]] = set()
        self.over = threading.Event()
        self._lock = threading.Lock()

    def take(self, line: str) -> None:
        """A line as a worker says it."""
        kind, *more = line.split()
        with self._lock:
            if kind == "accepted":
                self.found.accepted += 1
                self.accepted.add((int(more[0]), more[1]))
            elif kind == "refused":
                self.found.refused[more[0]] += 1
            elif kind == "raw":
                self.found.raw += 1
                sys.stderr.write(f"{line}\n")

    def killed(self) -> None:
        """One process more."""
        with self._lock:
            self.found.killed += 1


class Refused(Exception):
    """The server's answer to a call that it refused."""


def client(counts: Counts, server: RunningServer, seed: int) -> None:
    """Calls tools over REST, whether the server is there or not."""
    chance = random.Random(seed)

    def call(tool: str, **arguments: object) -> dict[str, object]:
        status, answer = server.call("POST", f"/tools/{tool}", dict(arguments), session=f"client{seed}")
        if status >= 400:
            raise Refused(answer["error"]["code"])
        data: dict[str, object] = answer["data"]
        return data

    while not counts.over.is_set():
        try:
            made = step(call, chance)
            counts.take(f"accepted {made[0]} {made[1]}" if made else "nothing")
        except Refused as refusal:
            counts.take(f"refused {refusal}")
        except (OSError, http.client.HTTPException, urllib.error.URLError, json.JSONDecodeError):
            counts.over.wait(0.2)  # The server was killed: whether it was done, the journal tells.


def worker(counts: Counts, root: Path, seed: int) -> None:
    """Starts a process that edits, kills it after a while, and begins again."""
    chance = random.Random(seed)
    while not counts.over.is_set():
        seed += 100
        with subprocess.Popen(
            [sys.executable, "-m", "tests.soak.worker", str(root), str(seed)], stdout=subprocess.PIPE, text=True
        ) as process:
            killing = threading.Timer(chance.uniform(2, 12), process.kill)
            killing.start()
            assert process.stdout is not None
            for line in process.stdout:
                if line.endswith("\n"):  # The last one may be cut off.
                    counts.take(line)
                if counts.over.is_set():
                    process.kill()
            killing.cancel()
        counts.killed()


def kill_server(counts: Counts, server: RunningServer, seed: int) -> None:
    """Kills the server now and then."""
    chance = random.Random(seed)
    while not counts.over.wait(chance.uniform(5, 20)):
        server.process.kill()
        server.process.wait()
        server.log.close()
        counts.killed()
        server.start()
        server.wait()


def soak(folder: Path, seconds: float, *, say: bool = False) -> Found:
    """Edit one set of files from everywhere for a while, and compare what is there with what was told.

    Args:
        folder: an empty one.
        seconds: how long.
        say: print the counts once a minute.
    """
    root = folder / "root"
    root.mkdir()
    for number in range(FILES):
        (root / name(number)).write_bytes(content(number, 0))
    os.link(root / name(FILES - 1), root / "other-name.txt")
    with pytest.MonkeyPatch.context() as patch:
        for variable in JUPYTER_FOLDERS:
            (folder / variable.lower()).mkdir(mode=0o700)
            patch.setenv(variable, str(folder / variable.lower()))
        patch.setenv(ENVIRONMENT, json.dumps(OPTIONS))
        return _soaked(Counts(), root, seconds, say=say)


def _soaked(counts: Counts, root: Path, seconds: float, *, say: bool) -> Found:
    server = RunningServer(root, *(f"--FsToolsConfig.{option}={value}" for option, value in OPTIONS.items()))
    server.wait()
    threads = [
        *(threading.Thread(target=client, args=(counts, server, seed)) for seed in range(CLIENTS)),
        *(threading.Thread(target=worker, args=(counts, root, seed)) for seed in range(WORKERS)),
        threading.Thread(target=kill_server, args=(counts, server, 1)),
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        counts.over.wait(min(60, end - time.monotonic()))
        if say:
            sys.stdout.write(f"{counts.found.line()}\n")
            sys.stdout.flush()
    counts.over.set()
    for thread in threads:
        thread.join()
    server.process.kill()
    server.process.wait()
    server.log.close()
    compare(root, counts.accepted, counts.found)
    return counts.found
