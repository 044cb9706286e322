"""Applies or undoes a chosen part of a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..content.source import Content
from ..content.splices import Splice, SplicedContent, SplicedStream, inverse, trimmed
from ..diffs.file_diff import FileDiff
from ..documents.notebook import NotebookDocument, compared, hunks_in, notebook_with
from ..documents.text.encoding import TextEncoding
from ..documents.text.hunks import chosen, hunks_of_splices
from ..errors import Invalid, Stale, TooLarge
from ..gate.draft import Draft, state_of
from ..stores.records import Change, ChosenHunks, Decided
from .named_hunks import (
    NamedHunks,
    decided_of,
    left_over,
    other_cells,
    other_hunks,
    positions_in,
    require_cells,
    taken_cells,
    taken_hunks,
)
from .steps import with_all_cells

_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Decision:
    """A person's decision about a proposal in detail; all of it where nothing is named.

    Attributes:
        hunks: what is carried out of it.
        content: what is written instead: a text file's whole text, or sources of cells by their ids.
        reason: for whoever proposed it.
        base: from what `content` was made: the file's text, or sources of cells by their ids; None: whatever it is.
    """

    hunks: NamedHunks | None = None
    content: str | dict[str, str] | None = None
    reason: str | None = None
    base: str | dict[str, str] | None = None

    @property
    def is_partial(self) -> bool:
        """Not simply all of it."""
        return self.hunks is not None or self.content is not None or self.base is not None

    @property
    def named(self) -> NamedHunks | None:
        """What is carried out of it, all of each cell among it that gets another source and is not named."""
        if not isinstance(self.hunks, dict) or not isinstance(self.content, dict):
            return self.hunks
        return {**self.hunks, **{name: self.hunks.get(name) or "all" for name in self.content}}


class Part(NamedTuple):
    """A part of a change: what it does to the file, and which hunks it is."""

    splices: Sequence[Splice]
    decided: Decided


def decided_whole(diff: FileDiff, *, taken: bool, reason: str | None) -> Decided:
    """All of a proposal was carried out, or nothing."""
    everything = positions_in(diff)
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
        Invalid: hunks or cells that are not in it, or nothing of it.
        Stale: its parts do not keep their positions, or `base` is another text than the file's.
        TooLarge: too large to be divided; EncodingRefused: the file's encoding lacks a character.
    """
    _require_divisible(draft, change)
    change = _retold(draft, change, draft.content, splices, encoding)
    _require_form(change, decision)
    _require_base(draft, decision, encoding)
    if isinstance(decision.content, str):
        decided = decided_whole(change.diff, taken=True, reason=decision.reason)
        if decision.hunks is not None:
            decided = _hunks_taken(draft.content, splices, decision, encoding).decided
        part = _rewritten(draft, decision.content, decided, encoding)
    elif change.diff.cells is not None:
        part = _cells_taken(draft.content, change, splices, decision)
    else:
        part = _hunks_taken(draft.content, splices, decision, encoding)
    if not part.splices:
        raise Invalid("no part of the change would be carried out", hint="Reject it instead.", field="hunks")
    return part


def placed_part(
    draft: Draft, change: Change, splices: Sequence[Splice], decision: Decision, encoding: TextEncoding
) -> Part:
    """The same where a draft has the places of what is named, and of nothing else of the proposal.

    Args:
        draft: the file as it is now.
        change: the proposal.
        splices: what the named hunks do to it.
        decision: which these are, and what is written instead.
        encoding: the file's.

    Raises:
        Invalid: hunks that are not in it; EncodingRefused: the file's encoding lacks a character.
        Stale: `base` is another text than the file's.
    """
    assert decision.hunks is not None
    _require_form(change, decision)
    _require_base(draft, decision, encoding)
    decided = decided_of(change.diff, decision.hunks, decision.reason)
    if decision.content is None:
        return Part(splices, decided)
    if isinstance(decision.content, str):
        return _rewritten(draft, decision.content, decided, encoding)
    before, after = NotebookDocument(draft.content), NotebookDocument(SplicedContent(draft.content, splices))
    cells = compared(before, after, whole=True).diffs
    used = notebook_with(before, after, cells, taken_cells(cells, None), decision.content)
    return Part(used, decided.model_copy(update={"edited": True}))


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
        part = _cells_taken(old, change, forward, Decision(other_cells(change.diff.cells, hunks)))
    else:
        count = len(hunks_of_splices(old, forward, encoding))
        part = _hunks_taken(old, forward, Decision(other_hunks(count, hunks)), encoding)
    kept = SplicedContent(old, part.splices)
    return part._replace(splices=trimmed(_all_of(draft.content), _all_of(kept)))


def recorded(draft: Draft, change: Change, part: Part, diff: FileDiff) -> Change:
    """The journal's entry of a proposal of which a part is carried out."""
    stream = SplicedStream(draft.content, part.splices, old_wanted=False)
    size = sum(len(chunk) for chunk in stream.chunks())
    after = state_of(stream.fingerprints()[1], size)
    return change.model_copy(update={"diff": diff, "after": after, "decided": part.decided})


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


def _require_form(change: Change, decision: Decision) -> None:
    """What is written instead is given by cell in a notebook, of the change's cells, and as a text elsewhere.

    Raises:
        Invalid: it is not.
    """
    cells, content = change.diff.cells, decision.content
    if isinstance(content, dict):
        if cells is None:
            raise Invalid("content: this file has no cells", hint="Send its whole text.", field="content")
        require_cells(cells, content)
    elif content is not None and cells is not None:
        hint = "Send the sources of cells by their ids."
        raise Invalid("content: in a notebook it is given by cell", hint=hint, field="content")
    _require_base_form(decision)


def _require_base_form(decision: Decision) -> None:
    content, base = decision.content, decision.base
    if base is not None and type(base) is not type(content):
        raise Invalid("base: it is given beside content, in the same form", hint="Send both alike.", field="base")
    if isinstance(base, dict) and isinstance(content, dict) and not base.keys() <= content.keys():
        raise Invalid("base: it names cells that content does not", hint="Send those of content.", field="base")


def _require_base(draft: Draft, decision: Decision, encoding: TextEncoding) -> None:
    """What is written instead was made from the text that is there; byte order mark and line endings do not count.

    Raises:
        Stale: from another one, which it would take back.
    """
    base = decision.base
    if base is None:
        return
    if isinstance(base, str):
        told = {"": base}
        now = {"": _all_of(draft.content).removeprefix(encoding.bom).decode(encoding.codec, "replace")}
    else:
        told, now = base, {cell.cell_id: cell.source for cell in NotebookDocument(draft.content).cells}
    if any(name not in now or _plain(now[name]) != _plain(text) for name, text in told.items()):
        raise Stale(
            f"{draft.stat.path} has other text by now than what is to be written was made from",
            hint="Make it from the text that is there now.",
            path=draft.stat.path,
        )


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _hunks_taken(content: Content, splices: Sequence[Splice], decision: Decision, encoding: TextEncoding) -> Part:
    found = hunks_of_splices(content, splices, encoding)
    taken = taken_hunks(len(found), decision.hunks)
    rejected = [at for at in range(len(found)) if at not in taken]
    used = splices if not rejected else chosen(found, taken)
    return Part(used, Decided(taken=taken, rejected=rejected, reason=decision.reason))


def _cells_taken(content: Content, change: Change, splices: Sequence[Splice], decision: Decision) -> Part:
    cells = change.diff.cells or []
    sources = decision.content if isinstance(decision.content, dict) else {}
    taken = taken_cells(cells, decision.hunks)
    everything = {cell.cell_id: list(hunks_in(cell)) for cell in cells}
    rejected = left_over(everything, taken)
    if not rejected and not sources:
        return Part(splices, Decided(taken=taken, rejected={}, reason=decision.reason))
    if change.before is None or len(everything) < len(cells):
        raise Invalid("this change is decided as a whole", hint="Leave out hunks and content.", field="hunks")
    after = NotebookDocument(SplicedContent(content, splices))
    used = notebook_with(NotebookDocument(content), after, cells, taken, sources)
    return Part(used, Decided(taken=taken, rejected=rejected, reason=decision.reason, edited=bool(sources)))


def _rewritten(draft: Draft, text: str, decided: Decided, encoding: TextEncoding) -> Part:
    before = _all_of(draft.content)
    text = text.removeprefix("\ufeff") if encoding.bom else text
    if before.count(b"\r\n") * 2 > before.count(b"\n"):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    data = encoding.bom + encoding.encode(text)
    splices = [Splice(0, b"", data)] if draft.before is None else trimmed(before, data)
    return Part(splices, decided.model_copy(update={"edited": True}))


def _all_of(content: Content) -> bytes:
    return content.read(0, content.size)
