"""Builds tool schemas for MCP, OpenAI and Anthropic."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from ..errors import Invalid
from . import TOOLS
from .tool import Tool

Schema = dict[str, Any]

_KEPT = ("type", "enum", "items")
_BOUNDS = {"minimum": "at least {}", "exclusiveMinimum": "more than {}"}


_TOOL = re.compile(rf"\b(?:{'|'.join(TOOLS)})\b")
_MARKED_TOOL = re.compile(f"(?<=`){_TOOL.pattern}(?=`)")


def described(tool: Tool, prefix: str) -> str:
    """A tool's description, in which the other tools have the prefix of their names."""
    return _TOOL.sub(rf"{prefix}\g<0>", tool.description)


def prefixed_hint(hint: str, prefix: str) -> str:
    """A hint in which the tools it names have the prefix of their names; from its second line on it quotes a file."""
    said, line_break, shown = hint.partition("\n")
    return _MARKED_TOOL.sub(rf"{prefix}\g<0>", said) + line_break + shown


def strict_schema(schema: Schema, *, nullable: bool) -> Schema:
    """The strict form of an object's schema, which accepts the arguments that the schema means.

    Args:
        schema: an object's, with its references resolved.
        nullable: optional fields may be null (as for OpenAI); otherwise they may be left out (as for Anthropic).
    """
    required = list(schema.get("required", []))
    strict = {
        name: _value(part, nullable=nullable, optional=name not in required)
        for name, part in schema["properties"].items()
        if "additionalProperties" not in part  # A strict schema must list all names.
    }
    return {
        "type": "object",
        "properties": strict,
        "required": list(strict) if nullable else required,
        "additionalProperties": False,
    }


def _value(part: Schema, *, nullable: bool, optional: bool) -> Schema:
    value = {key: part[key] for key in _KEPT if key in part}
    notes = [] if part.get("default") is None else [f"default {json.dumps(part['default'])}"]
    for bound, words in _BOUNDS.items():
        if bound in part and nullable:
            value[bound] = part[bound]
        elif part.get(bound):
            notes.append(words.format(part[bound]))
    if "properties" in value.get("items", {}):
        value["items"] = strict_schema(value["items"], nullable=nullable)
    if optional and nullable:
        value["type"] = [value["type"], "null"]
        value |= {"enum": [*value["enum"], None]} if "enum" in value else {}
    described = part.get("description", "")
    return value | {"description": f"{described} ({', '.join(notes)})" if notes else described}


def as_schema(name: str, tool: Tool, format: str) -> dict[str, Any]:
    """One tool as an entry of a tool list.

    Raises:
        Invalid: another format than "mcp", "openai" or "anthropic".
    """
    schema, description = argument_schema(tool), described(tool, name.removesuffix(tool.name))
    if format == "mcp":
        annotations = {"readOnlyHint": tool.reads_only, "openWorldHint": False}
        if not tool.reads_only:
            annotations |= {"destructiveHint": tool.destructive, "idempotentHint": tool.idempotent}
        return {
            "name": name,
            "title": tool.title,
            "description": description,
            "inputSchema": _brief(schema),
            "annotations": annotations,
        }
    if format == "openai":
        parameters = strict_schema(schema, nullable=True)
        function = {"name": name, "description": description, "parameters": parameters, "strict": True}
        return {"type": "function", "function": function}
    if format == "anthropic":
        # The caller adds `strict` to the tools of their choice: all tools together have more optional arguments than a
        # request may have.
        return {
            "name": name,
            "description": description,
            "input_schema": strict_schema(schema, nullable=False),
        }
    raise Invalid(
        f"format: takes mcp, openai or anthropic, got {format!r:.40}", hint="Use one of them.", field="format"
    )


def _brief(schema: Schema) -> Schema:
    """The parts of an object's schema that a model needs; a call is checked by the full one."""
    told: Schema = {
        key: value
        for key, value in schema.items()
        if key not in _BOUNDS and not (key in ("default", "additionalProperties") and not value)
    }
    if "properties" in told:
        told["properties"] = {name: _brief(part) for name, part in told["properties"].items()}
    if "properties" in told.get("items", {}):
        items = _brief(told["items"])
        told["items"] = {key: value for key, value in items.items() if key != "description"}
    return told


@cache
def argument_schema(tool: Tool) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, by their own names; only one form where a call takes several.

    It is cached: callers must not change it.
    """
    schema = tool.arguments.model_json_schema(by_alias=False)
    definitions = schema.pop("$defs", {})
    schema.pop("description", None)
    plain = _plain(schema, definitions)
    assert isinstance(plain, dict)
    properties = plain["properties"]
    for name, part in properties.items():
        # Fields of a list's objects that are also beside the list are for a single object.
        repeated = set(part.get("items", {}).get("properties", {})) & set(properties) - {"path"}
        if repeated:
            kept = {one: told for one, told in properties.items() if one not in repeated}
            return plain | {"properties": kept, "required": [*plain.get("required", []), name]}
    return plain


@cache
def answer_schema(tool: Tool) -> dict[str, Any]:
    """The JSON Schema of a tool's `data`; definitions are in `$defs`."""
    schema: dict[str, Any] = TypeAdapter(tool.answer()).json_schema()
    return schema


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        # References are resolved, as not every client follows them; none is recursive.
        return _plain(definitions[node["$ref"].rpartition("/")[2]], definitions)
    forms = [form for form in node.get("anyOf", []) if form != {"type": "null"}]
    if len(forms) == 1:  # Null counts as left out, but nobody needs to send it.
        node = {**forms[0], **{key: value for key, value in node.items() if key not in ("anyOf", "default")}}
        return _plain(node, definitions)
    kept = {key: _plain(value, definitions) for key, value in node.items() if key not in ("title", "properties")}
    if "properties" in node:
        # A property may itself be called "title".
        kept["properties"] = {name: _plain(value, definitions) for name, value in node["properties"].items()}
    return kept
