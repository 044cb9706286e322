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
"""Code with which a kernel tries to open a file."""


def ways(folder: Path) -> list[list[str]]:
    """The beginnings of commands for which the folder is another disk, or closed; the most thorough way first."""
    closed = [[sys.executable, landlocked.__file__, str(folder)]] if landlocked.is_there() else []
    found = with_disk(folder) + closed
    if not found:
        missing("neither namespaces nor Landlock: run this on Linux 5.13")
    return found


def with_disk(folder: Path, size: str = "50%") -> list[list[str]]:
    """The beginnings of commands for which the folder is an empty disk of some size; none without namespaces."""
    namespaces = (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]) if shutil.which("unshare") else ()
    mount = ["sh", "-c", f'mount -t tmpfs -o size={size} none "$0" && exec "$@"', str(folder)]
    return [[*one, *mount] for one in namespaces if subprocess.run([*one, "true"], check=False).returncode == 0]
