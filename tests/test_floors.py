"""The floors of the benchmarks take the steps of the gate, and write the same bytes."""

import sys
from pathlib import Path

import pytest

from jupyter_fstools import call_tool, open_workspace

if sys.platform != "linux":
    pytest.skip("the benchmarks run on Linux", allow_module_level=True)

from tests.benchmarks import floors
from tests.benchmarks.samples import notebook_of_pictures, source_file

OLD, NEW = "ANSWER = 0", "ANSWER = 1\nMORE = 2"


def test_the_floor_of_an_edit_leaves_the_same_file_and_rows(tmp_path):
    (root := tmp_path / "root").mkdir()
    source_file(root / "ours.py", 2_000)
    (root / "floor.py").write_bytes((root / "ours.py").read_bytes())
    files = open_workspace(root)
    call_tool(files, "read_file", path="ours.py")
    ours = call_tool(files, "edit_file", path="ours.py", old_string=OLD, new_string=NEW)
    with floors.opened(root) as gate:
        floors.note(gate, "floor.py", {})
        floor = floors.edited(gate, floors.in_text, True, path="floor.py", old_string=OLD, new_string=NEW)
    assert (root / "floor.py").read_bytes() == (root / "ours.py").read_bytes()
    [hunk] = ours.change.diff.hunks
    assert floor["change"]["diff"]["rows"] == [row.model_dump(exclude={"crlf"}) for row in hunk.rows]


def test_the_floor_of_a_cell_s_edit_leaves_the_same_notebook(tmp_path):
    (root := tmp_path / "root").mkdir()
    for name in ("ours.ipynb", "floor.ipynb"):
        notebook_of_pictures(root / name, 10_000)
    call = {"cell_id": "middle", "edit_mode": "edit", "old_string": OLD, "new_string": NEW}
    files = open_workspace(root)
    call_tool(files, "read_notebook", path="ours.ipynb")
    call_tool(files, "edit_notebook", path="ours.ipynb", **call)
    with floors.opened(root) as gate:
        floors.note(gate, "floor.ipynb", {})
        floors.edited(gate, floors.in_cell, False, path="floor.ipynb", **call)
    assert (root / "floor.ipynb").read_bytes() == (root / "ours.ipynb").read_bytes()


def test_the_floor_of_a_read_shows_the_same_text(tmp_path):
    (root := tmp_path / "root").mkdir()
    source_file(root / "a.py", 2_000)
    ours = call_tool(open_workspace(root), "read_file", path="a.py", line_numbers=False)
    with floors.opened(root) as gate:
        floor = floors.read(gate, {"path": "a.py"}, only_data=False)
    assert floor["content"][0]["text"].splitlines() == ours.content[0]["text"].splitlines()
    assert ours.data | floor["data"] == ours.data | {"eol": "lf"}


@pytest.mark.parametrize("change", ["touched by another", "open in a browser"])
def test_the_floor_refuses_what_the_gate_refuses(tmp_path: Path, change: str):
    (root := tmp_path / "root").mkdir()
    source_file(root / "a.py", 2_000)
    with floors.opened(root) as gate:
        floors.note(gate, "a.py", {})
        if change == "touched by another":
            (root / "a.py").write_text("ANSWER = 0\n")
        else:
            gate[3].execute("INSERT INTO open_documents VALUES (?, 'page', 0)", (f"{gate[1]}/a.py",))
        with pytest.raises(ValueError, match="stale"):
            floors.edited(gate, floors.in_text, False, path="a.py", old_string=OLD, new_string=NEW)
