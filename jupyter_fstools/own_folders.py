"""Names the folders where Jupyter and these tools keep their files."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

FULL = {errno.ENOSPC, errno.EDQUOT}
"""The system's error codes for a disk or quota without room."""

PASSING = FULL | {errno.EMFILE, errno.ENFILE}
"""Its error codes for want of something that may be there again at the next call: room, or descriptors."""

_log = logging.getLogger("jupyter_fstools")


def data_folder() -> Path:
    """The folder for jupyter-fstools' own files, in Jupyter's data directory."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "fstools"


def lock_folder() -> Path | None:
    """The folder of the lock files; None (locks within this process only) if it cannot be made or written.

    Where only room is lacking now, it is made with the first lock.
    """
    folder = data_folder() / "locks"
    try:
        # mkdir applies the mode to the last folder only, so the parent, which is also the store's, is made first.
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        if error.errno in PASSING:
            return folder
        reason = f"cannot be made ({error.strerror})"
    else:
        if os.access(folder, os.W_OK):
            return folder
        reason = "cannot be written"
    _log.warning("No locks between processes: %s %s", folder, reason)
    return None


def denied_folders() -> list[str]:
    """Folders that no tool may touch for any root: Jupyter's runtime files, as they contain tokens, and our own."""
    from jupyter_core.paths import jupyter_runtime_dir

    return [os.path.realpath(jupyter_runtime_dir()), os.path.realpath(data_folder())]
