"""Matching lines with the lines around them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_fstools.search.excerpts import Place, excerpts
from jupyter_fstools.search.match_lines import Hit
from jupyter_fstools.search.query import TextQuery

PLACE = Place("a.txt")
contents = st.lists(st.sampled_from(["a", "-a-", "long line a", "", "b", "x\r"]), min_size=1, max_size=12)


def hits_of(text: str) -> list[Hit]:
    """The lines with an `a`."""
    lines = enumerate(re.finditer("(?m)^.*", text), 1)
    return [(number, line[0].find("a"), 1, line.start()) for number, line in lines if "a" in line[0]]


@given(
    lines=contents,
    last=st.sampled_from(["", "\n"]),
    around=st.tuples(*[st.sampled_from([0, 1, 2, 10**9])] * 2),
    page=st.tuples(st.integers(0, 3), st.integers(1, 5)),
    size=st.integers(1, 4),
)
@settings(max_examples=200)
def test_a_text_in_blocks_answers_like_the_whole(
    lines: list[str], last: str, around: tuple[int, int], page: tuple[int, int], size: int
) -> None:
    """Also where only the numbers of the lines are known."""
    text = "\n".join(lines) + last
    parts = re.findall(r"[^\n]*\n|[^\n]+", text)
    blocks = ["".join(parts[at : at + size]) for at in range(0, len(parts), size)]
    hits = hits_of(text)[: sum(page) + 1]
    query = TextQuery(pattern="a", before_lines=around[0], after_lines=around[1], max_line_length=6)
    part = slice(page[0], sum(page))
    whole = excerpts(PLACE, [text], hits, part, query)
    assert excerpts(PLACE, blocks, hits, part, query) == whole
    assert excerpts(PLACE, iter([text]), [(*hit[:3], -1) for hit in hits], part, query) == whole
    assert [match.line for match in whole] == [hit[0] for hit in hits[part]]


def test_what_is_not_there_any_more_is_left_out() -> None:
    """The file was read again after the search, and has become shorter."""
    hits = [(1, 0, 1, -1), (2, 4, 1, -1), (9, 0, 1, -1)]
    assert [match.line for match in excerpts(PLACE, ["a\na\n"], hits, slice(0, 9), TextQuery(pattern="a"))] == [1]


def test_a_block_without_a_line_to_show_is_not_split() -> None:
    """A large file has millions of lines, and a page shows a few."""

    class Block(str):
        def split(self, *arguments: object, **options: object) -> list[str]:
            raise AssertionError("split")

    blocks = [Block("b\n" * 5), "b\na\n", Block("b\n" * 5), "b\na", ""]
    hits = [(7, 0, 1, -1), (14, 0, 1, -1)]
    found = excerpts(PLACE, blocks, hits, slice(0, 9), TextQuery(pattern="a", before_lines=1))
    assert [(match.line, match.text, match.before) for match in found] == [(7, "a", ["b"]), (14, "a", ["b"])]


@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 0), (0, 1), (5, 5)])
def test_every_line_is_in_one_place(before: int, after: int) -> None:
    """Nothing is shown twice, and all that is asked for."""
    text = "0\n1\na\n3\na\n5\n6\n7\na\n"
    query = TextQuery(pattern="a", before_lines=before, after_lines=after)
    found = excerpts(PLACE, [text], hits_of(text), slice(0, 9), query)
    shown = [line for match in found for line in (*match.before, match.text, *match.after)]
    lines = text.splitlines()
    near = {at + step for at in (2, 4, 8) for step in range(-before, after + 1)}
    assert shown == [line for at, line in enumerate(lines) if at in near]


def test_a_deep_page_looks_at_no_hits_far_before_it() -> None:
    text = "a\n" * 100
    hits = hits_of(text)
    query, page = TextQuery(pattern="a", before_lines=1, after_lines=1), slice(90, 92)
    assert excerpts(PLACE, [text], [None] * 89 + hits[89:], page, query) == excerpts(PLACE, [text], hits, page, query)
