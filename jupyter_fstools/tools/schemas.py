"""The tools' schemas in the forms that MCP, OpenAI and Anthropic take."""

from __future__ import annotations

from typing import Any

from ..errors import Invalid
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
        return {
            "type": "function",
            "function": {"name": name, "description": tool.description, "parameters": schema},
        }
    if format == "anthropic":
        return {"name": name, "description": tool.description, "input_schema": schema}
    raise Invalid(
        f"format: takes mcp, openai or anthropic, got {format!r:.40}", hint="Use one of them.", field="format"
    )


def argument_schema(tool: Tool) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, by the names we say, without pydantic's titles."""
    schema = _without_titles(tool.arguments.model_json_schema(by_alias=False))
    assert isinstance(schema, dict)
    return schema


def _without_titles(node: Any) -> Any:
    if isinstance(node, dict):
        properties = node.get("properties")
        kept = {key: _without_titles(value) for key, value in node.items() if key not in ("title", "properties")}
        if isinstance(properties, dict):
            # A property may itself be called "title".
            kept["properties"] = {name: _without_titles(value) for name, value in properties.items()}
        return kept
    return [_without_titles(one) for one in node] if isinstance(node, list) else node
