"""Carries out, or takes back, a chosen part of a change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..content.source import Content
from ..content.splices import Splice, SplicedContent, SplicedStream, inverse, trimmed
from ..diffs.file_diff import CellDiff, FileDiff
from ..documents.notebook import NotebookDocument, compared, hunks_in, notebook_with
from ..documents.text.encoding import TextEncoding
from ..documents.text.hunks import chosen, hunks_of_splices
from ..errors import Invalid, Stale, TooLarge
from ..gate.draft import Draft, state_of
from ..stores.records import Change, ChosenHunks, Decided
from .steps import with_all_cells

NamedHunks = list[int] | dict[str, list[int] | Literal["all"]]
"""Positions in a text diff's `hunks`; of a notebook those in each cell's, by cell id."""

_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Decision:
    """A person's decision about a proposal in detail; all of it where nothing is named.

    Attributes:
        hunks: what is carried out of it.
        content: what is written instead: a text file's whole text, or sources of cells by their ids.
        reason: for whoever proposed it.
    """

    hunks: NamedHunks | None = None
    content: str | dict[str, str] | None = None
    reason: str | None = None

    @property
    def is_partial(self) -> bool:
        """Not simply all of it."""
        return self.hunks is not None or self.content is not None


class Part(NamedTuple):
    """A part of a change: what it does to the file, and which hunks it is."""

    splices: Sequence[Splice]
    decided: Decided


def decided_whole(diff: FileDiff, *, taken: bool, reason: str | None) -> Decided:
    """All of a proposal was carried out, or nothing."""
    everything = _positions(diff)
    nothing: ChosenHunks = [] if diff.cells is None else {}
    return Decided(taken=everything if taken else nothing, rejected=nothing if taken else everything, reason=reason)


def part_of(
    draft: Draft, change: Change, splices: Sequence[Splice], decision: Decision, encoding: TextEncoding
) -> Part:
    """The part of a proposal that a person's decision leaves.

    Args:
        draft: the file it was proposed for.
        change: the proposal.
        splices: what it would do.
        decision: what is taken of it, or written instead.
        encoding: the file's.

    Raises:
        Invalid: hunks or cells that are not in it, both hunks and content, or nothing of it.
        TooLarge: too large to be divided; EncodingRefused: the file's encoding lacks a character.
    """
    _require_divisible(draft, change)
    change = _retold(draft, change, draft.content, splices, encoding)
    if isinstance(decision.content, dict) and change.diff.cells is None:
        raise Invalid("content: this file has no cells", hint="Send its whole text.", field="content")
    if isinstance(decision.content, str):
        part = _rewritten(draft, change, decision, encoding)
    elif change.diff.cells is not None:
        part = _cells_taken(draft.content, change, splices, decision)
    else:
        part = _hunks_taken(draft.content, change, splices, decision, encoding)
    if not part.splices:
        raise Invalid("nothing of the change would be carried out", hint="Reject it instead.", field="hunks")
    return part


def without(draft: Draft, change: Change, back: Sequence[Splice], hunks: NamedHunks, encoding: TextEncoding) -> Part:
    """The step that takes a part of a change back, from a file that has all of it.

    Args:
        draft: the file with the change.
        change: what is taken back in part.
        back: what would take back all of it.
        hunks: what is taken back of it.
        encoding: the file's.

    Raises:
        as `part_of`
    """
    _require_divisible(draft, change)
    old, forward = SplicedContent(draft.content, back), inverse(back)
    change = _retold(draft, change, old, forward, encoding)
    if change.diff.cells is not None:
        part = _cells_taken(old, change, forward, Decision(_other_cells(change.diff.cells, hunks)))
    else:
        count = len(hunks_of_splices(old, forward, encoding))
        part = _hunks_taken(old, change, forward, Decision(_other_hunks(count, hunks)), encoding)
    kept = SplicedContent(old, part.splices)
    return part._replace(splices=trimmed(_all_of(draft.content), _all_of(kept)))


def whole_cells(change: Change, hunks: NamedHunks | None) -> set[str] | None:
    """The ids of the cells that hunks name as a whole; None where they name other parts, or all of the change.

    Raises:
        Invalid: hunks that are not in it.
    """
    cells = change.diff.cells
    if hunks is None or cells is None or change.diff.truncated or change.before is None or len(change.files) > 1:
        return None
    named, everything = _taken_cells(cells, hunks, {}), _positions(change.diff)
    assert isinstance(everything, dict)
    is_part = named and named != everything
    return set(named) if is_part and all(named[name] == everything[name] for name in named) else None


def taken_back(change: Change, hunks: NamedHunks) -> Decided:
    """The record of a change of which these cells are taken back, as others may have been before."""
    cells = change.diff.cells or []
    everything = {cell.cell_id: list(hunks_in(cell)) for cell in cells}
    gone = _taken_cells(cells, hunks, {})
    earlier = change.decided
    if earlier and isinstance(earlier.rejected, dict) and earlier.rejected.keys() <= everything.keys():
        gone |= {name: sorted({*gone.get(name, ()), *places}) for name, places in earlier.rejected.items()}
    return Decided(taken=_left(everything, gone), rejected=gone)


def recorded(draft: Draft, change: Change, part: Part, diff: FileDiff) -> Change:
    """The journal's entry of a proposal of which a part is carried out."""
    stream = SplicedStream(draft.content, part.splices, old_wanted=False)
    size = sum(len(chunk) for chunk in stream.chunks())
    after = state_of(stream.fingerprints()[1], size)
    return change.model_copy(update={"diff": diff, "after": after, "decided": part.decided})


def seen_with(change: Change, user: str, hunks: NamedHunks | None) -> dict[str, Any]:
    """The facts of a change of which a person has seen these hunks as well; all of it where none are named.

    Raises:
        Invalid: hunks that are not in it.
    """
    if hunks is not None and len(change.files) > 1:
        raise Invalid("a change of several files is kept as a whole", hint="Leave out hunks.", field="hunks")
    others = {name: kept for name, kept in change.kept.items() if name != user}
    everything = _positions(change.diff)
    kept = everything if hunks is None else _with_kept(change, change.kept.get(user), hunks)
    if kept != everything:
        return {"kept": {**others, user: kept}}
    return {"kept": others, "seen_by": [*(name for name in change.seen_by if name != user), user]}


def _with_kept(change: Change, known: ChosenHunks | None, hunks: NamedHunks) -> ChosenHunks:
    if change.diff.cells is None:
        named = _checked(_as_list(hunks), range(len(change.diff.hunks)), "the change")
        return sorted({*named, *(known or [])})
    cells = _taken_cells(change.diff.cells, hunks, {})
    before = known if isinstance(known, dict) else {}
    order = [cell.cell_id for cell in change.diff.cells if cell.cell_id in {*cells, *before}]
    return {name: sorted({*cells.get(name, []), *before.get(name, [])}) for name in order}


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
    """The change with all its cells, as it is told of an open file that has changed elsewhere since.

    Raises:
        Stale: its parts do not keep their positions; Invalid: they cannot all be told.
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
        cells = compared(NotebookDocument(old), NotebookDocument(SplicedContent(old, splices)), whole=True).diffs
        told, now = ({cell.cell_id: hunks_in(cell) for cell in found} for found in (change.diff.cells, cells))
        same = told == now
    if not same:
        raise Stale(
            f"change {change.id} no longer has the same parts in {draft.stat.path} as it is now",
            hint="Decide about all of it.",
            path=draft.stat.path,
        )
    return change.model_copy(update={"diff": change.diff.model_copy(update={"cells": cells})})


def _hunks_taken(
    content: Content, change: Change, splices: Sequence[Splice], decision: Decision, encoding: TextEncoding
) -> Part:
    named = _as_list(decision.hunks)
    found = hunks_of_splices(content, splices, encoding)
    taken = _checked(named, range(len(found)), "the change")
    rejected = [at for at in range(len(found)) if at not in taken]
    used = splices if not rejected else chosen(found, taken)
    return Part(used, Decided(taken=taken, rejected=rejected, reason=decision.reason))


def _cells_taken(content: Content, change: Change, splices: Sequence[Splice], decision: Decision) -> Part:
    cells = change.diff.cells or []
    sources = decision.content if isinstance(decision.content, dict) else {}
    taken = _taken_cells(cells, decision.hunks, sources)
    everything = {cell.cell_id: list(hunks_in(cell)) for cell in cells}
    rejected = _left(everything, taken)
    if not rejected and not sources:
        return Part(splices, Decided(taken=taken, rejected={}, reason=decision.reason))
    if change.before is None or len(everything) < len(cells):
        raise Invalid("this change is decided as a whole", hint="Leave out hunks and content.", field="hunks")
    after = NotebookDocument(SplicedContent(content, splices))
    used = notebook_with(NotebookDocument(content), after, cells, taken, sources)
    return Part(used, Decided(taken=taken, rejected=rejected, reason=decision.reason, edited=bool(sources)))


def _taken_cells(
    cells: Sequence[CellDiff], hunks: NamedHunks | None, sources: Mapping[str, str]
) -> dict[str, list[int]]:
    if isinstance(hunks, list):
        raise Invalid("hunks: a notebook's are named by cell", hint='Send {"cell_id": [0] or "all"}.', field="hunks")
    known = {cell.cell_id: cell for cell in cells}
    for name in (*(hunks or {}), *sources):
        if name not in known:
            raise Invalid(f"cell {name[:80]!r} is not in this change", hint="Look at the change.", field="hunks")
    named: Mapping[str, list[int] | Literal["all"]] = hunks if hunks is not None else dict.fromkeys(known, "all")
    taken = {}
    for name, positions in named.items():
        there = hunks_in(known[name])
        found = list(there) if positions == "all" else _checked(positions, there, f"cell {name!r}")
        if found:
            taken[name] = found
    return {**taken, **{name: list(hunks_in(known[name])) for name in sources}}


def _rewritten(draft: Draft, change: Change, decision: Decision, encoding: TextEncoding) -> Part:
    if decision.hunks is not None or change.diff.cells is not None:
        why = "in a notebook it is given by cell" if change.diff.cells is not None else "it takes the place of hunks"
        raise Invalid(f"content: {why}", hint="Send one of the two, in the form of this file.", field="content")
    assert isinstance(decision.content, str)
    before = _all_of(draft.content)
    text = decision.content
    if before.count(b"\r\n") * 2 > before.count(b"\n"):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    data = encoding.bom + encoding.encode(text)
    splices = [Splice(0, b"", data)] if draft.before is None else trimmed(before, data)
    whole = decided_whole(change.diff, taken=True, reason=decision.reason)
    return Part(splices, whole.model_copy(update={"edited": True}))


def _positions(diff: FileDiff) -> ChosenHunks:
    if diff.cells is not None:
        return {cell.cell_id: list(hunks_in(cell)) for cell in diff.cells}
    return list(range(len(diff.hunks)))


def _left(everything: Mapping[str, Iterable[int]], taken: Mapping[str, Collection[int]]) -> dict[str, list[int]]:
    left = {name: [at for at in places if at not in taken.get(name, ())] for name, places in everything.items()}
    return {name: places for name, places in left.items() if places}


def _other_cells(cells: Sequence[CellDiff], hunks: NamedHunks) -> NamedHunks:
    taken = _taken_cells(cells, hunks, {})
    return dict(_left({cell.cell_id: hunks_in(cell) for cell in cells}, taken))


def _other_hunks(count: int, hunks: NamedHunks) -> list[int]:
    named = _checked(_as_list(hunks), range(count), "the change")
    return [at for at in range(count) if at not in named]


def _as_list(hunks: NamedHunks | None) -> list[int]:
    if not isinstance(hunks, list):
        raise Invalid("hunks: a text file's are named by position", hint="Send [0, 2].", field="hunks")
    return hunks


def _checked(positions: Sequence[int], there: range, what: str) -> list[int]:
    wrong = [at for at in positions if at not in there]
    if wrong:
        raise Invalid(
            f"hunks: {what} has no hunk {wrong[0]}",
            hint=f"Name positions from 0 to {len(there) - 1}." if len(there) else "It has none.",
            field="hunks",
        )
    return sorted(set(positions))


def _all_of(content: Content) -> bytes:
    return content.read(0, content.size)
