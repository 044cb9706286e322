"""The journal over HTTP: looking at changes, waiting for a decision, deciding."""

from __future__ import annotations

import asyncio
from typing import Annotated

from jupyter_server.auth.decorator import authorized
from pydantic import Field
from tornado import web

from ..journal import ChangeQuery, Journal
from ..records import Change, ChangeStatus
from ..sessions import checked_session
from ..tools.arguments import Arguments, Count, Ordinal, PathArgument, Text
from ..workspace import Workspace
from .base_handler import NoArguments, ToolsHandler
from .bodies import as_json, rendered_change

_MOST_WAITED_SECONDS = 60.0


class ChangesQuery(Arguments):
    """What the list of changes takes."""

    path: PathArgument | None = None
    session: Text | None = None
    status: ChangeStatus | None = None
    after: Count | None = None
    limit: Annotated[Ordinal, Field(le=1000)] = 100
    offset: Count = 0


class ChangeWait(Arguments):
    """How long to wait for a decision."""

    wait: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0


class FilePath(Arguments):
    """A file."""

    path: PathArgument


class ChangesHandler(ToolsHandler):
    """`GET /changes`: the journal."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The changes, newest first, or in rising order of revision after a cursor."""
        asked = self.query(ChangesQuery)
        session = asked.session and checked_session(asked.session)
        query = ChangeQuery(asked.path, session, asked.status, asked.after, asked.limit, asked.offset)

        def listed(workspace: Workspace) -> bytes:
            # The revision first: who goes on after it then misses nothing.
            revision = workspace.store.revision()
            changes = [rendered_change(change) for change in Journal(workspace).changes(query)]
            return as_json({"changes": changes, "revision": revision})

        self.answer(await self.call(listed))


class ChangeHandler(ToolsHandler):
    """`GET /changes/{id}`: one change, now or once it is decided."""

    _gone: asyncio.Event | None = None

    @web.authenticated
    @authorized
    async def get(self, change_id: str) -> None:
        """The change, with its diff; `wait` seconds (60 at most) for a decision if it is only proposed."""
        seconds = min(self.query(ChangeWait).wait, _MOST_WAITED_SECONDS)
        with self.served.feed.decision(change_id) as decided:
            self._gone = decided
            change = await self._look(change_id)
            if change.status == "proposed" and seconds:
                await asyncio.wait([asyncio.ensure_future(decided.wait())], timeout=seconds)
                change = await self._look(change_id)
        self.answer({"change": rendered_change(change)})

    def on_connection_close(self) -> None:
        """Nobody waits any more."""
        super().on_connection_close()
        if self._gone is not None:
            self._gone.set()

    async def _look(self, change_id: str) -> Change:
        return await self.call(lambda workspace: Journal(workspace).change(change_id))


class DecisionHandler(ToolsHandler):
    """`POST /changes/{id}/approve`, `/reject`, `/undo`: what a person decides."""

    @web.authenticated
    @authorized
    async def post(self, change_id: str, decision: str) -> None:
        """Decide; answers the change as it is now, for an undo the new change that takes it back."""
        self.query(NoArguments)
        self.body(NoArguments)

        def decide(workspace: Workspace) -> bytes:
            journal = Journal(workspace)
            if decision == "undo":
                return as_json({"change": rendered_change(journal.undo(journal.change(change_id), by_person=True))})
            decided = journal.approve(change_id) if decision == "approve" else journal.reject(change_id)
            return as_json({"change": rendered_change(decided)})

        self.answer(await self.call(decide))


class UndoHandler(ToolsHandler):
    """`POST /changes/undo` with `{"path"}`: a step back through a file's changes."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Take back the file's newest change that still stands, whoever made it."""
        self.query(NoArguments)
        path = self.body(FilePath).path

        def undo(workspace: Workspace) -> bytes:
            journal = Journal(workspace)
            return as_json(
                {"change": rendered_change(journal.undo(journal.newest_to_undo(path, own=False), by_person=True))}
            )

        self.answer(await self.call(undo))
