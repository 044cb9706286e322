"""Builds a text file's diff from the splices of its change."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...content.source import BytesContent, Content
from ...content.splices import Splice, spliced
from ...diffs.file_diff import DiffHunk, DiffRow, FileDiff, Operation
from ...diffs.line_diff import CONTEXT_LINES, MAX_ROWS, NO_NEWLINE, Block, changed_blocks, cuts_rows, hunks_of
from .encoding import TextEncoding

_MOST_LINE_BYTES = 64 << 10
_NEAR_BYTES = 4 << 10
"""Bytes that are enough for most changes' context; more is read only where they are not."""
_MOST_REGION_BYTES = 16 << 20
_BOM = "\ufeff"


class ChangedLines(NamedTuple):
    """Neighbouring changed lines of a text with the lines around them, before and after the change.

    Attributes:
        old: the lines before, without their newlines; empty where there are too many (`too_large`).
        new: the lines after.
        old_start: the number of the first line before.
        new_start: the number of the first line after.
        blocks: where the two differ.
        removed: how many lines are removed.
        added: how many lines are added.
        too_large: there are only counts.
    """

    old: Sequence[str]
    new: Sequence[str]
    old_start: int
    new_start: int
    blocks: Sequence[Block]
    removed: int
    added: int
    too_large: bool = False


def changed_lines(
    before: Content,
    splices: Sequence[Splice],
    encoding: TextEncoding,
    line_at: Callable[[int], int],
    *,
    context: int = CONTEXT_LINES,
) -> Iterator[ChangedLines]:
    """The lines that splices change in a text file; reads only these lines.

    Args:
        before: the content that the offsets of the splices count in.
        splices: sorted and disjoint.
        encoding: how its text is written.
        line_at: the 1-based line number of a byte offset, where a newline is the byte 0x0A.
        context: unchanged lines to include above and below a change.
    """
    number = line_numbers(before, encoding, line_at)
    shift = 0
    for region in regions(before, splices, encoding, context):
        if region.too_large:
            changed = ChangedLines((), (), 0, 0, (), *region.newlines(encoding), too_large=True)
        else:
            old, new = region.lines(before, encoding)
            blocks, first = changed_blocks(old, new), number(region.start)
            removed, added = sum([b - a for a, b, _, _ in blocks]), sum([d - c for _, _, c, d in blocks])
            changed = ChangedLines(old, new, first, first + shift, blocks, removed, added)
        yield changed
        shift += changed.added - changed.removed


def diff_of_splices(
    path: str,
    op: Operation,
    before: Content,
    splices: Sequence[Splice],
    encoding: TextEncoding,
    line_at: Callable[[int], int],
    *,
    whole: bool = False,
) -> FileDiff:
    """The diff of the `changed_lines` of splices."""
    return diff_of_changes(path, op, changed_lines(before, splices, encoding, line_at), encoding, whole=whole)


def diff_of_changes(
    path: str, op: Operation, changes: Iterable[ChangedLines], encoding: TextEncoding, *, whole: bool = False
) -> FileDiff:
    """The diff of a text file.

    Args:
        path: as the diff shall name it.
        op: the kind of change.
        changes: in order, each with `CONTEXT_LINES` around it or more.
        encoding: the text's; the diff names it unless it is UTF-8.
        whole: no row is left out and no line is cut.
    """
    most_rows = sys.maxsize if whole else MAX_ROWS
    hunks: list[DiffHunk] = []
    added = removed = kept = 0
    truncated = False
    for change in changes:
        removed, added = removed + change.removed, added + change.added
        truncated = truncated or change.too_large
        # One row more than there is room for shows whether any is left out.
        for hunk in hunks_of(
            *(change.blocks, change.old, change.new),
            old_start=change.old_start,
            new_start=change.new_start,
            most_rows=most_rows - kept + (not whole),
            cut_lines=not whole,
        ):
            if kept + len(hunk.rows) > most_rows:
                truncated = True
                hunk.rows.pop()
            kept += len(hunk.rows)
            truncated = truncated or (not whole and cuts_rows(hunk))
            if hunk.rows:
                hunks.append(hunk)
    told = None if encoding.is_utf8 else encoding.codec
    return FileDiff(path=path, op=op, added=added, removed=removed, hunks=hunks, truncated=truncated, encoding=told)


def line_numbers(content: Content, encoding: TextEncoding, line_at: Callable[[int], int]) -> Callable[[int], int]:
    """The 1-based line numbers of rising byte offsets, also where a newline is not the byte 0x0A."""
    if encoding.counts_newline_bytes:
        return line_at
    at, line = 0, 1

    def number(offset: int) -> int:
        nonlocal at, line
        offset -= offset % encoding.unit
        for chunk in content.chunks(at, offset):
            line += encoding.newlines_in(bytes(chunk))
        at = max(at, offset)
        return line

    return number


def diff_of_creation(path: str, op: Operation, data: bytes, encoding: TextEncoding, *, whole: bool = False) -> FileDiff:
    """The diff of a file that begins (`create`) or ends (`delete`) to exist."""
    empty = BytesContent(b"")
    diff = diff_of_splices(path, op, empty, [Splice(0, b"", data)], encoding, lambda _: 1, whole=whole)
    if op == "delete":
        for hunk in diff.hunks:
            hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count = (
                hunk.new_start,
                hunk.new_count,
                hunk.old_start,
                hunk.old_count,
            )
            hunk.rows = [DiffRow(kind="remove", old=row.new, new=0, text=row.text, crlf=row.crlf) for row in hunk.rows]
        diff.added, diff.removed = 0, diff.added
    return diff


class Region:
    """Whole lines around neighbouring splices, with their context."""

    def __init__(self, start: int, end: int, splices: list[Splice]) -> None:
        self.start = start
        self.end = end
        self.splices = splices

    @property
    def too_large(self) -> bool:
        """Whether the region is so large that its lines are only counted."""
        return self.end - self.start + sum([len(s.inserted) for s in self.splices]) > _MOST_REGION_BYTES

    def sides(self, before: Content) -> tuple[bytes, bytes]:
        """Its bytes before and after the change."""
        old = before.read(self.start, self.end - self.start)
        return old, spliced(old, self.splices, self.start)

    def lines(self, before: Content, encoding: TextEncoding) -> tuple[list[str], list[str]]:
        """Its lines before and after the change."""
        old, new = decoded_sides(*self.sides(before), encoding)
        last = self.end >= before.size
        return _lines(old, last=last), _lines(new, last=last)

    def newlines(self, encoding: TextEncoding) -> tuple[int, int]:
        """The numbers of removed and added line endings."""
        removed = sum(encoding.newlines_in(splice.removed) for splice in self.splices)
        added = sum(encoding.newlines_in(splice.inserted) for splice in self.splices)
        return removed, added


def regions(before: Content, splices: Sequence[Splice], encoding: TextEncoding, context: int) -> Iterator[Region]:
    """The whole lines around each change, with so many lines of context."""
    region: Region | None = None
    for splice in splices:
        start, end = splice.offset, _lines_after(before, splice.end, encoding, context)
        if region is None or start > region.end:
            start = _lines_before(before, splice.offset, encoding, context)
        if region is not None and start <= region.end:
            region.splices.append(splice)
            region.end = max(region.end, end)
            continue
        if region is not None:
            yield region
        region = Region(start, end, [splice])
    if region is not None:
        yield region


def decoded_sides(old: bytes, new: bytes, encoding: TextEncoding) -> tuple[str, str]:
    """Both sides of a change as text; with the byte order mark where only one side has it."""
    before, after = old.decode(encoding.codec, "replace"), new.decode(encoding.codec, "replace")
    if encoding.unit > 1 or (before.startswith(_BOM) and after.startswith(_BOM)):
        return before.removeprefix(_BOM), after.removeprefix(_BOM)
    return before, after


def _lines(text: str, *, last: bool) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    elif last:
        lines[-1] += NO_NEWLINE
    return lines


def _lines_before(content: Content, offset: int, encoding: TextEncoding, context: int) -> int:
    """The start of the line that is `context` lines above the one with `offset`."""
    base = offset
    for most in (_NEAR_BYTES, _MOST_LINE_BYTES):
        base = max(0, offset - most)
        base -= base % encoding.unit
        data = content.read(base, offset - base)
        at = len(data)
        for _ in range(context + 1):
            at = _rfind(data, encoding, at)
            if at < 0:
                break
        else:
            return base + at + encoding.unit
    return base


def _lines_after(content: Content, offset: int, encoding: TextEncoding, context: int) -> int:
    """The end, newline included, of the line that is `context` lines below the one with `offset`."""
    offset += -offset % encoding.unit  # A splice may end inside a character.
    end = offset
    for most in (_NEAR_BYTES, _MOST_LINE_BYTES):
        data = content.read(offset, most)
        at = -encoding.unit
        for _ in range(context + 1):
            at = _find(data, encoding, at + encoding.unit)
            if at < 0:
                break
        else:
            return offset + at + encoding.unit
        end = offset + len(data)
    return end


def _rfind(data: bytes, encoding: TextEncoding, end: int) -> int:
    at = data.rfind(encoding.newline, 0, end)
    while at >= 0 and at % encoding.unit:
        at = data.rfind(encoding.newline, 0, at + len(encoding.newline) - 1)
    return at


def _find(data: bytes, encoding: TextEncoding, start: int) -> int:
    at = data.find(encoding.newline, start)
    while at >= 0 and at % encoding.unit:
        at = data.find(encoding.newline, at + 1)
    return at
