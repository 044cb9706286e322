"""Closed files and roots: a descriptor's number that the system has given to another file is not used any more."""

from __future__ import annotations

import os

import pytest

from jupyter_fstools import FsToolsError, call_tool, open_workspace
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.backends.open_file import MOST_IN_MEMORY
from jupyter_fstools.errors import InputOutput, Invalid
from tests.backends.test_moved_root import TOOLS_OF_FILES

DESCRIPTORS = "/proc/self/fd"
needs_descriptors = pytest.mark.skipif(not os.path.isdir(DESCRIPTORS), reason="this system does not list descriptors")


@pytest.fixture
def roots(tmp_path):
    """Two folders with a file of one name."""
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"old text of {name}\n")
    return tmp_path / "mine", tmp_path / "other"


@pytest.mark.parametrize("tool", TOOLS_OF_FILES)
def test_a_closed_workspace_works_in_no_folder_that_was_opened_since(roots, tool):
    mine, other = roots
    with open_workspace(mine, session="one") as closed:
        call_tool(closed, "read_file", path="a.txt")
    with open_workspace(other, session="two") as opened:
        call_tool(opened, "read_file", path="a.txt")
        with pytest.raises(Invalid, match="closed") as refused:
            call_tool(closed, tool, **TOOLS_OF_FILES[tool])
    assert "Open the workspace again" in refused.value.hint
    assert [(root / "a.txt").read_text() for root in roots] == ["old text of mine\n", "old text of other\n"]
    assert os.listdir(other) == ["a.txt"]


def test_of_a_large_file_that_was_closed_nothing_is_read(roots):
    mine, other = roots
    for root in roots:
        (root / "large").write_text(f"{root.name:>{MOST_IN_MEMORY + 1}}")
    disk = LocalDisk(mine)
    with disk.read("large") as closed:
        assert closed.read(closed.size - 4, 4) == b"mine"
    with (other / "large").open("rb"), pytest.raises(InputOutput):
        closed.read(closed.size - 4, 4)


def test_a_write_whose_files_are_closed_in_the_middle_lands_nowhere_else(roots):
    mine, other = roots
    disk = LocalDisk(mine, durable=False)
    opened = []

    def chunks():
        yield b"new "
        disk.close()
        opened.append(LocalDisk(other))
        yield b"text\n"

    try:
        disk.write("b.txt", chunks(), if_match=None)
    except FsToolsError:
        assert os.listdir(mine) == ["a.txt"]
    else:
        assert (mine / "b.txt").read_text() == "new text\n"
    assert os.listdir(other) == ["a.txt"]


@needs_descriptors
def test_a_closed_root_is_let_go_at_once_and_a_listing_of_it_ends_first(roots):
    def held():
        # Only those of this root: other tests' descriptors may be closed meanwhile.
        return sum(os.path.realpath(f"{DESCRIPTORS}/{number}") == os.path.realpath(roots[0]) for number in range(1024))

    disk = LocalDisk(roots[0])
    assert held()
    names = disk.list("")
    first = next(names)
    disk.close()
    assert (first.name, list(names)) == ("a.txt", [])
    disk = LocalDisk(roots[0])
    disk.close()
    assert not held()
