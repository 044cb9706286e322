"""Defines the settings and builds a workspace from them."""

from __future__ import annotations

import json
import logging
import os
import re
from typing import TYPE_CHECKING, Any, TypeVar

from traitlets import Enum, List, TraitError, Unicode, validate
from traitlets.config import Application, Config, Configurable

from .backends.file_locks import FileLocks
from .backends.protocol import HoldsLocks, Locks
from .entry_points import open_backend, open_store, scheme_of, shown_setting, store_class
from .errors import Invalid
from .gate.policy import Policy, Rules
from .gate.startup_files import ASK_WRITE, DENY_READ, DENY_WRITE, startup_places
from .limits import Limits, StoreLimits
from .own_folders import denied_folders, lock_folder
from .traits import WordOrRules, list_of_texts, number, switch, text, traits_of

if TYPE_CHECKING:
    from .gate.workspace import Workspace
    from .stores.protocol import Store
    from .stores.records import Reader

ENVIRONMENT = "JUPYTER_FSTOOLS_SETTINGS"
"""Environment variable that passes the server's settings to kernels as JSON; it never contains a secret."""

_PREFIX = re.compile(r"[A-Za-z0-9_-]{0,50}")
"""Models' interfaces refuse names of tools with other characters, or with more than 64."""

_log = logging.getLogger("jupyter_fstools")
_Record = TypeVar("_Record", Limits, StoreLimits, Rules)


class FsToolsConfig(Configurable):
    """Settings of jupyter-fstools, for `jupyter_server_config` and `ipython_kernel_config`."""

    root = text(
        "Folder that the tools work in; empty: the server's root, or the kernel's working directory. "
        "Or an address: 's3://', 'gs://' or 'az://' with bucket and prefix, 'memory:' (ends with the process), "
        "or one of a scheme that another package registers."
    )
    store = text(
        "Where receipts and changes are kept: 'sqlite:' (a file in Jupyter's data directory), 'sqlite:PATH', "
        "'memory:' (forgotten when the process ends, not shared with kernels), 'postgresql://user@host/db' (shared by "
        "servers on many machines), or an address of a scheme that another package registers.",
        "sqlite:",
    )
    server = text(
        "In a kernel that does not share the server's disk: the server's address, such as "
        "'https://host/user/ada/'; %fs then works over REST. Empty: on this machine's files."
    )
    server_token_file = text(
        "File (mode 0600) that holds the token for `server`; empty: JUPYTERHUB_API_TOKEN or JUPYTER_TOKEN."
    )
    read_only = switch(False, "Switch off every tool that writes.")
    approval = WordOrRules(
        [Enum(["never", "always"]), List(Unicode())],
        default_value="never",
        help="Whether changes wait for a person: 'never', 'always', or a list of rules for the paths whose changes do.",
    ).tag(config=True)
    deny_read = list_of_texts(
        "Rules for paths that no tool reads, writes, lists or suggests, besides default_deny_read."
    )
    deny_write = list_of_texts(
        "Rules for paths that no tool writes, besides default_deny_write and the rules that deny reading."
    )
    default_deny_read = list_of_texts("The rules that deny_read adds to.", DENY_READ)
    default_deny_write = list_of_texts("The rules that deny_write adds to.", DENY_WRITE)
    ask_write = list_of_texts(
        "Rules for paths whose changes wait for a person, whatever approval says, besides default_ask_write."
    )
    default_ask_write = list_of_texts("The rules that ask_write adds to.", ASK_WRITE)
    protected_files = list_of_texts(
        "Absolute paths that no tool writes, whatever the rules say; the files that settings come from always are."
    )
    durable = switch(True, "Flush each write to the disk (fsync) before the call returns.")
    vars().update(traits_of(Rules))
    offer_to_jupyter_ai = switch(
        False,
        "Offer the tools on the port of jupyter_server_mcp, which asks for no login: every process that reaches "
        "the port reads and writes through them.",
    )
    cutting_clients = list_of_texts(
        "Beginnings of the names of MCP clients that cut long answers before their model sees them. Answers to these "
        "clients have at most mcp_output_bytes of text, so that the model has read what its receipts say. "
        "'' stands for every client.",
        ("claude-code", "codex", "gemini-cli"),
    )
    tool_prefix = text("Prefix of every tool's name, such as 'fs_'.")
    vars().update(traits_of(StoreLimits))
    vars().update(traits_of(Limits))
    unsaved_seconds = number(
        600,
        "Seconds for which no tool changes a file after the browser that has unsaved changes in it stopped answering.",
        least=0,
    )
    browser_seconds = number(
        3, "Seconds that a call waits for a browser that has its file open with unsaved changes.", least=0
    )

    @validate("tool_prefix")
    def _check_tool_prefix(self, proposal: dict[str, Any]) -> str:
        prefix: str = proposal["value"]
        if not _PREFIX.fullmatch(prefix):
            raise TraitError(f"tool_prefix takes at most 50 letters (a to z), digits, _ and -, got {prefix[:80]!r}")
        return prefix

    @validate("deny_read", "deny_write", "default_deny_read", "default_deny_write", "ask_write", "default_ask_write")
    def _check_rules(self, proposal: dict[str, Any]) -> list[str]:
        rules: list[str] = proposal["value"]
        try:
            Policy(deny_read=rules)
        except Invalid as error:
            raise TraitError(f"{proposal['trait'].name}: {error.message}") from None
        return rules

    @validate("protected_files")
    def _check_protected_files(self, proposal: dict[str, Any]) -> list[str]:
        wrong = [file for file in proposal["value"] if not os.path.isabs(file) or "\0" in file]
        if wrong:
            raise TraitError(f"protected_files takes absolute paths, got {wrong[0]!r}")
        # The gate compares real paths.
        return [os.path.realpath(file) for file in proposal["value"]]

    @validate("approval")
    def _check_approval(self, proposal: dict[str, Any]) -> str | list[str]:
        rules: str | list[str] = proposal["value"]
        if not isinstance(rules, str) and (words := {"never", "always"} & set(rules)):
            raise TraitError(f"approval takes {words.pop()!r} alone, not in a list of rules")
        return rules if isinstance(rules, str) else self._check_rules(proposal)

    @validate("store")
    def _check_store(self, proposal: dict[str, Any]) -> str:
        where: str = proposal["value"]
        try:
            if scheme_of(where, bare=True) != "sqlite":  # It always exists, and is imported only when used.
                store_class(where)
        except Invalid as error:
            raise TraitError(f"{error.message}. {error.hint}") from None
        return where

    def shared_settings(self) -> dict[str, Any]:
        """The settings that a kernel shares with its server: all that differ from their defaults, without passwords."""
        differing = {
            name: getattr(self, name)
            for name, trait in self.class_traits(config=True).items()
            if getattr(self, name) != trait.default(self)
        }
        return {name: shown_setting(one) if isinstance(one, str) else one for name, one in differing.items()}

    def share_with_kernels(self) -> None:
        """Pass the settings to the kernels that this process starts."""
        os.environ[ENVIRONMENT] = json.dumps({**self.shared_settings(), "root": self.root})

    def open_store(self) -> Store:
        """The store that the settings name."""
        return open_store(self.store, self._chosen(StoreLimits))

    @property
    def rules(self) -> Rules:
        """The gate's rules."""
        return self._chosen(Rules)

    @property
    def limits(self) -> Limits:
        """The limits of the tools."""
        return self._chosen(Limits)

    def _chosen(self, record: type[_Record]) -> _Record:
        return record(**{one: getattr(self, one) for one in record.__dataclass_fields__})

    def _locks(self, store: Store) -> Locks:
        """The store's own locks if it is shared by several machines, else lock files."""
        seconds = self.limits.lock_seconds
        return store.locks(seconds) if isinstance(store, HoldsLocks) else FileLocks(lock_folder(), timeout=seconds)

    def workspace(self, reader: Reader, *, committed: Any = None, documents: Any = None) -> Workspace:
        """The workspace of these settings, for one reader.

        Args:
            reader: the user and session.
            committed: called with every change made through the workspace, as `(change: Change) -> None`.
            documents: makes the sources of open documents, as `(backend, store) -> Sequence[OpenDocuments]`.

        Raises:
            NotFound, NotADirectory: the root is not a folder; Invalid: it is not a valid address.
        """
        from .gate.workspace import Workspace

        store = self.open_store()
        backend = open_backend(self.root, durable=self.durable)
        return Workspace(
            backend,
            store,
            self._locks(store),
            Policy(
                deny_read=[*self.default_deny_read, *self.deny_read],
                deny_write=[*self.default_deny_write, *self.default_deny_read, *self.deny_read, *self.deny_write],
                ask_write=[*self.default_ask_write, *self.ask_write],
                denied_keys=[*denied_folders(), *files_of(store)],
                kept_keys=[*startup_places(backend.root_key), *loaded_files(), *self.protected_files],
                approval=self.approval,
                read_only=self.read_only,
            ),
            reader,
            limits=self.limits,
            rules=self.rules,
            tool_prefix=self.tool_prefix,
            committed=committed,
            documents=documents(backend, store) if documents is not None else (),
        )


def handed_settings() -> dict[str, Any]:
    """The settings that a server passed to this process; empty without a server."""
    try:
        settings = json.loads(os.environ.get(ENVIRONMENT, "{}"))
    except (ValueError, RecursionError):
        _log.warning("%s is not valid JSON and is ignored", ENVIRONMENT)
        return {}
    return settings if isinstance(settings, dict) else {}


def config_with_handed_settings(own: Config) -> FsToolsConfig:
    """The settings of this process: its own configuration overrides the settings that a server passed to it."""
    merged = Config({"FsToolsConfig": handed_settings()})
    merged.merge(own)
    return FsToolsConfig(config=merged)


def loaded_files() -> list[str]:
    """The real paths of the files from which the running application took its settings."""
    files = Application.instance().loaded_config_files if Application.initialized() else []
    return [os.path.realpath(file) for file in files]


def files_of(store: Store) -> list[str]:
    """The files and folders of a store; they may be below the root, so the gate denies them to every tool."""
    path = getattr(store, "path", None)
    return [f"{path}{ending}" for ending in ("", "-wal", "-shm", "-journal", ".lock", ".damaged")] if path else []
