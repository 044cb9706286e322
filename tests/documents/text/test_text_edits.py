"""Edits are exact: the text they replace, the text they leave alone, and their refusals."""

from __future__ import annotations

import codecs
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import Splice, inverse, spliced
from jupyter_fstools.documents.text import edited_text
from jupyter_fstools.documents.text import edits as text_edits
from jupyter_fstools.documents.text.edits import TextEdit, apply_edits
from jupyter_fstools.documents.text.encoding import TextEncoding
from jupyter_fstools.documents.text.utf8_view import Utf8View
from jupyter_fstools.errors import Ambiguous, EncodingRefused, FsToolsError, Invalid, NoMatch, NoOp, TooLarge

UTF_8 = TextEncoding("utf-8")
ENCODINGS = {
    UTF_8: "é語😀",
    TextEncoding("utf-8", codecs.BOM_UTF8): "é語😀",
    TextEncoding("utf-16-le", codecs.BOM_UTF16_LE): "é語😀\u010a\u0a0a",
    TextEncoding("utf-16-be", codecs.BOM_UTF16_BE): "é語😀\u010a\u0a0a",
    TextEncoding("utf-32-le", codecs.BOM_UTF32_LE): "é語😀\u010a",
    TextEncoding("utf-32-be", codecs.BOM_UTF32_BE): "é語😀\u010a",
    TextEncoding("latin-1"): "éü\x85",
    TextEncoding("cp1252"): "é€“",
    TextEncoding("shift_jis"): "語表ｱ",
    TextEncoding("gb18030"): "é語😀€",
    TextEncoding("cp037"): "éü",
}
LETTERS = ["a", "b", "c", "\n", "\r\n", "\r"]


class InChunks(BytesContent):
    """A content that comes in chunks of a few bytes."""

    def chunks(self, start: int = 0, end: int | None = None):
        end = len(self.data) if end is None else end
        for at in range(start, end, 3):
            yield self.data[at : min(end, at + 3)]


def edited(data: bytes, *edits: TextEdit, encoding: TextEncoding = UTF_8) -> bytes:
    content = BytesContent(data)
    splices = apply_edits(Utf8View(content, encoding), edits).splices
    return spliced(data, splices)


def refusal(code: type[FsToolsError], data: bytes, *edits: TextEdit, encoding: TextEncoding = UTF_8) -> FsToolsError:
    with pytest.raises(code) as caught:
        edited(data, *edits, encoding=encoding)
    return caught.value


@st.composite
def files_and_edits(draw: st.DrawFn) -> tuple[TextEncoding, str, list[TextEdit]]:
    """An encoding, a text in it, and edits of pieces of the text."""
    encoding = draw(st.sampled_from(list(ENCODINGS)))
    letters = st.sampled_from([*LETTERS, *ENCODINGS[encoding]])
    text = draw(st.lists(letters, min_size=1, max_size=25).map("".join))
    edits = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text) - 1))
        old = text[start : draw(st.integers(start + 1, len(text)))]
        edits.append(TextEdit(old, draw(st.lists(letters, max_size=6).map("".join)), draw(st.booleans())))
    return encoding, text, edits


@given(files_and_edits(), st.sampled_from([BytesContent, InChunks]))
def test_edits_and_their_inverse_lead_back_byte_for_byte(case, kind):
    """Any text, line endings, encoding, and batch of edits."""
    encoding, text, edits = case
    before = encoding.bom + encoding.encode(text)
    try:
        outcome = apply_edits(Utf8View(kind(before), encoding), edits)
    except (Ambiguous, NoMatch, NoOp):
        return
    for splice in outcome.splices:
        assert before[splice.offset : splice.end] == splice.removed
    after = spliced(before, outcome.splices)
    assert after.startswith(encoding.bom)
    assert after.decode(encoding.codec) is not None
    assert spliced(after, inverse(outcome.splices)) == before


@given(files_and_edits())
def test_only_the_quoted_text_is_replaced(case):
    """The old string is removed and the new one inserted, apart from line endings; the rest stays."""
    encoding, text, (edit, *_) = case
    before = encoding.bom + encoding.encode(text)
    try:
        outcome = apply_edits(Utf8View(BytesContent(before), encoding), [edit._replace(replace_all=False)])
    except (Ambiguous, NoMatch, NoOp):
        return
    for splice in outcome.splices:
        assert splice.removed.decode(encoding.codec).replace("\r\n", "\n") == edit.old.replace("\r\n", "\n")
        if "\r" not in edit.new.replace("\r\n", ""):
            assert splice.inserted.decode(encoding.codec).replace("\r\n", "\n") == edit.new.replace("\r\n", "\n")
    assert len(outcome.splices) <= 1


def reference(text: str, edits: list[TextEdit]) -> str | type[FsToolsError]:
    for old, new, replace_all in edits:
        if old == new:
            return NoOp
        places = [at for at in range(len(text)) if text.startswith(old, at)]
        if not places:
            return NoMatch
        if len(places) > 1 and not replace_all:
            return Ambiguous
        text = text.replace(old, new)
    return text


EDITS = st.builds(TextEdit, st.text("ab\n", min_size=1, max_size=3), st.text("abc\n", max_size=4), st.booleans())


@given(st.text("abé\n", max_size=20), st.lists(EDITS, min_size=1, max_size=4))
def test_edits_in_order_are_what_str_replace_makes_of_them(text, edits):
    """For a file of plain newlines."""
    expected = reference(text, edits)
    if isinstance(expected, str):
        assert edited(text.encode(), *edits).decode() == expected
    else:
        refusal(expected, text.encode(), *edits)


def test_each_place_of_replace_all_keeps_its_own_line_ending():
    """A CR at the end of a new string is dropped where a line ending follows the place, and nowhere else."""
    half = TextEdit("x", "y\r", replace_all=True)
    assert edited(b"x\nx b\nx", half) == b"y\ny\r b\ny\r"
    assert edited(b"x b\r\nx\r\n", half) == b"y\r b\r\ny\r\n"
    mark = TextEdit("x", "\ufeffy", replace_all=True)
    marked = TextEncoding("utf-8", codecs.BOM_UTF8)
    assert edited("\ufeffx x\n".encode(), mark, encoding=marked).decode() == "\ufeffy \ufeffy\n"


@pytest.mark.parametrize("text", ["$&", "$1", "$`", "$'", "$$", r"\1", r"\g<0>", r"\n", "%s", "{0}", "&", "\\"])
def test_a_new_string_means_itself(text):
    assert edited(b"(a)", TextEdit("a", text)) == f"({text})".encode()


@pytest.mark.parametrize("text", ["[0] + (x * y)", "a.c", "^a$", "a|b", r"\d", "(?i)a", "*", "a{2}"])
def test_an_old_string_means_itself(text):
    assert edited(f"abc 7 {text} aa".encode(), TextEdit(text, "!")) == b"abc 7 ! aa"
    refusal(NoMatch, b"abc 7 aab\n", TextEdit(re.escape(text) + ".", "!"))


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        (b"a\r\nb\r\n", "a\nb\n", "x\ny\nz\n", b"x\r\ny\r\nz\r\n"),
        (b"a\nb\n", "a\r\nb\r\n", "x\r\ny\r\n", b"x\ny\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb\nc", "x\ny\r\nz", b"x\r\ny\r\nz\r\n"),
        (b"a\nb\nc\n", "a\r\nb\nc", "x\ny\r\nz", b"x\ny\nz\n"),
        (b"a\r\nb\nc\r\n", "b", "B", b"a\r\nB\nc\r\n"),
        (b"a\r\nb\nc\r\n", "b", "B\nX", b"a\r\nB\nX\nc\r\n"),
        (b"a\r\nb\nc\r\n", "a", "A\nX", b"A\r\nX\r\nb\nc\r\n"),
        (b"a\r\nb\nc\r\n", "a\nb\n", "A\nB\nC\n", b"A\r\nB\nC\nc\r\n"),
        (b"a\nb\r\nc", "c", "c\nd", b"a\nb\r\nc\r\nd"),
        (b"a\r\nline\r\nb\r\n", "line\n", "", b"a\r\nb\r\n"),
        (b"a\r\nb\r\n", "\nb", "", b"a\r\n"),
        (b"a\r\n", "a", "b\r\n", b"b\r\n\r\n"),
        (b"a\r\nb\r\n", "a\r\n", "x\r\r\n", b"x\r\nb\r\n"),
        (b"a\r\nb\r\n", "a", "x\r", b"x\r\nb\r\n"),
        (b"a\nb\n", "a", "x\r", b"x\nb\n"),
        (b"a\rb\rc", "b", "x\ry", b"a\rx\ry\rc"),
        (b"a\r\r\nb\r\n", "a\r\r\n", "c\r\r\n", b"c\r\r\nb\r\n"),
        (b"ab", "b", "b\n", b"ab\n"),
        (b"ab\n", "b\n", "b", b"ab"),
        (b"x\n", "x", "\n\nx  \n", b"\n\nx  \n\n"),
        (b"x\n", "x\n", "", b""),
    ],
)
def test_the_line_endings_of_the_file_win(data, old, new, expected):
    assert edited(data, TextEdit(old, new)) == expected


def test_the_endings_of_the_file_win_though_an_earlier_edit_has_removed_them_all():
    assert edited(b"x\r\ny", TextEdit("x\ny", "x y"), TextEdit("x y", "x\ny2")) == b"x\r\ny2"
    assert edited(b"x\ny", TextEdit("x\ny", "x y"), TextEdit("x y", "x\r\ny2")) == b"x\ny2"


def test_each_place_of_a_mixed_file_gets_the_ending_of_its_line():
    """For replace_all too, near and far."""
    data = b"".join([b"a,\r\n", b"a,\n"][number % 2] for number in range(20_000)) * 3
    expected = data.replace(b",\r\n", b"\r\n;\r\n").replace(b",\n", b"\n;\n")
    assert edited(data, TextEdit(",", "\n;", replace_all=True)) == expected


def test_a_mixed_file_of_very_long_lines_is_edited_promptly():
    data = b"\r\n\n" + b"a," * 100_000
    assert edited(data, TextEdit(",", ",\n", replace_all=True)).count(b",\n") == 100_000


def test_half_a_line_ending_is_never_matched():
    hint = refusal(NoMatch, b"a\r\nb\r\n", TextEdit("a\r", "x\r")).hint
    assert "half of a line ending" in hint
    refusal(NoMatch, b"a\r\nb\r\n", TextEdit("\r", "", replace_all=True))


def test_all_places_of_a_deletion_go_whatever_follows_them():
    assert edited(b"x;\ny; z;", TextEdit(";", "", replace_all=True)) == b"x\ny z"


def test_replace_all_goes_from_left_to_right_and_reads_nothing_twice():
    outcome = apply_edits(Utf8View(BytesContent(b"aaa"), UTF_8), [TextEdit("a", "ab", replace_all=True)])
    assert outcome.replacements == [3]
    assert edited(b"aaa", TextEdit("aa", "b", replace_all=True)) == b"ba"
    assert edited(b"foo foo", TextEdit("foo", "foofoo", replace_all=True)) == b"foofoo foofoo"


def test_several_places_are_refused_with_their_lines():
    error = refusal(Ambiguous, b"x\n" * 9, TextEdit("x", "y"))
    assert error.message.endswith("9 times, at lines 1, 2, 3, 4, 5 + 4 more")
    assert error.details == {"count": 9, "lines": [1, 2, 3, 4, 5]}
    many = refusal(Ambiguous, b"x\n" * 20_000, TextEdit("x", "y"))
    assert many.message.endswith("at least 10000 times, at lines 1, 2, 3, 4, 5 and further on")
    assert refusal(Ambiguous, b"\naaa", TextEdit("aa", "b")).details == {"count": 2, "lines": [2, 2]}


def test_equal_strings_are_refused():
    refusal(NoOp, b"a", TextEdit("a", "a"))
    refusal(NoOp, b"a\r\n", TextEdit("a\r\n", "a\n"))
    for data, old, new in [
        (b"a\nb\n", "a", "a\r"),
        (b"a\r\nb\r\n", "a", "a\r"),
        (b"a\nb\n", "a\n", "a\r\r\n"),
        (codecs.BOM_UTF8 + b"a\n", "a", "\ufeffa"),
    ]:
        encoding = TextEncoding("utf-8", codecs.BOM_UTF8) if data[:1] == b"\xef" else UTF_8
        refusal(NoOp, data, TextEdit(old, new), encoding=encoding)
        batch = [TextEdit("a", "c"), TextEdit("c", "a"), TextEdit(old, new)]
        error = refusal(NoOp, data, *batch, encoding=encoding)
        how = "are the same text in this file" if encoding.bom else "differ only in line endings"
        assert error.message == f"edit 3 of 3: old_string and new_string {how}"
    refusal(Invalid, b"a", TextEdit("", ""))
    refusal(Invalid, b"a", TextEdit("", "b", replace_all=True))
    refusal(Invalid, b"a")


def test_a_batch_is_sequential_and_all_or_nothing():
    assert edited(b"one", TextEdit("one", "CHANGED"), TextEdit("CHANGED", "FINAL")) == b"FINAL"
    assert edited(b"abc", TextEdit("b", "xyz"), TextEdit("axy", "-"), TextEdit("zc", "+")) == b"-+"
    error = refusal(Ambiguous, b"foo bar", TextEdit("foo", "bar"), TextEdit("bar", "qux"))
    assert error.message.startswith("edit 2 of 2: ")
    assert apply_edits(Utf8View(BytesContent(b"a"), UTF_8), [TextEdit("a", "b"), TextEdit("b", "a")]).splices == []
    twice = refusal(NoMatch, b"a c", TextEdit("a", "b"), TextEdit("a", "b"))
    assert "already applied by edit 1" in twice.hint and twice.details == {"already_applied_by": 1, "edit": 1}


def test_line_numbers_follow_the_edits_before():
    error = refusal(Ambiguous, b"a\nx\nx\n", TextEdit("a", "1\n2\n3"), TextEdit("x", "y"))
    assert error.details["lines"] == [4, 5]


@pytest.mark.parametrize("bom", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE], ids=["utf-8", "utf-16"])
def test_a_byte_order_mark_is_kept_and_may_be_quoted(bom):
    encoding = TextEncoding("utf-8" if bom == codecs.BOM_UTF8 else "utf-16-le", bom)
    data = bom + encoding.encode("a\nb\na\n")
    for edit in (TextEdit("a\nb", "A\nb"), TextEdit("\ufeffa", "\ufeffA"), TextEdit("\ufeffa", "A")):
        assert edited(data, edit, encoding=encoding) == bom + encoding.encode("A\nb\na\n")
    assert edited(data, TextEdit("a\nb", "\ufeffA\nb"), encoding=encoding) == bom + encoding.encode("A\nb\na\n")


def test_a_zero_width_no_break_space_inside_a_file_is_text():
    encoding = TextEncoding("utf-8", codecs.BOM_UTF8)
    data = codecs.BOM_UTF8 + "a\n\ufeffb\n".encode()
    assert edited(data, TextEdit("\ufeffb", "c"), encoding=encoding) == codecs.BOM_UTF8 + b"a\nc\n"
    assert edited("a\ufeff".encode(), TextEdit("\ufeff", "")) == b"a"


@pytest.mark.parametrize("codec", ["cp1252", "latin-1", "ascii", "shift_jis"])
def test_a_character_that_the_encoding_lacks_is_refused(codec):
    error = refusal(EncodingRefused, b"a", TextEdit("a", "→😀"), encoding=TextEncoding(codec))
    assert re.search("U\\+(2192|1F600)", error.message)


def test_a_lone_surrogate_is_refused_in_either_string():
    refusal(EncodingRefused, b"a", TextEdit("a", "\ud83d"))
    refusal(EncodingRefused, b"a", TextEdit("\ud83d", "a"))


def test_a_nul_is_not_written():
    assert refusal(Invalid, b"a", TextEdit("a", "b\0")).details["field"] == "new_string"


def test_half_of_what_an_encoding_writes_as_one_character_is_not_cut_out():
    """Two characters can be one code."""
    encoding, data = TextEncoding("big5hkscs"), "a\u00ca\u0304b".encode("big5hkscs")
    refusal(EncodingRefused, data, TextEdit("\u00ca", "x"), encoding=encoding)
    assert edited(data, TextEdit("\u00ca\u0304", "x"), encoding=encoding) == b"axb"


@pytest.mark.parametrize(
    ("codec", "before"),
    [
        ("euc_jp", b"\x8f\xa2\xb7"),
        ("euc_kr", b"\xa4\xd4\xa4\xa1\xa4\xbf\xa4\xd4"),
        ("euc_jisx0213", b"\x8f\xcd\xf7"),
        ("euc_jis_2004", b"\x8f\xa2\xaf"),
        ("shift_jis_2004", b"\x85\x7b\x86\x7b"),
    ],
)
@pytest.mark.parametrize("kind", [BytesContent, InChunks])
def test_a_code_that_the_encoding_would_write_otherwise_moves_no_edit(codec, before, kind):
    """The file's code may be longer or shorter than the one Python writes for the same text, or Python has none."""
    content = kind(before * 3 + b" xxxxxxxxabc abc" + before)
    for edit in TextEdit("xabc", "xABC"), TextEdit("abc", "ABC", replace_all=True):
        splices = apply_edits(Utf8View(content, TextEncoding(codec)), [edit]).splices
        after = spliced(content.data, splices)
        assert after == content.data.replace(edit.old.encode(), edit.new.encode())


def test_an_undecodable_byte_anywhere_refuses_the_edit():
    refusal(EncodingRefused, b"a\n\xff\n", TextEdit("a", "b"))


def test_a_placeholder_is_refused_unless_the_file_has_it():
    line = "# ... rest of the code unchanged ..."
    error = refusal(Invalid, b"a\nb\n", TextEdit("a", f"x\n{line}"))
    assert line in error.message and error.details["field"] == "new_string"
    assert edited(f"q\n{line}\n".encode(), TextEdit("q", f"x\n{line}")).startswith(f"x\n{line}".encode())
    other = "# ... existing imports ..."
    assert other in refusal(Invalid, f"q\n{line}\n".encode(), TextEdit("q", f"{line}\n{other}")).message


def test_too_many_places_are_refused(monkeypatch):
    monkeypatch.setattr(text_edits, "MOST_REPLACEMENTS", 3)
    assert refusal(TooLarge, b"aaaa", TextEdit("a", "b", replace_all=True)).details["limit"] == 3
    assert edited(b"aaa", TextEdit("a", "b", replace_all=True)) == b"bbb"


PATHOLOGICAL = {
    "one letter": (b"a" * 3_000_000, "a" * 1_000_000),
    "one letter too many": (b"a" * 1_000_000, "a" * 1_000_001),
    "two letters": (b"ab" * 1_000_000, "ab" * 500_000 + "c"),
    "newlines": (b"\r\n" * 1_000_000, "\n" * 500_000 + "x"),
    "newlines of both kinds": (b"\r\n\n" * 500_000, "\n" * 500_000 + "x"),
    "carriage returns": (b"\r" * 1_000_000, "\r" * 500_000 + "x"),
    "short lines": (b"a\n" * 1_000_000, "a\n" * 9_999 + "b"),
    "short indented lines": (b" a\n" * 1_000_000, "a\n" * 9_000 + " b"),
    "blank lines": (b"a\n\n" * 500_000, "a\n" * 9_000 + "b"),
    "boxes": ("─".encode() * 1_000_000, "─" * 19_000 + "x"),
}


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_a_pathological_old_string_is_refused_promptly(name):
    data, old = PATHOLOGICAL[name]
    with pytest.raises((NoMatch, Ambiguous)):
        edited(data, TextEdit(old, "something else"))


def test_a_new_string_of_carriage_returns_is_written_promptly():
    assert edited(b"a\r\nb\r\n", TextEdit("b", "\r" * 1_000_000 + "c")) == b"a\r\n" + b"\r" * 1_000_000 + b"c\r\n"


def test_a_text_that_is_not_in_50_megabytes_is_refused_with_what_is_near():
    line = b"    value = compute(something, other)\n"
    data = b"x = 1\nname = thing(1, 2)\n" + line * (50_000_000 // len(line))
    error = refusal(NoMatch, data, TextEdit("name = thing(1, 3)\n", "y"))
    assert error.details["nearest_line"] == 2


def test_many_edits_of_many_places_cost_little():
    text = "".join(f"<{number}>" for number in range(500)) + "," * 5_000
    edits = [TextEdit(",", ";", replace_all=True), *[TextEdit(f"<{n}>", f"[{n}]") for n in range(40)]]
    assert edited(text.encode(), *edits).startswith(b"[0][1][2]")


def test_neighbouring_places_become_one_splice():
    outcome = apply_edits(Utf8View(BytesContent(b"a\r\n" * 200_000 + b"x"), UTF_8), [TextEdit("a\n", "b\nc\n", True)])
    assert outcome.splices == [Splice(0, b"a\r\n" * 200_000, b"b\r\nc\r\n" * 200_000)]


def test_splices_are_those_of_the_match_alone():
    outcome = apply_edits(
        Utf8View(BytesContent("ä\nb\n".encode("utf-16-le")), TextEncoding("utf-16-le")), [TextEdit("b", "c")]
    )
    assert outcome.splices == [Splice(4, b"b\0", b"c\0")]


def test_each_of_many_edits_touches_a_few_pieces_of_a_text(monkeypatch):
    """A pass over the results of all earlier edits, for each of 3,000 edits, took minutes."""
    touched, splice = [], edited_text._spliced

    def counted(pieces, *given):
        touched.append(len(pieces))
        return splice(pieces, *given)

    monkeypatch.setattr(edited_text, "_spliced", counted)
    monkeypatch.setattr(edited_text.EditedText, "_runs", None)
    edits = [TextEdit(f"line {number};", f"Line {number};\nnew") for number in range(300)]
    assert edited("".join(f"line {n};\n" for n in range(300)).encode(), *edits).count(b"new") == 300
    assert len(touched) == 300 and max(touched) <= 3


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_each_of_many_edits_goes_through_a_large_text_once(monkeypatch, ending):
    class Counted(BytesContent):
        passes = 0

        def chunks(self, start: int = 0, end: int | None = None):
            self.passes += 1
            return super().chunks(start, end)

    monkeypatch.setattr("jupyter_fstools.documents.text.edited_text._WHOLE_BYTES", 0)
    content = Counted("".join(f"line {number}{ending}" for number in range(100)).encode())
    edits = [TextEdit(f"line {number}\n", f"Line {number}\n") for number in range(0, 100, 5)]
    splices = apply_edits(Utf8View(content, UTF_8), edits).splices
    assert content.passes <= len(edits) + 3
    assert spliced(content.data, splices).count(b"Line") == len(edits)
