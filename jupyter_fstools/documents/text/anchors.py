"""Finds the places of a text's change again after other edits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Any

from pydantic import BaseModel

from ...content.source import Content, all_of
from ...content.splices import Splice, trimmed
from ...diffs.line_diff import changed_blocks

_CONTEXT = 64
_BOTH_SIDES = ((16, 16), (64, 64), (64, 1), (1, 64))
_ONE_SIDE = ((16, 16), (64, 64), (64, 0), (0, 64))
"""Bytes before and after a span that identify it; one side alone is enough, so that the other may be edited."""
_MOST_BYTES = 4 << 20
_MOST_KEPT = 1 << 20
_MOST_SEARCHED = 32 << 20
"""Most bytes searched, as the text's size times the parts of a splice: beyond that a splice is not divided."""


class SpanAnchor(BaseModel):
    """A splice and the bytes around it, all of them as Latin-1.

    Attributes:
        removed: the text expected there.
        inserted: the text that replaces it.
        before: up to 64 bytes before it.
        after: up to 64 bytes after it.
        windows: numbers of bytes before and after it that make its place unique in its text.
        hunk: the position of its hunk, if known.
    """

    removed: str
    inserted: str
    before: str
    after: str
    windows: list[tuple[int, int]]
    hunk: int | None = None

    def found(self, data: bytes) -> Splice | None:
        """The splice at its current place; None where that is not found or not unique."""
        removed, before, after = (text.encode("latin-1") for text in (self.removed, self.before, self.after))
        for left, right in self.windows:
            lead = before[max(0, len(before) - left) :]
            at = _only(data, lead + removed + after[:right])
            if at is not None:
                splice = Splice(at + len(lead), removed, self.inserted.encode("latin-1"))
                return None if self._is_there(data, splice) else splice
        return None

    def _is_there(self, data: bytes, splice: Splice) -> bool:
        """Whether the insertion, or its final newline, is already at an end of the text, where no context follows."""
        above, below, inserted = data[: splice.offset], data[splice.end :], splice.inserted
        if not splice.removed and (
            (not self.after and below.startswith(inserted)) or (not self.before and above.endswith(inserted))
        ):
            return True
        gives_newline = inserted.endswith(b"\n") and not (self.before + self.removed).endswith("\n")
        return gives_newline and not self.after and below[:1] in (b"\r", b"\n")


class TextAnchors(BaseModel):
    """The places of all splices of a change of a text."""

    spans: list[SpanAnchor]

    def of_hunks(self, positions: Collection[int]) -> TextAnchors | None:
        """The places of some hunks; None where it is not known which hunk a splice is in."""
        if any(span.hunk is None for span in self.spans):
            return None
        return TextAnchors(spans=[span for span in self.spans if span.hunk in positions])

    def placed(self, now: Content) -> list[Splice] | None:
        """The splices for the current text; None where one of the spans has changed or is no longer unique."""
        if now.size > 2 * _MOST_BYTES:
            return None
        data = all_of(now)
        found: list[Splice] = []
        for span in self.spans:
            splice = span.found(data)
            if splice is None or (found and splice.offset < found[-1].end):
                return None
            found.append(splice)
        return found


def text_anchors(content: Content, splices: Sequence[Splice], hunk_ends: Sequence[int] = ()) -> TextAnchors | None:
    """Anchors for finding splices of a content again; None if they are too large, or a place is not unique.

    Args:
        content: the content that the splices change.
        splices: sorted and disjoint.
        hunk_ends: the numbers of the last lines of their diff's hunks, where these are known.
    """
    kept = sum([len(splice.removed) + len(splice.inserted) + 2 * _CONTEXT for splice in splices])
    if content.size > _MOST_BYTES or kept > _MOST_KEPT:
        return None
    data = all_of(content)
    spans = [span for splice in splices for span in _anchors(data, splice, hunk_ends)]
    return TextAnchors(spans=spans) if all(span.windows for span in spans) else None


def _anchors(data: bytes, splice: Splice, hunk_ends: Sequence[int]) -> list[SpanAnchor]:
    """Anchors for the parts of a splice, between which a person may edit; for all of it where a part is not unique."""
    parts = _divided(splice)
    if 1 < len(parts) <= _MOST_SEARCHED // len(data):
        spans = [_anchor(data, part, hunk_ends) for part in parts]
        if all(span.windows for span in spans):
            return spans
    return [_anchor(data, splice, hunk_ends if len(parts) < 2 else ())]


def _divided(splice: Splice) -> list[Splice]:
    """The parts of a splice that differ: one that writes a whole file spans from its first change to its last."""
    if b"\n" not in splice.removed and b"\n" not in splice.inserted:
        return [part._replace(offset=splice.offset + part.offset) for part in trimmed(splice.removed, splice.inserted)]
    sides = [text.decode("latin-1").split("\n") for text in (splice.removed, splice.inserted)]
    old, new = ([f"{line}\n" for line in side[:-1]] + side[-1:] for side in sides)
    found, at, line = list[Splice](), splice.offset, 0
    for first, last, new_first, new_last in changed_blocks(old, new):
        at += sum(map(len, old[line:first]))
        removed, inserted = ("".join(side).encode("latin-1") for side in (old[first:last], new[new_first:new_last]))
        found += [part._replace(offset=at + part.offset) for part in trimmed(removed, inserted)]
        at, line = at + len(removed), last
    return found


def _anchor(data: bytes, splice: Splice, hunk_ends: Sequence[int]) -> SpanAnchor:
    start, end = splice.offset, splice.end
    # An empty span needs both sides to identify its place, and so does one that cuts a UTF-8 character.
    whole = splice.removed and not any(byte & 0xC0 == 0x80 for byte in (data[start], *data[end : end + 1]))
    windows = [
        (left, right)
        for left, right in (_ONE_SIDE if whole else _BOTH_SIDES)
        if _only(data, data[max(0, start - left) : end + right]) is not None
    ]
    parts: dict[str, Any] = {
        "removed": splice.removed,
        "inserted": splice.inserted,
        "before": data[max(0, start - _CONTEXT) : start],
        "after": data[end : end + _CONTEXT],
    }
    # A splice at the end of the text may be below the last line of its hunk.
    hunk = min(bisect_left(hunk_ends, data.count(b"\n", 0, start) + 1), len(hunk_ends) - 1) if hunk_ends else None
    return SpanAnchor(**{name: part.decode("latin-1") for name, part in parts.items()}, windows=windows, hunk=hunk)


def _only(data: bytes, pattern: bytes) -> int | None:
    """The place of a pattern, if it occurs exactly once."""
    at = data.find(pattern)
    return at if pattern and at >= 0 and data.find(pattern, at + 1) < 0 else None
