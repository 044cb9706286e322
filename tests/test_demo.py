"""`make demo` runs where only its own few packages are installed."""

from __future__ import annotations

import subprocess
import sys


def test_the_demo_needs_no_package_of_the_tests():
    names = ["pytest", "hypothesis", "mcp", "moto", "psycopg", "obstore"]
    code = f"import sys; sys.modules.update(dict.fromkeys({names})); import tests.demo, tests.picture"
    subprocess.run([sys.executable, "-c", code], check=True)
