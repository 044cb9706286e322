"""`python -m tests.soak SECONDS`: soak in a new folder, print what came of it; 1 where anything is lost or torn."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .run import soak

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="fstools-soak-") as folder:
        found = soak(Path(folder), float(sys.argv[1]) if len(sys.argv) > 1 else 3600, say=True)
    sys.stdout.write(found.line() + "\n")
    sys.exit(not found.is_sound)
