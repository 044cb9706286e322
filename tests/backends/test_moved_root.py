"""A root that is moved away and created again: tools follow its path, never the folder that was moved."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import FsToolsError

TOOLS_OF_FILES = {
    "list_files": {},
    "glob": {"pattern": "*"},
    "grep": {"pattern": "old"},
    "read_file": {"path": "a.txt"},
    "read_notebook": {"path": "a.ipynb"},
    "write_file": {"path": "b.txt", "content": "x"},
    "edit_file": {"path": "a.txt", "old_string": "old", "new_string": "x"},
    "edit_notebook": {"path": "a.ipynb", "index": 0, "new_source": "x"},
    "undo": {"path": "a.txt"},
}


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


@pytest.mark.parametrize("tool", TOOLS_OF_FILES)
@pytest.mark.parametrize("in_its_place", ["nothing", "file", "link"])
def test_a_root_that_is_gone_is_refused_by_every_tool(call, moved, tool, in_its_place):
    if in_its_place == "file":
        call.root.write_text("x")
    elif in_its_place == "link":
        call.root.symlink_to(moved)
    code = "not_found" if in_its_place == "nothing" else "not_a_directory"
    assert "Ask the person" in call.refused(code, tool, **TOOLS_OF_FILES[tool]).hint
    assert (os.listdir(moved), (moved / "a.txt").read_text()) == (["a.txt"], "old\n")


@pytest.mark.parametrize("made_anew", [True, False])
@pytest.mark.parametrize("path", ["a.txt", "sub/a.txt", "new.txt", "sub/new.txt"])
@pytest.mark.parametrize("moves", ["root", "folder"])
def test_a_write_during_which_its_folder_is_moved_away_lands_nowhere(tmp_path, path, moves, made_anew):
    """A large file takes seconds to write."""
    root, away = tmp_path / "root", tmp_path / "away"
    for file in ("root/a.txt", "root/sub/a.txt"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("old\n")
    folder = root if moves == "root" else root / "sub"

    def chunks():
        yield b"new "
        folder.rename(away)
        if made_anew:
            folder.mkdir()
        yield b"text\n"

    with closing(LocalDisk(root, durable=False)) as disk:
        known = disk.stat(path)
        write = partial(disk.write, path, chunks(), if_match=known.version or None)
        if moves == "folder" and "/" not in path:
            write()
            assert (root / path).read_text() == "new text\n"
        else:
            with pytest.raises(FsToolsError):
                write()
    left = [*away.rglob("*"), *root.rglob("*")]
    assert all(file.is_dir() or file.read_text() == "old\n" or file == root / path for file in left)
    assert not [file for file in left if "new" in file.name and file != root / path]


@pytest.mark.parametrize("tool", ["edit_file", "write_file", "undo"])
def test_a_root_that_is_moved_between_look_and_write_is_left_alone(call, tmp_path, monkeypatch, tool):
    call("write_file", path="a.txt", content="old\n")
    arguments = {
        "edit_file": {"path": "a.txt", "old_string": "old", "new_string": "x"},
        "write_file": {"path": "a.txt", "content": "x"},
        "undo": {"path": "a.txt"},
    }[tool]
    backend, away = call.workspace.backend, tmp_path / "away"

    def moved_first(name):
        verb = getattr(backend, name)

        def moving(*given, **more):
            call.root.rename(away)
            call.root.mkdir()
            return verb(*given, **more)

        monkeypatch.setattr(backend, name, moving)

    moved_first("delete" if tool == "undo" else "write")
    with pytest.raises(FsToolsError, match="not modified"):
        call(tool, **arguments)
    assert ((away / "a.txt").read_text(), os.listdir(call.root)) == ("old\n", [])
