"""Issues, checks and revokes assistants' tokens."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Collection, Sequence
from typing import Literal

from ..errors import Conflict, Denied, Invalid, NotFound
from ..sessions import checked_session
from ..stores.protocol import Store
from ..stores.records import Token
from .grant import Grant

PREFIX = "fst_"
"""What every token begins with, so that it is told from Jupyter's own at a glance."""

DEFAULT_SECONDS = 30 * 86400.0
MOST_TOKENS = 1000
"""Tokens of one user at a time."""


def issue(
    store: Store,
    user: str,
    name: str,
    *,
    session: str | None,
    tools: Literal["read", "write"] | list[str],
    paths: Sequence[str],
    seconds: float | None,
    known: Collection[str],
) -> tuple[Token, str]:
    """Make a token; gives it with its secret, which is kept nowhere.

    Args:
        store: where its digest is kept.
        user: the person who makes it.
        name: what they call it.
        session: the session that it works in; None: its name.
        tools: "read", "write", or names of tools.
        paths: rules as in `.gitignore` for what it opens; none: everything.
        seconds: until it ends; None: it does not.
        known: the names of all tools.

    Raises:
        Invalid: an unknown tool, a path that is no rule, no session name; Conflict: there are too many already.
    """
    unknown = [] if isinstance(tools, str) else [tool for tool in tools if tool not in known]
    if unknown:
        raise Invalid(f"there is no tool {unknown[0]!r}", hint=f"The tools are {', '.join(known)}.", field="tools")
    if paths and "execute" in tools:
        raise Invalid("commands are not held to paths", hint="Leave out execute, or paths.", field="paths")
    Grant(tools, paths)
    if len(store.tokens(user)) >= MOST_TOKENS:
        raise Conflict(f"there are {MOST_TOKENS} tokens already", hint="Revoke some of them first.")
    now = time.time()
    token = Token(
        id=secrets.token_hex(6),
        user=user,
        name=name,
        session=checked_session(name if session is None else session),
        tools=tools,
        paths=list(paths),
        created_at=now,
        expires_at=None if seconds is None else now + seconds,
    )
    secret = PREFIX + secrets.token_urlsafe(32)
    store.add_token(token, _digest(secret))
    return token, secret


def check(store: Store, secret: str) -> Token:
    """The token with this secret; notes its use.

    Raises:
        Denied: it is unknown, revoked or expired.
    """
    now = time.time()
    token = store.token(_digest(secret), now)
    if token is None:
        raise Denied("this token is unknown or was revoked", hint="Ask the person you work for to make a new one.")
    if token.expires_at is not None and token.expires_at <= now:
        raise Denied("this token has expired", hint="Ask the person you work for to make a new one.")
    return token


def revoke(store: Store, user: str, token_id: str) -> None:
    """Forget a token of this user.

    Raises:
        NotFound
    """
    if not store.drop_token(user, token_id):
        raise NotFound(f"there is no token {token_id[:80]!r}", hint="List the tokens to see their ids.")


def _digest(secret: str) -> str:
    # The secret has 256 random bits: a slow hash would guard nothing more.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
