"""The entries of a folder in order: the same on a disk and in memory, nothing that is denied, no link entered."""

from __future__ import annotations

import os
import resource
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import Denied, InputOutput, NotADirectory, NotFound
from jupyter_fstools.walking.folders import DiskFolder
from jupyter_fstools.walking.listing import EVERYTHING, Listing, Run, names_in, seen_in
from jupyter_fstools.walking.names import joined
from tests.visible import Only

TREE = ["b/z/1", "b/a", "b.txt", "a/2", "a-b/3", "a.d/4", "a.d/node_modules/5", ".h/.i"]
NAMES = st.sampled_from(["a", "ab", "a.b", "a-b", "B", "é", ".h", " ", "node_modules", "new\nline"])
FILES = st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=12)


@pytest.fixture(params=["descriptors", "paths", "memory"])
def backend(request, tmp_path):
    """Every kind of folder there is."""
    disk = request.param != "memory"
    return LocalDisk(tmp_path, openat=request.param == "descriptors", durable=False) if disk else InMemory()


@pytest.fixture
def tree(backend):
    for path in TREE:
        backend.write(path, [b"x"], if_match=None)
    return backend


def listed(backend, path="", **options):
    return paths(Listing(backend, path, **{"recursive": True, **options}))


def paths(runs):
    return [joined(folder, name) for folder, names in runs for name in names]


def test_folders_come_first_and_what_is_in_one_stands_behind_it(tree):
    """On every level; folders of other programs are named but not entered."""
    listing = Listing(tree, "", recursive=True)
    assert paths(listing) == [
        *(".h", ".h/.i", "a", "a/2", "a-b", "a-b/3", "a.d", "a.d/node_modules", "a.d/4"),
        *("b", "b/z", "b/z/1", "b/a", "b.txt"),
    ]
    assert (listing.not_entered, listing.unreadable) == (["a.d/node_modules"], [])
    assert listed(tree, "a.d/node_modules") == ["a.d/node_modules/5"]
    assert listed(tree, recursive=False) == [".h", "a", "a-b", "a.d", "b", "b.txt"]


@given(FILES)
def test_a_listing_is_sorted_and_complete(files):
    """Whatever the names."""
    folders = {path[:at] for path in files for at, letter in enumerate(path) if letter == "/"}
    memory = InMemory(dict.fromkeys(files - folders, b""))

    def order(path):
        *above, name = path.split("/")
        return [*((False, part) for part in above), (path not in folders, name)]

    there = (files | folders) - {path for path in files | folders if "node_modules/" in path}
    assert listed(memory) == sorted(there, key=order)


def test_what_may_not_be_read_is_neither_named_nor_entered(tree):
    """The quick yes spares asking; after a no each name is asked for."""
    asked = []

    def may_read(path):
        asked.append(path)
        return not path.startswith("b")

    expected = ["a.d", "a.d/node_modules", "a.d/4"]
    assert [path for path in listed(tree, visible=Only(may_read)) if path.startswith(("a.d", "b"))] == expected
    asked.clear()
    listed(tree, visible=Only(may_read, lambda folder, names: "b" not in names and "b.txt" not in names))
    assert sorted(asked) == [".h", "a", "a-b", "a.d", "b", "b.txt"]


def test_a_link_is_listed_if_its_target_may_be_and_never_entered(tmp_path):
    """Loops and ways out are neither."""
    disk = LocalDisk(tmp_path)
    for path in ("a/x", "secret"):
        disk.write(path, [b""], if_match=None)
    links = {"file": "a/x", "folder": "a", "a/up": "..", "loop": "loop", "out": "..", "hidden": "secret", "none": "no"}
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    seen = listed(disk, visible=Only(lambda path: path != "secret"))
    assert seen == ["a", "a/up", "a/x", "file", "folder"]
    assert names_in(disk, "", EVERYTHING).links and not names_in(disk, "a", EVERYTHING).folders


@pytest.mark.parametrize("openat", [True, False], ids=["descriptors", "paths"])
def test_a_folder_without_read_permission_is_noted(tmp_path, openat):
    """Also for a superuser; asked for by itself it is refused."""
    disk = LocalDisk(tmp_path, openat=openat)
    for path in ("a/x", "b/y", "b/z/x"):
        disk.write(path, [b""], if_match=None)
    for path in ("a", "b/z"):
        (tmp_path / path).chmod(0o300)
    listing = Listing(disk, "", recursive=True)
    assert paths(listing) == ["a", "b", "b/z", "b/y"]
    assert listing.unreadable == ["a", "b/z"]
    with pytest.raises(Denied):
        listed(disk, "a")


def test_a_folder_that_is_no_more_is_passed_over(tmp_path, monkeypatch):
    """A folder that has become a link, too; neither is noted."""
    disk = LocalDisk(tmp_path)
    for path in ("gone/x", "outside/secret", "swapped/x", "z"):
        disk.write(path, [b""], if_match=None)
    names = DiskFolder.names

    def vanishing(folder, most=None):
        found = names(folder, most)
        if folder.path == "":
            (tmp_path / "gone").rename(tmp_path / "moved")
            (tmp_path / "swapped").rename(tmp_path / "moved too")
            (tmp_path / "swapped").symlink_to("outside")
        return found

    monkeypatch.setattr(DiskFolder, "names", vanishing)
    listing = Listing(disk, "", recursive=True)
    assert paths(listing) == ["gone", "outside", "outside/secret", "swapped", "z"]
    assert listing.unreadable == []


@pytest.mark.parametrize(
    ("path", "refusal"), [("none", NotFound), ("b.txt", NotADirectory), ("b.txt/x", NotADirectory)]
)
def test_what_is_no_folder_is_refused(tree, path, refusal):
    for ask in (lambda: listed(tree, path), lambda: names_in(tree, path, EVERYTHING)):
        with pytest.raises(refusal):
            ask()


def test_what_a_page_names_is_looked_at(tree):
    """Entries that are gone meanwhile are left out."""
    seen = dict(seen_in(tree, "", [Run("", ["a", "b.txt", "gone"]), Run("none", ["x"]), Run("b/z", ["1"])]))
    assert {path: (what.kind, what.size) for path, what in seen.items()} == {
        "a": ("directory", 0),
        "b.txt": ("file", 1),
        "b/z/1": ("file", 1),
    }
    assert seen["b/z/1"].mtime_ns == tree.stat("b/z/1").mtime_ns


def test_what_came_before_it_was_ended_is_the_beginning_of_all(tree):
    whole = listed(tree)
    lengths = set()
    for asked in range(30):
        answers = iter([False] * asked)
        beginning = listed(tree, ended=lambda answers=answers: next(answers, True))
        assert beginning == whole[: len(beginning)]
        lengths.add(len(beginning))
    assert {0, len(whole)} < lengths


def allowing(descriptors):
    """Allow so many more open files; gives back the limit that held before."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + descriptors, before[1]))
    return before


@pytest.mark.parametrize("openat", [True, False], ids=["descriptors", "paths"])
@pytest.mark.parametrize("room", range(1, 9))
def test_without_descriptors_a_listing_fails_rather_than_be_shorter(tmp_path, openat, room):
    disk = LocalDisk(tmp_path, openat=openat)
    disk.write("a/b/c/d/e/x", [b""], if_match=None)
    before = allowing(room)
    try:
        assert len(listed(disk)) == 6
    except InputOutput as refused:
        assert "too many files are open" in refused.message
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_very_deep_tree_is_listed_with_few_files_open(tmp_path):
    disk = LocalDisk(tmp_path, durable=False)
    deep = "/".join(["d"] * 1500)
    before = allowing(80)
    try:
        disk.write(f"{deep}/x", [b""], if_match=None)
        assert listed(disk)[-1] == f"{deep}/x"
        assert [path for path, _ in seen_in(disk, "", [Run(deep, ["x"])])] == [f"{deep}/x"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        subprocess.run(["rm", "-r", tmp_path / "d"], check=True)  # pytest's own would recurse.
