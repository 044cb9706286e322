"""A ripgrep that never ends, and names its process."""

from __future__ import annotations

import os
import time
from pathlib import Path

PROGRAM = """#!/bin/sh
if [ "$2" = "" ]; then echo "ripgrep 99.0.0"; exit 0; fi
echo $$ > "{note}.new" && mv "{note}.new" "{note}"
exec sleep 1000
"""


class SlowRipgrep:
    """The newest `rg` of a PATH that begins with `folder`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._note = folder / "pid"
        (folder / "rg").write_text(PROGRAM.format(note=self._note))
        (folder / "rg").chmod(0o755)

    @property
    def started(self) -> int | None:
        """The process, once there is one."""
        return int(self._note.read_text()) if self._note.exists() else None

    @property
    def runs(self) -> bool:
        """Whether that process is still there."""
        assert self.started is not None
        try:
            os.kill(self.started, 0)
        except ProcessLookupError:
            return False
        return True

    def wait(self, seconds: float = 30.0) -> None:
        """Wait until it has started."""
        _until(lambda: self.started is not None, seconds)

    def wait_for_end(self, seconds: float = 30.0) -> None:
        """Wait until it is gone."""
        _until(lambda: not self.runs, seconds)


def something_to_search(root: Path) -> None:
    """More files than Python would search by itself instead of starting a program."""
    root.mkdir(exist_ok=True)
    (root / "large.txt").write_bytes(b"some line\n" * 1_000_000)


def _until(holds, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
