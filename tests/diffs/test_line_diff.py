"""A line diff, applied to the old lines, gives the new ones, with right numbers and bounded work."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.diffs.line_diff import changed_blocks, hunks_of, line_hunks

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "a\r"]), max_size=40)


def applied(before: list[str], after: list[str]) -> list[str]:
    """The new lines, made from the old ones and the blocks."""
    made, at = [], 0
    for a, b, c, d in changed_blocks(before, after):
        made += before[at:a] + after[c:d]
        at = b
    return made + before[at:]


@given(LINES, LINES)
def test_the_blocks_lead_from_the_old_lines_to_the_new_ones(before, after):
    assert applied(before, after) == after


@given(LINES, LINES, st.integers(1, 50), st.integers(1, 50))
def test_every_row_has_the_number_of_its_line(before, after, old_start, new_start):
    for hunk in line_hunks(before, after, old_start=old_start, new_start=new_start):
        old = [row for row in hunk.rows if row.kind != "add"]
        new = [row for row in hunk.rows if row.kind != "remove"]
        assert [row.text + "\r" * row.crlf for row in old] == [before[row.old - old_start] for row in old]
        assert [row.text + "\r" * row.crlf for row in new] == [after[row.new - new_start] for row in new]
        assert all(
            (row.old == 0) == (row.kind == "add") and (row.new == 0) == (row.kind == "remove") for row in hunk.rows
        )
        assert (hunk.old_count, hunk.new_count) == (len(old), len(new))
        assert hunk.old_start == (old[0].old if old else hunk.old_start)
        assert hunk.new_start == (new[0].new if new else hunk.new_start)


@given(LINES, LINES)
def test_hunks_have_three_lines_of_context_and_do_not_touch(before, after):
    hunks = line_hunks(before, after)
    for hunk in hunks:
        kinds = "".join(row.kind[0] for row in hunk.rows)
        assert "ccccccc" not in kinds and not kinds.startswith("cccc") and not kinds.endswith("cccc")
    for one, other in pairwise(hunks):
        assert one.old_start + one.old_count < other.old_start + (other.old_count == 0)


def test_an_empty_side_starts_at_the_line_before():
    """As in a unified diff."""
    (hunk,) = line_hunks([], ["a"])
    assert (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count) == (0, 0, 1, 1)


def test_the_rows_of_hunks_can_be_bounded_and_their_counts_stay_whole():
    before = [str(number) for number in range(100)]
    after = [f"{line}!" for line in before]
    (hunk,) = hunks_of(changed_blocks(before, after), before, after, most_rows=10)
    assert len(hunk.rows) == 10 and hunk.old_count == hunk.new_count == 100


def test_a_long_row_is_cut_and_says_so():
    (hunk,) = line_hunks(["x"], ["y" * 5000])
    assert hunk.rows[-1].text.endswith("[... 4000 more characters]")


def nested(depth: int) -> list[str]:
    """Lines of which only one occurs once, and only one more in each of its halves, and so on."""
    lines = ["s1"]
    for number in range(2, depth):
        lines = [f"s{number}", *lines, f"s{number}"]
    return lines


AWKWARD = {
    "equal against different": (["x"] * 20_000, [f"line {number}" for number in range(20_000)]),
    "equal against equal": (["x"] * 20_000, ["x"] * 19_000),
    "every second line": (["a", "b"] * 10_000, ["a", "c"] * 10_000),
    "reversed": ([str(number) for number in range(20_000)], [str(number) for number in reversed(range(20_000))]),
    "small areas of equal lines": (
        [line for number in range(100) for line in [f"u{number}", *["a", "b"] * 100]],
        [line for number in range(100) for line in [f"u{number}", *["a", "c"] * 100]],
    ),
    "unique lines within unique lines": (nested(4000) + ["p"] * 9, ["q"] * 9 + nested(4000)[::-1]),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_lines_are_compared_in_bounded_work(name):
    before, after = AWKWARD[name]
    assert applied(before, after) == after
