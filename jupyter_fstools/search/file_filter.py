"""Which files a text search passes over that its walk comes to: another kind, or a glob that keeps them out."""

from __future__ import annotations

from collections.abc import Callable

from ..backends.protocol import Backend
from .file_types import names_of_type
from .patterns import GlobPattern, glob_in
from .text_query import TextQuery


def file_filter(
    query: TextQuery, base: str, unwanted: GlobPattern | None
) -> Callable[[str, list[str]], list[str]] | None:
    """Chooses among the files of a folder, by its path and their names, those to be searched; None: every one is.

    Args:
        query: its `file_type`. A glob that does not begin with `!` is what the walk follows.
        base: canonical path of the folder searched.
        unwanted: what `unwanted_files` says.

    Raises:
        Invalid: the kind.
    """
    of_type = names_of_type(query.file_type) if query.file_type is not None else None
    if of_type is None and unwanted is None:
        return None
    skip = len(base) + 1 if base and not (unwanted and unwanted.from_root) else 0

    def fitting(folder: str, names: list[str]) -> list[str]:
        if of_type is not None:
            names = of_type(names)
        kept_out = set(unwanted.matching(folder[skip:], names)) if unwanted else ()
        return [name for name in names if name not in kept_out] if kept_out else names

    return fitting


def unwanted_files(query: TextQuery, backend: Backend) -> GlobPattern | None:
    """Those that a `glob` with `!` keeps out; None if there is none.

    Raises:
        Invalid: the glob.
    """
    if query.glob is None or not query.glob.startswith("!"):
        return None
    unwanted = glob_in(backend, query.glob[1:], include_hidden=True)
    if unwanted.malformed:
        raise unwanted.malformed
    return unwanted
