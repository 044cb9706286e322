"""The tools' schemas in the forms that MCP, OpenAI and Anthropic take."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..errors import Invalid
from .strict_schemas import strict_schema
from .tool import Tool


def as_schema(name: str, tool: Tool, format: str) -> dict[str, Any]:
    """One tool as an entry of a tool list.

    Raises:
        Invalid: another format than "mcp", "openai" or "anthropic".
    """
    schema = argument_schema(tool)
    if format == "mcp":
        annotations = {
            "title": tool.title,
            "readOnlyHint": tool.reads_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        }
        return {
            "name": name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": schema,
            "annotations": annotations,
        }
    if format == "openai":
        parameters = strict_schema(schema, nullable=True)
        function = {"name": name, "description": tool.description, "parameters": parameters, "strict": True}
        return {"type": "function", "function": function}
    if format == "anthropic":
        # `strict` is for the caller to add to the tools of their choice: all of them have more optional arguments than
        # a request may have.
        return {
            "name": name,
            "description": tool.description,
            "input_schema": strict_schema(schema, nullable=False),
        }
    raise Invalid(
        f"format: takes mcp, openai or anthropic, got {format!r:.40}", hint="Use one of them.", field="format"
    )


@cache
def argument_schema(tool: Tool) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, by the names we say, without pydantic's titles and references.

    It is made once: what is given is not to be changed.
    """
    schema = tool.arguments.model_json_schema(by_alias=False)
    definitions = schema.pop("$defs", {})
    schema.pop("description", None)
    plain = _plain(schema, definitions)
    assert isinstance(plain, dict)
    return plain


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        # Not every client follows references; nothing here refers to itself.
        return _plain(definitions[node["$ref"].rpartition("/")[2]], definitions)
    kept = {key: _plain(value, definitions) for key, value in node.items() if key not in ("title", "properties")}
    if "properties" in node:
        # A property may itself be called "title".
        kept["properties"] = {name: _plain(value, definitions) for name, value in node["properties"].items()}
    return kept
