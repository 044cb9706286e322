"""execute: its answers and refusals, and that no command runs without approval."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import pytest
from pydantic import TypeAdapter

from jupyter_fstools import FsToolsError, open_workspace, tool_schemas
from jupyter_fstools.errors import Conflict, InputOutput
from jupyter_fstools.journal import commands
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.tools import TOOLS, available_tools


@pytest.fixture
def call(make_call):
    return make_call(enable_execute=True, execute_approval=False)


@pytest.fixture
def asking(make_call):
    """Commands wait for a person, for a time that no test waits for."""
    return make_call(enable_execute=True, execute_approval_seconds=60.0)


class Person:
    """Decides about the first command that waits, in a thread of its own, while the block runs."""

    def __init__(self, caller, decide):
        self.journal = Journal(caller.session("person", "grace").workspace)
        self.decide = decide
        self.thread = threading.Thread(target=self.look)
        self.stopped = threading.Event()

    def look(self):
        while not self.stopped.wait(0.02):
            for change in self.journal.changes(ChangeQuery(status="proposed")):
                self.seen = change
                self.decide(self.journal, change)
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()


def approve(journal, change):
    journal.approve(change.id, commands=True)


def statuses(caller):
    return [change.status for change in Journal(caller.workspace).changes(ChangeQuery())]


def test_the_answer_says_what_was_printed_how_it_ended_and_what_it_changed(call):
    call.put("old.txt", "old\n")
    result = call("execute", command="echo hi; touch new.txt sub.txt; exit 3")
    data = dict(result.data)
    assert data.pop("seconds") > 0
    assert data == {
        "cwd": ".",
        "output": "hi\n",
        "exit_code": 3,
        "truncated": False,
        "timed_out": False,
        "cancelled": False,
        "changed_files": ["new.txt", "sub.txt"],
        "changed_files_truncated": False,
    }
    assert result.text == "hi\n[exit code 3]\n[files changed: new.txt, sub.txt]"


def test_the_data_has_the_form_that_the_output_schema_says(call):
    data = call("execute", command="true").data
    assert TypeAdapter(TOOLS["execute"].answer()).validate_python(data).model_dump() == data


def test_a_command_that_prints_nothing_says_so(call):
    assert call("execute", command="true").text == "(no output)\n[exit code 0]"


def test_over_its_time_what_it_printed_is_a_result(call):
    result = call("execute", command="echo begun; sleep 1000", timeout="0.5")
    assert (result.data["timed_out"], result.data["output"]) == (True, "begun\n")
    assert "ended after 0.5 seconds (timeout)" in result.text


def test_a_model_is_shown_what_a_terminal_would_show(call):
    result = call("execute", command=r"printf '10%%\r100%%\n\033[31mred\033[0m\n'")
    assert result.content[0]["text"] == "100%\nred"
    assert result.data["output"] == "10%\r100%\n\x1b[31mred\x1b[0m\n"


def test_it_runs_in_a_folder_below_the_root(call):
    call.put("sub/a.txt", "x")
    result = call("execute", command="pwd; echo $PWD; ls", cwd="./sub")
    assert result.data["output"] == f"{call.root}/sub\n{call.root}/sub\na.txt\n"
    assert (result.data["cwd"], result.change.path) == ("sub", "sub")


def test_a_variable_of_the_callers_is_added(call):
    assert call("execute", command='echo "$GREETING"', env={"GREETING": "a 'b' $c"}).data["output"] == "a 'b' $c\n"


def test_other_names_of_the_arguments_are_taken(call):
    call.put("sub/a.txt", "x")
    assert call("execute", cmd="ls", workdir="sub", timeout_seconds=60).data["output"] == "a.txt\n"


BAD = [
    ({"command": ""}, "invalid"),
    ({"command": " \n"}, "invalid"),
    ({"command": "echo \0"}, "invalid"),
    ({"command": "echo \ud800"}, "invalid"),
    ({"command": 5}, "invalid"),
    ({}, "invalid"),
    ({"command": "touch x" + " " * 200_000}, "too_large"),
    ({"command": "touch x", "env": {"A": "x" * 3_000_000}}, "too_large"),
    ({"command": "touch x", "timeout": -1}, "invalid"),
    ({"command": "touch x", "timeout": 0}, "invalid"),
    ({"command": "touch x", "timeout": "soon"}, "invalid"),
    ({"command": "touch x", "timeout": True}, "invalid"),
    ({"command": "touch x", "timeout": float("nan")}, "invalid"),
    ({"command": "touch x", "timeout": float("inf")}, "invalid"),
    ({"command": "touch x", "timeout": 10**400}, "invalid"),
    ({"command": "touch x", "timeout": 120_000}, "invalid"),
    ({"command": "touch x", "env": {"A B": "x"}}, "invalid"),
    ({"command": "touch x", "env": {"A": 1}}, "invalid"),
    ({"command": "touch x", "env": "A=1"}, "invalid"),
    ({"command": "touch x", "cwd": ".."}, "outside_root"),
    ({"command": "touch x", "cwd": "/etc"}, "outside_root"),
    ({"command": "touch x", "cwd": "out"}, "outside_root"),
    ({"command": "touch x", "cwd": ".ssh"}, "denied"),
    ({"command": "touch x", "cwd": "nowhere"}, "not_found"),
    ({"command": "touch x", "cwd": "a.txt"}, "not_a_directory"),
    ({"command": "touch x", "cwd": ""}, "invalid"),
    ({"command": "touch x", "shell": "zsh"}, "invalid"),
]


@pytest.mark.parametrize(("arguments", "code"), BAD, ids=[f"{str(bad)[:60]}" for bad, _ in BAD])
def test_what_cannot_be_run_is_refused_and_nothing_is_run(call, arguments, code):
    call.put("a.txt", "x")
    (call.root / ".ssh").mkdir()
    (call.root / "out").symlink_to("/etc")
    call.refused(code, "execute", **arguments)
    assert sorted(path.name for path in call.root.iterdir()) == [".ssh", "a.txt", "out"]


@pytest.mark.parametrize("cwd", ["", "a\0b", "nowhere", "a.txt", "..", ".ssh"])
def test_a_folder_that_is_refused_is_named_by_its_argument(call, cwd):
    call.put("a.txt", "x")
    (call.root / ".ssh").mkdir()
    with pytest.raises(FsToolsError) as refused:
        call("execute", command="true", cwd=cwd)
    assert refused.value.message.startswith("cwd: ") and refused.value.details["field"] == "cwd"


def test_a_time_in_milliseconds_is_refused_with_the_unit(call):
    refusal = call.refused("invalid", "execute", command="true", timeout=120_000)
    assert "up to 600 seconds" in refusal.message


def test_the_journal_keeps_the_exit_code_and_the_end_of_the_output(call):
    quiet = call("execute", command="exit 3").change
    long = call("execute", command="seq 1 2000").change
    kept = {change.id: change.ran for change in Journal(call.workspace).changes(ChangeQuery())}
    assert (kept[quiet.id].exit_code, kept[quiet.id].output, kept[quiet.id].cut) == (3, "", False)
    assert kept[long.id].output.endswith("1999\n2000\n") and len(kept[long.id].output) == 4000 and kept[long.id].cut
    assert call("execute", command="sleep 9", timeout=0.1).change.ran.note == "timed out"


def test_what_a_command_changed_is_stale_for_who_had_read_it(call):
    call.put("a.txt", "one\n")
    call("read_file", path="a.txt")
    assert call("execute", command="echo two >> a.txt").data["changed_files"] == ["a.txt"]
    refusal = call.refused("stale", "edit_file", path="a.txt", old_string="one", new_string="1")
    assert "+two" in refusal.details["diff"]
    call("read_file", path="a.txt")
    call("edit_file", path="a.txt", old_string="one", new_string="1")
    assert call.got("a.txt") == b"1\ntwo\n"


def test_a_command_that_only_looks_leaves_what_was_read_as_it_is(call):
    call.put("a.txt", "one\n")
    call("read_file", path="a.txt")
    assert call("execute", command="cat a.txt").data["changed_files"] == []
    call("edit_file", path="a.txt", old_string="one", new_string="1")


def test_a_command_that_removes_the_root_answers_how_it_ended(call):
    result = call("execute", command='rm -rf "$PWD"; echo gone; exit 3')
    assert (result.data["output"], result.data["exit_code"], result.change.ran.exit_code) == ("gone\n", 3, 3)
    assert (result.data["changed_files"], result.data["changed_files_truncated"]) == ([], True)
    assert result.text == "gone\n[exit code 3]\n[the search for changed files was not completed: there may be more]"


def test_changed_files_that_nobody_may_see_are_not_told(make_call):
    call = make_call(enable_execute=True, execute_approval=False, deny_read=["*.secret"])
    assert call("execute", command="touch a.secret b.txt").data["changed_files"] == ["b.txt"]


@pytest.mark.parametrize(
    "settings", [{}, {"enable_execute": False}, {"enable_execute": True, "read_only": True}], ids=str
)
def test_where_it_is_not_enabled_it_is_not_there(make_call, settings):
    call = make_call(**settings)
    assert "execute" not in available_tools(call.workspace)
    assert "execute" not in str(tool_schemas("mcp", call.workspace))
    with pytest.raises(FsToolsError) as caught:
        call("execute", command="touch x")
    assert caught.value.code == "disabled"
    assert list(call.root.iterdir()) == []


def test_a_command_waits_until_a_person_approves_it(asking):
    told = []
    workspace = asking.workspace.for_reader(asking.workspace.reader, progress=told.append)
    asking.workspace = workspace
    with Person(asking, approve) as person:
        assert person.thread.is_alive()
        result = asking("execute", command="touch x; echo done")
    assert result.data["output"] == "done\n"
    assert (result.change.id, result.change.status, result.change.decided_by) == (person.seen.id, "applied", "grace")
    assert [(one.kind, one.change_id) for one in told] == [("waiting", person.seen.id), ("output", None)]


def test_a_person_sees_all_that_would_run(asking):
    asking.put("sub/a.txt", "x")
    with Person(asking, approve) as person:
        asking("execute", command="echo one\necho two\n", cwd="sub", env={"NAME": "a b"})
    (hunk,) = person.seen.diff.hunks
    assert [(row.kind, row.text) for row in hunk.rows] == [
        ("context", "NAME='a b'"),
        ("add", "echo one"),
        ("add", "echo two"),
    ]
    assert (person.seen.path, person.seen.diff.op, person.seen.diff.added) == ("sub", "execute", 2)


def test_nothing_runs_before_it_is_approved(asking):
    def look_and_approve(journal, change):
        seen.append(list(asking.root.iterdir()))
        approve(journal, change)

    seen = []
    with Person(asking, look_and_approve):
        asking("execute", command="touch x")
    assert seen == [[]]
    assert [path.name for path in asking.root.iterdir()] == ["x"]


def test_a_command_goes_on_waiting_while_the_store_is_away(asking, monkeypatch):
    def away():
        if tried.append(True) or len(tried) < 4:
            raise InputOutput("the store's database failed", hint="Wait.")
        return revision()

    tried, revision = [], asking.workspace.store.revision
    monkeypatch.setattr(asking.workspace.store, "revision", away)

    def approve_later(journal, change):
        while len(tried) < 4:
            time.sleep(0.02)
        approve(journal, change)

    with Person(asking, approve_later):
        assert asking("execute", command="echo done").data["output"] == "done\n"


def test_a_rejected_command_is_not_run(asking):
    with Person(asking, lambda journal, change: journal.reject(change.id)):
        refusal = asking.refused("rejected", "execute", command="touch x")
    assert "not been run" in refusal.message
    assert list(asking.root.iterdir()) == []


def test_a_command_that_nobody_decided_about_is_withdrawn(make_call):
    call = make_call(enable_execute=True, execute_approval_seconds=0.3)
    refusal = call.refused("timeout", "execute", command="touch x")
    journal = Journal(call.workspace)
    withdrawn = journal.change(refusal.details["change_id"])
    assert (withdrawn.status, withdrawn.decided_by) == ("rejected", None)
    with pytest.raises(FsToolsError, match="nobody waits") as caught:
        journal.approve(withdrawn.id, commands=True)
    assert caught.value.code == "conflict"
    assert list(call.root.iterdir()) == []


def test_a_command_whose_caller_has_gone_is_withdrawn(asking):
    cancelled = threading.Event()
    asking.workspace = asking.workspace.for_reader(asking.workspace.reader, cancelled)
    with Person(asking, lambda journal, change: cancelled.set()):
        asking.refused("timeout", "execute", command="touch x")
    assert statuses(asking) == ["rejected"]
    assert list(asking.root.iterdir()) == []


def test_a_command_of_a_caller_who_was_killed_cannot_be_approved_later(make_call):
    """Its proposal stays, because no process was left to withdraw it."""
    call = make_call(enable_execute=True, execute_approval_seconds=0.3)
    call.refused("timeout", "execute", command="touch x")
    (withdrawn,) = Journal(call.workspace).changes(ChangeQuery())
    left = withdrawn.model_copy(update={"id": "c1", "status": "proposed", "created_at": withdrawn.created_at - 10})
    call.workspace.store.add_change(left, b"")
    with pytest.raises(FsToolsError, match="nobody waits"):
        Journal(call.workspace).approve("c1", commands=True)
    assert Journal(call.workspace).change("c1").status == "rejected"


WAITING = """
import sys
from jupyter_fstools import call_tool, open_workspace
with open_workspace(sys.argv[1], store=sys.argv[2], enable_execute=True) as workspace:
    call_tool(workspace, "execute", command="touch x")
"""


def test_who_approves_the_command_of_a_killed_process_is_told_that_it_does_not_run(make_call, monkeypatch):
    monkeypatch.setattr(commands, "_SECONDS_TO_TAKE_UP", 0.3)
    call = make_call()
    store = f"sqlite:{call.root.parent / 'killed.sqlite'}"
    with open_workspace(call.root, store=store, enable_execute=True) as workspace:
        journal = Journal(workspace)
        caller = subprocess.Popen([sys.executable, "-c", WAITING, str(call.root), store])
        while not (proposed := journal.changes(ChangeQuery(status="proposed"))):
            time.sleep(0.05)
        caller.kill()
        caller.wait()
        with pytest.raises(Conflict, match="nobody waits"):
            journal.approve(proposed[0].id, commands=True)
        withdrawn = journal.change(proposed[0].id)
    assert (withdrawn.status, withdrawn.decided_by, withdrawn.ran) == ("rejected", None, None)
    assert list(call.root.iterdir()) == []


@pytest.mark.parametrize("is_suspended", [False, True])
def test_a_command_approved_in_another_process_runs_unless_it_was_withdrawn_there(asking, monkeypatch, is_suspended):
    class Elsewhere(set):
        def __contains__(self, _):
            return False

    def wait(*_):
        while statuses(asking) == ["proposed"] or (is_suspended and statuses(asking) == ["applied"]):
            time.sleep(0.01)

    def approve_elsewhere(journal, change):
        with pytest.raises(Conflict, match="nobody waits") if is_suspended else nullcontext():
            approve(journal, change)

    monkeypatch.setattr(commands, "_SECONDS_TO_TAKE_UP", 0.3 if is_suspended else 60)
    monkeypatch.setattr(commands, "_waiting_here", Elsewhere())
    monkeypatch.setattr(commands, "_wait", wait)
    with Person(asking, approve_elsewhere):
        if is_suspended:
            asking.refused("timeout", "execute", command="touch x")
        else:
            asking("execute", command="touch x")
    assert statuses(asking) == ["rejected" if is_suspended else "applied"]
    assert (asking.root / "x").exists() != is_suspended


@pytest.mark.parametrize(
    ("code", "arguments"),
    [("not_found", {"cwd": "sub"}), ("too_large", {"env": {"A": "x" * 3_000_000}}), ("timeout", {})],
)
def test_an_approved_command_that_cannot_be_run_any_more_is_withdrawn(asking, code, arguments):
    class OnceApproved(threading.Event):
        def is_set(self):
            return code == "timeout" and statuses(asking) == ["applied"]

    def approve_too_late(journal, change):
        (asking.root / "sub").rmdir()
        approve(journal, change)

    asking.workspace = asking.workspace.for_reader(asking.workspace.reader, OnceApproved())
    (asking.root / "sub").mkdir()
    with Person(asking, approve_too_late):
        asking.refused(code, "execute", command="touch x", **arguments)
    (listed,) = Journal(asking.workspace).changes(ChangeQuery())
    assert (listed.status, listed.decided_by, listed.decided_via, listed.ran) == ("rejected", None, None, None)
    assert list(asking.root.iterdir()) == []


def test_an_interrupted_command_is_noted_as_cancelled_with_its_output(call):
    def interrupt(progress):
        raise KeyboardInterrupt

    call.workspace = call.workspace.for_reader(call.workspace.reader, progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        call("execute", command="echo begun; sleep 1000")
    (listed,) = Journal(call.workspace).changes(ChangeQuery())
    assert (listed.status, listed.ran.note, listed.ran.output) == ("applied", "cancelled", "begun\n")
    assert listed.ran.exit_code == 137


def test_what_is_noted_of_a_command_while_it_runs_stays_with_its_outcome(call):
    def keep(_):
        (running,) = journal.changes(ChangeQuery())
        journal.keep(running.id)

    journal = Journal(call.session("person", "grace").workspace)
    call.workspace = call.workspace.for_reader(call.workspace.reader, progress=keep)
    done = call("execute", command="echo begun").change
    (listed,) = journal.changes(ChangeQuery())
    assert listed.seen_by == ["grace"] and listed.ran is not None and done == listed


def test_the_outcome_of_a_command_waits_for_who_notes_something_else(call):
    def hold():
        with call.session("person", "grace").workspace.held(*earlier.keys):
            is_held.set()
            time.sleep(0.3)

    def begin_holding(_):
        person.start()
        is_held.wait()

    is_held, person = threading.Event(), threading.Thread(target=hold)
    earlier = call("execute", command="true").change
    call.workspace = call.workspace.for_reader(call.workspace.reader, progress=begin_holding, waits_in_line=True)
    done = call("execute", command="echo begun").change
    person.join()
    assert done.ran is not None and Journal(call.workspace).change(done.id) == done


def test_who_may_not_have_commands_run_cannot_approve_one(asking):
    def try_to(journal, change):
        with pytest.raises(FsToolsError) as caught:
            journal.approve(change.id)
        refusals.append(caught.value.code)
        journal.reject(change.id)

    refusals = []
    with Person(asking, try_to):
        asking.refused("rejected", "execute", command="touch x")
    assert refusals == ["denied"]


def test_a_command_stands_in_the_journal_and_is_never_undone(call):
    call.put("sub/a.txt", "one\n")
    done = call("execute", command="true", cwd="sub").change
    (listed,) = Journal(call.workspace).changes(ChangeQuery())
    assert (listed.id, listed.path, listed.status, listed.tool) == (done.id, "sub", "applied", "execute")
    assert "cannot be undone" in call.refused("conflict", "undo", change_id=done.id).message
    call.refused("not_found", "undo", path="sub")


def test_what_needs_no_approval_of_changes_needs_it_for_commands_all_the_same(make_call):
    call = make_call(enable_execute=True, approval="never", execute_approval_seconds=0.3)
    call.refused("timeout", "execute", command="touch x")


@pytest.mark.skipif(not hasattr(signal, "SIGCHLD"), reason="the system has no such signal")
def test_nothing_runs_where_its_exit_code_could_not_be_learned(call):
    kept = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        call.refused("disabled", "execute", command="touch x")
    finally:
        signal.signal(signal.SIGCHLD, kept)
    assert list(call.root.iterdir()) == []
