"""Builds the file edits that approving or undoing a change makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from ..content.source import Content, all_of
from ..content.splices import Splice, SplicedContent, inverse, parts_of, unpacked, unpacked_undo, ways_of
from ..diffs.file_diff import CellDiff, FileDiff, Operation
from ..documents.notebook import NotebookDocument, compared, notebook_diff
from ..documents.text.diff import diff_of_creation, diff_of_splices
from ..documents.text.encoding import TextEncoding, declared_otherwise, encoding_of
from ..documents.text.touched_lines import TouchedLines, touched_lines
from ..errors import FsToolsError
from ..gate.draft import Draft, ExpectedFile, Step
from ..gate.notebook_steps import told_by_cells
from ..gate.workspace import Workspace
from ..stores.records import Change, ChangedFile
from .known_content import KnownOfChange

_NO_SPLICES = b"\x00[true,[]]\n"


def kept_parts(workspace: Workspace, change: Change) -> list[bytes]:
    """The kept splices of a change, file by file; empty ones for a change that was rejected meanwhile."""
    kept = workspace.store.splices(change.id) or b""
    ways = ways_of(kept)
    # A proposal being carried out keeps its own splices too: it waits again if that fails.
    found = parts_of(ways[1] if ways else kept)
    return [part or _NO_SPLICES for part in found + [b""] * (len(change.all_files) - len(found))]


def restorable(
    workspace: Workspace, change: Change, side: Literal["before", "after"], parts: Sequence[bytes], why: str, hint: str
) -> list[ExpectedFile]:
    """The files of a change as they must be where it is approved (as before it) or undone (as after it).

    Args:
        workspace: the files.
        change: which.
        side: of it.
        parts: its kept splices, by which open files may have changed elsewhere; empty: no file may have changed.
        why: end of the refusal's message where a file has changed.
        hint: the refusal's next step.
    """
    found = []
    for at, file in enumerate(change.all_files):
        state, other = (file.before, file.after) if side == "before" else (file.after, file.before)
        known = KnownOfChange(file, "old" if side == "before" else "new", workspace.tracker.of(change.reader))
        kept = parts[at] if at < len(parts) else b""
        said = f"change {change.id} {why}"
        found.append(ExpectedFile(file.path, state, known, whole=other is None, why=said, hint=hint, kept=kept))
    return found


def splices_to_land(draft: Draft, kept: bytes) -> Sequence[Splice]:
    """The splices of a file that carry a proposal out; `kept`: those of the file as it was when it was proposed."""
    return unpacked(kept) if draft.placed is None else draft.placed


def splices_to_undo(draft: Draft, kept: bytes) -> Sequence[Splice]:
    """The splices of a file that take a change back; `kept`: those that made the change."""
    return unpacked_undo(kept, draft.content) if draft.placed is None else draft.placed


class Steps:
    """Makes steps for the files of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def forward(self, drafts: Sequence[Draft], change: Change, parts: Sequence[bytes]) -> Iterator[tuple[Draft, Step]]:
        """The steps that carry a proposal out, file by file."""
        for draft, file, part in zip(drafts, change.all_files, parts, strict=True):
            op, splices = file.diff.op, splices_to_land(draft, part)
            encoding = told_encoding(file, draft.content, splices)
            if draft.placed is not None:
                step = self.step(draft, file, op, splices, change.tool, encoding)
            else:
                written = None
                if op in ("create", "overwrite") and change.tool != "undo":
                    after = all_of(SplicedContent(draft.content, splices))
                    written = after.decode(encoding.codec, "replace").removeprefix("\ufeff")
                touched = self._touched(draft, splices, encoding, own=change.tool != "undo")
                step = Step(splices, file.diff, change.tool, written=written, touched=touched)
                step = _told(draft, file, step)
            yield draft, replace(step, undoes=change.undoes)

    def back(self, drafts: Sequence[Draft], change: Change, parts: Sequence[bytes]) -> Iterator[tuple[Draft, Step]]:
        """The steps that take a change back, file by file."""
        for draft, file, part in zip(drafts, change.all_files, parts, strict=True):
            # Where a person chose hunks or wrote another text, a splice may span text that the reader was never shown.
            decided = change.decided
            own = decided is None or not (decided.rejected or decided.edited)
            yield draft, self._step_back(draft, file, part, own=own)

    def step(
        self,
        draft: Draft,
        file: ChangedFile,
        op: Operation,
        splices: Sequence[Splice],
        tool: str,
        encoding: TextEncoding,
        *,
        own: bool = False,
    ) -> Step:
        """A step of a file with a diff of its own; `own`: the reader knows all the text that it inserts."""
        if draft.before is None:
            diff = diff_of_creation(draft.stat.path, op, b"".join(splice.inserted for splice in splices), encoding)
        else:
            line_at = self._workspace.versions.line_at(draft.before)
            diff = diff_of_splices(draft.stat.path, op, draft.before, splices, encoding, line_at)
        touched = self._touched(draft, splices, encoding, own=own)
        return _told(draft, file, Step(splices, diff, tool, touched=touched))

    def _step_back(self, draft: Draft, file: ChangedFile, kept: bytes, *, own: bool) -> Step:
        if file.before is None:
            data = all_of(draft.content)
            diff = diff_of_creation(file.path, "delete", data, told_encoding(file, draft.content, ()))
            return _told(draft, file, Step([Splice(0, data, b"")], diff, "undo"))
        splices = splices_to_undo(draft, kept)
        encoding = encoding_before(file, draft, splices)
        op: Operation = "create" if file.after is None else "edit"
        return self.step(draft, file, op, splices, "undo", encoding, own=own)

    def _touched(
        self, draft: Draft, splices: Sequence[Splice], encoding: TextEncoding, *, own: bool
    ) -> list[TouchedLines]:
        if draft.before is None:
            return []
        found = touched_lines(draft.before, splices, encoding, self._workspace.versions.line_at(draft.before))
        return [one._replace(own=own) for one in found]


def _told(draft: Draft, file: ChangedFile, step: Step) -> Step:
    """The step, by cells where the change is one of a notebook: any other JSON file would pass for one as well."""
    return told_by_cells(step, draft.before) if file.diff.kind == "notebook" else step


def with_all_cells(diff: FileDiff, before: Content, splices: Sequence[Splice]) -> FileDiff:
    """A notebook's diff with every row of its cells; it stays `truncated` where these are unknown.

    Args:
        diff: as it was kept.
        before: the notebook before the change.
        splices: what the change does to it.
    """
    old = NotebookDocument(before) if before.size else None  # An empty file may become a notebook.
    new = None if diff.op == "delete" else NotebookDocument(SplicedContent(before, splices))
    _, found, hunks, _ = compared(old, new, splices, whole=True)
    places = {_place(cell): cell for cell in found}
    cells = [
        # The kept entry of a cell stays the same, except that it gets all its rows.
        cell.model_copy(update={"hunks": now.hunks, "carried": now.carried})
        if (now := places.get(_place(cell)))
        else cell
        for cell in diff.cells or []
    ]
    whole = notebook_diff(diff.path, diff.op, cells, diff.language, hunks=hunks, whole=True)
    # A cell without a counterpart among the compared ones may lack rows.
    whole.truncated = diff.truncated and any(_place(cell) not in places for cell in cells)
    return whole


def _place(cell: CellDiff) -> tuple[str, str, int]:
    return cell.cell_id, cell.action, cell.index


def told_encoding(file: ChangedFile, before: Content, splices: Sequence[Splice]) -> TextEncoding:
    """The encoding of a changed text: the one that its diff was decoded with.

    Args:
        file: of the change.
        before: its content before the change.
        splices: what the change does to it.
    """
    after = SplicedContent(before, splices)
    content = before if before.size else after
    found, named = encoding_or_latin(content, file.path), file.diff.encoding
    # A text in UTF-8 may declare another encoding, which the diff then names.
    if named in (None, found.codec) or (named == declared_otherwise(after) and _is_utf8(after)):
        return found
    return encoding_or_latin(content, file.path, named)


def encoding_before(file: ChangedFile, draft: Draft, back: Sequence[Splice]) -> TextEncoding:
    """`told_encoding` for a draft that has the change; `back` are the splices that take it back."""
    return told_encoding(file, SplicedContent(draft.content, back), inverse(back))


def _is_utf8(content: Content) -> bool:
    try:
        all_of(content).decode()
    except UnicodeDecodeError:
        return False
    return True


def encoding_or_latin(content: Content, path: str, named: str | None = None) -> TextEncoding:
    """A content's encoding; Latin-1 for a binary one."""
    try:
        return encoding_of(content, path, named)
    except FsToolsError:
        return TextEncoding("latin-1")
