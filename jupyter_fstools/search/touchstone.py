"""Whether a ripgrep tells enough of what it passes over for a search of a whole tree to rest on it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from functools import cache
from pathlib import Path

from ..backends.local_disk import LocalDisk
from .patterns import compile_glob
from .ripgrep_process import Ripgrep, RipgrepFailed, Stopped
from .stopping import Stop
from .text_query import TextQuery
from .walk import Walk
from .whole_tree import WholeTree

PATIENCE_SECONDS = 2.0
"""What the few files may take; where they take longer, it is tried again the next time."""
_LARGEST = 8
_FILES = {
    ".gitignore": b"ignored\n",
    ".hidden": b"x",
    "binary": b"x\0",
    "ignored": b"x",
    "large": b"x" * (_LARGEST + 1),
    "notebook.ipynb": b"x",
    "text": b"x\n\nx\n",
}
_LINK, _FOLDER = "link", "node_modules"


def tells_enough(binary: str) -> bool:
    """Have it search a folder that holds one of everything; the answer is remembered.

    It tells where it says what it does for those who debug it, and that may change with every version.
    """
    try:
        return _tells_enough(binary)
    except OSError:  # No room for temporary files, or no time: there may be another time.
        return False


@cache
def _tells_enough(binary: str) -> bool:
    folder = Path(tempfile.mkdtemp(prefix=".fstools-ripgrep-"))
    try:
        for name, content in _FILES.items():
            (folder / name).write_bytes(content)
        (folder / _LINK).symlink_to("text")
        (folder / _FOLDER).mkdir()
        return _is_told(binary, folder)
    finally:
        # What `tempfile` has for this needs a descriptor, and there may be none.
        for name in (*_FILES, _LINK):
            with contextlib.suppress(OSError):
                os.unlink(folder / name)
        for left in (folder / _FOLDER, folder):
            with contextlib.suppress(OSError):
                os.rmdir(left)


def _is_told(binary: str, folder: Path) -> bool:
    disk, query, stop = LocalDisk(folder), TextQuery(pattern="x", max_file_bytes=_LARGEST), Stop()
    walk = Walk(disk, "", compile_glob("**"), include_ignored=False, may_read=None, stop=stop)
    tree = WholeTree(disk, query, "", walk, may_read=None, all_allowed=None)
    ripgrep = Ripgrep(binary, None, str(folder), stop)

    def give_up() -> None:
        stop.end()
        ripgrep.end()

    patience = threading.Timer(PATIENCE_SECONDS, give_up)
    patience.start()
    try:
        batches = list(tree.batches(["-e", "x"], ripgrep.started))
        if stop.now():
            raise TimeoutError
    except Stopped as stopped:
        raise TimeoutError from stopped
    except RipgrepFailed as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from error
        return False
    finally:
        patience.cancel()
    told = {
        "found": [(file.path, file.lines) for batch in batches for file in batch.found],
        "skipped": {reason: number for batch in batches for reason, number in batch.skipped.items() if number},
        "notebooks": [path for batch in batches for part in batch.notebooks for path in part.paths],
        "links": [(shown, file.path) for batch in batches for shown, file in batch.named],
        "rules": tree.folders_with_rules,
        "passed over": (walk.tally.ignored, walk.tally.excluded),
    }
    return told == {
        "found": [("text", 2)],
        "skipped": {"binary": 1, "large": 1},
        "notebooks": ["notebook.ipynb"],
        "links": [(_LINK, "text")],
        "rules": {""},
        "passed over": (1, {_FOLDER}),
    }
