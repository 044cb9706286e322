"""Recognises requests with an assistant's token; ends them once it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import Any

from jupyter_server.auth.identity import IdentityProvider, User
from tornado.httputil import HTTPServerRequest

from ..errors import FsToolsError, NotFound
from ..gate.tokens import token_of
from ..sessions import TOKEN_PREFIX
from ..stores.records import Token
from .served import Served

_log = logging.getLogger("jupyter_fstools")


def presented(request: HTTPServerRequest) -> str | None:
    """The assistant's token that a request brings, as Jupyter's own is sent; None if it brings none."""
    kind, _, secret = request.headers.get("Authorization", "").strip().partition(" ")
    secret = secret.strip()
    return secret if kind.lower() in ("token", "bearer") and secret.startswith(TOKEN_PREFIX) else None


async def end_with_token(served: Served, token: Token, left: threading.Event) -> None:
    """Set `left` once the token expires or is revoked, by whichever process, until the server stops."""
    feed, store = served.feed, served.workspace.store
    while not (feed.stopped or left.is_set()):
        seconds = None if token.expires_at is None else token.expires_at - await asyncio.to_thread(store.now)
        if seconds is not None and seconds <= 0:
            left.set()
            return
        with feed.news() as kept:
            try:
                await asyncio.to_thread(token_of, store, token.user, token.id)
            except NotFound:
                left.set()
                return
            except FsToolsError as problem:
                _log.warning("It is not known whether a token is still valid: %s", problem.message)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(kept.wait(), seconds)


class TokenLogin:
    """A server's identity provider, for one request whose user is known by an assistant's token.

    Args:
        provider: the server's own, which does everything else.
        username: the name of the user who made the token.
    """

    def __init__(self, provider: IdentityProvider, username: str) -> None:
        self._provider = provider
        self._user = User(username=username)

    def get_user(self, handler: Any) -> User:
        """The user who made the token, regardless of any cookies in the request."""
        handler._token_authenticated = True  # JupyterHub's XSRF check looks only at this attribute.
        return self._user

    def is_token_authenticated(self, handler: Any) -> bool:
        """True, so that no XSRF check is needed: a browser adds no token by itself."""
        return True

    def should_check_origin(self, handler: Any) -> bool:
        """False, as for Jupyter's own token."""
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)
