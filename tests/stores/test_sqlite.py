"""The SQLite store: what every store does, shared by processes that fork and are killed."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing

import pytest

from jupyter_fstools.errors import InputOutput
from jupyter_fstools.limits import StoreLimits
from jupyter_fstools.stores import sqlite as sqlite_module
from jupyter_fstools.stores import sqlite_file
from jupyter_fstools.stores.protocol import ChangeFilter
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.testing.change_contract import ChangeContract
from jupyter_fstools.testing.store_contract import StoreContract
from jupyter_fstools.testing.store_samples import ANN, NO_UTF8, change_of, names, receipt_of

KEY = "/root/a.txt"


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path):
        numbers = itertools.count()
        return lambda limits: SqliteStore(tmp_path / f"{next(numbers)}.sqlite", limits)


class TestSqliteStoreWithoutWal(ChangeContract):
    @pytest.fixture
    def make_store(self, tmp_path):
        numbers = itertools.count()

        def make(limits):
            path = tmp_path / f"{next(numbers)}.sqlite"
            (tmp_path / f"{path.name}-shm").mkdir()
            return SqliteStore(path, limits)

        return make


def start(code, *arguments):
    """Another Python with a store of its own on the path that is its first argument."""
    head = (
        "import sys; from pathlib import Path; from jupyter_fstools.stores.sqlite import SqliteStore\n"
        "from jupyter_fstools.testing.store_samples import *\n"
        "from jupyter_fstools.stores.protocol import ChangeFilter\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", head + code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_the_file_is_private(store, path):
    assert not path.parent.exists()
    store.put_receipt(receipt_of())
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    assert {file.name for file in path.parent.iterdir()} >= {"store.sqlite", "store.sqlite-wal"}


def test_two_stores_on_one_file_see_each_other(store, path):
    other = SqliteStore(path)
    store.add_change(change_of("c1"), b"")
    store.put_receipt(receipt_of())
    assert other.receipt(ANN, KEY) is not None
    assert other.add_change(change_of("c2"), b"").revision > other.change("c1").revision
    assert names(store.changes(ChangeFilter(after=0))) == ["c1", "c2"]


def test_processes_that_begin_and_write_together_lose_nothing(store, path):
    code = (
        "print('ready', flush=True); input()\n"
        "for i in range(100):\n"
        "    name = f'{sys.argv[2]}-{i}'\n"
        "    store.put_receipt(receipt_of(name), b'shown')\n"
        "    store.add_change(change_of(name, name), b'x')\n"
    )
    children = [start(code, path, number) for number in range(3)]
    for child in children:
        child.stdout.readline()
    for child in children:
        child.stdin.write("\n")
        child.stdin.close()
    assert [child.wait(60) for child in children] == [0, 0, 0]
    for child in children:
        child.stdout.close()
    revisions = [change.revision for change in store.changes(ChangeFilter(after=0, limit=1000))]
    assert len(set(revisions)) == 300
    assert len(store.receipts(ANN)) == 300


def test_of_two_processes_that_decide_one_does(store, path):
    store.add_change(change_of("c1", status="proposed"), b"")
    code = "input(); print(store.decide('c1', 'proposed', 'applied', decided_at=1.0) is not None)"
    children = [start(code, path) for _ in range(2)]
    answers = [child.communicate("\n", timeout=60)[0].strip() for child in children]
    assert sorted(answers) == ["False", "True"]


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05])
def test_a_writer_killed_at_any_moment_leaves_a_whole_file(store, path, query, delay, caplog):
    code = (
        "print('ready', flush=True)\n"
        "for i in range(10**6):\n"
        "    store.add_change(change_of(f'c{i}', status='pending'), b'x' * 9000)\n"
        "    store.finish(f'c{i}', [(receipt_of(version=f'c{i}'), None)])\n"
    )
    child = start(code, path)
    child.stdout.readline()
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    newest = store.changes(ChangeFilter(limit=1))
    kept = store.receipt(ANN, KEY)
    assert (newest[0].id if newest else None) == (kept.version if kept else None)
    store.close()
    assert query("PRAGMA integrity_check") == ("ok",)
    assert not caplog.records


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_parent_and_child_of_a_fork_go_on_together(path):
    code = (
        "import os\n"
        "store.put_receipt(receipt_of('before'))\n"
        "child = os.fork()\n"
        "for i in range(50):\n"
        "    name = f'{bool(child)}-{i}'\n"
        "    store.add_change(change_of(name), b'')\n"
        "    store.put_receipt(receipt_of(name))\n"
        "    assert store.receipt(ANN, 'before') is not None\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    print(store.count_changes(ChangeFilter()), len(store.receipts(ANN)))\n"
        "os._exit(0) if not child else None\n"
    )
    assert start(code, path).communicate(timeout=60)[0].split() == ["100", "101"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_threads_that_fork_at_the_same_time_leave_the_stores_open_to_all(path):
    code = (
        "import os, threading\n"
        "stores = [store, *(SqliteStore(store.path.with_name(name)) for name in 'ab')]\n"
        "def fork():\n"
        "    for _ in range(50):\n"
        "        [store.revision() for store in stores]\n"
        "        if not (child := os.fork()):\n"
        "            os._exit(0)\n"
        "        os.waitpid(child, 0)\n"
        "    os.write(1, b'forked\\n')\n"
        "sys.setswitchinterval(1e-6)\n"
        "threads = [threading.Thread(target=fork, daemon=True) for _ in range(4)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join(10) for thread in threads]\n"
        "os._exit(0)\n"
    )
    assert start(code, path).communicate(timeout=60)[0].split() == ["forked"] * 4


def test_a_file_held_for_too_long_is_an_io_error(store, path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    store.put_receipt(receipt_of())
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputOutput, match="locked") as refused:
            store.put_receipt(receipt_of("k"))
        assert "Another process" in refused.value.hint
        assert store.receipt(ANN, "k") is None
        holder.execute("COMMIT")
    store.put_receipt(receipt_of("k"))


def test_a_full_disk_is_an_io_error_and_nothing_is_half_done(store):
    store.put_receipt(receipt_of(version="1"))
    store.add_change(change_of("c1", status="pending"), b"")
    connection = store._database._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(InputOutput, match="full") as refused:
        store.finish("c1", [(receipt_of(version="2"), None)], splices=b"x" * 10**6)
    assert "free some space" in refused.value.hint
    assert store.change("c1").status == "pending"
    assert store.receipt(ANN, KEY).version == "1"


def test_what_is_kept_is_not_refused_where_nothing_older_can_be_dropped(path, query, caplog):
    """A refusal would report the change as not made although it is, or it would be made twice."""
    store = SqliteStore(path, StoreLimits(journal_max_changes=1, max_receipts=1))
    store.add_change(change_of("c1"), b"")
    store.put_receipt(receipt_of("/root/1"))
    for table in ("changes", "receipts"):
        refuse = "BEGIN SELECT RAISE(ABORT, 'no room'); END"
        query(f"CREATE TRIGGER full_{table} BEFORE DELETE ON {table} {refuse}")
    assert store.add_change(change_of("c2", status="proposed"), b"").revision == 2
    assert store.decide("c2", "proposed", "applied", decided_at=time.time()).revision == 3
    store.put_receipt(receipt_of("/root/2"))
    assert names(store.changes(ChangeFilter())) == ["c2", "c1"]
    assert "no room" in caplog.text
    for table in ("changes", "receipts"):
        query(f"DROP TRIGGER full_{table}")
    store.add_change(change_of("c3"), b"")
    store.put_receipt(receipt_of("/root/3"))
    assert names(store.changes(ChangeFilter())) == ["c3"]
    assert [kept.key for kept in store.receipts(ANN)] == ["/root/3"]


def test_names_that_are_no_utf8_reach_the_file_and_come_back(store, path):
    store.put_receipt(receipt_of(NO_UTF8))
    store.add_change(change_of("c1", NO_UTF8), b"")
    other = SqliteStore(path)
    assert other.receipts(ANN, "/root")[0].key == NO_UTF8
    assert other.change("c1").key == NO_UTF8


def test_a_session_unused_for_long_is_forgotten(path, monkeypatch):
    SqliteStore(path).put_receipt(receipt_of(), b"shown")
    later = time.time() + 31 * 86400
    monkeypatch.setattr(sqlite_module.time, "time", lambda: later)
    store = SqliteStore(path)
    store.put_receipt(receipt_of(reader=Reader("ann", "new")))
    assert store.receipts(ANN) == []
    assert store.shown_text(ANN, KEY) is None
    assert len(store.receipts(Reader("ann", "new"))) == 1


def test_a_clock_set_back_does_not_push_out_what_was_just_read(path, monkeypatch):
    limits = StoreLimits(max_receipts=2)
    SqliteStore(path, limits).put_receipt(receipt_of("old"))
    SqliteStore(path, limits).put_receipt(receipt_of("older"))
    monkeypatch.setattr("time.time_ns", lambda: 10**18)
    store = SqliteStore(path, limits)
    store.put_receipt(receipt_of("new"))
    assert {kept.key for kept in store.receipts(ANN)} == {"older", "new"}


def test_large_bounds_are_kept_within_a_thirtysecond(path):
    store = SqliteStore(path, StoreLimits(max_receipts=320, journal_max_changes=320))
    for number in range(700):
        store.add_change(change_of(str(number)), b"")
        store.put_receipt(receipt_of(str(number)))
    assert 320 <= len(store.receipts(ANN)) <= 330
    assert 320 <= store.count_changes(ChangeFilter()) <= 330
    assert store.receipt(ANN, "699") is not None


def test_leaving_a_with_block_closes_the_connection_and_a_later_call_opens_another(path):
    with SqliteStore(path) as store:
        store.put_receipt(receipt_of())
        assert path.with_name("store.sqlite-wal").exists()
    assert not path.with_name("store.sqlite-wal").exists()
    assert store.receipt(ANN, KEY) is not None


def test_dropping_a_store_closes_its_connection(path):
    store = SqliteStore(path)
    store.put_receipt(receipt_of())
    connection = store._database._connection
    del store
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
