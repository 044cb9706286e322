"""Decides which paths a caller may read, write, or change with approval."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from pathspec import GitIgnoreSpec

from ..backends.path_names import readable
from ..errors import Denied, Invalid
from ..globs.segments import expand_braces
from ..limits import setting
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
_BARE_NAME = re.compile(r"(?:\[\^/\]\*?|\\.|\w)+(?:/|\(\?:/\|\$\))", re.DOTALL)
_MOST_NAMES = 1 << 14
_NAME_ENDS = re.compile(r"\(\?:/\|\$\)|\\\$")
_NO_NEWLINE = {0x0A: 0x00}  # `$` in the rules' expressions matches before a final newline; no path holds a NUL.
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]) | _NO_NEWLINE


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
        self._read = _rules(tuple(deny_read))
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
        return _rules(self._deny_write)

    @cached_property
    def _ask(self) -> PathRules:
        return _rules(self._ask_write)

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


class PathRules:
    """Patterns with a fast check whether one of them matches a path or a folder above it.

    Raises:
        Invalid: one of them is no valid pattern.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._spec = _spec(patterns)
        bodies = _bodies(self._spec)
        self._maybe = None if bodies is None else _search(bodies)
        bare = bodies is not None and all(map(_BARE_NAME.fullmatch, bodies))
        self._bare_names = _BareNames(bodies) if bare and bodies is not None else None
        # The same few paths are checked again and again; a look-up is faster than two dozen patterns.
        self._judged = lru_cache(maxsize=4096)(self._judge)

    def hold_for(self, path: str) -> bool:
        """Whether a rule matches a path, as a file or as a folder."""
        # A search checks a hundred thousand paths: one expression rules out most of them.
        name = folded(path)
        return (self._maybe is None or bool(self._maybe(f"/{name}/"))) and self._judged(name.lstrip("/"))

    def surely_hold_for_none(self, folder: str, names: list[str]) -> bool:
        """True only if no rule matches any of these names in a folder, which itself no rule matches."""
        if self._bare_names is not None:
            return self._bare_names.are_harmless(names)
        start = f"/{folder}/" if folder else "/"
        between = f"/\0{start}"
        return self._maybe is not None and not self._maybe(folded(f"{start}{between.join(names)}/"))

    def _judge(self, name: str) -> bool:
        return self._spec.match_file(name) or self._spec.match_file(f"{name}/")


@lru_cache(maxsize=16)
def _rules(patterns: tuple[str, ...]) -> PathRules:
    """The compiled rules, cached: most workspaces of a process have the same ones.

    Raises:
        Invalid: one of them is no valid pattern, or holds for no path: whoever set it relies on it.
    """
    rules = PathRules(patterns)
    for rule in expanded(patterns):
        if not {"", ".", ".."}.isdisjoint(rule.removeprefix("!").removeprefix("/").removesuffix("/").split("/")):
            raise Invalid(
                f"the rule {rule[:80]!r} holds for no path",
                hint="Write names alone, from the root on: private/ instead of ./private/.",
            )
    return rules


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


def expanded(patterns: Iterable[str]) -> list[str]:
    """The rules that patterns stand for, one for each alternative of braces, without comments and empty ones.

    Raises:
        Invalid: a brace has no partner, or there are too many alternatives.
    """
    written = [pattern for pattern in patterns if not folded(pattern).startswith("#")]
    rules = [folded(one) for pattern in written for one in expand_braces(pattern)]
    # A comment begins outside of braces: inside, the sign is part of a name.
    return [f"\\{rule}" if rule.startswith("#") else rule for rule in rules if rule.strip()]


def _spec(patterns: Iterable[str]) -> GitIgnoreSpec:
    rules = expanded(patterns)
    try:
        spec = GitIgnoreSpec.from_lines(rules)
    except (ValueError, re.error) as error:
        raise Invalid(
            f"a rule is not a valid pattern: {getattr(error, 'msg', error)}",
            hint="Write it as a line of a .gitignore file.",
        ) from None
    for rule, pattern in zip(rules, spec.patterns, strict=True):
        if pattern.include is None and "[" in rule:
            raise Invalid(f"the rule {rule[:80]!r} holds for no path", hint="Close the bracket, or escape it: \\[.")
    return spec


def _bodies(rules: GitIgnoreSpec) -> list[str] | None:
    """Patterns that match in `/path/`, after a slash, wherever a rule could match; None where that is not known.

    Every rule's expression matches one or more whole names, from the start of the path or from a slash on.
    """
    sources = [rule.regex.pattern for rule in rules.patterns if rule.include and rule.regex is not None]
    bodies = [source.replace("(?P<ps_d>/)", "/").removeprefix("^").removeprefix("(?:.+/)?") for source in sources]
    if any(not source.startswith("^") for source in sources) or any("$" in re.sub(_NAME_ENDS, "", b) for b in bodies):
        return None
    return bodies


def _search(bodies: list[str]) -> Callable[[str], object]:
    return re.compile(f"/(?:{'|'.join(bodies)})").search if bodies else _nowhere


class _BareNames:
    """Rules that each match a single name, at any depth.

    The same names are checked again and again: a bounded number of those that no rule matches are cached.
    """

    def __init__(self, bodies: list[str]) -> None:
        self._maybe = _search(bodies)
        self._harmless: set[str] = set()

    def are_harmless(self, names: list[str]) -> bool:
        """Whether no rule matches any of these names."""
        if self._harmless.issuperset(names):
            return True
        if self._maybe(folded(f"/{'/'.join(names)}/")):
            return False
        if len(self._harmless) + len(names) > _MOST_NAMES:
            self._harmless = set()
        self._harmless.update(names[:_MOST_NAMES])
        return True


def _nowhere(path: str) -> None:
    return None


def folded(text: str) -> str:
    """A path as rules compare it: without regard to case or Unicode normalisation."""
    if text.isascii():
        return text.translate(_NO_NEWLINE).lower() if "\n" in text else text.lower()
    # Canonical caseless matching (Unicode, D145), without the characters that HFS+ ignores when it compares names.
    decomposed = unicodedata.normalize("NFD", readable(text).translate(_IGNORED))
    return unicodedata.normalize("NFC", decomposed.casefold())
