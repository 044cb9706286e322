"""The tracker of reads, without a file: whose lines were shown, and whether that is enough."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_fstools.backends.protocol import FileStat
from jupyter_fstools.content.fingerprint import fingerprint_of
from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import Splice
from jupyter_fstools.diffs.file_diff import FileDiff
from jupyter_fstools.diffs.line_diff import line_hunks
from jupyter_fstools.documents.text.encoding import TextEncoding
from jupyter_fstools.documents.text.shown_lines import Shown
from jupyter_fstools.documents.text.touched_lines import touched_between, touched_lines, touched_source_lines
from jupyter_fstools.errors import NotRead, Stale
from jupyter_fstools.gate.line_ranges import moved, moved_pieces
from jupyter_fstools.gate.read_tracker import ReadTracker
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.records import FileState, Reader

READER = Reader("ada", "default")


def numbered(count):
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def make_tracker(**settings):
    return ReadTracker(InMemoryStore(), READER, **settings)


def stat_of(text, version="v1"):
    return FileStat("a.txt", "/root/a.txt", "file", size=len(text), version=version)


def shown(text, first, last):
    lines = text.splitlines(keepends=True)
    return Shown(first, last, "".join(lines[first - 1 : last]), len(lines))


def record(tracker, text, first, last, version="v1"):
    stat, mark = stat_of(text, version), fingerprint_of([text.encode()])
    earlier = tracker.lookup(stat.key)
    return tracker.record_read(stat, mark, shown(text, first, last), earlier, view=f"{first},{last}", encoding=None)


def test_a_tracker_says_what_is_allowed_and_why_not():
    tracker, text = make_tracker(), numbered(4)
    stat, mark = stat_of(text), fingerprint_of([text.encode()])
    with pytest.raises(NotRead, match="has not been read"):
        tracker.require(stat, lambda: mark, whole=False)
    record(tracker, text, 1, 2)
    assert tracker.require(stat, lambda: mark, whole=False).lines == [(1, 2)]
    with pytest.raises(NotRead, match="lines 1-2"):
        tracker.require(stat, lambda: mark, whole=True)
    record(tracker, text, 3, 4)
    assert tracker.require(stat, lambda: mark, whole=True).full
    with pytest.raises(Stale, match="changed since"):
        tracker.require(stat_of(text, "v2"), lambda: fingerprint_of([b"other"]), whole=False)
    assert (tracker.forget(stat.key), tracker.forget(stat.key), tracker.lookup(stat.key)) == (1, 0, None)


def test_an_unhashed_receipt_holds_only_while_nothing_touched_the_file():
    """A file too large to be hashed for a window."""
    tracker, text = make_tracker(), numbered(4)
    tracker.record_read(stat_of(text), None, shown(text, 1, 2), None, view="", encoding=None)
    assert tracker.require(stat_of(text), lambda: pytest.fail("hashed"), whole=False)
    with pytest.raises(Stale, match="changed since"):
        tracker.require(stat_of(text, "v2"), lambda: fingerprint_of([text.encode()]), whole=False)


LINES = st.lists(st.sampled_from("abc"), max_size=12)


@given(LINES, st.data())
def test_a_receipt_is_full_only_when_every_line_was_shown(lines, data):
    tracker, text, seen = make_tracker(), "".join(f"{line}\n" for line in lines), set()
    for _ in range(data.draw(st.integers(1, 5))):
        first = data.draw(st.integers(1, max(1, len(lines))))
        last = data.draw(st.integers(first, max(first, len(lines)))) if lines else 0
        seen.update(range(first, last + 1))
        kept = record(tracker, text, first, last)
        assert kept.full == (seen == set(range(1, len(lines) + 1)))
        assert {n for start, end in kept.lines for n in range(start, end + 1)} == seen
        assert all(one[1] + 1 < two[0] for one, two in zip(kept.lines, kept.lines[1:], strict=False))


@settings(max_examples=200)
@given(st.integers(1, 14), st.data())
def test_shown_lines_follow_random_edits_of_ones_own(count, data):
    """Against a model in which each line carries whether its reader knows it."""
    # No two lines are alike: so there is one answer to which of them an edit removed.
    tracker, known, lines = make_tracker(), [False] * count, [f"line {n}" for n in range(count)]
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    receipt = record(tracker, "".join(f"{line}\n" for line in lines), first, last)
    known[first - 1 : last] = [True] * (last - first + 1)
    for version in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(lines)))
        end = data.draw(st.integers(start, len(lines)))
        written = [f"written {version} {n}" for n in range(data.draw(st.integers(0, 3)))]
        after = [*lines[:start], *written, *lines[end:]]
        known[start:end] = [True] * len(written)
        diff = FileDiff(path="a.txt", op="edit", hunks=list(line_hunks(lines, after)))
        parts = ["".join(f"{line}\n" for line in part).encode() for part in (lines[:start], lines[start:end], written)]
        before = BytesContent(b"".join([*parts[:2], *(f"{line}\n".encode() for line in lines[end:])]))
        touched = touched_source_lines(before, [Splice(len(parts[0]), *parts[1:])])
        lines, text = after, "".join(f"{line}\n" for line in after)
        mark = fingerprint_of([text.encode()])
        state = FileState(text_sha=mark.text, exact_sha=mark.exact, size=len(text))
        receipt, _ = tracker.after_own_edit(receipt, stat_of(text, f"w{version}"), state, diff, touched)
        shown_now = {n for start, end in receipt.lines for n in range(start, end + 1)}
        assert shown_now == {number for number, is_known in enumerate(known, 1) if is_known}


@settings(max_examples=200)
@given(st.integers(1, 6), st.data())
def test_after_a_diff_only_lines_shown_since_make_a_file_a_whole_one(count, data):
    """However many windows there are, the mark of the diff is kept until they cover the file."""
    tracker, text = make_tracker(), numbered(count)
    receipt = record(tracker, "old\n", 1, 1)
    stat, mark = stat_of(text, "v1"), fingerprint_of([text.encode()])
    tracker.record_diff(receipt, stat, mark, text)
    seen = [False] * count
    for step in range(data.draw(st.integers(1, 40))):
        first = data.draw(st.integers(1, len(seen)))
        if data.draw(st.booleans()):
            last = data.draw(st.integers(first, min(len(seen), first + 1)))
            stat, mark = stat_of(text, f"v{step}"), fingerprint_of([text.encode()])
            window = shown(text, first, last)
            receipt = tracker.record_read(stat, mark, window, tracker.lookup(stat.key), view=f"{step}", encoding=None)
            seen[first - 1 : last] = [True] * (last - first + 1)
            assert receipt.full == all(seen)
            if receipt.full:
                return
        else:
            lines = text.splitlines(keepends=True)
            before, old, new = "".join(lines[: first - 1]), lines[first - 1], f"new {step}\nmore {step}\n"
            touched = touched_source_lines(
                BytesContent(text.encode()), [Splice(len(before), old.encode(), new.encode())]
            )
            text = before + new + "".join(lines[first:])
            state = FileState(text_sha=fingerprint_of([text.encode()]).text, exact_sha=None, size=len(text))
            diff = FileDiff(path="a.txt", op="edit")
            tracker.put(*tracker.after_own_edit(tracker.lookup(stat.key), stat_of(text), state, diff, touched))
            seen[first - 1 : first] = [True, True]
            assert not tracker.lookup(stat.key).full


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["", "a", "bc", "defg"]), max_size=7), st.booleans(), st.data())
def test_an_own_edit_shows_no_line_of_which_a_part_was_not_shown(lines, ended, data):
    """Against a model that knows of each character whether it was shown."""
    text = "\n".join(lines) + "\n" * ended
    shown = data.draw(st.sets(st.integers(1, max(1, len(_lines(text))))))
    known = [line in shown for line, row in enumerate(_lines(text), 1) for _ in row]
    ranges = moved([(line, line) for line in sorted(shown) if line <= len(_lines(text))], [])
    splices, after, known_after, at = [], "", [], 0
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(at, len(text)))
        end = data.draw(st.integers(start, len(text)))
        new = data.draw(st.sampled_from(["", "x", "\n", "x\n", "\nx", "x\ny", "\n\n"]))
        if text[start:end] != new:
            splices.append(Splice(start, text[start:end].encode(), new.encode()))
        after += text[at:start] + new
        known_after += known[at:start] + [True] * len(new)
        at = end
    after, known_after = after + text[at:], known_after + known[at:]
    told = iter(known_after)
    # A line end is not a part of the shown line.
    flags = [[next(told) or one == "\n" for one in row] for row in _lines(after)]
    whole = {line for line, row in enumerate(flags, 1) if all(row)}
    narrow = touched_source_lines(BytesContent(text.encode()), splices)
    assert _numbers(moved(ranges, narrow)) <= whole
    # It cannot be told which of two equal lines stayed.
    texts = {row.removesuffix("\n") for line, row in enumerate(_lines(text), 1) if line in shown}
    equal = {line for line, row in enumerate(_lines(after), 1) if row.removesuffix("\n") in texts}
    assert _numbers(moved(ranges, touched_between(text, after))) <= whole | equal
    wide = [Splice(splice.offset * 2, _wide(splice.removed), _wide(splice.inserted)) for splice in splices]
    assert touched_lines(BytesContent(_wide(text.encode())), wide, TextEncoding("utf-16-le"), None) == narrow


def test_a_long_line_is_read_on_after_an_edit_of_another_one():
    before = BytesContent(b"one\ntwo\nthree\nfour\n")
    touched = touched_source_lines(before, [Splice(0, b"one\n", b""), Splice(9, b"h", b"H")])
    assert moved_pieces({3: 7, 4: 9}, touched) == {2: 0, 3: 9}


def _lines(text):
    return text.splitlines(keepends=True)


def _wide(data):
    return data.decode().encode("utf-16-le")


def _numbers(ranges):
    return {line for first, last in ranges for line in range(first, last + 1)}
