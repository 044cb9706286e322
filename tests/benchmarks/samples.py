"""Sample data of the benchmarks: files of a given size, workspaces in folders of their own."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_fstools import open_workspace
from jupyter_fstools.gate.workspace import Workspace

MIB = 1 << 20
GIB = 1 << 30
_LINE = b"2026-01-01 00:00:00 INFO package.module.name: message number %010d of a log that goes on for long\n"


@contextmanager
def folder() -> Iterator[Path]:
    """A folder on the disk, with Jupyter's data directory inside it, removed at the end."""
    made = Path(tempfile.mkdtemp(prefix="fstools-bench-"))
    before = os.environ.get("JUPYTER_DATA_DIR")
    os.environ["JUPYTER_DATA_DIR"] = str(made / "data")
    try:
        (made / "root").mkdir()
        yield made / "root"
    finally:
        os.environ.pop("JUPYTER_DATA_DIR")
        if before is not None:
            os.environ["JUPYTER_DATA_DIR"] = before
        shutil.rmtree(made)


def workspace(root: Path, *, durable: bool = False) -> Workspace:
    """A workspace as a kernel has it, on the SQLite store."""
    return open_workspace(root, durable=durable)


def log_file(path: Path, size: int) -> int:
    """Write a log of at most `size` bytes; says how many lines it has."""
    lines = size // len(_LINE % 0)
    with path.open("wb", buffering=0) as file:
        for start in range(0, lines, 10_000):
            file.write(b"".join([_LINE % number for number in range(start, min(start + 10_000, lines))]))
    return lines


def log_line(number: int) -> str:
    """The text of one line of `log_file` (the first is number 0), without its newline."""
    return (_LINE % number).decode().rstrip("\n")


def source_file(path: Path, size: int) -> None:
    """Write source code of about `size` bytes that ends in the line `ANSWER = 0`."""
    block = (
        "def function_%d(first, second):\n"
        '    """Add two numbers, the second one doubled."""\n'
        "    total = first + 2 * second\n"
        "    return total\n\n\n"
    )
    parts, length, number = [], 0, 0
    while length < size - 20:
        parts.append(block % number)
        length += len(parts[-1])
        number += 1
    path.write_text("".join(parts) + "ANSWER = 0\n", "utf-8")


def notebook_of_pictures(path: Path, size: int) -> None:
    """A notebook of about `size` bytes, nearly all of them pictures in base64."""
    count = max(size // 250_000, 4)
    data = "iVBORw0K" * (size // count // 8)
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/png": data, "text/plain": ["<Figure>"]}}
    write_notebook(path, [notebook_cell(f"c{number}", f"plot({number})", [output]) for number in range(count)])


def notebook_cell(cell_id: str, source: str, outputs: list[Any]) -> dict[str, Any]:
    """A code cell as JSON has it."""
    told = {"cell_type": "code", "execution_count": 1, "id": cell_id, "metadata": {}, "outputs": outputs}
    return {**told, "source": source.splitlines(keepends=True)}


def write_notebook(path: Path, cells: list[dict[str, Any]]) -> None:
    """Write a notebook of these cells, with a small one called `middle` in the middle."""
    cells.insert(len(cells) // 2, notebook_cell("middle", "x = 1\nANSWER = 0\nprint(ANSWER)", []))
    told = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
