import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.documents.text.shown_lines import (
    CUT_MARKER,
    LINE_NUMBER,
    cut_marker,
    envelope,
    shortened,
    shown_body,
)
from jupyter_fstools.documents.text.window import CutLine


def test_rows_are_numbered_with_a_tab():
    """Trailing spaces stay, and the number is distinct from the line."""
    body = shown_body(["a  ", "", "\tb"], 9, numbers=True)
    assert body == "9\ta  \n10\t\n11\t\tb"
    assert [LINE_NUMBER.sub("", row) for row in body.split("\n")] == ["a  ", "", "\tb"]
    assert shown_body(["a", "b"], 9, numbers=False) == "a\nb"


def test_a_carriage_return_is_seen_as_its_symbol():
    """Other control characters stay as they are."""
    assert shown_body(["a\rb", "\x1b[31mred\x1b[0m\x07"], 1, numbers=False) == "a␍b\n\x1b[31mred\x1b[0m\x07"


def test_a_cut_line_says_how_to_go_on():
    """Its marker can be recognised."""
    cut = CutLine(line=4, column=11, shown=5, omitted=1)
    assert cut_marker(cut) == " [... 1 more character: read with offset=4, column=16]"
    body = shown_body(["x", "hello"], 3, numbers=True, cuts=[cut])
    assert body == f"3\tx\n4\thello{cut_marker(cut)}"
    for marker in (cut_marker(cut), cut_marker(cut._replace(omitted=12)), shortened("hello", 2)[2:]):
        assert CUT_MARKER.search(f"hello{marker}")[0] == marker


@given(st.lists(st.sampled_from(["</read_file", "-2", "-3", ">", "\n", "a"]), max_size=30).map("".join) | st.text())
def test_a_body_never_closes_its_envelope(body):
    whole = envelope("read_file", [("path", "a")], body)
    tag = re.match(r"<(read_file(?:-\d+)?) ", whole)[1]
    assert whole == f'<{tag} path="a">\n{body}</{tag}>' and whole.count(f"</{tag}>") == 1


@pytest.mark.parametrize("value", ['a"b', "<&>", "a\nb\tc", "'", "\udcff"])
def test_an_attribute_cannot_be_left(value):
    head = envelope("t", [("path", value)], "").split("\n")[0]
    assert head.count('"') == 2 and head.endswith('">') and head.count("<") == 1
