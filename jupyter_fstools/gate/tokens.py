"""Issues assistants' tokens; limits a workspace to their tools and paths."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Literal, NamedTuple

from ..errors import Conflict, Denied, Invalid, NotFound
from ..globs.segments import expand_braces
from ..sessions import TOKEN_PREFIX, checked_session
from ..stores.protocol import Store
from ..stores.records import Token
from .path_rules import PathRules, expanded, folded

Tools = Literal["read", "write"] | Sequence[str]


class Grant:
    """The part of a workspace's tools and paths that a token opens.

    Args:
        tools: "read" (those that only read), "write" (those that write too, but no commands), or names.
        paths: rules as in `.gitignore` for files and folders; none: everything. The last rule that matches a path or a
            folder above it decides, so that an earlier rule opens nothing below an excluded (`!`) folder.

    Attributes:
        paths: as given.

    Raises:
        Invalid: a path is no rule.
    """

    def __init__(self, tools: Tools, paths: Sequence[str] = ()) -> None:
        self.paths = tuple(paths)
        self._tools = tools
        PathRules(paths)  # Raises for a path that is no rule.
        runs = [(opens, list(those)) for opens, those in groupby(expanded(paths), _opens)]
        self._rules = [
            _Rules(opens, PathRules(map(_named, those)), list(map(_way, those)) if opens else [])
            for opens, those in runs
        ]

    @property
    def all_paths(self) -> bool:
        """Whether the grant covers every path."""
        return not self.paths

    def allows_tool(self, name: str, *, reads_only: bool, runs_commands: bool) -> bool:
        """Whether a tool may be called."""
        if isinstance(self._tools, str):
            return not runs_commands and (reads_only or self._tools == "write")
        return name in self._tools

    def covers(self, path: str) -> bool:
        """Whether a file or folder (by its canonical path) may be read and changed."""
        last = (rules.open for rules in reversed(self._rules) if rules.paths.hold_for(path))
        return self.all_paths or next(last, False)

    def leads_on(self, folder: str) -> bool:
        """Whether something below a folder can be covered: such a folder may be gone through."""
        names = folded(folder).split("/") if folder else []
        for rules in reversed(self._rules):
            if rules.open and any(_is_on(way, names) for way in rules.ways):
                return True
            if rules.paths.hold_for(folder):
                return rules.open
        return self.all_paths


class _Rules(NamedTuple):
    """Consecutive rules that all open paths, along `ways`, or all exclude them."""

    open: bool
    paths: PathRules
    ways: list[list[PathRules | None]]


def _opens(pattern: str) -> bool:
    return not pattern.startswith("!")


def _named(pattern: str) -> str:
    """The rule without its `!`, as a pattern for the paths that it opens or excludes."""
    name = pattern.removeprefix("!")
    return f"\\{name}" if name.startswith(("!", "#")) else name


def _way(pattern: str) -> list[PathRules | None]:
    """A rule for each name along a pattern, None for `**`; a pattern without a slash matches at any depth."""
    inner = folded(pattern).strip().rstrip("/")
    parts = inner.lstrip("/").split("/") if "/" in inner else ["**", inner]
    return [None if part == "**" else _rule_of(part) for part in parts]


@lru_cache(maxsize=1024)
def _rule_of(part: str) -> PathRules:
    """A rule for one name; between slashes, a special character at either end of the name is literal."""
    return PathRules([f"/{part}/"])


def _is_on(way: list[PathRules | None], names: list[str]) -> bool:
    for part, name in zip(way, names, strict=False):
        if part is None:
            return True
        if not part.hold_for(name):
            return False
    return len(names) < len(way)


DEFAULT_SECONDS = 30 * 86400.0
MOST_SECONDS = 100 * 365 * 86400.0
MOST_NAME = 100
"""Characters of a token's name."""

MOST_TOKENS = 1000
"""Tokens of one user at a time."""


def issue(
    store: Store,
    user: str,
    name: str,
    *,
    account: str,
    session: str | None,
    tools: Literal["read", "write"] | list[str],
    paths: Sequence[str],
    seconds: float | None,
    known: Collection[str],
) -> tuple[Token, str]:
    """Make a token; return it with its secret, which is stored nowhere.

    Args:
        store: keeps its digest.
        user: the person who makes it.
        name: its name.
        account: the one whose servers it opens.
        session: the session that it works in; None: its name.
        tools: "read", "write", or names of tools.
        paths: rules as in `.gitignore` for what it opens; none: everything.
        seconds: until it ends; None: it does not.
        known: the names of all tools.

    Raises:
        Invalid: no name, an unknown tool, a path that is no rule, no session name; Conflict: there are too many.
    """
    if not name.isprintable() or not name.strip() or len(name) > MOST_NAME:
        raise Invalid(f"name: takes 1 to {MOST_NAME} printable characters", hint="Choose a name.", field="name")
    unknown = [] if isinstance(tools, str) else [tool for tool in tools if tool not in known]
    if unknown:
        raise Invalid(f"there is no tool {unknown[0]!r}", hint=f"The tools are {', '.join(known)}.", field="tools")
    if paths and "execute" in tools:
        raise Invalid("commands cannot be limited to paths", hint="Leave out execute, or paths.", field="paths")
    Grant(tools, paths)
    if any(not path.strip() or path.startswith("#") for path in paths):
        said = "paths: a rule is empty or a comment, and opens nothing"
        raise Invalid(said, hint="Leave it out, or name a path.", field="paths")
    if paths and not any(_opens(pattern) for path in paths for pattern in expand_braces(path)):
        hint = "Begin with * to open all other files."
        raise Invalid("paths: every rule begins with !, so that none opens anything", hint=hint, field="paths")
    if len(store.tokens(user)) >= MOST_TOKENS:
        raise Conflict(f"there are {MOST_TOKENS} tokens already", hint="Revoke some of them first.")
    now = store.now()
    token = Token(
        id=secrets.token_hex(6),
        user=user,
        account=account,
        name=name,
        session=checked_session(name, "name") if session is None else checked_session(session),
        tools=tools,
        paths=list(paths),
        created_at=now,
        expires_at=None if seconds is None else now + seconds,
    )
    secret = TOKEN_PREFIX + token.id + secrets.token_urlsafe(32)
    store.add_token(token, _digest(secret))
    return token, secret


def check(store: Store, secret: str, account: str) -> Token:
    """The token with this secret; notes its use.

    Args:
        store: keeps its digest; servers of other accounts may share it.
        secret: as the assistant sends it.
        account: the one whose server is asked.

    Raises:
        Denied: it is unknown, revoked or expired, or was made for the servers of another account.
    """
    now = store.now()
    token = store.token(_digest(secret), now)
    if token is None:
        raise Denied("this token is unknown or was revoked", hint="Ask the person you work for to make a new one.")
    if token.expires_at is not None and token.expires_at <= now:
        raise Denied("this token has expired", hint="Ask the person you work for to make a new one.")
    if (token.account or token.user) != account:
        raise Denied(
            "this token was made for the server of another user",
            hint="Call that server, or ask the person you work for to make a token for this one.",
        )
    return token


def token_of(store: Store, user: str, token_id: str) -> Token:
    """A token of this user.

    Raises:
        NotFound
    """
    for token in store.tokens(user):
        if token.id == token_id:
            return token
    raise unknown_token(token_id)


def revoke(store: Store, user: str, token_id: str) -> None:
    """Forget a token of this user.

    Raises:
        NotFound
    """
    if not store.drop_token(user, token_id):
        raise unknown_token(token_id)


def unknown_token(token_id: str) -> NotFound:
    """The refusal of an id that none of the user's tokens has."""
    return NotFound(f"there is no token {token_id[:80]!r}", hint="List the tokens to see their ids.")


def _digest(secret: str) -> str:
    # The secret has 256 random bits: a slow hash would add no protection.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
