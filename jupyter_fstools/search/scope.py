"""Resolves where a text search starts and which files it covers."""

from __future__ import annotations

from collections.abc import Callable

from ..backends.path_names import parts_of
from ..backends.protocol import Backend, FileStat
from ..errors import Denied, FsToolsError, NotFound
from ..globs.file_types import names_of_type
from ..globs.patterns import GlobPattern, glob_in
from ..walking.descriptors import NoDescriptors, too_many_open
from ..walking.folders import joined
from ..walking.trail import FolderTrail
from ..walking.visible import MayRead
from .query import TextQuery


def start_of(backend: Backend, path: str, may_read: MayRead) -> tuple[str, FileStat]:
    """The path to show, and the folder or file to search.

    Raises:
        OutsideRoot, NotFound, Denied: also where a rule is about the link that names a file.
        InputOutput: too many files are open.
    """
    found = backend.stat(path)
    shown = path_of_link(backend, path, found)
    if found.path and may_read is not None and not (may_read(found.path) and may_read(shown)):
        raise Denied(f"{path}: a deny rule keeps this path closed")
    if found.kind == "missing":
        raise NotFound(f"{path}: no such file or folder", hint="`list_files` shows what is there.")
    if found.kind == "other":
        raise Denied(f"{path}: is a device, a FIFO or a socket", hint="Name a folder or a regular file in path.")
    return shown, found


def path_of_link(backend: Backend, path: str, found: FileStat) -> str:
    """The path from the root of the link by which a file was named, as a walk meets it; else the canonical path.

    Args:
        backend: where it is.
        path: as the caller spells it.
        found: what is there. Links to folders are not kept: no walk goes through them.

    Raises:
        InputOutput: too many files are open.
    """
    if found.kind != "file":
        return found.path
    *above, name = parts_of(path)
    try:
        folder = backend.stat("/".join(above) or ".").path
        if joined(folder, name) == found.path:
            return found.path
        with FolderTrail(backend) as trail:  # Where a disk ignores case, a file's own name may be spelled otherwise.
            is_link = trail.at(folder).see(name).kind == "link"
    except NoDescriptors as error:
        raise too_many_open() from error
    except (OSError, FsToolsError):
        return found.path
    return joined(folder, name) if is_link else found.path


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
