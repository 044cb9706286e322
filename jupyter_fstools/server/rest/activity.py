"""Lists reads, changes and refusals, newest first, paged."""

from __future__ import annotations

from typing import Annotated

from jupyter_server.auth.decorator import authorized
from pydantic import BaseModel, Field
from tornado import web

from ...gate.workspace import Workspace
from ...journal.standing import waiting_count
from ...sessions import checked_session
from ...stores.protocol import ChangeFilter, MomentFilter
from ...stores.records import ChangeStatus
from ...tools.arguments import Arguments, PageSize, PathArgument, Text
from ..base_handler import ToolsHandler
from ..events.activity_event import ReadEntry, RefusalEntry, read_entry, refusal_entry
from ..events.change_event import ChangeEvent, change_entry

_KIND = "change|read|refusal"

Entry = Annotated[ChangeEvent | ReadEntry | RefusalEntry, Field(discriminator="kind")]


class ActivityQuery(Arguments):
    """What the list of all that happened takes."""

    path: PathArgument | None = None
    session: Annotated[Text, Field(description="Only what this session did.")] | None = None
    kind: Annotated[
        Text,
        Field(pattern=rf"^({_KIND})(,({_KIND}))*$", description="Which kinds, with commas between; all if left out."),
    ] = "change,read,refusal"
    status: Annotated[ChangeStatus, Field(description="Of the changes only those with this status.")] | None = None
    match: Annotated[Text, Field(description="Only what has this in its path, in capitals or not.")] | None = None
    before: (
        Annotated[float, Field(allow_inf_nan=False, description="Only what is earlier, in seconds since 1970.")] | None
    ) = None
    limit: PageSize = 100


class ActivityPage(BaseModel):
    """A page of all that happened."""

    entries: Annotated[list[Entry], Field(description="Newest first.")]
    next: Annotated[float | None, Field(description="`before` of the next page; null on the last one.")]
    proposed: Annotated[int, Field(description="Changes below the root that wait for a person.")]
    revision: Annotated[int, Field(description="The journal's: `after` this, GET /changes says what is new in it.")]


class ActivityHandler(ToolsHandler):
    """`GET /activity`: reads, changes and refusals."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """What happened, newest first."""
        asked = self.query(ActivityQuery)
        if asked.session is not None:
            checked_session(asked.session)
        page = await self.call(lambda workspace: _page(workspace, asked))
        self.answer(page.model_dump())


def _page(workspace: Workspace, asked: ActivityQuery) -> ActivityPage:
    # The revision first: who goes on after it then misses nothing.
    revision = workspace.store.revision()
    found = sorted(_found(workspace, asked), key=lambda one: one[0], reverse=True)
    page = found[: asked.limit]
    return ActivityPage(
        entries=[entry for _, entry in page if entry is not None and _matches(entry, asked.match)],
        next=page[-1][0] if len(page) == asked.limit else None,
        proposed=waiting_count(workspace),
        revision=revision,
    )


def _matches(entry: Entry, text: str | None) -> bool:
    return text is None or text.casefold() in (entry.path or "").casefold()


def _found(workspace: Workspace, asked: ActivityQuery) -> list[tuple[float, Entry | None]]:
    """A page of each kind with the times of its entries; None for what may not be seen, so that paging goes on."""
    prefix = (workspace.peek(asked.path).key if asked.path else workspace.backend.root_key).rstrip("/")
    kinds, store = asked.kind.split(","), workspace.store
    moments = MomentFilter(prefix, asked.session, before=asked.before, limit=asked.limit)
    found: list[tuple[float, Entry | None]] = []
    if "change" in kinds:
        wanted = ChangeFilter(
            key_prefix=prefix,
            session=asked.session,
            status=asked.status,
            before=asked.before,
            limit=asked.limit,
            rows=False,
        )
        found += [(change.created_at, change_entry(workspace, change)) for change in store.changes(wanted)]
    if "read" in kinds:
        found += [(receipt.read_at, read_entry(workspace, receipt)) for receipt in store.reads(moments)]
    if "refusal" in kinds:
        found += [(refusal.at, refusal_entry(workspace, refusal)) for refusal in store.refusals(moments)]
    return found
