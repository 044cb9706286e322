"""Whether one cell is valid by nbformat's own schema, without loading nbformat."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import NotebookRefused

NEWEST_MINOR = 5


def refuse_invalid(cell: Mapping[str, Any], index: int, minor: int) -> None:
    """Check one cell against the schema of nbformat 4.`minor`.

    A cell without an id is not refused for it: nbformat, too, takes such a cell.

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
            f"invalid result: the cell at index {index} would not be valid nbformat 4.{minor} ({reason})",
            hint="Repair that cell by hand, or delete it; other cells can be edited.",
            index=index,
            reason=reason,
        ) from None


@lru_cache(maxsize=32)
def _validator(cell_type: str, minor: int) -> Callable[[Any], Any]:
    import fastjsonschema

    schema = _schema(min(minor, NEWEST_MINOR))
    if minor > NEWEST_MINOR:
        schema = _tolerant(copy.deepcopy(schema))
    own = {key: schema[key] for key in ("$schema", "definitions")}
    compiled: Callable[[Any], Any] = fastjsonschema.compile(own | {"$ref": f"#/definitions/{cell_type}_cell"})
    return compiled


@lru_cache(maxsize=8)
def _schema(minor: int) -> dict[str, Any]:
    # Importing nbformat costs over a second; its schema files are data that lie beside it.
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
