"""Chooses where `%fs` works: in this process or on a server."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from traitlets import TraitError
from traitlets.config import Config

from ..client.changes import change_of, changes_of, changes_route
from ..client.requests import understood, without_secrets
from ..client.runtime_files import JupyterServer
from ..config import FsToolsConfig, config_with_handed_settings
from ..entry_points import absolute_root
from ..errors import Denied, Invalid, NotFound
from ..globs.segments import escaped
from ..journal.listing import ChangeQuery, changes_to_undo, unknown_change
from ..open_documents.holders import ElsewhereDocuments
from ..progress import Progress
from ..sessions import DEFAULT_SESSION, checked_session, system_user
from ..stores.records import Change, Reader
from ..tools import ToolResult
from .files import MOST_ENTRIES, Files, Name, OwnFiles, Tell
from .result import KernelResult
from .server_calls import ServerCalls

_T = TypeVar("_T")
_TOKEN_VARIABLES = ("JUPYTERHUB_API_TOKEN", "JUPYTER_TOKEN")
_TOKEN_HINT = f"Set {' or '.join(_TOKEN_VARIABLES)}, or c.FsToolsConfig.server_token_file, to a token of that server."


class Desk:
    """The workspace, files and journal that the subcommands use.

    Args:
        config: the kernel's own configuration, which overrides the settings that a server handed over.
        folder: the root, unless the settings name one (relative to it).
    """

    def __init__(self, config: Config, folder: str) -> None:
        self._config = config
        self._folder = folder
        self._settings: FsToolsConfig | None = None
        self._files: Files | None = None
        self._process = 0
        self.session = DEFAULT_SESSION

    @property
    def settings(self) -> FsToolsConfig:
        """The settings of this kernel, read once.

        Raises:
            Invalid: one of them has no valid value.
        """
        if self._settings is None:
            try:
                settings = config_with_handed_settings(self._config)
                settings.root = absolute_root(settings.root, self._folder)
            except TraitError as error:
                raise Invalid(str(error), hint="Correct the setting in ipython_kernel_config.py.") from None
            except OSError:  # A relative root, where the working directory was gone when the magic was loaded.
                raise NotFound("The working directory no longer exists.", hint="Change to another with %cd.") from None
            self._settings = settings
        return self._settings

    @property
    def files(self) -> Files:
        """The files, for the session the kernel is in: its own, or those of the server that the settings name.

        Raises:
            Invalid: a setting is wrong; NotFound, NotADirectory: the root is not a folder.
        """
        # A forked child must not share its parent's connections and descriptors.
        if self._files is None or self._process != os.getpid():
            self._files = self._opened()
            self._process = os.getpid()
        return self._files

    def switch(self, session: str) -> None:
        """Switch to another session, whose receipts count from here on.

        Raises:
            Invalid: the name is not valid.
        """
        self._files = self.files.for_session(checked_session(session))
        self.session = session

    def call(
        self, tool: str, arguments: Mapping[str, Any], progress: Callable[[Progress], None] | None = None
    ) -> KernelResult:
        """Call a tool; `progress` is called with its progress.

        Raises:
            FsToolsError: it refused.
        """
        return KernelResult.of(self.files.call(tool, arguments, progress))

    def newest_own_change(self) -> Change:
        """The newest change of this session that is in effect and is not an undo itself.

        Raises:
            NotFound: there is none.
        """
        files, user = self.files, self.files.user()
        for change in changes_to_undo(lambda query: files.changes(query)[0], ChangeQuery(session=self.session)):
            if change.user == user:
                return change
        raise NotFound(
            f"session {self.session} has no change to undo (not modified)",
            hint="List the changes (`changes`) to see what there was.",
            session=self.session,
        )

    def _opened(self) -> Files:
        settings = self.settings
        if settings.server:
            return connected_files(settings, self.session)
        workspace = settings.workspace(
            Reader(system_user(), self.session), documents=lambda backend, store: [ElsewhereDocuments(store)]
        )
        return OwnFiles(workspace, settings)


class ServerFiles:
    """Files of a server elsewhere.

    Args:
        calls: the connection to it.
        token: gives the token to send, before each call: it may come, or be replaced, while the kernel runs.
        session: the session whose receipts count.
    """

    def __init__(self, calls: ServerCalls, token: Callable[[], str], session: str) -> None:
        self._calls = calls
        self._token = token
        self._session = session

    def for_session(self, session: str) -> ServerFiles:
        """The same files for another session, on the same connection."""
        return ServerFiles(self._calls, self._token, session)

    def call(self, tool: str, arguments: Mapping[str, Any], progress: Tell | None = None) -> ToolResult:
        """Call a tool; `progress` is called with its progress."""
        with self._with_token():
            return self._calls.call(tool, arguments, session=self._session, progress=progress)

    def changes(self, query: ChangeQuery) -> tuple[list[Change], int]:
        """The changes a query describes, and how many there are on all its pages."""
        return self._ask(changes_route(query), changes_of)

    def change(self, change_id: str) -> Change:
        """One change."""
        if not change_id:  # The address would be that of the list.
            raise unknown_change(change_id)
        route = f"/changes/{quote(change_id, safe='', errors='replace')}"
        return self._ask(route, lambda told: change_of(told["change"]))

    def user(self) -> str:
        """The user whose receipts count."""
        return self._ask("/", lambda told: str(told["user"]))

    def names(self, folder: str, beginning: str) -> Iterator[Name]:
        """The names in one folder that begin so and may be shown; none if it is not a folder."""
        place = {"path": folder or "."}
        listed = self.call("list_files", place | {"limit": MOST_ENTRIES}).data
        yield from (Name(entry["name"], entry["is_directory"]) for entry in listed["entries"])
        if listed["truncated"] and beginning:  # Folders come first, so those that are left are files.
            pattern = f"/{escaped(beginning)}*"
            everything = {"include_hidden": True, "include_ignored": True, "limit": MOST_ENTRIES}
            found = self.call("glob", place | everything | {"pattern": pattern}).data
            shown = {entry["name"] for entry in listed["entries"]}
            names = (posixpath.basename(file["path"]) for file in found["files"])
            yield from (Name(name, False) for name in names if name not in shown)

    def status(self) -> dict[str, Any]:
        """The root, and the enabled features."""
        names = ("version", "root", "user", "approval", "read_only", "tools")
        facts = self._ask("/", lambda told: {name: told[name] for name in names})
        return {**facts, "session": self._session, "server": {"url": self._calls.server.url}}

    def _ask(self, route: str, read: Callable[[dict[str, Any]], _T]) -> _T:
        """Get a route; return what `read` makes of its answer."""
        with self._with_token(), understood(self._calls.server):
            return read(self._calls.ask(route, session=self._session))

    @contextmanager
    def _with_token(self) -> Iterator[None]:
        """Send the current token; where there is none, a refusal tells how to set it."""
        self._calls.server = replace(self._calls.server, token=self._token())
        try:
            yield
        except Denied as refusal:
            if not self._calls.server.token:
                refusal.hint = _TOKEN_HINT
            raise


def connected_files(settings: FsToolsConfig, session: str) -> ServerFiles:
    """The files of the server that the settings name.

    Every call raises:
        Invalid: the token's file cannot be read, or others may read it.
    """
    server = JupyterServer(without_secrets(settings.server))
    return ServerFiles(ServerCalls(server), partial(_token, settings.server_token_file), session)


def _token(file: str) -> str:
    if not file:
        return next((token for name in _TOKEN_VARIABLES if (token := os.environ.get(name, "").strip())), "")
    path = Path(file).expanduser()
    try:
        mode, token = path.stat().st_mode, path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise Invalid(
            f"server_token_file: {path} cannot be read: {reason}", hint="Put the token into it, and nothing else."
        ) from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise Invalid(
            f"server_token_file: others may read {path} (mode {stat.S_IMODE(mode):03o})",
            hint=f"Run chmod 600 {path}, and make a new token if others saw this one.",
        )
    return token
