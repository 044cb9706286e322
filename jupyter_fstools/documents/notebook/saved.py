"""Writes notebooks byte for byte as Jupyter saves them, and compares them."""

from __future__ import annotations

import json
from typing import Any


def plain_output(output: dict[str, Any]) -> dict[str, Any]:
    """An output with its lists of lines as texts."""
    plain = dict(output)
    if "text" in plain:
        plain["text"] = joined(plain["text"])
    if isinstance(plain.get("data"), dict):
        plain["data"] = _plain_bundle(plain["data"])
    return plain


def _plain_bundle(bundle: dict[str, Any]) -> dict[str, Any]:
    """A MIME bundle with its lists of lines as texts, except JSON."""
    return {key: value if key.endswith("json") else joined(value) for key, value in bundle.items()}


def joined(value: Any) -> Any:
    """A list of lines as a text; anything else as it is."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return value


_TRANSIENT = ("orig_nbformat", "orig_nbformat_minor", "signature")


def saved_bytes(value: dict[str, Any]) -> bytes:
    """The file that Jupyter's contents API makes of a notebook."""
    import nbformat

    text: str = nbformat.v4.writes(nbformat.from_dict(value))  # type: ignore[no-untyped-call]  # nbformat's.
    return (text if text.endswith("\n") else text + "\n").encode("utf-8", "replace")


def is_saved_as(data: bytes, value: dict[str, Any]) -> bool:
    """Whether a file's bytes hold this notebook, in any layout."""
    try:
        found = json.loads(data)
        return isinstance(found, dict) and _plain(found) == _plain(value)
    except (ValueError, RecursionError, AttributeError, TypeError):  # Somebody is writing it, or it is not a notebook.
        return False


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    cells = value.get("cells")
    if not isinstance(cells, list):
        return value
    metadata = {key: item for key, item in value.get("metadata", {}).items() if key not in _TRANSIENT}
    return value | {"metadata": metadata, "cells": [plain_cell(cell) for cell in cells]}


def plain_cell(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell with its members as `plain_member` gives them."""
    plain = {key: plain_member(key, value) for key, value in cell.items()}
    return plain | {"source": plain.get("source"), "metadata": plain.get("metadata", {})}


def plain_member(key: str, value: Any) -> Any:
    """A member of a cell with its lists of lines as texts, and without `trusted`, which only one server knows."""
    if key == "source":
        return joined(value)
    if key == "metadata" and isinstance(value, dict):
        return {name: one for name, one in value.items() if name != "trusted"}
    if key == "outputs" and isinstance(value, list):
        return [plain_output(output) if isinstance(output, dict) else output for output in value]
    if key == "attachments" and isinstance(value, dict):
        return {name: _plain_bundle(one) if isinstance(one, dict) else one for name, one in value.items()}
    return value
