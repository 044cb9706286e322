"""Opens a kernel's workspace on first use and calls tools."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from traitlets import TraitError
from traitlets.config import Config

from ..backends.open_backend import absolute_root
from ..config import FsToolsConfig, config_with_handed_settings, system_user
from ..errors import FsToolsError, Invalid, NotFound
from ..gate.workspace import Workspace
from ..journal.journal import Journal
from ..progress import Progress
from ..sessions import DEFAULT_SESSION, checked_session
from ..stores.records import Reader
from ..tools import call_tool
from .result import KernelResult
from .words import quoted


class Desk:
    """What the subcommands work with.

    Args:
        config: the kernel's own configuration; what a server handed over stands below it.
        folder: the root, unless the settings name one (relative to it).
    """

    def __init__(self, config: Config, folder: str) -> None:
        self._config = config
        self._folder = folder
        self._settings: FsToolsConfig | None = None
        self._workspace: Workspace | None = None
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
            self._settings = settings
        return self._settings

    @property
    def workspace(self) -> Workspace:
        """The workspace, for the session the kernel is in.

        Raises:
            Invalid: a setting is wrong; NotFound, NotADirectory: the root is no folder.
        """
        # A forked child must not share its parent's connections and descriptors.
        if self._workspace is None or self._process != os.getpid():
            self._workspace = self.settings.workspace(self.settings.root, Reader(system_user(), self.session))
            self._process = os.getpid()
        return self._workspace

    @property
    def journal(self) -> Journal:
        """The changes below the root."""
        return Journal(self.workspace)

    def switch(self, session: str) -> None:
        """Go on in another session: its receipts count from here on.

        Raises:
            Invalid: no such name can be given.
        """
        self._workspace = self.workspace.for_reader(Reader(self.workspace.reader.user, checked_session(session)))
        self.session = session

    def call(
        self, tool: str, arguments: Mapping[str, Any], progress: Callable[[Progress], None] | None = None
    ) -> KernelResult:
        """Call a tool; `progress` is called with what it tells while it goes on.

        Raises:
            FsToolsError: it refused.
        """
        try:
            workspace = self.workspace.for_reader(self.workspace.reader, progress=progress)
            return KernelResult.of(call_tool(workspace, tool, arguments))
        except NotFound as refusal:
            self._look_in_working_directory(refusal, arguments.get("path"))
            raise

    def _look_in_working_directory(self, refusal: NotFound, path: str | None) -> None:
        """Where the path would be right from the working directory, tell its spelling from the root."""
        if path is None or os.path.isabs(path):
            return
        root = self.workspace.backend.root_key or "/"
        here = os.path.relpath(os.path.realpath(os.getcwd()), root).replace(os.sep, "/")
        if here == "." or here.split("/")[0] == "..":
            return
        from_root = posixpath.normpath(f"{here}/{path}")
        try:
            missing = from_root.startswith("../") or self.workspace.peek(from_root).kind == "missing"
        except FsToolsError:
            return
        if not missing:
            refusal.hint = f"Paths are relative to the root, not to the working directory: use {quoted(from_root)}."
