"""A change of a text finds its places again, whatever has become of the rest of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import Splice, inverse, spliced, trimmed
from jupyter_fstools.documents.text.anchors import TextAnchors, text_anchors

LINES = [f"line {number} of a text\n".encode() for number in range(40)]


def placed(data, splices, now):
    """The text that a change of `data` makes of another one; None where it does not fit."""
    anchors = text_anchors(BytesContent(data), splices)
    if anchors is None:
        return None
    found = TextAnchors.model_validate_json(anchors.model_dump_json()).placed(BytesContent(now))
    return None if found is None else spliced(now, found)


def replaced(lines, at, new):
    """A text, and the splice that gives one of its lines another content."""
    offset = sum(map(len, lines[:at]))
    return Splice(offset, lines[at], new)


TYPED = st.binary(max_size=20).map(lambda data: data.replace(b"line", b""))


@given(st.sampled_from(range(10, 30)), TYPED, st.lists(st.tuples(st.sampled_from([0, 2, 4, 35, 37, 39]), TYPED)))
def test_an_undo_restores_its_span_and_keeps_what_was_typed_elsewhere(at, new, typed):
    data = b"".join(LINES)
    change = [replaced(LINES, at, b"<%s>\n" % new)]
    after, now, wanted = spliced(data, change), list(LINES), list(LINES)
    for line, text in typed:
        now[line] = wanted[line] = text
    now[at] = change[0].inserted
    assert placed(after, inverse(change), b"".join(now)) == b"".join(wanted)
    assert placed(data, change, b"".join(wanted)) == b"".join(now)


@given(st.binary(max_size=30), st.data())
def test_only_the_spans_of_the_change_are_ever_replaced(now, data):
    """Whatever has become of the text."""
    text = data.draw(st.binary(max_size=30))
    start = data.draw(st.integers(0, len(text)))
    change = [Splice(start, text[start : start + 3], data.draw(st.binary(max_size=3)))]
    anchors = text_anchors(BytesContent(text), change)
    for splice in (anchors and anchors.placed(BytesContent(now))) or []:
        assert splice.removed in change[0].removed and splice.inserted in change[0].inserted
        assert now[splice.offset : splice.end] == splice.removed


def test_lines_typed_right_beside_the_span_are_kept():
    data, change = b"".join(LINES), [replaced(LINES, 20, b"mine\n")]
    after = spliced(data, change)
    for beside in (b"mine\ntheirs\n", b"theirs\nmine\n"):
        now = after.replace(b"mine\n", beside)
        wanted = now.replace(b"mine\n", LINES[20])
        assert placed(after, inverse(change), now) == wanted


def test_a_span_that_is_another_one_or_not_alone_takes_nothing_back():
    data, change = b"".join(LINES), [replaced(LINES, 20, b"mine\n")]
    after = spliced(data, change)
    for now in (after.replace(b"mine", b"mine, too"), after.replace(b"mine\n", b""), after + after, b""):
        assert placed(after, inverse(change), now) is None


def test_a_place_like_another_one_is_not_guessed():
    same = b"same\n" * 100
    change = [Splice(250, b"same\n", b"same\nsame\n")]
    assert text_anchors(BytesContent(spliced(same, change)), inverse(change)) is None


@pytest.mark.parametrize(
    ("old", "new", "now"),
    [
        (b"a\nb\n", b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb", b"a\nb\nmore\n"),
        (b"a\r\nb\r\n", b"a\r\nb", b"a\r\nb\r\n"),
        (b"a\nb\n", b"a\nB", b"a\nB\n"),
        (b"a\nb\n", b"a", b"a\nc"),
        (b"a\nb\n", b"a\n", b"a\nb\n"),
        (b"a\nb", b"a", b"a\nb\n"),
        (b"a\nb\n", b"b\n", b"a\nb\n"),
    ],
)
def test_what_somebody_put_back_at_an_end_of_the_text_is_not_put_back_again(old, new, now):
    assert placed(new, trimmed(new, old), now) is None


def test_what_was_at_an_end_of_the_text_comes_back_before_what_was_typed_there():
    for old, new, typed in ((b"a\nb\n", b"a\n", b"c\n"), (b"a\nb\n", b"a\n", b"\nc\n"), (b"a\nb", b"a", b"\nc\n")):
        assert placed(new, trimmed(new, old), new + typed) == old + typed
    assert placed(b"b\n", trimmed(b"b\n", b"a\nb\n"), b"c\nb\n") == b"c\na\nb\n"


def test_all_spans_of_a_change_go_together():
    change = [replaced(LINES, 10, b"one\n"), replaced(LINES, 30, b"other\n")]
    data = b"".join(LINES)
    after = spliced(data, change)
    assert placed(after, inverse(change), b"typed\n" + after) == b"typed\n" + data
    assert placed(after, inverse(change), after.replace(b"other", b"theirs")) is None


def test_between_the_parts_of_a_whole_text_that_is_written_somebody_goes_on():
    data = b"".join(LINES)
    wanted = data.replace(b"line 5 ", b"LINE 5 ").replace(b"line 35 of", b"line 35\nof")
    change = trimmed(data, wanted)
    assert len(change) == 1
    typed = (b"line 20 of", b"typed\nline 20 of")
    assert placed(data, change, data.replace(*typed)) == wanted.replace(*typed)
    assert placed(wanted, inverse(change), wanted.replace(*typed)) == data.replace(*typed)


def test_parts_that_are_like_another_stay_together():
    data = b"same\n" * 30 + b"".join(LINES) + b"same\n" * 30
    change = trimmed(data, data.replace(b"same\n", b"SAME\n"))
    assert placed(data, change, b"typed\n" + data) == b"typed\n" + data.replace(b"same\n", b"SAME\n")


def test_some_hunks_of_a_change_are_placed_where_another_one_no_longer_fits():
    data = b"".join(LINES)
    change = [replaced(LINES, 10, b"one\n"), replaced(LINES, 30, b"other\n")]
    anchors = text_anchors(BytesContent(data), change, [14, 34])
    now = data.replace(LINES[10], b"theirs\n")
    assert anchors.placed(BytesContent(now)) is None
    assert spliced(now, anchors.of_hunks({1}).placed(BytesContent(now))) == now.replace(LINES[30], b"other\n")
    assert text_anchors(BytesContent(data), change).of_hunks({1}) is None
