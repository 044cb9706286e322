"""Which files a text search passes over that its walk comes to: another kind, or a glob that keeps them out."""

from __future__ import annotations

from collections.abc import Callable

from ..walking.folders import joined
from .file_types import names_of_type
from .patterns import compile_glob
from .text_query import TextQuery


def file_filter(query: TextQuery, base: str, root: str) -> Callable[[str, str], object] | None:
    """Whether a file, by its folder and its name, is to be searched; None: every one is.

    Args:
        query: its `file_type`, and its `glob` where that begins with `!`; any other glob is what the walk follows.
        base: canonical path of the folder searched.
        root: the root's own absolute path.

    Raises:
        Invalid: the kind, or the glob.
    """
    of_type = names_of_type(query.file_type) if query.file_type is not None else None
    unwanted = None
    if query.glob is not None and query.glob.startswith("!"):
        unwanted = compile_glob(query.glob[1:], include_hidden=True, root=root)
        if unwanted.malformed:
            raise unwanted.malformed
    if of_type is None and unwanted is None:
        return None
    skip = len(base) + 1 if base and not (unwanted and unwanted.from_root) else 0

    def fits(folder: str, name: str) -> bool:
        if of_type is not None and not of_type(name):
            return False
        return unwanted is None or not unwanted.matches(joined(folder, name)[skip:])

    return fits
