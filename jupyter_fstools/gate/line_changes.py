"""Tells a diff's changed lines, and applies them to known lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..diffs.file_diff import FileDiff
from ..diffs.line_diff import MAX_ROW_CHARACTERS


class LineChange(NamedTuple):
    """`removed` lines from line `first` (1-based, old numbering) became the lines `added` (None: an unknown one)."""

    first: int
    removed: int
    added: list[str | None]


def line_changes(diff: FileDiff) -> list[LineChange] | None:
    """The changed lines of a diff, with None for a line whose row may be cut; None if rows are missing."""
    kinds = [row.kind for hunk in diff.hunks for row in hunk.rows]
    if kinds.count("add") < diff.added or kinds.count("remove") < diff.removed:
        return None
    changes: list[LineChange] = []
    for hunk in diff.hunks:
        old = hunk.old_start + (hunk.old_count == 0)
        run: LineChange | None = None
        for row in hunk.rows:
            if row.kind == "context":
                old, run = old + 1, None
                continue
            if run is None:
                run = LineChange(old, 0, [])
                changes.append(run)
            if row.kind == "remove":
                old += 1
                run = run._replace(removed=run.removed + 1)
                changes[-1] = run
            else:
                run.added.append(row.text if len(row.text) <= MAX_ROW_CHARACTERS else None)
    return changes


def with_line_changes(
    segments: Sequence[tuple[int, list[str | None]]], changes: Sequence[LineChange]
) -> list[tuple[int, list[str | None]]]:
    """Segments of lines (the number of the first, and the lines) after these changes; None is an unknown line."""
    changed = list(segments)
    for change in reversed(changes):
        end = change.first + change.removed
        shift = len(change.added) - change.removed
        after: list[tuple[int, list[str | None]]] = []
        for first, lines in changed:
            last = first + len(lines)
            if last < change.first or (last == change.first and change.removed):
                after.append((first, lines))
            elif first > end or (first == end and not first <= change.first):
                after.append((first + shift, lines))
            else:
                low, high = max(0, change.first - first), max(0, end - first)
                after.append((min(first, change.first), [*lines[:low], *change.added, *lines[high:]]))
        changed = after
    return changed
