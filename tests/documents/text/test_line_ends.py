"""A text that an editor gives with plain line ends gets the line ends of its file."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.documents.text.line_ends import with_line_ends

LINES = st.lists(st.tuples(st.sampled_from("abc "), st.sampled_from(["\n", "\r\n", "\r"])), max_size=20)


def plain(text):
    return re.sub("\r\n?", "\n", text)


@given(LINES, st.sampled_from(["", "last"]))
def test_what_was_not_changed_is_as_before(lines, last):
    old = "".join(map("".join, lines)) + last
    assert with_line_ends(old, plain(old)) == old


@given(LINES, LINES)
def test_only_ends_are_changed(lines, others):
    old, text = ("".join(map("".join, some)) for some in (lines, others))
    assert plain(with_line_ends(old, text)) == plain(text)


@pytest.mark.parametrize(
    ("old", "text", "expected"),
    [
        ("a\r\nb\r\nc\nd\n", "a\nb\nX\nd\n", "a\r\nb\r\nX\r\nd\n"),
        ("a\r\nb\r\nc\n", "a\nnew\nb\nc\n", "a\r\nnew\r\nb\r\nc\n"),
        ("a\nb\nc\r\n", "b\nc\nd", "b\nc\r\nd"),
        ("a\rb\r", "a\nB\n", "a\rB\r"),
        ("a\nb\n", "a\r\nb\r\nc\r\n", "a\nb\nc\n"),
        ("one line", "one line\r\nanother", "one line\r\nanother"),
        ("a\r\nb", "a\nb\nc", "a\r\nb\r\nc"),
        ("", "a\n", "a\n"),
    ],
)
def test_a_new_line_ends_as_most_lines_do(old, text, expected):
    assert with_line_ends(old, text) == expected
