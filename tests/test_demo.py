"""`make demo` runs where only its own few packages are installed."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_the_demo_needs_no_package_of_the_tests():
    names = ["pytest", "hypothesis", "mcp", "moto", "psycopg", "obstore"]
    code = f"import sys; sys.modules.update(dict.fromkeys({names})); import tests.demo, tests.picture"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_the_demo_runs_to_its_end():
    """With a picture of JupyterLab."""
    shown = subprocess.run([sys.executable, "-m", "tests.demo"], check=True, capture_output=True, text=True).stdout
    assert "What a person sees in JupyterLab: " in shown and "Done: nothing was lost" in shown
