"""Starts, kills and counts the processes of a soak."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from jupyter_fstools.config import ENVIRONMENT
from tests.browser.chromium import find_chromium
from tests.kernel.real_kernel import RealKernel
from tests.processes import RunningServer

from .model import FILES, LINKED, MOST, OTHER_NAME, Found, compare, content, name
from .worker import step

JUPYTER_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
OPTIONS = {"durable": False, "journal_max_changes": MOST, "journal_max_bytes": 1 << 40, "lock_seconds": 5.0}
LONG = 600.0
"""Seconds from which on a soak counts only if each of its actors did something; a short one may end before that."""
DONE_BY_ALL = {f"{who} edited" for who in ("client", "kernel", "process")} | {
    f"{who} killed" for who in ("kernel", "process", "server")
}
DONE_IN_A_BROWSER = {"person saved", "browser killed"}
DONE_ON_A_SMALL_DISK = {"disk filled"}
REPOSITORY = Path(__file__).parents[2]
# No news, and no check for extensions to build, which starts a program for each page.
PAGE = {"buildCheck": False, "disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


class Counts:
    """Counts of the results that the threads of a soak report."""

    def __init__(self) -> None:
        self.found = Found()
        self.accepted: set[tuple[int, str]] = set()
        self.over = threading.Event()
        self._lock = threading.Lock()

    def take(self, who: str, line: str) -> None:
        """Count one line of a worker; a kernel prints warnings between them."""
        kind, *more = line.split() or [""]
        with self._lock:
            if kind == "accepted":
                self.found.accepted[who] += 1
                self.accepted.add((int(more[0]), more[1]))
            elif kind == "refused":
                self.found.refused[more[0]] += 1
            elif kind == "saved":
                self.found.saved = max(self.found.saved, int(more[0]))
            elif kind == "raw":
                self.found.raw += 1
                sys.stderr.write(f"{who}: {line}\n")

    def killed(self, who: str) -> None:
        """One process more."""
        with self._lock:
            self.found.killed[who] += 1


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

    while not counts.over.wait(chance.uniform(0, 0.05)):
        try:
            made = step(call, chance)
            counts.take("client", f"accepted {made[0]} {made[1]}" if made else "nothing")
        except Refused as refusal:
            counts.take("client", f"refused {refusal}")
        except (OSError, http.client.HTTPException, urllib.error.URLError, json.JSONDecodeError):
            counts.over.wait(0.2)  # The server was killed: the journal tells whether the call was carried out.


def process(counts: Counts, who: str, command: Sequence[str], seed: int, seconds: tuple[float, float]) -> None:
    """Starts a process that edits, kills it and what it started after a while, and begins again."""
    chance = random.Random(seed)
    while not counts.over.is_set():
        seed += 100
        with subprocess.Popen(
            [sys.executable, "-m", *command, str(seed)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=REPOSITORY,
        ) as running:
            killing = threading.Timer(chance.uniform(*seconds), kill_group, [running])
            threading.Thread(target=kill_in_the_end, args=(counts, running), daemon=True).start()
            assert running.stdout is not None
            for line in running.stdout:
                if killing.ident is None:  # A browser takes its time to begin.
                    killing.start()
                if line.endswith("\n"):  # The last one may be cut off.
                    counts.take(who, line)
            killing.cancel()
        counts.killed(who)


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a process and those that it started, unless it has ended."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def kill_in_the_end(counts: Counts, process: subprocess.Popen[str]) -> None:
    """Kill a process when the soak is over, whatever it waits for."""
    counts.over.wait()
    kill_group(process)


def kernel(counts: Counts, root: Path, seed: int) -> None:
    """Runs cells with `%fs` in a kernel, which is killed in one of them, and begins again."""
    chance = random.Random(seed)
    more = {ENVIRONMENT: os.environ[ENVIRONMENT], "PYTHONPATH": str(REPOSITORY)}
    while not counts.over.is_set():
        try:
            running = RealKernel(root, root.parent, more=more)
        except RuntimeError:
            continue  # Another program took one of its ports before it did.
        running.run("%fs session kernel\nfrom tests.soak.worker import said_in_kernel")
        for _ in range(chance.randrange(20, 200)):
            if counts.over.is_set():
                break
            cell = f"print(said_in_kernel(get_ipython(), {chance.randrange(MOST)}))"
            for line in running.run(cell).streams.splitlines():
                counts.take("kernel", line)
        running.client.execute(f"print(said_in_kernel(get_ipython(), {chance.randrange(MOST)}))")
        time.sleep(chance.uniform(0, 0.05))
        running.stop()
        counts.killed("kernel")


def has_own_disk(root: Path) -> bool:
    """Whether a folder is the top of a disk, which can be filled without harm."""
    return os.stat(root).st_dev != os.stat(root.parent).st_dev


def fill(counts: Counts, root: Path, seed: int) -> None:
    """Fills the disk now and then, if it is a small one of its own."""
    chance, filling = random.Random(seed), root / ".filling"
    while has_own_disk(root) and not counts.over.wait(chance.uniform(3, 15)):
        try:
            with filling.open("wb", buffering=0) as file:
                while file.write(b"x" * 4096):
                    pass
        except OSError:
            counts.found.filled += 1
        counts.over.wait(chance.uniform(0, 1))
        filling.unlink()


def kill_server(counts: Counts, server: RunningServer, seed: int) -> None:
    """Kills the server now and then; not before a person has saved something there, which a busy machine may delay."""
    chance, saved = random.Random(seed), counts.found.saved
    while not counts.over.wait(chance.uniform(5, 30)):
        late = time.monotonic() + 90
        while counts.found.saved == saved and time.monotonic() < late and not counts.over.wait(1):
            pass
        saved = counts.found.saved
        server.process.kill()
        server.process.wait()
        server.log.close()
        counts.killed("server")
        server.start()
        try:
            server.wait()
        except SystemExit as problem:
            counts.take("server", f"raw {problem}")


def undone(found: Found, root: Path) -> set[str]:
    """Actions that every long soak takes where it can, and this one did not."""
    in_a_browser = DONE_IN_A_BROWSER if find_chromium() else set()
    on_a_disk = DONE_ON_A_SMALL_DISK if has_own_disk(root) else set()
    return (DONE_BY_ALL | in_a_browser | on_a_disk) - found.done


def soak(root: Path, seconds: float, *, few: bool) -> Found:
    """Edit one set of files from everywhere for a while, and compare the files with the answers.

    Args:
        root: an empty folder, of which the one around it is used too.
        seconds: how long.
        few: with few processes; else the counts are printed once a minute.
    """
    for number in range(FILES):
        (root / name(number)).write_bytes(content(number, 0))
    os.link(root / name(LINKED), root / OTHER_NAME)
    with pytest.MonkeyPatch.context() as patch:
        for variable in JUPYTER_FOLDERS:
            (root.parent / variable.lower()).mkdir(mode=0o700)
            patch.setenv(variable, str(root.parent / variable.lower()))
        config = root.parent / "jupyter_config_dir" / "labconfig"
        config.mkdir()
        (config / "page_config.json").write_text(json.dumps(PAGE))
        patch.setenv(ENVIRONMENT, json.dumps(OPTIONS))
        return _soaked(Counts(), root, seconds, few=few)


def _threads(counts: Counts, root: Path, server: RunningServer, *, few: bool) -> list[threading.Thread]:
    address = server.url.removesuffix("/api/fstools")
    works = [
        *((client, server, seed) for seed in range(1 if few else 4)),
        *((process, "process", ("tests.soak.worker", str(root)), seed, (2, 12)) for seed in range(1 if few else 2)),
        (kernel, root, 1),
        (fill, root, 1),
        (kill_server, server, 1),
    ]
    if find_chromium():
        works.append((process, "browser", ("tests.soak.person", address, server.token), 1, (10, 60)))
    return [threading.Thread(target=act, args=(work, counts, *given)) for work, *given in works]


def act(work: Callable[..., None], counts: Counts, *given: object) -> None:
    """Run an actor; one that gives up is reported, because its absence would go unnoticed."""
    try:
        work(counts, *given)
    except Exception as problem:
        counts.take(work.__name__, f"raw gave up: {type(problem).__name__} {problem}")


def _soaked(counts: Counts, root: Path, seconds: float, *, few: bool) -> Found:
    options = (f"--FsToolsConfig.{option}={value}" for option, value in OPTIONS.items())
    given = ("--LabApp.expose_app_in_browser=True", *options)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    server = RunningServer(root, *given, module="tests.soak.server", environment=environment, interface=True)
    server.wait()
    threads = _threads(counts, root, server, few=few)
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        counts.over.wait(min(60, end - time.monotonic()))
        if not few:
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


if __name__ == "__main__":
    home, seconds = Path(sys.argv[1]), float(sys.argv[2])
    found = soak(home, seconds, few="--few" in sys.argv)
    left = undone(found, home) if seconds >= LONG else set()
    sys.stdout.write(found.line() + (f", not once: {', '.join(sorted(left))}" if left else "") + "\n")
    sys.exit(not found.is_sound or bool(left))
