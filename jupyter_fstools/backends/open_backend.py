"""Opens the backend for a root: a folder, or a registered scheme."""

from __future__ import annotations

import os
from typing import cast

from ..entry_points import load_class, scheme_of
from .protocol import Backend

GROUP = "jupyter_fstools.backends"
"""The entry point group: scheme -> class with `from_setting(where, *, durable)`."""


def open_backend(root: str | os.PathLike[str], *, durable: bool = True) -> Backend:
    """The files below a root.

    Args:
        root: a folder's path, or an address that begins with a registered scheme, such as "s3://bucket/prefix".
        durable: a write is safe from a power failure once it is answered.

    Raises:
        Invalid: there is no such scheme, a package is missing, or the scheme takes something else.
        NotFound, NotADirectory, Denied, InputOutput: the root is not there, or cannot be opened.
    """
    where = os.fspath(root)
    scheme = scheme_of(where)
    if scheme is None:
        from .local_disk import LocalDisk

        return LocalDisk(where, durable=durable)
    return cast("Backend", load_class(GROUP, scheme, "root").from_setting(where, durable=durable))


def absolute_root(root: str, folder: str) -> str:
    """A root as every process understands it: an address as it is, a path from `folder` on."""
    return root if scheme_of(root) else os.path.abspath(os.path.join(folder, os.path.expanduser(root)))
