"""Validates cells and notebooks against nbformat's schemas."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...content.source import BytesContent
from ...errors import NotebookRefused
from .spans import scan

NEWEST_MINOR = 5


def refuse_invalid(cell: Mapping[str, Any], which: str, minor: int, **place: Any) -> None:
    """Check one cell against the schema of nbformat 4.`minor`.

    A cell without an id is accepted, as nbformat accepts it too. `which` is the cell's name in the refusal, `place` its
    present place.

    Raises:
        NotebookRefused: the cell would not be valid; says where and why.
    """
    import fastjsonschema

    checked = dict(cell)
    if minor >= NEWEST_MINOR:
        checked.setdefault("id", "none")
    cell_type = checked.get("cell_type")
    try:
        if cell_type not in ("code", "markdown", "raw"):
            raise fastjsonschema.JsonSchemaValueException(f"data.cell_type is {cell_type!r}")
        _validator(cell_type, minor)(checked)
    except fastjsonschema.JsonSchemaValueException as error:
        reason = error.message.replace("data", "cell", 1)[:300]
        raise NotebookRefused(
            f"invalid result: {which} would not be valid nbformat 4.{minor} ({reason})",
            hint="Repair that cell by hand, or delete it; other cells can be edited.",
            reason=reason,
            **place,
        ) from None


def refuse_invalid_notebook(text: str) -> None:
    """Check the text of a whole notebook as nbformat does; nbformat is called only where the schema does not match.

    Raises:
        NotebookRefused: nbformat would not validate it; says why, and where if it is not JSON (`line` and `column`).
            Or an object has a key twice: no diff would show the value of the first one.
    """
    if _is_valid(text):
        return
    hint = "Write a notebook that is valid by nbformat's schema."
    try:
        scan(BytesContent(text.encode(errors="replace")))  # Unlike nbformat it says where the JSON is broken.
    except NotebookRefused as refusal:
        said = f"content is not a valid notebook: {refusal.message}"
        raise NotebookRefused(said, hint=hint, **refusal.details) from None
    import nbformat  # Imported late: it takes over a second.

    try:
        nbformat.validate(nbformat.reads(text, as_version=nbformat.NO_CONVERT))  # type: ignore[no-untyped-call]  # nbformat has few types
    except Exception as error:  # nbformat and its schema library raise exceptions of any type for a broken document.
        said = str(error).split("\n", 1)[0][:200]
        raise NotebookRefused(f"content is not a valid notebook: {said}", hint=hint) from None


def _is_valid(text: str) -> bool:
    """Whether the text is a notebook of nbformat 4 in a known minor version."""
    try:
        notebook = json.loads(text, object_pairs_hook=_members)
        major, minor = notebook["nbformat"], notebook["nbformat_minor"]
        if type(major) is not int or type(minor) is not int or major != 4 or not 0 <= minor <= NEWEST_MINOR:
            return False
        for cell in notebook["cells"] if minor == NEWEST_MINOR else ():
            cell.setdefault("id", "none")
        _validator(None, minor)(notebook)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # fastjsonschema's is a ValueError.
        return False
    return True


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise NotebookRefused(
            f"content is not a valid notebook: one of its objects has the key {twice[:80]!r} twice",
            hint="Write each key once.",
        )
    return members


@lru_cache(maxsize=32)
def _validator(cell_type: str | None, minor: int) -> Callable[[Any], Any]:
    """The check of a cell of this type; None: of a whole notebook."""
    import fastjsonschema

    schema = _schema(min(minor, NEWEST_MINOR))
    if minor > NEWEST_MINOR:
        schema = _tolerant(copy.deepcopy(schema))
    if cell_type is not None:
        schema = {key: schema[key] for key in ("$schema", "definitions")} | {"$ref": f"#/definitions/{cell_type}_cell"}
    compiled: Callable[[Any], Any] = fastjsonschema.compile(schema)
    return compiled


@lru_cache(maxsize=8)
def _schema(minor: int) -> dict[str, Any]:
    # Importing nbformat costs over a second, so its schema files are read directly.
    package = find_spec("nbformat")
    assert package is not None and package.submodule_search_locations is not None
    file = Path(package.submodule_search_locations[0], "v4", f"nbformat.v4.{minor}.schema.json")
    schema: dict[str, Any] = json.loads(file.read_bytes())
    return schema


def _tolerant(schema: Any) -> Any:
    """The schema for a newer minor version, which may have members that this one does not know."""
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _tolerant(part)
    if isinstance(schema, dict) and schema.get("additionalProperties") is False:
        schema["additionalProperties"] = True
    return schema
