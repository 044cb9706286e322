"""Joins the lists of lines in a notebook's outputs."""

from __future__ import annotations

from typing import Any


def plain_output(output: dict[str, Any]) -> dict[str, Any]:
    """An output with its lists of lines as texts."""
    plain = dict(output)
    if "text" in plain:
        plain["text"] = joined(plain["text"])
    if isinstance(plain.get("data"), dict):
        plain["data"] = plain_bundle(plain["data"])
    return plain


def plain_bundle(bundle: dict[str, Any]) -> dict[str, Any]:
    """A bundle by MIME type with its lists of lines as texts, but for JSON."""
    return {key: value if key.endswith("json") else joined(value) for key, value in bundle.items()}


def joined(value: Any) -> Any:
    """A list of lines as a text; anything else as it is."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return value
