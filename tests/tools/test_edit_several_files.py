"""edit_file edits several files in one call, all or nothing, as one change."""

from __future__ import annotations

import os
from contextlib import suppress

import pytest

from jupyter_fstools.errors import Conflict, FsToolsError, InputOutput
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery

NAMES = ["a.txt", "b.txt", "c.txt"]


@pytest.fixture
def files(call):
    """Three files that were read."""
    for name in NAMES:
        call.put(name, f"{name} one\r\nrest\r\n")
        call("read_file", path=name)
    return call


def edits(*names, old="one", new="two"):
    return [{"path": name, "old_string": old, "new_string": new} for name in names]


def texts(call):
    return [call.got(name).split()[1].decode() for name in NAMES]


def test_several_files_are_one_change_and_one_undo(files):
    result = files("edit_file", edits=edits("c.txt", "a.txt", "b.txt"))
    assert texts(files) == ["two", "two", "two"]
    assert [file["path"] for file in result.data["files"]] == ["c.txt", "a.txt", "b.txt"]
    (change,) = Journal(files.workspace).changes(ChangeQuery())
    assert [(file.path, file.diff.path, file.diff.added) for file in change.files] == [(n, n, 1) for n in NAMES]
    for name in NAMES:
        assert Journal(files.workspace).changes(ChangeQuery(path=name)) == [change]
    files("undo", path="b.txt")
    assert texts(files) == ["one", "one", "one"]


def test_a_file_without_room_for_its_lines_has_no_heading(call):
    names = [f"{number}.txt" for number in range(60)]
    for name in [*names, "emptied.txt"]:
        call.put(name, "one\n")
        call("read_file", path=name)
    given = [*edits("emptied.txt", old="one\n", new=""), *edits(*names)]
    shown = call("edit_file", edits=given).text.split("\n")
    assert shown[1:] == [row for name in names[:40] for row in (f"{name}:", "1\ttwo")]


def test_all_edits_of_a_file_go_on_from_each_other_whatever_stands_between_them(files):
    given = [*edits("a.txt"), *edits("b.txt"), *edits("./a.txt", old="two", new="three")]
    assert files("edit_file", edits=given).data["replacements"] == [1, 1, 1]
    assert texts(files) == ["three", "two", "one"]


def test_the_paths_of_edits_win_over_that_of_the_call(files):
    files("edit_file", path="a.txt", edits=[{"old_string": "one", "new_string": "two"}, *edits("c.txt")])
    assert texts(files) == ["two", "one", "two"]


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ({"path": "b.txt", "old_string": "nowhere", "new_string": "x"}, "no_match"),
        ({"path": "unread.txt", "old_string": "a", "new_string": "x"}, "not_read"),
        ({"path": "missing.txt", "old_string": "a", "new_string": "x"}, "not_found"),
        ({"path": "n.ipynb", "old_string": "a", "new_string": "x"}, "notebook"),
        ({"path": ".git/config", "old_string": "a", "new_string": "x"}, "denied"),
        ({"old_string": "a", "new_string": "x"}, "invalid"),
    ],
)
def test_one_refusal_leaves_every_file_as_it_was(files, broken, code):
    files.put("unread.txt", "a\n")
    refusal = files.refused(code, "edit_file", edits=[*edits("a.txt"), broken, *edits("c.txt")])
    assert texts(files) == ["one", "one", "one"]
    assert Journal(files.workspace).changes(ChangeQuery()) == []
    if code == "no_match":
        assert "b.txt: edit 2 of 3" in refusal.message


def test_two_hard_links_of_one_file_are_refused_with_the_way_that_works(files):
    (files.root / "b.txt").unlink()
    os.link(files.root / "a.txt", files.root / "b.txt")
    files("read_file", path="b.txt")
    given = [*edits("a.txt"), *edits("b.txt", old="rest", new="more")]
    refusal = files.refused("invalid", "edit_file", edits=given)
    assert "a.txt and b.txt are hard links of one file" in refusal.message
    assert refusal.hint == "Give all edits of this file the path 'a.txt'."
    files("edit_file", edits=[edit | {"path": "a.txt"} for edit in given])
    assert files.got("b.txt") == files.got("a.txt") == b"a.txt two\r\nmore\r\n"


def test_an_empty_list_is_refused_before_anything_else(files):
    refusal = files.refused("invalid", "edit_file", path="../outside", edits=[])
    assert refusal.details["field"] == "edits"


def test_too_many_files_are_refused(files):
    files.refused("invalid", "edit_file", edits=edits(*[f"{number}.txt" for number in range(101)]))


@pytest.mark.parametrize("failing", NAMES)
def test_where_one_file_cannot_be_written_all_are_taken_back(files, failing):
    write = files.workspace.backend.write

    def write_but_one(path, chunks, *, if_match):
        if path == failing and b"two" in (data := b"".join(map(bytes, chunks))):
            raise Conflict(f"{path} has changed meanwhile", hint="Read it again.")
        return write(path, chunks if path != failing else [data], if_match=if_match)

    files.workspace.backend.write = write_but_one
    files.refused("conflict", "edit_file", edits=edits(*NAMES))
    assert texts(files) == ["one", "one", "one"]
    assert files.workspace.store.unfinished("") == []
    assert Journal(files.workspace).changes(ChangeQuery()) == []


def test_a_read_only_file_is_refused_before_another_one_is_written(files):
    (files.root / "c.txt").chmod(0o444)
    before = [(files.root / name).stat() for name in NAMES]
    files.refused("denied", "edit_file", edits=edits(*NAMES))
    after = [(files.root / name).stat() for name in NAMES]
    assert [(one.st_ino, one.st_mtime_ns) for one in before] == [(one.st_ino, one.st_mtime_ns) for one in after]


def test_where_the_way_back_is_barred_the_refusal_says_what_was_changed(files):
    """It never says "not modified" of a file that was modified; the change stays for the next access."""
    write = files.workspace.backend.write

    def bar_the_way(path, chunks, *, if_match):
        if path == "b.txt":
            (files.root / "a.txt").write_text("an outsider's\n")
            raise Conflict("b.txt has changed meanwhile", hint="Read it again.")
        return write(path, chunks, if_match=if_match)

    files.workspace.backend.write = bar_the_way
    with pytest.raises(InputOutput, match=r"a\.txt was changed") as refused:
        files("edit_file", edits=edits("a.txt", "b.txt"))
    assert refused.value.details["modified"] and "not modified" not in refused.value.message
    assert files.got("a.txt") == b"an outsider's\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux's list of open files")
def test_no_replaced_file_takes_room_on_a_full_disk_while_the_others_are_taken_back(files):
    write, kept = files.workspace.backend.write, []

    def fill_the_disk(path, chunks, *, if_match):
        if path == "c.txt":
            raise InputOutput("c.txt was not modified: the disk is full", hint="Free some space.")
        kept.append([path for path in open_files() if path.endswith(".txt (deleted)")])
        return write(path, chunks, if_match=if_match)

    files.workspace.backend.write = fill_the_disk
    files.refused("io", "edit_file", edits=edits(*NAMES))
    assert kept[2:] == [[], []]
    assert texts(files) == ["one", "one", "one"]


def open_files():
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            yield os.readlink(f"/proc/self/fd/{number}")


def test_a_proposal_of_several_files_is_approved_as_one(make_call):
    call = make_call(approval=["b.txt"])
    for name in NAMES:
        call.put(name, f"{name} one\n")
        call("read_file", path=name)
    waiting = call("edit_file", edits=edits(*NAMES)).change
    assert (waiting.status, texts(call)) == ("proposed", ["one", "one", "one"])
    Journal(call.workspace).approve(waiting.id)
    assert texts(call) == ["two", "two", "two"]
    call("edit_file", path="a.txt", old_string="two", new_string="three")


def test_a_proposal_of_which_one_file_moved_on_is_refused_as_a_whole(make_call):
    call = make_call(approval="always")
    for name in NAMES:
        call.put(name, f"{name} one\n")
        call("read_file", path=name)
    waiting = call("edit_file", edits=edits(*NAMES)).change
    call.put("c.txt", "c.txt other\n")
    with pytest.raises(FsToolsError) as refused:
        Journal(call.workspace).approve(waiting.id)
    assert refused.value.code == "stale" and texts(call) == ["one", "one", "other"]
    assert Journal(call.workspace).change(waiting.id).status == "proposed"


def test_an_edit_of_the_same_call_that_did_it_already_is_named_by_its_place_in_the_call(files):
    refusal = files.refused("no_match", "edit_file", edits=edits("a.txt", "b.txt", "b.txt"))
    assert "edit 3 of 3" in refusal.message and "already applied by edit 2" in refusal.hint
    assert refusal.details["already_applied_by"] == 2


def test_links_to_one_file_are_one_file(files):
    os.symlink("a.txt", files.root / "link.txt")
    change = files("edit_file", edits=[*edits("a.txt"), *edits("link.txt", old="rest", new="end")]).change
    assert change.files == [] and files.got("a.txt") == b"a.txt two\r\nend\r\n"


def test_the_result_of_an_edit_is_bounded_before_it_is_put_together(make_call):
    """The file itself is bounded the same way."""
    call = make_call(max_edit_bytes=100_000)
    call.put("a.txt", "x\n" * 1000)
    call("read_file", path="a.txt")
    call.refused("too_large", "edit_file", path="a.txt", old_string="x", new_string="y" * 1000, replace_all=True)
    assert call.got("a.txt") == b"x\n" * 1000
