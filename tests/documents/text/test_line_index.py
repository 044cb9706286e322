from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.fingerprint import fingerprint_of
from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.text import line_index
from jupyter_fstools.documents.text.line_index import BLOCK_BYTES, LineIndex
from jupyter_fstools.errors import Conflict

from .crumbs import Crumbs

sizes = st.lists(st.integers(1, 7), min_size=1, max_size=9)
data = st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"\xe2\x80\xa8"]), max_size=80).map(b"".join)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(line_index, "BLOCK_BYTES", 8)


@given(data, sizes)
def test_where_chunks_end_makes_no_difference(data, sizes):
    whole, crumbs = LineIndex(len(data)), LineIndex(len(data))
    whole.scan_all(BytesContent(data))
    crumbs.scan_all(Crumbs(data, sizes))
    for fact in ("total_lines", "eol", "final_newline", "mostly_crlf", "fingerprint", "complete"):
        assert getattr(crumbs, fact) == getattr(whole, fact)


@pytest.mark.parametrize("sizes", [[1], [3, 5], [7], [8], [40], [100]])
def test_lines_begin_where_they_begin(small_blocks, sizes):
    lines = [b"a" * (number % 11) + b"\n" for number in range(40)]
    content = Crumbs(b"".join(lines), sizes)
    starts = [0, *accumulate(map(len, lines))][:-1]
    for line, start in enumerate(starts, 1):
        index = LineIndex(content.size)
        assert index.line_start(content, line) == start
        assert index.line_at(content, start) == line
        assert index.line_at(content, start + len(lines[line - 1]) - 1) == line
    assert LineIndex(content.size).line_start(content, 41) is None


@pytest.mark.parametrize(
    ("data", "total", "eol", "final"),
    [
        (b"", 0, "none", False),
        (b"\n", 1, "lf", True),
        (b"  ", 1, "none", False),
        (b"a\nb", 2, "lf", False),
        (b"a\nb\n", 2, "lf", True),
        (b"a\r\nb\r\n", 2, "crlf", True),
        (b"a\rb\rc", 1, "cr", False),
        (b"a\r\nb\nc\r\n", 3, "mixed", True),
        (b"a\rb\n", 1, "mixed", True),
        (b"a\xe2\x80\xa8b\x0bc\x0cd\x1ce\xc2\x85f", 1, "none", False),
    ],
)
def test_only_a_newline_ends_a_line(data, total, eol, final):
    """Totals, line endings and the final newline."""
    index = LineIndex(len(data))
    index.scan_all(BytesContent(data))
    assert (index.total_lines, index.eol, index.final_newline) == (total, eol, final)
    assert index.complete and index.fingerprint == fingerprint_of([data])


def test_only_as_much_is_looked_at_as_a_line_needs():
    content = Crumbs(b"x\n" * (4 * BLOCK_BYTES), [BLOCK_BYTES])
    index = LineIndex(content.size)
    assert index.line_start(content, 100) == 198
    assert index.scanned == BLOCK_BYTES and not index.complete
    index.scan_all(content)
    assert index.complete and index.total_lines == 4 * BLOCK_BYTES


@given(data, sizes, st.integers(0, 80))
def test_what_was_counted_is_packed_and_goes_on_where_it_was(data, sizes, scanned):
    whole, begun = LineIndex(len(data)), LineIndex(len(data))
    whole.scan_all(BytesContent(data))
    begun.count(data[:scanned])
    index = LineIndex.unpacked(begun.packed(), len(data))
    assert index.scanned == min(scanned, len(data))
    for chunk in Crumbs(data, sizes).chunks(index.scanned):
        index.count(chunk)
    for fact in ("total_lines", "eol", "final_newline", "mostly_crlf", "complete"):
        assert getattr(index, fact) == getattr(whole, fact)
    assert LineIndex.unpacked(begun.packed(), len(data) + 1) is None


@pytest.mark.parametrize("cut", [0, 8, 41, 48, 50])
def test_what_is_no_packed_index_is_none(cut):
    index = LineIndex(3 * BLOCK_BYTES)
    index.count(b"x\n" * BLOCK_BYTES)
    assert LineIndex.unpacked(index.packed(), index.size).scanned == 2 * BLOCK_BYTES
    assert LineIndex.unpacked(index.packed()[:cut], index.size) is None


def test_the_number_of_a_line_takes_no_look_at_what_follows_it():
    content = BytesContent(b"a\n" * BLOCK_BYTES)
    index = LineIndex(content.size)
    assert index.line_at(content, BLOCK_BYTES + 10) == BLOCK_BYTES // 2 + 6
    assert index.scanned == BLOCK_BYTES


def test_a_large_content_is_fingerprinted_beside_the_counting(monkeypatch):
    monkeypatch.setattr(line_index, "_PARALLEL_BYTES", 10)
    content = Crumbs(b"a\r\nb\n" * 50, [3, 7, 11])
    index = LineIndex(content.size)
    index.scan_all(content)
    assert index.total_lines == 100 and index.fingerprint == fingerprint_of([content.data])


def test_a_content_that_is_another_by_now_is_refused():
    index = LineIndex(6)
    index.scan_all(BytesContent(b"a\nb\nc\n"))
    with pytest.raises(Conflict):
        index.line_start(BytesContent(b"abcdef"), 3)
