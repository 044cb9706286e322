"""A root that is moved away and made anew: tools follow its path, never the folder that was moved."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def moved(call, tmp_path):
    """The root's folder, moved away with a file in it that was read."""
    call.put("a.txt", "old\n")
    call("read_file", path="a.txt")
    os.rename(call.root, tmp_path / "away")
    return tmp_path / "away"


def test_a_root_that_is_made_anew_is_worked_on_and_the_moved_one_is_not(call, moved):
    call.root.mkdir()
    assert call("list_files").data["entries"] == []
    call("write_file", path="b.txt", content="new\n")
    assert (os.listdir(moved), call.got("b.txt")) == (["a.txt"], b"new\n")
    call.put("a.txt", "old, but elsewhere\n")
    call.refused("stale", "edit_file", path="a.txt", old_string="old", new_string="x")
    assert call("grep", pattern="elsewhere").data["total"] == 1
    assert [file["path"] for file in call("glob", pattern="*").data["files"]] == ["b.txt", "a.txt"][::-1]
    assert (moved / "a.txt").read_text() == "old\n"


@pytest.mark.parametrize("tool", ["list_files", "glob", "grep", "read_file", "write_file", "edit_file"])
@pytest.mark.parametrize("in_its_place", ["nothing", "file", "link"])
def test_a_root_that_is_gone_is_refused_by_every_tool(call, moved, tool, in_its_place):
    if in_its_place == "file":
        call.root.write_text("x")
    elif in_its_place == "link":
        call.root.symlink_to(moved)
    arguments = {
        "list_files": {},
        "glob": {"pattern": "*"},
        "grep": {"pattern": "old"},
        "read_file": {"path": "a.txt"},
        "write_file": {"path": "b.txt", "content": "x"},
        "edit_file": {"path": "a.txt", "old_string": "old", "new_string": "x"},
    }[tool]
    call.refused("not_found" if in_its_place == "nothing" else "not_a_directory", tool, **arguments)
    assert (os.listdir(moved), (moved / "a.txt").read_text()) == (["a.txt"], "old\n")
