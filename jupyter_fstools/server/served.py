"""Shares the workspace, threads and feed among handlers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jupyter_server.auth.identity import IdentityProvider, PasswordIdentityProvider

from ..config import FsToolsConfig
from ..errors import FsToolsError
from ..gate.workspace import Workspace
from ..open_documents.browser import Pages
from ..open_documents.page import PageDocument
from ..sessions import DEFAULT_SESSION, checked_session
from ..stores.records import Reader
from .call_pool import CallPool
from .events.change_feed import ChangeFeed
from .rooms import Rooms

SETTING = "jupyter_fstools"
"""Where the web application's settings hold the `Served`."""

SESSION_HEADER = "X-Fstools-Session"

_GIVES_NAMES = (
    "get_user",
    "_get_user",
    "get_user_token",
    "get_user_cookie",
    "user_from_cookie",
    "generate_anonymous_user",
    "process_login_form",
)


@dataclass(frozen=True)
class Served:
    """One server's tools.

    Attributes:
        config: the settings.
        workspace: the files, as the server's own reader sees them.
        calls: where calls run.
        commands: where commands do, which may take minutes or wait for a person: no other call waits for them.
        feed: follows the journal.
        rooms: of real-time collaboration.
        pages: of browsers, which have documents open.
        account: the user where Jupyter only invents users, so that clients without cookies, kernels and restarts are
            one reader: the system's account (looking it up takes as long as reading a small file).
    """

    config: FsToolsConfig
    workspace: Workspace
    calls: CallPool
    commands: CallPool
    feed: ChangeFeed
    rooms: Rooms
    pages: Pages
    account: str

    @property
    def body_limit(self) -> int:
        """Bytes that a request's body may have: what may be written, even if much of it is escaped, and some more."""
        return 2 * self.workspace.limits.max_write_bytes + (1 << 20)

    def reader(self, provider: IdentityProvider, user: Any, session: str | None) -> Reader:
        """Who asks.

        Args:
            provider: the server's.
            user: whom it found; has a `username`.
            session: as the client named it; None for the default one.

        Raises:
            Invalid: no such session name.
        """
        name = self.account if invents_users(provider) else str(user.username)
        return Reader(name, DEFAULT_SESSION if session is None else checked_session(session))

    def catch_up(self, documents: Sequence[PageDocument]) -> None:
        """Have saved documents follow their files, where these were changed while nobody could tell their page."""
        workspace = self.workspace
        for document in documents:
            path = workspace.path_of(document.key)
            if path is None or not document.saved:
                continue
            with suppress(FsToolsError), workspace.show(path) as opened:
                if document.hash != workspace.fingerprint(opened).exact:
                    document.tell("follow")

    def stop(self) -> None:
        """Stop following the journal, start no more calls, close the store; called on the event loop."""
        self.feed.stop()
        self.rooms.stop()
        self.calls.close()
        self.commands.close()
        self.workspace.store.close()


def invents_users(provider: IdentityProvider) -> bool:
    """Jupyter's own providers know no names: each token request and each login gets an anonymous user of its own."""
    base = PasswordIdentityProvider if isinstance(provider, PasswordIdentityProvider) else IdentityProvider
    return all(getattr(type(provider), name) is getattr(base, name) for name in _GIVES_NAMES)
