"""Finds the environments that `make legs` makes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".venv" / "legs"
NEWEST = "lab"
"""The environment that runs the tests themselves."""
TOGETHER = ("collaboration", "server_documents")
"""Those in which people edit together."""
NOTEBOOK = "notebook7"
JUPYTEXT = "jupytext"
LEGS = (NEWEST, "lab42", *TOGETHER)


def python_of(leg: str) -> str:
    """The Python of a leg; without it the test fails in CI, and is skipped elsewhere."""
    if leg == NEWEST:
        return sys.executable
    python = FOLDER / leg / "bin" / "python"
    if not (FOLDER / leg / ".installed").exists():
        import pytest  # Imported late: the demo runs without it.

        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no {python}: run `make legs`")
    return str(python)
