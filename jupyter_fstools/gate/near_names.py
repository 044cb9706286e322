"""Names like one that does not exist, for the caller who mistyped it."""

from __future__ import annotations

import difflib
import posixpath
import unicodedata
from itertools import chain

from ..backends.protocol import Backend, FileStat
from ..errors import FsToolsError
from ..walking.folders import joined
from ..walking.listing import names_in
from ..walking.visible import MayRead, NoneDenied

_MOST_ENTRIES = 5000
_MOST_NAMES = 3
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u202f\u2007\u2009\u3000", " "))


def near_names(backend: Backend, missing: FileStat, may_read: MayRead, none_denied: NoneDenied) -> list[str]:
    """Up to three paths in the same folder (or the nearest one there is) that the caller may mean and may see."""
    folder, name = posixpath.split(missing.path)
    while folder and backend.stat(folder).kind == "missing":
        folder, name = posixpath.split(folder)
    if folder and may_read is not None and not may_read(folder):
        return []
    try:
        there = names_in(backend, folder, may_read, none_denied, most=_MOST_ENTRIES)
    except FsToolsError:
        return []
    by_plain: dict[str, list[str]] = {}
    for one in chain(there.files, there.folders):
        by_plain.setdefault(_plain(one), []).append(joined(folder, one))
    near = difflib.get_close_matches(_plain(name), list(by_plain), _MOST_NAMES, 0.6)
    return [path for plain in near for path in sorted(by_plain[plain])][:_MOST_NAMES]


def nearest_folder(backend: Backend, missing: FileStat, may_read: MayRead) -> str:
    """The nearest folder above a missing path that is there and that the caller may see; "" is the root."""
    folder = posixpath.dirname(missing.path)
    while folder and (backend.stat(folder).kind == "missing" or not (may_read is None or may_read(folder))):
        folder = posixpath.dirname(folder)
    return folder


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name.translate(_SPACES)).casefold()
