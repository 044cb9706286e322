"""The tools from Python: opening a workspace, and the files that it keeps private."""

from __future__ import annotations

import gc
import os
import sqlite3
import stat
import sys

import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import Denied, Invalid, NotFound
from jupyter_fstools.own_folders import data_folder


@pytest.mark.parametrize("session", ["", "a b", "x" * 129, 5, None])
def test_what_is_no_session_name_is_a_refusal(tmp_path, session):
    with pytest.raises(Invalid, match="session: takes 1 to 128"):
        open_workspace(tmp_path, session=session, store="memory:")


def test_files_and_records_can_live_in_memory():
    files = open_workspace("memory:", store="memory:")
    call_tool(files, "write_file", path="folder/a.txt", content="one\n")
    assert call_tool(files, "grep", pattern="one", path="folder").data["matches"]
    with pytest.raises(NotFound):
        call_tool(open_workspace("memory:", store="memory:"), "read_file", path="folder/a.txt")


def test_a_file_address_is_a_folder(tmp_path):
    (tmp_path / "a b.txt").write_text("one\n")
    files = open_workspace(f"{tmp_path.as_uri()}", store="memory:")
    assert call_tool(files, "read_file", path="a b.txt").data["total_lines"] == 1


@pytest.mark.parametrize("address", ["file://elsewhere/a", "file://", "file://[::1/a", "file:///a%00b"])
def test_a_file_address_of_no_folder_here_is_a_refusal(address):
    with pytest.raises(Invalid, match="names no folder on this machine"):
        open_workspace(address, store="memory:")


@pytest.mark.parametrize("name", ["project#2", "project?x=1", "project#", "project?"])
def test_a_folder_with_a_sign_that_ends_an_address_is_opened_only_where_it_is_escaped(tmp_path, name):
    (tmp_path / "project").mkdir()
    (tmp_path / name).mkdir()
    with pytest.raises(Invalid, match="Write %3F for a question mark, %23 for a number sign"):
        open_workspace(f"file://{tmp_path}/{name}", store="memory:")
    assert open_workspace((tmp_path / name).as_uri(), store="memory:").backend.root == tmp_path / name


@pytest.mark.parametrize("root", ["a\0b", "", None, 5])
def test_what_is_no_folder_name_is_a_refusal(root):
    with pytest.raises(Invalid):
        open_workspace(root, store="memory:")


@pytest.mark.parametrize("setting", ["journal_max_days", "search_seconds", "lock_seconds"])
@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e300])
def test_a_time_that_is_no_number_is_a_refusal(tmp_path, setting, seconds):
    with pytest.raises(Invalid, match=setting):
        open_workspace(tmp_path, store="memory:", **{setting: seconds})


@pytest.mark.parametrize("spelled", ["link/kept.txt", "root/kept.txt", "root/sub/../kept.txt", "root/", "link"])
def test_a_protected_file_is_not_written_however_its_path_is_spelled(tmp_path, spelled):
    (tmp_path / "root").mkdir()
    (tmp_path / "link").symlink_to("root")
    workspace = open_workspace(tmp_path / "root", store="memory:", protected_files=[f"{tmp_path}/{spelled}"])
    with workspace, pytest.raises(Denied):
        call_tool(workspace, "write_file", path="kept.txt", content="x")


@pytest.mark.parametrize("made", ["fstools", "fstools/locks"])
def test_with_a_read_only_data_folder_files_are_written_and_a_warning_says_what_is_missing(
    private_jupyter, tmp_path, caplog, made
):
    folder = data_folder().parent / made
    folder.mkdir(parents=True)
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):
        pytest.skip("root may write to any folder")
    with open_workspace(tmp_path, store="memory:") as files:
        assert call_tool(files, "write_file", path="a.txt", content="one\n").change.status == "applied"
    assert "No locks between processes" in caplog.text


@pytest.mark.parametrize("name", ["gate.db", "gate.db-wal", "gate.db-journal", "link"])
def test_the_store_is_out_of_reach_where_it_is_below_the_root(private_jupyter, tmp_path, name):
    """No tool may read or create the files of the gate's store."""
    (tmp_path / "link").symlink_to("gate.db")
    with open_workspace(tmp_path, store=f"sqlite:{tmp_path}/gate.db") as files:
        call_tool(files, "write_file", path="a.txt", content="x")
        with pytest.raises(Denied):
            call_tool(files, "write_file", path=name, content="x")
        with pytest.raises(Denied):
            call_tool(files, "read_file", path=name)
        listed = call_tool(files, "list_files").data["entries"]
    assert not [entry["name"] for entry in listed if entry["name"].startswith("gate")]


def connection_of(workspace):
    call_tool(workspace, "list_files")
    workspace.store.revision()
    return workspace.store._database._connection


def test_a_damaged_store_that_was_set_aside_below_the_root_is_out_of_reach(private_jupyter, tmp_path):
    store, damage = tmp_path / "gate.db", b"no database" * 500
    with open_workspace(tmp_path, store=f"sqlite:{store}") as files:
        call_tool(files, "write_file", path="a.txt", content="x")
    store.write_bytes(damage)
    with open_workspace(tmp_path, store=f"sqlite:{store}") as files:
        call_tool(files, "read_file", path="a.txt")
        (aside,) = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes() == damage]
        with pytest.raises(Denied):
            call_tool(files, "read_file", path=str(aside))
        assert [entry["path"] for entry in call_tool(files, "list_files").data["entries"]] == ["a.txt"]


def test_leaving_a_with_block_closes_what_the_workspace_opened(tmp_path):
    with open_workspace(tmp_path) as files:
        connection = connection_of(files)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_dropping_a_workspace_closes_what_it_opened(tmp_path):
    connection = connection_of(open_workspace(tmp_path))
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
@pytest.mark.parametrize("mask", [0, 0o022, 0o077], ids=oct)
def test_what_is_kept_is_for_the_user_alone_under_any_umask(tmp_path, mask):
    """Locks and store lie in one folder, whichever of them creates it."""
    before = os.umask(mask)
    try:
        with open_workspace(tmp_path, durable=False) as files:
            call_tool(files, "write_file", path="a.txt", content="x")
            modes = {file: stat.S_IMODE(file.stat().st_mode) for file in [data_folder(), *data_folder().rglob("*")]}
    finally:
        os.umask(before)
    assert {file.name for file in modes} >= {"store.sqlite", "store.sqlite-wal", "locks"}
    assert modes == {file: 0o700 if file.is_dir() else 0o600 for file in modes}
