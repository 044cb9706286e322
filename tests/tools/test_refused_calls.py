"""Refused calls are remembered, and the refusal never suffers from it."""

from __future__ import annotations

import re

import pytest

from jupyter_fstools.errors import FsToolsError, InputOutput, Invalid
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.protocol import MomentFilter
from jupyter_fstools.tools import call_tool


def remembered(call):
    return call.workspace.store.refusals(MomentFilter())


def test_a_refusal_is_remembered_with_who_what_and_why(call):
    (call.root / "sub").mkdir()
    refusal = call.session("me").refused("not_found", "read_file", path="sub/../missing.txt")
    (kept,) = remembered(call)
    assert (kept.user, kept.session, kept.tool, kept.code) == ("ada", "me", "read_file", "not_found")
    assert (kept.path, kept.message) == ("missing.txt", refusal.message)
    assert kept.key == call.workspace.paths.key_of("missing.txt")


def test_a_call_that_succeeds_is_none(call):
    call.put("a.txt", "one\n")
    call("read_file", path="a.txt")
    assert remembered(call) == []


@pytest.mark.parametrize("arguments", [{"file_path": "a.txt"}, {"path": "a.txt", "colour": 1}])
def test_the_path_is_known_whatever_it_was_called(call, arguments):
    with pytest.raises(FsToolsError):
        call_tool(call.workspace, "edit_file", arguments)
    assert remembered(call)[0].path == "a.txt"


@pytest.mark.parametrize("path", ["../a.txt", "/etc/passwd", ".ssh/id", "a\0b", "\ud800", "x" * 5000, 5, "", ".", None])
def test_a_path_that_is_none_or_nobody_s_business_is_not_told(call, path):
    with pytest.raises(FsToolsError):
        call_tool(call.workspace, "read_file", {"path": path})
    (kept,) = remembered(call)
    assert (kept.path, kept.key) == (None, call.workspace.paths.key_of(""))


@pytest.mark.parametrize("path", ["../folder/../a.txt", "/etc/passwd", ".ssh/id", ".ssh/../.ssh/id"])
@pytest.mark.parametrize("more", [{}, {"colour": "red"}])
def test_no_message_names_what_is_nobody_s_business(call, path, more):
    with pytest.raises(FsToolsError):
        call_tool(call.workspace, "read_file", {"path": path, **more})
    (kept,) = remembered(call)
    assert kept.path is None
    assert not {"folder", "passwd", "ssh"} & set(re.findall(r"\w+", kept.message))


def test_a_long_message_is_cut(call):
    with pytest.raises(FsToolsError):
        call_tool(call.workspace, "no_such_tool" * 1000)
    with pytest.raises(FsToolsError):
        call_tool(call.workspace, "read_file", {"path": "x/" * 2000})
    assert all(len(kept.message) <= 500 and len(kept.tool) <= 80 for kept in remembered(call))


def test_arguments_that_cannot_be_had_are_a_refused_call(call):
    def refuse():
        raise InputOutput("the line broke")

    with pytest.raises(InputOutput, match=r"the line broke \(not modified\)"):
        call_tool(call.workspace, "write_file", refuse)
    assert [kept.tool for kept in remembered(call)] == ["write_file"]


class BrokenStore(InMemoryStore):
    def add_refusal(self, refusal):
        raise InputOutput("the disk is gone")


def test_a_store_that_fails_takes_nothing_from_the_refusal(make_call):
    call = make_call(store=BrokenStore())
    assert call.refused("not_found", "read_file", path="missing.txt").hint


@pytest.mark.parametrize("name", [None, 5, []])
def test_a_tool_s_name_that_is_no_string_is_invalid(call, name):
    with pytest.raises(Invalid, match="tool"):
        call_tool(call.workspace, name, path="a.txt")
