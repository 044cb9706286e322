"""E1-E3: exact edits of small and huge files, behind the gate, and their diffs."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_fstools import call_tool
from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import Splice
from jupyter_fstools.diffs.file_diff import DiffHunk, DiffRow, FileDiff
from jupyter_fstools.documents.text.diff import diff_of_splices
from jupyter_fstools.documents.text.encoding import TextEncoding
from jupyter_fstools.documents.text.line_index import LineIndex

from . import floors
from .harness import Result, compare, measure, peak_memory
from .mcp_peer import PEER, Peer, peer_on
from .samples import GIB, folder, log_file, log_line, source_file, workspace


def huge() -> Iterator[Result]:
    """One unique edit in the middle of 1 GiB, against reading, replacing and writing it as a string."""
    with folder() as root:
        lines = log_file(root / "big.log", GIB)
        shutil.copyfile(root / "big.log", root / "naive.log")
        files = workspace(root)
        middle = lines // 2
        old, new = log_line(middle), log_line(middle).replace("INFO", "WARN")
        call_tool(files, "read_file", path="big.log", offset=middle, limit=10)
        ours = toggled(partial(_gated, files, "big.log"), old, new)
        naive = toggled(partial(_naive, root / "naive.log"), old, new)
        yield compare("E1 edit in 1 GiB, to str.replace", ours, naive, target=0.25, rounds=3)
        yield measure(
            "E1 memory, edit in 1 GiB over one in 1 KB",
            lambda: _edit_memory(root, "big.log", middle) - _edit_memory(root, "small.py", 0),
            target=32,
            unit="MiB",
            rounds=2,
        )


def small() -> Iterator[Result]:
    """A gated edit of 10 KB, against an ungated one, without and with waiting for the disk."""
    with folder() as root:
        for name in ("plain.py", "synced.py", "naive.py"):
            source_file(root / name, 10_000)
        naive = toggled(partial(_naive, root / "naive.py"))
        for name, durable, target, rounds in (("plain.py", False, 2.5, 200), ("synced.py", True, 2.6, 100)):
            files = workspace(root, durable=durable)
            call_tool(files, "read_file", path=name, offset=1, limit=10)
            synced = "fsync" if durable else "no fsync"
            ours = toggled(partial(_gated, files, name))
            yield compare(f"E2 gated edit of 10 KB, {synced}, to naive", ours, naive, target=target, rounds=rounds)
            source_file(root / "floor.py", 10_000)
            with straight_line(root, durable=durable) as floor:
                title = f"E2 straight-line edit of 10 KB, {synced}, to naive"
                yield compare(title, floor, naive, target=None, rounds=rounds)


def against_the_peer() -> Iterator[Result]:
    """The same edits against the reference file server of MCP, over its own stdio."""
    with folder() as root, peer_on(root) as peer:
        for size, name, target, rounds in ((10_000, "10 KB", 0.6, 100), (1_000_000, "1 MB", 0.25, 30)):
            source_file(root / "ours.py", size)
            source_file(root / "theirs.py", size)
            files = workspace(root)
            call_tool(files, "read_file", path="ours.py", offset=1, limit=10)
            ours = toggled(partial(_gated, files, "ours.py"))
            theirs = toggled(partial(_through_peer, peer, str(root / "theirs.py")))
            yield compare(f"E2 gated edit of {name}, to {PEER}", ours, theirs, target=target, rounds=rounds)
            source_file(root / "floor.py", size)
            with straight_line(root) as floor:
                title = f"E2 straight-line edit of {name}, to {PEER}"
                yield compare(title, floor, theirs, target=None, rounds=rounds)


@contextmanager
def straight_line(root: Path, *, durable: bool = False) -> Iterator[Callable[[], None]]:
    """The floor's edit of `floor.py`, of which the first ten lines were shown."""
    first = (root / "floor.py").read_text("utf-8").split("\n")[:10]
    with floors.opened(root) as gate:
        floors.note(gate, "floor.py", {str(number): line for number, line in enumerate(first, 1)})

        def edit(old: str, new: str) -> None:
            floors.edited(gate, floors.in_text, durable, path="floor.py", old_string=old, new_string=new)

        yield toggled(edit)


def _through_peer(peer: Peer, path: str, old: str, new: str) -> None:
    peer("edit_file", {"path": path, "edits": [{"oldText": old, "newText": new}]})


def diffs() -> Iterator[Result]:
    """The hunk of a one-line change, against difflib over the whole text."""
    for count, target in ((5_000, 0.03), (100_000, 0.015)):
        before = [f"line {number} of the text" for number in range(count)]
        after = [*before]
        after[count // 2] = "changed"
        data = ("\n".join(before) + "\n").encode()
        old = before[count // 2].encode()
        at = data.index(old + b"\n")
        content = BytesContent(data)

        def ours(content: BytesContent = content, at: int = at, old: bytes = old) -> None:
            index = LineIndex(content.size)
            splices = [Splice(at, old, b"changed")]
            diff_of_splices(
                "a", "edit", content, splices, TextEncoding("utf-8"), lambda offset: index.line_at(content, offset)
            )

        def whole(before: list[str] = before, after: list[str] = after) -> None:
            list(difflib.unified_diff(before, after, lineterm=""))

        def counted(data: bytes = data, at: int = at, middle: int = count // 2) -> None:
            if data.count(b"\n", 0, at) != middle:
                raise ValueError("counted wrong")
            rows = [DiffRow(kind="context", old=number, new=number, text="line") for number in range(8)]
            FileDiff(
                path="a", op="edit", hunks=[DiffHunk(old_start=1, old_count=7, new_start=1, new_count=7, rows=rows)]
            )

        yield compare(f"E3 diff of one line in {count}, to difflib", ours, whole, target=target, rounds=25)
        name = f"E3 counting the lines before it and making its rows in {count}, to difflib"
        yield compare(name, counted, whole, target=None, rounds=25)


def toggled(edit: Callable[[str, str], Any], one: str = "ANSWER = 0", other: str = "ANSWER = 1") -> Callable[[], None]:
    """An edit there and back again, one step a call, so that every run has something to do."""
    state = [one, other]

    def step() -> None:
        edit(state[0], state[1])
        state.reverse()

    return step


def _gated(files: Any, path: str, old: str, new: str) -> None:
    call_tool(files, "edit_file", path=path, old_string=old, new_string=new)


def _naive(path: Path, old: str, new: str) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read()
    if text.count(old) != 1:
        raise ValueError("not unique")
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(text.replace(old, new))
    os.replace(temporary, path)


_EDIT = """
import sys
from jupyter_fstools import call_tool, open_workspace
files = open_workspace(sys.argv[1], session="memory", durable=False)
call_tool(files, "read_file", path=sys.argv[2], offset=int(sys.argv[3]) + 1, limit=1, force=True)
call_tool(files, "edit_file", path=sys.argv[2], old_string=sys.argv[4], new_string=sys.argv[4] + "!")
call_tool(files, "undo", path=sys.argv[2])
"""


def _edit_memory(root: Path, name: str, line: int) -> float:
    if not (root / name).exists():
        source_file(root / name, 1000)
        return peak_memory(_EDIT, str(root), name, "0", "ANSWER = 0")
    if name != "big.log":
        return peak_memory(_EDIT, str(root), name, "0", "ANSWER = 0")
    return peak_memory(_EDIT, str(root), name, str(line), log_line(line + 1))


BENCHMARKS = {"E1": huge, "E2": small, "E2mcp": against_the_peer, "E3": diffs}
