"""Ripgrep's JSON output, read as it arrives."""

from __future__ import annotations

import json
import time

import pytest

from jupyter_fstools.search.match_lines import Hit
from jupyter_fstools.search.ripgrep.json_rows import MatchRows


def row(lines: str, *submatches: tuple[int, int], number: int = 1) -> bytes:
    listed = [{"match": {"text": lines[start:end]}, "start": start, "end": end} for start, end in submatches]
    match = {"path": {"text": ".//a.txt"}, "lines": {"text": lines}, "line_number": number, "submatches": listed}
    return json.dumps({"type": "match", "data": match}, separators=(",", ":")).encode() + b"\n"


def hits(printed: bytes, size: int, *, every_line: bool) -> list[Hit]:
    rows = MatchRows(every_line=every_line)
    return [hit for at in range(0, len(printed), size) for _, hit in rows.take(printed[at : at + size])]


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_it_does_not_matter_in_what_pieces_it_comes(size: int) -> None:
    """The content of the lines does not matter either."""
    spelled = '"start":1,"end":2},"submatches":[\n'
    printed = b'{"type":"begin"}\n' + row(spelled, (0, 1), (9, 10)) + row("a\na\n", (0, 1), (2, 3), number=5)
    assert hits(printed, size, every_line=False) == [(1, 0, 1, -1), (5, 0, 1, -1)]
    assert hits(printed, size, every_line=True) == [(1, 0, 1, -1), (5, 0, 1, -1), (6, 0, 1, -1)]


def test_an_empty_match_at_the_end_counts_for_a_line_but_not_over_lines() -> None:
    assert hits(row("a)"), 10, every_line=False) == [(1, 2, 0, -1)]
    assert hits(row("a)"), 10, every_line=True) == []


@pytest.mark.slow
def test_a_row_with_many_matches_is_read_at_once() -> None:
    printed = row("hit " * 500_000, *((at, at + 4) for at in range(0, 2_000_000, 4)))
    began = time.monotonic()
    assert hits(printed, 128 << 10, every_line=True) == [(1, 0, 4, -1)]
    assert time.monotonic() - began < 15
