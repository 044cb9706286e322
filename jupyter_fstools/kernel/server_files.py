"""Calls tools on a server whose files this kernel cannot see."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from ..client.requests import without_secrets
from ..config import FsToolsConfig
from ..errors import Denied, FsToolsError, Invalid
from ..journal.journal import ChangeQuery
from ..runtime_files import JupyterServer
from ..stores.records import Change
from ..tools import ToolResult
from .files import Name, Tell
from .server_calls import ServerCalls, change_of

_TOKEN_VARIABLES = ("JUPYTERHUB_API_TOKEN", "JUPYTER_TOKEN")
_TOKEN_HINT = f"Set {' or '.join(_TOKEN_VARIABLES)}, or c.FsToolsConfig.server_token_file, to a token of that server."


class ServerFiles:
    """Files of a server elsewhere.

    Args:
        calls: the connection to it.
        session: whose receipts count.
    """

    def __init__(self, calls: ServerCalls, session: str) -> None:
        self._calls = calls
        self._session = session

    def for_session(self, session: str) -> ServerFiles:
        """The same files for another session, on the same connection."""
        return ServerFiles(self._calls, session)

    def call(self, tool: str, arguments: Mapping[str, Any], progress: Tell | None = None) -> ToolResult:
        """Call a tool; `progress` is called with what it tells while it goes on."""
        try:
            return self._calls.call(tool, arguments, session=self._session, progress=progress)
        except Denied as refusal:
            self._explain_token(refusal)
            raise

    def changes(self, query: ChangeQuery) -> tuple[list[Change], int]:
        """The changes a query describes, and how many there are on all its pages."""
        asked = {"path": query.path, "session": query.session, "status": query.status, "limit": query.limit}
        asked |= {"offset": query.offset, "diffs": "true" if query.rows else "false"}
        told = self._ask(f"/changes?{urlencode({name: one for name, one in asked.items() if one is not None})}")
        return [change_of(one) for one in told["changes"]], told["total"]

    def change(self, change_id: str) -> Change:
        """One change."""
        return change_of(self._ask(f"/changes/{quote(change_id, safe='')}")["change"])

    def user(self) -> str:
        """Whose receipts count."""
        return str(self._ask("/")["user"])

    def names(self, folder: str) -> Iterator[Name]:
        """What may be shown of one folder; nothing where it is none."""
        listed = self.call("list_files", {"path": folder or ".", "limit": 5000})
        return (Name(entry["name"], entry["is_directory"]) for entry in listed.data["entries"])

    def status(self) -> dict[str, Any]:
        """The root, and what is switched on."""
        told = self._ask("/")
        facts = {name: told[name] for name in ("version", "root", "user", "approval", "read_only", "tools")}
        return {**facts, "session": self._session, "server": {"url": self._calls.server.url}}

    def _ask(self, route: str) -> dict[str, Any]:
        try:
            return self._calls.ask("GET", route, session=self._session)
        except Denied as refusal:
            self._explain_token(refusal)
            raise

    def _explain_token(self, refusal: FsToolsError) -> None:
        if not self._calls.server.token:
            refusal.hint = _TOKEN_HINT


def connected_files(settings: FsToolsConfig, session: str) -> ServerFiles:
    """The files of the server that the settings name.

    Raises:
        Invalid: the token's file cannot be read, or others may read it.
    """
    url = without_secrets(settings.server)
    return ServerFiles(ServerCalls(JupyterServer(url, "", _token(settings.server_token_file), 0, 0)), session)


def _token(file: str) -> str:
    if not file:
        return next((token for name in _TOKEN_VARIABLES if (token := os.environ.get(name))), "")
    path = Path(file).expanduser()
    try:
        mode, token = path.stat().st_mode, path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise Invalid(
            f"server_token_file: {path} cannot be read: {reason}", hint="Put the token into it, and nothing else."
        ) from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise Invalid(
            f"server_token_file: others may read {path} (mode {stat.S_IMODE(mode):03o})",
            hint=f"Run chmod 600 {path}, and make a new token if others saw this one.",
        )
    return token
