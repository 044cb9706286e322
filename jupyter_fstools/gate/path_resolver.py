"""Where a caller's path leads, and what of it the caller may see; nothing here opens a file."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from ..backends.protocol import Backend, FileStat
from ..errors import Conflict, FsToolsError, NotFound
from .draft import require_file
from .near_names import near_names, nearest_folder
from .policy import Policy, checked_path


class Places:
    """The files below one root, as far as a policy lets a caller go.

    Args:
        backend: where the bytes are.
        policy: where callers may go.
    """

    def __init__(self, backend: Backend, policy: Policy) -> None:
        self.backend = backend
        self.policy = policy

    def peek(self, path: str) -> FileStat:
        """Look at a path, leaving no receipt; a missing file is `kind="missing"`.

        Raises:
            Invalid, OutsideRoot, Denied, NotADirectory
        """
        return self._located(path, self.policy.require_read)

    def key_at(self, path: str) -> str | None:
        """The key of the file that an absolute path leads to; None where no tool may look."""
        try:
            return self.peek(path).key
        except FsToolsError:
            return None

    def may_read(self, path: str) -> bool:
        """No deny rule keeps a canonical path from being read, listed or suggested."""
        return self.policy.may_read(path, self.key_of(path))

    def none_denied(self, folder: str, names: list[str]) -> bool:
        """A quick yes for many names in a canonical folder that may be read; after a no, `may_read` tells which."""
        root = self.backend.root_key
        return self.policy.none_denied(folder, names, f"{root}/{folder}" if folder else root)

    def key_of(self, path: str) -> str:
        """The key of a canonical path."""
        return f"{self.backend.root_key.rstrip('/')}/{path}" if path else self.backend.root_key

    def path_of(self, key: str) -> str | None:
        """The canonical path of a key; None for a file outside this root."""
        prefix = self.backend.root_key.rstrip("/") + "/"
        return key.removeprefix(prefix) if key.startswith(prefix) else None

    def not_found(self, path: str, stat: FileStat) -> NotFound:
        """The refusal of a missing file, with up to three names like it that the caller may see."""
        near = near_names(self.backend, stat, self.may_read, self.none_denied)
        if near:
            hint = f"Did you mean {' or '.join(near)}?"
        else:
            folder = nearest_folder(self.backend, stat, self.may_read)
            hint = f"List {repr(folder) if folder else 'the root'} with list_files: it is the nearest folder there is."
        return NotFound(f"{path!r} does not exist (paths are relative to the root)", hint=hint, near=near)

    def _existing(self, path: str) -> FileStat:
        stat = self.peek(path)
        if stat.kind == "missing":
            raise self.not_found(path, stat)
        require_file(path, stat)
        return stat

    def _located(self, path: str, require: Callable[[str, str, str], None]) -> FileStat:
        given = self._relative(checked_path(path))
        try:
            stat = self.backend.stat(path)
        except FsToolsError:
            # What is there behind a deny rule must not show in how the look at it failed.
            if not given.startswith(("/", "../")):
                require(given, given, self.key_of(given))
            raise
        require(given, stat.path, stat.key)
        return stat

    def _relative(self, path: str) -> str:
        return posixpath.normpath(self.path_of(path) or path)

    def _same_place(self, stat: FileStat) -> FileStat:
        now = self.backend.stat(stat.path or ".")
        if now.key != stat.key:
            raise Conflict(f"{stat.path} was replaced by a link meanwhile", hint="Look at the folder, then try again.")
        return now
