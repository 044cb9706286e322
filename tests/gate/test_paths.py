"""No spelling of a path leads out of the root, for any tool, and no refusal reveals files outside."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.stores.records import Reader
from tests.conftest import Caller


def every_call(path):
    return [
        ("list_files", {"path": path}),
        ("list_files", {"path": path, "recursive": True}),
        ("read_file", {"path": path}),
        ("write_file", {"path": path, "content": "x"}),
        ("write_file", {"path": path, "content": "x", "create_only": True}),
        ("edit_file", {"path": path, "old_string": "secret", "new_string": "y"}),
        ("undo", {"path": path}),
    ]


@pytest.fixture
def outside(call):
    """A folder beside the root."""
    folder = call.root.parent / "outside"
    folder.mkdir()
    (folder / "file").write_text("secret")
    return folder


def everything_below(folder):
    return sorted((str(file), file.read_bytes()) for file in folder.rglob("*") if file.is_file())


def refusals(call, path):
    return [call.refused("outside_root", name, **arguments).as_dict() for name, arguments in every_call(path)]


@pytest.mark.parametrize("suffix", ["-evil", "2", "_backup", ".bak", " (v2)_backup", "/../root-evil"])
def test_a_folder_whose_name_begins_like_the_root_is_outside(call, suffix):
    path = f"{call.root}{suffix}/file"
    before = refusals(call, path)
    call.put(path, "secret")
    assert refusals(call, path) == before
    assert refusals(call, f"../{os.path.basename(os.path.normpath(call.root.name + suffix))}/file")
    assert "secret" not in str(before)


@pytest.mark.parametrize("target", ["../outside/file", "../outside/nothing", "../outside", "/etc/passwd", "chain"])
def test_links_that_lead_out_are_refused_by_every_tool(call, outside, target):
    """Relative, absolute, dangling, by way of another link; nothing is created, nothing listed."""
    (call.root / "chain").symlink_to("../outside/file")
    (call.root / "link").symlink_to(target)
    before = everything_below(outside)
    refusals(call, "link")
    assert everything_below(outside) == before
    assert call("list_files", recursive=True).data["entries"] == []


@pytest.mark.parametrize("tail", ["file", "nothing", "new/deeper/file", "file/x", "./new"])
def test_nothing_is_reached_below_a_linked_folder(call, outside, tail):
    (call.root / "out").symlink_to("../outside")
    before = everything_below(outside)
    refusals(call, f"out/{tail}")
    refusals(call, f"{call.root}/out/{tail}")
    assert everything_below(outside) == before


def test_links_that_stay_inside_work(call):
    call.put("d/a.txt", "secret")
    (call.root / "link").symlink_to("d/../d/a.txt")
    (call.root / "later").symlink_to("d/b.txt")
    call("read_file", path="link")
    call("edit_file", path="link", old_string="secret", new_string="y")
    call("write_file", path="later", content="new")
    assert (call.got("d/a.txt"), call.got("d/b.txt")) == (b"y", b"new")
    assert (call.root / "later").is_symlink()


def test_a_root_that_is_a_link_has_two_spellings(call):
    alias = call.root.parent / "alias"
    alias.symlink_to("root")
    call.workspace.paths.backend = LocalDisk(alias, durable=False)
    for spelled in ("a.txt", f"{alias}/a.txt", f"{call.root}/a.txt"):
        assert call("write_file", path=spelled, content=spelled).data["path"] == "a.txt"
    refusals(call, f"{alias}/../outside/a.txt")


@pytest.mark.parametrize(
    "path",
    ["../new", "../outside/file", "a/../../outside/file", "a/" * 800 + "../" * 801 + "outside/file", "./.././outside"],
)
def test_steps_up_lead_no_further_than_the_root(call, outside, path):
    """Counted part by part, whether the parts are there or not."""
    before = everything_below(outside)
    refusals(call, path)
    assert everything_below(outside) == before


@pytest.mark.parametrize("name", ["..foo", "foo..bar", "...", "....", "te..st", "..foo/..bar"])
def test_dots_in_names_are_letters(call, name):
    assert call("write_file", path=name, content="x").data["path"] == name
    assert call.got(name) == b"x"


@pytest.mark.parametrize("name", ["%2e%2e", "%2e%2e%2fa", "%41", "~", "~root", "$HOME", "${HOME}", "file:", "`id`"])
def test_nothing_in_a_name_is_decoded_or_expanded(call, name):
    assert call("write_file", path=f"{name}/x", content="x").data["path"] == f"{name}/x"
    assert call.got(f"{name}/x") == b"x"


@pytest.mark.skipif(os.name == "nt", reason="on Windows it separates")
@pytest.mark.parametrize("name", ["a\\..\\..\\b", "C:\\x", "C:foo", "\\\\?\\x", "f.txt:stream", "CON", "dot. "])
def test_what_windows_takes_for_more_is_a_plain_name_here(call, name):
    assert call("write_file", path=name, content="x").data["path"] == name
    assert os.listdir(call.root) == [name]


@pytest.mark.parametrize("value", [3, 1.5, True, [], ["a"], {}, {"path": "a"}, b"a"])
def test_a_path_that_is_no_string_is_invalid(call, value):
    for name, arguments in every_call(value):
        assert call.refused("invalid", name, **arguments).message.startswith("path: takes a string, got")
    assert os.listdir(call.root) == []


@pytest.mark.parametrize("path", ["x" * 256, "é" * 128, "a/" * 1000 + "../" * 1001, "d/" + "x" * 300])
def test_a_path_that_is_too_long_is_invalid(call, path):
    for name, arguments in every_call(path):
        call.refused("invalid", name, **arguments)
    assert os.listdir(call.root) == []


def test_a_loop_of_links_is_refused(call):
    (call.root / "one").symlink_to("two")
    (call.root / "two").symlink_to("one")
    for path in ("one", "two/x"):
        for name, arguments in every_call(path):
            call.refused("invalid", name, **arguments)
    assert call("list_files", recursive=True).data["entries"] == []


@pytest.mark.parametrize(
    "path", ["../outside/{}", "out/{}", "link-{}", "{root}/../outside/{}", "/no-such-folder/../{}"]
)
def test_no_refusal_tells_whether_something_is_outside(call, outside, path):
    """It does not tell where the root is either."""
    (call.root / "out").symlink_to("../outside")
    (call.root / "link-file").symlink_to("../outside/file")
    (call.root / "link-none").symlink_to("../outside/none")
    said = {}
    for name in ("file", "none"):
        given_path = path.format(name, root="/".join([".."] * 40) + str(call.root))
        said[name] = str(refusals(call, given_path)).replace(given_path, "…")
        assert str(call.root.parent) not in said[name] and "secret" not in said[name]
    assert said["file"] == said["none"]


@pytest.mark.parametrize("path", ["none", "d", "d/none", "fifo", "locked", "binary", "file/x"])
def test_no_refusal_inside_tells_where_the_root_is(call, path):
    call.put("d/a.txt", "x")
    call.put("file", "x")
    call.put("binary", b"\0\1\2")
    call.put("locked", "x").chmod(0)
    os.mkfifo(call.root / "fifo")
    for name, arguments in every_call(path):
        try:
            call(name, **arguments)
        except FsToolsError as refusal:
            assert str(call.root.parent) not in str(refusal.as_dict())


@pytest.mark.timeout(30)
@pytest.mark.parametrize("tool", range(7))
def test_devices_pipes_and_sockets_are_refused_without_waiting(call, tool):
    """R-cases: also by way of a link."""
    os.mkfifo(call.root / "fifo")
    (call.root / "link").symlink_to("fifo")
    for path in ("fifo", "link"):
        name, arguments = every_call(path)[tool]
        expected = {"list_files": "not_a_directory", "undo": "not_found"}.get(name, "denied")
        call.refused(expected, name, **arguments)
    assert [entry["name"] for entry in call("list_files").data["entries"]] == ["fifo", "link"]


def test_the_top_of_the_disk_can_be_the_root(call):
    path = str(call.put("a.txt", "x"))
    made = call.workspace
    top = Caller(
        Workspace(LocalDisk("/", durable=False), made.store, made._locks, made.policy, Reader("ada", "default")), None
    )
    assert top("read_file", path=path).data["path"] == path.lstrip("/")
    top("edit_file", path="../../" + path.lstrip("/"), old_string="x", new_string="y")
    change = top("undo", path=path).change
    assert change.path == path.lstrip("/") and call.got("a.txt") == b"x"
    assert {"path": path.lstrip("/"), "name": "a.txt"}.items() <= top("list_files", path=str(call.root)).data[
        "entries"
    ][0].items()


def test_a_hard_link_to_the_outside_is_a_file_like_any_other(call, outside):
    """Neither a path nor a mount shows it; a user who can create one inside the root can read its content anyway."""
    os.link(outside / "file", call.root / "linked")
    assert call("read_file", path="linked").data["content"] == "secret"
    call("edit_file", path="linked", old_string="secret", new_string="shared")
    assert (outside / "file").read_text() == "shared"


PATHS = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            ["..", ".", "", "a", "out", "link", "inside", "...", "~", "é", "\udcff", "\0", " ", "*", "file"]
        ),
        max_size=8,
    ).map("/".join),
)


SECRET = "secret" * 10
"""Longer than any path that is tried: a refusal repeats the caller's spelling."""


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=PATHS, absolute=st.booleans())
def test_no_string_leads_out_or_raises_anything_but_a_refusal(call, path, absolute):
    outside = call.root.parent / "outside"
    if not outside.exists():
        outside.mkdir()
        (outside / "file").write_text(SECRET)
        (call.root / "out").symlink_to("../outside")
        (call.root / "link").symlink_to("../outside/none")
        (call.root / "inside").symlink_to(".")
    for name, arguments in every_call(f"{call.root}/{path}" if absolute else path):
        try:
            said = str(call(name, **arguments).data)
        except FsToolsError as refusal:
            # The caller's own spelling is repeated.
            said = str(refusal.as_dict()).replace(str(call.root), "" if absolute else "revealed")
            assert "revealed" not in said
        assert SECRET not in said and str(call.root.parent) not in said
    assert everything_below(outside) == [(str(outside / "file"), SECRET.encode())]
    assert set(os.listdir(call.root.parent)) <= {"root", "outside", "locks"}


PLAIN_LOCALE = """
import os, sys
from jupyter_fstools import call_tool, open_workspace
assert sys.getfilesystemencoding() == "ascii"
workspace = open_workspace(sys.argv[1], store="memory:")
path = "\\u65e5/\\u672c.txt"
listed = call_tool(workspace, "glob", {"pattern": "**/*.txt"}).data["files"][0]["path"]
assert call_tool(workspace, "read_file", {"path": path}).data["path"] == listed
call_tool(workspace, "edit_file", {"path": listed, "old_string": "x", "new_string": "y"})
"""
PLAIN_SEARCH = """
import sys
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.search.glob import find_files
from jupyter_fstools.search.grep import search_text
from jupyter_fstools.search.query import TextQuery
disk = LocalDisk(sys.argv[1])
listed = [file.path for file in find_files(disk, "**").files]
assert len(listed) == 1 and all(find_files(disk, glob).total == 1 for glob in ("\\u65e5/**", "*\\u672c.txt"))
for engine in ("ripgrep", "python"):
    for path, glob in ((".", None), (".", "\\u65e5/*"), ("\\u65e5", "\\u672c*"), ("\\u65e5/\\u672c.txt", None)):
        found = search_text(disk, TextQuery(pattern="\\u00fc", glob=glob), path, engine=engine)
        assert [match.path for match in found.matches] == listed, (engine, path, glob)
"""
PLAIN = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locale")
def test_a_name_is_found_in_a_locale_without_its_characters(tmp_path):
    """Listings give such names with escaped bytes; both spellings are one file."""
    (tmp_path / "日").mkdir()
    (tmp_path / "日" / "本.txt").write_text("x")
    subprocess.run([sys.executable, "-c", PLAIN_LOCALE, tmp_path], check=True, env=os.environ | PLAIN)
    assert (tmp_path / "日" / "本.txt").read_text() == "y"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locale")
def test_a_search_works_in_a_locale_without_its_characters(tmp_path):
    """Pattern, glob and path are UTF-8."""
    (tmp_path / "日").mkdir()
    (tmp_path / "日" / "本.txt").write_text("für\n", "utf-8")
    subprocess.run([sys.executable, "-c", PLAIN_SEARCH, tmp_path], check=True, env=os.environ | PLAIN)
