"""Schemas in the strict form: the part of JSON Schema that vendors can hold a model's tokens to.

OpenAI (https://platform.openai.com/docs/guides/structured-outputs, supported schemas): no `default`; no property may be
left out of `required`, what is optional may be null instead; at the top an object and no `anyOf`; every object closed.

Anthropic (https://platform.claude.com/docs/en/build-with-claude/structured-outputs, JSON Schema limitations): no bounds
of numbers; every object closed. All strict tools of a request together may have 24 optional properties and 16 that take
more than one type, so what is optional is left out of `required` there, and not null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
