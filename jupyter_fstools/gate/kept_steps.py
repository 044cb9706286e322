"""Packs the edits of a change, to approve or undo them later."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from typing import Literal

from pydantic import BaseModel

from ..content.source import Content
from ..content.splices import Splice, SplicedContent, anchored, anchors_in, bundled, inverse, packed
from ..diffs.file_diff import FileDiff
from ..documents.text.anchors import TextAnchors, text_anchors
from ..errors import FsToolsError
from ..stores.record_json import from_json, to_json
from .draft import Draft, Step, Work
from .versions import Versions

_MOST_BYTES = 1 << 20
_COMPRESSED_FROM = 4 << 10
_MOST_CLOSED = 1 << 20
"""Largest file, in bytes, that is read as a whole for its anchors alone; an open file has no such limit."""


class KeptSteps:
    """Builds the journal's data of changes.

    Args:
        versions: knows where the cells of notebooks lie.
    """

    def __init__(self, versions: Versions) -> None:
        self._versions = versions

    def carried_out(self, work: Work) -> bytes:
        """The data to take back a change that is carried out; empty if it would be too much."""
        return bundled([self._part(draft, step, back=True) if step.undoable else b"" for draft, step in work])

    def proposed(self, work: Work) -> bytes:
        """The data of a proposed change: enough to carry it out and to take it back."""
        return bundled([self._part(draft, step, back=False) for draft, step in work])

    def _part(self, draft: Draft, step: Step, *, back: bool) -> bytes:
        return anchored(packed(step.splices, keep_inserted=not back), self._anchors(draft, step, back=back))

    def _anchors(self, draft: Draft, step: Step, *, back: bool) -> bytes:
        """Anchors to repeat a step, or take it back, after the file was changed elsewhere; empty if there are none."""
        closed = draft.holder.place == "disk" and draft.stat.size > _MOST_CLOSED
        if draft.before is None or step.op == "delete" or not step.undoable or closed:
            return b""
        if step.diff.kind == "notebook":
            told = self._cells(draft, step, back=back)
        else:
            told = _lines(draft.before, step, back=back)
        return _compressed(told) if len(told) <= _MOST_BYTES else b""

    def _cells(self, draft: Draft, step: Step, *, back: bool) -> bytes:
        from ..documents.notebook import ChangedNotebook, NotebookDocument, cell_anchors

        known = self._versions.notebooks.of(draft.stat.key, draft.stat.content_version)
        try:
            changed = step.notebook or ChangedNotebook(NotebookDocument(draft.content, known), step.splices)
            before, after = changed.before, changed.after
            # The cells that move are those the diff shows as moved, so that each can be taken back alone.
            moved = [cell.cell_id for cell in step.diff.cells or () if cell.moved_from is not None]
            found = (
                cell_anchors(after, before, inverse(step.splices), back=True, moved=moved)
                if back
                else cell_anchors(before, after, step.splices, moved=moved)
            )
            return b"" if found is None else b"n" + to_json(found).encode()
        except (FsToolsError, ValueError, RecursionError):  # One side is not a notebook, or is nested too deeply.
            return b""


def _lines(before: Content, step: Step, *, back: bool) -> bytes:
    if back:
        found = text_anchors(SplicedContent(before, step.splices), inverse(step.splices))
    else:
        found = text_anchors(before, step.splices, _ends_of_hunks(step.diff))
    return b"" if found is None else b"t" + found.model_dump_json().encode()


def _ends_of_hunks(diff: FileDiff) -> list[int]:
    """The last old line of each hunk; empty where the diff does not have all hunks."""
    return [] if diff.truncated else [hunk.old_start + max(hunk.old_count, 1) - 1 for hunk in diff.hunks]


def _compressed(told: bytes) -> bytes:
    # Most anchors are a few hundred bytes, for which setting up the compression costs more than it saves.
    return told if len(told) < _COMPRESSED_FROM else zlib.compress(told, 1)


def _anchors_in(kept: bytes) -> bytes:
    told = anchors_in(kept)
    return told if told[:1] in b"tn" else zlib.decompress(told)


def anchored_at(kept: bytes, named: Collection[int] | Mapping[str, Collection[int] | Literal["all"]]) -> bytes:
    """Anchors of a change, or of its undo, for some of its hunks alone; empty where they have none.

    Args:
        kept: the journal's data of the change.
        named: the hunks by their positions; in a notebook, by cell id.
    """
    told = _anchors_in(kept)
    part: BaseModel | None = None
    if told[:1] == b"n" and isinstance(named, Mapping):
        from ..documents.notebook import CellAnchors

        part = from_json(CellAnchors, told[1:]).of_hunks(named)
    elif told[:1] == b"t" and not isinstance(named, Mapping):
        part = TextAnchors.model_validate_json(told[1:]).of_hunks(named)
    return b"" if part is None else anchored(b"", _compressed(told[:1] + to_json(part).encode()))


def placed_again(kept: bytes, now: Content) -> list[Splice] | None:
    """The splices of a change, or of its undo, for a file that changed elsewhere since; None where it does not fit.

    Args:
        kept: the journal's data of one file of the change.
        now: the file.
    """
    told = _anchors_in(kept)
    if not told:
        return None
    if told[:1] == b"t":
        return TextAnchors.model_validate_json(told[1:]).placed(now)
    from ..documents.notebook import CellAnchors, replayed

    return replayed(from_json(CellAnchors, told[1:]), now)
