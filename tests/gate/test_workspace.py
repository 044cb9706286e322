"""The one door: show leaves a receipt, peek leaves none, draft demands one, commit takes a draft."""

from __future__ import annotations

import os
import re

import pytest

from jupyter_fstools.content.splices import Splice
from jupyter_fstools.diffs.file_diff import FileDiff
from jupyter_fstools.errors import Conflict, FsToolsError, IsDirectory, NotFound, NotRead, Stale, TimedOut, TooLarge
from jupyter_fstools.gate.draft import Draft, Step
from jupyter_fstools.gate.line_check import LineCheck
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.open_documents.holders import Disk
from jupyter_fstools.tools import TOOLS


def edit(call, path, old, new, **more):
    return call("edit_file", path=path, old_string=old, new_string=new, **more)


def step(path, *splices, op="edit"):
    return Step(list(splices), FileDiff(path=path, op=op), "test")


def test_peek_and_show_alone_open_nothing(call):
    """Only text that is recorded while it is shown counts."""
    call.put("a.txt", "x")
    assert call.workspace.peek("a.txt").kind == "file"
    with call.workspace.show("a.txt") as opened:
        assert opened.read(0, 9) == b"x"
    with pytest.raises(NotRead), call.workspace.draft("a.txt"):
        pass


def test_a_draft_demands_a_current_receipt(call):
    call.put("a.txt", "x\n")
    call("read_file", path="a.txt")
    with call.workspace.draft("a.txt", whole=True) as draft:
        assert draft.receipt.full and draft.content.read(0, 9) == b"x\n"
    call.put("a.txt", "y\n")
    with pytest.raises(Stale) as refused, call.workspace.draft("a.txt"):
        pass
    assert "-x\n+y" in refused.value.details["diff"]
    accepting = LineCheck(call.workspace.tracker, call.workspace.versions, accept_stale=True)
    with call.workspace.drafts(["a.txt"], accepting) as [(draft, _)]:
        assert draft.content.read(0, 9) == b"y\n"


def test_a_draft_says_what_is_there_instead(call):
    call.put("d/a.txt", "x")
    os.mkfifo(call.root / "fifo")
    for path, options, refusal in (
        ("b.txt", {}, NotFound),
        ("d", {"may_create": True}, IsDirectory),
        ("d/a.txt", {"may_create": True, "exclusive": True}, Conflict),
    ):
        with pytest.raises(refusal), call.workspace.draft(path, **options):
            pass
    with pytest.raises(FsToolsError, match="pipe"), call.workspace.draft("fifo"):
        pass
    with call.workspace.draft("d/new", may_create=True, exclusive=True) as draft:
        assert draft.before is None and draft.content.size == 0


def test_a_file_above_the_limit_is_not_edited(make_call):
    call = make_call(max_edit_bytes=10)
    call.put("a.txt", "x" * 11)
    call("read_file", path="a.txt")
    with pytest.raises(TooLarge) as refused, call.workspace.draft("a.txt"):
        pass
    assert refused.value.details == {"size": 11, "limit": 10} and refused.value.hint


def test_a_commit_writes_records_and_keeps_the_receipt_current(call):
    """Listeners are told, too."""
    heard = []
    call.workspace._committed = heard.append
    call.put("a.txt", "one two\n")
    call("read_file", path="a.txt")
    with call.workspace.draft("a.txt") as draft:
        change = call.workspace.commit(draft, step("a.txt", Splice(0, b"one", b"1")))
    assert call.got("a.txt") == b"1 two\n"
    assert heard == [change] and change.status == "applied" and change.before.size == 8
    assert call.workspace.store.change(change.id) == change
    assert call.workspace.tracker.lookup(change.key).exact_sha == change.after.exact_sha


def test_a_commit_of_nothing_is_no_change(call):
    """No write, no entry, the time stays."""
    file = call.put("a.txt", "x")
    os.utime(file, (5, 5))
    call("read_file", path="a.txt")
    with call.workspace.draft("a.txt") as draft:
        assert call.workspace.commit(draft, step("a.txt")) is None
    assert file.stat().st_mtime == 5 and Journal(call.workspace).changes(ChangeQuery()) == []


def test_an_outsider_who_is_faster_than_the_commit_wins(call):
    """Nothing is written, nothing is recorded, and the next try is stale."""
    call.put("a.txt", "mine\n")
    call("read_file", path="a.txt")
    with call.workspace.draft("a.txt") as draft:
        call.put("a.txt", "theirs\n")
        with pytest.raises(Conflict):
            call.workspace.commit(draft, step("a.txt", Splice(0, b"mine", b"ours")))
    assert call.got("a.txt") == b"theirs\n" and os.listdir(call.root) == ["a.txt"]
    assert Journal(call.workspace).changes(ChangeQuery()) == []
    call.refused("stale", "edit_file", path="a.txt", old_string="mine", new_string="ours")


@pytest.mark.parametrize("kind", ["file", "directory", "link"])
def test_an_outsider_who_makes_the_file_first_wins(call, kind):
    """The outsider may also make a folder, or a link that leads out."""
    with call.workspace.draft("a.txt", may_create=True) as draft:
        file = call.root / "a.txt"
        {"file": file.touch, "directory": file.mkdir, "link": lambda: file.symlink_to("../out")}[kind]()
        with pytest.raises((Conflict, IsDirectory)):
            call.workspace.commit(draft, step("a.txt", Splice(0, b"", b"x"), op="create"))
    assert not (call.root.parent / "out").exists()
    assert os.listdir(call.root) == ["a.txt"]


def test_an_outsider_who_removes_the_file_wins(call):
    """The file is not created again."""
    file = call.put("a.txt", "x")
    call("read_file", path="a.txt")
    with call.workspace.draft("a.txt") as draft:
        file.unlink()
        with pytest.raises((Conflict, NotFound)):
            call.workspace.commit(draft, step("a.txt", Splice(0, b"x", b"y")))
    assert os.listdir(call.root) == []


def test_a_file_in_a_draft_is_nobody_elses_until_the_block_ends(make_call):
    """Also after an error in it; a lock is not taken twice by one thread."""
    call = make_call(lock_seconds=0.05)
    call.put("a.txt", "x")
    call("read_file", path="a.txt")
    with pytest.raises(ZeroDivisionError), call.workspace.draft("a.txt"):
        with pytest.raises(RuntimeError, match="holds the lock"), call.workspace.draft("a.txt"):
            pass
        raise ZeroDivisionError
    assert edit(call, "a.txt", "x", "y").data["changed"]


def test_a_call_that_waits_too_long_for_another_is_refused(make_call):
    """The file can be changed as soon as the other one releases it."""
    from concurrent.futures import ThreadPoolExecutor

    call = make_call(lock_seconds=0.05)
    call.put("a.txt", "x")
    call("read_file", path="a.txt")
    with ThreadPoolExecutor(1) as other:
        with call.workspace.draft("a.txt"):
            waiting = other.submit(edit, call, "a.txt", "x", "y")
            with pytest.raises(TimedOut, match="not modified"):
                waiting.result()
        assert other.submit(edit, call, "a.txt", "x", "y").result().data["changed"]


def test_a_folder_that_becomes_a_link_leads_no_commit_elsewhere(call):
    """After the draft was taken."""
    outside = call.root.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("x")
    call.put("d/a.txt", "x")
    call("read_file", path="d/a.txt")
    with call.workspace.draft("d/a.txt") as draft:
        (call.root / "d").rename(call.root / "e")
        (call.root / "d").symlink_to("../outside")
        with pytest.raises(Conflict):
            call.workspace.commit(draft, step("d/a.txt", Splice(0, b"x", b"y")))
    assert (outside / "a.txt").read_text() == "x" and call.got("e/a.txt") == b"x"


def test_keys_and_paths_belong_to_one_root(call):
    workspace = call.workspace
    assert workspace.paths.path_of(workspace.paths.key_of("a/b")) == "a/b"
    assert workspace.paths.key_of("") == workspace.backend.root_key
    assert workspace.paths.path_of(workspace.backend.root_key + "-evil/a") is None
    assert workspace.paths.path_of("/elsewhere") is None


def test_every_refused_change_says_what_to_do_next(call):
    """Not modified, why, and the next step."""
    call.put("a.txt", "x = 1\nx = 1\n")
    call.put("d/b.txt", "x")
    call.put("book.ipynb", "{}")
    cases = [
        ("edit_file", {"path": "a.txt", "old_string": "x", "new_string": "y"}),
        ("edit_file", {"path": "d", "old_string": "x", "new_string": "y"}),
        ("edit_file", {"path": "none", "old_string": "x", "new_string": "y"}),
        ("edit_file", {"path": "book.ipynb", "old_string": "x", "new_string": "y"}),
        ("edit_file", {"path": "a.txt", "old_string": "x"}),
        ("write_file", {"path": "a.txt", "content": "y"}),
        ("write_file", {"path": "a.txt/b", "content": "y"}),
        ("write_file", {"path": "a.txt", "content": "y", "create_only": True}),
        ("write_file", {"path": "../x", "content": "y"}),
        ("undo", {"path": "a.txt"}),
        ("undo", {"change_id": "c0"}),
    ]
    for name, arguments in cases:
        with pytest.raises(FsToolsError) as refused:
            call(name, **arguments)
        assert "not modified" in refused.value.message and refused.value.hint, refused.value
    assert call.got("a.txt") == b"x = 1\nx = 1\n" and sorted(os.listdir(call.root)) == ["a.txt", "book.ipynb", "d"]


def test_no_tool_approves_or_rejects():
    assert not [name for name in TOOLS if re.search("approve|reject|accept", name)]


def test_only_a_draft_that_the_workspace_made_is_ever_committed(call):
    """A draft made by hand has no lock and no receipt; what it can do is bounded by the version it names."""
    call.put("a.txt", "x")
    stat = call.workspace.peek("a.txt")
    with call.workspace.backend.read("a.txt") as opened, pytest.raises(Conflict):
        call.put("a.txt", "y")
        call.workspace.commit(
            Draft("a.txt", stat, opened, Disk(call.workspace.backend, stat)), step("a.txt", Splice(0, b"x", b"z"))
        )
    assert call.got("a.txt") == b"y"
