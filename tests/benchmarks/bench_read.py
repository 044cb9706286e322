"""R1-R4: windows of huge files, counting and hashing, a numbered read."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from jupyter_fstools import call_tool
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.documents.text.line_index import LineIndex

from .harness import Result, compare, measure, peak_memory
from .samples import GIB, MIB, folder, log_file, source_file, workspace

LINE = 1_000_000


def windows() -> Iterator[Result]:
    """100 lines at line 1,000,000 of 1 GiB, the first time and the second, against sed."""
    with folder() as root:
        log_file(root / "big.log", GIB)

        def sed() -> None:
            command = ["sed", "-n", f"{LINE},{LINE + 99}p;{LINE + 99}q", str(root / "big.log")]
            subprocess.run(command, stdout=subprocess.PIPE, check=True)

        def first() -> None:
            call_tool(workspace(root), "read_file", path="big.log", offset=LINE, limit=100, force=True)

        kept = workspace(root)

        def second() -> None:
            call_tool(kept, "read_file", path="big.log", offset=LINE, limit=100, force=True)

        yield compare("R1 window of 1 GiB, first, to sed", first, sed, target=1.0)
        source_file(root / "small.py", 10_000)

        def small() -> None:
            call_tool(kept, "read_file", path="small.py", limit=100, force=True)

        yield compare("R2 window of 1 GiB, again, to sed", second, sed, target=0.01, rounds=25)
        yield compare("R2 the same of a file of 10 KB, to sed in 1 GiB", small, sed, target=None, rounds=25)
        yield measure(
            "R1 memory, window of 1 GiB over one of 1 MiB",
            lambda: _window_memory(root, "big.log") - _window_memory(root, "small.log"),
            target=8,
            unit="MiB",
            rounds=3,
        )


def counting() -> Iterator[Result]:
    """Line count and SHA-256 of 1 GiB, against the SHA-256 alone."""
    with folder() as root:
        log_file(root / "big.log", GIB)
        disk = LocalDisk(root)

        def ours() -> None:
            with disk.read("big.log") as opened:
                LineIndex(opened.size).scan_all(opened)

        def digest() -> None:
            with (root / "big.log").open("rb") as file:
                hashlib.file_digest(file, "sha256")

        yield compare("R3 count and hash 1 GiB, to hashlib.file_digest", ours, digest, target=1.5, rounds=5)


def numbered() -> Iterator[Result]:
    """All of a source of 200 KB, numbered, with its hash, against the obvious way."""
    with folder() as root:
        source_file(root / "code.py", 200_000)
        files = workspace(root)

        def ours() -> None:
            call_tool(files, "read_file", path="code.py", limit=100_000, force=True)

        yield compare(
            "R4 numbered read of 200 KB, to readlines and f-strings", ours, lambda: _plain(root), target=0.5, rounds=200
        )


def _plain(root: Path) -> None:
    with (root / "code.py").open(encoding="utf-8") as file:
        lines = file.readlines()
    "".join([f"{number}\t{line}" for number, line in enumerate(lines, 1)])
    hashlib.sha256((root / "code.py").read_bytes()).hexdigest()


_WINDOW = """
import sys
from jupyter_fstools import call_tool, open_workspace
files = open_workspace(sys.argv[1])
call_tool(files, "read_file", path=sys.argv[2], offset=int(sys.argv[3]), limit=100, force=True)
"""


def _window_memory(root: Path, name: str) -> float:
    if not (root / name).exists():
        log_file(root / name, MIB)
    return peak_memory(_WINDOW, str(root), name, str(LINE if name == "big.log" else 1000))


BENCHMARKS = {"R1": windows, "R3": counting, "R4": numbered}
