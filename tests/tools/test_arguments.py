import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.tools import TOOLS, call_tool
from jupyter_fstools.tools.arguments import OTHER_NAMES

HUGE = 10**5000
"""More digits than Python spells."""


def repr_of(value):
    return type(value).__name__ if value in (HUGE, -HUGE) else repr(value)[:20]


@pytest.fixture
def abc(call):
    call.put("abc", "a\nb\nc\nd\ne\nf\n")
    return call


@pytest.mark.parametrize("given", [5, "5", " 5 ", "+5", 5.0, "005"])
def test_a_whole_number_may_be_spelled_in_many_ways(abc, given):
    """R11"""
    assert abc("read_file", path="abc", offset=given).data["start_line"] == 5


@pytest.mark.parametrize("field", ["offset", "limit", "column", "max_output_bytes", "max_line_length"])
@pytest.mark.parametrize(
    "given",
    [
        *("5.5", 5.5, "abc", "", "0x5", "5e0", "1_0", "--5", "5 5", math.nan, "NaN", math.inf, True, "true", [5], {}),
        *(-1, "-1", -HUGE, "9" * 5000, "-" + "9" * 5000),
    ],
    ids=repr_of,
)
def test_what_is_no_whole_number_is_invalid(abc, field, given):
    """R11: names the field, what it takes and what it got."""
    refusal = abc.refused("invalid", "read_file", path="abc", **{field: given})
    assert refusal.details["field"] == field and field in refusal.message and len(refusal.message) < 300
    assert refusal.hint and json.dumps(refusal.as_dict())


@pytest.mark.parametrize("field", ["column", "max_output_bytes", "max_line_length"])
def test_what_counts_from_one_takes_no_zero(abc, field):
    assert abc.refused("invalid", "read_file", path="abc", **{field: 0}).details["field"] == field


@pytest.mark.parametrize(("given", "numbers"), [("false", False), (" False ", False), ("TRUE", True), (True, True)])
def test_a_flag_may_be_a_string(abc, given, numbers):
    """R11"""
    assert ("1\ta" in abc("read_file", path="abc", line_numbers=given).text) == numbers


@pytest.mark.parametrize("given", [1, 0, "yes", "", "1", [], HUGE, math.nan, "t" * 10_000], ids=repr_of)
def test_what_is_no_flag_is_invalid(abc, given):
    refusal = abc.refused("invalid", "read_file", path="abc", force=given)
    assert refusal.details["field"] == "force" and len(refusal.message) < 300


def test_null_is_what_was_left_out(abc):
    """W9: but nothing stands for what is required"""
    assert "1\ta" in abc("read_file", path="abc", offset=None, limit=None, force=None, encoding=None).text
    assert abc("list_files", path=None).data["path"] == "."
    assert abc.refused("invalid", "read_file", path=None).details["field"] == "path"
    assert abc.refused("invalid", "write_file", path="new", content=None).details["field"] == "content"


@pytest.mark.parametrize("given", [5, 5.5, True, ["abc"], {"path": "abc"}, b"abc"])
@pytest.mark.parametrize("tool", ["read_file", "list_files"])
def test_a_path_is_a_string(abc, tool, given):
    """P16"""
    assert abc.refused("invalid", tool, path=given).details["field"] == "path"


@pytest.mark.parametrize("tool", ["read_file", "list_files"])
@pytest.mark.parametrize("path", ["", "   ", "a\0b", "\ud83d", "a/\ud83d\ude00", "x" * 5000, "x/" * 3000, "x" * 256])
def test_a_path_that_no_file_can_have_is_refused(abc, tool, path):
    """X10, P9, P15, P17, G14: without a trace of the system's own words."""
    refusal = abc.refused("invalid", tool, path=path)
    assert "Errno" not in str(refusal) and json.dumps(refusal.as_dict())


@pytest.mark.parametrize("alias", ["file_path", "filePath", "notebook_path"])
def test_other_tools_names_are_known(abc, alias):
    assert abc("read_file", **{alias: "abc"}).data["path"] == "abc"
    refusal = abc.refused("invalid", "read_file", **{alias: "abc", "path": "abc"})
    assert "twice" in refusal.message


def test_a_name_that_means_nothing_here_is_refused(abc):
    for name in ("replace_all", "old_str", "Path", "paths", "a" * 5000, "\ud800", ""):
        refusal = abc.refused("invalid", "read_file", path="abc", **{name: "x"})
        assert name[:40] in refusal.message or name == "\ud800"
        assert len(refusal.message) < 200 and json.dumps(refusal.as_dict())


def test_a_missing_path_is_named(abc):
    assert "path: is required" in abc.refused("invalid", "read_file").message


def test_several_wrong_arguments_are_named_together(abc):
    refusal = abc.refused("invalid", "read_file", offset="x", limit="y", encoding=5)
    assert set(refusal.details["fields"]) == {"path", "offset", "limit", "encoding"}


def test_keys_that_are_no_strings_are_invalid(abc):
    for key in (1, None, ("path",), b"path"):
        with pytest.raises(FsToolsError) as caught:
            call_tool(abc.workspace, "read_file", {"path": "abc", key: 1})
        assert caught.value.code == "invalid"


def test_deeply_nested_values_are_invalid(abc):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    for name in ("path", "offset", "force", "other"):
        assert abc.refused("invalid", "read_file", **{"path": "abc", name: nested})


def test_a_listing_takes_its_numbers_in_the_same_way(abc):
    """G23"""
    abc.put("b", "x")
    assert [entry["name"] for entry in abc("list_files", limit="1", offset=" 1 ").data["entries"]] == ["b"]
    assert abc("list_files", limit=2**70, offset=0.0, recursive="false").data["total"] == 2
    for wrong in ({"limit": 0}, {"limit": -1}, {"offset": "x"}, {"recursive": 1}, {"offset": math.nan}):
        abc.refused("invalid", "list_files", **wrong)


def test_every_other_name_means_an_argument_of_some_tool():
    known = {name for tool in TOOLS.values() for name in tool.arguments.model_fields}
    edits = {"old_string", "new_string", "replace_all"}
    assert set(OTHER_NAMES.values()) <= known | edits and not set(OTHER_NAMES) & known


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=5)
values = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["read_file", "list_files"]), st.data())
def test_whatever_is_given_is_answered_or_refused(abc, tool, data):
    fields = [*TOOLS[tool].arguments.model_fields, "file_path", "other"]
    arguments = data.draw(st.dictionaries(st.sampled_from(fields), values, max_size=4))
    try:
        call_tool(abc.workspace, tool, arguments if "file_path" in arguments else {"path": "abc", **arguments})
    except FsToolsError as refusal:
        json.dumps(refusal.as_dict())
