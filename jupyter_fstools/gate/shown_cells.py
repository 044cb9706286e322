"""Keeps which lines of each cell a reader was shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from ..diffs.line_diff import changed_blocks
from ..documents.text.shown_lines import Shown
from ..documents.text.touched_lines import TouchedLines
from ..stores.records import Receipt
from .line_changes import LineChange
from .line_ranges import moved, ranges_as_text, ranges_in, united, whole_lines
from .read_tracker import ReadTracker
from .shown_text import MAX_KEPT_CHARACTERS, ShownText, marked_lines

Ranges = list[tuple[int, int]]
_MOST_PARTLY = 64


class ShownCell(NamedTuple):
    """The lines of one cell that a reader has seen.

    Attributes:
        fingerprint: of the source that was shown.
        lines: those shown whole; None for all of them.
        partly: of a line shown piece by piece, up to which character.
        since_diff: the lines shown since a diff showed how the cell changed, which does not permit replacing the cell;
            None without a diff.
    """

    fingerprint: str
    lines: Ranges | None
    partly: dict[int, int]
    since_diff: Ranges | None = None

    def spelled(self) -> str:
        """As a receipt keeps it: the fingerprint and, if not all lines were shown, the other fields after colons."""
        if self.lines is None:
            return self.fingerprint
        parts = [self.fingerprint, ranges_as_text(self.lines)]
        if self.partly or self.since_diff is not None:
            parts.append(ranges_as_text(self.partly.items()))
        if self.since_diff is not None:
            parts.append(ranges_as_text(self.since_diff))
        return ":".join(parts)

    @classmethod
    def of(cls, spelled: str) -> ShownCell:
        """Parse the form that a receipt keeps."""
        fingerprint, *places = spelled.split(":")
        if not places:
            return cls(fingerprint, None, {})
        found = dict(enumerate(map(ranges_in, places)))
        return cls(fingerprint, found[0], dict(found.get(1, [])), found.get(2))

    def of_lines(self, total: int) -> ShownCell:
        """The same, with `lines` None if all of the cell's `total` lines were shown."""
        lines = self.lines if self.since_diff is None else self.since_diff
        return self if lines is None or (total and lines != [(1, total)]) else ShownCell(self.fingerprint, None, {})


def source_changes(before: str, after: str) -> list[LineChange]:
    """The lines of a cell's source that differ."""
    old, new = marked_lines(before), marked_lines(after)
    return [LineChange(a + 1, b - a, [*new[c:d]]) for a, b, c, d in changed_blocks(old, new)]


def after_edits(
    known: ShownCell | None, fingerprint: str, edits: Sequence[Sequence[TouchedLines]], source: str
) -> ShownCell:
    """The lines that a reader has seen of a cell after its edits; `known` before them, None for nothing."""
    if known is not None and known.lines is None:
        return ShownCell(fingerprint, None, {})
    lines, since = (known.lines or [], known.since_diff) if known else ([], None)
    for touched in edits:
        lines, since = moved(lines, touched), None if since is None else moved(since, touched)
    return ShownCell(fingerprint, lines, {}, since).of_lines(len(marked_lines(source)) if source else 0)


class ShownCellTexts:
    """A bounded copy of the lines shown of each cell, so that a refusal can say what changed in it.

    As bytes: a JSON head with the length of each cell's copy, a newline, the copies.
    """

    def __init__(self, data: bytes = b"{}\n") -> None:
        head, _, rest = data.partition(b"\n")
        self._texts: dict[str, bytes] = {}
        at = 0
        for key, length in json.loads(head).items():
            self._texts[key] = rest[at : at + length]
            at += length

    @classmethod
    def kept_by(cls, tracker: ReadTracker, receipt: Receipt | None) -> ShownCellTexts:
        """The copy beside a reader's receipt."""
        data = tracker.kept(receipt.key) if receipt is not None else None
        return cls(data) if data else cls()

    def of(self, key: str) -> ShownText | None:
        """The lines of one cell."""
        data = self._texts.get(key)
        return ShownText.unpacked(data) if data else None

    def put(self, key: str, text: ShownText) -> None:
        """Replace the kept lines of a cell."""
        self._texts.pop(key, None)
        self._texts[key] = text.packed()

    def renamed(self, keys: dict[str, str]) -> ShownCellTexts:
        """The copies of some cells alone; `keys` maps these to their new keys."""
        texts = ShownCellTexts()
        texts._texts = {keys[key]: data for key, data in self._texts.items() if key in keys}
        return texts

    def packed(self) -> bytes:
        """As bytes for the store; where they are too many, those put first are left out."""
        kept = dict(self._texts)
        size = sum(map(len, kept.values()))
        while size > MAX_KEPT_CHARACTERS:
            size -= len(kept.pop(next(iter(kept))))
        head = json.dumps({key: len(data) for key, data in kept.items()}).encode()
        return head + b"\n" + b"".join(kept.values())


def with_lines(known: ShownCell | None, fingerprint: str, shown: Shown) -> ShownCell:
    """The lines that a reader has seen of a cell after more were shown; `known` before, of the same source."""
    if known is not None and known.lines is None:
        return known
    assert shown.total_lines is not None
    partly = dict(known.partly) if known else {}
    whole = whole_lines(shown, partly)
    lines = united([*(known.lines if known and known.lines else []), *whole])
    since = known.since_diff if known else None
    since = None if since is None else united([*since, *whole])
    return ShownCell(fingerprint, lines, dict(list(partly.items())[-_MOST_PARTLY:]), since).of_lines(shown.total_lines)
