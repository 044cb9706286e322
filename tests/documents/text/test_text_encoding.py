import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.text.encoding import TextEncoding, encoding_of, known_encoding
from jupyter_fstools.documents.text.utf8_view import Utf8View
from jupyter_fstools.errors import Binary, EncodingRefused, Invalid

from .crumbs import Crumbs

CODECS = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be", "latin-1", "cp1252", "shift_jis", "gb18030", "cp037")
SAMPLE = {"latin-1": "é\x85\xa0", "cp1252": "€é", "shift_jis": "日ﾊ", "gb18030": "日😀é\u2028", "cp037": "é"}
sizes = st.lists(st.integers(1, 7), min_size=1, max_size=9)


def found(data, path="a.txt", named=None):
    return encoding_of(BytesContent(data), path, named)


def viewed(data, encoding, sizes=(1 << 20,)):
    return b"".join(map(bytes, Utf8View(Crumbs(data, list(sizes)), encoding).chunks())).decode()


@st.composite
def encoded_texts(draw):
    codec = draw(st.sampled_from(CODECS))
    # Not at the beginning: there U+FEFF is a byte order mark.
    text = "a" + draw(st.text(st.sampled_from("ab\r\n" + SAMPLE.get(codec, "é\u2028\x85😀\ufeff\ufffe")), max_size=60))
    return codec, text, (b"" if codec != "utf-16-be" else b"\xfe\xff") + text.encode(codec)


@given(encoded_texts(), sizes)
def test_the_view_is_the_text_wherever_chunks_end(sample, sizes):
    codec, text, data = sample
    encoding = found(data, named=codec)
    assert viewed(data, encoding, sizes) == text
    assert encoding.bom + encoding.encode(text) == data


@given(encoded_texts(), sizes, st.data())
def test_a_place_in_the_view_is_a_place_in_the_file(sample, sizes, data_):
    codec, text, data = sample
    encoding = found(data, named=codec)
    cuts = sorted(data_.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    offsets = Utf8View(Crumbs(data, sizes), encoding).source_offsets([len(text[:cut].encode()) for cut in cuts])
    assert offsets == [len(encoding.bom) + len(encoding.encode(text[:cut])) for cut in cuts]


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"\xff\xfe\0\0", "utf-32-le"),
        (b"\0\0\xfe\xff", "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides(head, codec):
    """UTF-32 is not mistaken for UTF-16."""
    assert found(head + "aé\r\n".encode(codec)) == TextEncoding(codec, head)
    assert found(head + "a".encode(codec), named=codec) == TextEncoding(codec, head)


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        (b"cp1251", "cp1251"),
        (b"latin-1", "iso8859-1"),
        (b"utf-8-unix", "utf-8"),
        (b"latin-1-dos", "iso8859-1"),
        (b"utf-8-sig", "utf-8"),
        (b"utf-16", "utf-8"),
    ],
)
def test_a_python_file_names_its_encoding(name, codec):
    """In one of its first two lines, as PEP 263 has it; a UTF-16 or UTF-32 that is plainly not there is ignored."""
    assert found(b"# -*- coding: %b -*-\n" % name, "a.py") == TextEncoding(codec)
    assert found(b"#!/usr/bin/python\n# vim: set fileencoding=%b :\n" % name, "A.PYI") == TextEncoding(codec)
    assert found(b"# coding: %b\n" % name, "a.txt").codec == "utf-8"
    assert found(b"x = 1\n# coding: %b\n" % name, "a.py").codec == "utf-8"


def test_an_xml_file_names_its_encoding():
    assert found(b'<?xml version="1.0" encoding="cp1252"?>\n<a/>').codec == "cp1252"
    assert found(b"<?xml version='1.0' encoding='UTF-16'?>\n<a/>").codec == "utf-8"


def test_a_wrong_declaration_is_an_encoding_refusal_at_its_place():
    with pytest.raises(EncodingRefused) as caught:
        found(b"# coding: klingon\n", "a.py")
    with pytest.raises(EncodingRefused, match="is not written in it"):
        found(b"# coding: cp037\nx = 1\n", "a.py")
    assert caught.value.details["offset"] == 10 and "klingon" in caught.value.message and caught.value.hint


@pytest.mark.parametrize("name", ["klingon", "", " ", "\ud800", "a\0b", "x" * 100_000, "hex", "rot13", "utf-7", "idna"])
def test_a_name_that_is_no_encoding_for_text_is_invalid(name):
    with pytest.raises(Invalid) as caught:
        known_encoding(name)
    assert caught.value.details["field"] == "encoding" and len(caught.value.message) < 500


@pytest.mark.parametrize("name", ["utf8", "UTF_8", " utf-8 ", "U8"])
def test_an_encoding_has_many_names(name):
    assert known_encoding(name) == TextEncoding("utf-8")
    assert known_encoding("utf_8_sig") == known_encoding("UTF-8-SIG") == TextEncoding("utf-8", b"\xef\xbb\xbf")
    assert known_encoding("utf16") == known_encoding("UTF_16")


@pytest.mark.parametrize(
    ("data", "codec", "offset"),
    [
        (b"ab\xffcd", "utf-8", 2),
        (b"caf\xe9\n", "utf-8", 3),
        (b"a\xc0\xaf", "utf-8", 1),
        (b"a\xed\xa0\xbd\xed\xb8\x80", "utf-8", 1),
        (b"abc\xf0\x9f", "utf-8", 3),
        (b"a\x81", "cp1252", 1),
        (b"a\0\0\xd8b\0", "utf-16-le", 2),
        (b"a\0b", "utf-16-le", 2),
        (b"ab\x81", "shift_jis", 2),
        (b"caf\xe9", "ascii", 3),
    ],
)
@pytest.mark.parametrize("sizes", [[1], [2, 3], [1000]])
def test_bytes_that_do_not_decode_are_named(data, codec, offset, sizes):
    """Overlong forms and surrogates too."""
    with pytest.raises(EncodingRefused) as caught:
        viewed(data, TextEncoding(codec), sizes)
    assert caught.value.details["offset"] == offset
    assert f"offset {offset}" in caught.value.message
    assert ("latin-1" in caught.value.hint) == (b"\0" not in data)  # A text has no NUL.


def test_the_hint_names_what_would_decode():
    """It is a hint; nothing is guessed."""
    with pytest.raises(EncodingRefused) as caught:
        viewed("你好世界。欢迎".encode("gbk"), TextEncoding("utf-8"))
    assert '"gb18030"' in caught.value.hint


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"caf\xe9\n", {"latin-1", "cp1252", "cp1251"}),
        (b"a\x81\n", {"latin-1", "cp1251"}),
        (b"caf\xe9\n" + b"x" * 3000 + b"\x81\n", {"latin-1", "cp1251"}),
        (b"caf\xe9\n" * 900_000 + b"\x81\n", {"latin-1", "cp1252", "cp1251"}),
        (b"a\n" * 5_000_000 + b"\x83e\x83X\x83g\n", {"latin-1", "gb18030", "shift_jis", "cp1252", "cp1251"}),
        (b"a\n" * 5_000_000 + b"\x83\x80\x98\n", {"latin-1", "cp1252"}),
    ],
    ids=["short", "no cp1252", "further on", "beyond what is tried", "far", "far and odd"],
)
def test_the_hint_names_only_what_decodes_the_file_as_far_as_it_is_tried(data, named):
    with pytest.raises(EncodingRefused) as caught:
        viewed(data, TextEncoding("utf-8"))
    assert set(re.findall('"([^"]+)"', caught.value.hint)) == named


def test_every_encoding_that_the_hint_names_reads_the_file(call):
    for data in (b"caf\xe9\n", b"a\x81\n", "\u4f60\u597d".encode("gbk"), b"\xff\xfea\0\0\xd8b\0"):
        call.put("a.txt", data)
        hint = call.refused("encoding", "read_file", path="a.txt").hint
        for name in re.findall('"([^"]+)"', hint):
            assert call("read_file", path="a.txt", encoding=name).data["content"]


@pytest.mark.parametrize("sizes", [[1], [3], [1000]])
@pytest.mark.parametrize("codec", ["utf-8", "gb18030", "utf-16-le", "shift_jis"])
def test_a_nul_is_binary_at_its_byte(codec, sizes):
    with pytest.raises(Binary) as caught:
        viewed("a日\0b".encode(codec), TextEncoding(codec), sizes)
    assert caught.value.details["offset"] == len("a日".encode(codec))


def test_utf_16_without_a_mark_is_binary_and_says_how_to_read_it():
    for codec in ("utf-16-le", "utf-16-be"):
        with pytest.raises(Binary) as caught:
            found("hello world\n".encode(codec))
        assert codec in caught.value.hint
        assert found("hello world\n".encode(codec), named=codec) == TextEncoding(codec)


def test_a_mark_that_the_named_encoding_passes_over_is_named():
    with pytest.raises(Binary) as caught:
        found("hello\n".encode("utf-16"), named="utf-8")
    assert "utf-16-le" in caught.value.hint and "without" not in caught.value.hint


@pytest.mark.parametrize("text", ["\ufffe\uffff", "a\ufeffb", "e\u0301\u202e", "👩\u200d👩"])
def test_odd_characters_are_characters(text):
    assert viewed(text.encode(), TextEncoding("utf-8"), [1]) == text


@pytest.mark.parametrize(("text", "codec", "point"), [("a→", "cp1252", "U+2192"), ("\ud83d", "utf-8", "U+D83D")])
def test_a_character_that_the_encoding_lacks_is_named(text, codec, point):
    with pytest.raises(EncodingRefused) as caught:
        TextEncoding(codec).encode(text)
    assert caught.value.details["character"] == point


@pytest.mark.parametrize(
    ("text", "codec"),
    [("1¥", "shift_jis"), ("1\u203e", "euc_jp"), ("1\u301c", "cp932"), ("1•", "cp950"), ("1\u3164", "euc_kr")],
)
def test_a_character_that_python_would_write_as_another_one_is_lacked(text, codec):
    """A yen sign would become a backslash."""
    with pytest.raises(EncodingRefused) as caught:
        TextEncoding(codec).encode(text)
    assert caught.value.details["character"] == f"U+{ord(text[1]):04X}" and "at character 1" in caught.value.message


def test_latin_1_is_never_taken_for_utf_8():
    assert found(b"caf\xe9 " * 3000).codec == "utf-8"
    assert found(b"caf\xe9", named="latin-1") == TextEncoding("iso8859-1")


@pytest.mark.parametrize("named", [None, "ascii", "shift_jis"])
def test_bytes_that_are_utf_8_are_not_called_latin_1(named):
    """A wrong declaration is no reason to show other characters than the file has."""
    data = b"# coding: ascii\n" + "x = 'é–'\n".encode()
    with pytest.raises(EncodingRefused, match="is not valid") as refused:
        viewed(data, found(data, "a.py", named))
    assert '`encoding="utf-8"`' in refused.value.hint and "latin-1" not in refused.value.hint


@pytest.mark.parametrize(
    "data",
    [b"\x7fELF\2\1\1" + b"\0" * 9 + b"\3\0>\0\1\0\0\0" * 9, b"name\0" + b"\0" * 507, b"a\0\0\xd8b\0c\0d\0e\0"],
)
def test_what_would_not_decode_as_utf_16_is_not_called_that(data):
    """A program is half zeros, too."""
    with pytest.raises(Binary) as caught:
        found(data)
    assert "utf-16" not in caught.value.hint


def test_utf_16_further_on_does_not_make_the_whole_file_utf_16(call):
    call.put("a.log", b"line\n" * 2000 + ("log line\n" * 99).encode("utf-16-le"))
    assert "utf-16" not in call.refused("binary", "read_file", path="a.log", offset=1990, limit=50).hint
