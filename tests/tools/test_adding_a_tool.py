"""The recipe in CONTRIBUTING holds: a tool is one object in one table, and every surface has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from docs import generated
from jupyter_fstools import tool_schemas
from jupyter_fstools.server.mcp.methods import listed
from jupyter_fstools.server.rest.openapi import document
from jupyter_fstools.server.routes import ROUTES
from jupyter_fstools.tools import TOOLS
from jupyter_fstools.tools.arguments import Arguments
from jupyter_fstools.tools.schemas import answer_schema
from jupyter_fstools.tools.tool import Tool, ToolResult, text_block


class CountArguments(Arguments):
    """Arguments of count_bytes."""

    path: Annotated[str, Field(description="The file.")]


class CountAnswer(BaseModel):
    """Answer of count_bytes."""

    bytes: int


def count_bytes(workspace, given):
    size = workspace.peek(given.path).size
    return ToolResult(tool="count_bytes", content=[text_block(str(size))], data={"bytes": size})


@pytest.fixture
def added(monkeypatch):
    """The table with one tool more."""
    tool = Tool("count_bytes", "Count bytes", "Count a file's bytes.", CountArguments, count_bytes, reads_only=True)
    monkeypatch.setitem(TOOLS, tool.name, tool)
    return tool


def test_a_tool_in_the_table_is_called_with_checked_arguments(added, call):
    call.put("a.txt", "12345")
    assert call("count_bytes", path="a.txt").data == {"bytes": 5}
    assert call.refused("invalid", "count_bytes").details["field"] == "path"


@pytest.mark.parametrize("form", ["mcp", "openai", "anthropic"])
def test_a_tool_in_the_table_is_in_every_form_of_the_schemas(added, form):
    assert any("count_bytes" in str(schema) for schema in tool_schemas(form))


def test_a_tool_in_the_table_has_an_output_schema_where_answers_are_structured(added, call):
    call.workspace.rules = replace(call.workspace.rules, structured_content=True)
    (told,) = (one for one in listed(call.workspace) if one["name"] == "count_bytes")
    assert told["outputSchema"]["anyOf"][0] == {"additionalProperties": True, "type": "object"}


def test_a_tool_that_names_the_form_of_its_answer_has_it_in_every_schema(monkeypatch, call):
    tool = Tool("b", "B", "Count.", CountArguments, count_bytes, reads_only=True, answer=lambda: CountAnswer)
    monkeypatch.setitem(TOOLS, tool.name, tool)
    assert answer_schema(tool)["properties"] == {"bytes": {"title": "Bytes", "type": "integer"}}
    assert "CountAnswer" in str(document(ROUTES, call.workspace, "/api/fstools"))


def test_a_tool_in_the_table_is_in_the_openapi_document_and_in_the_documentation(added, call):
    assert "/tools/count_bytes" in document(ROUTES, call.workspace, "/api/fstools")["paths"]
    assert "### `count_bytes`" in generated.tools()
