"""A session is told once, in its next answer, how a person decided about its changes."""

from __future__ import annotations

import pytest

from jupyter_fstools.errors import InputOutput
from jupyter_fstools.gate.tokens import Grant
from jupyter_fstools.journal.decisions import follow
from jupyter_fstools.journal.detailed_decision import Decision
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.stores.sqlite import SqliteStore

TITLE = "Since your last call, a person decided about changes of yours:"


@pytest.fixture
def asking(make_call):
    """A caller whose changes wait for a person."""
    return make_call(approval="always")


@pytest.fixture
def journal(asking):
    """The person's, in a session of their own."""
    return Journal(asking.session("person").workspace)


LINES = [f"line {number}\n" for number in range(40)]
MINE = "".join("mine\n" if at in (2, 36) else line for at, line in enumerate(LINES))


def propose(call, path="a.txt", content="x\n"):
    return call("write_file", path=path, content=content).change


def told(result):
    return result.data.get("since_last_call", "")


def test_the_next_answer_tells_a_rejection_with_its_reason_once(asking, journal):
    change = propose(asking)
    assert told(asking("list_files")) == ""
    journal.reject(change.id, reason='no,\nuse "b.txt"')
    result = asking("list_files")
    line = f'- {change.id} of "a.txt" was rejected; nothing of it was written. The person says: "no,\\nuse \\"b.txt\\""'
    assert result.text.endswith(f"{TITLE}\n{line}") and told(result) == f"{TITLE}\n{line}"
    assert told(asking("list_files")) == ""


def test_a_refusal_tells_it_too(asking, journal):
    asking.put("a.txt", "one\n")
    asking("read_file", path="a.txt")
    change = asking("edit_file", path="a.txt", old_string="one", new_string="two").change
    journal.reject(change.id, reason="keep it")
    refusal = asking.refused("no_match", "edit_file", path="a.txt", old_string="two", new_string="three")
    assert "keep it" in refusal.details["since_last_call"]
    assert told(asking("list_files")) == ""


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (Decision(), "was approved and written."),
        (Decision([0, 2], reason="not that"), "hunks (counted from 0) 0, 2 were written, 1 were rejected"),
        (Decision([1, 2]), "hunks (counted from 0) 1, 2 were written, 0 were rejected"),
        (Decision(content="other\n"), "the person wrote other text than you proposed: read it before you go on."),
    ],
    ids=["whole", "in part", "all but the first", "edited"],
)
def test_an_approval_is_told_with_what_was_made_of_it(asking, journal, decision, said):
    asking.put("a.txt", "".join(LINES))
    asking("read_file", path="a.txt")
    wanted = "".join(line.upper() if at in (2, 18, 36) else line for at, line in enumerate(LINES))
    change = propose(asking, content=wanted)
    journal.approve(change.id, decision=decision)
    answer = told(asking("list_files"))
    assert said in answer and (decision.reason or "") in answer


def test_only_the_session_that_proposed_it_is_told(asking, journal):
    other = asking.session("other")
    propose(other, "b.txt")
    change = propose(asking)
    journal.reject(change.id)
    assert told(other("list_files")) == ""
    assert change.id in told(asking("list_files"))


def test_a_process_that_begins_anew_tells_what_was_not_told(make_call, tmp_path):
    """Nothing is told twice."""
    first = make_call(approval="always", store=SqliteStore(tmp_path / "store"))
    changes = [propose(first, name) for name in ("a.txt", "b.txt", "c.txt")]
    Journal(first.workspace).reject(changes[0].id)
    assert changes[0].id in told(first("list_files"))
    Journal(first.workspace).reject(changes[1].id)
    again = make_call(approval="always", store=SqliteStore(tmp_path / "store"))
    assert (changes[1].id in (said := told(again("list_files")))) and changes[0].id not in said
    Journal(first.workspace).reject(changes[2].id)
    assert changes[2].id in told(again("list_files")) and told(first("list_files")) == ""


def test_long_reasons_are_cut_and_many_decisions_told_by_several_answers(asking, journal):
    changes = [propose(asking, f"{number}.txt") for number in range(12)]
    for change in changes:
        journal.reject(change.id, reason="because " * 1000)
    said = []
    while text := told(asking("list_files")):
        assert len(text) < 4000
        said.append(text)
    assert len(said) > 1 and [text.count(change.id) for text in ["".join(said)] for change in changes] == [1] * 12


def test_a_store_that_fails_keeps_no_answer_back(asking, journal, monkeypatch):
    change = propose(asking)
    journal.reject(change.id)

    def failing(*_):
        raise InputOutput("the store is away")

    with monkeypatch.context() as patched:
        patched.setattr(asking.workspace.store, "changes", failing)
        assert told(asking("list_files")) == ""
    assert change.id in told(asking("list_files"))


def test_a_session_of_which_nothing_waits_costs_no_look(asking, monkeypatch):
    asking("list_files")
    monkeypatch.setattr(asking.workspace.store, "changes", None)
    assert told(asking("list_files")) == ""


def test_a_session_is_told_why_its_change_was_undone(make_call):
    call = make_call()
    change = propose(call)
    journal = Journal(call.session("person").workspace)
    journal.undo(journal.change(change.id), by_person=True, reason="we keep no such file")
    found = journal.change(change.id)
    assert (found.status, found.decided.reason) == ("undone", "we keep no such file")
    follow(call.workspace, found)
    assert told(call("list_files")).endswith(
        f'- {change.id} of "a.txt" was written, and has been undone since. The person says: "we keep no such file"'
    )
    assert told(call("list_files")) == ""


@pytest.mark.parametrize("approval", ["always", "never"])
def test_a_change_that_was_undone_and_made_again_is_told_as_written_again(make_call, approval):
    """It was last decided by nobody, and nobody need have approved it."""
    call = make_call(approval=approval)
    journal = Journal(call.session("person").workspace)
    change = propose(call)
    if approval == "always":
        journal.approve(change.id)
    undone = journal.undo(journal.change(change.id), by_person=True, reason="wrong file")
    follow(call.workspace, journal.change(change.id))
    journal.undo(undone, by_person=True)
    line = f'- {change.id} of "a.txt" was undone, and is written again. The person says: "wrong file"'
    assert told(call("list_files")) == f"{TITLE}\n{line}"


@pytest.mark.parametrize("hunk", [0, 1])
def test_a_session_is_told_which_hunks_were_taken_back_and_why(make_call, hunk):
    call = make_call()
    call.put("a.txt", "".join(LINES))
    call("read_file", path="a.txt")
    wanted = "".join(line.upper() if at in (2, 36) else line for at, line in enumerate(LINES))
    change = propose(call, content=wanted)
    journal = Journal(call.session("person").workspace)
    journal.undo(journal.change(change.id), by_person=True, hunks=[hunk], reason="only the other")
    follow(call.workspace, journal.change(change.id))
    answer = told(call("list_files"))
    said = f"was undone in part: of its hunks (counted from 0) {hunk} were taken back"
    assert said in answer and "only the other" in answer


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        (Decision([0, 2], reason="why"), '2 were written, 0, 1 were rejected. The person says: "why"'),
        (Decision([1, 2], content=MINE, reason="mine"), 'before you go on. The person says: "mine"'),
    ],
    ids=["in part", "edited"],
)
def test_what_a_person_decided_is_told_though_they_took_a_hunk_of_it_back_since(asking, journal, decision, said):
    asking.put("a.txt", "".join(LINES))
    asking("read_file", path="a.txt")
    wanted = "".join(line.upper() if at in (2, 18, 36) else line for at, line in enumerate(LINES))
    change = propose(asking, content=wanted)
    done = journal.approve(change.id, decision=decision)
    assert len(done.diff.hunks) == 2
    journal.undo(done, by_person=True, hunks=[0])
    assert said in told(asking("list_files"))


@pytest.mark.parametrize("hunks", [None, [1]])
def test_an_undo_that_landed_is_not_denied_where_its_note_cannot_be_kept(make_call, monkeypatch, caplog, hunks):
    call = make_call()
    call.put("a.txt", "".join(LINES))
    call("read_file", path="a.txt")
    change = propose(call, content="".join(line.upper() if at in (2, 36) else line for at, line in enumerate(LINES)))
    journal = Journal(call.session("person").workspace)

    def full(*_, **__):
        raise InputOutput("the store is full", hint="Make room.")

    monkeypatch.setattr(journal, "_note", full)
    done = journal.undo(change, by_person=True, hunks=hunks, reason="not that")
    assert done.status == "applied" and call.got("a.txt").count(b"LINE") == (0 if hunks is None else 1)
    assert "the store is full" in caplog.text


def test_a_proposal_that_many_changes_followed_is_told_after_a_restart(make_call):
    """A server that starts again looks at the newest changes alone."""
    call = make_call(approval=["a.txt"])
    change = propose(call)
    for number in range(110):
        propose(call, f"b{number}.txt")
    call.workspace.followed.clear()
    assert told(call("list_files")) == ""
    Journal(call.session("person").workspace).reject(change.id)
    assert change.id in told(call("list_files"))
    assert told(call("list_files")) == ""


def test_a_token_of_fewer_paths_keeps_no_decision_from_the_others_of_its_session(asking, journal):
    """It is not told of files that it does not open, and its call may be the first after a restart."""
    change = propose(asking)
    asking.workspace.followed.clear()
    wide, narrow = asking.workspace, asking.workspace.for_reader(change.reader, grant=Grant("write", ["sub/"]))
    asking.workspace = narrow
    assert told(asking("list_files")) == ""
    journal.reject(change.id)
    assert told(asking("list_files")) == ""
    asking.workspace = wide
    assert change.id in told(asking("list_files"))
    inside = propose(asking, "sub/b.txt")
    journal.reject(inside.id)
    asking.workspace = narrow
    assert inside.id in told(asking("list_files"))
    asking.workspace = wide
    assert told(asking("list_files")) == ""
