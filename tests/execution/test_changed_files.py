"""Files that a command changed, found by their times."""

from __future__ import annotations

import os
import shutil

import pytest

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.execution import run
from jupyter_fstools.execution.run import files_changed_since, next_moment
from tests.visible import Only


@pytest.fixture
def changed(tmp_path):
    """The files below the folder that a piece of work changes."""

    def changed(work, **more):
        moment = next_moment()
        work()
        return files_changed_since(LocalDisk(tmp_path), moment, **more)

    return changed


def test_what_was_there_before_is_not_meant(tmp_path, changed):
    (tmp_path / "old.txt").write_text("old")
    found = changed((tmp_path / "new.txt").touch)
    assert (found.paths, found.total, found.complete) == (["new.txt"], 1, True)


def test_a_file_that_keeps_its_old_time_is_noticed(tmp_path, changed):
    (tmp_path / "old.txt").write_text("old")
    os.utime(tmp_path / "old.txt", (1, 1))
    assert changed(lambda: shutil.copy2(tmp_path / "old.txt", tmp_path / "copy.txt")).paths == ["copy.txt"]
    assert changed(lambda: (tmp_path / "old.txt").rename(tmp_path / "moved.txt")).paths == ["moved.txt"]


def test_a_link_that_leads_to_another_file_is_noticed(tmp_path, changed):
    """The file it leads to keeps its name and its times."""
    for name in ("one.txt", "two.txt", "three.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "current").symlink_to("one.txt")
    (tmp_path / "other").symlink_to("three.txt")

    def work():
        (tmp_path / "new").symlink_to("two.txt")
        (tmp_path / "new").replace(tmp_path / "current")
        (tmp_path / "outside").symlink_to("/etc/passwd")
        (tmp_path / "three.txt").write_text("3")

    assert changed(work).paths == ["current", "three.txt"]


def test_ignored_and_denied_files_are_not_told(tmp_path, changed):
    (tmp_path / ".gitignore").write_text("*.log\n")
    for folder in (".git", "node_modules", ".github", "sub"):
        (tmp_path / folder).mkdir()

    def work():
        for name in ("a.log", ".git/index", "node_modules/x.js", "secret", ".github/ci.yml", "sub/b.py"):
            (tmp_path / name).touch()

    assert changed(work, visible=Only(lambda path: path != "secret")).paths == [".github/ci.yml", "sub/b.py"]


def test_many_are_counted_and_cut(tmp_path, changed):
    found = changed(lambda: [(tmp_path / f"{number:04}").touch() for number in range(150)])
    assert (len(found.paths), found.total, found.paths[0]) == (100, 150, "0000")


def test_a_search_without_time_says_that_it_is_not_complete(tmp_path, changed, monkeypatch):
    monkeypatch.setattr(run, "MOST_SECONDS", 0.0)
    assert not changed((tmp_path / "new.txt").touch).complete


def test_a_backend_without_folders_to_open_tells_what_it_can():
    backend = InMemory()
    backend.write("old.txt", [b"old"], if_match=None)
    moment = next_moment()
    backend.write("sub/new.txt", [b"new"], if_match=None)
    assert files_changed_since(backend, moment).paths == ["sub/new.txt"]
