"""Applies or undoes a chosen part of a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..content.fingerprint import fingerprint_of
from ..content.source import Content, all_of
from ..content.splices import Splice, SplicedContent, inverse, trimmed
from ..diffs.file_diff import CellDiff, FileDiff
from ..documents.notebook import NotebookDocument, compared, hunks_in, notebook_with, refuse_surrogates
from ..documents.text.encoding import TextEncoding
from ..documents.text.hunks import chosen, hunks_of_splices
from ..documents.text.line_ends import with_line_ends
from ..errors import Invalid, Stale, TooLarge
from ..gate.draft import Draft, state_of
from ..stores.records import Change, Decided
from .detailed_decision import Decision, decoded, plain_text, require_base, require_form
from .file_edits import with_all_cells
from .named_hunks import NamedHunks, decided_of, decided_whole, divided_cells, divided_hunks, places_in

_MOST_BYTES = 64 << 20


class Part(NamedTuple):
    """A part of a change: its splices of the file, and the record of its hunks, without a reason."""

    splices: Sequence[Splice]
    decided: Decided


def part_of(
    draft: Draft, change: Change, splices: Sequence[Splice], decision: Decision, encoding: TextEncoding
) -> Part:
    """The part of a proposal that a person's decision leaves.

    Args:
        draft: the file it was proposed for.
        change: the proposal.
        splices: the changes that it would make.
        decision: the hunks to take, or the text to write instead.
        encoding: the file's.

    Raises:
        Invalid: hunks or cells that are not in it, or nothing of it.
        Stale: its parts do not keep their positions, or `base` is another text than the file's.
        TooLarge: too large to be divided; EncodingRefused: the file's encoding lacks a character.
    """
    _require_divisible(draft, change)
    change = _retold(draft, change, draft.content, splices, encoding)
    require_form(change, decision)
    require_base(draft, decision, encoding)
    if isinstance(decision.content, str):
        part = Part(splices, decided_whole(change.diff, taken=True, reason=None))
        if decision.hunks is not None:
            part = _hunks_taken(draft.content, splices, decision.hunks, encoding)
        part = _rewritten(draft, decision.content, part, encoding)
    elif change.diff.cells is not None:
        part = _cells_taken(draft.content, change, splices, decision.hunks, decision.content or {})
    else:
        part = _hunks_taken(draft.content, splices, decision.hunks, encoding)
    if not part.splices:
        raise Invalid("no part of the change would be carried out", hint="Reject it instead.", field="hunks")
    return part


def placed_part(
    draft: Draft, change: Change, splices: Sequence[Splice], decision: Decision, encoding: TextEncoding
) -> Part:
    """The same for a draft that has the places of the named hunks only.

    Args:
        draft: the file as it is now.
        change: the proposal.
        splices: the changes of the named hunks.
        decision: the named hunks, and the text to write instead.
        encoding: the file's.

    Raises:
        Invalid: hunks that are not in it; EncodingRefused: the file's encoding lacks a character.
        Stale: `base` is another text than the file's.
    """
    assert decision.hunks is not None
    require_form(change, decision)
    require_base(draft, decision, encoding)
    decided = decided_of(change.diff, decision.hunks)
    if decision.content is None:
        return Part(splices, decided)
    if isinstance(decision.content, str):
        return _rewritten(draft, decision.content, Part(splices, decided), encoding)
    before, after = NotebookDocument(draft.content), NotebookDocument(SplicedContent(draft.content, splices))
    cells = compared(before, after, splices, whole=True).diffs
    sources = _other_sources(after, cells, decision.content)
    used = notebook_with(before, after, splices, cells, places_in(cells), sources)
    return Part(used, decided.model_copy(update={"edited": bool(sources)}))


def without(draft: Draft, change: Change, back: Sequence[Splice], hunks: NamedHunks, encoding: TextEncoding) -> Part:
    """The step that takes a part of a change back, from a file that has all of it.

    Args:
        draft: the file with the change.
        change: the change to take back in part.
        back: splices that would take back all of it.
        hunks: the hunks to take back.
        encoding: the file's.

    Raises:
        as `part_of`
    """
    _require_divisible(draft, change)
    old, forward = SplicedContent(draft.content, back), inverse(back)
    change = _retold(draft, change, old, forward, encoding)
    if change.diff.cells is not None:
        _, other_cells = divided_cells(change.diff.cells, hunks)
        part = _cells_taken(old, change, forward, dict(other_cells), {})
    else:
        _, others = divided_hunks(len(hunks_of_splices(old, forward, encoding)), hunks)
        part = _hunks_taken(old, forward, others, encoding)
    kept = SplicedContent(old, part.splices)
    return part._replace(splices=trimmed(all_of(draft.content), all_of(kept)))


def recorded(draft: Draft, change: Change, part: Part, diff: FileDiff, reason: str | None) -> Change:
    """The journal's entry of a proposal of which a part is carried out."""
    after = SplicedContent(draft.content, part.splices)
    state = state_of(fingerprint_of(after.chunks()), after.size)
    decided = part.decided.model_copy(update={"reason": reason})
    return change.model_copy(update={"diff": diff, "after": state, "decided": decided})


def _require_divisible(draft: Draft, change: Change) -> None:
    if change.diff.op in ("delete", "execute"):
        raise Invalid("this change is decided as a whole", hint="Leave out hunks and content.", field="hunks")
    if draft.stat.size > _MOST_BYTES:
        raise TooLarge(
            f"{draft.stat.path} has {draft.stat.size} bytes; above {_MOST_BYTES} no change is decided in parts",
            hint="Decide about all of it.",
            size=draft.stat.size,
            limit=_MOST_BYTES,
        )


def _retold(draft: Draft, change: Change, old: Content, splices: Sequence[Splice], encoding: TextEncoding) -> Change:
    """The change with all its cells, as it applies to an open file that has changed elsewhere since.

    Raises:
        Stale: its parts do not keep their positions; Invalid: not all of them are known.
    """
    if change.diff.cells is not None and change.diff.truncated:
        diff = with_all_cells(change.diff, old, splices)
        if diff.truncated:
            raise Invalid("this change is decided as a whole", hint="Leave out hunks and content.", field="hunks")
        change = change.model_copy(update={"diff": diff})
    if draft.placed is None:
        return change
    if change.diff.cells is None:
        same, cells = len(hunks_of_splices(old, splices, encoding)) == len(change.diff.hunks), None
    else:
        after = NotebookDocument(SplicedContent(old, splices))
        cells = compared(NotebookDocument(old), after, splices, whole=True).diffs
        both = change.diff.cells, cells
        told, now = ({cell.cell_id: (cell.action, hunks_in(cell)) for cell in found} for found in both)
        same = told == now
    if not same:
        raise Stale(
            f"change {change.id} no longer has the same parts in {draft.stat.path} as it is now",
            hint="Decide about all of it.",
            path=draft.stat.path,
        )
    return change.model_copy(update={"diff": change.diff.model_copy(update={"cells": cells})})


def _hunks_taken(content: Content, splices: Sequence[Splice], hunks: NamedHunks | None, encoding: TextEncoding) -> Part:
    found = hunks_of_splices(content, splices, encoding)
    taken, rejected = divided_hunks(len(found), hunks)
    used = splices if not rejected else chosen(found, taken)
    return Part(used, Decided(taken=taken, rejected=rejected))


def _cells_taken(
    content: Content, change: Change, splices: Sequence[Splice], hunks: NamedHunks | None, given: Mapping[str, str]
) -> Part:
    cells = change.diff.cells or []
    after = NotebookDocument(SplicedContent(content, splices))
    sources = _other_sources(after, cells, given)
    if isinstance(hunks, dict):
        hunks = {**hunks, **dict.fromkeys(given.keys() - sources.keys(), "all")}
    taken, rejected = divided_cells(cells, hunks)
    if not rejected and not sources:
        return Part(splices, Decided(taken=taken, rejected={}))
    if not content.size or len(places_in(cells)) < len(cells):
        raise Invalid("this change is decided as a whole", hint="Leave out hunks and content.", field="hunks")
    used = notebook_with(NotebookDocument(content), after, splices, cells, taken, sources)
    return Part(used, Decided(taken=taken, rejected=rejected, edited=bool(sources)))


def _other_sources(after: NotebookDocument, cells: Sequence[CellDiff], given: Mapping[str, str]) -> dict[str, str]:
    """The given sources that differ from those of the change; unchanged lines keep their line endings.

    Raises:
        EncodingRefused: a lone surrogate in one.
    """
    there = {cell.cell_id: after.cells[cell.index].source for cell in cells if cell.action != "delete"}
    ended = {name: with_line_ends(there[name], source) for name, source in given.items() if name in there}
    others = {name: source for name, source in ended.items() if source != there[name]}
    for source in others.values():
        refuse_surrogates(source, "content")
    return others


def _rewritten(draft: Draft, text: str, part: Part, encoding: TextEncoding) -> Part:
    """The part that gives the file a text; the given part where that results in the same text already."""
    before = all_of(draft.content)
    proposed = decoded(all_of(SplicedContent(draft.content, part.splices)), encoding)
    if plain_text(text) == plain_text(proposed):
        return part
    text = text.removeprefix("\ufeff") if encoding.bom else text
    data = encoding.bom + encoding.encode(with_line_ends(decoded(before, encoding) or proposed, text))
    splices = [Splice(0, b"", data)] if draft.before is None else trimmed(before, data)
    return Part(splices, part.decided.model_copy(update={"edited": True}))
