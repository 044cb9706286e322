"""The diff of a file, from its splices, equals the diff of its texts, in every encoding."""

from __future__ import annotations

import codecs
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import Splice, trimmed
from jupyter_fstools.diffs.file_diff import unified
from jupyter_fstools.diffs.line_diff import MAX_ROWS
from jupyter_fstools.documents.text.diff import changed_lines, diff_of_changes, diff_of_creation, diff_of_splices
from jupyter_fstools.documents.text.encoding import TextEncoding

UTF_8 = TextEncoding("utf-8")
ENCODINGS = [
    UTF_8,
    TextEncoding("utf-8", codecs.BOM_UTF8),
    TextEncoding("utf-16-le", codecs.BOM_UTF16_LE),
    TextEncoding("utf-16-be", codecs.BOM_UTF16_BE),
    TextEncoding("utf-32-le", codecs.BOM_UTF32_LE),
    TextEncoding("gb18030"),
]
# U+010A, U+0A00 and U+0A0A have the byte of a newline; so have the halves of some neighbours.
TEXTS = st.lists(st.sampled_from(["a", "b", "\n", "\n", "\r\n", "\u010a", "\u0a05", "\u0a0a", "語", "😀"]), max_size=30)


def diff_between(old: str, new: str, encoding: TextEncoding = UTF_8):
    before, after = (encoding.bom + encoding.encode(text) for text in (old, new))
    return diff_of_splices(
        *("a.txt", "overwrite", BytesContent(before), trimmed(before, after), encoding),
        counted_in(before),
    )


def counted_in(data: bytes) -> Callable[[int], int]:
    return lambda offset: data.count(b"\n", 0, offset) + 1


def rows_of(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    else:
        lines[-1] += "\n\\ No newline at end of file"
    return [line.removesuffix("\r") for line in lines]


@given(TEXTS.map("".join), TEXTS.map("".join), st.sampled_from(ENCODINGS))
def test_the_rows_of_a_diff_are_the_lines_of_the_texts(old, new, encoding):
    """Also where a splice begins or ends inside a character."""
    diff = diff_between(old, new, encoding)
    before, after = rows_of(old), rows_of(new)
    rows = [row for hunk in diff.hunks for row in hunk.rows]
    assert [row.text for row in rows if row.old] == [before[row.old - 1] for row in rows if row.old]
    assert [row.text for row in rows if row.new] == [after[row.new - 1] for row in rows if row.new]
    assert diff.added - diff.removed == len(after) - len(before)
    assert (diff.added, diff.removed) == tuple(sum(row.kind == kind for row in rows) for kind in ("add", "remove"))


def test_a_lost_final_newline_is_a_visible_change():
    assert "\\ No newline at end of file" in unified(diff_between("a\n", "a"))


def test_a_line_cut_for_context_is_not_said_to_lack_its_newline():
    long = "x" * 100_000
    assert "No newline" not in unified(diff_between(f"a\n{long}\n", f"b\n{long}\n"), 10_000)


def test_the_diff_has_no_byte_order_mark():
    diff = diff_between("a\nb\n", "A\nb\n", TextEncoding("utf-8", codecs.BOM_UTF8))
    assert unified(diff) == "@@ -1,2 +1,2 @@\n-a\n+A\n b"


def test_a_diff_has_its_own_context_whatever_was_told_around_the_changes():
    data = "".join(f"{number}\n" for number in range(1, 21)).encode()
    splices = [Splice(data.index(b"10"), b"10", b"ten")]
    changes = list(changed_lines(BytesContent(data), splices, UTF_8, counted_in(data), context=5))
    (hunk,) = diff_of_changes("a.txt", "edit", changes, UTF_8).hunks
    assert (changes[0].old_start, len(changes[0].old), hunk.old_start, hunk.old_count) == (5, 11, 7, 7)


@pytest.mark.parametrize(("between", "hunks"), [(5, 1), (6, 1), (7, 2)])
def test_neighbouring_changes_share_a_hunk_as_in_a_unified_diff(between, hunks):
    data = b"a\n" + b"=\n" * between + b"z\n"
    splices = [Splice(0, b"a", b"A"), Splice(len(data) - 2, b"z", b"Z")]
    assert len(diff_of_splices("a", "edit", BytesContent(data), splices, UTF_8, counted_in(data)).hunks) == hunks


def test_a_diff_keeps_a_bounded_number_of_rows_and_whole_counts():
    diff = diff_of_creation("a", "create", b"x\n" * 300_000, UTF_8)
    assert diff.truncated and diff.added == 300_000
    assert sum(len(hunk.rows) for hunk in diff.hunks) == MAX_ROWS


def test_a_diff_with_just_as_many_rows_as_there_is_room_for_is_not_truncated():
    diff = diff_of_creation("a", "create", b"x\n" * MAX_ROWS, UTF_8)
    assert not diff.truncated and len(diff.hunks[0].rows) == MAX_ROWS


def test_what_follows_a_change_too_large_to_show_keeps_its_numbers():
    middle = b"m\n" * 60_000
    data = b"a\n" + middle + b"z\n"
    large = Splice(0, b"a\n", b"b\n" * (9 << 20))
    diff = diff_of_splices(
        *("a", "edit", BytesContent(data), [large, Splice(len(data) - 2, b"z", b"Z")], UTF_8),
        counted_in(data),
    )
    assert diff.truncated and (diff.added, diff.removed) == ((9 << 20) + 1, 2)
    assert diff.hunks[0].rows[-1].new == (9 << 20) + 60_001


def test_the_diff_of_a_deletion_is_that_of_the_creation_turned_round():
    diff = diff_of_creation("a", "delete", b"x\ny\n", UTF_8)
    assert unified(diff) == "@@ -1,2 +0,0 @@\n-x\n-y" and (diff.added, diff.removed) == (0, 2)


@pytest.mark.parametrize("most", [10, 60, 200])
def test_a_unified_diff_is_cut_after_whole_rows(most):
    diff = diff_between("".join(f"{n}\n" for n in range(50)), "".join(f"{n}!\n" for n in range(50)))
    text = unified(diff, most)
    assert text.endswith("[... 50 lines added and 50 removed in all]")
    assert len(text.rpartition("\n")[0].encode()) <= most
