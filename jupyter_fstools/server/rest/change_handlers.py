"""Serves the journal: lists its changes, tells one, waits for a decision."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Annotated, Literal

from jupyter_server.auth.decorator import authorized
from pydantic import Field
from tornado import web

from ...errors import Denied
from ...gate.workspace import Workspace
from ...journal.commands import rejection
from ...journal.decisions import heard
from ...journal.journal import Journal
from ...journal.listing import ChangeQuery
from ...journal.standing import as_of_now, can_be_undone, changed_since, sides_of, waiting_count, with_all_rows
from ...sessions import checked_session
from ...stores.records import Change, ChangeStatus
from ...tools.arguments import Arguments, Count, Flag, PageSize, PathArgument, Text
from ..base_handler import ToolsHandler, Wait
from ..bodies import as_json, rendered_change
from ..token_login import end_with_token


class ChangesQuery(Arguments):
    """The query of the list of changes."""

    path: PathArgument | None = None
    session: Annotated[Text, Field(description="Only what this session did.")] | None = None
    status: Annotated[ChangeStatus, Field(description="Only those with this status.")] | None = None
    after: Annotated[Count, Field(description="Only revisions above this one, in rising order.")] | None = None
    before: (
        Annotated[float, Field(allow_inf_nan=False, description="Only what was made earlier, in seconds since 1970.")]
        | None
    ) = None
    limit: Annotated[PageSize, Field(description="Changes at most.")] = 100
    offset: Annotated[Count, Field(description="Changes to skip.")] = 0
    diffs: Annotated[Flag, Field(description="With the hunks and cells of the diffs.")] = True


class ChangeWait(Wait):
    """How long to wait for a decision, and how much of the diff to send."""

    rows: Annotated[
        Literal["bounded", "all"], Field(description="`all`: every row of the diff, and every character of a row.")
    ] = "bounded"
    sides: Annotated[Flag, Field(description="With the whole text of its files before and after it.")] = False


class ChangesHandler(ToolsHandler):
    """`GET /changes`: the journal; to an assistant's token, what was made with it or in its session."""

    opens_to_tokens = True

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List changes, newest first; with `after`, those of later revisions in rising order."""
        asked = self.query(ChangesQuery)
        session = asked.session and checked_session(asked.session)
        own = self.assistant.reader if self.assistant else None
        if own is not None and session not in (None, own.session):
            raise Denied("an assistant's token allows its own changes only", hint="Leave out session.")
        query = ChangeQuery(
            path=asked.path,
            reader=own,
            session=session,
            status=asked.status,
            after=asked.after,
            before=asked.before,
            limit=asked.limit,
            offset=asked.offset,
            rows=asked.diffs,
        )

        def listed(workspace: Workspace) -> bytes:
            journal = Journal(workspace)
            changes, revision = journal.page(query)
            return as_json(
                {
                    "changes": [rendered_change(one) for one in as_of_now(workspace, changes)],
                    "total": journal.count(query),
                    "proposed": waiting_count(workspace, own),
                    "revision": revision,
                }
            )

        self.answer(await self.call(listed))


class ChangeHandler(ToolsHandler):
    """`GET /changes/{id}`: one change, now or once it is decided."""

    opens_to_tokens = True
    _decided: asyncio.Event | None = None

    @web.authenticated
    @authorized
    async def get(self, change_id: str) -> None:
        """Show a change with its diff; if it waits, `wait` for a decision, 60 seconds at most."""
        asked = self.query(ChangeWait)
        seconds = asked.seconds
        with self.served.feed.decision(change_id) as decided:
            self._decided = decided
            change = await self._look(change_id)
            if change.status in ("proposed", "pending") and seconds:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._until(decided), seconds)
                change = await self._look(change_id)

        def rendered(workspace: Workspace) -> bytes:
            if seconds:
                heard(workspace, change)
            whole = with_all_rows(workspace, change) if asked.rows == "all" else change
            if self.is_shown:
                complete = [file.path for file in whole.all_files if not file.diff.truncated]
                self.served.seen.note(workspace.reader.user, change, complete)
            sides = {"sides": [one.model_dump() for one in sides_of(workspace, change)]} if asked.sides else {}
            since = [one.model_dump() for one in changed_since(workspace, change)]
            whole = whole.model_copy(update={"undoable": can_be_undone(workspace, change)})
            is_rejected = change.status == "rejected" and change.decided_by is not None
            refusal = rejection(change).as_dict() if is_rejected else None
            told = {"change": rendered_change(whole), "changed_since": since}
            return as_json({**told, "refusal": refusal, **sides})

        self.answer(await self.call(rendered))

    def on_connection_close(self) -> None:
        """Nobody waits any more."""
        super().on_connection_close()
        if self._decided is not None:
            self._decided.set()

    async def _until(self, decided: asyncio.Event) -> None:
        """Wait until the change is decided, or the assistant's token has ended."""
        if self.assistant is None:
            await decided.wait()
            return
        ended = asyncio.ensure_future(end_with_token(self.served, self.assistant, threading.Event()))
        ended.add_done_callback(lambda _: decided.set())
        try:
            await decided.wait()
        finally:
            ended.cancel()

    async def _look(self, change_id: str) -> Change:
        change = await self.call(lambda workspace: Journal(workspace).change(change_id))
        if self.assistant is not None and change.reader != self.assistant.reader:
            raise Denied("an assistant's token allows its own changes only", hint="GET /changes lists them.")
        return change
