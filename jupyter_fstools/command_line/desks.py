"""Chooses where a command works: on a server or on the store.

A server comes first: it knows its own settings, who is logged in, and which documents are open in a browser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import quote

from ..client.changes import change_of, changes_of, changes_route
from ..client.requests import VIA_HEADER, ask, understood
from ..client.runtime_files import JupyterServer
from ..entry_points import shown_setting, shown_store
from ..errors import InputOutput, Invalid, NotFound
from ..gate import tokens
from ..journal.journal import Journal
from ..journal.listing import ChangeQuery
from ..sessions import DEFAULT_SESSION
from ..stores.records import Change, Reader, Token

if TYPE_CHECKING:
    from ..config import FsToolsConfig
    from ..stores.protocol import Store

_WAITING = ChangeQuery(status="proposed", limit=1, rows=False)
_HEADERS = {VIA_HEADER: "command line"}

TokenTools = Literal["read", "write"] | list[str]


class Desk(Protocol):
    """The calls that a person can make from a terminal."""

    def status(self) -> dict[str, Any]:
        """Facts by name."""
        ...

    def changes(self, query: ChangeQuery) -> tuple[list[Change], int]:
        """The changes a query describes, and how many there are on all its pages."""
        ...

    def undo(self, change_id: str, path: str) -> Change:
        """Take back a change or, if none has that id, a file's newest one; return the change that does so."""
        ...

    def tokens(self) -> list[Token]:
        """The person's tokens, newest first."""
        ...

    def issue_token(
        self, name: str, session: str | None, tools: TokenTools, paths: list[str], seconds: float | None
    ) -> tuple[Token, str]:
        """Make a token; return it with its secret."""
        ...

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token."""
        ...


class ServerDesk:
    """A desk that works over a running server."""

    def __init__(self, server: JupyterServer) -> None:
        self._server = server

    def status(self) -> dict[str, Any]:
        """Facts by name."""
        _, waiting = self.changes(_WAITING)
        with understood(self._server):
            told = ask(self._server, "GET", "/")
            facts = {name: told[name] for name in ("version", "approval", "read_only", "tools")}
            root = self._server.root or told["root"]
        return {"server": self._server.url, "root": root, **facts, "changes_waiting": waiting}

    def changes(self, query: ChangeQuery) -> tuple[list[Change], int]:
        """The changes a query describes, and how many there are on all its pages."""
        with understood(self._server):
            return changes_of(ask(self._server, "GET", changes_route(query)))

    def undo(self, change_id: str, path: str) -> Change:
        """Take back a change or, if none has that id, a file's newest one."""
        named = quote(change_id, safe="", errors="replace")
        with understood(self._server):
            try:
                told = ask(self._server, "POST", f"/changes/{named}/undo", {}, _HEADERS)
            except NotFound:
                told = ask(self._server, "POST", "/changes/undo", {"path": path}, _HEADERS)
            return change_of(told["change"])

    def tokens(self) -> list[Token]:
        """The person's tokens, newest first."""
        with understood(self._server):
            return [_token(one) for one in ask(self._server, "GET", "/tokens")["tokens"]]

    def issue_token(
        self, name: str, session: str | None, tools: TokenTools, paths: list[str], seconds: float | None
    ) -> tuple[Token, str]:
        """Make a token; return it with its secret."""
        asked = {"name": name, "session": session, "tools": tools, "paths": paths, "expires_in": seconds}
        with understood(self._server):
            told = ask(self._server, "POST", "/tokens", asked)
            secret: str = told.pop("token")
            return _token(told), secret

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token."""
        if not token_id:  # The address would be that of the list.
            raise tokens.unknown_token(token_id)
        ask(self._server, "DELETE", f"/tokens/{quote(token_id, safe='')}")


class StoreDesk:
    """A desk that works on the files and the store which the settings of Jupyter's server name."""

    def __init__(self, folder: str) -> None:
        from ..sessions import system_user

        self._settings = _settings()
        self._settings.root = self._settings.root or folder
        reader = Reader(system_user(), DEFAULT_SESSION)
        self._workspace = self._settings.workspace(reader).for_reader(reader, decides_via="command line")
        self._journal = Journal(self._workspace)

    def status(self) -> dict[str, Any]:
        """Facts by name."""
        _, waiting = self.changes(_WAITING)
        return {
            "server": None,
            "root": self._workspace.backend.root_key or "/",
            "store": shown_store(self._settings.store, self._workspace.store),
            "approval": self._settings.approval,
            "read_only": self._settings.read_only,
            "changes_waiting": waiting,
        }

    def changes(self, query: ChangeQuery) -> tuple[list[Change], int]:
        """The changes a query describes, and how many there are on all its pages."""
        return self._journal.changes(query), self._journal.count(query)

    def undo(self, change_id: str, path: str) -> Change:
        """Take back a change or, if none has that id, a file's newest one."""
        try:
            change = self._journal.change(change_id)
        except NotFound:
            change = self._journal.newest_to_undo(path, own=False)
        return self._journal.undo(change, by_person=True)

    def tokens(self) -> list[Token]:
        """The person's tokens, newest first."""
        return self._lasting_store().tokens(self._workspace.reader.user)

    def issue_token(
        self, name: str, session: str | None, tools: TokenTools, paths: list[str], seconds: float | None
    ) -> tuple[Token, str]:
        """Make a token; return it with its secret."""
        from ..tools import TOOLS

        store, user = self._lasting_store(), self._workspace.reader.user
        return tokens.issue(
            store,
            user,
            name,
            account=user,
            session=session,
            tools=tools,
            paths=paths,
            seconds=seconds,
            known=TOOLS,
        )

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token."""
        tokens.revoke(self._lasting_store(), self._workspace.reader.user, token_id)

    def _lasting_store(self) -> Store:
        """The store, checked to be one that this person's servers share, so that they know its tokens.

        Raises:
            InputOutput: it is in memory.
        """
        store = self._workspace.store
        store.mark()  # The first call shows whether the store's file can be used.
        if getattr(store, "in_memory", False):
            raise InputOutput(
                f"no token outlasts this command: its store ({shown_setting(self._settings.store)}) is in memory",
                hint="Correct the store's file or setting, or start the server first.",
            )
        return store


def _token(told: dict[str, Any]) -> Token:
    return Token.model_validate({"user": "", **told})


def _settings() -> FsToolsConfig:
    """The settings of Jupyter's server, read in the same way as the server reads them.

    Raises:
        Invalid: they cannot be read, or a value is not valid.
    """
    from jupyter_core.application import JupyterApp
    from traitlets import TraitError

    from ..config import config_with_handed_settings

    class ServerSettings(JupyterApp):
        name = "jupyter-server"

    app = ServerSettings(raise_config_file_errors=True)
    try:
        app.load_config_file(suppress_errors=False)
        return config_with_handed_settings(app.config)
    except TraitError as error:
        raise Invalid(str(error), hint="Correct the setting in jupyter_server_config.") from None
    except Exception as error:  # A configuration file is a program and can raise anything.
        raise Invalid(
            f"the settings of Jupyter's server cannot be read: {type(error).__name__}: {error}",
            hint="Correct jupyter_server_config, or jupyter_config.",
        ) from None
