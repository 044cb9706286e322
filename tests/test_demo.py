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
    demo = subprocess.run([sys.executable, "-m", "tests.demo"], check=False, capture_output=True, text=True)
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "What a person sees in JupyterLab: " in demo.stdout and "Done: nothing was lost" in demo.stdout
