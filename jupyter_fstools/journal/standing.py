"""Compares changes with their files: covered, stale, and every row."""

from __future__ import annotations

import sys
from typing import Literal

from ..content.source import Content
from ..content.splices import Splice, SplicedContent, inverse, parts_of, splices_back, unpacked, unpacked_undo
from ..diffs.file_diff import FileDiff
from ..documents.notebook import NotebookDocument, compared, notebook_diff
from ..documents.text.diff import diff_of_creation, diff_of_splices
from ..documents.text.encoding import TextEncoding, encoding_of
from ..errors import FsToolsError, Stale
from ..gate.draft import Draft, ExpectedContent, Restorable
from ..gate.notebook_steps import known_content
from ..gate.workspace import Workspace
from ..stores.protocol import ChangeFilter
from ..stores.records import Change, ChangedFile, Reader
from .commands import is_command

_NO_SPLICES = b"\x00[true,[]]\n"
_MOST_CHECKED = 100
"""Proposals of which it is looked whether their files moved on."""


def is_covered(workspace: Workspace, change: Change) -> bool:
    """A later change of one of its files stands, so that this one cannot be undone before it."""
    return any(_is_covered(workspace, change, key) for key in change.keys)


def _is_covered(workspace: Workspace, change: Change, key: str) -> bool:
    wanted = ChangeFilter(key=key, status="applied", limit=50, rows=False)
    standing = [one for one in workspace.store.changes(wanted) if not is_command(one)]
    if change.undoes is not None:
        return not standing or standing[0].id != change.id
    newest = next((one for one in standing if one.undoes is None), None)
    return newest is not None and newest.id != change.id


def is_stale(workspace: Workspace, change: Change) -> bool:
    """A file of a proposal is no longer what it was proposed for."""
    if change.status != "proposed" or is_command(change):
        return False
    try:
        return any(_has_moved_on(workspace, file) for file in change.all_files)
    except FsToolsError:
        return False


def _has_moved_on(workspace: Workspace, file: ChangedFile) -> bool:
    stat, before = workspace.peek(f"./{file.path}"), file.before
    if before is None or stat.kind != "file":
        return (stat.kind == "missing") != (before is None)
    if stat.size != before.size:
        return True
    with workspace.backend.read(stat.path) as opened:
        return workspace.fingerprint(opened).exact != before.exact_sha


def waiting_count(workspace: Workspace, reader: Reader | None = None) -> int:
    """Changes below the root (of this reader) that wait for a person and can still be approved."""
    root = workspace.backend.root_key.rstrip("/")
    wanted = ChangeFilter(key_prefix=root, reader=reader, status="proposed", rows=False)
    newest = workspace.store.changes(wanted)[:_MOST_CHECKED]
    stale = sum(is_stale(workspace, workspace_change(workspace, change)) for change in newest)
    return workspace.store.count_changes(wanted) - stale


def workspace_change(workspace: Workspace, change: Change) -> Change:
    """The change with its paths below this workspace's root."""
    files = [file.model_copy(update={"path": workspace.path_of(file.key) or file.path}) for file in change.all_files]
    return change.model_copy(update={"path": files[0].path, "files": files if change.files else []})


def changed_since(workspace: Workspace, change: Change) -> str | None:
    """What changed in a proposal's file since, as a unified diff; None where it is what it was, "" if untold."""
    if not is_stale(workspace, change):
        return None
    try:
        with workspace.drafts_to_restore(_restorable(change)):
            return None
    except Stale as refusal:
        return str(refusal.details.get("diff", ""))
    except FsToolsError:
        return ""


def with_all_rows(workspace: Workspace, change: Change) -> Change:
    """The change with every row of its diffs, and every character of a row, as far as its files still tell them.

    Raises:
        Stale: a file moved on; and as `Workspace.drafts_to_restore`
    """
    if change.status not in ("proposed", "applied") or is_command(change):
        return change
    with workspace.drafts_to_restore(_restorable(change)) as drafts:
        parts = parts_of(workspace.store.splices(change.id) or b"")
        files = [
            file.model_copy(update={"diff": _all_rows(change, file, draft, part or _NO_SPLICES)})
            for draft, file, part in zip(drafts, change.all_files, parts, strict=True)
        ]
    return change.model_copy(update={"diff": files[0].diff, "files": files if change.files else []})


def _all_rows(change: Change, file: ChangedFile, draft: Draft, kept: bytes) -> FileDiff:
    before, splices = draft.content, unpacked(kept) if change.status == "proposed" else []
    if change.status != "proposed":
        back = splices_back(draft.content, unpacked_undo(kept))
        before, splices = SplicedContent(draft.content, back), inverse(back)
    return _cells(file, before, splices) if file.diff.cells is not None else _lines(file, before, splices)


def _restorable(change: Change) -> list[Restorable]:
    why, hint = f"change {change.id} cannot be told in full", "Look at what it tells."
    side: Literal["old", "new"] = "old" if change.status == "proposed" else "new"
    there = [(file, file.before if side == "old" else file.after) for file in change.all_files]
    return [
        (file.path, state, ExpectedContent(known_content(file.diff, side), state is None, why, hint))
        for file, state in there
    ]


def _lines(file: ChangedFile, before: Content, splices: list[Splice]) -> FileDiff:
    path, op = file.path, file.diff.op
    after = SplicedContent(before, splices)
    encoding = _encoding(before if before.size else after, path)
    if op == "delete":
        return diff_of_creation(path, op, before.read(0, before.size), encoding, whole=True)
    if file.before is None:
        return diff_of_creation(path, op, after.read(0, after.size), encoding, whole=True)

    def line_at(offset: int) -> int:
        return before.read(0, offset).count(b"\n") + 1

    return diff_of_splices(path, op, before, splices, encoding, line_at, whole=True)


def _cells(file: ChangedFile, before: Content, splices: list[Splice]) -> FileDiff:
    old = None if file.before is None else NotebookDocument(before)
    new = None if file.after is None else NotebookDocument(SplicedContent(before, splices))
    found = {cell.cell_id: cell for cell in compared(old, new, cut_lines=False).diffs}
    cells = [
        cell.model_copy(update={"hunks": found[cell.cell_id].hunks}) if cell.cell_id in found and cell.hunks else cell
        for cell in file.diff.cells or []
    ]
    return notebook_diff(file.path, file.diff.op, cells, file.diff.language, most_rows=sys.maxsize)


def _encoding(content: Content, path: str) -> TextEncoding:
    try:
        return encoding_of(content, path, None)
    except FsToolsError:
        return TextEncoding("latin-1")
