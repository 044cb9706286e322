"""The types of the JupyterLab extension are those of the models; run as a program it writes them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic.json_schema import models_json_schema

from jupyter_fstools.documents.text.invisible import INVISIBLE
from jupyter_fstools.journal.standing import ChangedSince
from jupyter_fstools.server.events.payloads import ActivityEvent, ChangeEvent
from jupyter_fstools.server.rest.activity import ActivityPage
from jupyter_fstools.stores.records import Change

PACKAGE = Path(__file__).parents[2] / "labextension"
TYPES = PACKAGE / "src" / "payloads.ts"
CHARACTERS = PACKAGE / "src" / "diff" / "invisibleCharacters.ts"


def schema() -> dict[str, Any]:
    """All models in one schema, as they are sent: every field is there. A change's key stays on the server."""
    models = [(model, "serialization") for model in (Change, ChangedSince, ChangeEvent, ActivityPage, ActivityEvent)]
    _, told = models_json_schema(models)  # type: ignore[arg-type]  # The mode is a literal.
    del told["$defs"]["Change"]["properties"]["key"]
    del told["$defs"]["ChangedFile"]["properties"]["key"]
    return {**_closed(told), "title": "Payloads", "type": "object", "additionalProperties": False}


def _closed(node: Any) -> Any:
    """Without titles, which would become names; every property is there and no other; pairs in their older form."""
    if isinstance(node, list):
        return [_closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _closed(value) for key, value in node.items() if key != "title" or not isinstance(value, str)}
    if "prefixItems" in kept:
        kept["items"] = kept.pop("prefixItems")
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def types() -> str:
    """The schema as TypeScript."""
    node = shutil.which("node")
    assert node and (PACKAGE / "node_modules").is_dir(), "make venv installs what this needs"
    command = [node, "payloads.mjs"]
    return subprocess.run(
        command, cwd=PACKAGE, input=json.dumps(schema()), stdout=subprocess.PIPE, check=True, text=True
    ).stdout


def characters() -> str:
    """The pattern of invisible characters as TypeScript."""
    pattern = re.sub(r"\\U([0-9a-f]{8})", lambda code: f"\\u{{{int(code[1], 16):x}}}", INVISIBLE.pattern)
    return f"""/** Names the invisible characters; `make payloads` writes it from the definition in Python. */

export const INVISIBLES =
  /{pattern}/gu;
"""


def test_invisible_characters_are_the_same_on_both_sides() -> None:
    assert CHARACTERS.read_text("utf-8") == characters(), "make payloads writes them anew"


@pytest.mark.slow  # It starts node with packages that npm installs.
def test_the_types_of_the_extension_are_those_of_the_models() -> None:
    assert TYPES.read_text("utf-8") == types(), "make payloads writes them anew"


if __name__ == "__main__":
    TYPES.write_text(types(), "utf-8")
    CHARACTERS.write_text(characters(), "utf-8")
    sys.stdout.write(f"{TYPES.name} is written\n")
