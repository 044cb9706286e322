"""Calls of a kernel about files that a browser has open: a server whose page has them carries them out."""

from __future__ import annotations

import json
import time

import pytest

from jupyter_fstools.errors import InputOutput, Unsaved
from jupyter_fstools.kernel import files
from jupyter_fstools.kernel.desk import Desk
from jupyter_fstools.stores.records import OpenDocument
from tests.kernel.real_kernel import private_environment
from tests.kernel.test_server_calls import ANSWER, fake_server, server_at
from tests.processes import RunningServer


@pytest.fixture
def desk(make_shell, root):
    """A kernel's own files, one of which is open and unsaved in a page of a server."""
    desk = Desk(make_shell().config, str(root))
    (root / "a.py").write_text("one\n")
    desk.call("read_file", {"path": "a.py"})
    workspace = desk.files.workspace
    key = workspace.backend.stat("a.py").key
    workspace.store.note_open("page", [OpenDocument("page", key, False)], time.time() + 600)
    return desk


@pytest.fixture
def served_by(monkeypatch):
    """Sets the servers that the kernel finds."""
    return lambda *urls: monkeypatch.setattr(files, "servers_for", lambda root: [server_at(url) for url in urls])


def test_each_edit_names_its_file_by_a_whole_path(desk, served_by, root):
    (root / "sub").mkdir()
    (root / "sub" / "b.py").write_text("two\n")
    edits = [{"old_string": "one", "new_string": "1"}, {"path": "sub/b.py", "old_string": "two", "new_string": "2"}]
    with fake_server([json.dumps({**ANSWER, "tool": "edit_file"}).encode()]) as (url, asked):
        served_by(url)
        desk.call("edit_file", {"path": "a.py", "edits": edits})
    _, body = asked[0]
    assert body["path"] == f"{root}/a.py"
    assert [edit.get("path") for edit in body["edits"]] == [None, f"{root}/sub/b.py"]


def test_of_an_edit_during_which_its_server_failed_nobody_says_that_nothing_was_modified(desk, served_by):
    with fake_server([(502, b"Bad gateway")]) as (url, _):
        served_by(url)
        with pytest.raises(InputOutput, match="status 502") as refused:
            desk.call("edit_file", {"path": "a.py", "old_string": "one", "new_string": "two"})
    assert "not modified" not in str(refused.value)
    assert refused.value.details["modified"] == "unknown"


def test_what_a_server_says_of_its_disk_is_told_as_it_is(desk, served_by):
    full = {"code": "io", "message": "a.py was not modified: the disk is full", "hint": "Make room.", "details": {}}
    with fake_server([(500, json.dumps({"error": full}).encode())]) as (url, _):
        served_by(url)
        with pytest.raises(InputOutput, match="the disk is full"):
            desk.call("edit_file", {"path": "a.py", "old_string": "one", "new_string": "two"})


@pytest.mark.slow
def test_a_server_that_keeps_another_store_leaves_the_file_alone(desk, root, tmp_path, monkeypatch):
    """It does not know of the page, and would write the file below what its person typed."""
    (tmp_path / "other").mkdir()
    server = RunningServer(root, environment=private_environment(tmp_path / "other"))
    try:
        server.wait()
        found = server_at(server.url.removesuffix("/api/fstools"), server.token)
        monkeypatch.setattr(files, "servers_for", lambda root: [found])
        for tool, more in (("read_file", {}), ("edit_file", {"old_string": "one", "new_string": "two"})):
            with pytest.raises(Unsaved, match="not modified"):
                desk.call(tool, {"path": "a.py", **more})
    finally:
        server.stop()
    assert (root / "a.py").read_text() == "one\n"


@pytest.mark.parametrize("code", ["outside_root", "disabled", "unsaved"])
def test_a_server_with_other_files_or_settings_does_not_keep_the_call_from_the_next(desk, served_by, code):
    error = {"code": code, "message": "Not here (not modified)", "hint": "Ask another.", "details": {}}
    refusal, answer = json.dumps({"error": error}).encode(), json.dumps({**ANSWER, "tool": "edit_file"}).encode()
    with fake_server([(403, refusal)]) as (first, _), fake_server([answer]) as (second, asked):
        served_by(first, second)
        desk.call("edit_file", {"path": "a.py", "old_string": "one", "new_string": "two"})
    assert len(asked) == 1


def test_where_no_server_is_reached_the_file_stays_and_is_called_unsaved(desk, served_by, root):
    served_by("http://127.0.0.1:9/", "http://127.0.0.1:9/")
    with pytest.raises(Unsaved, match="not modified"):
        desk.call("edit_file", {"path": "a.py", "old_string": "one", "new_string": "two"})
    assert (root / "a.py").read_text() == "one\n"
