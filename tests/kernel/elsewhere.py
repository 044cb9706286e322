"""Begins commands that run where a folder's files are not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.emulators import missing
from tests.kernel import landlocked

LOOK = """
try:
    print(open({!r}).read())
except OSError:
    print("nothing")
"""
"""What a kernel is asked to try with a file."""
_NAMESPACES = (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"])


def ways(folder: Path) -> list[list[str]]:
    """The beginnings of commands for which the folder is another disk, or closed; the most thorough way first."""
    there = shutil.which("unshare") is not None
    namespaces = [one for one in _NAMESPACES if there and subprocess.run([*one, "true"], check=False).returncode == 0]
    empty = ["sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(folder)]
    closed = [[sys.executable, landlocked.__file__, str(folder)]] if landlocked.is_there() else []
    found = [[*namespace, *empty] for namespace in namespaces] + closed
    if not found:
        missing("neither namespaces nor Landlock: run this on Linux 5.13")
    return found
