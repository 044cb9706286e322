"""The rows that grep shows for its matches."""

from __future__ import annotations

from jupyter_fstools.search.query import TextMatch
from jupyter_fstools.tools.grep_rows import ShownLine, shown_groups


def lines(*matches: TextMatch) -> list[ShownLine]:
    return [line for _, group in shown_groups(matches) for line in group]


def test_a_line_that_ends_one_match_and_begins_the_next_is_shown_once():
    first = TextMatch("a.txt", 1, 1, 3, "a\nb a")
    second = TextMatch("a.txt", 2, 3, 3, "b a\nb", after=["c"])
    assert [(line.number, line.text) for line in lines(first, second)] == [(1, "a"), (2, "b a"), (3, "b"), (4, "c")]


def test_a_match_is_marked_on_each_of_its_lines():
    assert [line.mark for line in lines(TextMatch("a.txt", 1, 3, 8, "x start\nend y"))] == [(2, 7), (0, 2)]


def test_a_gap_stands_between_lines_that_do_not_follow_each_other():
    """Only where lines around matches are shown."""
    apart = TextMatch("a.txt", 1, 1, 1, "a"), TextMatch("a.txt", 9, 1, 1, "a")
    assert [line.number for line in lines(*apart)] == [1, 9]
    assert [line.number for line in lines(*apart, TextMatch("b.txt", 1, 1, 1, "a", after=["b"]))] == [1, None, 9, 1, 2]


def test_lines_behind_a_match_that_is_cut_keep_their_numbers():
    cut = TextMatch("a.txt", 2, 1, 900, "start\nmid", cut=890, cut_lines=3, after=["c", "d"])
    assert [line.number for line in lines(cut)] == [2, 3, None, 7, 8]
    ends_on_next = TextMatch("a.txt", 2, 1, 900, "start\nmid", cut=890, cut_lines=1), TextMatch("a.txt", 4, 9, 1, "x y")
    assert [line.number for line in lines(*ends_on_next)] == [2, 3, 4]


def test_what_is_left_out_of_a_long_line_is_counted():
    shown = lines(TextMatch("a.txt", 1, 101, 3, "needle", text_column=100, cut=294))[0]
    assert (shown.mark, shown.left_out) == ((1, 4), (99, 195))


def test_each_text_of_a_notebook_has_its_heading():
    cells = [("c", 0, None), ("c", 0, None), ("c", 0, 1), (None, 2, None)]
    found = [
        TextMatch("n.ipynb", 1, 1, 1, "a", cell_id=i, cell_index=at, output_index=output) for i, at, output in cells
    ]
    assert [heading for heading, _ in shown_groups(found)] == [
        "n.ipynb cell c (index 0)", "n.ipynb cell c (index 0) output 1", "n.ipynb cell (index 2)"
    ]  # fmt: skip
