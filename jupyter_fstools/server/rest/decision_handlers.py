"""Serves decisions about changes: approve, reject, undo, keep."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Annotated, Literal, Self

from jupyter_server.auth.decorator import authorized
from pydantic import Field, model_validator
from tornado import web

from ...errors import Denied, FsToolsError, Invalid
from ...gate.workspace import Workspace
from ...journal.decisions import follow
from ...journal.detailed_decision import Decision
from ...journal.journal import Journal
from ...journal.standing import as_of_now
from ...sessions import checked_session
from ...stores.records import Change
from ...tools.arguments import Arguments, Count, PathArgument, Text, beside_others
from ..base_handler import NoArguments, ToolsHandler
from ..bodies import as_json, rendered_change
from ..permissions import EXECUTE, UNDO_OTHERS


class FilePath(Arguments):
    """A file."""

    path: PathArgument


class WaitingChanges(Arguments):
    """The waiting changes to decide about: these, or all of a session, of a path, or of both."""

    ids: Annotated[list[Text], Field(min_length=1, max_length=1000, description="The changes.")] | None = None
    session: Annotated[Text, Field(description="All that wait of this session.")] | None = None
    path: Annotated[Text, Field(description='A file or folder; "." for everything below the root.')] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.ids is None) == (self.session is None and not self.path):
            raise beside_others("ids", "takes either ids, or session, path or both")
        return self


Positions = Annotated[list[Count], Field(max_length=100_000)]


class DecisionBody(Arguments):
    """A person's decision in detail; about all of the change where nothing is named."""

    hunks: Annotated[
        Positions | dict[str, Positions | Literal["all"]] | None,
        Field(
            description="Positions in the diff's `hunks`; of a notebook in each cell's, by cell id. What is not named "
            "is rejected, or left as it is by undo and keep. Beside `content`: of which hunks it is written."
        ),
    ] = None
    reason: Annotated[str, Field(max_length=10_000, description="For the session that proposed or made it.")] | None = (
        None
    )
    content: Annotated[
        str | dict[str, str] | None,
        Field(description="approve: a text file's whole text, or sources of cells by id, to write instead."),
    ] = None
    base: Annotated[
        str | dict[str, str] | None,
        Field(
            description="approve: the whole text, or the sources, from which `content` was made. Where the file has "
            "others by now, byte order mark and line endings aside, the answer is 412 `stale`."
        ),
    ] = None


class DecisionHandler(ToolsHandler):
    """`POST /changes/{id}/approve`, `/reject`, `/undo`, `/keep`: what a person decides."""

    changes_files = True

    @web.authenticated
    @authorized
    async def post(self, change_id: str, decision: str) -> None:
        """Decide about a change; answers with the change, or with the new change that an undo makes."""
        self.query(NoArguments)
        asked = self.body(DecisionBody)
        _require_of_use(asked, decision)
        commands, others = await self.is_allowed(EXECUTE), await self.is_allowed(UNDO_OTHERS)

        def decide(workspace: Workspace) -> bytes:
            journal = Journal(workspace)
            if decision == "undo":
                undone = _may_undo(workspace, journal.change(change_id), others=others)
                change = journal.undo(undone, by_person=True, hunks=asked.hunks, reason=asked.reason)
                if asked.reason is not None:
                    # The journal may have dropped its oldest change for the undo.
                    follow(workspace, undone.model_copy(update={"revision": change.revision}))
            elif decision == "approve":
                self.served.seen.require(workspace.reader.user, journal.change(change_id))
                detail = Decision(asked.hunks, asked.content, asked.reason, asked.base)
                change = journal.approve(change_id, commands=commands, decision=detail)
            elif decision == "keep":
                change = journal.keep(change_id, asked.hunks)
            else:
                change = journal.reject(change_id, asked.hunks, reason=asked.reason)
            return _told(workspace, change)

        self.answer(await self.call(decide))


_TAKES = {
    "approve": ("hunks", "reason", "content", "base"),
    "reject": ("hunks", "reason"),
    "undo": ("hunks", "reason"),
    "keep": ("hunks",),
}


def _require_of_use(asked: DecisionBody, decision: str) -> None:
    for field in asked.model_fields_set:
        if field not in _TAKES[decision] and getattr(asked, field) is not None:
            raise Invalid(f"{decision} takes no {field}", hint=f"Leave {field} out.", field=field)


class DecisionsHandler(ToolsHandler):
    """`POST /changes/approve`, `/changes/reject`: one decision about many changes."""

    changes_files = True

    @web.authenticated
    @authorized
    async def post(self, decision: str) -> None:
        """Decide about many changes, oldest first; answers with the outcome of each, refusals included."""
        self.query(NoArguments)
        asked = self.body(WaitingChanges)
        if asked.session is not None:
            checked_session(asked.session)
        commands = await self.is_allowed(EXECUTE)

        def waiting(workspace: Workspace) -> dict[str, str | None]:
            return {change.id: change.path for change in Journal(workspace).waiting(asked.session, asked.path)}

        def decide(workspace: Workspace, change_id: str) -> Change:
            journal = Journal(workspace)
            if decision == "reject":
                return journal.reject(change_id)
            self.served.seen.require(workspace.reader.user, journal.change(change_id))
            return journal.approve(change_id, commands=commands)

        paths = await self.call(waiting) if asked.ids is None else dict.fromkeys(asked.ids)
        outcomes = []
        for change_id, path in paths.items():
            try:
                change = await self.call(partial(decide, change_id=change_id))
                told = {"id": change_id, "path": change.path, "change": rendered_change(change, rows=False)}
                outcomes.append({**told, "error": None})
            except FsToolsError as refusal:
                refusal.say_unmodified()
                outcomes.append({"id": change_id, "path": path, "change": None, "error": refusal.as_dict()})
        self.answer({"outcomes": outcomes})


class UndoHandler(ToolsHandler):
    """`POST /changes/undo` with `{"path"}`: a step back through a file's changes."""

    changes_files = True

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Undo the file's newest change that is in effect, whoever made it."""
        self.query(NoArguments)
        path = self.body(FilePath).path
        others = await self.is_allowed(UNDO_OTHERS)

        def undo(workspace: Workspace) -> bytes:
            journal = Journal(workspace)
            undone = _may_undo(workspace, journal.newest_to_undo(path, own=False), others=others)
            return _told(workspace, journal.undo(undone, by_person=True))

        self.answer(await self.call(undo))


def _told(workspace: Workspace, change: Change) -> bytes:
    with suppress(FsToolsError):  # It is decided already: a refusal would wrongly say `not modified`.
        (change,) = as_of_now(workspace, [change])
    return as_json({"change": rendered_change(change)})


def _may_undo(workspace: Workspace, change: Change, *, others: bool) -> Change:
    if change.user != workspace.reader.user and not others:
        raise Denied(
            f"change {change.id} was made by {change.user}, and you may not undo what others did (not modified)",
            hint="Ask its user, or an administrator.",
        )
    return change
