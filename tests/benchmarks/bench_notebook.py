"""N1: one cell of a notebook edited behind the gate, against reading and writing it with nbformat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbformat

from jupyter_fstools import call_tool

from . import floors
from .bench_edit import toggled
from .harness import Result, compare, measure, peak_memory
from .samples import MIB, folder, notebook_cell, notebook_of_pictures, workspace, write_notebook

_LINE = 'result = compute("name", 42)  # a line of source as it is written every day\n'


def edits() -> Iterator[Result]:
    """One cell of small and large notebooks; neither side waits for the disk."""
    for name, size, target, rounds in (
        ("250 KB", 250_000, 0.35, 50),
        ("5 MB", 5 * MIB, 0.25, 15),
        ("50 MB", 50 * MIB, 0.15, 5),
        ("16 MB of source", 16 * MIB, None, 5),
    ):
        with folder() as root:
            for path in ("ours.ipynb", "theirs.ipynb", "floor.ipynb"):
                (_of_source if target is None else _everyday_notebook)(root / path, size)
            files = workspace(root)
            call_tool(files, "read_notebook", path="ours.ipynb", cell_id="middle")
            ours = toggled(partial(_gated, files))
            theirs = toggled(partial(_rewritten, root / "theirs.ipynb"))
            yield compare(f"N1 gated edit of a cell in {name}, to nbformat", ours, theirs, target=target, rounds=rounds)
            if size >= MIB:
                continue  # Reading and writing such a file as a whole takes longer than our complete edit.
            with floors.opened(root) as gate:
                floors.note(gate, "floor.ipynb", {"middle": None})
                title = f"N1 straight-line edit of a cell in {name}, to nbformat"
                yield compare(title, toggled(partial(_straight_line, gate)), theirs, target=None, rounds=rounds)


def memory() -> Iterator[Result]:
    """Memory for an edit of a large notebook, beyond that for a small one."""
    with folder() as root:
        notebook_of_pictures(root / "large.ipynb", 50 * MIB)
        notebook_of_pictures(root / "small.ipynb", 10_000)
        yield measure(
            "N1 memory, edit of a cell in 50 MB over one in 10 KB",
            lambda: peak_memory(_EDIT, str(root), "large.ipynb") - peak_memory(_EDIT, str(root), "small.ipynb"),
            target=16,
            unit="MiB",
            rounds=2,
        )


def _gated(files: Any, old: str, new: str) -> None:
    call_tool(
        files, "edit_notebook", path="ours.ipynb", cell_id="middle", edit_mode="edit", old_string=old, new_string=new
    )


def _straight_line(gate: floors.Gate, old: str, new: str) -> None:
    call = {"path": "floor.ipynb", "cell_id": "middle", "edit_mode": "edit", "old_string": old, "new_string": new}
    floors.edited(gate, floors.in_cell, False, **call)


def _rewritten(path: Path, old: str, new: str) -> None:
    found = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # it has no types
    cell = next(cell for cell in found.cells if cell.id == "middle")
    if cell.source.count(old) != 1:
        raise ValueError("not unique")
    cell.source = cell.source.replace(old, new)
    nbformat.write(found, path)  # type: ignore[no-untyped-call]  # as above


def _everyday_notebook(path: Path, size: int) -> None:
    """A notebook of about `size` bytes: text, source, printed lines, tables, and plots (larger in larger ones)."""
    plot = "iVBORw0K" * (min(max(size // 80, 20_000), 400_000) // 8)
    table = [f"<tr><th>{row}</th>" + "<td>0.123456</td>" * 5 + "</tr>\n" for row in range(40)]
    outputs: tuple[dict[str, Any], ...] = (
        {"output_type": "stream", "name": "stdout", "text": [f"epoch {row}: loss 0.{row:04}\n" for row in range(30)]},
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/html": table, "text/plain": table},
        },
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"image/png": plot, "text/plain": ["<Figure size 640x480 with 1 Axes>"]},
        },
    )
    cells: list[dict[str, Any]] = []
    for number in range(size // len(json.dumps([outputs, _LINE * 20 * 3]))):
        cells.append(
            {"cell_type": "markdown", "id": f"m{number}", "metadata": {}, "source": ["# Heading\n", "\n", "text"]}
        )
        cells += [notebook_cell(f"c{number}-{at}", _LINE * 20, [output]) for at, output in enumerate(outputs)]
    write_notebook(path, cells)


def _of_source(path: Path, size: int) -> None:
    """A notebook of about `size` bytes, all of them source."""
    lines = 50
    count = size // (lines * (len(_LINE) + 10))
    write_notebook(path, [notebook_cell(f"c{number}", _LINE * lines, []) for number in range(count)])


_EDIT = """
import sys
from jupyter_fstools import call_tool, open_workspace
files = open_workspace(sys.argv[1], session="memory", durable=False)
call_tool(files, "read_notebook", path=sys.argv[2], cell_id="middle")
call_tool(files, "edit_notebook", path=sys.argv[2], cell_id="middle", new_source="x = 2")
call_tool(files, "undo", path=sys.argv[2])
"""

BENCHMARKS = {"N1": edits, "N1memory": memory}
