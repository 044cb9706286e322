"""Defines the settings and builds a workspace from them."""

from __future__ import annotations

import getpass
import json
import logging
import math
import os
import re
from pathlib import Path
from typing import Any

from traitlets import Bool, Enum, Float, Int, List, TraitError, Unicode, Union, validate
from traitlets.config import Application, Config, Configurable

from .backends.file_locks import FileLocks
from .backends.open_backend import open_backend
from .backends.protocol import HoldsLocks, Locks
from .errors import Invalid
from .gate.policy import Policy, Rules
from .gate.startup_files import ASK_WRITE, DENY_READ, DENY_WRITE, startup_places
from .gate.workspace import Workspace
from .limits import Limits
from .stores.open_store import open_store, store_class
from .stores.protocol import Store, StoreLimits
from .stores.records import Reader

ENVIRONMENT = "JUPYTER_FSTOOLS_SETTINGS"
"""What server and kernel must agree on travels here, as JSON; never a secret."""

_log = logging.getLogger("jupyter_fstools")
_LIMITS = Limits()
_STORE_LIMITS = StoreLimits()


class _WordOrRules(Union):
    """A word or a list of rules, on a command line too: a rule each time the option is given."""

    def from_string(self, s: str) -> Any:
        return self.from_string_list([s])

    def from_string_list(self, s_list: list[str]) -> Any:
        words, rules = self.trait_types
        return s_list[0] if s_list in [[word] for word in words.values] else rules.from_string_list(s_list)


class FsToolsConfig(Configurable):
    """Settings of jupyter-fstools, for `jupyter_server_config` and `ipython_kernel_config`."""

    root = Unicode(
        help="Folder that the tools work in; empty: the server's root, or the kernel's working directory. "
        "Or an address: 'memory:' (files that end with the process), or what a package registers."
    )
    root.tag(config=True)
    store = Unicode(
        "sqlite:",
        help="Where receipts and changes are kept: 'sqlite:' (a file in Jupyter's data directory), 'sqlite:PATH', "
        "'memory:' (forgotten when the process ends, not shared with kernels), 'postgresql://user@host/db' (shared by "
        "servers on many machines), or what a package registers.",
    ).tag(config=True)
    server = Unicode(
        help="In a kernel that does not share the server's disk: the server's address, such as "
        "'https://host/user/ada/'; %fs then works over REST. Empty: on this machine's files."
    ).tag(config=True)
    server_token_file = Unicode(
        help="File (mode 0600) that holds the token for `server`; empty: JUPYTERHUB_API_TOKEN or JUPYTER_TOKEN."
    ).tag(config=True)
    read_only = Bool(False, help="Leave out every tool that writes.").tag(config=True)
    approval = _WordOrRules(
        [Enum(["never", "always"]), List(Unicode())],
        default_value="never",
        help="Which changes wait for a person: 'never', 'always', or a list of gitignore-like rules for their paths.",
    ).tag(config=True)
    deny_read = List(Unicode(), help="More rules for what no tool reads, lists or suggests (gitignore-like).")
    deny_read.tag(config=True)
    deny_write = List(Unicode(), help="More rules for what no tool writes (gitignore-like).").tag(config=True)
    default_deny_read = List(Unicode(), list(DENY_READ), help="The rules that deny_read is added to.").tag(config=True)
    default_deny_write = List(Unicode(), list(DENY_WRITE), help="The rules that deny_write is added to.").tag(
        config=True
    )
    ask_write = List(Unicode(), help="More rules for files whose changes wait for a person, whatever approval says.")
    ask_write.tag(config=True)
    default_ask_write = List(Unicode(), list(ASK_WRITE), help="The rules that ask_write is added to.")
    default_ask_write.tag(config=True)
    protected_files = List(
        Unicode(),
        help="Absolute paths that no tool writes, whatever the rules say; the files that settings come from are added.",
    ).tag(config=True)
    durable = Bool(True, help="Wait until the disk has a write (fsync) before a call returns.").tag(config=True)
    refuse_unseen_edits = Bool(
        False, help="Refuse an edit whose match lies outside every line shown, instead of only saying so."
    ).tag(config=True)
    overwrite_needs_full_read = Bool(
        True, help="Overwriting a file demands that all of it was shown, not only a part."
    ).tag(config=True)
    enable_execute = Bool(
        False, help="Offer the tool that runs commands; a server does so only where it offers terminals too."
    ).tag(config=True)
    execute_approval = Bool(True, help="A command waits until a person approves it.").tag(config=True)
    structured_content = Bool(
        False,
        help="MCP answers carry structuredContent beside content, and the list of tools output schemas; some clients "
        "show a model that instead of the text.",
    ).tag(config=True)
    offer_to_jupyter_ai = Bool(
        False,
        help="Offer the tools on the port of jupyter_server_mcp, which asks for no login: every process that reaches "
        "the port reads and writes through them.",
    ).tag(config=True)
    tool_prefix = Unicode(help="What every tool's name begins with, such as 'fs_'.").tag(config=True)
    max_receipts = Int(
        _STORE_LIMITS.max_receipts, min=1, help="Receipts kept per session; the least recently used go first."
    ).tag(config=True)
    journal_max_changes = Int(_STORE_LIMITS.journal_max_changes, min=1, help="Changes kept in the journal.").tag(
        config=True
    )
    journal_max_bytes = Int(
        _STORE_LIMITS.journal_max_bytes, min=1, help="Bytes kept in the journal to undo changes."
    ).tag(config=True)
    journal_of_others = Enum(
        ["readable", "nothing"],
        "readable",
        help="Where users share a store: what the journal and the panel tell of other users; 'readable': of files that "
        "the server's own account may read.",
    ).tag(config=True)
    journal_max_days = Float(_STORE_LIMITS.journal_max_days, min=0, help="Days that a change is kept.").tag(config=True)
    full_read_bytes = Int(_LIMITS.full_read_bytes, min=1, help="A file above this is read by windows only.").tag(
        config=True
    )
    read_lines = Int(_LIMITS.read_lines, min=1, help="Lines shown where the caller names no limit.").tag(config=True)
    max_output_bytes = Int(_LIMITS.max_output_bytes, min=1, help="Bytes of text that one call shows at most.").tag(
        config=True
    )
    max_line_length = Int(_LIMITS.max_line_length, min=1, help="Characters shown of one line.").tag(config=True)
    max_edit_bytes = Int(_LIMITS.max_edit_bytes, min=1, help="A file above this is not edited.").tag(config=True)
    max_write_bytes = Int(_LIMITS.max_write_bytes, min=1, help="Bytes of content that one call writes at most.").tag(
        config=True
    )
    list_entries = Int(_LIMITS.list_entries, min=1, help="Entries listed where the caller names no limit.").tag(
        config=True
    )
    max_list_entries = Int(_LIMITS.max_list_entries, min=1, help="Entries that one call lists at most.").tag(
        config=True
    )
    grep_matches = Int(_LIMITS.grep_matches, min=1, help="Lines found that are shown where the caller names no limit.")
    grep_matches.tag(config=True)
    max_search_bytes = Int(
        _LIMITS.max_search_bytes, min=1, help="A larger file is searched only if the caller names it."
    ).tag(config=True)
    search_seconds = Float(
        _LIMITS.search_seconds, min=0.1, help="Seconds a search or a listing takes at most; what it found is shown."
    ).tag(config=True)
    max_image_pixels = Int(
        _LIMITS.max_image_pixels,
        min=1,
        help="Pixels on the longer side of a picture that is shown at most.",
    ).tag(config=True)
    max_image_bytes = Int(_LIMITS.max_image_bytes, min=1024, help="Bytes of a picture that is shown at most.").tag(
        config=True
    )
    max_document_bytes = Int(_LIMITS.max_document_bytes, min=1, help="A picture or PDF above this is not opened.").tag(
        config=True
    )
    document_seconds = Float(
        _LIMITS.document_seconds, min=0.1, help="Seconds that decoding a picture or the pages of a PDF takes at most."
    ).tag(config=True)
    lock_seconds = Float(
        _LIMITS.lock_seconds, min=0, help="Seconds that a call waits for a file which another call holds."
    ).tag(config=True)
    execute_seconds = Float(
        _LIMITS.execute_seconds, min=0.1, help="Seconds that a command may run where the caller names no time."
    ).tag(config=True)
    max_execute_seconds = Float(
        _LIMITS.max_execute_seconds, min=0.1, help="Seconds that a command may run at most."
    ).tag(config=True)
    execute_output_bytes = Int(
        _LIMITS.execute_output_bytes, min=1024, help="Bytes of what a command prints that are shown at most."
    ).tag(config=True)
    execute_approval_seconds = Float(
        _LIMITS.execute_approval_seconds, min=0.1, help="Seconds that a command waits for a person's approval at most."
    ).tag(config=True)

    unsaved_seconds = Float(
        600,
        min=0,
        help="Seconds that a file with unsaved changes in a browser which fell silent is left alone.",
    ).tag(config=True)

    browser_seconds = Float(
        3,
        min=0,
        help="Seconds that a call waits for the browser which has its file open with unsaved changes.",
    ).tag(config=True)

    @validate("tool_prefix")
    def _check_tool_prefix(self, proposal: dict[str, Any]) -> str:
        prefix: str = proposal["value"]
        if prefix and not prefix.replace("_", "a").replace("-", "a").isalnum():
            raise TraitError(f"tool_prefix takes letters, digits, _ and -, got {prefix!r}")
        return prefix

    @validate(
        "journal_max_days",
        "search_seconds",
        "document_seconds",
        "lock_seconds",
        "unsaved_seconds",
        "browser_seconds",
        "execute_seconds",
        "max_execute_seconds",
        "execute_approval_seconds",
    )
    def _check_finite(self, proposal: dict[str, Any]) -> float:
        number: float = proposal["value"]
        if not math.isfinite(number):
            raise TraitError(f"{proposal['trait'].name} takes a number, got {number}")
        return number

    @validate("deny_read", "deny_write", "default_deny_read", "default_deny_write", "ask_write", "default_ask_write")
    def _check_rules(self, proposal: dict[str, Any]) -> list[str]:
        rules: list[str] = proposal["value"]
        try:
            Policy(deny_read=rules)
        except Invalid as error:
            raise TraitError(f"{proposal['trait'].name}: {error.message}") from None
        return rules

    @validate("store")
    def _check_store(self, proposal: dict[str, Any]) -> str:
        where: str = proposal["value"]
        try:
            store_class(where)
        except Invalid as error:
            raise TraitError(f"{error.message}. {error.hint}") from None
        return where

    def shared_settings(self) -> dict[str, Any]:
        """What a kernel must agree on with its server: every setting that differs from its default."""
        differing = {
            name: getattr(self, name)
            for name, trait in self.class_traits(config=True).items()
            if getattr(self, name) != trait.default(self)
        }
        return {name: shown_setting(one) if isinstance(one, str) else one for name, one in differing.items()}

    def share_with_kernels(self, root: str) -> None:
        """Hand the settings to kernels that this process starts."""
        os.environ[ENVIRONMENT] = json.dumps({**self.shared_settings(), "root": root})

    def open_store(self) -> Store:
        """The store that the settings name."""
        return open_store(
            self.store,
            StoreLimits(
                max_receipts=self.max_receipts,
                journal_max_changes=self.journal_max_changes,
                journal_max_bytes=self.journal_max_bytes,
                journal_max_days=self.journal_max_days,
            ),
        )

    def _locks(self, store: Store) -> Locks:
        """The store's own locks, where it is shared by machines; else lock files."""
        if isinstance(store, HoldsLocks):
            return store.locks(self.lock_seconds)
        return FileLocks(lock_folder(), timeout=self.lock_seconds)

    def workspace(
        self,
        root: str | os.PathLike[str],
        reader: Reader,
        *,
        store: Store | None = None,
        committed: Any = None,
        documents: Any = None,
    ) -> Workspace:
        """The workspace of these settings, for one reader.

        Args:
            root: the folder, or the address of files elsewhere, unless the settings name one.
            reader: who asks.
            store: an open store to use instead of the one that the settings name.
            committed: called with every change made through the workspace, as `(change: Change) -> None`.
            documents: makes what knows the open documents, as `(backend, store) -> Sequence[OpenDocuments]`.

        Raises:
            NotFound, NotADirectory: the root is no folder; Invalid: it is no address.
        """
        store = store or self.open_store()
        backend = open_backend(self.root or root, durable=self.durable)
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
            limits=Limits(**{name: getattr(self, name) for name in Limits.__dataclass_fields__}),
            rules=Rules(**{name: getattr(self, name) for name in Rules.__dataclass_fields__}),
            tool_prefix=self.tool_prefix,
            committed=committed,
            documents=documents(backend, store) if documents is not None else (),
        )


def shown_setting(where: str) -> str:
    """The address of a store or a root without the password in it."""
    return re.sub(r"(://[^/?#@]*?):[^/?#]*@", r"\1@", where)


def handed_settings() -> dict[str, Any]:
    """What a server handed to this process; empty without one."""
    try:
        settings = json.loads(os.environ.get(ENVIRONMENT, "{}"))
    except ValueError:
        _log.warning("%s holds no JSON and is ignored", ENVIRONMENT)
        return {}
    return settings if isinstance(settings, dict) else {}


def config_with_handed_settings(own: Config | None = None) -> FsToolsConfig:
    """The settings of this process: its own configuration over what a server handed to it."""
    merged = Config({"FsToolsConfig": handed_settings()})
    merged.merge(own or {})
    return FsToolsConfig(config=merged)


def loaded_files() -> list[str]:
    """The real paths of the files from which the running application took its settings."""
    files = Application.instance().loaded_config_files if Application.initialized() else []
    return [os.path.realpath(file) for file in files]


def system_user() -> str:
    """The account this process runs as: the reader of everybody without an identity of their own.

    A JupyterHub names its users; kernels learn the name from their environment.
    """
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def data_folder() -> Path:
    """Where jupyter-fstools keeps what is its own: a folder in Jupyter's data directory."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "fstools"


def lock_folder() -> Path | None:
    """The folder of the lock files; None (locks within this process only) where it cannot be made."""
    folder = data_folder() / "locks"
    try:
        # The mode is that of the last folder only: made on the way, the store's own would be open to others.
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        _log.warning("No locks between processes: %s cannot be made (%s)", folder, error.strerror)
        return None
    return folder


def denied_folders() -> list[str]:
    """What no tool touches wherever the root is: Jupyter's runtime files (they hold tokens), and our own."""
    from jupyter_core.paths import jupyter_runtime_dir

    return [os.path.realpath(jupyter_runtime_dir()), os.path.realpath(data_folder())]


def files_of(store: Store) -> list[str]:
    """The files of a store, which may be below the root: no tool touches what the gate knows."""
    path = getattr(store, "path", None)
    return [f"{path}{ending}" for ending in ("", "-wal", "-shm", "-journal", ".lock")] if path else []
