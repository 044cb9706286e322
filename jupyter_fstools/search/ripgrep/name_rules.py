"""Writes the names of a search's files as rules of ripgrep."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...backends.path_names import HIDDEN_PREFIX
from ...globs.file_types import globs_of_type
from ...globs.patterns import GlobPattern
from ...globs.segments import literal_name
from ..query import TextQuery

_MOST_GLOBS = 100
_NOTEBOOKS = ("--type-add=notebook:*.[iI][pP][yY][nN][bB]", "--type-not=notebook")
"""Options that leave out notebooks, which are searched by cells."""
_SAFE = r"\w.+@\-"
"""Characters that every dialect reads literally."""
_SAFE_NAME = re.compile(rf"[{_SAFE}*]+", re.ASCII)
_UNSAFE = re.compile(rf"([*{{}},])|[^{_SAFE}*{{}},]+", re.ASCII)
"""Its first group are characters that every dialect reads literally inside brackets."""


class NameRules(NamedTuple):
    """Rules by which ripgrep chooses files in a folder.

    Attributes:
        options: the rules as options: they choose the fitting files, and few others.
        any_kind: the rules choose files of all types.
        no_more: the rules choose fitting files only.
        tells_unwanted: the rules leave out the files that a glob with `!` leaves out.
    """

    options: list[str]
    any_kind: bool
    no_more: bool
    tells_unwanted: bool


def name_rules(pattern: GlobPattern, query: TextQuery, unwanted: GlobPattern | None = None) -> NameRules | None:
    """The rules for one search; None if no rule of ripgrep can describe the names, as it would read all files.

    Args:
        pattern: the pattern that the walk follows.
        query: its `file_type`; whether names may be hidden; the largest files.
        unwanted: the files that are left out of it, all of a folder or none.
    """
    read_alike = sorted(set(map(_as_everybody_reads_it, pattern.last_names)))
    globs: list[str] | None = read_alike
    if "*" in read_alike:
        globs = globs_of_type(query.file_type) if query.file_type is not None else None
    elif "" in read_alike or len(read_alike) > _MOST_GLOBS or query.file_type is not None:
        return None
    named_hidden = [name.lstrip("\\").startswith(".") for name in pattern.last_names]
    hidden = query.include_hidden or any(named_hidden)
    rules = [f"--type-add=chosen:{glob}" for glob in globs or ()] + ["--type=chosen"] * (globs is not None)
    kept_out = sorted(filter(_SAFE_NAME.fullmatch, unwanted.bare_names)) if unwanted else []
    rules += [f"--type-add=unwanted:{name}" for name in kept_out] + ["--type-not=unwanted"] * bool(kept_out)
    rules += [f"--type-add=unseen:{HIDDEN_PREFIX if hidden else '.'}*", "--type-not=unseen", *_NOTEBOOKS]
    rules.append(f"--max-filesize={query.max_file_bytes}")
    no_more = (
        globs is not None  # Without a type, names that no type matches are searched too, such as `.d.`.
        and unwanted is None
        and pattern.differs_in_names
        and (query.include_hidden or len(set(named_hidden)) == 1)
        and all(map(_is_read_alike, pattern.last_names))
    )
    return NameRules(rules, any_kind=globs is None, no_more=no_more, tells_unwanted=bool(kept_out))


def _as_everybody_reads_it(name: str) -> str:
    """A glob that matches at least the same names, and few others, in both dialects; empty if there is none."""
    if _SAFE_NAME.fullmatch(name):
        return re.sub(r"\*+", "*", name)
    return _UNSAFE.sub(lambda odd: f"[{odd[1]}]" if odd[1] else "*", literal_name(name) or "")


def _is_read_alike(name: str) -> bool:
    """Whether the glob of `_as_everybody_reads_it` matches exactly the same names."""
    literal = literal_name(name)
    return _SAFE_NAME.fullmatch(name) is not None or (
        literal is not None and all(odd[1] for odd in _UNSAFE.finditer(literal))
    )
