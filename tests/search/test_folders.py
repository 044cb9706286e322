"""Folders held open while they are searched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.search.folders import DiskFolder, FolderTrail, look_at

from .conftest import Write


def test_a_trail_goes_wherever_it_is_asked_to(root: Path, write: Write) -> None:
    """Also back up, sideways, and where one name begins with another."""
    paths = ["a/b/c", "a/b", "", "ab/c", "a/b/c", "a", "ab"]
    for path in filter(None, paths):
        write(f"{path}/here", path)
    write("here", "")
    with FolderTrail(LocalDisk(root)) as trail:
        assert [(trail.at(path).path, trail.at(path).read("here", 99)) for path in paths] == [
            (path, path.encode()) for path in paths
        ]


def test_paths_in_order_cost_one_open_for_each_new_folder(
    root: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ["a", "a/b", "a/b/c", "a/d", "e"]
    for path in paths:
        write(f"{path}/x")
    entered = []
    enter = DiskFolder.enter
    monkeypatch.setattr(DiskFolder, "enter", lambda folder, name: entered.append(name) or enter(folder, name))
    with FolderTrail(LocalDisk(root)) as trail:
        for path in paths:
            trail.at(path)
    assert entered == ["a", "b", "c", "d", "e"]


def test_a_trail_follows_no_link_on_the_way(root: Path, write: Write, tmp_path: Path) -> None:
    """G10: nor is it lost after a folder that cannot be opened."""
    write("a/b/x")
    (tmp_path / "outside" / "b").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "inside").symlink_to("a")
    with FolderTrail(LocalDisk(root)) as trail:
        for path in ("link", "link/b", "inside/b", "gone/b", "a/b/x"):
            with pytest.raises((OSError, FsToolsError)):
                trail.at(path)
        assert trail.at("a/b").names()[1] == ["x"]


def test_a_trail_holds_no_more_than_the_way_to_one_folder(root: Path, write: Write) -> None:
    disk = LocalDisk(root)
    before = len(os.listdir("/proc/self/fd"))
    with FolderTrail(disk) as trail:
        for number in range(30):
            write(f"a/b/{number}/x")
            trail.at(f"a/b/{number}")
        assert len(os.listdir("/proc/self/fd")) == before + len(["", "a", "a/b", "a/b/29"])
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_trail_in_memory_and_looks_along_it(root: Path, write: Write) -> None:
    memory = InMemory()
    for path in ("a/b/x", "c", "d/y"):
        memory.write(path, [b"12"], if_match=None)
        write(path, "12")
    for backend in (memory, LocalDisk(root)):
        looks = look_at(backend, ["a/b/gone", "a/b/x", "c", "d", "d/y", "no/where"])
        assert [(path, size) for _, path, size in looks] == [("a/b/x", 2), ("c", 2), ("d/y", 2)]
