"""Kinds of files by name, as ripgrep 14.1 knows them: `py`, `ts`, `markdown`."""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path

from ..braces import expand_braces
from ..errors import Invalid
from .patterns import Choice, GlobPattern

_TABLE = Path(__file__).with_name("file_types.txt")
"""One kind a line: its name, a colon, globs. Written from `rg --type-list`, so that both engines know the same."""


@cache
def file_types() -> dict[str, list[str]]:
    """The globs of every kind."""
    rows = (line.split(":", 1) for line in _TABLE.read_text("utf-8").splitlines())
    return {name: globs.split() for name, globs in rows}


def globs_of_type(file_type: str) -> list[str]:
    """The globs of one kind, without braces.

    Raises:
        Invalid: there is no such kind; with near names.
    """
    known = file_types()
    if file_type not in known:
        near = difflib.get_close_matches(file_type.lower().lstrip(".*"), known, 3, 0.6)
        near += [name for name, globs in known.items() if f"*.{file_type.lstrip('.*')}" in globs and name not in near]
        hint = f"Near: {', '.join(near[:5])}." if near else "Use glob instead, such as *.ext."
        raise Invalid(f"file_type: there is no type {file_type!r}", hint=hint, field="file_type", near=near[:5])
    return [each for glob in known[file_type] for each in expand_braces(glob)]


@cache
def names_of_type(file_type: str) -> Choice:
    """Chooses the names of files of one kind; raises as `globs_of_type`."""
    globs = [["**", glob] for glob in globs_of_type(file_type)]
    return GlobPattern(globs, include_hidden=True, from_root=False, malformed=None).start.fitting
