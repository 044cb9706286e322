import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.fingerprint import FingerprintHasher, fingerprint_of

WIDE = ("utf-16", "utf-32", "utf-16-be", "utf-32-be")
texts = st.text(st.sampled_from("ab\r\n\u2028\u0d0a\u0a0dé😀"), max_size=60)
sizes = st.lists(st.integers(1, 7), min_size=1, max_size=20)


def encoded(text, codec):
    return ("\ufeff" + text if codec.endswith("be") else text).encode(codec)


def pieces(data, sizes):
    borders = [0]
    while borders[-1] < len(data):
        borders.append(borders[-1] + sizes[len(borders) % len(sizes)])
    return [data[start:end] for start, end in pairwise(borders)]


@given(texts, st.sampled_from(["utf-8", "utf-8-sig", "latin-1", *WIDE]), sizes)
def test_where_chunks_end_makes_no_difference(text, codec, sizes):
    """Also inside a byte order mark, a code unit or a CRLF."""
    data = encoded(text, codec) if codec != "latin-1" else text.encode("utf-8")
    assert fingerprint_of(pieces(data, sizes)) == fingerprint_of([data])


@given(texts, st.sampled_from(["utf-8", "utf-8-sig", *WIDE]))
def test_the_text_is_that_with_every_crlf_as_lf_and_the_exact_one_that_of_the_bytes(text, codec):
    data, normal = encoded(text, codec), encoded(text.replace("\r\n", "\n"), codec)
    found = fingerprint_of([data])
    assert found.exact == hashlib.sha256(data).hexdigest()
    assert found.text == hashlib.sha256(normal).hexdigest()


@pytest.mark.parametrize("codec", WIDE)
def test_bytes_that_look_like_a_crlf_across_characters_are_none(codec):
    for text in ("\u0d00\u0a00", "x\u0d0ay", "\u0d0a"):
        found = fingerprint_of([encoded(text, codec)])
        assert found.text == found.exact


def test_a_change_of_line_endings_alone_changes_the_exact_one_only():
    lf, crlf = fingerprint_of([b"a\nb\n"]), fingerprint_of([b"a\r\nb\r\n"])
    assert lf.text == crlf.text and lf.exact != crlf.exact


@pytest.mark.parametrize("data", [b"\r", b"a\rb", b"\r\r\n", b"\n\r"])
def test_a_lone_cr_is_a_character(data):
    assert fingerprint_of([data]).text == hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


@given(texts, texts, texts, sizes)
def test_a_copy_goes_on_by_itself(start, one, other, sizes):
    hasher = FingerprintHasher()
    for piece in pieces(start.encode(), sizes):
        hasher.update(piece)
    twin = hasher.copy()
    hasher.update(one.encode())
    twin.update(other.encode())
    assert hasher.result() == fingerprint_of([(start + one).encode()])
    assert twin.result() == fingerprint_of([(start + other).encode()])


def test_a_result_may_be_asked_for_on_the_way():
    hasher = FingerprintHasher()
    for end, byte in enumerate(b"\xff\xfea\0\r\0\n\0", 1):
        hasher.update(bytes([byte]))
        assert hasher.result() == fingerprint_of([b"\xff\xfea\0\r\0\n\0"[:end]])
