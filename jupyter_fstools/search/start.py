"""Resolves the folder or file that a search begins at."""

from __future__ import annotations

from ..backends.operating_system import split_path
from ..backends.path_names import spelled_for_system
from ..backends.protocol import Backend, FileStat
from ..errors import Denied, FsToolsError, NotADirectory, NotFound
from ..walking.listing import Visible
from ..walking.names import joined
from ..walking.trail import FolderTrail


def start_of(backend: Backend, path: str, visible: Visible) -> tuple[str, FileStat]:
    """The path to show, and the folder or file to search.

    Raises:
        OutsideRoot, NotFound, Denied: also where a rule denies the link by which the file is named.
        NoDescriptors
    """
    found = backend.stat(path)
    shown = _path_of_link(backend, path, found)
    if found.path and not (visible.may_read(found.path) and visible.may_read(shown)):
        raise Denied(f"{path}: a rule denies access to this path")
    if found.kind == "missing":
        raise NotFound(f"{path}: no such file or folder", hint="`list_files` shows what is there.")
    if found.kind == "other":
        raise Denied(
            f"{path}: is a device, a FIFO or a socket", hint="Name a folder or a regular file in path.", field="path"
        )
    return shown, found


def folder_to_search(backend: Backend, path: str, visible: Visible) -> str:
    """The canonical path of a folder to search.

    Raises:
        NotADirectory, and as `start_of`
    """
    _, found = start_of(backend, path, visible)
    if found.kind != "directory":
        raise NotADirectory(f"{path}: is not a folder", hint="Name its folder in path and the file in pattern.")
    return found.path


def _path_of_link(backend: Backend, path: str, found: FileStat) -> str:
    """The path of the link by which a file was named, as a walk shows it; the canonical path if there was no link.

    Args:
        backend: where it is.
        path: as the caller spells it.
        found: the target. Links to folders are resolved: no walk goes through them.

    Raises:
        NoDescriptors
    """
    if found.kind != "file":
        return found.path
    *above, name = split_path(spelled_for_system(path))
    try:
        folder = backend.stat("/".join(above) or ".").path
        if joined(folder, name) == found.path:
            return found.path
        with FolderTrail(backend) as trail:  # Another spelling may be the file itself on a disk that ignores case.
            is_link = trail.at(folder).see(name).kind == "link"
    except (OSError, FsToolsError):
        return found.path
    return joined(folder, name) if is_link else found.path
