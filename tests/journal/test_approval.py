"""Approval by a person: nothing is written before it, and after it only over the content of the proposal."""

from __future__ import annotations

import pytest

from jupyter_fstools.errors import Conflict, Denied, FsToolsError, Stale
from jupyter_fstools.journal.detailed_decision import Decision
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.standing import sides_of


def edit(call, path, old, new, **more):
    return call("edit_file", path=path, old_string=old, new_string=new, **more)


def journal(call):
    return Journal(call.workspace)


def status(call, change):
    return journal(call).change(change.id).status


@pytest.fixture
def asking(make_call):
    """A caller whose changes wait for a person."""
    return make_call(approval="always")


def test_a_change_that_needs_approval_touches_nothing(asking):
    """The call says so, and the receipt stays what it was."""
    asking.put("a.txt", "x\n")
    asking("read_file", path="a.txt")
    result = edit(asking, "a.txt", "x", "y")
    assert (result.data["status"], result.change.status) == ("proposed", "proposed")
    assert "waits for a person's approval" in result.content[0]["text"]
    created = asking("write_file", path="new/b.txt", content="x")
    assert created.data["status"] == "proposed" and not (asking.root / "new").exists()
    assert asking.got("a.txt") == b"x\n"
    assert asking("read_file", path="a.txt").data["unchanged"]
    assert "waits for a person" in asking.refused("conflict", "undo", change_id=result.change.id).hint


@pytest.mark.parametrize("path", ["a.py", "tool", "x.ipy"])
@pytest.mark.parametrize(
    ("declares", "told"),
    [("utf-7", "utf-7"), ("unicode_escape", "unicode-escape"), ("cp037-unix", "cp037"), ("utf-8", None), ("x", None)],
)
@pytest.mark.parametrize("first", ["", "#!/usr/bin/env python\n", f"#{'x' * 9000}\n", "\ufeff"])
def test_an_encoding_that_a_text_in_utf8_declares_is_named(asking, path, declares, told, first):
    """Decoded that way, a harmless comment of such a file is another line for Python."""
    text = f"{first}# -*- coding: {declares} -*-\n# done +AAo-print(1)\n"
    assert asking("write_file", path=path, content=text, encoding="utf-8").change.diff.encoding == told
    asking.put(path, text.replace("coding", "no").removeprefix("\ufeff"))
    asking("read_file", path=path, encoding="utf-8")
    assert edit(asking, path, "no: ", "coding: ").change.diff.encoding == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('<!doctype html>\n<html>\n<head>\n<meta charset="shift_jis">\n', "shift_jis"),
        ("<META http-equiv=Content-Type content='text/html; charset=iso-2022-jp'>\n", "iso2022_jp"),
        ('@charset "windows-1252";\n', "cp1252"),
        ('<meta charset="utf-8">\n', None),
        ('<meta charset="utf-16">\n', None),
        ("x = '<meta charset=\"shift_jis\">'\n", None),
        (f'<p>\n{"x" * 1100}\n<meta charset="shift_jis">\n', None),
    ],
)
def test_an_encoding_that_a_browser_would_read_a_page_in_is_named(asking, text, told):
    assert asking("write_file", path="a.txt", content=text).change.diff.encoding == told


def test_a_byte_order_mark_that_comes_or_goes_is_a_row_of_the_diff(asking):
    """The system takes no `#!` behind one: a script that gets one runs no more."""
    asking.put("a.sh", "#!/bin/sh\ntrue\n")
    asking("read_file", path="a.sh")
    marked, plain = "\ufeff#!/bin/sh", "#!/bin/sh"

    def rows(change):
        return [(row.kind, row.text) for hunk in change.diff.hunks for row in hunk.rows if row.kind != "context"]

    proposed = edit(asking, "a.sh", plain, marked).change
    assert rows(proposed) == [("remove", plain), ("add", marked)]
    sides = sides_of(asking.workspace, journal(asking).change(proposed.id))[0]
    assert (sides.old, sides.new) == (f"{plain}\ntrue\n", f"{marked}\ntrue\n")
    journal(asking).approve(proposed.id)
    assert asking.got("a.sh").startswith(b"\xef\xbb\xbf#!")
    assert rows(asking("undo", path="a.sh").change) == [("remove", marked), ("add", plain)]
    created = asking("write_file", path="b.sh", content=f"{marked}\n").change
    assert rows(created) == [("add", marked)]
    # A person who edits the proposed text gets one mark, not two.
    journal(asking).approve(created.id, decision=Decision(content=f"{marked} -e\n"))
    assert asking.got("b.sh") == b"\xef\xbb\xbf#!/bin/sh -e\n"


def test_a_new_file_that_a_person_edits_keeps_the_proposed_line_endings(asking):
    r"""An editor in the browser gives `\n` for each."""
    created = asking("write_file", path="a.txt", content="a\r\nb\r\nc\r\n").change
    journal(asking).approve(created.id, decision=Decision(content="a\nB\nc\nd\n"))
    assert asking.got("a.txt") == b"a\r\nB\r\nc\r\nd\r\n"


def test_a_read_only_file_is_refused_before_a_person_is_asked(asking):
    """Nobody could approve it; nor could an undo of a change from when it was writable."""
    asking.put("a.txt", "x\n")
    asking("read_file", path="a.txt")
    change = journal(asking).approve(edit(asking, "a.txt", "x", "y").change.id)
    (asking.root / "a.txt").chmod(0o444)
    asking.refused("denied", "edit_file", path="a.txt", old_string="y", new_string="z")
    asking.refused("denied", "write_file", path="a.txt", content="z\n")
    asking.refused("denied", "undo", change_id=change.id)
    assert journal(asking).waiting() == []


def test_approving_carries_each_kind_of_change_out(asking):
    """Creation, edit, overwrite, undo, and an undo that removes the file."""
    created = asking("write_file", path="d/a.txt", content="one\n").change
    assert journal(asking).approve(created.id).status == "applied"
    edited = edit(asking, "d/a.txt", "one", "two").change
    journal(asking).approve(edited.id)
    assert asking.got("d/a.txt") == b"two\n"
    over = asking("write_file", path="d/a.txt", content="three\n").change
    assert journal(asking).approve(over.id).decided_by == "ada"
    back = asking("undo", path="d/a.txt")
    assert back.data["status"] == "proposed" and "waits" in back.content[0]["text"]
    assert asking.got("d/a.txt") == b"three\n" and status(asking, over) == "applied"
    journal(asking).approve(back.change.id)
    assert asking.got("d/a.txt") == b"two\n" and status(asking, over) == "undone"
    for expected in (b"one\n", None):
        journal(asking).approve(asking("undo", path="d/a.txt").change.id)
        assert (asking.root / "d/a.txt").exists() == (expected is not None)
    assert status(asking, created) == "undone"


def test_the_proposer_goes_on_after_an_approval(asking):
    """Whoever approved it, and in any session."""
    person = asking.session("person", user="bob")
    asking.put("a.txt", "one\ntwo\nthree\n")
    asking("read_file", path="a.txt", offset=2, limit=1)
    journal(person).approve(edit(asking, "a.txt", "two\n", "2a\n2b\n").change.id)
    assert asking.workspace.tracker.lookup(asking.workspace.peek("a.txt").key).lines == [(2, 3)]
    journal(person).approve(edit(asking, "a.txt", "2b", "2c").change.id)
    person.refused("not_read", "edit_file", path="a.txt", old_string="2c", new_string="x")
    journal(person).approve(asking("write_file", path="b.txt", content="x\n").change.id)
    assert asking("write_file", path="b.txt", content="y\n").data["status"] == "proposed"


def test_an_approval_makes_no_other_content_count_as_read(asking):
    """The proposer looked at a later content, which then went away again."""
    asking.put("a.txt", "one\ntwo\n")
    asking("read_file", path="a.txt")
    change = edit(asking, "a.txt", "one", "1").change
    asking.put("a.txt", "other\nlines\n")
    asking("read_file", path="a.txt")
    asking.put("a.txt", "one\ntwo\n")
    journal(asking).approve(change.id)
    asking.refused("stale", "write_file", path="a.txt", content="x\n")


def test_a_rejected_proposal_is_done_with(asking):
    """The proposer may propose it again."""
    asking.put("a.txt", "x\n")
    asking("read_file", path="a.txt")
    change = edit(asking, "a.txt", "x", "y").change
    rejected = journal(asking).reject(change.id)
    assert (rejected.status, rejected.decided_by, asking.got("a.txt")) == ("rejected", "ada", b"x\n")
    journal(asking).approve(edit(asking, "a.txt", "x", "z").change.id)
    assert asking.got("a.txt") == b"z\n"


@pytest.mark.parametrize("first", ["approve", "reject"])
@pytest.mark.parametrize("second", ["approve", "reject"])
def test_nothing_is_decided_twice(asking, first, second):
    change = asking("write_file", path="a.txt", content="x").change
    getattr(journal(asking), first)(change.id)
    with pytest.raises(Conflict, match=f"{'applied' if first == 'approve' else 'rejected'} by ada") as refused:
        getattr(journal(asking), second)(change.id)
    assert refused.value.hint
    assert (asking.root / "a.txt").exists() == (first == "approve")


def test_a_proposal_whose_file_moved_on_is_refused_with_the_diff(asking):
    """Not merged; it stays proposed, and the next step is named."""
    asking.put("a.txt", "x = 1\ny = 1\n")
    asking("read_file", path="a.txt")
    change = edit(asking, "a.txt", "x = 1", "x = 2").change
    asking.put("a.txt", "x = 1\ny = 7\n")
    with pytest.raises(Stale) as refused:
        journal(asking).approve(change.id)
    assert "-y = 1\n+y = 7" in refused.value.details["diff"]
    assert "Reject" in refused.value.hint and "propose anew" in refused.value.hint
    assert status(asking, change) == "proposed" and asking.got("a.txt") == b"x = 1\ny = 7\n"
    journal(asking).reject(change.id)


def test_of_two_proposals_for_one_content_only_one_is_carried_out(asking):
    """The second one is for content that no longer exists."""
    asking.put("a.txt", "x y\n")
    asking("read_file", path="a.txt")
    one, two = edit(asking, "a.txt", "x", "1").change, edit(asking, "a.txt", "y", "2").change
    three = asking("write_file", path="b.txt", content="3").change
    four = asking("write_file", path="b.txt", content="4").change
    for first, second in ((two, one), (three, four)):
        journal(asking).approve(first.id)
        with pytest.raises(Stale):
            journal(asking).approve(second.id)
    assert (asking.got("a.txt"), asking.got("b.txt")) == (b"x 2\n", b"3")


@pytest.mark.parametrize("now", ["nothing", "link", "folder", "same bytes"])
def test_approving_looks_at_what_is_there_by_now(asking, now):
    """By content; a link to a file with the same content is another file."""
    file = asking.put("a.txt", "x\n")
    asking("read_file", path="a.txt")
    change = edit(asking, "a.txt", "x", "y").change
    file.unlink()
    asking.put("b.txt", "x\n")
    {
        "nothing": lambda: None,
        "link": lambda: file.symlink_to("b.txt"),
        "folder": file.mkdir,
        "same bytes": lambda: file.write_text("x\n"),
    }[now]()
    if now == "same bytes":
        assert journal(asking).approve(change.id).status == "applied"
        return
    with pytest.raises(FsToolsError) as refused:
        journal(asking).approve(change.id)
    assert refused.value.code == ("is_directory" if now == "folder" else "stale")
    assert asking.got("b.txt") == b"x\n" and status(asking, change) == "proposed"


def test_only_what_the_rules_name_waits(make_call):
    """By glob patterns."""
    call = make_call(approval=["*.py", "/etc/"])
    waits = {path: call("write_file", path=path, content="x").data["status"] for path in
             ("a.py", "d/B.PY", "etc/a", "a.txt", "d/etc/a")}  # fmt: skip
    assert [path for path, said in waits.items() if said == "proposed"] == ["a.py", "d/B.PY", "etc/a"]


def test_a_link_is_no_way_around_approval(make_call):
    """The rule applies to the file that the link leads to."""
    call = make_call(approval=["*.py"])
    call.put("a.py", "x")
    (call.root / "link.txt").symlink_to("a.py")
    call("read_file", path="link.txt")
    assert edit(call, "link.txt", "x", "y").data["status"] == "proposed"


def test_a_denied_file_is_not_changed_by_an_approval_either(make_call):
    """Rules that came after the proposal hold."""
    call = make_call(approval="always")
    change = call("write_file", path="later.txt", content="x").change
    strict = make_call(approval="always", deny_write=["later.txt"], store=call.workspace.store)
    with pytest.raises(Denied):
        journal(strict).approve(change.id)
    assert not (call.root / "later.txt").exists() and status(strict, change) == "proposed"


@pytest.mark.parametrize("rule", ["kept/", "/link.txt"], ids=["of the file", "of the link"])
def test_a_rule_holds_for_the_path_given_and_for_the_file_it_leads_to(make_call, rule):
    call = make_call(approval=[rule])
    call.put("kept/a.txt", "x\n")
    (call.root / "link.txt").symlink_to("kept/a.txt")
    call("read_file", path="link.txt")
    assert edit(call, "link.txt", "x", "y").change.status == "proposed"
    assert call.got("kept/a.txt") == b"x\n"


def test_a_proposed_undo_takes_nothing_back_that_was_taken_back_already(asking):
    """Another change made the same content again, and stays applied."""
    asking.put("a.txt", "one\n")
    asking("read_file", path="a.txt")
    change = edit(asking, "a.txt", "one", "1").change
    journal(asking).approve(change.id)
    first, second = (asking("undo", change_id=change.id).change for _ in range(2))
    journal(asking).approve(first.id)
    asking("read_file", path="a.txt")
    again = edit(asking, "a.txt", "one", "1").change
    journal(asking).approve(again.id)
    with pytest.raises(Conflict, match="undone already \\(not modified\\)"):
        journal(asking).approve(second.id)
    assert asking.got("a.txt") == b"1\n"
    told = [status(asking, one) for one in (change, first, second, again)]
    assert told == ["undone", "applied", "proposed", "applied"]
