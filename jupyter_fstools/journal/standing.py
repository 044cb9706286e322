"""Compares changes with what their files are now: covered, stale, and every row."""

from __future__ import annotations

import sys

from ..content.source import Content
from ..content.splices import Splice, SplicedContent, inverse, unpacked, unpacked_undo
from ..diffs.file_diff import FileDiff
from ..documents.notebook import NotebookDocument, compared, notebook_diff
from ..documents.text.diff import diff_of_creation, diff_of_splices
from ..documents.text.encoding import TextEncoding, encoding_of
from ..errors import FsToolsError, Stale
from ..gate.draft import ExpectedContent
from ..gate.notebook_steps import known_content
from ..gate.workspace import Workspace
from ..stores.protocol import ChangeFilter
from ..stores.records import Change
from .commands import is_command

_MOST_CHECKED = 100
"""Proposals of which it is looked whether their files moved on."""


def is_covered(workspace: Workspace, change: Change) -> bool:
    """A later change of the file stands, so that this one cannot be undone before it."""
    wanted = ChangeFilter(key=change.key, status="applied", limit=50, rows=False)
    standing = [one for one in workspace.store.changes(wanted) if not is_command(one)]
    if change.undoes is not None:
        return not standing or standing[0].id != change.id
    newest = next((one for one in standing if one.undoes is None), None)
    return newest is not None and newest.id != change.id


def is_stale(workspace: Workspace, change: Change) -> bool:
    """A proposal's file is no longer what it was proposed for."""
    if change.status != "proposed" or is_command(change):
        return False
    try:
        stat, before = workspace.peek(f"./{change.path}"), change.before
        if before is None or stat.kind != "file":
            return (stat.kind == "missing") != (before is None)
        if stat.size != before.size:
            return True
        with workspace.backend.read(stat.path) as opened:
            return workspace.fingerprint(opened).exact != before.exact_sha
    except FsToolsError:
        return False


def waiting_count(workspace: Workspace) -> int:
    """Changes below the root that wait for a person and can still be approved."""
    wanted = ChangeFilter(key_prefix=workspace.backend.root_key.rstrip("/"), status="proposed", rows=False)
    newest = workspace.store.changes(wanted)[:_MOST_CHECKED]
    stale = sum(is_stale(workspace, workspace_change(workspace, change)) for change in newest)
    return workspace.store.count_changes(wanted) - stale


def workspace_change(workspace: Workspace, change: Change) -> Change:
    """The change with its path below this workspace's root."""
    path = workspace.path_of(change.key)
    return change if path is None or path == change.path else change.model_copy(update={"path": path})


def changed_since(workspace: Workspace, change: Change) -> str | None:
    """What changed in a proposal's file since, as a unified diff; None where it is what it was, "" if untold."""
    if not is_stale(workspace, change):
        return None
    try:
        with workspace.draft_to_restore(change.path, change.before, _expected(change, change.before is None)):
            return None
    except Stale as refusal:
        return str(refusal.details.get("diff", ""))
    except FsToolsError:
        return ""


def with_all_rows(workspace: Workspace, change: Change) -> Change:
    """The change with every row of its diff, and every character of a row, as far as its file still tells them.

    Raises:
        Stale: the file moved on; and as `Workspace.draft_to_restore`
    """
    if change.status not in ("proposed", "applied") or is_command(change):
        return change
    there = change.before if change.status == "proposed" else change.after
    with workspace.draft_to_restore(change.path, there, _expected(change, there is None)) as draft:
        kept = workspace.store.splices(change.id) or b""
        if change.status == "proposed":
            before, splices = draft.content, unpacked(kept or b"\x00[true,[]]\n")
        else:
            back = [
                Splice(one.offset, draft.content.read(one.offset, one.length), one.restored)
                for one in unpacked_undo(kept or b"\x00[false,[]]\n")
            ]
            before, splices = SplicedContent(draft.content, back), inverse(back)
        diff = _cells(change, before, splices) if change.diff.cells is not None else _lines(change, before, splices)
    return change.model_copy(update={"diff": diff})


def _expected(change: Change, whole: bool) -> ExpectedContent:
    why = f"change {change.id} cannot be told in full"
    known = known_content(change.diff, "old" if change.status == "proposed" else "new")
    return ExpectedContent(known, whole=whole, why=why, hint="Look at what it tells.")


def _lines(change: Change, before: Content, splices: list[Splice]) -> FileDiff:
    path, op = change.path, change.diff.op
    after = SplicedContent(before, splices)
    encoding = _encoding(before if before.size else after, path)
    if op == "delete":
        return diff_of_creation(path, op, before.read(0, before.size), encoding, whole=True)
    if change.before is None:
        return diff_of_creation(path, op, after.read(0, after.size), encoding, whole=True)

    def line_at(offset: int) -> int:
        return before.read(0, offset).count(b"\n") + 1

    return diff_of_splices(path, op, before, splices, encoding, line_at, whole=True)


def _cells(change: Change, before: Content, splices: list[Splice]) -> FileDiff:
    old = None if change.before is None else NotebookDocument(before)
    new = None if change.after is None else NotebookDocument(SplicedContent(before, splices))
    found = {cell.cell_id: cell for cell in compared(old, new, cut_lines=False).diffs}
    cells = [
        cell.model_copy(update={"hunks": found[cell.cell_id].hunks}) if cell.cell_id in found and cell.hunks else cell
        for cell in change.diff.cells or []
    ]
    return notebook_diff(change.path, change.diff.op, cells, change.diff.language, most_rows=sys.maxsize)


def _encoding(content: Content, path: str) -> TextEncoding:
    try:
        return encoding_of(content, path, None)
    except FsToolsError:
        return TextEncoding("latin-1")
