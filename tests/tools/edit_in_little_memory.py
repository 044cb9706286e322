"""A program: edits one place of a large file and prints by how many bytes its memory grew at most."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.tools import call_tool


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(root: Path, name: str) -> None:
    backend = LocalDisk(root, durable=False)
    workspace = Workspace(backend, InMemoryStore(), FileLocks(root / "locks"), Policy(), Reader("ada", "default"))
    (root / "small.txt").write_text("a\n")
    for path, old in (("small.txt", "a"), (name, "the one place")):
        call_tool(workspace, "read_file", path=path, limit=1)
        before = peak()
        call_tool(workspace, "edit_file", path=path, old_string=old, new_string="another\nplace")
    sys.stdout.write(str(peak() - before))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
