"""Lists the changes below a root that its reader may see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from ..errors import Denied, FsToolsError, NotFound, saying_unmodified
from ..gate.workspace import Workspace
from ..sessions import system_user
from ..stores.protocol import ChangeFilter
from ..stores.records import Change, ChangedFile
from .commands import is_command

_PAGE = 1000
_PAGE_TO_UNDO, _MOST_TO_UNDO = 50, 10_000

Wanted = TypeVar("Wanted", bound=ChangeFilter)


@dataclass(frozen=True, kw_only=True)
class ChangeQuery(ChangeFilter):
    """A filter of changes below one root.

    Attributes:
        path: of this file or below this folder, as a caller spells it; takes the place of `key_prefix`.
    """

    path: str | None = None


class Listing:
    """The changes of the files below one workspace's root, as its reader may see them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._store = workspace.store

    def changes(self, query: ChangeQuery) -> list[Change]:
        """The changes a query describes, paths relative to this root."""
        return self._all_visible(self._store.changes(self._filter(query)))

    def page(self, query: ChangeQuery) -> tuple[list[Change], int]:
        """The changes, and the revision to continue after: the last change's if a page after a cursor is full."""
        revision = self._store.revision()  # Read first: a caller that continues after it then misses nothing.
        found = self._store.changes(self._filter(query))
        if query.after is not None and len(found) == query.limit:
            revision = found[-1].revision
        return self._all_visible(found), revision

    def count(self, query: ChangeQuery) -> int:
        """How many changes a query describes on all its pages; those hidden from this reader are not counted."""
        return told_count(self._workspace, self._filter(query))

    def waiting(self, session: str | None = None, path: str | None = None) -> list[Change]:
        """All changes that wait for a person, oldest first, without the rows of their diffs."""
        wanted = self._filter(
            ChangeQuery(path=path, session=session, status="proposed", after=0, limit=1000, rows=False)
        )
        found: list[Change] = []
        while page := self._store.changes(wanted):
            found += page
            wanted = replace(wanted, after=page[-1].revision)
        return self._all_visible(found)

    def change(self, change_id: str) -> Change:
        """One change.

        Raises:
            NotFound: there is none, or it is about a file outside this root.
        """
        self._workspace.unfinished.settle_free()
        return self._known(change_id)

    def _known(self, change_id: str) -> Change:
        """`change` for a caller that holds the files' locks, under which no killed writer's change can be settled."""
        found = self._store.change(change_id)
        change = self.visible(found) if found is not None else None
        if change is None:
            raise unknown_change(change_id)
        return change

    @saying_unmodified()
    def newest_to_undo(self, path: str, *, own: bool) -> Change:
        """The newest change of a file that is in effect and is not an undo itself.

        Raises:
            NotFound: there is none.
        """
        self._workspace.unfinished.settle_free()
        reader = self._workspace.reader if own else None
        wanted = ChangeFilter(key=self._workspace.peek(path).key, reader=reader)
        for found in changes_to_undo(self._store.changes, wanted):
            if (change := self.visible(found)) is not None:
                return change
        raise self._nothing_to_undo(path, replace(wanted, status="proposed"))

    def _nothing_to_undo(self, path: str, proposed: ChangeFilter) -> NotFound:
        said = f"there is no change{' of yours' if proposed.reader else ''} to undo in {path!r}"
        if waiting := self._store.changes(proposed):
            it = f"change {waiting[0].id}"
            return NotFound(
                f"{said}: {it} still waits for approval",
                hint=f"Ask a person to reject {it} instead.",
                waiting=waiting[0].id,
            )
        return NotFound(said, hint="List the changes (`changes`) to see what there was.")

    def _filter(self, query: ChangeQuery) -> ChangeFilter:
        workspace = self._workspace
        workspace.unfinished.settle_free()
        prefix = workspace.peek(query.path).key if query.path else workspace.backend.root_key
        return replace(query, key_prefix=prefix)

    def _all_visible(self, changes: Iterable[Change]) -> list[Change]:
        return [change for found in changes if (change := self.visible(found)) is not None]

    def visible(self, change: Change) -> Change | None:
        """The change with paths of this root; None unless each of its files may be seen here."""
        told = [(file, changed_path(self._workspace, change, file)) for file in change.all_files]
        if any(path is None for _, path in told):
            return None
        if all(path == file.path == file.diff.path for file, path in told):
            return change
        return change.with_each(
            {"path": path, "diff": file.diff.model_copy(update={"path": path})} for file, path in told
        )


def changes_to_undo(changes: Callable[[Wanted], list[Change]], wanted: Wanted) -> Iterator[Change]:
    """The changes in effect that are neither an undo nor a command, newest first, of those that a filter describes.

    Args:
        changes: gives what a filter describes.
        wanted: the filter; its `status`, `limit` and `offset` aside.
    """
    for offset in range(0, _MOST_TO_UNDO, _PAGE_TO_UNDO):
        page = changes(replace(wanted, status="applied", limit=_PAGE_TO_UNDO, offset=offset))
        # A partial undo (tool `undo`, without `undoes`) is no change to take back either.
        yield from (one for one in page if one.undoes is None and one.tool != "undo" and not is_command(one))
        if not page:  # A shorter one may lack changes that are hidden from this reader.
            return


def is_told(workspace: Workspace, change: Change) -> bool:
    """A change whose reader may be told of each of its files."""
    return all(changed_path(workspace, change, file) is not None for file in change.all_files)


def changed_path(workspace: Workspace, change: Change, file: ChangedFile) -> str | None:
    """`told_path` for a file of a change."""
    return told_path(workspace, change.user, file.key, _account(change, file))


def _account(change: Change, file: ChangedFile) -> str:
    # A file that was only proposed has never been anybody's.
    return "" if file.before is None and change.status in ("proposed", "rejected") else change.account


def told_count(workspace: Workspace, wanted: ChangeFilter) -> int:
    """How many changes a filter describes on all its pages, without those that are hidden from this reader."""
    store, user, grant = workspace.store, workspace.reader.user, workspace.paths.grant
    total, own = (store.count_changes(replace(wanted, user=whose)) for whose in (None, user))
    sees_own = grant is None or grant.all_paths
    if sees_own and (own == total or workspace.rules.journal_of_others == "nothing"):
        return own
    pages = replace(wanted, after=None, before=None, rows=False, limit=_PAGE)
    told: dict[tuple[str, frozenset[tuple[str, str]]], bool] = {}
    count = 0
    for offset in range(0, total, _PAGE):
        for change in store.changes(replace(pages, offset=offset)):
            place = change.user, frozenset((file.key, _account(change, file)) for file in change.all_files)
            if place not in told:
                told[place] = is_told(workspace, change)
            count += told[place]
    return count


def workspace_change(workspace: Workspace, change: Change) -> Change:
    """The change with its paths below this workspace's root."""
    return change.with_each({"path": workspace.paths.path_of(file.key) or file.path} for file in change.all_files)


def told_path(workspace: Workspace, user: str, key: str, account: str = "") -> str | None:
    """The path of a file, if the workspace's reader may be told what a user did there; None if not.

    Changes of others may hold text of files that this account cannot read: users of one store need not be one
    account of the system. A file that is gone can be checked no more: what was done there from another account of the
    system (`account`) is not told.
    """
    path = workspace.paths.path_of(key)
    if path is None or not workspace.paths.may_read(path):
        return None
    if user == workspace.reader.user:
        return path
    is_told = workspace.rules.journal_of_others == "readable" and _could_be_read(workspace, path, account)
    return path if is_told else None


def _could_be_read(workspace: Workspace, path: str, account: str) -> bool:
    try:
        with workspace.backend.read(path):
            return True
    except Denied:
        return False
    except NotFound:
        return account in ("", system_user())
    except FsToolsError:  # The folder of a command.
        return True


def unknown_change(change_id: str) -> NotFound:
    """The refusal of an id that no visible change has."""
    return NotFound(f"there is no change {change_id[:80]!r}", hint="List the changes (`changes`) to see their ids.")
