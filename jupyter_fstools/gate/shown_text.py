"""Keeps a bounded copy of shown lines for stale refusals."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ..diffs.file_diff import FileDiff
from ..diffs.line_diff import MAX_ROW_CHARACTERS, NO_NEWLINE, anchors_in, changed_blocks, line_hunks
from ..documents.text.shown_lines import CARRIAGE_RETURN
from .line_changes import LineChange, with_line_changes

MAX_KEPT_CHARACTERS = 256 << 10
"""Most text kept per receipt, before compression: as much as one call shows by default."""
_COMPRESSED_FROM = 16 << 10
_MOST_EDITS = 64
_MOST_PLACES = 1000
"""Most occurrences of a repeated line that are checked, from the first one."""


class LineRun(NamedTuple):
    """Lines that two texts share: `length` lines from line `then` of the one are at line `now` of the other."""

    then: int
    now: int
    length: int


class ShownText:
    """Segments of lines as they were shown, and the reader's own edits since.

    The edits are kept beside the segments and applied on demand, so that an edit costs only its own size. As bytes: the
    length of the segments, the segments, one line per edit.
    """

    def __init__(self, base: bytes = b"[]\n", edits: Sequence[bytes] = ()) -> None:
        self._base = base
        self._edits = list(edits)

    def with_lines(self, first: int, text: str) -> ShownText:
        """With a window added, if there is room for it; it replaces earlier copies of the same lines."""
        end = first + line_count(text)
        kept = [(first, text)]
        for start, other in self._segments():
            last = start + line_count(other)
            if last <= first or start >= end:
                kept.append((start, other))
                continue
            lines = re.findall(r"[^\n]*\n|[^\n]+", other)
            kept.append((start, "".join(lines[: max(0, first - start)])))
            kept.append((end, "".join(lines[max(0, end - start) :])))
        # An empty text is kept as well: every line found in it later was added.
        kept = _joined(sorted((start, other) for start, other in kept if other)) or [(first, text)]
        if sum(len(other) for _, other in kept) > MAX_KEPT_CHARACTERS:
            return self
        return ShownText(_base_of(kept))

    def with_window(self, first: int, text: str, whole: Sequence[tuple[int, int]]) -> ShownText:
        """With the lines of a window that were shown `whole`: a line that was cut cannot be compared."""
        if not text or list(whole) == [(first, first + line_count(text) - 1)]:
            return self.with_lines(first, text)
        lines, told = re.findall(r"[^\n]*\n|[^\n]+", text), self
        for start, end in whole:
            told = told.with_lines(start, "".join(lines[start - first : end - first + 1]))
        return told

    def with_changes(self, changes: Sequence[LineChange]) -> ShownText:
        """With an own edit added."""
        edit = json.dumps(changes).encode()
        told = ShownText(self._base, [*self._edits, edit])
        if len(told._edits) < _MOST_EDITS:
            return told
        return ShownText(_base_of(told._segments()))

    def packed(self) -> bytes:
        """As bytes for the store."""
        return b"%d\n%b%b" % (len(self._base), self._base, b"".join([edit + b"\n" for edit in self._edits]))

    @classmethod
    def told_by(cls, diff: FileDiff, side: Literal["old", "new"]) -> ShownText:
        """The lines of the content before (`old`) or after (`new`) a change, as far as its diff tells them."""
        left_out = "add" if side == "old" else "remove"
        segments: list[tuple[int, str]] = []
        for hunk in diff.hunks:
            rows = [row.text for row in hunk.rows if row.kind != left_out]
            whole = [row if len(row) <= MAX_ROW_CHARACTERS else None for row in rows]
            segments += _known_parts(getattr(hunk, f"{side}_start"), whole)
        return cls(_base_of(segments))

    @classmethod
    def unpacked(cls, data: bytes) -> ShownText:
        """From the bytes of `packed`."""
        length, _, rest = data.partition(b"\n")
        return cls(rest[: int(length)], rest[int(length) :].split(b"\n")[:-1])

    def diff(self, path: str, text: str, *, whole: bool = True) -> FileDiff | None:
        """The diff of the shown lines to the current text; None if no lines were kept.

        `whole` says that the shown lines, if they are one segment from line 1, were the whole file: lines after them
        were added. Otherwise each segment is compared with the lines at its new place: a mere move is no change. A
        final newline is shown where only one side has it.
        """
        placed = self._placed(text, whole=whole)
        if not placed:
            return None
        diff = FileDiff(path=path, op="edit")
        for first, lines, start, now in placed:
            for hunk in line_hunks(*_visible(lines, now), old_start=first, new_start=start):
                diff.hunks.append(hunk)
                diff.added += sum(row.kind == "add" for row in hunk.rows)
                diff.removed += sum(row.kind == "remove" for row in hunk.rows)
        return diff

    def unchanged(self, text: str, *, whole: bool) -> list[LineRun]:
        """The shown lines that the current text has at their places; `whole` as for `diff`."""
        runs = []
        for first, lines, start, now in self._placed(text, whole=whole):
            then, at = 0, 0
            for old, old_end, _, new_end in [*changed_blocks(lines, now), (len(lines), 0, len(now), 0)]:
                if old > then:
                    runs.append(LineRun(first + then, start + at, old - then))
                then, at = old_end, new_end
        return runs

    def moved(self, runs: Sequence[LineRun]) -> ShownText:
        """Only these lines, at their places in the other text."""
        shown = {at: line for first, text in self._segments() for at, line in enumerate(marked_lines(text), first)}
        segments: list[tuple[int, str]] = []
        end = 0
        for run in sorted(runs, key=lambda run: run.now):
            if run.now >= end:
                end = run.now + run.length
                segments.append((run.now, _text_of([shown[run.then + at] for at in range(run.length)])))
        return ShownText(_base_of(_joined(segments)))

    def _placed(self, text: str, *, whole: bool) -> list[tuple[int, list[str], int, list[str]]]:
        """The number of the first line and the lines of each segment, and the same of its place in the current text."""
        segments = [(first, marked_lines(shown)) for first, shown in self._segments()]
        now = marked_lines(text)
        all_of_it = whole and len(segments) == 1 and segments[0][0] == 1
        places = [(0, len(now))] if all_of_it else _places(segments, now)
        return [
            (first, lines, start + 1, now[start:end])
            for (first, lines), (start, end) in zip(segments, places, strict=True)
        ]

    def texts(self) -> list[str]:
        """The text of each segment of shown lines."""
        return [text for _, text in self._segments()]

    def ranges(self) -> list[tuple[int, int]]:
        """The line ranges of the segments, in order; none for an empty text."""
        counted = [(first, first + line_count(text) - 1) for first, text in self._segments()]
        return [(first, last) for first, last in counted if first <= last]

    def _segments(self) -> list[tuple[int, str]]:
        base = zlib.decompress(self._base) if self._base[:1] == b"\x78" else self._base
        head, _, texts = base.partition(b"\n")
        segments, at = [], 0
        for first, length in json.loads(head):
            segments.append((first, texts[at : at + length].decode("utf-8", "surrogatepass")))
            at += length
        if not self._edits:
            return segments
        lines: list[tuple[int, list[str | None]]] = [(first, [*marked_lines(text)]) for first, text in segments]
        for edit in self._edits:
            lines = with_line_changes(lines, [LineChange(*change) for change in json.loads(edit)])
        return [part for first, rows in lines for part in _known_parts(first, rows)]


def _known_parts(first: int, rows: Sequence[str | None]) -> Iterator[tuple[int, str]]:
    """The runs of known marked lines between unknown ones, each as a text with the number of its first line."""
    if not rows:
        yield first, ""
    part: list[str] = []
    for at, row in enumerate([*rows, None], first):
        if row is not None:
            part.append(row)
        elif part:
            yield at - len(part), _text_of(part)
            part = []


def _base_of(segments: Iterable[tuple[int, str]]) -> bytes:
    texts = [(first, text.encode("utf-8", "surrogatepass")) for first, text in segments]
    head = json.dumps([(first, len(text)) for first, text in texts]).encode()
    base = head + b"\n" + b"".join(text for _, text in texts)
    # The first byte tells a compressed base (zlib's header) from a plain one (a bracket).
    return zlib.compress(base, 1) if len(base) > _COMPRESSED_FROM else base


def _joined(segments: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Segments with adjacent ones joined."""
    joined: list[tuple[int, str]] = []
    for first, text in segments:
        if joined and joined[-1][1].endswith("\n") and joined[-1][0] + line_count(joined[-1][1]) == first:
            joined[-1] = (joined[-1][0], joined[-1][1] + text)
        else:
            joined.append((first, text))
    return joined


def _places(segments: Sequence[tuple[int, list[str]]], now: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The place of each segment in the current lines: the first line and the end, counted from 0."""
    wanted = {line for _, lines in segments for line in lines}
    found: dict[str, list[int]] = {}
    for at, line in enumerate(now):
        if line in wanted:
            found.setdefault(line, []).append(at)
    shift = 0
    for first, lines in segments:
        start = max(0, first - 1 + shift)
        end = start + len(lines)
        if now[start:end] != lines:
            start, end = _place(lines, now, found) or (start, end)
            shift = end - len(lines) - first + 1
        yield start, end


def _place(lines: Sequence[str], now: Sequence[str], found: Mapping[str, Sequence[int]]) -> tuple[int, int] | None:
    """The place of a segment, by its lines that occur once, or else by all of them; None if it is not found."""
    once = sorted(found[line][0] for line in set(lines) if len(found.get(line, ())) == 1)
    anchors = anchors_in(lines, [now[at] for at in once])
    if anchors:
        (first, start), (last, end) = anchors[0], anchors[-1]
        return max(0, once[start] - first), min(len(now), once[end] - last + len(lines))
    starts = found.get(lines[0], ())[:_MOST_PLACES]
    same = [at for at in starts if now[at : at + len(lines)] == lines]
    return (same[0], same[0] + len(lines)) if len(same) == 1 else None


def line_count(text: str) -> int:
    """How many lines a text has; its last one may have no ending."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def marked_lines(text: str) -> list[str]:
    """The lines of a text without their endings; the last one says if it has none, as in a unified diff."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] or text.endswith("\r"):
        lines[-1] += NO_NEWLINE
    else:
        lines.pop()
    return lines


def _text_of(rows: Sequence[str]) -> str:
    """The text that has these marked lines."""
    if rows and rows[-1].endswith(NO_NEWLINE):
        return "\n".join(rows).removesuffix(NO_NEWLINE)
    return "".join([f"{row}\n" for row in rows])


def _visible(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Marked lines as a diff shows them: no mark where neither side has a final newline, and every CR visible."""
    both = bool(old and new) and old[-1].endswith(NO_NEWLINE) and new[-1].endswith(NO_NEWLINE)
    sides = [list(lines) for lines in (old, new)]
    for lines in sides:
        if both:
            lines[-1] = lines[-1].removesuffix(NO_NEWLINE)
        if any("\r" in line for line in lines):
            lines[:] = [line.replace("\r", CARRIAGE_RETURN) for line in lines]
    return sides[0], sides[1]
