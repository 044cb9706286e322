"""`python -m tests.soak SECONDS`: soak on a small disk; 1 where anything is lost, torn or was not tried."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.kernel.elsewhere import with_disk

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="fstools-soak-", ignore_cleanup_errors=True) as home:
        root = Path(home, "root")
        root.mkdir()
        small = [*with_disk(root, "4m"), []][0]
        given = sys.argv[1:] or ["3600"]
        sys.exit(subprocess.call([*small, sys.executable, "-m", "tests.soak.run", str(root), *given]))
