"""Calls tools and lists changes in this process, for one session."""

from __future__ import annotations

import os
import posixpath
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from .._version import __version__
from ..client.requests import NotReached
from ..config import FsToolsConfig, handed_settings
from ..entry_points import shown_store
from ..errors import Disabled, FsToolsError, NotFound, OutsideRoot, Unsaved
from ..gate.workspace import Workspace
from ..journal.journal import Journal
from ..journal.listing import ChangeQuery
from ..open_documents.holders import OpenElsewhere
from ..progress import Progress
from ..stores.records import Change, Reader
from ..tools import ToolResult, available_tools, call_tool
from ..walking.listing import link_target, names_in
from ..walking.names import joined
from .interrupts import between_interrupts
from .server_calls import ServerCalls, servers_for
from .wording import quoted

Tell = Callable[[Progress], None]

MOST_ENTRIES = 5000
"""Most names that are looked at in a folder to offer any of them; a beginning is looked for among all names."""


class Name(NamedTuple):
    """One name in a folder, which is a folder or a file."""

    name: str
    is_directory: bool


class Files(Protocol):
    """The files that the subcommands of `%fs` use, here or on a server.

    Every method raises:
        FsToolsError: it was refused.
    """

    def call(self, tool: str, arguments: Mapping[str, Any], progress: Tell | None = None) -> ToolResult:
        """Call a tool; `progress` is called with its progress."""

    def changes(self, query: ChangeQuery) -> tuple[list[Change], int]:
        """The changes a query describes, and how many there are on all its pages."""

    def change(self, change_id: str) -> Change:
        """One change."""

    def user(self) -> str:
        """The user whose receipts count."""

    def names(self, folder: str, beginning: str) -> Iterable[Name]:
        """The names in one folder that begin so and may be shown; none where it is not a folder."""

    def for_session(self, session: str) -> Files:
        """The same files for another session."""

    def status(self) -> dict[str, Any]:
        """The root, and what is switched on."""


class OwnFiles:
    """Files that this process accesses itself.

    Args:
        workspace: the files, for the session's reader.
        settings: the settings of the workspace.
    """

    def __init__(self, workspace: Workspace, settings: FsToolsConfig) -> None:
        self.workspace = workspace
        self._settings = settings

    def for_session(self, session: str) -> OwnFiles:
        """The same files for another session."""
        reader = Reader(self.workspace.reader.user, session)
        return OwnFiles(self.workspace.for_reader(reader), self._settings)

    def call(self, tool: str, arguments: Mapping[str, Any], progress: Tell | None = None) -> ToolResult:
        """Call a tool; `progress` is called with its progress."""
        workspace = self.workspace

        def called(cancelled: threading.Event) -> ToolResult:
            return call_tool(workspace.for_reader(workspace.reader, cancelled, progress), tool, arguments)

        try:
            return between_interrupts(called)
        except OpenElsewhere as refusal:
            return self._called_on_server(refusal, tool, arguments, progress)
        except NotFound as refusal:
            self._look_in_working_directory(refusal, arguments.get("path"))
            raise

    def changes(self, query: ChangeQuery) -> tuple[list[Change], int]:
        """The changes a query describes, and how many there are on all its pages."""
        journal = Journal(self.workspace)
        return journal.changes(query), journal.count(query)

    def change(self, change_id: str) -> Change:
        """One change."""
        return Journal(self.workspace).change(change_id)

    def user(self) -> str:
        """The user whose receipts count."""
        return self.workspace.reader.user

    def names(self, folder: str, beginning: str) -> Iterator[Name]:
        """The names in one folder that begin so and may be shown; none where it is not a folder."""
        workspace = self.workspace
        stat = workspace.peek(folder or ".")
        if stat.kind != "directory":
            return
        most = None if beginning else MOST_ENTRIES
        there = names_in(workspace.backend, stat.path, workspace.paths, most=most, beginning=beginning)
        yield from (Name(name, True) for name in there.folders)
        yield from (Name(name, False) for name in there.files)
        for name in there.links:
            target = link_target(workspace.backend, joined(stat.path, name), workspace.paths)
            if target is not None and target.kind in ("file", "directory"):
                yield Name(name, target.kind == "directory")

    def status(self) -> dict[str, Any]:
        """The root, and what is switched on."""
        root = self.workspace.backend.root_key or "/"
        server = next(iter(servers_for(root)), None)
        return {
            "version": __version__,
            "root": root,
            "store": shown_store(self._settings.store, self.workspace.store),
            "user": self.user(),
            "session": self.workspace.reader.session,
            "approval": self._settings.approval,
            "read_only": self._settings.read_only,
            "tools": list(available_tools(self.workspace)),
            "settings": _origin_of_settings(beside_server=server is not None),
            "server": None if server is None else {"url": server.url, "root": server.root},
        }

    def _called_on_server(
        self, refusal: OpenElsewhere, tool: str, arguments: Mapping[str, Any], progress: Tell | None
    ) -> ToolResult:
        """The same call, by the server whose page has the file open; refused if no such server is reached."""
        root = self.workspace.backend.root_key or "/"
        arguments = _with_whole_paths(arguments, root)
        # The server may propose a change in this session: the next call must look into the journal for decisions.
        self.workspace.followed.pop(self.workspace.reader, None)
        refused: FsToolsError = refusal
        session, opened = self.workspace.reader.session, [refusal.key, *refusal.pages]
        last_known: ToolResult | None = None
        for server in servers_for(root):
            calls = ServerCalls(server)
            try:
                result = calls.call(tool, arguments, session=session, progress=progress, opened=opened)
                if not result.data.get("last_known"):
                    return result
                last_known = result
            except (Unsaved, Disabled) as other:
                # The page may belong to another server; this one may have other settings or another store.
                refused = other
            except (NotReached, OutsideRoot):
                pass
            finally:
                calls.close()
        if last_known is not None:
            return last_known
        raise refused

    def _look_in_working_directory(self, refusal: NotFound, path: str | None) -> None:
        """If the path exists relative to the working directory, suggest it relative to the root."""
        if path is None or os.path.isabs(path):
            return
        root = self.workspace.backend.root_key or "/"
        try:
            here = os.path.relpath(os.path.realpath(os.getcwd()), root).replace(os.sep, "/")
        except (OSError, ValueError):  # The working directory was removed, or is on another drive.
            return
        if here == "." or here.split("/")[0] == "..":
            return
        from_root = posixpath.normpath(f"{here}/{path}")
        try:
            missing = from_root.startswith("../") or self.workspace.peek(from_root).kind == "missing"
        except FsToolsError:
            return
        if not missing:
            refusal.hint = f"Paths are relative to the root, not to the working directory: use {quoted(from_root)}."


def _origin_of_settings(*, beside_server: bool) -> str:
    if handed_settings():
        return "handed over by the server"
    others = "; the server's, approval too, hold for calls to it only" if beside_server else ""
    return f"this kernel's own{others}"


def _with_whole_paths(arguments: Mapping[str, Any], root: str) -> dict[str, Any]:
    """A call's arguments with absolute paths, as a server may have another root; each edit may have its own path."""
    whole = dict(arguments)
    if isinstance(whole.get("path"), str):
        whole["path"] = os.path.join(root, whole["path"])
    if isinstance(whole.get("edits"), list):
        whole["edits"] = [_with_whole_paths(edit, root) for edit in whole["edits"]]
    return whole
