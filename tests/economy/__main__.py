"""Prints the table of calls and bytes; `docs/economy.md` holds one."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from .servers import COMMANDER, DATALAYER, FILESYSTEM, Counted, datalayer, ours, peer
from .tasks import NOTEBOOKS_ONLY, OURS, TASKS, Task

SERVERS: dict[str, Callable[[Path], AbstractContextManager[Counted]]] = {
    OURS: ours,
    FILESYSTEM: partial(peer, FILESYSTEM),
    COMMANDER: partial(peer, COMMANDER),
    DATALAYER: datalayer,
}
_SAVED_SECONDS = 30
"""A collaboration room is saved a little after its edit."""


def measured(name: str, task: Task, folder: Path) -> str:
    """One field of the table."""
    way = task.ways.get(name, NOTEBOOKS_ONLY)
    if isinstance(way, str):
        return way
    folder.mkdir(parents=True)
    task.prepare(folder)
    with SERVERS[name](folder) as server:
        way(server)
        late = time.monotonic() + _SAVED_SECONDS
        while not saved(task, folder):
            assert time.monotonic() < late, (name, task.title)
            time.sleep(0.1)
    return f"{server.calls} calls, {server.given:,} B ({server.sent:,})"


def saved(task: Task, folder: Path) -> bool:
    """Whether a task is done in the files; a server may still write them."""
    try:
        return task.done(folder)
    except ValueError:
        return False


def main() -> None:
    """Carry out every task with every server, each in a folder of its own."""
    sys.stdout.write(f"| task | goal | {' | '.join(SERVERS)} |\n|---|---|{'---|' * len(SERVERS)}\n")
    with tempfile.TemporaryDirectory() as home:
        for number, task in enumerate(TASKS):
            fields = [
                measured(name, task, Path(home).resolve() / f"{number}-{at}" / "root")
                for at, name in enumerate(SERVERS)
            ]
            sys.stdout.write(f"| {task.title} | {task.goal} | {' | '.join(fields)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
