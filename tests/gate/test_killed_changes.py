"""A change whose process is killed or interrupted anywhere is whole or has never been, and the journal knows it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.content.fingerprint import fingerprint_of
from jupyter_fstools.errors import Conflict, InputOutput, TimedOut
from jupyter_fstools.gate.draft import state_of
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.gate.workspace import Workspace
from jupyter_fstools.gate.write_ahead import WriteAhead
from jupyter_fstools.journal.detailed_decision import Decision
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.stores.protocol import ChangeFilter
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.testing.store_samples import change_of
from jupyter_fstools.tools import call_tool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX does")

# Children that change files, each killed, or interrupted as by Ctrl+C, one call to the system or the store later than
# the one before; the last one ends by itself.
WRITERS = """
import os, signal, sys, tempfile
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.tools import call_tool
from test_killed_changes import opened

top, kind, how = sys.argv[1:]
calls = 0

def end():
    if how == "interrupted":
        raise KeyboardInterrupt
    os.kill(os.getpid(), signal.SIGKILL)

def killing(call, kill_at):
    def counted(*args, **kwargs):
        global calls
        calls += 1
        if calls == kill_at:
            end()
        answer = call(*args, **kwargs)
        calls += 1
        if calls == kill_at:
            end()
        return answer
    return counted

def begun(folder):
    os.makedirs(f"{folder}/root")
    files = opened(folder, approval=kind.startswith("approved"))
    names = [f"{name}.txt" for name in "abc"]
    for name in names:
        with open(f"{folder}/root/{name}", "wb") as file:
            file.write(b"old line\\n" * 20)
        call_tool(files, "read_file", path=name)
    edit = {"old_string": "old line\\nold", "new_string": "new line\\nold", "replace_all": True}
    edits = [{"path": name, **edit} for name in names]
    waiting = undone = None
    if kind == "approved edit":
        waiting = call_tool(files, "edit_file", path="a.txt", **edit).change
    if kind == "approved edit of several files":
        waiting = call_tool(files, "edit_file", edits=edits).change
    if kind in ("undo of a creation", "undo of an undo"):
        undone = call_tool(files, "write_file", path="made.txt", content="made").change
    if kind == "undo of an undo":
        undone = call_tool(files, "undo", change_id=undone.id).change

    def change():
        if waiting is not None:
            Journal(files).approve(waiting.id)
        elif undone is not None:
            Journal(files).undo(undone, by_person=True)
        elif kind == "edit":
            call_tool(files, "edit_file", path="a.txt", **edit)
        elif kind == "edit of several files":
            call_tool(files, "edit_file", edits=edits)
        elif kind == "creation":
            call_tool(files, "write_file", path="new/folder/made.txt", content="made")
        elif kind == "overwrite":
            call_tool(files, "write_file", path="a.txt", content="all new")

    return change

def work(folder, kill_at):
    change = begun(folder)
    for name in ("open", "write", "fsync", "link", "unlink", "replace"):
        setattr(os, name, killing(getattr(os, name), kill_at))
    for name in ("add_change", "finish", "decide", "drop"):
        setattr(SqliteStore, name, killing(getattr(SqliteStore, name), kill_at))
    change()

# What is imported late is imported here, once for all children.
with tempfile.TemporaryDirectory() as folder:
    begun(folder)()

for kill_at in range(1, 400):
    folder = f"{top}/{kill_at:03}"
    if not (child := os.fork()):
        try:
            work(folder, kill_at)
        except KeyboardInterrupt:
            os._exit(77)
        os._exit(0)
    ended = os.waitpid(child, 0)[1]
    if ended == 0:
        break
    meant = os.waitstatus_to_exitcode(ended) == (77 if how == "interrupted" else -signal.SIGKILL)
    assert meant, f"the writer failed by itself at {kill_at}"
"""
KINDS = [
    "edit",
    "edit of several files",
    "approved edit of several files",
    "creation",
    "overwrite",
    "undo of a creation",
    "undo of an undo",
    "approved edit",
]
INTERRUPTED = ["edit", "edit of several files", "undo of a creation", "approved edit"]


def opened(folder: str | Path, *, root: str = "root", approval: bool = False) -> Workspace:
    """A workspace on a disk, with a store and locks that outlive it."""
    return Workspace(
        LocalDisk(f"{folder}/{root}"),
        SqliteStore(Path(folder) / "store.sqlite"),
        FileLocks(Path(folder) / "locks"),
        Policy(approval="always" if approval else "never"),
        Reader("ann", "default"),
    )


def ended_at_every_step(top, kind, how):
    """The folders in which a writer was killed or interrupted, each one step later, and at the end one that was not."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    subprocess.run([sys.executable, "-c", WRITERS, top, kind, how], check=True, env=environment)
    return sorted(top.iterdir())


def bytes_below(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "how"), [*((kind, "killed") for kind in KINDS), *((kind, "interrupted") for kind in INTERRUPTED)]
)
def test_a_change_that_is_ended_at_any_step_is_whole_or_has_never_been(tmp_path, kind, how):
    """The journal tells which of both; an applied change can be undone."""
    folders = ended_at_every_step(tmp_path, kind, how)
    last = bytes_below(folders[-1] / "root")
    outcomes = set()
    for folder in folders:
        files = opened(folder)
        call_tool(files, "list_files", path=".")
        applied = {change.id for change in Journal(files).changes(ChangeQuery(status="applied"))}
        for name in bytes_below(folder / "root"):
            files.peek(name.replace(".~", ""))  # The next access cleans up beside the file.
        found = {name: data for name, data in bytes_below(folder / "root").items() if ".~" not in name}
        assert not files.store.unfinished("")
        landed = found == last
        outcomes.add(landed)
        newest = Journal(files).changes(ChangeQuery(limit=1))
        if not landed:
            assert set(found.values()) <= {b"old line\n" * 20, b"made"}, folder
        else:
            assert newest[0].id in applied and not newest[0].interrupted, folder
            assert newest[0].undoes is None or Journal(files).change(newest[0].undoes).status == "undone"
            Journal(files).undo(newest[0], by_person=True)
            assert bytes_below(folder / "root") != found
    assert outcomes == {True, False}
    assert len(folders) > 10


def test_a_change_of_a_living_process_is_left_alone(tmp_path):
    """Its writer holds the lock."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.txt").write_text("one\n")
    writer, other = opened(tmp_path), opened(tmp_path)
    call_tool(writer, "read_file", path="a.txt")
    seen = []
    write = writer.backend.write

    def look_from_elsewhere(path, chunks, *, if_match):
        stat = write(path, chunks, if_match=if_match)
        call_tool(other, "list_files", path=".")
        seen.append(Journal(other).changes(ChangeQuery()))
        (pending,) = other.store.unfinished("")
        with pytest.raises(TimedOut):
            other.unfinished.settle(pending, patience=0.01)
        seen.append(other.store.change(pending.id).status)
        return stat

    writer.backend.write = look_from_elsewhere
    change = call_tool(writer, "edit_file", path="a.txt", old_string="one", new_string="two").change
    assert seen == [[], "pending"]
    assert Journal(other).change(change.id).status == "applied"


@pytest.fixture
def left_pending(tmp_path):
    """A workspace whose writer ended after it had replaced the file and before it recorded that."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.txt").write_text("one\n")
    writer = opened(tmp_path)
    call_tool(writer, "read_file", path="a.txt")
    writer.store.finish = lambda *_, **__: None
    call_tool(writer, "edit_file", path="a.txt", old_string="one", new_string="two")
    writer.store.close()
    return tmp_path


def test_what_an_outsider_wrote_over_a_killed_writer_stays_and_is_said(left_pending):
    (left_pending / "root" / "a.txt").write_text("an outsider's\n")
    files = opened(left_pending)
    (change,) = Journal(files).changes(ChangeQuery())
    assert (change.status, change.interrupted) == ("applied", True)
    assert (left_pending / "root" / "a.txt").read_text() == "an outsider's\n"


@pytest.mark.parametrize(("on_disk", "told"), [("one\n", []), ("two\n", [True]), ("three\n", [False])])
def test_of_a_change_below_an_unsaved_document_that_the_file_already_had_nobody_can_tell(tmp_path, on_disk, told):
    """Another writer had made the same change of the file; its page may have saved the document, or not."""
    one, two = (state_of(fingerprint_of([text.encode()]), len(text)) for text in ("one\n", "two\n"))
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.txt").write_text("two\n" if on_disk != "one\n" else on_disk)
    before = one.model_copy(update={"on_disk": fingerprint_of([on_disk.encode()]).exact})
    files = opened(tmp_path)
    key = files.paths.backend.stat("a.txt").key
    files.store.add_change(change_of("c1", key, status="pending", before=before, after=two), b"")
    files.store.close()
    assert [change.interrupted for change in Journal(opened(tmp_path)).changes(ChangeQuery())] == told


def test_a_proposal_whose_writer_ended_before_it_wrote_a_part_waits_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.txt").write_text("one\n" * 20)
    writer, wanted = opened(tmp_path, approval=True), "two\n" + "one\n" * 18 + "two\n"
    call_tool(writer, "read_file", path="a.txt")
    proposal = call_tool(writer, "write_file", path="a.txt", content=wanted).change
    decide = writer.store.decide

    def and_end(*given, **named):
        decide(*given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(writer.store, "decide", and_end)
    with pytest.raises(KeyboardInterrupt):
        Journal(writer).approve(proposal.id, decision=Decision(hunks=[0]))
    files = opened(tmp_path)
    waiting = Journal(files).change(proposal.id)
    assert waiting == proposal.model_copy(update={"revision": waiting.revision})
    Journal(files).approve(proposal.id)
    assert (tmp_path / "root" / "a.txt").read_text() == wanted


@pytest.fixture
def killed_at(tmp_path, monkeypatch):
    """A folder with an edit of several files whose writer ended after so many of them."""

    def killed(written):
        (tmp_path / "root").mkdir()
        for name in ("a.txt", "b.txt", "c.txt"):
            (tmp_path / "root" / name).write_text("old\n")
        writer = opened(tmp_path)
        for name in ("a.txt", "b.txt", "c.txt"):
            call_tool(writer, "read_file", path=name)
        write, left = writer.backend.write, [written]

        def write_or_end(path, chunks, **more):
            if not left[0]:
                list(chunks)
                raise KeyboardInterrupt
            left[0] -= 1
            return write(path, chunks, **more)

        monkeypatch.setattr(writer.backend, "write", write_or_end)
        monkeypatch.setattr(WriteAhead, "take_back", lambda *_: None)
        edits = [{"path": name, "old_string": "old", "new_string": "new"} for name in ("a.txt", "b.txt", "c.txt")]
        with pytest.raises(KeyboardInterrupt):
            call_tool(writer, "edit_file", edits=edits)
        monkeypatch.undo()
        writer.store.close()
        return tmp_path

    return killed


@pytest.mark.parametrize(("written", "others"), [(0, "b"), (0, "bc"), (1, "c"), (2, ""), (1, "")])
def test_of_files_written_in_order_those_that_an_outsider_changed_later_were_not(killed_at, written, others):
    """The first file that is as before the change shows that none after it was written."""
    folder = killed_at(written)
    for name in others:
        (folder / "root" / f"{name}.txt").write_text("an outsider's\n")
    files = opened(folder)
    assert Journal(files).changes(ChangeQuery()) == []
    assert not files.store.unfinished("")
    expected = {f"{name}.txt": b"an outsider's\n" if name in others else b"old\n" for name in "abc"}
    assert bytes_below(folder / "root") == expected


@pytest.mark.parametrize(("written", "others"), [(1, "a"), (1, "b"), (2, "b"), (2, "c")])
def test_of_files_that_may_have_been_written_nobody_can_tell_once_an_outsider_changed_them(killed_at, written, others):
    folder = killed_at(written)
    for name in others:
        (folder / "root" / f"{name}.txt").write_text("an outsider's\n")
    assert [change.interrupted for change in Journal(opened(folder)).changes(ChangeQuery())] == [True]


def test_nobody_can_tell_either_once_a_part_was_put_back_by_somebody_who_was_killed_at_it(killed_at, monkeypatch):
    folder = killed_at(1)
    (folder / "root" / "b.txt").write_text("an outsider's\n")
    files = opened(folder)
    monkeypatch.setattr(files.store, "finish", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        files.unfinished.settle_free()
    files.store.close()
    assert (folder / "root" / "a.txt").read_text() == "old\n"
    assert [change.interrupted for change in Journal(opened(folder)).changes(ChangeQuery())] == [True]


def test_a_room_that_was_lost_before_it_saved_does_not_tell_that_nothing_else_was_written(killed_at):
    folder = killed_at(1)
    with opened(folder).store as store:
        (change,) = store.unfinished("")
        record = change.model_copy(update={"place": "room"})
        store.decide(change.id, "pending", "pending", decided_at=None, record=record)
    (folder / "root" / "a.txt").write_text("old\n")
    (folder / "root" / "b.txt").write_text("an outsider's\n")
    assert [change.interrupted for change in Journal(opened(folder)).changes(ChangeQuery())] == [True]


def test_the_next_edit_of_the_file_settles_it_too(left_pending):
    files = opened(left_pending)
    files.called = lambda: None
    call_tool(files, "read_file", path="a.txt")
    call_tool(files, "edit_file", path="a.txt", old_string="two", new_string="three")
    assert [change.status for change in files.store.changes(ChangeFilter())] == ["applied", "applied"]


def test_a_change_of_a_wider_root_is_settled_from_the_folder_that_the_refusal_names(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "root" / name).mkdir(parents=True)
        (tmp_path / "root" / name / "a.txt").write_text("one\n")
    writer = opened(tmp_path)
    for path in ("one/a.txt", "two/a.txt"):
        call_tool(writer, "read_file", path=path)
    writer.store.finish = lambda *_, **__: None
    edits = [{"path": path, "old_string": "one", "new_string": "two"} for path in ("one/a.txt", "two/a.txt")]
    call_tool(writer, "edit_file", edits=edits)

    files = opened(tmp_path, root="root/one")
    edit = {"path": "a.txt", "old_string": "two", "new_string": "three"}
    call_tool(files, "read_file", path="a.txt")
    with pytest.raises(Conflict) as refused:
        call_tool(files, "edit_file", **edit)
    assert f"open {tmp_path / 'root'} with these tools" in refused.value.hint
    call_tool(opened(tmp_path), "list_files")
    assert call_tool(files, "edit_file", **edit).change.status == "applied"


SUSPENDED = """
import os, signal, sys
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.tools import call_tool
from test_killed_changes import opened

folder, kind = sys.argv[1:]
files = opened(folder, approval=kind.startswith("approved"))
edits = [{"path": name, "old_string": "old", "new_string": "late"} for name in ("a.txt", "b.txt")]
call_tool(files, "read_file", path="a.txt")
call_tool(files, "read_file", path="b.txt")
if kind == "removal":
    call_tool(files, "write_file", path="made.txt", content="made").change
if kind.startswith("approved"):
    asked = call_tool(files, "edit_file", edits=edits).change

def suspended(call):
    def suspend(*given, **named):
        answer = call(*given, **named)
        os.kill(os.getpid(), signal.SIGSTOP)
        return answer
    return suspend

step = "decide" if kind.startswith("approved") else "add_change"
setattr(SqliteStore, step, suspended(getattr(SqliteStore, step)))
try:
    if kind == "edit":
        call_tool(files, "edit_file", edits=edits)
    elif kind == "creation":
        call_tool(files, "write_file", path="made.txt", content="made")
    elif kind == "removal":
        call_tool(files, "undo", path="made.txt")
    else:
        Journal(files).approve(asked.id)
    print("written")
except FsToolsError as refused:
    print(refused.code, refused)
"""


@pytest.mark.parametrize("kind", ["edit", "creation", "removal", "approved edit", "approved edit, then rejected"])
def test_who_was_suspended_until_others_forgot_its_change_changes_nothing(tmp_path, kind):
    """Suspended after it recorded its change; with its lock files removed, another process takes it for dead."""
    (tmp_path / "root").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "root" / name).write_text("old\n")
    command = [sys.executable, "-c", SUSPENDED, tmp_path, kind]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as late:
        os.waitid(os.P_PID, late.pid, os.WSTOPPED | os.WNOWAIT)
        for lock in (tmp_path / "locks").iterdir():
            lock.unlink()
        other = opened(tmp_path)
        call_tool(other, "list_files", path=".")
        assert not other.store.unfinished("")
        if kind.endswith("rejected"):
            Journal(other).reject(other.store.changes(ChangeFilter(status="proposed"))[0].id)
        before = bytes_below(tmp_path / "root")
        known = [(change.id, change.status) for change in Journal(other).changes(ChangeQuery())]
        late.send_signal(signal.SIGCONT)
        said, _ = late.communicate(timeout=60)
    assert said.startswith("conflict") and "not modified" in said, said
    assert bytes_below(tmp_path / "root") == {name: data for name, data in before.items() if ".~" not in name}
    assert [(change.id, change.status) for change in Journal(other).changes(ChangeQuery())] == known
    assert not other.store.unfinished("")


@pytest.fixture
def suspended_before_b(tmp_path, monkeypatch):
    """Two workspaces, and a setting: what happens while the first is suspended before it writes `b.txt`."""
    (tmp_path / "root").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "root" / name).write_text("old\n")

    def opened_two(meanwhile, *, approval=False):
        writer, other = (opened(tmp_path, approval=approval) for _ in range(2))
        for name in ("a.txt", "b.txt"):
            call_tool(writer, "read_file", path=name)
        write = writer.backend.write

        def suspended(path, chunks, *, if_match):
            data = list(chunks)
            if path == "b.txt":
                monkeypatch.undo()
                for lock in (tmp_path / "locks").iterdir():
                    lock.unlink()
                assert (tmp_path / "root" / "a.txt").read_text() == "late\n"
                meanwhile(other)
            return write(path, data, if_match=if_match)

        monkeypatch.setattr(writer.backend, "write", suspended)
        return writer, other

    return opened_two


LATE = [{"path": name, "old_string": "old", "new_string": "late"} for name in ("a.txt", "b.txt")]


def test_a_file_that_others_put_back_meanwhile_is_not_told_as_changed(suspended_before_b, tmp_path):
    writer, other = suspended_before_b(lambda other: call_tool(other, "list_files"))
    with pytest.raises(Conflict, match="not modified"):
        call_tool(writer, "edit_file", edits=LATE)
    assert bytes_below(tmp_path / "root") == {"a.txt": b"old\n", "b.txt": b"old\n"}
    assert Journal(other).changes(ChangeQuery()) == [] and not other.store.unfinished("")


def test_a_file_is_not_taken_back_from_who_approved_the_same_change_meanwhile(suspended_before_b, tmp_path):
    """The file has the same content, but the other writer's change made it."""

    def approve(other):
        Journal(other).approve(proposal.id)

    writer, other = suspended_before_b(approve, approval=True)
    proposal = call_tool(writer, "edit_file", edits=LATE).change
    with pytest.raises(InputOutput, match=r"a\.txt"):
        Journal(writer).approve(proposal.id)
    assert bytes_below(tmp_path / "root") == {"a.txt": b"late\n", "b.txt": b"late\n"}
    assert [change.status for change in Journal(other).changes(ChangeQuery())] == ["applied"]
