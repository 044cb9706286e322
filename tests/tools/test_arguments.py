import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_fstools.errors import FsToolsError, Invalid
from jupyter_fstools.tools import TOOLS, call_tool
from jupyter_fstools.tools.arguments import OTHER_NAMES
from tests.documents.notebook.samples import code, jupyterlab, notebook

HUGE = 10**5000
"""More digits than Python converts."""


def repr_of(value):
    return type(value).__name__ if value in (HUGE, -HUGE) else repr(value)[:20]


@pytest.fixture
def abc(call):
    call.put("abc", "a\nb\nc\nd\ne\nf\n")
    return call


@pytest.mark.parametrize("given", [5, "5", " 5 ", "+5", 5.0, "005"])
def test_a_whole_number_may_be_spelled_in_many_ways(abc, given):
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
    """Names the field, what it takes and what it got."""
    refusal = abc.refused("invalid", "read_file", path="abc", **{field: given})
    assert refusal.details["field"] == field and field in refusal.message and len(refusal.message) < 300
    assert refusal.hint and json.dumps(refusal.as_dict())


@pytest.mark.parametrize("field", ["column", "max_output_bytes", "max_line_length"])
def test_what_counts_from_one_takes_no_zero(abc, field):
    assert abc.refused("invalid", "read_file", path="abc", **{field: 0}).details["field"] == field


@pytest.mark.parametrize(("given", "numbers"), [("false", False), (" False ", False), ("TRUE", True), (True, True)])
def test_a_flag_may_be_a_string(abc, given, numbers):
    assert ("1\ta" in abc("read_file", path="abc", line_numbers=given).text) == numbers


@pytest.mark.parametrize("given", [1, 0, "yes", "", "1", [], HUGE, math.nan, "t" * 10_000], ids=repr_of)
def test_what_is_no_flag_is_invalid(abc, given):
    refusal = abc.refused("invalid", "read_file", path="abc", force=given)
    assert refusal.details["field"] == "force" and len(refusal.message) < 300


def test_null_is_what_was_left_out(abc):
    """An argument that is required cannot be left out"""
    assert "1\ta" in abc("read_file", path="abc", offset=None, limit=None, force=None, encoding=None).text
    assert abc("list_files", path=None).data["path"] == "."
    assert abc.refused("invalid", "read_file", path=None).details["field"] == "path"
    assert abc.refused("invalid", "write_file", path="new", content=None).details["field"] == "content"


@pytest.mark.parametrize("given", [5, 5.5, True, ["abc"], {"path": "abc"}, b"abc"])
@pytest.mark.parametrize("tool", ["read_file", "list_files"])
def test_a_path_is_a_string(abc, tool, given):
    assert abc.refused("invalid", tool, path=given).details["field"] == "path"


@pytest.mark.parametrize("tool", ["read_file", "list_files"])
@pytest.mark.parametrize("path", ["", "   ", "a\0b", "\ud83d", "a/\ud83d\ude00", "x" * 5000, "x/" * 3000, "x" * 256])
def test_a_path_that_no_file_can_have_is_refused(abc, tool, path):
    """Without a trace of the system's own words."""
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


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("read_file", {"file": "abc"}),
        ("read_file", {"target_file": "abc"}),
        ("read_file", {"absolute_path": "abc"}),
        ("list_files", {"target_directory": "."}),
        ("list_files", {"dir_path": "."}),
        ("glob", {"glob_pattern": "a*", "target_directory": "."}),
        ("glob", {"filePattern": "a*"}),
        ("grep", {"query": "b", "includePattern": "a*"}),
        ("grep", {"pattern": "b", "-n": True, "-i": True, "head_limit": 5, "output_mode": "files_with_matches"}),
        ("write_file", {"filePath": "new", "contents": "x"}),
        ("edit_file", {"filePath": "abc", "oldString": "b", "newString": "x", "replaceAll": False}),
        ("edit_file", {"file_path": "abc", "old_str": "b", "new_str": "x"}),
        ("edit_file", {"path": "abc", "edits": [{"oldText": "b", "newText": "x"}]}),
        ("edit_file", {"path": "abc", "edits": {"old": "b", "new": "x"}}),
        ("edit_file", {"path": "abc", "edits": '{"search": "b", "replace": "x"}'}),
        ("edit_file", {"path": "abc", "edits": [{"find": "b", "replacement": "x"}], "replace_all": False}),
        ("edit_file", {"path": "abc", "edits": [{"old": "b", "new": "x"}], "old_string": "", "new_string": ""}),
        ("edit_file", {"path": "abc", "edits": [], "old_string": "b", "new_string": "x"}),
        ("write_file", {"path": "new", "text": "x"}),
        ("edit_file", {"path": "abc", "replacements": [{"old_text": "b", "new_text": "x", "allow_multiple": True}]}),
    ],
    ids=str,
)
def test_calls_as_other_assistants_tools_take_them_do_the_same_here(abc, tool, given):
    if tool == "edit_file":
        abc("read_file", path="abc")
    assert abc(tool, **given).tool == tool


@pytest.mark.parametrize(
    "given",
    [
        {"cell_index": 0, "cell_source": "x = 2"},
        {"id": "a", "content": "x = 2"},
        {"cell_id": "a", "old_string": "x = 1", "new_string": "x = 2"},
        {"edits": {"cell_id": "a", "old_string": "x = 1", "new_string": "x = 2"}},
        {"edits": [{"cell_id": "a", "source": "x = 2"}], "edit_mode": "replace", "cell_id": "", "replace_all": False},
        {"edits": [], "index": 0, "new_source": "x = 2"},
    ],
    ids=str,
)
def test_calls_as_other_assistants_tools_take_them_edit_a_cell_here(call, given):
    call.put("book.ipynb", jupyterlab(notebook(code("x = 1", id="a"))))
    call("read_notebook", path="book.ipynb")
    call("edit_notebook", notebook_path="book.ipynb", **given)
    assert '"x = 2"' in call.got("book.ipynb").decode()


def test_a_value_beside_a_list_of_edits_is_refused_even_where_it_is_nought(call):
    call.put("book.ipynb", jupyterlab(notebook(code("x = 1", id="a"))))
    call("read_notebook", path="book.ipynb")
    given = {"path": "book.ipynb", "edits": [{"cell_id": "a", "source": "x"}], "index": 0}
    assert "(index)" in call.refused("invalid", "edit_notebook", **given).message


@pytest.mark.parametrize(
    ("tool", "given", "message", "hint"),
    [
        ("read_file", {"path": "abc", "Limit": 5}, "Limit: unknown argument (did you mean limit?)", "path, and opt"),
        ("read_file", {"path": "abc", "end_line": 5}, "end_line: unknown argument", "optionally offset, limit, "),
        ("grep", {"pattern": "b", "caseSensitive": False}, "(did you mean case_insensitive?)", "It takes pattern, and"),
        ("write_file", {"path": "abc"}, "content: is required", "It takes path, content, and optionally create_only"),
        (
            "edit_file",
            {"path": "abc", "edits": [{"old_string": "b", "newstring": "x"}]},
            "edits.0.newstring: unknown argument (did you mean new_string?)",
            "edits.0 takes old_string, new_string, and optionally path, replace_all.",
        ),
    ],
)
def test_a_wrong_call_is_answered_with_what_the_right_one_takes(abc, tool, given, message, hint):
    refusal = abc.refused("invalid", tool, **given)
    assert message in refusal.message
    assert hint in refusal.hint
    assert refusal.hint.endswith("Correct the arguments and call again.")


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
    abc.put("b", "x")
    assert [entry["name"] for entry in abc("list_files", limit="1", offset=" 1 ").data["entries"]] == ["b"]
    assert abc("list_files", limit=2**70, offset=0.0, recursive="false").data["total"] == 2
    for wrong in ({"limit": -1}, {"offset": "x"}, {"recursive": 1}, {"offset": math.nan}):
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


def test_a_multitude_of_unknown_names_is_refused_without_naming_them(call):
    with pytest.raises(Invalid, match="arguments at most, got 500000"):
        call_tool(call.workspace, "read_file", {f"name{number}": 1 for number in range(500_000)})


def test_a_list_may_come_as_json_in_a_string(abc):
    abc("read_file", path="abc")
    abc("edit_file", path="abc", edits=json.dumps([{"old_string": "b", "new_string": '["B"]'}]))
    assert abc.got("abc") == b'a\n["B"]\nc\nd\ne\nf\n'


TAKEN = [
    ("read_file", {"path": "a", "offset": -1}, "offset: takes 0 or more, got -1"),
    ("grep", {"pattern": "a", "output_mode": "{}"}, "output_mode: takes 'content', 'files' or 'count', got '{}'"),
]


@pytest.mark.parametrize(("tool", "arguments", "said"), TAKEN, ids=["bound", "choice"])
def test_a_bound_and_a_choice_are_said_as_all_else_is(call, tool, arguments, said):
    with pytest.raises(Invalid) as refused:
        call_tool(call.workspace, tool, arguments)
    assert refused.value.message == said


NO_LISTS = [("x", "edits: takes a list"), ("[{", "edits: takes a list"), ("[" * 100_000, "edits: takes a list")]


@pytest.mark.parametrize(("edits", "said"), [*NO_LISTS, ([1], r"edits\.0: takes an object")], ids=range(4))
def test_what_is_no_list_or_object_is_said_in_plain_words(call, edits, said):
    with pytest.raises(Invalid, match=said):
        call_tool(call.workspace, "edit_file", {"path": "a.txt", "edits": edits})


BESIDE_OTHERS = [
    ("edit_file", {"old_string": "a"}, "new_string: is required (or a list of edits)"),
    ("edit_file", {"new_string": "a"}, "old_string: is required (or a list of edits)"),
    ("edit_file", {"edits": [{"old": "a", "new": "b"}], "old": "a", "new": "b"}, "edits: give either edits or"),
    ("edit_file", {"edits": [{"old": "a", "search": "a", "new": "b"}]}, "edits.0.old_string: is given twice, once as"),
    ("edit_notebook", {"edits": [{"cell_id": "a"}], "cell_id": "a"}, "edits: give either edits or"),
    ("edit_notebook", {}, "edits: give edits, or"),
    ("read_notebook", {"source_offset": 2}, "source_offset: is about one cell"),
    ("read_notebook", {"output_index": 0}, "output_index: is about one cell"),
    ("read_notebook", {"index": 0, "output_index": 0, "source_column": 2}, "source_column: is about the cell's source"),
    ("read_notebook", {"cell_id": "a", "limit": 2}, "limit: give either a cell"),
    ("read_notebook", {"cell_id": "a", "mime_type": "text/html"}, "mime_type: is about one output"),
    ("undo", {"change_id": "a"}, "change_id: give either"),
    ("read_file", {"file_path": "b"}, "path: is given twice, once as file_path"),
]


@pytest.mark.parametrize(("tool", "arguments", "said"), BESIDE_OTHERS)
def test_an_argument_that_is_wrong_beside_the_others_is_named(call, tool, arguments, said):
    with pytest.raises(Invalid) as refused:
        call_tool(call.workspace, tool, {"path": "a.ipynb", **arguments})
    assert refused.value.message.startswith(said)
    assert refused.value.details["field"] == said.partition(":")[0]
