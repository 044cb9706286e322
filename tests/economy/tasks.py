"""Defines the tasks, and how each server's tools carry them out in the fewest calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from .servers import COMMANDER, DATALAYER, FILESYSTEM, Counted

OURS = "jupyter-fstools"
UNSAFE = "what another changed is not noticed"
NOTEBOOKS_ONLY = "edits notebooks only"


class Task(NamedTuple):
    """A task.

    Attributes:
        title: for the table.
        goal: calls at most.
        prepare: makes its files in a folder.
        ways: how each server does it, or a word if it cannot do it safely; servers left out edit notebooks only.
        done: checks whether it is done.
    """

    title: str
    goal: int
    prepare: Callable[[Path], None]
    ways: Mapping[str, Callable[[Counted], None] | str]
    done: Callable[[Path], bool]


LINES = "".join(f"value_{number} = {number}  # a line of the file\n" for number in range(2000))
SOURCES = {
    f"m{number}.py": f"import os\n\n\ndef f{number}(x):\n    return old_name(x, {number})\n" for number in range(12)
}
CSV = "".join(f"{number},{number * 7 % 1000},name-{number:06},{number * 3.5:.2f}\n" for number in range(9500))
BLOB = "iVBORw0KGgo" * 50_000


def _book(*sources: str, big: bool = False) -> str:
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/png": BLOB}}
    cells = [
        {"cell_type": "code", "id": f"c{at}", "metadata": {}, "execution_count": at, "source": source.splitlines(True),
         "outputs": [output] if big and at % 2 else []}
        for at, source in enumerate(sources)
    ]  # fmt: skip
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _put(name: str, text: str) -> Callable[[Path], None]:
    return lambda root: _write(root / name, text)


def _write(file: Path, text: str) -> None:
    file.write_text(text)


def _has(name: str, *texts: str) -> Callable[[Path], bool]:
    return lambda root: all(text in (root / name).read_text() for text in texts)


def _ours_line(call: Counted) -> None:
    call("grep", pattern="value_1234 ", path="lines.py")
    call("edit_file", path="lines.py", edits=[{"old_string": "value_1234 = 1234", "new_string": "value_1234 = 0"}])


def _filesystem_line(call: Counted) -> None:
    call("read_text_file", path=f"{call.root}/lines.py")
    edit = {"oldText": "value_1234 = 1234 ", "newText": "value_1234 = 0 "}
    call("edit_file", path=f"{call.root}/lines.py", edits=[edit])


def _commander_line(call: Counted) -> None:
    _commander_search(call, "lines.py", "value_1234 ")
    file = f"{call.root}/lines.py"
    call("edit_block", file_path=file, old_string="value_1234 = 1234 ", new_string="value_1234 = 0 ")


def _commander_search(call: Counted, path: str, pattern: str) -> str:
    searching = {"searchType": "content", "literalSearch": True, "contextLines": 0}
    said = call("start_search", path=f"{call.root}/{path}", pattern=pattern, **searching)
    if "RUNNING" not in said:
        return said
    found = re.search(r"search_\w+", said)
    assert found is not None, said
    return call("get_more_search_results", sessionId=found[0])


def _ours_cell(call: Counted) -> None:
    call("grep", pattern="wrong_total", path="big.ipynb")
    change = {"cell_id": "c6", "edit_mode": "edit", "old_string": "wrong_total", "new_string": "total"}
    call("edit_notebook", path="big.ipynb", edits=[change])


def _filesystem_cell(call: Counted) -> None:
    file = f"{call.root}/big.ipynb"
    call("read_text_file", path=file)
    call("edit_file", path=file, edits=[{"oldText": "wrong_total", "newText": "total"}])


def _commander_cell(call: Counted) -> None:
    _commander_search(call, "big.ipynb", "wrong_total")
    call("edit_block", file_path=f"{call.root}/big.ipynb", old_string="wrong_total", new_string="total")


def _datalayer_cell(call: Counted) -> None:
    shown = call("use_notebook", notebook_name="big", notebook_path="big.ipynb")
    place = re.search(r"^(\d+)\t.*wrong_total", shown, re.MULTILINE)
    assert place is not None, shown
    call("edit_cell_source", cell_index=int(place[1]), old_string="wrong_total", new_string="total")


def _ours_rename(call: Counted) -> None:
    found = call("grep", pattern="old_name")
    edits = [
        {"path": path, "old_string": "old_name", "new_string": "new_name"}
        for path in sorted(set(re.findall(r"m\d+\.py", found)))
    ]
    call("edit_file", edits=edits)


def _filesystem_rename(call: Counted) -> None:
    call("read_multiple_files", paths=[f"{call.root}/{name}" for name in SOURCES])
    for name in SOURCES:
        call("edit_file", path=f"{call.root}/{name}", edits=[{"oldText": "old_name", "newText": "new_name"}])


def _commander_rename(call: Counted) -> None:
    _commander_search(call, ".", "old_name")
    for name in SOURCES:
        call("edit_block", file_path=f"{call.root}/{name}", old_string="old_name", new_string="new_name")


def _ours_stale(old: str, new: str, wanted: str) -> Callable[[Counted], None]:
    def way(call: Counted) -> None:
        call("read_file", path="small.py")
        text = (call.root / "small.py").read_text()
        (call.root / "small.py").write_text(text.replace(old, new))
        said = call("edit_file", path="small.py", edits=[{"old_string": "rate = 1", "new_string": "rate = 2"}])
        assert said.startswith("stale"), said
        call("edit_file", path="small.py", edits=[{"old_string": wanted, "new_string": "rate = 2"}])

    return way


def _commander_stale_here(call: Counted) -> None:
    file = f"{call.root}/small.py"
    call("read_file", path=file)
    Path(file).write_text(Path(file).read_text().replace("rate = 1", "rate = 5"))
    call("edit_block", file_path=file, old_string="rate = 1", new_string="rate = 2")
    call("read_file", path=file)
    call("edit_block", file_path=file, old_string="rate = 5", new_string="rate = 2")


def _filesystem_stale_here(call: Counted) -> None:
    file = f"{call.root}/small.py"
    call("read_text_file", path=file)
    Path(file).write_text(Path(file).read_text().replace("rate = 1", "rate = 5"))
    call("edit_file", path=file, edits=[{"oldText": "rate = 1", "newText": "rate = 2"}])
    call("read_text_file", path=file)
    call("edit_file", path=file, edits=[{"oldText": "rate = 5", "newText": "rate = 2"}])


def _ours_ambiguous(call: Counted) -> None:
    call("read_file", path="small.py")
    said = call("edit_file", path="small.py", edits=[{"old_string": "return x", "new_string": "return y"}])
    assert said.startswith("ambiguous"), said
    second = {"old_string": "def g(x):\n    return x", "new_string": "def g(x):\n    return y"}
    call("edit_file", path="small.py", edits=[second])


def _commander_ambiguous(call: Counted) -> None:
    file = f"{call.root}/small.py"
    call("read_file", path=file)
    call("edit_block", file_path=file, old_string="return x", new_string="return y")
    second = {"old_string": "def g(x):\n    return x", "new_string": "def g(x):\n    return y"}
    call("edit_block", file_path=file, **second)


def _ours_insert(call: Counted) -> None:
    found = call("grep", pattern="def area", glob="*.ipynb")
    place = re.search(r"(\S+\.ipynb) cell (\S+)", found)
    assert place is not None, found
    new = {"edit_mode": "insert", "after": place[2], "cell_type": "code", "new_source": "assert area(2) == 4"}
    call("edit_notebook", path=place[1], edits=[new])


def _filesystem_insert(call: Counted) -> None:
    call("read_multiple_files", paths=[f"{call.root}/n{at}.ipynb" for at in range(5)])
    edit = {"oldText": INSERT_BEHIND, "newText": INSERT_BEHIND + NEW_CELL}
    call("edit_file", path=f"{call.root}/n3.ipynb", edits=[edit])


def _commander_insert(call: Counted) -> None:
    _commander_search(call, ".", "def area")
    call("read_file", path=f"{call.root}/n3.ipynb")
    edit = {"old_string": INSERT_BEHIND, "new_string": INSERT_BEHIND + NEW_CELL}
    call("edit_block", file_path=f"{call.root}/n3.ipynb", **edit)


def _datalayer_insert(call: Counted) -> None:
    # It finds nothing in notebooks; opening one shows the first line of each cell.
    for at in range(5):
        shown = call("use_notebook", notebook_name=f"n{at}", notebook_path=f"n{at}.ipynb")
        if place := re.search(r"^(\d+)\t.*def area", shown, re.MULTILINE):
            new = {"cell_type": "code", "cell_source": "assert area(2) == 4"}
            call("insert_cell", cell_index=int(place[1]) + 1, **new)
            return


def _ours_table(call: Counted) -> None:
    # Nothing is edited, so nothing needs the numbers of its lines.
    call("read_file", path="table.csv", limit=20, line_numbers=False)
    call("read_file", path="table.csv", offset=4750, limit=20, line_numbers=False)


def _filesystem_table(call: Counted) -> None:
    call("read_text_file", path=f"{call.root}/table.csv", head=20)
    call("read_text_file", path=f"{call.root}/table.csv")


def _commander_table(call: Counted) -> None:
    call("read_file", path=f"{call.root}/table.csv", offset=0, length=20)
    call("read_file", path=f"{call.root}/table.csv", offset=4750, length=20)


INSERT_BEHIND = '    "    return x * x\\n"\n   ],\n   "outputs": []\n  },\n'
NEW_CELL = json.dumps(
    {"cell_type": "code", "id": "new", "metadata": {}, "execution_count": None, "source": ["assert area(2) == 4"],
     "outputs": []}, indent=1,
) + ",\n"  # fmt: skip
SMALL = "rate = 1\nother = 1\n\n\ndef f(x):\n    return x\n\n\ndef g(x):\n    return x\n"
NOTEBOOKS = {f"n{at}.ipynb": _book("import os\n", "print(1)\n" * 40, "x = 1\n") for at in range(5)}
NOTEBOOKS["n3.ipynb"] = _book("import os\n", "def area(x):\n    return x * x\n", "x = 1\n" * 40)


def _put_all(files: Mapping[str, str]) -> Callable[[Path], None]:
    def prepare(root: Path) -> None:
        for name, text in files.items():
            _write(root / name, text)

    return prepare


def _inserted(root: Path) -> bool:
    cells = json.loads((root / "n3.ipynb").read_text())["cells"]
    return len(cells) == 4 and "assert area" in "".join(cells[2]["source"])


BIG = _book(*[f"x{at} = {'wrong_total' if at == 6 else at}\ny = 1\n" for at in range(20)], big=True)
TASKS = [
    Task(
        "one line in 2,000", 2, _put("lines.py", LINES),
        {OURS: _ours_line, FILESYSTEM: _filesystem_line, COMMANDER: _commander_line},
        _has("lines.py", "value_1234 = 0"),
    ),
    Task(
        "a cell in a 5 MB notebook", 2,
        _put("big.ipynb", BIG),
        {OURS: _ours_cell, FILESYSTEM: _filesystem_cell, COMMANDER: _commander_cell,
         DATALAYER: _datalayer_cell},
        _has("big.ipynb", "x6 = total"),
    ),
    Task(
        "a rename over 12 files", 2, _put_all(SOURCES),
        {OURS: _ours_rename, FILESYSTEM: _filesystem_rename, COMMANDER: _commander_rename},
        lambda root: all("new_name" in (root / name).read_text() for name in SOURCES),
    ),
    Task(
        "stale elsewhere", 3, _put("small.py", SMALL),
        {OURS: _ours_stale("other = 1", "other = 5", "rate = 1"), FILESYSTEM: UNSAFE, COMMANDER: UNSAFE},
        _has("small.py", "rate = 2", "other = 5"),
    ),
    Task(
        "stale here", 3, _put("small.py", SMALL),
        {OURS: _ours_stale("rate = 1", "rate = 5", "rate = 5"), FILESYSTEM: _filesystem_stale_here,
         COMMANDER: _commander_stale_here},
        _has("small.py", "rate = 2"),
    ),
    Task(
        "not unique", 3, _put("small.py", SMALL),
        {OURS: _ours_ambiguous, FILESYSTEM: "the first place is changed", COMMANDER: _commander_ambiguous},
        _has("small.py", "def f(x):\n    return x\n", "def g(x):\n    return y\n"),
    ),
    Task(
        "a test after a definition in notebooks", 3, _put_all(NOTEBOOKS),
        {OURS: _ours_insert, FILESYSTEM: _filesystem_insert, COMMANDER: _commander_insert,
         DATALAYER: _datalayer_insert}, _inserted,
    ),
    Task(
        "head and middle of a 300 KB CSV", 2, _put("table.csv", CSV),
        {OURS: _ours_table, FILESYSTEM: _filesystem_table, COMMANDER: _commander_table}, lambda root: True,
    ),
]  # fmt: skip
