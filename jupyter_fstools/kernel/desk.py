"""Opens the kernel's files at the first use, and remembers the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from traitlets import TraitError
from traitlets.config import Config

from ..backends.open_backend import absolute_root
from ..config import FsToolsConfig, config_with_handed_settings, system_user
from ..errors import Invalid
from ..gate.workspace import Workspace
from ..open_documents.elsewhere import ElsewhereDocuments
from ..progress import Progress
from ..sessions import DEFAULT_SESSION, checked_session
from ..stores.records import Reader
from .files import Files, OwnFiles
from .result import KernelResult


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
            self._settings = settings
        return self._settings

    @property
    def files(self) -> Files:
        """The files, for the session the kernel is in: its own, or those of the server that the settings name.

        Raises:
            Invalid: a setting is wrong; NotFound, NotADirectory: the root is no folder.
        """
        # A forked child must not share its parent's connections and descriptors.
        if self._files is None or self._process != os.getpid():
            self._files = self._opened()
            self._process = os.getpid()
        return self._files

    @property
    def workspace(self) -> Workspace:
        """The kernel's own files.

        Raises:
            Invalid: they are on a server elsewhere.
        """
        files = self.files
        if not isinstance(files, OwnFiles):
            raise Invalid("the files are on another machine", hint="Use %fs, which asks the server.")
        return files.workspace

    def switch(self, session: str) -> None:
        """Go on in another session: its receipts count from here on.

        Raises:
            Invalid: no such name can be given.
        """
        self._files = self.files.for_session(checked_session(session))
        self.session = session

    def call(
        self, tool: str, arguments: Mapping[str, Any], progress: Callable[[Progress], None] | None = None
    ) -> KernelResult:
        """Call a tool; `progress` is called with what it tells while it goes on.

        Raises:
            FsToolsError: it refused.
        """
        return KernelResult.of(self.files.call(tool, arguments, progress))

    def _opened(self) -> Files:
        settings = self.settings
        if settings.server:
            from .server_files import connected_files

            return connected_files(settings, self.session)
        workspace = settings.workspace(
            settings.root,
            Reader(system_user(), self.session),
            documents=lambda backend, store: [ElsewhereDocuments(store)],
        )
        return OwnFiles(workspace, settings)
