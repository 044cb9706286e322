"""Resolves a caller's path and hides what policy denies."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from ..backends.operating_system import split_path
from ..backends.protocol import Backend, FileStat
from ..errors import Conflict, Denied, FsToolsError, InputOutput, NotADirectory, NotFound, OutsideRoot
from ..walking.names import joined
from .draft import require_file
from .near_paths import Looking, hint_for, near_paths, paths_at_end
from .policy import Policy, checked_path, possible_repositories
from .tokens import Grant


class PathResolver(Looking):
    """The files below one root, as far as a policy lets a caller go.

    Args:
        backend: where the bytes are.
        policy: where callers may go.
        grant: the part of it that one caller may see; None: all.
    """

    def __init__(self, backend: Backend, policy: Policy, grant: Grant | None = None) -> None:
        self.backend = backend
        self.policy = policy
        self.grant = grant

    def peek(self, path: str) -> FileStat:
        """Look at a path; a missing file is `kind="missing"`.

        Raises:
            Invalid, OutsideRoot, Denied, NotADirectory
        """
        return self._located(path, self.policy.require_read)

    def peek_to_write(self, path: str, *, must_exist: bool) -> FileStat:
        """Look at a path that is to be changed.

        Raises:
            as `peek`; NotFound
        """
        stat = self._located(path, self.policy.require_write)
        places = {*possible_repositories(stat.path), *possible_repositories(self.relative(path))}
        for folder in filter(self._is_repository, places):
            # Hooks and settings of a repository are as its HEAD, which makes a folder one.
            self.policy.require_write(path, joined(folder, "HEAD"), self.key_of(folder))
        if must_exist and stat.kind == "missing":
            refusal = self.not_found(path, stat)
            refusal.hint += " To create a file use `write_file`."
            raise refusal
        return stat

    def existing(self, path: str) -> FileStat:
        """Look at a file that must be there.

        Raises:
            as `peek`; NotFound (with near names), IsDirectory
        """
        stat = self._located(path, self.policy.require_read)
        if stat.kind == "missing":
            raise self.not_found(path, stat)
        require_file(path, stat)
        return stat

    def existing_folder(self, path: str, hint: str) -> FileStat:
        """Look at a folder that must be there; `hint` is for a path that names something else.

        Raises:
            as `peek`; NotFound (with near names), NotADirectory
        """
        stat = self.peek(path)
        if stat.kind == "missing":
            raise self.not_found(path, stat)
        if stat.kind != "directory":
            raise NotADirectory(f"{path!r} is not a folder", hint=hint)
        return stat

    def looked_at_again(self, stat: FileStat) -> FileStat:
        """The file's current state, under its lock.

        Raises:
            Conflict: a link took its place.
        """
        now = self.backend.stat(stat.path or ".")
        if now.key != stat.key:
            raise Conflict(f"{stat.path} was replaced by a link meanwhile", hint="Look at the folder, then try again.")
        return now

    def key_at(self, path: str) -> str | None:
        """The key of the file at an absolute path; None where no tool may look."""
        try:
            return self.peek(path).key
        except FsToolsError:
            return None

    def may_read(self, path: str) -> bool:
        """Whether deny rules and grant let a canonical path be read, listed and suggested."""
        if not self.policy.may_read(path, self.key_of(path)):
            return False
        grant = self.grant
        if grant is None or grant.covers(path):
            return True
        # Only folders on the way to a granted path are visible, not files.
        try:
            return grant.leads_on(path) and self.backend.stat(path or ".").kind == "directory"
        except FsToolsError:
            return False

    def all_allowed(self, folder: str, names: list[str]) -> bool:
        """As `Visible.all_allowed`."""
        root = self.backend.root_key
        granted = self.grant is None or self.grant.all_paths
        return granted and self.policy.all_allowed(folder, names, f"{root}/{folder}" if folder else root)

    def key_of(self, path: str) -> str:
        """The key of a canonical path."""
        return f"{self.backend.root_key.rstrip('/')}/{path}" if path else self.backend.root_key

    def path_of(self, key: str) -> str | None:
        """The canonical path of a key; None for a file outside this root."""
        prefix = self.backend.root_key.rstrip("/") + "/"
        return key.removeprefix(prefix) if key.startswith(prefix) else None

    def not_found(self, path: str, stat: FileStat) -> NotFound:
        """The refusal of a missing file, with up to three names like it that the caller may see."""
        near = near_paths(self, path, stat)
        return NotFound(
            f"{path!r} does not exist (paths are relative to the root)", hint=hint_for(self, near, stat), near=near
        )

    def _located(self, path: str, require: Callable[[str, str, str], None]) -> FileStat:
        given = self.relative(checked_path(path))
        self._require_steps(path)
        try:
            stat = self.backend.stat(path)
        except FsToolsError as refusal:
            # The kind of failure must not reveal what exists behind a deny rule, not even through links.
            spelled = () if given.startswith(("/", "../")) else (given,)
            for place in (*spelled, *refusal.places):
                require(given, place, self.key_of(place))
                self._require_granted(given, place, folder=place != given)
            if isinstance(refusal, OutsideRoot) and (inside := paths_at_end(self, path)):
                refusal.hint = f"{refusal.hint} Did you mean {inside[0]}?"
            raise
        require(given, stat.path, stat.key)
        self._require_granted(given, stat.path, folder=stat.kind == "directory")
        return stat

    def _is_repository(self, folder: str) -> bool:
        """Whether a folder has a HEAD, which may be a broken link. Tools make none, but all else of a repository."""
        try:
            head = self.backend.stat(joined(folder, "HEAD"))
            is_link = head.path != joined(self.backend.stat(folder or ".").path, "HEAD")
            return is_link or head.kind not in ("directory", "missing")
        except InputOutput:
            raise  # No rule denies what the disk or the store could not tell.
        except FsToolsError:
            return True

    def _require_steps(self, path: str) -> None:
        """Refuse `..` behind a denied folder: that the backend follows it would reveal that the folder exists.

        Raises:
            Denied
        """
        here: list[str] = []
        before = ".."
        for part in split_path(path):
            if part != "..":
                here.append(part)
            else:
                if before != ".." and any(here):
                    try:
                        here = self._located("/".join(here), self.policy.require_read).path.split("/")
                    except Denied:
                        raise
                    except FsToolsError:
                        return  # The backend refuses the path anyway, with its own message.
                here = here[:-1]
            before = part

    def _require_granted(self, given: str, path: str, *, folder: bool) -> None:
        grant = self.grant
        if grant is None or grant.covers(path) or (folder and grant.leads_on(path)):
            return
        raise Denied(
            f"{given!r} is not among the paths that this token allows",
            hint="Use a path that it allows; a person can make another token.",
        )

    def relative(self, path: str) -> str:
        """A caller's path relative to the root, normalised."""
        return posixpath.normpath(self.path_of(path) or path)
