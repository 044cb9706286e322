"""Decides which paths a caller may read, write, or change with approval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ..errors import Denied, Invalid
from ..limits import setting
from .path_rules import PathRules, folded, rules_of
from .startup_files import ASK_WRITE, DENY_READ, DENY_WRITE, RUN_OF_REPOSITORY


@dataclass(frozen=True)
class Rules:
    """The gate's rules, as an administrator sets them."""

    refuse_unseen_edits: bool = setting(
        False, "Refuse an edit whose match lies outside every line shown, instead of only noting it."
    )
    overwrite_needs_full_read: bool = setting(
        True, "Overwriting a file requires that all of it was shown, not only a part."
    )
    enable_execute: bool = setting(
        False, "Offer the tool that runs commands (execute); a server without terminals never offers it."
    )
    execute_approval: bool = setting(True, "A command waits until a person approves it.")
    structured_content: bool = setting(
        False,
        "Add structuredContent to MCP answers, and output schemas to the list of tools; some clients then "
        "show the model that instead of the text.",
    )
    journal_of_others: Literal["readable", "nothing"] = setting(
        "readable",
        "Where users share a store: what the journal and the panel show of other users' changes; 'nothing', or "
        "'readable': those of files that the server's own account may read.",
    )


Approval = Literal["never", "always"] | Sequence[str]
MAX_PATH_BYTES = 4096


class Policy:
    """Deny rules, approval and read-only mode of one workspace.

    Rules are gitignore patterns with braces, matched without regard to case or Unicode normalisation, so that a rule
    holds on every file system.

    Args:
        deny_read: rules for every tool, suggestion and listing.
        deny_write: rules for the tools that write.
        ask_write: rules for files whose changes wait for a person, whatever `approval` says.
        denied_keys: files and folders (`FileStat.key`) that no tool touches.
        kept_keys: files and folders that no tool writes, whatever the rules say.
        approval: "never", "always", or rules for the files whose changes wait for a person.
        read_only: nothing is written at all.
    """

    def __init__(
        self,
        *,
        deny_read: Iterable[str] = DENY_READ,
        deny_write: Iterable[str] = DENY_WRITE,
        ask_write: Iterable[str] = ASK_WRITE,
        denied_keys: Iterable[str] = (),
        kept_keys: Iterable[str] = (),
        approval: Approval = "never",
        read_only: bool = False,
    ) -> None:
        self._read = rules_of(tuple(deny_read))
        self._deny_write = tuple(deny_write)
        self._ask_write = (*ask_write, *(() if isinstance(approval, str) else approval))
        keys = list(denied_keys)
        self._keys = tuple(f"{key}/" for key in keys)
        self._around_keys = {key.rpartition("/")[0] for key in keys}
        self._kept_keys = tuple(f"{key}/" for key in kept_keys)
        self._always = approval == "always"
        self.read_only = read_only

    # Compiled at the first write: two hundred patterns take as long as all the rest of loading a kernel's magic.
    @cached_property
    def _write(self) -> PathRules:
        return rules_of(self._deny_write)

    @cached_property
    def _ask(self) -> PathRules:
        return rules_of(self._ask_write)

    def may_read(self, path: str, key: str = "") -> bool:
        """Whether the deny rules let a path (relative to the root) be read, listed and suggested."""
        return not self._read.hold_for(path) and not f"{key}/".startswith(self._keys)

    def may_write(self, path: str) -> bool:
        """Whether the rules let a path be written; its key is not checked."""
        return not (self.read_only or self._write.hold_for(path) or self._read.hold_for(path))

    def all_allowed(self, folder: str, names: list[str], key: str) -> bool:
        """A quick yes for many names: True only if `may_read` holds for every one of them.

        Args:
            folder: the folder they are in, which itself no rule matches.
            names: the names.
            key: the folder's key.
        """
        if key in self._around_keys or f"{key}/".startswith(self._keys):
            return False
        return self._read.surely_hold_for_none(folder, names)

    def require_read(self, given: str, path: str, key: str) -> None:
        """Refuse a read of `path`, which the caller spelled `given`.

        Raises:
            Denied: a rule matches either spelling.
        """
        if not (self.may_read(path, key) and (given == path or self.may_read(given))):
            raise Denied(
                f"reading {given!r} is denied by a rule of this server",
                hint="Use another file; an administrator can change deny_read.",
            )

    def require_write(self, given: str, path: str, key: str) -> None:
        """Refuse a change of `path`, which the caller spelled `given`.

        Raises:
            Denied: a rule matches either spelling, or everything is read-only.
        """
        if self.read_only:
            raise Denied("this workspace is read-only", hint="An administrator can change read_only.")
        allowed = self.may_write(path) and (given == path or self.may_write(given))
        if not allowed or f"{key}/".startswith((*self._keys, *self._kept_keys)):
            raise Denied(
                f"writing {given!r} is denied by a rule of this server",
                hint="Use another file. An administrator can change deny_write and deny_read; the server's own "
                "settings files are never written.",
            )

    def needs_approval(self, given: str, path: str) -> bool:
        """A change of `path`, which the caller spelled `given`, waits until a person approves it."""
        return self._always or self._ask.hold_for(path) or (given != path and self._ask.hold_for(given))


def possible_repositories(path: str) -> list[str]:
    """The folders of which a path names a hook or the settings, if they are git repositories; "" is the root."""
    parts = path.split("/")
    return ["/".join(parts[:at]) for at, part in enumerate(parts) if folded(part) in RUN_OF_REPOSITORY]


def checked_path(path: str) -> str:
    """A path as a caller spells it, if a file could have that name.

    Nothing is expanded: `~`, `$HOME`, `%2e` and `file:` are names like any other.

    Raises:
        Invalid: empty, a NUL, a lone surrogate that stands for no byte, or too long.
    """
    if not path.strip():
        raise Invalid("path is empty", hint='Name a file, or "." for the root.', field="path")
    if "\0" in path:
        raise Invalid("path holds a NUL character", hint="Leave it out; no file has such a name.", field="path")
    try:
        length = len(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise Invalid(
            "path holds a lone surrogate", hint="Give the path as a listing shows it.", field="path"
        ) from None
    if length > MAX_PATH_BYTES:
        raise Invalid(
            f"path is {length} bytes long, more than {MAX_PATH_BYTES}", hint="Use a shorter path.", field="path"
        )
    return path
