"""The vendors accept the schemas, and the tools accept all arguments that the schemas allow."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from jupyter_fstools import FsToolsError, call_tool, open_workspace, tool_schemas
from jupyter_fstools.errors import Invalid
from jupyter_fstools.tools import TOOLS

OPENAI = {entry["function"]["name"]: entry["function"]["parameters"] for entry in tool_schemas("openai")}
ANTHROPIC = {entry["name"]: entry["input_schema"] for entry in tool_schemas("anthropic")}
MCP = {entry["name"]: entry["inputSchema"] for entry in tool_schemas("mcp")}
# Keywords that the vendors' pages allow, besides enum and description.
KEYWORDS = {
    "object": {"type", "properties", "required", "additionalProperties"},
    "array": {"type", "items"},
    "string": {"type", "enum"},
    "boolean": {"type"},
    "integer": {"type", "minimum"},
    "number": {"type", "exclusiveMinimum"},
}


def nodes(schema):
    """Every schema in a schema, with its plain type."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    yield schema, kinds[0]
    for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from nodes(inner)


def calls(schema):
    """Any arguments that a schema allows."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of(*(values(schema, kind) for kind in kinds))


def values(schema, kind):
    if kind == "object":
        parts = {name: calls(part) for name, part in schema["properties"].items()}
        required = {name: part for name, part in parts.items() if name in schema["required"]}
        return st.fixed_dictionaries(required, optional={name: parts[name] for name in parts if name not in required})
    if kind == "array":
        return st.lists(calls(schema["items"]), max_size=3)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    # Where bounds are given only in words, a model that reads them keeps them.
    least = 1 if "at least 1" in schema["description"] else schema.get("minimum", 0)
    scalars = {
        "string": st.text(),
        "boolean": st.booleans(),
        "null": st.none(),
        "integer": st.integers(least),
        "number": st.floats(0.1, 1e9),
    }
    return scalars[kind]


@pytest.mark.parametrize("form", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])
@pytest.mark.parametrize("name", TOOLS)
def test_a_strict_schema_holds_to_what_the_vendors_take(form, name):
    jsonschema.Draft202012Validator.check_schema(form[name])
    assert form[name]["type"] == "object"
    for schema, kind in nodes(form[name]):
        assert set(schema) - {"description"} <= KEYWORDS[kind]
        if kind == "object":
            assert schema["additionalProperties"] is False
            assert set(schema["required"]) <= set(schema["properties"])


@pytest.mark.parametrize("name", TOOLS)
def test_for_openai_everything_is_required_and_what_is_optional_may_be_null(name):
    for schema, kind in nodes(OPENAI[name]):
        if kind == "object":
            assert schema["required"] == list(schema["properties"])
        if "enum" in schema:
            assert (None in schema["enum"]) == isinstance(schema["type"], list)
    optional = {name for name, field in TOOLS[name].arguments.model_fields.items() if not field.is_required()}
    listed = {"edits"} & set(OPENAI[name]["properties"])
    for argument, schema in OPENAI[name]["properties"].items():
        assert ("null" in schema["type"]) == (argument in optional - listed)


@pytest.mark.parametrize("name", TOOLS)
def test_for_anthropic_nothing_has_two_types_or_bounds(name):
    for schema, _ in nodes(ANTHROPIC[name]):
        assert isinstance(schema["type"], str)
        assert not {"minimum", "exclusiveMinimum"} & set(schema)


def test_for_anthropic_each_tool_that_edits_text_could_be_strict_beside_the_others():
    """The strict tools of one request may have 24 optional properties together."""
    chosen = [ANTHROPIC[name] for name in ("list_files", "glob", "write_file", "edit_file", "undo")]
    objects = [schema for tool in chosen for schema, kind in nodes(tool) if kind == "object"]
    assert sum(len(one["properties"]) - len(one["required"]) for one in objects) <= 24


@pytest.mark.parametrize("form", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])
@pytest.mark.parametrize("name", TOOLS)
@settings(max_examples=30)
@given(data=st.data())
def test_what_a_strict_schema_lets_through_is_a_call(form, name, data):
    arguments = data.draw(calls(form[name]))
    jsonschema.Draft202012Validator(form[name]).validate(arguments)
    try:
        TOOLS[name].arguments.model_validate(json.loads(json.dumps(arguments)))
    except ValidationError as error:
        # Rules that no vendor's schema can express: the pages of a document, and which arguments go together.
        rules = {"read_file": ("pages",), "read_notebook": (), "undo": ()}
        assert {one["loc"] for one in error.errors()} == {rules[name]}


@pytest.mark.parametrize("form", ["mcp", "openai", "anthropic"])
def test_every_argument_is_described_and_no_name_or_description_is_too_long(form):
    for entry in tool_schemas(form):
        told = entry.get("function", entry)
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", told["name"])
        assert 0 < len(told["description"]) <= 1024
        assert "$ref" not in json.dumps(entry)
    for schema, kind in nodes(OPENAI["edit_notebook"]):
        assert kind == "object" or schema["description"]


def test_each_format_has_the_shape_of_its_protocol():
    openai, anthropic, mcp = (tool_schemas(form)[0] for form in ("openai", "anthropic", "mcp"))
    assert set(openai) == {"type", "function"}
    assert openai["type"] == "function"
    assert set(openai["function"]) == {"name", "description", "parameters", "strict"}
    assert openai["function"]["strict"] is True
    assert set(anthropic) == {"name", "description", "input_schema"}
    assert set(mcp) == {"name", "title", "description", "inputSchema", "annotations"}


def test_of_two_forms_a_call_may_have_one_is_described():
    assert OPENAI["edit_file"]["required"][:2] == ["path", "edits"]
    assert "old_string" not in OPENAI["edit_file"]["properties"]
    assert "old_string" not in MCP["edit_file"]["properties"]


def test_the_tools_of_a_workspace_carry_its_prefix(tmp_path):
    files = open_workspace(tmp_path, store="memory:", read_only=True, tool_prefix="fs_")
    assert [entry["function"]["name"] for entry in tool_schemas("openai", files)][:2] == ["fs_list_files", "fs_glob"]
    assert "fs_write_file" not in {entry["name"] for entry in tool_schemas("mcp", files)}


def test_a_refusal_names_tools_as_the_call_did(tmp_path):
    files = open_workspace(tmp_path, store="memory:", tool_prefix="fs_")
    for prefix in ("fs_", ""):
        with pytest.raises(FsToolsError) as refused:
            call_tool(files, f"{prefix}list_files", path="missing")
        assert f"with `{prefix}list_files`" in refused.value.hint
        assert f"with `{prefix}glob`" in refused.value.hint


def test_another_format_is_refused():
    with pytest.raises(Invalid, match="format: takes mcp, openai or anthropic"):
        tool_schemas("gemini")
