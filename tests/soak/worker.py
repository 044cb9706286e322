"""A process that edits the files of a soak in its own workspace until it is killed; a kernel does the same by `%fs`."""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import FsToolsError

from .model import FILES, name, version_in

Call = Callable[..., dict[str, object]]
REAL = time.time, time.time_ns


def step(call: Call, chance: random.Random) -> tuple[int, str] | None:
    """Read a file and make its next version; the file and the change's id, None where nothing was to be done."""
    number = chance.randrange(FILES)
    read = call("read_file", path=name(number), force=True)
    text = str(read["content"])
    version = version_in(text)
    if version is None:
        return None
    new = {"old_string": f"v{version};", "new_string": f"v{version + 1};", "replace_all": True}
    if chance.random() < 0.2:
        whole = text.replace(f"v{version};", f"v{version + 1};")
        made = call("write_file", path=name(number), content=whole)
    else:
        made = call("edit_file", path=name(number), **new)
    return (number, str(made["change_id"])) if made["status"] == "applied" else None


def jump(chance: random.Random) -> None:
    """Make this process's clock show another time."""
    by = chance.uniform(-1e6, 1e6)
    time.time = lambda now=REAL[0]: now() + by  # type: ignore[assignment]
    time.time_ns = lambda now=REAL[1]: now() + int(by * 1e9)  # type: ignore[assignment]


@contextmanager
def trouble(chance: random.Random) -> Iterator[None]:
    """Now and then a disk without room, or a clock that jumps."""
    kind = chance.random()
    if kind < 0.03:
        resource.setrlimit(resource.RLIMIT_FSIZE, (chance.choice((1, 5000)), resource.RLIM_INFINITY))
    elif kind < 0.06:
        jump(chance)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if chance.random() < 0.1:
            time.time, time.time_ns = REAL


def said(call: Call, chance: random.Random) -> str:
    """One line on the outcome of a step."""
    try:
        with trouble(chance):
            made = step(call, chance)
        return f"accepted {made[0]} {made[1]}" if made else "nothing"
    except FsToolsError as refusal:
        return f"refused {refusal.code}"
    except Exception as error:
        return f"raw {type(error).__name__} {error}".replace("\n", " ")


def said_in_kernel(shell: Any, seed: int) -> str:
    """The same of a step made with `%fs`."""

    def call(tool: str, *, path: str, **given: Any) -> dict[str, object]:
        if tool == "write_file":
            result = shell.run_cell_magic("fs", f"write {path}", given["content"])
        elif tool == "read_file":
            result = shell.run_line_magic("fs", f"read {path}")
        else:
            result = shell.run_line_magic(
                "fs", f"edit {path} --old '{given['old_string']}' --new '{given['new_string']}' --all"
            )
        data: dict[str, object] = result.data
        return data

    return said(call, random.Random(seed))


def main(root: str, seed: str) -> None:
    """Print one line on the outcome of each call."""
    chance = random.Random(int(seed))
    # Each worker has a session of its own, which the next process continues: two that share one may overwrite each
    # other's newest version, because the session has been shown it.
    files = open_workspace(root, session=f"worker{int(seed) % 100}", durable=False)

    def call(tool: str, **arguments: object) -> dict[str, object]:
        return call_tool(files, tool, **arguments).data

    while True:
        os.write(1, f"{said(call, chance)}\n".encode())
        time.sleep(chance.uniform(0, 0.05))


if __name__ == "__main__":
    main(*sys.argv[1:])
