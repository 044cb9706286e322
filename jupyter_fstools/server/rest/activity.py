"""Lists reads, changes and refusals, newest first, paged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from jupyter_server.auth.decorator import authorized
from pydantic import BaseModel, BeforeValidator, Field
from tornado import web

from ...gate.workspace import Workspace
from ...journal.standing import waiting_count
from ...sessions import checked_session
from ...stores.protocol import ChangeFilter, MomentFilter
from ...stores.records import ChangeStatus
from ...tools.arguments import Arguments, Count, PageSize, PathArgument, Text, spelled
from ..base_handler import ToolsHandler
from ..events.payloads import ChangeEvent, ReadEntry, RefusalEntry, change_entry, read_entry, refusal_entry

_KINDS = ("change", "read", "refusal")
_KIND = "|".join(_KINDS)
_MOST_FILES = 100
_MOST_COVERED = 4
"""Most applied changes of a file that are sent again, as a new change may cover or uncover one of them."""

_Record = TypeVar("_Record")


def _kinds(value: str) -> str:
    if not set(value.split(",")) <= set(_KINDS):
        raise ValueError(f"takes {', '.join(_KINDS)}, or several with commas between, got {spelled(value)}")
    return value


Entry = Annotated[ChangeEvent | ReadEntry | RefusalEntry, Field(discriminator="kind")]


class ActivityQuery(Arguments):
    """The query of the list of all that happened."""

    path: PathArgument | None = None
    session: Annotated[Text, Field(description="Only what this session did.")] | None = None
    kind: Annotated[
        Text,
        Field(pattern=rf"^({_KIND})(,({_KIND}))*$", description="Kinds, separated by commas; default: all."),
        BeforeValidator(_kinds),
    ] = "change,read,refusal"
    status: (
        Annotated[ChangeStatus, Field(description="Of changes only those with this status; reads and refusals stay.")]
        | None
    ) = None
    match: Annotated[Text, Field(description="Only entries whose path contains this text, ignoring case.")] | None = (
        None
    )
    after: (
        Annotated[
            Count,
            Field(
                description="Only changes: those above this revision, those that wait, and earlier ones of the same "
                "files whose `undoable` may differ now."
            ),
        ]
        | None
    ) = None
    before: (
        Annotated[float, Field(allow_inf_nan=False, description="Only what is earlier, in seconds since 1970.")] | None
    ) = None
    limit: Annotated[PageSize, Field(description="Entries at most.")] = 100


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
        """List changes, reads and refusals, newest first."""
        asked = self.query(ActivityQuery)
        if asked.session is not None:
            checked_session(asked.session)
        page = await self.call(lambda workspace: _page(workspace, asked))
        self.answer(page.model_dump())


def _page(workspace: Workspace, asked: ActivityQuery) -> ActivityPage:
    # The revision is read first: a client that continues after it then misses nothing.
    revision = workspace.store.revision()
    if asked.after is not None:
        return _news(workspace, asked.after, asked.limit, revision)
    found = sorted(_found(workspace, asked), key=lambda one: one[0], reverse=True)
    page = found[: asked.limit]
    return ActivityPage(
        entries=[entry for _, entry in page if entry is not None],
        next=page[-1][0] if len(page) == asked.limit else None,
        proposed=waiting_count(workspace),
        revision=revision,
    )


def _news(workspace: Workspace, after: int, limit: int, revision: int) -> ActivityPage:
    """New entries of the journal, and older ones whose state may have changed since."""
    store, prefix = workspace.store, workspace.backend.root_key
    new = store.changes(ChangeFilter(key_prefix=prefix, after=after, limit=limit, rows=False))
    keys = dict.fromkeys(key for change in new for key in change.keys)
    beside = [
        change
        for key in list(keys)[:_MOST_FILES]
        for change in store.changes(ChangeFilter(key=key, status="applied", limit=_MOST_COVERED, rows=False))
    ]
    waiting = store.changes(ChangeFilter(key_prefix=prefix, status="proposed", rows=False))
    told = {change.id: change for change in [*waiting, *beside, *new]}
    entries = [change_entry(workspace, change) for change in told.values()]
    return ActivityPage(
        entries=[entry for entry in entries if entry is not None],
        next=None,
        proposed=waiting_count(workspace),
        revision=new[-1].revision if len(new) == limit else revision,
    )


def _found(workspace: Workspace, asked: ActivityQuery) -> list[tuple[float, Entry | None]]:
    """A page of each kind with the times of its entries; None for what is not listed, so that paging goes on."""
    prefix = workspace.peek(asked.path).key if asked.path else workspace.backend.root_key
    kinds, store = asked.kind.split(","), workspace.store
    moments = MomentFilter(prefix, asked.session, before=asked.before, limit=asked.limit)

    def entry_if(one: _Record, keys: list[str], entry: Callable[[Workspace, _Record], Entry | None]) -> Entry | None:
        part = asked.match and asked.match.casefold()
        is_match = not part or any(part in (workspace.paths.path_of(key) or "").casefold() for key in keys)
        return entry(workspace, one) if is_match else None

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
        found += [(change.created_at, entry_if(change, change.keys, change_entry)) for change in store.changes(wanted)]
    if "read" in kinds:
        found += [(read.read_at, entry_if(read, [read.key], read_entry)) for read in store.reads(moments)]
    if "refusal" in kinds:
        found += [(refusal.at, entry_if(refusal, [refusal.key], refusal_entry)) for refusal in store.refusals(moments)]
    return found
