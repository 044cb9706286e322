"""The walk that glob and grep share: every file once, in order if asked for, and little held meanwhile."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.backends.protocol import Backend
from jupyter_fstools.globs.patterns import compile_glob
from jupyter_fstools.search.glob import find_files
from jupyter_fstools.walking.folders import DiskFolder
from jupyter_fstools.walking.names import joined
from jupyter_fstools.walking.stopping import Stop
from jupyter_fstools.walking.walk import Walk
from tests.visible import Only

from .conftest import Find, Write

NAMES = st.sampled_from(["a", "ab", "a.b", "a-b", "b.py", "A", "é", ".h", "x.log", "build"])
FILES = st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=12)
RULES = st.lists(st.sampled_from(["*.log", "/a/", "build", "!x.log", "a/*/b.py", "a.b/**/ab", "ab/"]), max_size=4)
PATTERNS = st.sampled_from(["**", "*.py", "a/**", "**/a*/**", "[ab]*", "{a,ab}/**/*.{py,log}", "**/.h/**"])


def tree(files: set[str], rules: dict[str, list[str]]) -> InMemory:
    """The files, and ignore files, that can be there together: none is a folder of another."""
    contents = dict.fromkeys(files, "x") | {path: "\n".join(lines) for path, lines in rules.items()}
    folders = {path[:at] for path in contents for at, char in enumerate(path) if char == "/"}
    memory = InMemory()
    for path in contents.keys() - folders:
        memory.write(path, [contents[path].encode()], if_match=None)
    return memory


def walk_over(backend: Backend, pattern: str = "**", **options: object) -> Walk:
    settings = {"include_ignored": False, "stop": Stop()} | options
    return Walk(backend, "", compile_glob(pattern), **settings)


def paths(walk: Walk) -> list[str]:
    """All paths in the order of the walk."""
    return [
        joined(folder.path, name) for folder, files, links, _ in walk for name in [*files, *(name for name, _ in links)]
    ]


@given(FILES, RULES, RULES, PATTERNS)
def test_a_walk_in_order_gives_the_same_files_sorted(files, rules, deeper, pattern):
    """ "a.b" comes before "a/b", and "a/b" before "ab"."""
    memory = tree(files, {".gitignore": rules, "a/.gitignore": deeper})
    unordered, ordered = (
        walk_over(memory, pattern, visible=Only(lambda path: "é" not in path), in_order=in_order)
        for in_order in (False, True)
    )
    found = paths(unordered)
    assert paths(ordered) == sorted(found)
    assert len(set(found)) == len(found)
    assert ordered.tally == unordered.tally


@given(FILES, st.integers(0, 6), st.integers(0, 6))
def test_pages_by_path_are_parts_of_the_whole(files, limit, offset):
    """With the true total on every page."""
    memory = tree(files, {})
    whole = [file.path for file in find_files(memory, "**", sort="path", include_hidden=True).files]
    page = find_files(memory, "**", sort="path", include_hidden=True, limit=limit, offset=offset)
    assert whole == sorted(whole)
    assert [file.path for file in page.files] == whole[offset : offset + limit]
    assert page.total == len(whole)


def test_links_come_in_order_too(root: Path, write: Write) -> None:
    for path in ("a/x", "b", "d"):
        write(path)
    (root / "c").symlink_to("a/x")
    (root / "a" / "w").symlink_to("../d")
    (root / "e").symlink_to("a")
    assert paths(walk_over(LocalDisk(root), in_order=True)) == ["a/w", "a/x", "b", "c", "d"]


def test_a_walk_in_order_lists_no_folder_before_its_turn(
    root: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("a/x", "b/y/z", "c"):
        write(path)
    listed = []
    names = DiskFolder.names
    monkeypatch.setattr(DiskFolder, "names", lambda folder: listed.append(folder.path) or names(folder))
    assert next(iter(walk_over(LocalDisk(root), in_order=True))).files == ["x"]
    assert listed == ["", "a"]


def test_a_walk_that_is_left_closes_its_folders(root: Path, write: Write) -> None:
    for path in ("a/b/c/x", "a/b/y", "a/z", "w"):
        write(path)
    disk = LocalDisk(root)
    before = len(os.listdir("/proc/self/fd"))
    for in_order in (False, True):
        steps = iter(walk_over(disk, in_order=in_order))
        next(steps)
        steps.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_cannot_be_listed_is_counted_and_closed(
    root: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("a/x", "b/y"):
        write(path)
    names = DiskFolder.names

    def failing(folder: DiskFolder) -> object:
        if folder.path == "a":
            raise PermissionError
        return names(folder)

    monkeypatch.setattr(DiskFolder, "names", failing)
    walk = walk_over(LocalDisk(root))
    before = len(os.listdir("/proc/self/fd"))
    assert paths(walk) == ["b/y"]
    assert walk.tally.unreadable == 1
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("sort", ["path", "modified"])
def test_memory_is_bounded_by_the_limit(root: Path, find: Find, write: Write, sort: str) -> None:
    """15,000 files take no more room than ten of them and a rest that does not grow."""
    source = write("source")
    for folder in range(150):
        (root / f"{folder}").mkdir()
        for file in range(100):
            os.link(source, root / f"{folder}" / f"{folder}-{file}.py")
    find("*.py", limit=10, sort=sort)
    tracemalloc.start()
    found = find("*.py", limit=10, sort=sort)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.total, len(found.files)) == (15_000, 10)
    assert peak < 1_000_000


@pytest.mark.parametrize("in_order", [False, True])
def test_a_walk_ends_within_a_folder_and_keeps_what_it_found(in_order: bool) -> None:
    """Many names and many rules in one folder alone may take longer than the limit."""
    memory = tree({f"{number:04}" for number in range(1000)}, {".gitignore": ["*x*"]})
    asked: list[None] = []
    stop = Stop(cancelled=lambda: asked.append(None) or len(asked) > 4)
    found = paths(walk_over(memory, stop=stop, in_order=in_order))
    assert 0 < len(found) < 1000
    assert stop.reason == "cancelled"


def test_a_large_folder_is_walked_as_a_little_one_is() -> None:
    files = {f"{number:04}.{kind}" for number in range(300) for kind in ("py", "log")} | {"0100/a.py", "x0/b.py"}
    for rules in ([], ["*.log", "/01*", "*x0*"]):
        memory = tree(files, {".gitignore": rules})
        walk = walk_over(memory, in_order=True)
        fitting = {name for name in files if not rules or (name.endswith(".py") and name[:2] not in ("01", "x0"))}
        assert paths(walk) == sorted(fitting)


def test_a_prefix_that_cannot_be_entered_is_counted(root: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prefix that does not exist is not counted."""
    write("no/a.txt")
    enter = DiskFolder.enter

    def failing(folder: DiskFolder, name: str) -> DiskFolder:
        if name == "no":
            raise PermissionError
        return enter(folder, name)

    monkeypatch.setattr(DiskFolder, "enter", failing)
    for pattern, unreadable in (("no/*.txt", 1), ("no/b/*.txt", 1), ("gone/*.txt", 0)):
        walk = walk_over(LocalDisk(root), pattern)
        assert paths(walk) == []
        assert walk.tally.unreadable == unreadable


@pytest.mark.parametrize("pattern", ["gone/*.txt", "a/gone/*.txt", "a/file/*.txt"])
def test_a_prefix_that_is_not_there_is_nothing_to_speak_of(pattern: str, root: Path, write: Write) -> None:
    """With and without a disk."""
    write("a/file")
    for backend in (LocalDisk(root), tree({"a/file"}, {})):
        walk = walk_over(backend, pattern)
        assert paths(walk) == []
        assert walk.tally.unreadable == 0
