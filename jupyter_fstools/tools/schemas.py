"""Builds tool schemas for MCP, OpenAI and Anthropic."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..errors import Invalid
from .tool import Tool

Schema = dict[str, Any]

_KEPT = ("type", "enum", "items")
_BOUNDS = {"minimum": "at least {}", "exclusiveMinimum": "more than {}"}


def strict_schema(schema: Schema, *, nullable: bool) -> Schema:
    """The strict form of an object's schema; what it lets through is what the schema means.

    Args:
        schema: an object's, references put in place.
        nullable: what is optional may be null (as OpenAI has it); else it may be left out (as Anthropic has it).
    """
    required = list(schema.get("required", []))
    properties = schema["properties"]
    for name, repeated in _repeated(properties).items():
        required.append(name)
        properties = {one: part for one, part in properties.items() if one not in repeated}
    strict = {
        name: _value(part, nullable=nullable, optional=name not in required)
        for name, part in properties.items()
        if "additionalProperties" not in part  # Names that nobody knows beforehand cannot be held to.
    }
    return {
        "type": "object",
        "properties": strict,
        "required": list(strict) if nullable else required,
        "additionalProperties": False,
    }


def _repeated(properties: Mapping[str, Schema]) -> dict[str, set[str]]:
    """Lists of objects whose properties stand beside the list too, for a single one: one form is enough, the list."""
    lists = {name: _unwrapped(part).get("items", {}).get("properties", {}) for name, part in properties.items()}
    return {name: repeated for name, items in lists.items() if (repeated := set(items) & set(properties))}


def _value(part: Schema, *, nullable: bool, optional: bool) -> Schema:
    plain = _unwrapped(part)
    value = {key: plain[key] for key in _KEPT if key in plain}
    notes = [] if part.get("default") is None else [f"default {json.dumps(part['default'])}"]
    for bound, words in _BOUNDS.items():
        if bound in plain and nullable:
            value[bound] = plain[bound]
        elif plain.get(bound):
            notes.append(words.format(plain[bound]))
    if "properties" in value.get("items", {}):
        value["items"] = strict_schema(value["items"], nullable=nullable)
    if optional and nullable:
        value["type"] = [value["type"], "null"]
        value |= {"enum": [*value["enum"], None]} if "enum" in value else {}
    described = plain.get("description", "")
    return value | {"description": f"{described} ({', '.join(notes)})" if notes else described}


def _unwrapped(part: Schema) -> Schema:
    """What a property takes besides null."""
    forms = [form for form in part.get("anyOf", []) if form != {"type": "null"}]
    return {**forms[0], **part} if forms else part


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
