"""The recipe in CONTRIBUTING holds: a tool is one object in one table, and every surface has it."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field

from docs import generated
from jupyter_fstools import tool_schemas
from jupyter_fstools.server.rest.openapi import document
from jupyter_fstools.server.routes import ROUTES
from jupyter_fstools.tools import TOOLS
from jupyter_fstools.tools.arguments import Arguments
from jupyter_fstools.tools.tool import Tool, ToolResult, text_block


class CountArguments(Arguments):
    """What count_bytes takes."""

    path: Annotated[str, Field(description="The file.")]


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


def test_a_tool_in_the_table_is_in_the_openapi_document_and_in_the_documentation(added, call):
    assert "/tools/count_bytes" in document(ROUTES, call.workspace, "/api/fstools")["paths"]
    assert "### `count_bytes`" in generated.tools()
