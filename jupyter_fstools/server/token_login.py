"""Recognises a request that comes with an assistant's token."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.identity import IdentityProvider, User
from tornado.httputil import HTTPServerRequest

from ..sessions import TOKEN_PREFIX


def presented(request: HTTPServerRequest) -> str | None:
    """The assistant's token that a request brings, as Jupyter's own is sent; None if it brings none."""
    kind, _, secret = request.headers.get("Authorization", "").strip().partition(" ")
    secret = secret.strip()
    return secret if kind.lower() in ("token", "bearer") and secret.startswith(TOKEN_PREFIX) else None


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
