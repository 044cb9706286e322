"""Finding a string in chunks of any size is finding it in the whole text with its line endings made equal."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.documents.text.needle import Match, Needle, coalesced

ALPHABET = st.sampled_from(["a", "b", "\r", "\n", "\r\n", "é"])
TEXTS = st.lists(ALPHABET, max_size=30).map("".join)
NEEDLES = st.lists(ALPHABET, min_size=1, max_size=6).map("".join)


def in_chunks(data: bytes, sizes: list[int]):
    at = 0
    for size in itertools.cycle(sizes):
        if at >= len(data):
            return
        yield data[at : at + size]
        at += size


def naive(text: bytes, needle: bytes, *, overlapping: bool) -> list[Match]:
    """Both normalised as a whole; each byte of the normalised text knows where it came from."""
    plain, starts, at = bytearray(), [], 0
    while at < len(text):
        starts.append(at)
        at += 1 if text[at : at + 2] != b"\r\n" else 2
        plain.append(text[at - 1])
    starts.append(len(text))
    needle = needle.replace(b"\r\n", b"\n")
    found, at = [], plain.find(needle)
    while at >= 0:
        found.append(Match(starts[at], starts[at + len(needle)]))
        at = plain.find(needle, at + (1 if overlapping else len(needle)))
    return found


@given(TEXTS, NEEDLES, st.lists(st.integers(1, 7), min_size=1, max_size=4), st.booleans())
def test_any_chunking_finds_what_a_search_of_the_whole_text_finds(text, needle, sizes, overlapping):
    """Line endings and overlaps included."""
    found = list(Needle(needle).find(in_chunks(text.encode(), sizes), overlapping=overlapping))
    assert found == naive(text.encode(), needle.encode(), overlapping=overlapping)


@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 7), st.booleans())
def test_runs_of_one_letter_are_counted_at_every_place(length, size, chunk, overlapping):
    text, needle = b"a" * length, "a" * size
    found = list(Needle(needle).find(in_chunks(text, [chunk]), overlapping=overlapping))
    assert found == naive(text, needle.encode(), overlapping=overlapping)


def test_a_needle_across_large_chunks_is_found_where_it_is():
    text = (b"x\r\n" * 700_000) + b"needle\r\nend\r\n" + (b"y\n" * 700_000)
    for sizes in ([1 << 20], [(1 << 20) - 1], [65_537]):
        found = list(Needle("x\nneedle\nend\ny").find(in_chunks(text, sizes), overlapping=True))
        assert [text[start:end] for start, end in found] == [b"x\r\nneedle\r\nend\r\ny"]


def test_a_needle_longer_than_a_chunk_is_found():
    needle = "line\n" * 500_000
    text = b"a\r\n" + needle.replace("\n", "\r\n").encode() + b"b"
    found = list(Needle(needle).find(in_chunks(text, [1 << 20]), overlapping=False))
    assert found == [Match(3, len(text) - 1)]


@given(st.lists(st.binary(min_size=1, max_size=5), max_size=20))
def test_coalesced_pieces_hold_the_same_bytes(pieces):
    assert b"".join(coalesced(pieces)) == b"".join(pieces)


def test_many_small_pieces_become_few():
    assert len(list(coalesced([b"ab"] * 500_000))) < 10
