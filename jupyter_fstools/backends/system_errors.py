"""Turns a system error into a refusal with a next step."""

from __future__ import annotations

import errno
import os

from ..errors import (
    Conflict,
    Denied,
    FsToolsError,
    InputOutput,
    Invalid,
    IsDirectory,
    NotADirectory,
    NotFound,
)

EXISTS = "it exists already"
"""The reason of `overtaken` where another writer created the file."""

Refusal = tuple[type[FsToolsError], str, str]

_DENIED: Refusal = (Denied, "the system does not permit it", "Check the permissions of the file and of its folder.")
_BUSY: Refusal = (InputOutput, "another program has it open, or it is a mount point", "Close it there, then try again.")
_FULL: Refusal = (InputOutput, "the disk is full", "Free some space, then try again.")
_QUOTA: Refusal = (InputOutput, "the disk quota or size limit is reached", "Free some space, then try again.")
_TOO_LONG: Refusal = (Invalid, "the name or the path is too long", "Use a shorter name.")
_SWAPPED: Refusal = (Conflict, "a part of the path has become a link", "Look at the path again.")

_REFUSALS: dict[int, Refusal] = {
    errno.ENOENT: (NotFound, "it does not exist", "List the folder to see what is there."),
    errno.EEXIST: (Conflict, EXISTS, "Read it first, then edit or overwrite it."),
    errno.ENOTDIR: (NotADirectory, "a part of the path is a file, not a folder", "Check the path."),
    errno.EISDIR: (IsDirectory, "it is a folder", "Name a file in it, or list it."),
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EROFS: (Denied, "the file system is read-only", "Choose another folder."),
    errno.EBUSY: _BUSY,
    errno.ENXIO: (Denied, "it is a device, FIFO or socket", "Choose a regular file."),
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _QUOTA,
    errno.EFBIG: _QUOTA,
    errno.ENAMETOOLONG: _TOO_LONG,
    errno.EILSEQ: (Invalid, "the file system does not take this name", "Use another name."),
    errno.ELOOP: _SWAPPED,
}


def refusal(error: OSError, path: str, *, writing: bool = False) -> FsToolsError:
    """The refusal that explains `error` for `path`; for a failed write it says that nothing was modified."""
    number = error.errno or 0
    said = os.strerror(number) if number else "the system gave no reason"
    kind, reason, hint = _REFUSALS.get(number, (InputOutput, f"the system says: {said}", "Try again."))
    if kind is InputOutput and number in _REFUSALS:
        reason += f" ({said})"
    return refused(kind, path, reason, hint=hint, writing=writing)


def refused(kind: type[FsToolsError], path: str, reason: str, *, hint: str = "", writing: bool = False) -> FsToolsError:
    """A refusal about `path` in the words all backends use."""
    shown = path or "."
    return kind(f"'{shown}' was not modified: {reason}." if writing else f"'{shown}': {reason}.", hint=hint)


def missing(path: str, *, folder: bool = False, writing: bool = False) -> FsToolsError:
    """The refusal for a file, or a `folder`, that does not exist."""
    hint = "List the folder above it." if folder else "List the folder to see what is there."
    return refused(NotFound, path, "it does not exist", hint=hint, writing=writing)


def folder_instead(path: str, *, writing: bool = False) -> FsToolsError:
    """The refusal to read or write a folder as a file."""
    hint = "Name a file in it." if writing else "Name a file in it, or list it."
    return refused(IsDirectory, path, "it is a folder", hint=hint, writing=writing)


def file_instead(path: str, above: str | None = None, *, writing: bool = False) -> FsToolsError:
    """The refusal to use a file as a folder: `path` itself, or the part `above` it."""
    if above is None:
        return refused(NotADirectory, path, "it is a file, not a folder", hint="Read it instead.", writing=writing)
    return refused(NotADirectory, path, f"'{above}' is a file, not a folder", hint="Check the path.", writing=writing)


def overtaken(path: str, reason: str = "it has changed meanwhile", *, writing: bool = True) -> FsToolsError:
    """The refusal of a write that lost a race: the file was changed, or `reason`."""
    return refused(Conflict, path, reason, hint="Read it again, then repeat the change.", writing=writing)


def read_only(path: str) -> FsToolsError:
    """The refusal to write or remove a file that is read-only."""
    hint = "Make it writable first, if it is meant to be changed."
    return refused(Denied, path, "it is read-only", hint=hint, writing=True)
