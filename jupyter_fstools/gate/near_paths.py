"""Suggests paths for one that is missing or outside the root."""

from __future__ import annotations

import difflib
import json
import posixpath
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from ..backends.protocol import Backend, FileStat
from ..errors import FsToolsError
from ..walking.listing import Visible, names_in
from ..walking.names import joined

_MOST_ENTRIES = 5000
_MOST_NAMES = 3
_MOST_PARTS = 12
_AROUND = " \t\n\r\"'`@<>"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/*")
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u202f\u2007\u2009\u3000", " "))


class Looking(Visible):
    """The files that a caller may see, and where they are."""

    backend: Backend


def near_paths(looking: Looking, given: str, missing: FileStat) -> list[str]:
    """Up to three paths that the caller may mean and may see: by the end of what was given, then by likeness."""
    found = [*paths_at_end(looking, given), *_alike(looking, missing)]
    return list(dict.fromkeys(found))[:_MOST_NAMES]


def hint_for(looking: Looking, near: list[str], missing: FileStat) -> str:
    """The next step of a caller whose path is missing."""
    if near:
        name = _plain(posixpath.basename(missing.path))
        is_there = any(_plain(posixpath.basename(path)) in name for path in near)
        spelled = [f" Its name has other code points: {json.dumps(path)} in JSON." for path in _same(near, missing)]
        otherwise = "" if is_there else " Otherwise find it by name with `glob`."
        return f"Did you mean {' or '.join(near)}?{''.join(spelled)}{otherwise}"
    folder = _nearest_folder(looking, missing)
    nearest = f"{folder!r}, the nearest folder that exists" if folder else "the root"
    return f"List {nearest}, with `list_files`. Or find it by name with `glob`."


def paths_at_end(looking: Looking, given: str) -> list[str]:
    r"""The longest end of a path that exists below the root, at most one; the path may be quoted or another machine's.

    So `/workspace/src/a.py`, `C:\project\src\a.py` and `file:///home/ada/src/a.py` lead to `src/a.py`.
    """
    for path in _ends(given):
        with suppress(FsToolsError):
            if path != given and looking.may_read(path) and looking.backend.stat(path).kind != "missing":
                return [path]
    return []


def _ends(given: str) -> Iterator[str]:
    spelled = _SCHEME.sub("/", given.strip(_AROUND), count=1).replace("\\", "/")
    parts = [part for part in spelled.split("/") if part not in ("", ".", "..", "~")]
    for start in range(max(0, len(parts) - _MOST_PARTS), len(parts)):
        yield "/".join(parts[start:])


def _alike(looking: Looking, missing: FileStat) -> list[str]:
    """Paths in the same folder, or in the nearest existing one, with names similar to the missing one."""
    folder, name = _first_missing(looking, missing)
    if folder and not looking.may_read(folder):
        return []
    try:
        there = names_in(looking.backend, folder, looking, most=_MOST_ENTRIES)
    except FsToolsError:
        return []
    by_plain: dict[str, list[str]] = {}
    for one in chain(there.files, there.folders):
        by_plain.setdefault(_plain(one), []).append(joined(folder, one))
    near = difflib.get_close_matches(_plain(name), list(by_plain), _MOST_NAMES, 0.6)
    return [path for plain in near for path in sorted(by_plain[plain])]


def _same(near: list[str], missing: FileStat) -> list[str]:
    """Those of the near paths that look like the missing one, or as a folder of it, but are normalised otherwise."""
    given = f"{missing.path}/"
    composed = unicodedata.normalize("NFC", given)
    return [
        path
        for path in near
        if composed.startswith(unicodedata.normalize("NFC", f"{path}/")) and not given.startswith(f"{path}/")
    ]


def _nearest_folder(looking: Looking, missing: FileStat) -> str:
    """The nearest existing folder above a missing path that the caller may see; "" is the root."""
    folder, _ = _first_missing(looking, missing)
    while folder and not looking.may_read(folder):
        folder = posixpath.dirname(folder)
    return folder


def _first_missing(looking: Looking, missing: FileStat) -> tuple[str, str]:
    """The nearest existing folder above a missing path, and the first name of the path that is missing in it."""
    names = missing.path.split("/")

    def is_missing(count: int) -> bool:
        return looking.backend.stat("/".join(names[:count])).kind == "missing"

    at = bisect_left(range(1, len(names)), True, key=is_missing)
    return "/".join(names[:at]), names[at]


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name.translate(_SPACES)).casefold()
