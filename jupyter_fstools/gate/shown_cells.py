"""Keeps which lines of each cell a reader was shown."""

from __future__ import annotations

import json
from typing import NamedTuple

from ..diffs.line_diff import changed_blocks
from ..documents.text.shown_lines import Shown
from ..stores.records import Receipt
from .line_changes import LineChange
from .line_ranges import UNSEEN, SeenLines, ranges_as_text, ranges_in
from .read_tracker import ReadTracker
from .shown_text import MAX_KEPT_CHARACTERS, ShownText, marked_lines


class ShownCell(NamedTuple):
    """The lines of one cell that a reader has seen.

    Attributes:
        fingerprint: of the source that was shown.
        seen: its lines that were shown; None for all of them.
    """

    fingerprint: str
    seen: SeenLines | None

    def spelled(self) -> str:
        """As a receipt keeps it: the fingerprint and, if not all lines were shown, what was, after colons."""
        if self.seen is None:
            return self.fingerprint
        lines, partly, since_diff = self.seen
        parts = [self.fingerprint, ranges_as_text(lines)]
        if partly or since_diff is not None:
            parts.append(ranges_as_text(partly.items()))
        if since_diff is not None:
            parts.append(ranges_as_text(since_diff))
        return ":".join(parts)

    @classmethod
    def of(cls, spelled: str) -> ShownCell:
        """Parse the form that a receipt keeps."""
        fingerprint, *places = spelled.split(":")
        if not places:
            return cls(fingerprint, None)
        found = dict(enumerate(map(ranges_in, places)))
        return cls(fingerprint, SeenLines(found[0], dict(found.get(1, [])), found.get(2)))

    @classmethod
    def of_lines(cls, fingerprint: str, seen: SeenLines, total: int) -> ShownCell:
        """The lines seen of a cell that has `total` lines."""
        return cls(fingerprint, None if seen.are_all(total) else seen)


def source_changes(before: str, after: str) -> list[LineChange]:
    """The lines of a cell's source that differ."""
    old, new = marked_lines(before), marked_lines(after)
    return [LineChange(a + 1, b - a, [*new[c:d]]) for a, b, c, d in changed_blocks(old, new)]


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
    seen = UNSEEN if known is None else known.seen
    if seen is None:
        return ShownCell(fingerprint, None)
    assert shown.total_lines is not None
    return ShownCell.of_lines(fingerprint, seen.with_shown(shown), shown.total_lines)
