"""Names like one that does not exist, for the caller who mistyped it."""

from __future__ import annotations

import difflib
import posixpath
import unicodedata
from itertools import islice

from .backends.protocol import Backend, FileStat
from .errors import FsToolsError
from .policy import Policy

_MOST_ENTRIES = 5000
_MOST_NAMES = 3
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u202f\u2007\u2009\u3000", " "))


def near_names(backend: Backend, policy: Policy, missing: FileStat) -> list[str]:
    """Up to three paths in the same folder (or the nearest one there is) that the caller may mean and may see."""
    folder, name = posixpath.split(missing.path)
    while folder and backend.stat(folder).kind == "missing":
        folder, name = posixpath.split(folder)
    try:
        entries = [
            entry
            for entry in islice(backend.list(folder), _MOST_ENTRIES)
            if entry.kind in ("file", "directory")
            and policy.may_read(entry.path, f"{backend.root_key.rstrip('/')}/{entry.path}")
        ]
    except FsToolsError:
        return []
    by_plain: dict[str, list[str]] = {}
    for entry in entries:
        by_plain.setdefault(_plain(entry.name), []).append(entry.path)
    near = difflib.get_close_matches(_plain(name), list(by_plain), _MOST_NAMES, 0.6)
    return [path for plain in near for path in sorted(by_plain[plain])][:_MOST_NAMES]


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name.translate(_SPACES)).casefold()
