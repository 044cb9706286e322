"""list_files: the contents of a folder, in one order, page by page, without denied files."""

from __future__ import annotations

import json
import os
import re
import socket
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.tools import call_tool
from jupyter_fstools.walking.folders import DiskFolder


def listed(call, path=".", **arguments):
    return [entry["path"] for entry in call("list_files", path=path, **arguments).data["entries"]]


def shown(call, path=".", **arguments):
    return call("list_files", path=path, **arguments).text


def test_folders_come_first_and_only_files_have_a_size(call):
    call.put("hello.txt", "hello world")
    call.put("a.txt", "")
    os.utime(call.root / "a.txt", ns=(0, 1_700_000_000_123_456_789))
    call.put("sub/x", "x")
    call.put("B/x", "x")
    data = call("list_files").data
    assert [entry["name"] for entry in data["entries"]] == ["B", "sub", "a.txt", "hello.txt"]
    folder, *_, empty, hello = data["entries"]
    assert folder["is_directory"] and "size_bytes" not in folder
    assert (hello["size_bytes"], empty["size_bytes"], hello["is_directory"]) == (11, 0, False)
    assert empty["modified_at"] == "2023-11-14T22:13:20.123456Z"
    assert shown(call) == "B/\nsub/\na.txt\t0\nhello.txt\t11"


def test_a_recursive_listing_keeps_what_is_in_a_folder_behind_it(call):
    """On every level folders first."""
    for path in ("b/z/1", "b/a", "b.txt", "a/2", "a-b/3", "a.d/4"):
        call.put(path, "x")
    expected = ["a", "a/2", "a-b", "a-b/3", "a.d", "a.d/4", "b", "b/z", "b/z/1", "b/a", "b.txt"]
    assert listed(call, recursive=True) == expected
    assert listed(call, "b", recursive=True) == ["b/z", "b/z/1", "b/a"]
    assert shown(call, "b", recursive=True) == "b/z/\nb/z/1\t1\nb/a\t1"


def test_what_is_there_decides_the_answer(call):
    call.put("file.txt", "x")
    call.put("folder/x", "x")
    (call.root / "empty").mkdir()
    assert call("list_files", path="empty").data["entries"] == [] and shown(call, "empty") == "The folder is empty."
    deep = call.refused("not_found", "list_files", path="folder/no/where")
    assert "'folder', the nearest folder that exists, with `list_files`" in deep.hint
    assert "the root, with `list_files`" in call.refused("not_found", "list_files", path="nope").hint
    refusal = call.refused("not_found", "list_files", path="foldr")
    assert refusal.details["near"] == ["folder"]
    for path in ("file.txt", "file.txt/x", "file.txt/.."):
        call.refused("not_a_directory", "list_files", path=path)
    for path in ("folder", "./folder/", "empty/../folder", str(call.root / "folder")):
        assert listed(call, path) == ["folder/x"]


@pytest.mark.parametrize("recursive", [False, True])
def test_pages_are_exact(call, recursive):
    """At the limit, one below and one above; every entry on one page."""
    for number in range(5):
        call.put(f"{number}.txt", "x")
    for limit, offset, names, truncated, following in (
        (4, 0, "0123", True, 4),
        (5, 0, "01234", False, None),
        (6, 0, "01234", False, None),
        (2, 2, "23", True, 4),
        (2, 3, "34", False, None),
        (2, 5, "", False, None),
        (2, 10**30, "", False, None),
    ):
        data = call("list_files", limit=limit, offset=offset, recursive=recursive).data
        assert [entry["name"][0] for entry in data["entries"]] == list(names)
        assert (data["total"], data["truncated"], data["next_offset"]) == (5, truncated, following)
    assert shown(call, limit=2).endswith("\n[5 entries in all; go on with offset=2]")
    assert shown(call, offset=9) == "No entries from this offset on; the total is 5."


def test_the_limits_of_the_settings_hold(make_call):
    """The default, and the most that can be asked for."""
    call = make_call(list_entries=2, max_list_entries=3)
    for number in range(5):
        call.put(str(number), "x")
    assert [len(listed(call, **limit)) for limit in ({}, {"limit": 0}, {"limit": "0"}, {"limit": 10})] == [2, 2, 2, 3]
    for arguments in ({"limit": -1}, {"offset": -1}, {"limit": "x"}, {"recursive": "maybe"}, {"path": 3}):
        call.refused("invalid", "list_files", **arguments)


@pytest.mark.slow
def test_fifty_thousand_entries_are_counted_and_shown_page_by_page(call):
    """The answer is bounded, the total is true, the last page is reached."""
    folder = os.open(call.root, os.O_RDONLY)
    for number in range(50_000):
        os.close(os.open(f"{number:05}", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    result = call("list_files")
    assert (len(result.data["entries"]), result.data["total"], result.data["truncated"]) == (1000, 50_000, True)
    assert len(result.text) < 20_000
    last = call("list_files", offset=49_999, recursive=True).data
    assert ([entry["name"] for entry in last["entries"]], last["truncated"]) == (["49999"], False)


def test_links_are_what_they_lead_to_and_are_not_entered(call):
    """A loop ends, the outside is not listed, a folder is listed once."""
    outside = call.root.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    call.put("folder/a.txt", "12345")
    for name, target in {
        "to-file": "folder/a.txt",
        "to-folder": "folder",
        "folder/up": "..",
        "self": "self",
        "out": "../outside",
        "out-file": "../outside/secret",
        "nowhere": "none",
        "device": "/dev/null",
    }.items():
        (call.root / name).symlink_to(target)
    assert listed(call, recursive=True) == ["folder", "folder/a.txt", "folder/up", "to-file", "to-folder"]
    entries = {entry["path"]: entry for entry in call("list_files").data["entries"]}
    assert entries["to-file"]["size_bytes"] == 5 and entries["to-folder"]["is_directory"]
    assert listed(call, "to-folder") == ["folder/a.txt", "folder/up"]
    assert listed(call, "folder/up/folder/up/to-folder") == ["folder/a.txt", "folder/up"]


HOSTILE = [
    "new\nline",
    "-rf",
    "a b",
    "q\"'",
    "tab\t9",
    "😀",
    "\x1b[31m",
    "[5 entries in all]",
    "cr\r",
    "a\u2028",
    "nel\x85",
    "c1\x9b31m",
    "\u202egnp.exe",
    "*",
    "\\n",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_every_name_is_one_entry_on_one_line(call, name):
    """Each name can be given back as it is."""
    call.put(name, "x")
    call.put("other", "x")
    assert sorted(listed(call)) == sorted([name, "other"])
    lines = re.split(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", shown(call))
    assert len(lines) == 2 and all(line.count("\t") == 1 and line.endswith("\t1") for line in lines)
    assert not re.search("[\x1b\x9b\u202e]", shown(call))
    assert call("read_file", path=name).data["content"] == "x"


@pytest.mark.parametrize("name", [" ", "\u2028", "\t\n"])
def test_a_name_of_spaces_alone_is_listed_so_that_it_can_be_given_back(call, name):
    call.put(name, "x")
    assert listed(call) == [f"./{name}"]
    call("read_file", path=f"./{name}")
    change = call("edit_file", path=f"./{name}", old_string="x", new_string="y").change
    call("undo", change_id=change.id)
    assert call.got(name) == b"x"


def test_a_name_that_is_no_utf_8_is_listed_and_opened_by_its_escape(call):
    """JSON carries it there and back."""
    os.close(os.open(os.fsencode(call.root) + b"/caf\xe9.txt", os.O_CREAT | os.O_WRONLY))
    os.mkdir(os.fsencode(call.root) + b"/\xff")
    call.put("\udcff/x", "x")
    result = json.loads(json.dumps(call("list_files", recursive=True).data))
    paths = [entry["path"] for entry in result["entries"]]
    assert paths == ["\udcff", "\udcff/x", "caf\udce9.txt"]
    assert call("read_file", path=paths[1]).data["content"] == "x"
    shown(call).encode()


def test_a_file_that_vanishes_meanwhile_is_passed_over(call, monkeypatch):
    call.put("a", "x")
    call.put("b", "x")
    (call.root / "c").symlink_to("a")
    see = DiskFolder.see

    def vanishing(folder, name):
        if name == "a":
            (call.root / "a").unlink()
        return see(folder, name)

    monkeypatch.setattr(DiskFolder, "see", vanishing)
    data = call("list_files").data
    assert [entry["name"] for entry in data["entries"]] == ["b"]


def test_a_folder_that_cannot_be_read_is_named(call):
    """All other entries are listed; asked for directly, the folder is denied."""
    call.put("a/x", "x")
    call.put("locked/x", "x")
    call.put("z/deep/x", "x")
    (call.root / "z/none").mkdir()
    for name in ("locked", "z/deep"):
        (call.root / name).chmod(0o300)
    result = call("list_files", recursive=True)
    assert [entry["path"] for entry in result.data["entries"]] == ["a", "a/x", "locked", "z", "z/deep", "z/none"]
    assert result.data["skipped"] == ["locked", "z/deep"]
    assert "[not readable: locked, z/deep]" in result.text
    assert call("list_files").data["skipped"] == []
    call.refused("denied", "list_files", path="locked")


def test_denied_names_never_appear(make_call):
    """Their contents and links to them do not appear either, and are not in the total."""
    call = make_call(deny_read=[".ssh/", "*.key"])
    for path in (".ssh/id", "a/.ssh/id", "a/b.KEY", "a/b", ".env"):
        call.put(path, "x")
    (call.root / "id").symlink_to(".ssh/id")
    (call.root / "folder").symlink_to("a/.ssh")
    data = call("list_files", recursive=True).data
    assert [entry["path"] for entry in data["entries"]] == ["a", "a/b", ".env"]
    assert data["total"] == 3
    call.refused("denied", "list_files", path=".ssh")


def test_folders_of_other_programs_are_named_but_not_entered(call):
    """The result names them; asked for by name, they are listed."""
    for folder in (".git", ".ipynb_checkpoints", "a/node_modules", "__pycache__"):
        call.put(f"{folder}/x", "x")
    call.put(".hidden/x", "x")
    result = call("list_files", recursive=True)
    not_entered = [".git", ".ipynb_checkpoints", "__pycache__", "a/node_modules"]
    assert sorted(result.data["not_entered"]) == not_entered
    assert all(name in result.text.splitlines()[-1] for name in not_entered)
    assert [path for path in listed(call, recursive=True) if path.endswith("/x")] == [".hidden/x"]
    assert listed(call, "a/node_modules", recursive=True) == ["a/node_modules/x"]
    assert call("list_files").data["not_entered"] == []


def test_a_listing_that_nobody_waits_for_ends_before_the_next_folder(call):
    """The entries found so far are returned, marked as partial."""
    call.put("a/x", "x")
    call.put("b", "x")
    gone = threading.Event()
    gone.set()
    workspace = call.workspace.for_reader(call.workspace.reader, cancelled=gone)
    result = call_tool(workspace, "list_files", {"recursive": True})
    assert result.data["entries"] == []
    assert (result.data["partial"], result.data["truncated"], result.data["next_offset"]) == ("cancelled", True, None)
    assert "partial" in result.text
    assert "empty" not in result.text
    assert call("list_files", recursive=True).data["partial"] is None


def test_devices_pipes_and_sockets_are_named(call):
    """P-cases: without a size, and without waiting for them."""
    os.mkfifo(call.root / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(call.root / "sock"))
        entries = call("list_files").data["entries"]
    assert [(entry["name"], entry["is_directory"], "size_bytes" in entry) for entry in entries] == [
        ("fifo", False, False),
        ("sock", False, False),
    ]


def test_a_listing_of_a_folder_swapped_for_a_link_leaks_nothing(call, monkeypatch):
    """Between the look and the listing."""
    outside = call.root.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    call.put("folder/a", "x")
    open_folder = LocalDisk.opened_folder

    def swapped(disk, path):
        (call.root / "folder").rename(call.root / "moved")
        (call.root / "folder").symlink_to("../outside")
        return open_folder(disk, path)

    monkeypatch.setattr(LocalDisk, "opened_folder", swapped)
    assert "secret" not in str(call.refused("conflict", "list_files", path="folder").as_dict())


NAME = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..") and len(name.encode()) < 100
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.sets(NAME, max_size=12), limit=st.integers(1, 5))
def test_pages_together_are_the_listing(call, names, limit):
    """Whatever the names, every one is on one page, in one order."""
    for old in os.listdir(call.root):
        (call.root / old).unlink()
    for name in names:
        call.put(name, "x")
    paged, offset = [], 0
    while offset is not None:
        data = call("list_files", limit=limit, offset=offset).data
        paged += [entry["name"] for entry in data["entries"]]
        offset = data["next_offset"]
    assert paged == [entry["name"] for entry in call("list_files").data["entries"]] == sorted(names)
    assert len(paged) == data["total"]
