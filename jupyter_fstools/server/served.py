"""Shares the workspace and threads among handlers; emits Jupyter events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from jupyter_server.auth.identity import IdentityProvider, PasswordIdentityProvider
from jupyter_server.serverapp import ServerApp

from ..config import FsToolsConfig
from ..errors import FsToolsError, NotRead
from ..gate.workspace import Workspace
from ..open_documents.browser import BrowserDocuments, Pages
from ..open_documents.page import PageDocument
from ..sessions import DEFAULT_SESSION, system_user
from ..stores.records import Change, Reader
from .call_pool import CallPool
from .events.change_feed import ChangeFeed
from .events.payloads import ACTIVITY_SCHEMA, CHANGE_SCHEMA, ActivityEvent, ChangeEvent, event_schemas
from .rooms import Rooms

_GIVES_NAMES = (
    "get_user",
    "_get_user",
    "get_user_token",
    "get_user_cookie",
    "user_from_cookie",
    "generate_anonymous_user",
    "process_login_form",
)


_MOST_SEEN = 10_000


class SeenInFull:
    """Remembers which persons were sent the files of changes in full whose diffs are cut, while this server runs."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], None] = {}
        self._lock = threading.Lock()

    def note(self, user: str, change: Change, paths: Iterable[str]) -> None:
        """Note that a person was sent the full content of these files after a change."""
        with self._lock:
            self._seen |= {(user, change.id, path): None for path in paths}
            while len(self._seen) > _MOST_SEEN:
                del self._seen[next(iter(self._seen))]

    def require(self, user: str, change: Change) -> None:
        """Refuse the approval of a change that the person cannot have seen in full.

        Raises:
            NotRead
        """
        for file in change.all_files:
            if file.diff.truncated and (user, change.id, file.path) not in self._seen:
                raise NotRead(
                    f"change {change.id} of {file.path} is not shown in full by its diff (not modified)",
                    hint="Look at all of it (unfold it in the panel of JupyterLab, or GET "
                    f"changes/{change.id}?rows=all) or, where that is cut too, download it (there, or GET "
                    f"changes/{change.id}/content); then approve it.",
                    path=file.path,
                )


@dataclass(frozen=True)
class Served:
    """One server's tools.

    Attributes:
        config: the settings.
        workspace: the files, as the server's own reader sees them.
        calls: the pool for assistants' calls.
        decisions: the pool for a person's requests, so that assistants' calls cannot take all threads from them.
        commands: the pool for commands, which may take minutes or wait for a person: no other call waits for them.
        feed: follows the journal.
        rooms: of real-time collaboration.
        pages: of browsers, which have documents open.
        account: the user where Jupyter only invents users, so that clients without cookies, kernels and restarts are
            one reader: the system's account.
        seen: the parts that persons were sent of changes with cut diffs.
    """

    config: FsToolsConfig
    workspace: Workspace
    calls: CallPool
    decisions: CallPool
    commands: CallPool
    feed: ChangeFeed
    rooms: Rooms
    pages: Pages
    account: str
    seen: SeenInFull = field(default_factory=SeenInFull)

    @property
    def body_limit(self) -> int:
        """Bytes that a request's body may have: what may be written, even if much of it is escaped, and some more."""
        return 2 * self.workspace.limits.max_write_bytes + (1 << 20)

    def stop(self) -> None:
        """Stop following the journal, start no more calls, close the store; called on the event loop."""
        self.feed.stop()
        self.rooms.stop()
        self.calls.close()
        self.decisions.close()
        self.commands.close()
        self.workspace.store.close()


def invents_users(provider: IdentityProvider) -> bool:
    """Jupyter's own providers know no names: each token request and each login gets an anonymous user of its own."""
    base = PasswordIdentityProvider if isinstance(provider, PasswordIdentityProvider) else IdentityProvider
    return all(getattr(type(provider), name) is getattr(base, name) for name in _GIVES_NAMES)


def serve(serverapp: ServerApp, config: FsToolsConfig) -> Served:
    """Begin to serve: open the settings' store, follow its journal and the rooms of real-time collaboration.

    From any thread.

    Raises:
        FsToolsError: the root or the store cannot be opened.
    """
    feed: ChangeFeed | None = None

    def committed(change: Change) -> None:
        if feed is not None:
            feed.wake()

    def tell(event: ChangeEvent) -> None:
        emit(schema_id=CHANGE_SCHEMA, data=event.model_dump())

    def tell_activity(event: ActivityEvent) -> None:
        emit(schema_id=ACTIVITY_SCHEMA, data=event.model_dump(mode="json"))

    account = system_user()
    loop: asyncio.AbstractEventLoop = serverapp.io_loop.asyncio_loop  # type: ignore[attr-defined]  # Tornado's own.
    rooms, pages = Rooms(serverapp, loop, config.browser_seconds), Pages()
    workspace = config.workspace(
        Reader(account, DEFAULT_SESSION),
        committed=committed,
        documents=lambda backend, store: [rooms, BrowserDocuments(pages, backend, store, config.browser_seconds)],
    )
    follow = partial(_follow, workspace, pages, loop)
    feed = ChangeFeed(workspace, tell, tell_activity, loop, followed=follow)

    # Only now: a store that does not answer has raised by here, and is tried again.
    events = serverapp.event_logger
    assert events is not None
    for schema in event_schemas():
        events.register_event_schema(schema)
    emit = events.emit
    rooms.follow(workspace)
    feed.start()
    # At once, not at the first call: before that, pages may save what a killed server had them show.
    loop.call_soon_threadsafe(loop.run_in_executor, None, workspace.called)
    calls, decisions, commands = (CallPool(wait_seconds=config.limits.lock_seconds) for _ in range(3))
    return Served(config, workspace, calls, decisions, commands, feed, rooms, pages, account)


_ROOM_SAVES_SECONDS = 3.0
"""A room saves a second after the last change in it; pages of a server without this room look at its file then."""


def catch_up(workspace: Workspace, documents: Iterable[PageDocument]) -> None:
    """Have saved documents follow their files, where these changed while their page could not be notified."""
    for document in documents:
        path = workspace.paths.path_of(document.key)
        if path is None or not document.saved:
            continue
        with suppress(FsToolsError), workspace.backend.read(path) as opened:
            if document.hash != workspace.versions.fingerprint(opened).exact:
                document.follow(opened.stat.version)


def _follow(workspace: Workspace, pages: Pages, loop: asyncio.AbstractEventLoop, change: Change) -> None:
    """Have open documents follow a change on the disk, or what a command changed, whichever process made it."""
    if change.ran is not None:
        loop.run_in_executor(None, catch_up, workspace, pages.all())
    elif change.status == "applied":
        for file in change.all_files:
            if file.after is not None:
                pages.follow(file.key, file.after.exact_sha)
        if not change.saved:
            loop.call_later(_ROOM_SAVES_SECONDS, loop.run_in_executor, None, catch_up, workspace, pages.all())
