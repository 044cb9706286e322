"""Splices and their inverse restore the bytes, packed or not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.fingerprint import FingerprintHasher
from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import (
    Splice,
    SplicedContent,
    SplicedStream,
    inverse,
    packed,
    spliced,
    spliced_size,
    trimmed,
    unpacked,
    unpacked_undo,
)


@st.composite
def contents_and_splices(draw: st.DrawFn) -> tuple[bytes, list[Splice]]:
    parts = draw(st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=8), st.binary(max_size=8)), max_size=8))
    before, splices = b"", []
    for kept, removed, inserted in parts:
        before += kept
        splices.append(Splice(len(before), removed, inserted))
        before += removed
    return before + draw(st.binary(max_size=8)), splices


@given(contents_and_splices())
def test_splices_and_their_inverse_lead_back(case):
    before, splices = case
    after = spliced(before, splices)
    assert len(after) == spliced_size(len(before), splices)
    assert spliced(after, inverse(splices)) == before


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_a_trimmed_splice_shares_no_end_with_what_it_replaces(before, after):
    splices = trimmed(before, after)
    assert spliced(before, splices) == after
    for splice in splices:
        assert not splice.removed or not splice.inserted or splice.removed[0] != splice.inserted[0]
        assert not splice.removed or not splice.inserted or splice.removed[-1] != splice.inserted[-1]


@given(contents_and_splices(), st.integers(1, 3000))
def test_packed_splices_are_unpacked_as_they_were(case, factor):
    splices = [Splice(at, removed * factor, inserted) for at, removed, inserted in case[1]]
    assert unpacked(packed(splices, keep_inserted=True)) == splices


@given(contents_and_splices())
def test_splices_packed_for_undo_lead_back(case):
    before, splices = case
    after = spliced(before, splices)
    back = unpacked_undo(packed(splices, keep_inserted=False), BytesContent(after))
    assert back == inverse(splices) and spliced(after, back) == before


def test_splices_packed_for_undo_only_cannot_be_done_again():
    with pytest.raises(ValueError, match="only what they removed"):
        unpacked(packed([Splice(0, b"a", b"b")], keep_inserted=False))


@given(contents_and_splices(), st.booleans())
def test_a_spliced_stream_fingerprints_both_contents(case, old_wanted):
    before, splices = case
    stream = SplicedStream(BytesContent(before), splices, old_wanted=old_wanted)
    after = b"".join(bytes(chunk) for chunk in stream.chunks())
    assert after == spliced(before, splices)
    assert stream.fingerprints() == (fingerprint(before) if old_wanted else None, fingerprint(after))


class OneBuffer(BytesContent):
    """Content whose chunks share a buffer, as those of a large file do."""

    def chunks(self, start=0, end=None):
        buffer = bytearray(16)
        for at in range(start, len(self.data) if end is None else end, 16):
            buffer[:] = self.data[at : min(at + 16, end or len(self.data))]
            yield buffer


@pytest.mark.parametrize("offset", [0, 5, 320, 640])
def test_a_chunk_is_hashed_as_it_was_however_late_that_is(monkeypatch, offset):
    def late(stream, chunk, on_time=SplicedStream._hash):
        time.sleep(0.001)
        on_time(stream, chunk)

    monkeypatch.setattr("jupyter_fstools.content.splices._PARALLEL_BYTES", 32)
    monkeypatch.setattr(SplicedStream, "_hash", late)
    before = b"".join(b"%07d\n" % number for number in range(80))
    splice = Splice(offset, before[offset : offset + 3], b"inserted")
    stream = SplicedStream(OneBuffer(before), [splice], old_wanted=True)
    after = b"".join(bytes(chunk) for chunk in stream.chunks())
    assert after == before[:offset] + b"inserted" + before[offset + 3 :]
    assert stream.fingerprints() == (fingerprint(before), fingerprint(after))


def test_a_hash_that_fails_is_told_to_whoever_reads_the_stream(monkeypatch):
    def failing(stream, chunk):
        raise MemoryError

    monkeypatch.setattr("jupyter_fstools.content.splices._PARALLEL_BYTES", 32)
    monkeypatch.setattr(SplicedStream, "_hash", failing)
    for size in (40, 400):
        with pytest.raises(MemoryError):
            list(SplicedStream(OneBuffer(bytes(size)), [], old_wanted=False).chunks())


def fingerprint(data: bytes):
    hasher = FingerprintHasher()
    hasher.update(data)
    return hasher.result()


@given(contents_and_splices(), st.integers(0, 80), st.integers(0, 80))
def test_spliced_content_reads_as_if_it_were_put_together(case, start, length) -> None:
    base, splices = BytesContent(case[0]), case[1]
    whole = spliced(base.data, splices)
    content = SplicedContent(base, splices)
    assert content.size == len(whole)
    assert content.read(start, length) == whole[start : start + length]
    assert b"".join(map(bytes, content.chunks(start, start + length))) == whole[start : start + length]
