"""Every way a call can be refused comes over REST with its status, and the file stays as it was."""

from __future__ import annotations

import os

import pytest
from traitlets.config.loader import DeferredConfigList

from jupyter_fstools import errors
from jupyter_fstools.server.extension import load

TEXT = b"one\ntwo\nthree\n"


def setup(folder):
    for name, data in {
        "a.txt": TEXT,
        "unread.txt": TEXT,
        "twice.txt": b"same\nsame\n",
        "gone.txt": TEXT,
        "binary.bin": b"\0\1\2" * 100,
        "latin.txt": "caf\xe9\n".encode("latin-1"),
        "large.txt": b"x" * 99 + b"\n" + b"0123456789\n" * 30_000,
        "key.secret": TEXT,
        "book.ipynb": b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    }.items():
        folder.write(name, data)
    for name in ("a.txt", "twice.txt", "gone.txt"):
        assert folder.call("read_file", path=f"{folder.name}/{name}").status == 200
    folder.write("gone.txt", b"changed meanwhile\n")


CASES = {
    "a required argument is missing": ("invalid", "read_file", {}),
    "an argument is unknown": ("invalid", "read_file", {"path": "a.txt", "colour": "red"}),
    "there is no such tool": ("invalid", "paint_file", {"path": "a.txt"}),
    "the path leads out": ("outside_root", "read_file", {"path": "../../../etc/passwd"}),
    "a rule denies the file": ("denied", "read_file", {"path": "key.secret"}),
    "there is no such file": ("not_found", "read_file", {"path": "a.tx"}),
    "a folder is no file": ("is_directory", "read_file", {"path": ""}),
    "a file is no folder": ("not_a_directory", "read_file", {"path": "a.txt/b.txt"}),
    "the file exists": ("conflict", "write_file", {"path": "a.txt", "content": "x", "create_only": True}),
    "it changed since": ("stale", "edit_file", {"path": "gone.txt", "old_string": "one", "new_string": "1"}),
    "too large to show": ("too_large", "read_file", {"path": "large.txt"}),
    "too much to write": ("too_large", "write_file", {"path": "new.txt", "content": "x" * 1_000_001}),
    "no text": ("binary", "read_file", {"path": "binary.bin"}),
    "not in this encoding": ("encoding", "read_file", {"path": "latin.txt"}),
    "past the end": ("out_of_range", "read_file", {"path": "a.txt", "offset": 99}),
    "not in the file": ("no_match", "edit_file", {"path": "a.txt", "old_string": "four", "new_string": "4"}),
    "there more than once": ("ambiguous", "edit_file", {"path": "twice.txt", "old_string": "same", "new_string": "1"}),
    "old is new": ("no_op", "edit_file", {"path": "a.txt", "old_string": "one", "new_string": "one"}),
    "a notebook": ("notebook", "edit_file", {"path": "book.ipynb", "old_string": "cells", "new_string": "x"}),
    "not read": ("not_read", "edit_file", {"path": "unread.txt", "old_string": "one", "new_string": "1"}),
}


def test_each_refusal_has_its_status_message_and_hint_and_changes_nothing(folder):
    setup(folder)
    before = {name: folder.read(name) for name in os.listdir(folder.path)}
    for why, (code, tool, arguments) in CASES.items():
        placed = dict(arguments)
        if "path" in arguments:
            placed["path"] = f"{folder.name}/{arguments['path']}"
        answer = folder.call(tool, **placed)
        error = answer.error
        assert (why, error["code"], answer.status) == (why, code, status_of(code)), error
        assert error["message"] and error["hint"], why
        assert folder.server.root not in error["message"] + error["hint"], why
        if tool in ("edit_file", "write_file"):
            assert "not modified" in error["message"], why
    assert {name: folder.read(name) for name in os.listdir(folder.path)} == before


def status_of(code):
    return next(kind.status for kind in vars(errors).values() if getattr(kind, "code", None) == code)


def test_a_stale_refusal_says_what_changed(folder):
    setup(folder)
    answer = folder.call("edit_file", path=f"{folder.name}/gone.txt", old_string="one", new_string="1")
    assert "+changed meanwhile" in answer.error["details"]["diff"]


@pytest.mark.parametrize("settings", [{"tool_prefix": "fs_"}], indirect=True)
async def test_a_hint_names_tools_as_the_call_did(call, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    edit = {"path": "a.txt", "old_string": "one", "new_string": "1"}
    assert "`fs_read_file`" in (await call("fs_edit_file", **edit)).error["hint"]
    assert "`read_file`" in (await call("edit_file", **edit)).error["hint"]


@pytest.mark.parametrize("settings", [{"read_only": True}], indirect=True)
async def test_in_a_read_only_server_tools_that_write_are_disabled(ask, call, jp_root_dir):
    (jp_root_dir / "a.txt").write_bytes(TEXT)
    refused = await call("edit_file", path="a.txt", old_string="one", new_string="1")
    assert (refused.status, refused.error["code"]) == (403, "disabled")
    listed = await ask("GET", "/tools")
    assert {tool["name"] for tool in listed.json["tools"]}.isdisjoint({"edit_file", "write_file", "undo"})


@pytest.mark.parametrize("settings", [{"lock_seconds": 0.1}], indirect=True)
async def test_a_file_that_another_call_holds_is_a_timeout(call, served, jp_root_dir):
    (jp_root_dir / "a.txt").write_bytes(TEXT)
    workspace = served.workspace
    await call("read_file", path="a.txt")
    with workspace.held(workspace.paths.key_of("a.txt")):
        refused = await call("edit_file", path="a.txt", old_string="one", new_string="1")
    assert (refused.status, refused.error["code"]) == (504, "timeout")
    assert (jp_root_dir / "a.txt").read_bytes() == TEXT


async def test_what_goes_wrong_inside_is_logged_and_not_told(call, monkeypatch, caplog):
    def fail(self, path):
        raise RuntimeError("the secret inside")

    monkeypatch.setattr("jupyter_fstools.backends.local_disk.LocalDisk.stat", fail)
    answer = await call("read_file", path="a.txt")
    assert (answer.status, answer.error["code"]) == (500, "io")
    assert b"secret inside" not in answer.body
    assert "the secret inside" in caplog.text


EARLY = {
    "a token that was revoked": ({"headers": {"Authorization": "Bearer fst_gone"}}, 403),
    "a wrong token": ({"headers": {"Authorization": "token wrong"}}, 403),
    "a session that is none": ({"session": "a b"}, 400),
    "an unknown argument of the query": ({"nope": "1"}, 400),
}


@pytest.mark.parametrize("reason", EARLY)
async def test_a_change_that_is_refused_before_its_tool_is_called_says_that_nothing_was_modified(ask, reason):
    given, status = EARLY[reason]
    for tool, says in (("write_file", True), ("execute", True), ("read_file", False)):
        refused = await ask("POST", f"/tools/{tool}", {"path": "a.txt"}, **given)
        assert refused.status == status, refused.body
        assert ("not modified" in refused.error["message"]) == says


async def test_a_body_that_is_refused_before_its_tool_is_known_says_that_nothing_was_modified(ask, jp_auth_header):
    headers = {**jp_auth_header, "Content-Type": "multipart/form-data"}
    refused = await ask("POST", "/tools/write_file", b"--x", headers=headers)
    assert refused.status == 400 and "not modified" in refused.error["message"]


WRONG_SETTINGS = [
    {"store": "nowhere:"},
    {"store": "sqlite:not/absolute"},
    {"root": "/no/such/folder"},
    {"root": "/tmp/a\0b"},
    {"store": "sqlite:/tmp/a\0b"},
    {"protected_files": ["/etc/hosts", "/a\0b"]},
    {"deny_read": [5]},
    {"approval": "sometimes"},
    {"approval": ["*.py", "{a"]},
    {"deny_write": ["[z-a]"]},
    {"protected_files": ["/etc/hosts", "notes.md"]},
    {"tool_prefix": "dé_"},
    {"tool_prefix": 51 * "x"},
    {"store": DeferredConfigList(["postgresql://ada:the-password@db/one", "memory:"])},
]


@pytest.mark.parametrize("settings", WRONG_SETTINGS, indirect=True)
async def test_with_a_wrong_setting_the_server_says_so_and_has_no_tools(ask, caplog, jp_serverapp, settings):
    for refused in (await ask("GET", "/tools"), await ask("POST", "/mcp", b"{}"), await ask("GET", "/nothing")):
        assert (refused.status, refused.error["code"]) == (403, "disabled")
        assert "wrong setting" in refused.error["message"] and "log names" in refused.error["hint"]
    assert "not modified" in (await ask("POST", "/tools/write_file", b"{}")).error["message"]
    assert "not modified" not in (await ask("GET", "/tools")).error["message"]
    assert "setting" not in (await ask("GET", "/tools", headers={})).error["message"]
    assert "jupyter_fstools" not in jp_serverapp.web_app.settings
    assert load(jp_serverapp) is None
    said = caplog.records[-1]
    assert (said.levelname, said.exc_info) == ("CRITICAL", None)
    assert "jupyter_fstools is switched off" in said.getMessage() and "the-password" not in caplog.text
