import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.text.encoding import encoding_of, known_encoding
from jupyter_fstools.documents.text.line_index import LineIndex
from jupyter_fstools.documents.text.window import CutLine, WindowLimits, read_window, text_index
from jupyter_fstools.errors import Binary, EncodingRefused, OutOfRange

from .crumbs import Crumbs

MANY = 10**9
ALPHABET = {
    "latin-1": "ab\r\né\x85",
    "cp1252": "ab\r\n€",
    "shift_jis": "ab\r\n日ﾊ",
    "gb18030": "ab\r\n日😀\u2028",
}
CODECS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp037", *ALPHABET)
sizes = st.lists(st.integers(1, 7), min_size=1, max_size=9)


def window(content, codec="utf-8", *, index=None, first=1, lines=MANY, max_bytes=MANY, max_line=MANY, column=1):
    content = BytesContent(content) if isinstance(content, bytes) else content
    encoding = encoding_of(content, "a.txt", codec)
    wanted = WindowLimits(first, lines, max_bytes, max_line, column)
    return read_window(content, encoding, index or LineIndex(content.size), wanted)


def pages(content, codec, **limits):
    """Every window, one after the other, and the rest of each cut line from its column on."""
    index = LineIndex(content.size)
    first, column = 1, 1
    while True:
        page = window(content, codec, index=index, first=first, column=column, **limits)
        yield page
        last = page.cuts[-1] if page.cuts and page.cuts[-1].line == page.last else None
        if last is not None:
            assert last.shown > 0
            first, column = last.line, last.column + last.shown
        elif page.next_line is not None:
            assert page.next_line > first
            first, column = page.next_line, 1
        else:
            return


@st.composite
def files(draw):
    codec = draw(st.sampled_from(CODECS))
    letters = ALPHABET.get(codec, "ab\r\n\u2028\x85\x0b\x0c\x1cé😀" if codec != "cp037" else "ab\r\né")
    text = "a" + draw(st.text(st.sampled_from(letters + "\n\n"), max_size=80))
    data = (b"\xfe\xff" if codec == "utf-16-be" else b"") + text.encode(codec)
    return codec, text, Crumbs(data, draw(sizes))


@given(files(), st.integers(1, 5), st.integers(1, 30))
@example(("shift_jis", "a日\na", Crumbs("a日\na".encode("shift_jis"), [9])), 2, 3)
def test_windows_one_after_the_other_are_the_file(file, lines, max_bytes):
    """Nothing is lost and nothing is shown twice, whatever ends a window."""
    codec, text, content = file
    assert "".join(page.text for page in pages(content, codec, lines=lines, max_bytes=max_bytes)) == text


@given(files(), st.integers(1, 6), st.integers(1, 30))
def test_a_long_line_is_paged_to_its_end(file, max_line, max_bytes):
    """Line by line, each from the column where the one before was cut."""
    codec, text, content = file
    shown = pages(content, codec, lines=1, max_line=max_line, max_bytes=max_bytes)
    assert "".join(page.text for page in shown) == text


@given(files(), st.integers(1, 5), st.integers(1, 6), st.integers(1, 30))
def test_a_window_shows_what_it_says(file, lines, max_line, max_bytes):
    """Rows, cuts and text agree with the file."""
    codec, text, content = file
    rows = text.split("\n")
    rows = [row.removesuffix("\r") for row in rows[:-1]] + rows[-1:]
    for first in range(1, len(rows) + bool(rows[-1])):
        page = window(content, codec, first=first, lines=lines, max_line=max_line, max_bytes=max_bytes)
        cuts = {cut.line: cut for cut in page.cuts}
        for number, row in enumerate(page.rows, first):
            whole = rows[number - 1]
            assert row == whole[: cuts[number].shown if number in cuts else None]
            assert number not in cuts or cuts[number].omitted == len(whole) - len(row) > 0
        assert len(page.rows) <= lines and max(map(len, page.rows)) <= max_line
        assert sum(len(row.encode()) for row in page.rows) <= max(max_bytes, 4)
        assert page.next_line == (page.last + 1 if page.last < len(rows) - (not rows[-1]) else None)


@given(files(), st.integers(1, 6), st.integers(1, 30))
def test_where_chunks_end_makes_no_difference(file, max_line, max_bytes):
    codec, _, content = file
    limits = {"max_line": max_line, "max_bytes": max_bytes, "column": 1}
    assert window(content, codec, **limits) == window(BytesContent(content.data), codec, **limits)


@given(files())
def test_what_is_counted_of_the_text_is_true_in_every_encoding(file):
    codec, text, content = file
    index = text_index(content, encoding_of(content, "a.txt", codec))
    expected = LineIndex(len(text.encode()))
    expected.count(text.encode())
    for fact in ("total_lines", "eol", "final_newline", "complete"):
        assert getattr(index, fact) == getattr(expected, fact)


def test_rows_have_no_terminators_and_the_text_keeps_them():
    page = window(b"a  \r\nb\rc\nd\r")
    assert page.rows == ["a  ", "b\rc", "d\r"] and page.text == "a  \r\nb\rc\nd\r"


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "cp037"])
@pytest.mark.parametrize(("text", "total"), [("a\nb\nc\n", 3), ("a\nb\nc", 3), ("a", 1), ("\n", 1), ("", 0)])
def test_a_line_past_the_end_is_refused_with_the_total(codec, text, total):
    for first in (total + 1, total + 2, 2**63 - 1):
        if first > 1:
            with pytest.raises(OutOfRange) as caught:
                window(text.encode(codec), codec, first=first)
            assert caught.value.details == {"total_lines": total}


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
@pytest.mark.parametrize(("text", "column"), [("", 2), ("\n", 2), ("abc\r\n", 4), ("abc", 2**63 - 1)])
def test_a_column_past_the_end_is_refused(codec, text, column):
    with pytest.raises(OutOfRange, match="column"):
        window(text.encode(codec), codec, column=column)
    if len(text) >= 3:
        assert window(text.encode(codec), codec, column=3).rows == ["c"]


def test_a_line_cut_amid_a_window_keeps_its_newline_and_one_that_ends_it_has_none():
    """The lines of the text stay separate, and pages of one line fit together."""
    page = window(b"abcdef\r\nx\nghijkl\n", max_line=4)
    assert page.rows == ["abcd", "x", "ghij"] and page.text == "abcd\r\nx\nghij"
    assert page.cuts == [CutLine(1, 1, 4, 2), CutLine(3, 1, 4, 2)]


@pytest.mark.parametrize(("cap", "rows", "capped"), [(6, 2, False), (5, 1, True), (3, 1, True), (9, 3, False)])
def test_the_cap_ends_a_window_after_a_whole_line(cap, rows, capped):
    """A window of exactly the cap is not capped; nor is one that ends at the caller's own number of lines."""
    page = window(b"ab\nde\ngh\n", lines=2 if rows == 2 else MANY, max_bytes=cap)
    assert (len(page.rows), page.capped) == (rows, capped)


@pytest.mark.parametrize("codec", ["utf-8", "latin-1", "utf-16", "gb18030"])
def test_the_cap_counts_bytes_of_utf_8_and_cuts_no_character(codec):
    page = window(("é" * 10).encode(codec), codec, max_bytes=5)
    assert page.rows == ["éé"] and page.cuts == [CutLine(1, 1, 2, 8)]
    page = window(("é\n" * 10).encode(codec), codec, max_bytes=7)
    assert page.text == "é\né\n" and page.capped and page.next_line == 3


@pytest.mark.parametrize("limits", [{}, {"max_line": 2}, {"column": 2}])
def test_a_nul_is_binary_where_the_window_holds_it(limits):
    data = b"ok\n" + b"x" * 9000 + b"\nb\0d\n"
    assert window(data, lines=2).rows[0] == "ok"
    with pytest.raises(Binary) as caught:
        window(data, first=3, **limits)
    assert caught.value.details["offset"] == data.index(b"\0")


@pytest.mark.parametrize("limits", [{}, {"max_line": 2}, {"column": 2}])
def test_bytes_that_do_not_decode_are_named_where_the_window_holds_them(limits):
    data = b"a\n" * 100 + b"caf\xe9\n"
    assert window(data, lines=100).next_line == 101
    with pytest.raises(EncodingRefused) as caught:
        window(data, first=101, **limits)
    assert caught.value.details["offset"] == 203


def test_a_window_of_many_lines_does_not_count_the_whole_file():
    content = Crumbs((b"x" * 9 + b"\n") * 50_000, [1 << 16])
    index = LineIndex(content.size)
    page = window(content, index=index, first=2, lines=MANY, max_bytes=100)
    assert len(page.rows) == 10 and page.capped and not index.complete


def test_an_empty_file_with_a_byte_order_mark_has_no_lines():
    for data in (b"", b"\xef\xbb\xbf", b"\xff\xfe"):
        page = window(data, None)
        assert page.rows == [] and page.last == 0 and page.next_line is None
    assert known_encoding("utf-8-sig").bom


@pytest.mark.parametrize(("codec", "before"), [("euc_jp", b"\x8f\xa2\xb7"), ("euc_jisx0213", b"\x8f\xcd\xf7")])
def test_a_nul_is_named_where_it_is_behind_a_code_that_python_writes_otherwise(codec, before):
    data = b"x" * 8192 + b"\n" + before * 3 + b"\0"
    with pytest.raises(Binary) as caught:
        window(data, codec, column=2)
    assert caught.value.details["offset"] == len(data) - 1
