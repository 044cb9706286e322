"""Hides denied names, and links that lead to them."""

from __future__ import annotations

from collections.abc import Callable

from ..backends.protocol import Backend, FileStat
from ..errors import FsToolsError
from .folders import joined

MayRead = Callable[[str], bool] | None
"""Whether a canonical path may be shown; None: every one."""
AllAllowed = Callable[[str, list[str]], bool] | None
"""A quick yes for many names in a folder that may be read; after a no, `MayRead` is asked for each."""


def permitted(folder: str, names: list[str], may_read: MayRead, all_allowed: AllAllowed) -> list[str]:
    """Those of the names in a folder that may be shown: the list itself where all of them may."""
    if may_read is None or not names or (all_allowed is not None and all_allowed(folder, names)):
        return names
    return [name for name in names if may_read(joined(folder, name))]


def link_target(backend: Backend, path: str, may_read: MayRead) -> FileStat | None:
    """What a link (by its canonical path) leads to; None unless that is there, in the root, and may be shown."""
    try:
        target = backend.stat(path)
    except FsToolsError:
        return None
    seen = target.kind != "missing" and (may_read is None or may_read(target.path))
    return target if seen else None
