"""The journal of changes: listing and undoing them."""

from __future__ import annotations

import os

import pytest

from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.errors import Conflict, FsToolsError, NotFound, Stale, TooLarge
from jupyter_fstools.gate import draft as draft_module
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.tools import call_tool
from tests.conftest import Caller


def edit(call, path, old, new, **more):
    return call("edit_file", path=path, old_string=old, new_string=new, **more)


def journal(call):
    return Journal(call.workspace)


def undo(call, change):
    """Undo a change as a person does."""
    return journal(call).undo(journal(call).change(change.id), by_person=True)


def status(call, change):
    return journal(call).change(change.id).status


@pytest.fixture
def asking(make_call):
    """A caller whose changes wait for a person."""
    return make_call(approval="always")


def test_undo_by_path_steps_back_change_by_change(call):
    """Changes by write and by edit, to the exact bytes, and in the end to no file."""
    call("write_file", path="a.txt", content="one\r\ntwo")
    edit(call, "a.txt", "one", "1")
    call("write_file", path="a.txt", content="all\nnew\n")
    for expected in (b"1\r\ntwo", b"one\r\ntwo"):
        assert call("undo", path="a.txt").change.diff.op == "edit"
        assert call.got("a.txt") == expected
    done = call("undo", path="a.txt")
    assert done.change.diff.op == "delete" and "removed" in done.content[0]["text"]
    assert os.listdir(call.root) == []
    call.refused("not_found", "undo", path="a.txt")


def test_undoing_a_creation_leaves_the_folders_made_for_it(call):
    """Other programs may rely on them already."""
    call("write_file", path="new/deep/a.txt", content="x\n")
    call("undo", path="new/deep/a.txt")
    assert os.listdir(call.root / "new" / "deep") == []


@pytest.mark.parametrize("moved_on", ["other\n", None])
def test_what_a_person_may_not_undo_or_approve_says_that_nothing_was_modified(call, make_call, moved_on):
    made = call("write_file", path="a.txt", content="one\n").change
    asking = Caller(make_call(approval="always", store=call.workspace.store).workspace, call.root)
    waiting = edit(asking, "a.txt", "one", "1").change
    if moved_on is None:
        (call.root / "a.txt").unlink()
    else:
        call.put("a.txt", moved_on)
    for decide in (lambda: undo(call, made), lambda: journal(call).approve(waiting.id)):
        with pytest.raises(Stale, match="not modified") as refused:
            decide()
        assert refused.value.hint
    journal(call).reject(waiting.id)
    with pytest.raises(Conflict, match="not modified"):
        journal(call).approve(waiting.id)


def test_an_undo_names_what_it_undoes_and_can_be_undone(call):
    """The undo of an undo can be undone, too, any number of times; each change tells whether it is applied."""
    call.put("a.txt", "x")
    call("read_file", path="a.txt")
    chain = [edit(call, "a.txt", "x", "y").change]
    for length in range(1, 6):
        done = call("undo", change_id=chain[-1].id)
        assert done.change.undoes == done.data["undoes"] == chain[-1].id
        chain.append(done.change)
        assert call.got("a.txt") == (b"x" if length % 2 else b"y")
        newest_is_odd = length % 2
        stands = [status(call, change) == "applied" for change in chain]
        assert stands == [(n % 2 == newest_is_odd) if n < length else True for n in range(length + 1)]
    assert edit(call, "a.txt", "x", "z").data["changed"]


def test_undoing_the_undo_of_a_creation_makes_the_file_again(call):
    made = call("write_file", path="d/a.txt", content="été\n").change
    gone = call("undo", change_id=made.id).change
    again = call("undo", change_id=gone.id)
    assert call.got("d/a.txt") == "été\n".encode() and again.change.diff.op == "create"
    assert status(call, made) == "applied"
    call("undo", path="d/a.txt")
    assert not (call.root / "d/a.txt").exists()


def test_an_undone_change_is_not_undone_again(call):
    made = call("write_file", path="a.txt", content="x").change
    call("undo", change_id=made.id)
    refusal = call.refused("conflict", "undo", change_id=made.id)
    assert "undone by ada" in refusal.message and refusal.details["status"] == "undone"


def test_a_tool_takes_back_its_own_changes_only_a_person_any(call):
    made = call("write_file", path="a.txt", content="x").change
    other = call.session("other")
    assert "another session" in other.refused("denied", "undo", change_id=made.id).message
    other.refused("not_found", "undo", path="a.txt")
    call.session("default", user="bob").refused("denied", "undo", change_id=made.id)
    assert undo(other, made).reader == Reader("ada", "other")
    assert not (call.root / "a.txt").exists()


def test_a_person_is_not_asked_for_their_own_undo(asking):
    made = asking("write_file", path="a.txt", content="x").change
    journal(asking).approve(made.id)
    assert undo(asking, made).status == "applied"
    assert not (asking.root / "a.txt").exists()


def test_a_proposed_change_cannot_be_undone(asking):
    made = asking("write_file", path="a.txt", content="x").change
    assert "proposed" in asking.refused("conflict", "undo", change_id=made.id).message
    asking.refused("not_found", "undo", path="a.txt")


def test_a_change_with_a_later_one_on_top_is_refused_with_what_differs(call):
    """The next step is named."""
    call.put("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n")
    call("read_file", path="a.txt")
    made = edit(call, "a.txt", "one", "1").change
    edit(call, "a.txt", "two", "2")
    refusal = call.refused("stale", "undo", change_id=made.id)
    assert refusal.details["diff"].count("\n+") == 1 and "-two\n+2" in refusal.details["diff"]
    assert "later changes" in refusal.hint and "by hand" in refusal.hint
    assert status(call, made) == "applied"
    call("undo", path="a.txt")
    call("undo", path="a.txt")
    assert call.got("a.txt").startswith(b"one\ntwo\n")


@pytest.mark.parametrize("theirs", [b"mine\r\n", b"mine\n\n", b"mine", b"", None])
def test_undo_goes_by_every_byte(call, theirs):
    """Line endings count, too; a created file that an outsider has changed is not removed."""
    made = call("write_file", path="a.txt", content="mine\n").change
    call.put("a.txt", theirs) if theirs is not None else (call.root / "a.txt").unlink()
    refusal = call.refused("stale", "undo", change_id=made.id)
    assert "later changes" in refusal.hint
    if theirs is not None:
        assert call.got("a.txt") == theirs
        assert refusal.details.get("changed" if theirs == b"mine\r\n" else "diff")


def test_a_link_in_the_place_of_the_file_is_another_file(call):
    """Even if the link leads to a file with the same content."""
    made = call("write_file", path="a.txt", content="x").change
    call.put("b.txt", "x")
    (call.root / "a.txt").unlink()
    (call.root / "a.txt").symlink_to("b.txt")
    assert "link" in call.refused("stale", "undo", change_id=made.id).message
    assert call.got("b.txt") == b"x"


def test_an_undo_of_the_bytes_that_were_read_is_fresh_again(call):
    """The reader may go on."""
    call.put("a.txt", "x\n")
    call("read_file", path="a.txt")
    undo(call.session("person"), edit(call, "a.txt", "x", "y").change)
    call.refused("stale", "edit_file", path="a.txt", old_string="x", new_string="z")
    edit(call, "a.txt", "x", "z", if_stale="match")
    call("undo", path="a.txt")
    assert edit(call, "a.txt", "x", "z").data["changed"]


def test_what_was_too_large_to_keep_says_so(call, monkeypatch):
    """The change itself is still there to be seen."""
    monkeypatch.setattr(draft_module, "MAX_UNDO_BYTES", 10)
    call.put("a.txt", "x" * 11)
    call("read_file", path="a.txt")
    made = call("write_file", path="a.txt", content="y").change
    assert not made.undoable
    refusal = call.refused("too_large", "undo", path="a.txt")
    assert "backup" in refusal.hint and call.got("a.txt") == b"y"
    with pytest.raises(TooLarge):
        undo(call, made)


def test_an_overwrite_can_be_undone_where_its_insertion_is_large(call, monkeypatch):
    """Only what was removed is kept."""
    monkeypatch.setattr(draft_module, "MAX_UNDO_BYTES", 10)
    made = call("write_file", path="a.txt", content="x" * 1000).change
    assert made.undoable
    call("write_file", path="a.txt", content="x" * 1000 + "y")
    call("undo", path="a.txt")
    assert call.got("a.txt") == b"x" * 1000


def test_the_journal_is_bounded_by_count(make_call):
    """The oldest go first."""
    call = make_call(journal_max_changes=3)
    for number in range(5):
        call("write_file", path=f"{number}.txt", content="x")
    assert [change.path for change in journal(call).changes(ChangeQuery())] == ["4.txt", "3.txt", "2.txt"]
    call.refused("not_found", "undo", path="0.txt")


def test_a_reason_for_which_the_full_journal_has_no_entry_is_no_failure_of_the_undo(make_call):
    """The undo's own entry evicts the change that it takes back."""
    call = make_call(journal_max_changes=1)
    change = call("write_file", path="a.txt", content="x").change
    assert journal(call).undo(change, by_person=True, reason="no").status == "applied"
    assert not (call.root / "a.txt").exists()


def test_the_journal_is_bounded_by_bytes_and_keeps_edits_as_splices(make_call):
    """An edit of a large file costs its own size."""
    call = make_call(journal_max_bytes=100_000)
    call.put("big.txt", os.urandom(100_000).hex() + "\nx 0.\n")
    call("read_file", path="big.txt", offset=2, limit=1)
    for number in range(30):
        edit(call, "big.txt", f"x {number}.", f"x {number + 1}.")
    assert len(journal(call).changes(ChangeQuery())) == 30
    call.put("b.txt", os.urandom(99_500).hex())
    call("read_file", path="b.txt", max_line_length=200_000)
    call("write_file", path="b.txt", content="x")
    assert len(journal(call).changes(ChangeQuery())) == 1
    call.refused("not_found", "undo", path="big.txt")


def test_a_proposal_outlives_the_bounds(make_call):
    call = make_call(journal_max_changes=2, approval=["wait.txt"])
    waiting = call("write_file", path="wait.txt", content="x").change
    for number in range(5):
        call("write_file", path=f"{number}.txt", content="x")
    assert journal(call).approve(waiting.id).status == "applied"


def test_changes_are_listed_by_path_session_and_status(call):
    other = call.session("other")
    for who, path in ((call, "a.txt"), (other, "d/b.txt"), (call, "d/e/c.txt"), (call, "d2/x.txt")):
        who("write_file", path=path, content="x")
    call("undo", path="a.txt")

    def paths(**wanted):
        return [change.path for change in journal(call).changes(ChangeQuery(**wanted))]

    assert paths() == paths(path=".") == ["a.txt", "d2/x.txt", "d/e/c.txt", "d/b.txt", "a.txt"]
    assert paths(path="d") == paths(path=f"{call.root}/d/") == ["d/e/c.txt", "d/b.txt"]
    assert paths(path="d/b.txt") == paths(session="other") == ["d/b.txt"]
    assert paths(status="undone") == ["a.txt"] and paths(status="proposed") == paths(path="none") == []
    assert paths(limit=2, offset=1) == ["d2/x.txt", "d/e/c.txt"]
    with pytest.raises(FsToolsError, match="leads out"):
        paths(path="../x")


def test_following_the_journal_tells_each_step_once(call):
    """Every step, a new change or a new status, has a revision of its own, in rising order."""
    seen, after = [], 0
    made = call("write_file", path="a.txt", content="x").change
    for _ in range(2):
        for change in journal(call).changes(ChangeQuery(after=after)):
            seen.append((change.tool, change.status))
            after = change.revision
        undo(call, made) if made.status == "applied" and len(seen) == 1 else None
    assert sorted(seen[1:]) == [("undo", "applied"), ("write_file", "undone")] and seen[0] == ("write_file", "applied")
    assert journal(call).changes(ChangeQuery(after=after)) == []


def test_changes_of_denied_and_outside_files_are_not_visible(call, make_call):
    """Not in lists, not by id, not to be undone."""
    made = call("write_file", path="d/secret.txt", content="x").change
    strict = make_call(deny_read=["secret.txt"], store=call.workspace.store)
    inner = Workspace(
        LocalDisk(call.root / "d"), call.workspace.store, call.workspace._locks, Policy(), call.workspace.reader
    )
    (call.root / "e").mkdir()
    beside = Workspace(
        LocalDisk(call.root / "e"), call.workspace.store, call.workspace._locks, Policy(), call.workspace.reader
    )
    for workspace in (strict.workspace, beside):
        assert Journal(workspace).changes(ChangeQuery()) == []
        with pytest.raises(NotFound) as refused:
            Journal(workspace).change(made.id)
        assert "secret" not in str(refused.value.as_dict())
    seen = Journal(inner).change(made.id)
    assert (seen.path, seen.diff.path) == ("secret.txt", "secret.txt")
    call_tool(inner, "undo", change_id=made.id)
    assert not (call.root / "d/secret.txt").exists()


def test_an_unknown_change_is_not_found(call):
    for change_id in ("", "c0", "../x", "x" * 1000, "%", "\udcff"):
        refusal = call.refused("not_found", "undo", change_id=change_id)
        assert len(refusal.message) < 200


def test_undo_says_what_can_be_named_where_nothing_lists_changes(call):
    assert "change_id from the answer to the change" in call.refused("not_found", "undo", change_id="nope").hint
    hint = call.refused("not_found", "undo", path="nope").hint
    assert "undone already" in hint
    assert "changes`" not in hint
