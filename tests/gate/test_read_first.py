"""Reads and the changes they allow: per reader, by content, and exactly for the lines that were shown."""

from __future__ import annotations

import os
import threading
import time

import pytest

from jupyter_fstools.backends.in_memory import InMemory
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.content.fingerprint import fingerprint_of
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.stores.records import Reader
from tests.conftest import Caller
from tests.documents.media.samples import picture

READER = Reader("ada", "default")


def edit(call, path, old, new, **more):
    return call("edit_file", path=path, old_string=old, new_string=new, **more)


def stale(call, path, old="x", new="y"):
    return call.refused("stale", "edit_file", path=path, old_string=old, new_string=new)


def receipt(call, path):
    return call.workspace.tracker.lookup(call.workspace.peek(path).key)


def test_a_newer_time_with_the_same_bytes_is_fresh(call):
    """Touched, changed and changed back, dated into the future."""
    file = call.put("a.txt", "x")
    call("read_file", path="a.txt")
    for moment in (2_000_000_000, 4_000_000_000, 1):
        call.put("a.txt", "other")
        call.put("a.txt", "x")
        os.utime(file, (moment, moment))
        assert edit(call, "a.txt", "x", "y").data["changed"]
        edit(call, "a.txt", "y", "x")
    assert receipt(call, "a.txt").version == call.workspace.peek("a.txt").version


def test_a_drifted_receipt_is_brought_up_to_date(call):
    """The content is compared once, not at every call from there on."""
    file = call.put("a.txt", "x")
    call("read_file", path="a.txt")
    os.utime(file, (5, 5))
    stat = call.workspace.peek("a.txt")
    assert call.workspace.tracker.require(stat, lambda: fingerprint_of([b"x"]), whole=False)
    assert receipt(call, "a.txt").version == stat.version
    assert call.workspace.tracker.require(stat, lambda: pytest.fail("hashed again"), whole=False)


@pytest.mark.parametrize("then", [1, 1_000_000_000, 4_000_000_000])
def test_other_bytes_are_stale_whatever_the_time_says(call, then):
    """An older time, or one of a clock that is ahead."""
    file = call.put("a.txt", "x = 1\n")
    os.utime(file, (2_000_000_000, 2_000_000_000))
    call("read_file", path="a.txt")
    call.put("a.txt", "x = 2\n")
    os.utime(file, (then, then))
    assert "+x = 2" in stale(call, "a.txt", "x = 1").details["diff"]
    assert call.got("a.txt") == b"x = 2\n"


def test_a_change_of_the_same_size_within_one_tick_is_stale(call):
    """With the modification time reset, or unchanged."""
    file = call.put("a.txt", "x = 1\n")
    os.utime(file, ns=(10**18, 10**18))
    call("read_file", path="a.txt")
    with file.open("r+b") as opened:
        opened.write(b"x = 2\n")
    os.utime(file, ns=(10**18, 10**18))
    call.refused("stale", "write_file", path="a.txt", content="x = 3\n")
    stale(call, "a.txt")


@pytest.mark.parametrize("last", ["a read", "an edit", "an overwrite"])
def test_a_change_of_the_same_size_within_one_second_is_stale_where_times_have_whole_seconds(call, monkeypatch, last):
    """As on FAT, ext3 and many network disks, where no status tells the two contents apart."""
    second = time.time_ns() // 10**9 * 10**9
    for name in ("stat", "fstat"):
        monkeypatch.setattr(os, name, with_times(getattr(os, name), second))
    file = call.put("a.txt", "x = 0\n")
    call("read_file", path="a.txt")
    if last == "an edit":
        edit(call, "a.txt", "0", "1")
    if last == "an overwrite":
        call("write_file", path="a.txt", content="x = 1\n")
    with file.open("r+b") as opened:
        opened.write(b"x = 2\n")
    call.refused("stale", "write_file", path="a.txt", content="x = 3\n")
    assert call.got("a.txt") == b"x = 2\n"


def with_times(look, moment):
    """A call of the system whose answers have the same times always."""

    def looked(*args, **options):
        found = look(*args, **options)
        return os.stat_result(found, {"st_mtime_ns": moment, "st_ctime_ns": moment})

    return looked


def test_a_formatter_after_our_write_is_stale_until_the_file_is_read_again(call):
    call("write_file", path="a.py", content="x=1\n")
    call.put("a.py", "x = 1\n")
    refusal = stale(call, "a.py", "x=1", "x=2")
    assert "-x=1\n+x = 1" in refusal.details["diff"]
    call("read_file", path="a.py")
    assert edit(call, "a.py", "x = 1", "x = 2").data["changed"]


def test_a_file_that_comes_back_is_known_by_its_content(call):
    """Deleted and made again, or saved as a new inode."""
    file = call.put("a.txt", "x")
    call("read_file", path="a.txt")
    file.unlink()
    call.refused("not_found", "edit_file", path="a.txt", old_string="x", new_string="y")
    call.put("a.txt", "z")
    call.refused("stale", "write_file", path="a.txt", content="y")
    call.put("b.txt", "x").rename(file)
    assert edit(call, "a.txt", "x", "y").data["changed"]


def test_another_file_with_the_inode_of_the_one_that_was_read_is_stale(call):
    """The inode moves with its file; the file that takes the path is new."""
    file = call.put("a.txt", "x one")
    call("read_file", path="a.txt")
    file.rename(call.root / "moved.txt")
    call.put("b.txt", "x two").rename(file)
    stale(call, "a.txt")
    refusal = call.refused("not_read", "edit_file", path="moved.txt", old_string="x", new_string="y")
    assert "has not been read" in refusal.message


@pytest.mark.parametrize(("read", "written"), [("link", "d/a.txt"), ("d/a.txt", "link"), ("way/a.txt", "./d//a.txt")])
def test_every_spelling_of_a_path_is_one_file(call, read, written):
    call.put("d/a.txt", "x")
    (call.root / "link").symlink_to("d/a.txt")
    (call.root / "way").symlink_to("d")
    call("read_file", path=read)
    assert edit(call, written, "x", "y").data["path"] == "d/a.txt"
    assert os.readlink(call.root / "link") == "d/a.txt"


def test_each_name_of_a_hard_linked_file_is_read_for_itself(call):
    """A receipt is kept per path, so it never covers other content."""
    file = call.put("a.txt", "x")
    os.link(file, call.root / "b.txt")
    call("read_file", path="a.txt")
    call.refused("not_read", "edit_file", path="b.txt", old_string="x", new_string="y")
    call("read_file", path="b.txt")
    edit(call, "b.txt", "x", "y")
    assert call.got("a.txt") == b"y"
    stale(call, "a.txt", "y", "z")


def test_names_that_differ_in_case_are_one_file_where_the_disk_says_so(call):
    call.put("A.txt", "x")
    call.workspace.paths.backend = LocalDisk(call.root, durable=False, case_insensitive=True)
    call("read_file", path="A.txt")
    assert edit(call, "a.TXT", "x", "y").data["path"] == "A.txt"
    assert os.listdir(call.root) == ["A.txt"]


def test_a_link_that_leads_elsewhere_by_now_is_another_file(call):
    call.put("a.txt", "x")
    call.put("b.txt", "x")
    link = call.root / "link"
    link.symlink_to("a.txt")
    call("read_file", path="link")
    link.unlink()
    link.symlink_to("b.txt")
    call.refused("not_read", "edit_file", path="link", old_string="x", new_string="y")
    link.unlink()
    link.symlink_to("a.txt")
    assert edit(call, "link", "x", "y").data["path"] == "a.txt"


def numbered(count):
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def test_any_window_opens_the_file_for_edits(call):
    """Inside the window; also outside it, where the result says so."""
    call.put("a.txt", numbered(20))
    call("read_file", path="a.txt", offset=5, limit=3)
    assert not edit(call, "a.txt", "line 6\n", "six\n").data["outside_shown_lines"]
    outside = edit(call, "a.txt", "line 12\n", "twelve\n")
    assert outside.data["outside_shown_lines"]
    assert "line 12 had not been shown" in outside.content[0]["text"]
    assert not edit(call, "a.txt", "twelve\n", "12\n").data["outside_shown_lines"]


def test_edits_of_unseen_lines_can_be_refused(make_call):
    """By a setting; reading the place is enough, so that a large file can still be edited."""
    call = make_call(refuse_unseen_edits=True, full_read_bytes=100)
    call.put("a.txt", numbered(50))
    call.refused("too_large", "read_file", path="a.txt")
    call("read_file", path="a.txt", offset=5, limit=3)
    refusal = call.refused("not_read", "edit_file", path="a.txt", old_string="line 12\n", new_string="x\n")
    assert refusal.details["lines"] == [12] and "line 12" in refusal.hint
    call("read_file", path="a.txt", offset=12, limit=1)
    assert edit(call, "a.txt", "line 12\n", "x\n").data["changed"]


def test_a_match_that_begins_in_shown_lines_and_ends_outside_is_outside(call):
    """The last line counts as much as the first."""
    call.put("a.txt", numbered(9))
    call("read_file", path="a.txt", offset=2, limit=2)
    assert not edit(call, "a.txt", "line 2\nline 3\n", "two\nthree\n").data["outside_shown_lines"]
    assert edit(call, "a.txt", "three\nline 4\n", "3\n4\n").data["outside_shown_lines"]


def test_overwriting_needs_every_line_shown_in_whatever_windows(call):
    """The union of the windows counts."""
    call.put("a.txt", numbered(9))
    for offset, limit, lines in ((4, 2, "4-5"), (8, 2, "4-5, 8-9"), (1, 3, "1-5, 8-9"), (5, 2, "1-6, 8-9")):
        call("read_file", path="a.txt", offset=offset, limit=limit)
        refusal = call.refused("not_read", "write_file", path="a.txt", content="new\n")
        assert f"lines {lines}" in refusal.message
    call("read_file", path="a.txt", offset=7, limit=1)
    assert call("write_file", path="a.txt", content="new\n").data["changed"]


def test_overwriting_after_a_part_was_shown_can_be_allowed(make_call):
    """By a setting; an overwrite of an unread file stays refused."""
    call = make_call(overwrite_needs_full_read=False)
    call.put("a.txt", numbered(9))
    call.refused("not_read", "write_file", path="a.txt", content="new\n")
    call("read_file", path="a.txt", offset=4, limit=2)
    assert call("write_file", path="a.txt", content="new\n").data["changed"]


def test_a_line_of_which_the_end_was_cut_is_not_shown(call):
    """It counts once its rest was read from the column of the cut."""
    call.put("a.txt", "short\n" + "abcdefghij" * 3 + "\n")
    call("read_file", path="a.txt", max_line_length=10)
    call.refused("not_read", "write_file", path="a.txt", content="new\n")
    call("read_file", path="a.txt", offset=2, column=21)
    call.refused("not_read", "write_file", path="a.txt", content="new\n")
    call("read_file", path="a.txt", offset=2, column=11)
    assert call("write_file", path="a.txt", content="new\n").data["changed"]


def test_windows_of_two_contents_do_not_add_up(call):
    """Lines shown of an older content are forgotten."""
    call.put("a.txt", numbered(4))
    call("read_file", path="a.txt", offset=1, limit=2)
    call.put("a.txt", numbered(4).replace("line 1", "LINE 1"))
    call("read_file", path="a.txt", offset=3, limit=2)
    assert receipt(call, "a.txt").lines == [(3, 4)]
    call.refused("not_read", "write_file", path="a.txt", content="new\n")


@pytest.mark.parametrize(
    ("content", "arguments", "code"),
    [
        (b"one\n", {"offset": 9}, "out_of_range"),
        (b"\0\1\2binary", {}, "binary"),
        (b"caf\xe9\n", {}, "encoding"),
        (b"x" * 300_000, {}, "too_large"),
        (b"one\n", {"encoding": "no-such"}, "invalid"),
    ],
)
def test_a_failed_read_leaves_no_receipt(call, content, arguments, code):
    call.put("a.txt", content)
    call.refused(code, "read_file", path="a.txt", **arguments)
    assert receipt(call, "a.txt") is None
    call.refused("not_read", "edit_file", path="a.txt", old_string="x", new_string="y")


def test_a_failed_read_takes_no_receipt_away(call):
    call.put("a.txt", "x\n")
    call("read_file", path="a.txt")
    call.refused("out_of_range", "read_file", path="a.txt", offset=9)
    assert edit(call, "a.txt", "x", "y").data["changed"]


def test_a_listing_leaves_no_receipt(call):
    call.put("a.txt", "x\n")
    call("list_files", recursive=True)
    call.workspace.peek("a.txt")
    assert receipt(call, "a.txt") is None
    call.refused("not_read", "write_file", path="a.txt", content="y")


def test_what_was_read_long_ago_must_be_read_again(make_call):
    """The refusal says that it was evicted."""
    call = make_call(max_receipts=3)
    for name in "abcd":
        call.put(name, "x")
        call("read_file", path=name)
    refusal = call.refused("not_read", "edit_file", path="a", old_string="x", new_string="y")
    assert refusal.details["evicted"] and "evicted" in refusal.message
    assert len(call.workspace.store.receipts(READER)) == 3
    call("read_file", path="a")
    assert edit(call, "a", "x", "y").data["changed"]


def test_a_file_in_use_is_not_evicted(make_call):
    """The file used longest ago is evicted, not the one read first; an edit is a use as much as a read."""
    call = make_call(max_receipts=3)
    call.put("hot", "x0")
    call("read_file", path="hot")
    for number in range(8):
        call.put(f"cold{number}", "x")
        call("read_file", path=f"cold{number}")
        edit(call, "hot", f"x{number}", f"x{number + 1}")
    assert call.got("hot") == b"x8"


def test_another_sessions_edit_makes_a_receipt_stale(call):
    other = call.session("other")
    call.put("a.txt", "x = 1\ny = 1\n")
    call.refused("not_read", "edit_file", path="a.txt", old_string="x", new_string="z")
    call("read_file", path="a.txt")
    other.refused("not_read", "edit_file", path="a.txt", old_string="x", new_string="z")
    other("read_file", path="a.txt")
    edit(other, "a.txt", "y = 1", "y = 2")
    assert "+y = 2" in stale(call, "a.txt", "x = 1").details["diff"]
    assert edit(call, "a.txt", "x = 1", "x = 2", if_stale="match").data["changed"]


def test_nobody_borrows_the_reads_of_another_user_with_the_same_session_name(call):
    call.put("a.txt", "x")
    call("read_file", path="a.txt")
    bob = call.session("default", user="bob")
    bob.refused("not_read", "edit_file", path="a.txt", old_string="x", new_string="y")


def test_ones_own_write_is_a_full_read_that_was_not_shown(call):
    """Rule 4; the next read shows the text, and is not answered "unchanged", even if the bytes were there before."""
    call("write_file", path="a.txt", content=numbered(3))
    assert receipt(call, "a.txt").full and receipt(call, "a.txt").lines == [(1, 3)]
    assert call("write_file", path="a.txt", content="x\n").data["changed"]
    call.put("b.txt", "same\n")
    call("read_file", path="b.txt")
    assert not call("write_file", path="b.txt", content="same\n").data["changed"]
    for name, text in (("a.txt", "x\n"), ("b.txt", "same\n")):
        read = call("read_file", path=name).data
        assert (read["unchanged"], read["content"]) == (False, text)
        assert call("read_file", path=name).data["unchanged"]


def test_ones_own_edit_keeps_what_was_shown_and_adds_what_it_wrote(call):
    call.put("a.txt", numbered(9))
    call("read_file", path="a.txt", offset=3, limit=3)
    edit(call, "a.txt", "line 4\n", "4a\n4b\n4c\n")
    assert receipt(call, "a.txt").lines == [(3, 7)]
    edit(call, "a.txt", "line 1\n", "")
    assert receipt(call, "a.txt").lines == [(2, 6)]
    edit(call, "a.txt", "line 9\n", "nine\nten")
    assert receipt(call, "a.txt").lines == [(2, 6), (10, 11)]
    assert not call("read_file", path="a.txt", offset=3, limit=3).data["unchanged"]


def test_an_edit_of_a_part_of_a_line_does_not_show_the_rest_of_it(call):
    """A later read of other lines does not make the file count as shown whole either."""
    call.put("a.txt", "short\n" + "start = 1; " + "x" * 30 + "\n")
    call("read_file", path="a.txt", max_line_length=20)
    edit(call, "a.txt", "start = 1", "start = 2")
    assert receipt(call, "a.txt").lines == [(1, 1)]
    call("read_file", path="a.txt", offset=1, limit=1)
    call.refused("not_read", "write_file", path="a.txt", content="new\n")
    call("read_file", path="a.txt", offset=2, max_line_length=20)
    call("read_file", path="a.txt", offset=2, column=21)
    assert call("write_file", path="a.txt", content="new\n").data["changed"]


def test_replacing_a_string_everywhere_shows_none_of_its_lines(call):
    call.put("a.csv", "".join(f"row {number}, {number}\n" for number in range(1, 6000)))
    call("read_file", path="a.csv", offset=5, limit=2)
    edit(call, "a.csv", ", ", ";", replace_all=True)
    assert receipt(call, "a.csv").lines == [(5, 6)]
    call("read_file", path="a.csv", offset=5, limit=2)
    assert call.refused("not_read", "write_file", path="a.csv", content="new\n").details["lines"] == [(5, 6)]


def test_what_a_diff_showed_is_never_overwritten_however_many_windows_follow(call):
    """Unless the windows together are the whole file."""
    call.put("a.txt", numbered(80))
    call("read_file", path="a.txt")
    call.put("a.txt", numbered(80).replace("line 50", "LINE 50"))
    stale(call, "a.txt", "line 3\n", "three\n")
    for line in range(1, 45):
        call("read_file", path="a.txt", offset=line, limit=1)
    edit(call, "a.txt", "line 3\n", "three\n")
    refusal = call.refused("not_read", "write_file", path="a.txt", content="new\n")
    assert refusal.details["lines"] == [(1, 44)] and "diff" in refusal.hint
    call("read_file", path="a.txt", offset=45)
    assert call("write_file", path="a.txt", content="new\n").data["changed"]


def test_a_file_that_a_diff_showed_becoming_empty_is_not_overwritten(call):
    call("write_file", path="a.txt", content="x\n")
    call.put("a.txt", "")
    stale(call, "a.txt", "x", "y")
    refusal = call.refused("not_read", "write_file", path="a.txt", content="new\n")
    assert refusal.message == "only a part of a.txt was shown to this session (not modified)"
    assert "diff" in refusal.hint
    call("read_file", path="a.txt")
    assert call("write_file", path="a.txt", content="new\n").data["changed"]


def test_what_was_accepted_unseen_does_not_count_as_shown(call):
    """An edit that went through a stale file allows no overwrite of the outsider's text."""
    call.put("a.txt", numbered(3))
    call("read_file", path="a.txt")
    call.put("a.txt", numbered(3) + "theirs\n")
    edit(call, "a.txt", "line 1\n", "one\n", if_stale="match")
    refusal = call.refused("not_read", "write_file", path="a.txt", content="mine\n")
    assert "only a part" in refusal.message
    call.refused("not_read", "write_file", path="a.txt", content="one\nline 2\nline 3\ntheirs\n")


def test_a_change_of_line_endings_alone_is_fresh(call):
    """The reader saw the same text; the file's new endings are kept."""
    call.put("a.txt", "x = 1\ny = 2\n")
    call("read_file", path="a.txt")
    call.put("a.txt", "x = 1\r\ny = 2\r\n")
    edit(call, "a.txt", "x = 1\n", "x = 1\nz = 3\n")
    assert call.got("a.txt") == b"x = 1\r\nz = 3\r\ny = 2\r\n"


def test_a_change_of_the_mode_alone_is_fresh(call):
    file = call.put("a.txt", "x")
    call("read_file", path="a.txt")
    file.chmod(0o755)
    edit(call, "a.txt", "x", "y")
    assert file.stat().st_mode & 0o777 == 0o755


def test_the_fingerprint_is_of_the_bytes_that_were_shown(call):
    """A writer between two reads of the tool must not lead to a receipt for bytes that were not shown."""
    file = call.put("a.txt", "n0\n")
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            number += 1
            (call.root / "next").write_text(f"n{number}\n")
            os.replace(call.root / "next", file)
            stop.wait(0.03)

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(20):
        try:
            read = call("read_file", path="a.txt", force=True).data
        except Exception as refusal:
            assert getattr(refusal, "code", "") == "conflict"
            continue
        assert receipt(call, "a.txt").text_sha == fingerprint_of([read["content"].encode()]).text
    stop.set()
    writer.join()


def test_a_forced_read_shows_the_text_again_and_forgetting_demands_a_read(call):
    """Both are for a caller whose conversation was shortened; edits need no second read."""
    call.put("a.txt", "x\n")
    call("read_file", path="a.txt")
    assert call("read_file", path="a.txt").data["unchanged"]
    assert call("read_file", path="a.txt", force=True).data["content"] == "x\n"
    assert edit(call, "a.txt", "x", "y").data["changed"]
    assert call.workspace.tracker.forget() == 1
    call.refused("not_read", "edit_file", path="a.txt", old_string="y", new_string="z")


def test_only_a_repeated_window_is_a_repeated_read(call):
    """Another window, also of lines shown before, is shown."""
    call.put("a.txt", numbered(9))
    call("read_file", path="a.txt")
    assert not call("read_file", path="a.txt", offset=2, limit=2).data["unchanged"]
    assert call("read_file", path="a.txt", offset=2, limit=2).data["unchanged"]
    call.put("a.txt", numbered(10))
    assert not call("read_file", path="a.txt").data["unchanged"]


def test_a_stale_refusal_tells_what_changed_of_what_was_shown(call):
    """Lines that were never shown are not reported as new."""
    call.put("a.txt", numbered(30))
    call("read_file", path="a.txt", limit=10)
    call.put("a.txt", numbered(30).replace("line 4\n", "four\n"))
    assert stale(call, "a.txt", "line 1\n").details["diff"].count("\n+") == 1
    call("read_file", path="a.txt")
    call.put("a.txt", numbered(31))
    diff = stale(call, "a.txt", "line 1\n").details["diff"]
    assert "-four\n+line 4\n" in diff and "+line 31" in diff


MARK = "\\ No newline at end of file"


@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        (b"a\nb\n", b"a\nb", f" a\n-b\n+b\n{MARK}"),
        (b"a\nb", b"a\nb\n", f" a\n-b\n{MARK}\n+b"),
        (b"a\nb", b"a\nb\nc\n", f" a\n-b\n{MARK}\n+b\n+c"),
        (b"a\nb", b"a\nc", " a\n-b\n+c"),
        (b"", b"a\n", "+a"),
        (b"a\r\n", b"a\r\r\n", "-a\n+a\u240d"),
    ],
)
def test_a_stale_refusal_tells_the_final_newline_and_what_is_seen_of_no_line(call, before, after, diff):
    call.put("a.txt", before)
    call("read_file", path="a.txt")
    call.put("a.txt", after)
    refusal = stale(call, "a.txt")
    assert refusal.details["diff"].partition("@@\n")[2] == diff
    assert "Look at what changed" in refusal.hint


LONG = "".join(f"line {number}\n" for number in range(1, 3001)).encode()
WINDOW = {"offset": 10, "limit": 5}


@pytest.mark.parametrize(
    ("before", "after", "read", "changed", "said"),
    [
        (b"a\n", b"\xef\xbb\xbfa\n", {}, "byte_order_mark", "was added"),
        (b"\xef\xbb\xbfa\n", b"a\n", {}, "byte_order_mark", "was removed"),
        ("a\n".encode("utf-16"), b"a\n", {}, "encoding", "was in utf-16-le with a byte order mark and is in utf-8"),
        (b"a\n", "a\r\n".encode("utf-16"), {}, "encoding", "was in utf-8 and is in utf-16-le"),
        (b"\xe9\n", "\u00e9\n".encode(), {"encoding": "latin-1"}, "encoding", "was in iso8859-1 and is in utf-8"),
        (b"a\n\0"[:2], b"a\n\0", {}, "undecodable", "no longer be decoded"),
        (b"a\r", b"a", {}, "line_endings", "line endings"),
        ("a\n".encode("utf-16-le"), "a\r\n".encode("utf-16-le"), {"encoding": "utf-16-le"}, "line_endings", "endings"),
        (LONG, LONG.replace(b"2000", b"x"), WINDOW, "outside_shown_lines", "outside the lines that were shown"),
        (LONG, LONG[:-1], WINDOW, "final_newline", "was removed"),
        (LONG[:-1], LONG, WINDOW, "final_newline", "was added"),
        (LONG, b"\xef\xbb\xbf" + LONG, WINDOW, "byte_order_mark", "was added"),
    ],
)
def test_a_stale_refusal_says_in_words_what_no_diff_shows(call, before, after, read, changed, said):
    call.put("a.txt", before)
    call("read_file", path="a.txt", **read)
    call.put("a.txt", after)
    refusal = stale(call, "a.txt")
    assert refusal.details["changed"] == changed and said in refusal.message
    assert "diff" not in refusal.details and "Look at" not in refusal.hint


@pytest.mark.parametrize(
    ("before", "named", "after"),
    [
        ("é\nx\n".encode("latin-1"), "latin-1", "é\nx\ny\n".encode()),
        (b"e\nx\n", "cp1252", "é\nx\n".encode()),
        ("e\nx\n".encode("utf-16-le"), "utf-16-le", b"e\nx\ny\n"),
        ("e\nx\n".encode("cp037"), "cp037", b"e\nx\ny\n"),
        ("e\nx\n".encode("utf-16-le"), "utf-16-le", "\ufeffe\nx\ny\n".encode("utf-16-be")),
    ],
)
@pytest.mark.parametrize("more", [{}, {"if_stale": "match"}])
def test_a_file_saved_in_another_encoding_is_not_edited_in_the_one_named_before(call, before, named, after, more):
    """The letters of the edit would be broken among those of the file, or the other way round."""
    call.put("a.txt", before)
    call("read_file", path="a.txt", encoding=named)
    call.put("a.txt", after)
    edit = {"path": "a.txt", "old_string": "x", "new_string": "ü", **more}
    for _ in range(2):
        refusal = call.refused("stale", "edit_file", **edit)
        assert refusal.details["changed"] == "other_encoding" and "again without `encoding`" in refusal.hint
    call("read_file", path="a.txt")
    call("edit_file", **edit)
    assert "ü" in call.got("a.txt").decode("utf-16" if after[:2] == b"\xfe\xff" else "utf-8")


@pytest.mark.parametrize("codec", ["latin-1", "utf-16", "utf-8", "cp037", "shift_jis"])
def test_a_file_that_keeps_its_named_encoding_is_edited_in_it_after_a_stale_refusal(call, codec):
    letter = "日" if codec == "shift_jis" else "é"
    call.put("a.txt", f"{letter}\nx\n".encode(codec))
    call("read_file", path="a.txt", encoding=codec)
    call.put("a.txt", f"{letter}\nx\ny\n".encode(codec))
    edit = {"path": "a.txt", "old_string": "x", "new_string": letter}
    call.refused("stale", "edit_file", **edit)
    call("edit_file", **edit)
    assert call.got("a.txt") == f"{letter}\n{letter}\ny\n".encode(codec)


def test_a_stale_refusal_of_a_picture_says_nothing_of_text(call):
    call.put("a.png", picture("PNG"))
    call("read_file", path="a.png")
    call.put("a.png", picture("PNG") + b"x")
    refusal = stale(call, "a.png")
    assert set(refusal.details) == {"path"} and "Look at" not in refusal.hint


def test_a_stale_refusal_says_that_bytes_no_longer_decode(call):
    call.put("a.txt", "é\n")
    call("read_file", path="a.txt")
    call.put("a.txt", b"\xe9\n")
    refusal = stale(call, "a.txt")
    assert refusal.details["changed"] == "undecodable" and "+\ufffd" in refusal.details["diff"]


def test_a_stale_refusal_does_not_take_a_cut_line_for_a_changed_one(call):
    text = f"a\n{'x' * 3000}\nb\n"
    call.put("a.txt", text)
    call("read_file", path="a.txt")
    call("read_file", path="a.txt", offset=2, column=2001)
    call.put("a.txt", text.replace("b", "c"))
    diff = stale(call, "a.txt").details["diff"]
    assert "-b\n+c" in diff and "x" not in diff


def test_a_stale_refusal_after_ones_own_edit_knows_the_final_newline(call):
    call.put("a.txt", "a\nb\nc")
    call("read_file", path="a.txt")
    edit(call, "a.txt", "c", "d")
    call.put("a.txt", "A\nb\nd")
    assert stale(call, "a.txt").details["diff"].endswith("-a\n+A\n b\n d")
    call.put("a.txt", "a\nb\nd\n")
    assert stale(call, "a.txt").details["diff"].endswith(f"-d\n{MARK}\n+d")


def test_a_stale_refusal_does_not_take_moved_lines_for_changed_ones(call):
    call.put("a.txt", numbered(200))
    call("read_file", path="a.txt", offset=100, limit=10)
    call.put("a.txt", "import os\nimport re\n" + numbered(200))
    assert stale(call, "a.txt", "line 105\n", "x\n").details["changed"] == "outside_shown_lines"
    call.put("a.txt", "import os\nimport re\n" + numbered(200).replace("line 105\n", "LINE 105\n"))
    diff = stale(call, "a.txt", "line 104\n", "x\n").details["diff"]
    assert [row for row in diff.split("\n") if row[0] in "+-"] == ["-line 105", "+LINE 105"]


def test_a_stale_refusal_after_an_accepted_change_claims_nothing_of_older_lines(call):
    call.put("a.txt", numbered(30))
    call("read_file", path="a.txt")
    call.put("a.txt", "theirs\n" * 5 + numbered(30))
    edit(call, "a.txt", "line 20\n", "twenty\n", if_stale="match")
    call.put("a.txt", call.got("a.txt").decode().replace("line 5\n", "LINE 5\n"))
    details = stale(call, "a.txt", "line 25\n", "x\n").details
    assert (details["changed"], "diff" in details) == ("unknown", False)


def test_a_stale_refusal_is_bounded(call):
    call.put("a.txt", numbered(3000))
    call("read_file", path="a.txt", limit=2000)
    call.put("a.txt", numbered(3000).replace("line", "LINE"))
    diff = stale(call, "a.txt", "line 1\n").details["diff"]
    assert "2000 lines added and 2000 removed" in diff
    assert len(diff) < 20_000


def test_the_gate_holds_on_any_backend(make_call):
    """On a backend without a disk."""
    backend = InMemory()
    made = make_call().workspace
    workspace = Workspace(backend, made.store, made._locks, Policy(), READER)
    call = Caller(workspace, None)
    call("write_file", path="a.txt", content="x\n")
    edit(call, "a.txt", "x", "y")
    backend.write("a.txt", [b"theirs\n"], if_match=backend.stat("a.txt").version)
    stale(call, "a.txt", "y", "z")


def test_a_long_line_of_an_own_edit_is_no_change_of_somebody_else(call):
    """The diff of the edit has only its beginning."""
    call.put("a.txt", "one\n" + "x" * 1500 + " END\ntwo\nthree\n")
    read_and_edit(call, " END", " FIN")
    call.put("a.txt", call.got("a.txt").replace(b"three", b"THREE"))
    refusal = stale(call, "a.txt", "two", "TWO")
    assert refusal.details["diff"] == "@@ -3,2 +3,2 @@\n two\n-three\n+THREE"
    stale(call, "a.txt", "two", "TWO")  # The diff was incomplete, so the receipt is not renewed.
    assert call.refused("stale", "undo", path="a.txt").details["diff"] == refusal.details["diff"]
    read_and_edit(call, "FIN", "END")
    call.put("a.txt", call.got("a.txt").replace(b" END", b" FIN"))
    assert stale(call, "a.txt", "two", "TWO").details["changed"] == "unknown"
    call.session("other")("read_file", path="a.txt")
    assert call.refused("stale", "undo", path="a.txt").details["changed"] == "unknown"


def test_a_change_in_lines_that_were_shown_and_not_kept_is_not_outside_them(call):
    lines = "".join(f"line {number} {'x' * 60}\n" for number in range(8000))
    call.put("a.txt", lines)
    offset = 1
    while offset:
        offset = call("read_file", path="a.txt", offset=offset, limit=10_000).data["next_offset"]
    call.put("a.txt", lines.replace("line 7900 ", "LINE 7900 "))
    assert stale(call, "a.txt", "line 1 ", "x").details["changed"] == "unknown"


def read_and_edit(call, old, new):
    call("read_file", path="a.txt", force=True)
    edit(call, "a.txt", old, new)
