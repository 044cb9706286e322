"""Nothing below a root leads out of it: links, races, roots by other names, and misleading names."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import threading

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.backends.path_names import windows_fault
from jupyter_fstools.errors import (
    Conflict,
    Denied,
    FsToolsError,
    Invalid,
    IsDirectory,
    NotADirectory,
    NotFound,
    OutsideRoot,
)
from jupyter_fstools.testing.backend_contract import content, names, put

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need no permission on POSIX only")


@pytest.fixture
def root(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"secret")
    (tmp_path / "root" / "folder").mkdir(parents=True)
    return tmp_path / "root"


@pytest.fixture(params=[True, False], ids=["descriptors", "paths"])
def disk(request, root):
    return LocalDisk(root, openat=request.param)


def test_a_folder_with_the_same_beginning_is_outside(disk, root):
    """Containment is decided by whole components of the path."""
    for name in ("root-evil", "root2", "root.bak", "root_backup", "root (v2)_backup"):
        (root.parent / name).mkdir()
        (root.parent / name / "f").write_bytes(b"")
        with pytest.raises(OutsideRoot):
            disk.stat(f"{root.parent / name}/f")


@pytest.mark.parametrize("there", ["../outside/secret", "../outside/nothing", "/etc/passwd", "/no/such/file"])
def test_a_link_to_the_outside_is_refused_whether_something_is_there_or_not(disk, root, there):
    """A chain of links, too; nothing is created outside."""
    (root / "link").symlink_to(there)
    (root / "folder" / "chain").symlink_to("../link")
    said = set()
    for path in ("link", "folder/chain"):
        with pytest.raises(OutsideRoot) as refused:
            disk.stat(path)
        said.add(refused.value.message.replace(path, "…"))
        for touch in (lambda path=path: disk.write(path, [b""], if_match=None), lambda path=path: open_(disk, path)):
            with pytest.raises(Conflict):
                touch()
    assert said == {"'…' leads out of the root"}
    assert os.listdir(root.parent / "outside") == ["secret"]
    assert {entry.path: entry.kind for entry in disk.list("")} == {"folder": "directory", "link": "link"}


def test_nothing_is_made_below_a_linked_folder_outside(disk, root):
    (root / "out").symlink_to("../outside")
    for path in ("out/new", "out/new/deeper", "out/secret", "folder/../out/secret"):
        with pytest.raises(OutsideRoot):
            disk.stat(path)
    for write in (lambda: disk.write("out/new", [b""], if_match=None), lambda: list(disk.list("out"))):
        with pytest.raises(Conflict):
            write()
    assert os.listdir(root.parent / "outside") == ["secret"]
    assert names(disk).count("out") == 1
    assert "out/secret" not in names(disk)


def test_links_inside_are_followed_to_one_file(disk, root):
    """Relative, absolute, through folders, and to files that do not exist yet."""
    put(disk, "folder/a.txt", b"here")
    (root / "relative").symlink_to("folder/a.txt")
    (root / "absolute").symlink_to(root / "folder" / "a.txt")
    (root / "folder" / "up").symlink_to("../folder/../relative")
    (root / "way").symlink_to("folder")
    spellings = ("relative", "absolute", "folder/up", "way/a.txt", "way/../folder/a.txt", str(root / "way/a.txt"))
    assert {disk.stat(path).key for path in spellings} == {disk.stat("folder/a.txt").key}
    (root / "later").symlink_to("folder/new/b.txt")
    assert (disk.stat("later").path, disk.stat("later").kind) == ("folder/new/b.txt", "missing")
    assert disk.stat("way/no/b.txt").path == "folder/no/b.txt"


def test_a_write_through_a_link_leaves_the_link(disk, root):
    (root / "link").symlink_to("folder/a.txt")
    put(disk, "link", b"made")
    put(disk, "link", b"changed")
    assert os.readlink(root / "link") == "folder/a.txt"
    assert (root / "folder" / "a.txt").read_bytes() == b"changed"


def test_a_root_that_is_a_link_has_two_spellings(root):
    """Callers and links may use either of them."""
    alias = root.parent / "alias"
    alias.symlink_to("root")
    disk = LocalDisk(alias)
    put(disk, "a.txt", b"")
    (root / "by-alias").symlink_to(alias / "a.txt")
    (root / "by-root").symlink_to(root / "a.txt")
    keys = {disk.stat(path).key for path in (f"{alias}/a.txt", f"{root}/a.txt", "by-alias", "by-root")}
    assert keys == {f"{root}/a.txt"}
    assert LocalDisk(root).stat("a.txt").key in keys


def test_the_top_of_the_disk_can_be_the_root(root):
    """No doubled slash, and nothing above it."""
    (root / "a.txt").write_bytes(b"here")
    (root / "link").symlink_to("../" * 30 + f"{root}/a.txt".lstrip("/"))
    disk = LocalDisk("/")
    assert disk.stat("/").key == "/"
    assert disk.stat(f"{root}/a.txt").key == disk.stat(f"{root}/link").key == f"{root}/a.txt"
    assert disk.stat("../../etc").path == disk.stat("/etc").path == "etc"
    assert content(disk, f"{root}/a.txt") == b"here"


@pytest.mark.parametrize("depth", [3, 100, 1000])
def test_a_thousand_steps_down_and_one_more_up_lead_out(disk, depth):
    put(disk, "a/" * 100 + "x", b"")
    path = "a/" * depth
    with pytest.raises(OutsideRoot):
        disk.stat(path + "../" * (depth + 1) + "outside")
    if depth <= 100:
        assert disk.stat(path + "../" * depth + "folder").path == "folder"
        assert disk.stat(path + "../" * depth + path + "../../a").path == "/".join("a" * (depth - 1))


def test_a_backslash_is_a_letter(disk):
    """On POSIX; on Windows it is a separator."""
    put(disk, "a\\..\\b", b"odd")
    assert names(disk) == ["a\\..\\b", "folder"]


@pytest.mark.parametrize(
    "name", ["C:foo", "f.txt:stream", "CON", "nul.txt", "com1", "LPT9.log", "dot.", "space ", "a?"]
)
def test_what_windows_takes_for_something_else_has_a_fault(name):
    assert windows_fault(name)
    assert not any(windows_fault(fine) for fine in ("a.txt", "console", ".git", "com10", "..."))


def test_paths_that_are_too_long_and_loops_are_invalid(disk, root):
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    (root / "self").symlink_to("self/x")
    (root / "folder" / "loop").symlink_to("..")
    for path in ("one", "one/x", "self", "x" * 256, "folder/new/" + "é" * 128, "x/" * 3000):
        with pytest.raises(Invalid):
            disk.stat(path)
    assert disk.stat("folder/loop/" * 40 + "folder").path == "folder"
    assert names(disk) == ["folder", "folder/loop", "one", "self", "two"]


def test_a_link_or_the_root_is_never_removed(disk, root):
    put(disk, "folder/a.txt", b"kept")
    (root / "link").symlink_to("folder")
    (root / "file-link").symlink_to("folder/a.txt")
    for path, refusal in (("link", Conflict), ("link/a.txt", Conflict), ("file-link", Conflict), ("", IsDirectory),
                          ("folder", IsDirectory), ("../outside/secret", OutsideRoot)):  # fmt: skip
        with pytest.raises(refusal):
            disk.delete(path, if_match=disk.stat("folder/a.txt").version)
    assert (root / "file-link").read_bytes() == b"kept"


def test_a_folder_swapped_for_a_link_leads_nowhere(root):
    """Reads, writes, deletes, listings and walks, while a thread swaps a folder for a link to the outside."""
    disk = LocalDisk(root, openat=True, durable=False)
    put(disk, "swapped/secret", b"inside")
    version = disk.stat("swapped/secret").version
    os.rename(root / "swapped", root.parent / "kept")
    (root / "link").symlink_to("../outside")
    done = threading.Event()

    def swap():
        for turn in itertools.count():
            for away in (root.parent / "kept", root / "link"):
                if done.is_set():
                    return
                try:
                    os.rename(away, root / "swapped")
                    os.rename(root / "swapped", away)
                except OSError:  # A writer has created the folder again.
                    with contextlib.suppress(OSError):
                        os.rename(root / "swapped", root.parent / f"made{turn}")

    thread = threading.Thread(target=swap)
    thread.start()
    leaks = []
    try:
        for turn in range(400):
            attempts = (
                lambda: open_(disk, "swapped/secret"),
                lambda: content(disk, "swapped/secret"),
                lambda n=turn: disk.write(f"swapped/new{n % 5}", [b"x"], if_match=None),
                lambda n=turn: disk.write(f"swapped/sub{n % 3}/new", [b"x"], if_match=None),
                lambda: disk.delete("swapped/secret", if_match=version + "0"),
                lambda: b"secret" if [e for e in disk.list("swapped") if e.name == "deep"] else b"",
            )
            for attempt in attempts:
                with contextlib.suppress(OutsideRoot, Conflict, NotFound, NotADirectory):
                    leaks += [seen for seen in [attempt()] if seen == b"secret"]
    finally:
        done.set()
        thread.join()
    assert not leaks
    assert os.listdir(root.parent / "outside") == ["secret"]


def test_the_tools_own_files_are_nobody_elses(disk, root):
    (root / ".~fstools-12.backup").write_bytes(b"half")
    for path in (".~fstools-12.backup", "folder/.~fstools-x"):
        with pytest.raises(Denied):
            disk.stat(path)
        with pytest.raises(Denied):
            disk.write(path, [b""], if_match=None)
    assert names(disk) == ["folder"]


def test_only_canonical_paths_are_opened(disk, root):
    put(disk, "folder/a.txt", b"")
    for path in ("folder//a.txt", "./folder/a.txt", "folder/", "folder/../folder/a.txt", f"{root}/folder/a.txt"):
        with pytest.raises((Invalid, OutsideRoot)):
            open_(disk, path)


def test_a_disk_that_ignores_case_has_one_name_for_a_file(root):
    """The name is the one on the disk, also for decomposed letters."""
    disk = LocalDisk(root, case_insensitive=True)
    put(disk, "Folder/Zo\u00eb.txt", b"here")
    assert disk.stat("FOLDER/ZOE\u0308.TXT").path == "folder/Zo\u00eb.txt"
    assert content(disk, "folder/zo\u00eb.TXT") == b"here"
    assert disk.stat(f"{str(root).upper()}/FOLDER").path == "folder"


@pytest.mark.parametrize(("name", "refusal"), [("missing", NotFound), ("file", NotADirectory)])
@pytest.mark.parametrize("openat", [True, False])
def test_a_root_that_is_no_folder_is_refused(root, name, refusal, openat):
    (root / "file").write_bytes(b"")
    with pytest.raises(refusal, match="root"):
        LocalDisk(root / name, openat=openat)


def open_(disk, path):
    with disk.read(path) as file:
        return file.read(0, file.size)


def test_every_refusal_is_one_of_ours(disk, root):
    """Any path gives an answer or an `FsToolsError`."""
    for path in ("", ".", "/", "//", "a\0", "\udcff", "x" * 5000, str(root), f"{root}/", f"//{root}", "folder/./.."):
        try:
            disk.stat(path)
        except FsToolsError as error:
            assert str(root.parent) not in str(error)
