import os
import socket
import sys

import pytest

from jupyter_fstools.backends import open_file
from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.tools import call_tool

posix = pytest.mark.skipif(os.name != "posix", reason="special files and mode bits are POSIX's")
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


@pytest.mark.parametrize("offset", [3, 4, 100, 2**70])
def test_past_the_end_is_refused_with_the_total_and_is_no_read(call, offset):
    call.put("a", "secret\nb\n")
    refusal = call.refused("out_of_range", "read_file", path="a", offset=offset)
    assert refusal.details == {"total_lines": 2} and "secret" not in str(refusal) and "2 lines" in refusal.message
    call.refused("not_read", "edit_file", path="a", old_string="b", new_string="c")


def test_a_refused_read_takes_away_no_earlier_one(call):
    call.put("a", "a\nb\n")
    call("read_file", path="a")
    call.refused("out_of_range", "read_file", path="a", offset=9)
    call.refused("out_of_range", "read_file", path="a", column=9)
    call("edit_file", path="a", old_string="b", new_string="c")


@pytest.mark.parametrize(
    "given",
    [
        r"src\a.py",
        "~/src/a.py",
        "a/src/a.py",
        "@src/a.py",
        "'src/a.py'",
        r"C:\Users\ada\project\src\a.py",
        "file:///home/ada/project/src/a.py",
    ],
)
def test_a_path_of_another_place_or_spelling_is_answered_with_the_one_here(call, given):
    call.put("src/a.py", "a")
    refusal = call.refused("not_found", "read_file", path=given)
    assert refusal.details["near"][0] == "src/a.py" and refusal.hint.startswith("Did you mean src/a.py")


def test_an_absolute_path_outside_is_answered_with_what_ends_like_it_inside_and_may_be_seen(make_call):
    call = make_call(deny_read=["hidden"])
    call.put("src/a.py", "a")
    call.put("hidden", "a")
    assert call.refused("outside_root", "read_file", path="/workspace/src/a.py").hint.endswith("mean src/a.py?")
    for path in ("/workspace/hidden", "/workspace/none", "/"):
        assert call.refused("outside_root", "read_file", path=path).hint.endswith('("." is the root).')


@pytest.mark.parametrize("path", ["sub", "sub/", ".", "./sub/../sub"])
def test_a_folder_is_refused_with_the_tool_that_lists_it(call, path):
    call.put("sub/a", "a")
    assert "list_files" in call.refused("is_directory", "read_file", path=path).hint


def test_a_missing_file_is_refused_with_names_like_it(call):
    """Three at most, none that a rule hides."""
    for name in ("report.py", "report.md", "reports.py", "report_.py", ".ssh/report.py"):
        call.put(name, "x")
    refusal = call.refused("not_found", "read_file", path="reprot.py")
    assert "report.py" in refusal.details["near"] and len(refusal.details["near"]) == 3
    call.refused("denied", "read_file", path=".ssh/reprot.py")
    call.put("jpserver-1.json", "{}")
    assert "jpserver-1.json" not in str(call.refused("not_found", "read_file", path="jpserverr-1.json"))


def test_no_name_is_suggested_from_a_folder_that_may_not_be_seen(make_call):
    """Even where a rule excepts the missing name itself."""
    call = make_call(deny_read=["secret/", "!secret/pub"])
    call.put("secret/pubs", "x")
    refusal = call.refused("not_found", "read_file", path="secret/pub")
    assert refusal.details["near"] == [] and refusal.hint.startswith("List the root, with `list_files`.")


def test_a_file_that_is_no_text_is_named_and_no_other_surface_is(call):
    call.put("sub/a.bin", b"a\0b")
    call.put("a", b"a\0b")
    call.put("sub/late.bin", b"a" * 10_000 + b"\0b")
    call.put("sub/latin.txt", b"caf\xe9")
    for code, path in (
        ("binary", "a"),
        ("binary", "sub/a.bin"),
        ("binary", "sub/late.bin"),
        ("encoding", "sub/latin.txt"),
    ):
        refusal = call.refused(code, "read_file", path=path)
        assert refusal.message.startswith(f"{path}: ") and "GET" not in refusal.hint


@pytest.mark.parametrize(
    ("there", "given"),
    [
        ("Screenshot 9.41\u202fPM.txt", "Screenshot 9.41 PM.txt"),
        ("a\u00a0b.txt", "a b.txt"),
        ("cafe\u0301.txt", "café.txt"),
        ("café.txt", "cafe\u0301.txt"),
    ],
)
def test_a_name_with_look_alike_characters_is_suggested_not_opened(call, there, given):
    call.put(there, "x")
    if (call.root / given).exists():
        pytest.skip("this file system takes both names for one")
    assert call.refused("not_found", "read_file", path=given).details["near"] == [there]


@posix
def test_what_is_no_regular_file_is_refused_without_waiting(call):
    os.mkfifo(call.root / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(call.root)
        listening.bind("socket")
        os.chdir(here)
        for name in ("fifo", "socket"):
            (call.root / f"to_{name}").symlink_to(name)
            call.refused("denied", "read_file", path=name)
            call.refused("denied", "read_file", path=f"to_{name}")


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "/proc/self/fd/0", "/dev/tty", "/dev/full"])
def test_a_device_is_refused_also_behind_a_link(call, target):
    (call.root / "link").symlink_to(target)
    call.refused("outside_root", "read_file", path="link")
    call.refused("outside_root", "read_file", path=target)


@linux
@pytest.mark.parametrize("path", ["zero", "stdin", "fd/0", "null"])
def test_a_device_inside_the_root_is_refused(tmp_path, path):
    with pytest.raises(FsToolsError) as caught:
        call_tool(rooted_at("/dev", tmp_path), "read_file", {"path": path})
    assert caught.value.code in ("denied", "outside_root", "not_found")


@posix
def test_a_file_without_read_permission_is_denied(call):
    call.put("a", "x").chmod(0)
    assert "permission" in call.refused("denied", "read_file", path="a").message


def test_fewer_bytes_than_there_should_be_are_no_empty_file(call, monkeypatch):
    call.put("a", "text\n")
    monkeypatch.setattr(open_file, "read_at", lambda *_: b"")
    assert "short read" in call.refused("io", "read_file", path="a").message


@linux
def test_a_file_that_says_it_is_empty_is_read_to_its_end(tmp_path):
    result = call_tool(rooted_at("/proc/sys/kernel", tmp_path), "read_file", {"path": "ostype"})
    assert result.data["content"] == "Linux\n" and result.data["file_size"] == 6


def rooted_at(root, tmp_path):
    store, locks = InMemoryStore(), FileLocks(tmp_path / "locks")
    return Workspace(LocalDisk(root), store, locks, Policy(), Reader("ada", "default"))
