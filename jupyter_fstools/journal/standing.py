"""Compares changes with their files: undoable, stale, shown in full."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Literal

from pydantic import BaseModel

from ..content.source import Content, all_of
from ..content.splices import Splice, SplicedContent, inverse
from ..diffs.file_diff import FileDiff
from ..documents.text.diff import decoded_sides, diff_of_creation, diff_of_splices
from ..errors import Conflict, FsToolsError, NotFound, Stale, TimedOut, TooLarge
from ..gate.draft import Draft, ExpectedFile
from ..gate.kept_steps import placed_again
from ..gate.workspace import Workspace
from ..stores.protocol import ChangeFilter
from ..stores.records import Change, ChangedFile, Reader
from .commands import is_command
from .file_edits import kept_parts, restorable, splices_to_land, splices_to_undo, told_encoding, with_all_cells
from .listing import is_told, told_count, workspace_change

_MOST_COMPARED = 16 << 20
"""Largest size of both sides of a file that is shown as a whole."""
_MOST_CHECKED = 100
"""Most proposals whose files are checked for changes."""


class FileSides(BaseModel):
    """A file before and after a change, as text.

    Attributes:
        path: relative to the root.
        old: None where there was no file.
        new: None where there is no file afterwards.
    """

    path: str
    old: str | None
    new: str | None


class ChangedSince(BaseModel):
    """A modification of a proposal's file since it was proposed.

    Attributes:
        path: the file, relative to the root.
        message: says that it was modified.
        diff: how, as far as the proposer was shown the file; None where it cannot be told.
    """

    path: str
    message: str
    diff: FileDiff | None


def can_be_undone(workspace: Workspace, change: Change) -> bool:
    """Whether a change is in effect, enough of it was kept, and no later change of its files is in effect."""
    return as_of_now(workspace, [change])[0].undoable


def as_of_now(workspace: Workspace, changes: Sequence[Change]) -> list[Change]:
    """The changes, with `undoable` as of now rather than of when they were made."""
    standing = _standing_by_key(workspace, len(changes))
    return [
        change.model_copy(
            update={
                "undoable": change.undoable
                and change.status == "applied"
                and not any(_is_covered(change, standing(key)) for key in change.keys)
            }
        )
        for change in changes
    ]


def _standing_by_key(workspace: Workspace, count: int) -> Callable[[str], list[Change]]:
    """A function that gives a file's newest changes in effect; for many files they are fetched in one query."""
    newest: defaultdict[str, list[Change]] = defaultdict(list)
    wanted = ChangeFilter(key_prefix=workspace.backend.root_key, status="applied", limit=count, rows=False)
    for change in workspace.store.changes(wanted) if count > 1 else ():
        for key in change.keys if not is_command(change) else ():
            newest[key].append(change)

    @cache
    def standing(key: str) -> list[Change]:
        found = newest.get(key, [])
        return found if any(one.undoes is None for one in found) else _standing(workspace, key)

    return standing


def _standing(workspace: Workspace, key: str) -> list[Change]:
    """The newest changes of a file in effect, among them one that is no undo, if there is one."""
    found: list[Change] = []
    for limit in (2, 50):  # Each is read with its diff, and usually the newest ones are enough.
        wanted = ChangeFilter(key=key, status="applied", limit=limit, rows=False)
        found = [one for one in workspace.store.changes(wanted) if not is_command(one)]
        if any(one.undoes is None for one in found):
            break
    return found


def _is_covered(change: Change, standing: Sequence[Change]) -> bool:
    """Whether a later change of the file is in effect, which must be undone before this one."""
    if change.undoes is not None:
        return not standing or standing[0].id != change.id
    newest = next((one for one in standing if one.undoes is None), None)
    return newest is not None and newest.id != change.id


def is_stale(workspace: Workspace, change: Change) -> bool:
    """Whether a file of a proposal has changed since it was proposed."""
    return any(_has_moved_on(workspace, change, at) for at in range(len(change.all_files)))


def _has_moved_on(workspace: Workspace, change: Change, at: int) -> bool:
    """Compares with the file on disk: unsaved text is fetched only when a person decides."""
    if change.status != "proposed" or is_command(change):
        return False
    try:
        return _is_another(workspace, change, at)
    except FsToolsError:
        return False


def _is_another(workspace: Workspace, change: Change, at: int) -> bool:
    file = change.all_files[at]
    stat, before = workspace.peek(f"./{file.path}"), file.before
    if before is None or stat.kind != "file":
        return (stat.kind == "missing") != (before is None)
    documents = workspace.store.open_documents(stat.key)
    if stat.size != before.size and not documents:
        return True
    # Text that the person has not saved is not in the file, so the proposal need not fit that.
    is_unsaved = before.on_disk is not None and not all(one.saved for one in documents)
    with workspace.backend.read(stat.path) as opened:
        known = {before.exact_sha} if opened.size == before.size else set()
        known |= {before.on_disk} if is_unsaved else set()
        if known and workspace.versions.fingerprint(opened).exact in known:
            return False
        return not documents or placed_again(kept_parts(workspace, change)[at], opened) is None


def waiting_count(workspace: Workspace, reader: Reader | None = None) -> int:
    """Changes below the root (of this reader) that wait for a person and can still be approved."""
    wanted = ChangeFilter(key_prefix=workspace.backend.root_key, reader=reader, status="proposed", rows=False)
    newest = [one for one in workspace.store.changes(wanted) if is_told(workspace, one)][:_MOST_CHECKED]
    stale = sum(is_stale(workspace, workspace_change(workspace, change)) for change in newest)
    return told_count(workspace, wanted) - stale


def changed_since(workspace: Workspace, change: Change) -> list[ChangedSince]:
    """The modifications of a proposal's files since, also unsaved ones; a file that still fits has none.

    Raises:
        TimedOut: another call holds a file's lock, and this one begins again instead of waiting for it.
    """
    if change.status != "proposed" or is_command(change):
        return []
    parts, hint = kept_parts(workspace, change), "Reject it, or have it proposed again."
    files = restorable(workspace, change, "before", parts, "is out of date", hint)
    told = [_since(workspace, change, at, file) for at, file in enumerate(files)]
    return [since for since in told if since is not None]


def _since(workspace: Workspace, change: Change, at: int, file: ExpectedFile) -> ChangedSince | None:
    is_saved, key = _has_moved_on(workspace, change, at), change.all_files[at].key
    if not is_saved and all(one.saved for one in workspace.store.open_documents(key)):
        return None
    try:
        with workspace.drafts_to_restore([file]):
            return None
    except FsToolsError as refusal:
        if isinstance(refusal, TimedOut) and refusal.lock is not None:
            raise  # The request restarts once the lock is free: two for one file must not block each other.
        if not is_saved and not isinstance(refusal, Stale):
            return None  # A page that does not answer now may answer when somebody decides.
        diff = refusal.diff if isinstance(refusal, Stale) else None
        return ChangedSince(path=change.all_files[at].path, message=refusal.message, diff=diff)


def with_all_rows(workspace: Workspace, change: Change) -> Change:
    """The change with every row of its diffs, and every character of a row, as far as its files still have them.

    Raises:
        Stale: a file moved on; and as `Workspace.drafts_to_restore`
    """
    if change.status not in ("proposed", "applied") or is_command(change):
        return change
    with _files_before(workspace, change) as files:
        return change.with_each({"diff": _all_rows(file, before, splices)} for file, before, splices in files)


def sides_of(workspace: Workspace, change: Change) -> list[FileSides]:
    """The whole text of each of a change's files before and after it, as far as the files still have it.

    For a file that is open and was changed elsewhere since, both are its current text, without the change and with it.

    Raises:
        Conflict: it is neither proposed nor in effect; Stale: a file has changed; TooLarge; and as
            `Workspace.drafts_to_restore`
    """
    _require_telling(change)
    with _files_before(workspace, change, may_differ_elsewhere=True) as files:
        return [_sides(file, before, splices) for file, before, splices in files]


def content_of(workspace: Workspace, change: Change, path: str | None) -> tuple[ChangedFile, bytes]:
    """A file of a change, and its whole content after the change, or before it where the change deletes the file.

    Args:
        workspace: the files.
        change: one that is proposed or in effect.
        path: one of its files; None for the first one.

    Raises:
        NotFound: not one of its files; and as `sides_of`, but for TooLarge
    """
    at = next((at for at, file in enumerate(change.all_files) if path in (None, file.path)), None)
    if at is None:
        raise NotFound(f"{path} is not a file of change {change.id}", hint="Look at the change.")
    _require_telling(change)
    with _files_before(workspace, change) as files:
        file, before, splices = files[at]
        content = before if file.after is None else SplicedContent(before, splices)
        return file, all_of(content)


def _require_telling(change: Change) -> None:
    if change.status not in ("proposed", "applied") or is_command(change):
        raise Conflict(f"change {change.id} is {change.status}: its files do not show it", hint="Show its diff.")


@contextmanager
def _files_before(
    workspace: Workspace, change: Change, *, may_differ_elsewhere: bool = False
) -> Iterator[list[tuple[ChangedFile, Content, Sequence[Splice]]]]:
    """Each file of a change, its content before the change, and what the change does to it.

    `may_differ_elsewhere`: a file that is open may have changed since, but not in the places of the change.

    Raises:
        as `Workspace.drafts_to_restore`
    """
    side: Literal["before", "after"] = "before" if change.status == "proposed" else "after"
    parts = kept_parts(workspace, change)
    places, hint = parts if may_differ_elsewhere else (), "Look at the part that is shown."
    files = restorable(workspace, change, side, places, "cannot be shown in full", hint)
    with workspace.drafts_to_restore(files) as drafts:
        yield [
            (file, *_before(change, draft, part))
            for draft, file, part in zip(drafts, change.all_files, parts, strict=True)
        ]


def _before(change: Change, draft: Draft, kept: bytes) -> tuple[Content, Sequence[Splice]]:
    if change.status == "proposed":
        return draft.content, splices_to_land(draft, kept)
    back = splices_to_undo(draft, kept)
    return SplicedContent(draft.content, back), inverse(back)


def _sides(file: ChangedFile, before: Content, splices: Sequence[Splice]) -> FileSides:
    after = SplicedContent(before, splices)
    if before.size + after.size > _MOST_COMPARED:
        raise TooLarge(f"{file.path} is too large to be compared as a whole", hint="Show its diff.")
    encoding = told_encoding(file, before, splices)
    old, new = decoded_sides(all_of(before), all_of(after), encoding)
    return FileSides(path=file.path, old=None if file.before is None else old, new=None if file.after is None else new)


def _all_rows(file: ChangedFile, before: Content, splices: Sequence[Splice]) -> FileDiff:
    return _lines(file, before, splices) if file.diff.cells is None else with_all_cells(file.diff, before, splices)


def _lines(file: ChangedFile, before: Content, splices: Sequence[Splice]) -> FileDiff:
    path, op = file.path, file.diff.op
    after = SplicedContent(before, splices)
    encoding = told_encoding(file, before, splices)

    def line_at(offset: int) -> int:
        return before.read(0, offset).count(b"\n") + 1

    if op == "delete" or file.before is None:
        side = before if op == "delete" else after
        diff = diff_of_creation(path, op, all_of(side), encoding, whole=True)
    else:
        diff = diff_of_splices(path, op, before, splices, encoding, line_at, whole=True)
    diff.encoding = file.diff.encoding
    return diff
