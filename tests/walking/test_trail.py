"""Folders one after the other: held open as far as they are shared, few at a time, no link followed."""

from __future__ import annotations

import os

import pytest

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.walking.folders import DiskFolder
from jupyter_fstools.walking.trail import FolderTrail, look_at


def test_a_trail_goes_wherever_it_is_asked_to(call):
    """Also back up, sideways, and where one name begins with another."""
    paths = ["a/b/c", "a/b", "", "ab/c", "a/b/c", "a", "ab"]
    for path in filter(None, paths):
        call.put(f"{path}/here", path)
    call.put("here", "")
    with FolderTrail(LocalDisk(call.root)) as trail:
        assert [(trail.at(path).path, trail.at(path).read("here", 99)) for path in paths] == [
            (path, path.encode()) for path in paths
        ]


def test_paths_in_order_cost_one_open_for_each_new_folder(call, monkeypatch):
    paths = ["a", "a/b", "a/b/c", "a/d", "e"]
    for path in paths:
        call.put(f"{path}/x", "x")
    entered = []
    enter = DiskFolder.enter
    monkeypatch.setattr(DiskFolder, "enter", lambda folder, name: entered.append(name) or enter(folder, name))
    with FolderTrail(LocalDisk(call.root)) as trail:
        for path in paths:
            trail.at(path)
    assert entered == ["a", "b", "c", "d", "e"]


def test_a_trail_follows_no_link_on_the_way(call, tmp_path):
    """A folder that cannot be opened does not end it."""
    call.put("a/b/x", "x")
    (tmp_path / "outside" / "b").mkdir(parents=True)
    (call.root / "link").symlink_to(tmp_path / "outside")
    (call.root / "inside").symlink_to("a")
    with FolderTrail(LocalDisk(call.root)) as trail:
        for path in ("link", "link/b", "inside/b", "gone/b", "a/b/x"):
            with pytest.raises((OSError, FsToolsError)):
                trail.at(path)
        assert trail.at("a/b").names()[1] == ["x"]


def test_a_trail_holds_no_more_than_the_way_to_one_folder(call):
    disk = LocalDisk(call.root)
    before = len(os.listdir("/proc/self/fd"))
    with FolderTrail(disk) as trail:
        for number in range(30):
            call.put(f"a/b/{number}/x", "x")
            trail.at(f"a/b/{number}")
        assert len(os.listdir("/proc/self/fd")) == before + len(["", "a", "a/b", "a/b/29"])
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_trail_into_a_deep_tree_holds_only_its_last_folders(call):
    """It finds its way back up."""
    disk = LocalDisk(call.root)
    deep = "/".join(["d"] * 200)
    call.put(f"{deep}/x", "deep")
    call.put("d/d/d/y", "high")
    before = len(os.listdir("/proc/self/fd"))
    with FolderTrail(disk, "d/d") as trail:
        assert trail.at(deep).read("x", 9) == b"deep"
        assert len(os.listdir("/proc/self/fd")) < before + 40
        assert trail.at("d/d/d").read("y", 9) == b"high"
        assert trail.at(deep).path == deep
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_trail_in_memory_and_looks_along_it(call):
    memory = InMemory()
    for path in ("a/b/x", "c", "d/y"):
        memory.write(path, [b"12"], if_match=None)
        call.put(path, "12")
    for backend in (memory, LocalDisk(call.root)):
        looks = look_at(backend, ["a/b/gone", "a/b/x", "c", "d", "d/y", "no/where"])
        assert [(path, size) for _, path, size in looks] == [("a/b/x", 2), ("c", 2), ("d/y", 2)]
