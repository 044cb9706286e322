"""Two minutes of the soak, beside other tests; `make soak` runs it for an hour."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="needs limits and kills of POSIX")]


def test_nothing_is_lost_torn_or_unknown_after_kills_full_disks_and_clock_jumps():
    """The soak has a server, its clients, a kernel, a browser in which a person types, and another process."""
    command = [sys.executable, "-m", "tests.soak", "120", "--few"]
    soak = subprocess.run(command, check=False, capture_output=True, text=True)
    assert soak.returncode == 0, f"{soak.stdout}\n{soak.stderr}"
