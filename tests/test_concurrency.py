"""Many threads at once: every accepted edit is in the file, nobody sees half of one, nobody stops another."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jupyter_fstools.backends import file_locks
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.stores.sqlite import SqliteStore


def at_once(works):
    """Runs the works in threads that begin together; gives the result or the refusal of each."""
    start = threading.Barrier(len(works))

    def run(work):
        start.wait()
        try:
            return work()
        except FsToolsError as refusal:
            return refusal

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def editing(call, path, old, new, **more):
    return lambda: call("edit_file", path=path, old_string=old, new_string=new, **more)


def test_two_edits_of_different_lines_both_land(call):
    call.put("a.txt", "top = 0\nmiddle = keep\nbottom = 0\n")
    call("read_file", path="a.txt")
    at_once([editing(call, "a.txt", "top = 0", "top = 1"), editing(call, "a.txt", "bottom = 0", "bottom = 2")])
    assert call.got("a.txt") == b"top = 1\nmiddle = keep\nbottom = 2\n"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_fifty_edits_of_one_file_all_land(make_call, tmp_path, kind):
    """Each of them is in the journal once."""
    store = SqliteStore(tmp_path / "store.db") if kind == "sqlite" else None
    call = make_call(store=store)
    call.put("a.txt", "".join(f"line {n:02}\n" for n in range(50)))
    call("read_file", path="a.txt")
    results = at_once([editing(call, "a.txt", f"line {n:02}\n", f"done {n:02}\nmore\n") for n in range(50)])
    assert all(result.data["changed"] for result in results)
    assert call.got("a.txt").decode() == "".join(f"done {n:02}\nmore\n" for n in range(50))
    assert len({change.revision for change in Journal(call.workspace).changes(ChangeQuery())}) == 50
    receipt = call.workspace.tracker.lookup(call.workspace.peek("a.txt").key)
    assert (receipt.lines, receipt.full) == ([(1, 100)], True)


def test_fifty_edits_can_all_be_undone(call):
    """Newest first, to the byte that was there."""
    begin = "".join(f"line {n:02}\n" for n in range(50))
    call.put("a.txt", begin)
    call("read_file", path="a.txt")
    at_once([editing(call, "a.txt", f"line {n:02}\n", f"done {n:02}\nmore\n") for n in range(50)])
    for _ in range(50):
        call("undo", path="a.txt")
    assert call.got("a.txt").decode() == begin


def test_every_name_of_a_file_waits_for_the_same_lock(call):
    """Links, a folder's link, dots, the absolute path."""
    call.put("d/a.txt", "".join(f"line {n:02}\n" for n in range(40)))
    (call.root / "link").symlink_to("d/a.txt")
    (call.root / "way").symlink_to("d")
    call("read_file", path="link")
    names = ["d/a.txt", "link", "way/a.txt", "./d/../way//a.txt", f"{call.root}/d/a.txt"]
    works = [editing(call, names[n % len(names)], f"line {n:02}", f"done {n:02}") for n in range(40)]
    assert {result.data["path"] for result in at_once(works)} == {"d/a.txt"}
    assert call.got("d/a.txt").decode() == "".join(f"done {n:02}\n" for n in range(40))


def test_a_hundred_files_are_edited_while_another_one_is_held(call, monkeypatch):
    """There is no lock over all files. In one run of forty, one of the hundred would share the other one's lock."""
    monkeypatch.setattr(file_locks, "BUCKETS", 2**32)
    for number in range(100):
        call.put(f"{number}.txt", "x")
        os.utime(call.root / f"{number}.txt", (5, 5))
        call("read_file", path=f"{number}.txt")
    call.put("held.txt", "x")
    call("read_file", path="held.txt")
    with call.workspace.draft("held.txt"), ThreadPoolExecutor(10) as pool:
        edits = [pool.submit(editing(call, f"{number}.txt", "x", "y")) for number in range(100)]
        assert all(one.result(60).data["changed"] for one in edits)
    assert {call.got(f"{number}.txt") for number in range(100)} == {b"y"}


def test_two_sessions_race_and_the_slower_one_is_told(call):
    """All of them have read the same content; only the first one edits it."""
    call.put("a.txt", "x = 0\n")
    sessions = [call.session(f"s{n}") for n in range(10)]
    for session in sessions:
        session("read_file", path="a.txt")
    results = at_once([editing(one, "a.txt", "x = 0", f"x = {n + 1}") for n, one in enumerate(sessions)])
    won = [n for n, result in enumerate(results) if not isinstance(result, FsToolsError)]
    assert len(won) == 1 and call.got("a.txt") == b"x = %d\n" % (won[0] + 1)
    assert {result.code for result in results if isinstance(result, FsToolsError)} == {"stale"}


def test_of_many_who_create_a_file_one_does(call):
    works = [lambda n=n: call.session(f"s{n}")("write_file", path="d/a.txt", content=f"{n}\n") for n in range(10)]
    results = at_once(works)
    made = [result for result in results if not isinstance(result, FsToolsError)]
    assert len(made) == 1 and made[0].data["created"]
    assert {result.code for result in results if isinstance(result, FsToolsError)} <= {"not_read", "conflict"}
    assert os.listdir(call.root / "d") == ["a.txt"]


def test_a_write_and_an_edit_leave_one_of_the_serial_orders(call):
    """The receipt is for the content that is there."""
    for number in range(10):
        path = f"{number}.txt"
        call("write_file", path=path, content="old x\n")
        write = lambda path=path: call("write_file", path=path, content="new x\n")  # noqa: E731 - the loop's own value
        at_once([write, editing(call, path, "x", "y")])
        assert call.got(path) in (b"new x\n", b"new y\n")
        assert not isinstance(at_once([editing(call, path, "new", "newer")])[0], FsToolsError)


def test_a_reader_sees_the_old_or_the_new_text(call):
    """Through the tool and past it."""
    texts = [letter * 200_000 + "\n" for letter in "ab"]
    file = call.put("a.txt", texts[0])
    whole = [text.encode() for text in texts]
    stop, seen = threading.Event(), set()

    def watch():
        while not stop.is_set():
            seen.add(file.read_bytes() in whole)

    watcher = threading.Thread(target=watch)
    watcher.start()
    call("read_file", path="a.txt", max_line_length=250_000)
    for number in range(30):
        call("write_file", path="a.txt", content=texts[(number + 1) % 2])
        shown = call.session("other")("read_file", path="a.txt", max_line_length=250_000, force=True)
        assert shown.data["content"] == texts[(number + 1) % 2]
    stop.set()
    watcher.join()
    assert seen == {True}


def test_one_refused_call_stops_no_other(call):
    for number in range(6):
        call.put(f"{number}.txt", "x")
        call("read_file", path=f"{number}.txt")
    works = [editing(call, f"{n}.txt", "x" if n % 2 else "none", "y") for n in range(6)]
    results = at_once([*works, lambda: call("read_file", path="../x"), lambda: call("list_files")])
    codes = [result.code if isinstance(result, FsToolsError) else "" for result in results]
    assert codes == ["no_match", "", "no_match", "", "no_match", "", "outside_root", ""]


def test_an_outsider_who_saves_all_the_time_is_met_by_refusals_only(call):
    """An edit lands on a complete version of theirs, or is refused; no other file is left beside it."""
    file = call.put("a.txt", "count 0\nmine\n")
    stop = threading.Event()

    def save():
        count = 0
        while not stop.is_set():
            count += 1
            (call.root / "next").write_text(f"count {count}\nmine\n")
            os.replace(call.root / "next", file)
            stop.wait(0.003)

    call("read_file", path="a.txt")
    outsider = threading.Thread(target=save)
    outsider.start()
    results = []
    for _ in range(60):
        results += at_once([editing(call, "a.txt", "mine", "ours", if_stale="match")])
    stop.set()
    outsider.join()
    codes = {result.code for result in results if isinstance(result, FsToolsError)}
    assert codes <= {"conflict", "no_match", "stale"}
    assert file.read_text().splitlines()[1] in ("mine", "ours") and os.listdir(call.root) == ["a.txt"]


def test_approvals_and_rejections_of_one_proposal_leave_one_decision(make_call):
    call = make_call(approval="always")
    journal = Journal(call.workspace)
    for number in range(5):
        change = call("write_file", path=f"{number}.txt", content="x").change
        decide = [lambda change=change: journal.approve(change.id), lambda change=change: journal.reject(change.id)]
        results = at_once(decide * 4)
        decided = {result.status for result in results if not isinstance(result, FsToolsError)}
        assert len(decided) == 1 and sum(isinstance(result, FsToolsError) for result in results) == 7
        assert (call.root / f"{number}.txt").exists() == (decided == {"applied"})


def test_one_change_is_undone_once(call):
    for number in range(5):
        change = call("write_file", path=f"{number}.txt", content="x").change
        results = at_once([lambda change=change: call("undo", change_id=change.id)] * 6)
        assert sum(not isinstance(result, FsToolsError) for result in results) == 1
        assert {result.code for result in results if isinstance(result, FsToolsError)} <= {"stale", "conflict"}
