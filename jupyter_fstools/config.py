"""Defines the settings and builds a workspace from them."""

from __future__ import annotations

import getpass
import json
import logging
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Enum, Float, Int, List, TraitError, Unicode, Union, validate
from traitlets.config import Application, Config, Configurable

from .backends.file_locks import FileLocks
from .backends.protocol import HoldsLocks, Locks
from .entry_points import open_backend, scheme_of
from .errors import Invalid
from .gate.policy import Policy, Rules
from .gate.startup_files import ASK_WRITE, DENY_READ, DENY_WRITE, startup_places
from .limits import Limits, StoreLimits

if TYPE_CHECKING:
    from .gate.workspace import Workspace
    from .stores.protocol import Store
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


class FiniteFloat(Float[float, int | float]):
    """A number that is neither infinite nor NaN."""

    def validate(self, obj: Any, value: Any) -> Any:
        """The number, if it is finite."""
        number = super().validate(obj, value)
        if not math.isfinite(number):
            raise TraitError(f"{self.name} takes a number, got {number}")
        return number


def _text(help: str, default: str = "") -> Unicode[str, str | bytes]:
    return Unicode(default, help=help).tag(config=True)


def _list(help: str, default: Sequence[str] = ()) -> List[str]:
    return List(Unicode(), list(default), help=help).tag(config=True)


def _switch(default: bool, help: str) -> Bool[bool, bool | int]:
    return Bool(default, help=help).tag(config=True)


def _count(default: int, help: str, least: int = 1) -> Int[int, int]:
    return Int(default, min=least, help=help).tag(config=True)


def _number(default: float, help: str, least: float = 0.1) -> Float[float, int | float]:
    return FiniteFloat(default, min=least, help=help).tag(config=True)


class FsToolsConfig(Configurable):
    """Settings of jupyter-fstools, for `jupyter_server_config` and `ipython_kernel_config`."""

    root = _text(
        "Folder that the tools work in; empty: the server's root, or the kernel's working directory. "
        "Or an address: 'memory:' (files that end with the process), or what a package registers."
    )
    store = _text(
        "Where receipts and changes are kept: 'sqlite:' (a file in Jupyter's data directory), 'sqlite:PATH', "
        "'memory:' (forgotten when the process ends, not shared with kernels), 'postgresql://user@host/db' (shared by "
        "servers on many machines), or what a package registers.",
        "sqlite:",
    )
    server = _text(
        "In a kernel that does not share the server's disk: the server's address, such as "
        "'https://host/user/ada/'; %fs then works over REST. Empty: on this machine's files."
    )
    server_token_file = _text(
        "File (mode 0600) that holds the token for `server`; empty: JUPYTERHUB_API_TOKEN or JUPYTER_TOKEN."
    )
    read_only = _switch(False, "Switch off every tool that writes.")
    approval = _WordOrRules(
        [Enum(["never", "always"]), List(Unicode())],
        default_value="never",
        help="Changes that wait for a person: 'never', 'always', or a list of gitignore-like rules for their paths.",
    ).tag(config=True)
    deny_read = _list("More rules for what no tool reads, lists or suggests (gitignore-like).")
    deny_write = _list("More rules for what no tool writes (gitignore-like).")
    default_deny_read = _list("The rules that deny_read is added to.", DENY_READ)
    default_deny_write = _list("The rules that deny_write is added to.", DENY_WRITE)
    ask_write = _list("More rules for files whose changes wait for a person, whatever approval says.")
    default_ask_write = _list("The rules that ask_write is added to.", ASK_WRITE)
    protected_files = _list(
        "Absolute paths that no tool writes, whatever the rules say; the files that settings come from are added."
    )
    durable = _switch(True, "Flush each write to the disk (fsync) before the call returns.")
    refuse_unseen_edits = _switch(
        False, "Refuse an edit whose match lies outside every line shown, instead of only noting it."
    )
    overwrite_needs_full_read = _switch(True, "Overwriting a file requires that all of it was shown, not only a part.")
    enable_execute = _switch(
        False, "Offer the tool that runs commands; a server does so only where it offers terminals too."
    )
    execute_approval = _switch(True, "A command waits until a person approves it.")
    structured_content = _switch(
        False,
        "MCP answers carry structuredContent beside content, and the list of tools output schemas; some clients "
        "show a model that instead of the text.",
    )
    offer_to_jupyter_ai = _switch(
        False,
        "Offer the tools on the port of jupyter_server_mcp, which asks for no login: every process that reaches "
        "the port reads and writes through them.",
    )
    tool_prefix = _text("Prefix of every tool's name, such as 'fs_'.")
    max_receipts = _count(_STORE_LIMITS.max_receipts, "Receipts kept per session; the least recently used go first.")
    max_all_receipts = _count(_STORE_LIMITS.max_all_receipts, "Receipts kept in all; the least recently used go first.")
    journal_max_changes = _count(_STORE_LIMITS.journal_max_changes, "Changes kept in the journal.")
    journal_max_bytes = _count(_STORE_LIMITS.journal_max_bytes, "Bytes kept in the journal to undo changes.")
    max_proposals = _count(_STORE_LIMITS.max_proposals, "Changes that may wait for a person's decision, in all.")
    max_proposal_bytes = _count(_STORE_LIMITS.max_proposal_bytes, "Bytes of the changes that wait, in all.")
    session_proposals = _count(
        _STORE_LIMITS.session_proposals, "Changes of one session that may wait for a person's decision."
    )
    session_proposal_bytes = _count(
        _STORE_LIMITS.session_proposal_bytes, "Bytes of the changes of one session that wait."
    )
    journal_of_others = Enum(
        ["readable", "nothing"],
        "readable",
        help="Where users share a store: what the journal and the panel tell of other users; 'readable': of files that "
        "the server's own account may read.",
    ).tag(config=True)
    journal_max_days = _number(_STORE_LIMITS.journal_max_days, "Days that a change is kept.", least=0)
    read_seconds = _number(_LIMITS.read_seconds, "Seconds that reading one file takes at most.")
    full_read_bytes = _count(_LIMITS.full_read_bytes, "A file above this is read by windows only.")
    read_lines = _count(_LIMITS.read_lines, "Lines shown where the caller names no limit.")
    max_output_bytes = _count(_LIMITS.max_output_bytes, "Bytes of text that one call shows at most.")
    max_line_length = _count(_LIMITS.max_line_length, "Characters shown of one line.")
    max_edit_bytes = _count(_LIMITS.max_edit_bytes, "A file above this is neither edited nor made.")
    max_write_bytes = _count(_LIMITS.max_write_bytes, "Bytes of content that one call writes at most.")
    list_entries = _count(_LIMITS.list_entries, "Entries listed where the caller names no limit.")
    max_list_entries = _count(_LIMITS.max_list_entries, "Entries that one call lists at most.")
    grep_matches = _count(_LIMITS.grep_matches, "Lines found that are shown where the caller names no limit.")
    max_search_bytes = _count(_LIMITS.max_search_bytes, "A larger file is searched only if the caller names it.")
    search_seconds = _number(
        _LIMITS.search_seconds, "Seconds a search or a listing takes at most; what it found is shown."
    )
    max_image_pixels = _count(_LIMITS.max_image_pixels, "Pixels on the longer side of a picture that is shown at most.")
    max_image_bytes = _count(_LIMITS.max_image_bytes, "Bytes of a picture that is shown at most.", least=1024)
    max_document_bytes = _count(_LIMITS.max_document_bytes, "A picture or PDF above this is not opened.")
    document_seconds = _number(
        _LIMITS.document_seconds, "Seconds that decoding a picture or the pages of a PDF takes at most."
    )
    lock_seconds = _number(
        _LIMITS.lock_seconds, "Seconds that a call waits for a file which another call holds.", least=0
    )
    execute_seconds = _number(_LIMITS.execute_seconds, "Seconds that a command may run where the caller names no time.")
    max_execute_seconds = _number(_LIMITS.max_execute_seconds, "Seconds that a command may run at most.")
    execute_output_bytes = _count(
        _LIMITS.execute_output_bytes, "Bytes of what a command prints that are shown at most.", least=1024
    )
    execute_approval_seconds = _number(
        _LIMITS.execute_approval_seconds, "Seconds that a command waits for a person's approval at most."
    )
    unsaved_seconds = _number(
        600, "Seconds that a file with unsaved changes in a browser which fell silent is left alone.", least=0
    )
    browser_seconds = _number(
        3, "Seconds that a call waits for the browser which has its file open with unsaved changes.", least=0
    )

    @validate("tool_prefix")
    def _check_tool_prefix(self, proposal: dict[str, Any]) -> str:
        prefix: str = proposal["value"]
        if prefix and not prefix.replace("_", "a").replace("-", "a").isalnum():
            raise TraitError(f"tool_prefix takes letters, digits, _ and -, got {prefix!r}")
        return prefix

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
        from .entry_points import store_class

        where: str = proposal["value"]
        try:
            if scheme_of(where, bare=True) != "sqlite":  # Which is always there, and not imported before its use.
                store_class(where)
        except Invalid as error:
            raise TraitError(f"{error.message}. {error.hint}") from None
        return where

    def shared_settings(self) -> dict[str, Any]:
        """The settings that a kernel shares with its server: all that differ from their defaults."""
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
        from .entry_points import open_store

        return open_store(
            self.store,
            StoreLimits(**{name: getattr(self, name) for name in StoreLimits.__dataclass_fields__}),
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
        from .gate.workspace import Workspace

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
    if "://" not in where:
        return where
    address, _, options = re.sub(r"(://[^/?#@]*?):[^/?#]*@", r"\1@", where).partition("?")
    kept = "&".join(one for one in options.split("&") if not re.match(r"\w*password=", one))
    return f"{address}?{kept}" if kept else address


def handed_settings() -> dict[str, Any]:
    """The settings that a server handed to this process; empty without one."""
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
    """Folders that no tool touches wherever the root is: Jupyter's runtime files (they hold tokens), and our own."""
    from jupyter_core.paths import jupyter_runtime_dir

    return [os.path.realpath(jupyter_runtime_dir()), os.path.realpath(data_folder())]


def files_of(store: Store) -> list[str]:
    """The files of a store, which may be below the root: no tool touches what the gate knows."""
    path = getattr(store, "path", None)
    return [f"{path}{ending}" for ending in ("", "-wal", "-shm", "-journal", ".lock")] if path else []
