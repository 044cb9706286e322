"""The SQLite store: what every store does, and a file that is shared, killed, damaged and replaced."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from jupyter_fstools.errors import InputOutput
from jupyter_fstools.records import Reader
from jupyter_fstools.stores import sqlite as sqlite_module
from jupyter_fstools.stores import sqlite_file
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.stores.protocol import ChangeFilter, StoreLimits
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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fstools" / "store.sqlite"


@pytest.fixture
def store(path):
    store = SqliteStore(path)
    yield store
    store.close()


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


def unwatched():
    """Let the time pass in which a store does not look whether its file is still the one."""
    time.sleep(2 * sqlite_module._LOOK_SECONDS)


def asides(path):
    return [name for name in os.listdir(path.parent) if ".damaged-" in name and name[-1] == "Z"]


def test_the_file_is_private(store, path):
    assert not path.parent.exists()
    store.put_receipt(receipt_of())
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    assert {file.name for file in path.parent.iterdir()} >= {"store.sqlite", "store.sqlite-wal"}


def test_two_stores_on_one_file_see_each_other(store, path):
    other = SqliteStore(path)
    store.add_change(change_of("c1"), b"", receipt_of())
    assert other.receipt(ANN, KEY) is not None
    assert other.add_change(change_of("c2"), b"").revision > other.change("c1").revision
    assert names(store.changes(ChangeFilter(after=0))) == ["c1", "c2"]


def test_processes_that_begin_and_write_together_lose_nothing(store, path):
    code = (
        "print('ready', flush=True); input()\n"
        "for i in range(100):\n"
        "    name = f'{sys.argv[2]}-{i}'\n"
        "    store.put_receipt(receipt_of(name), b'shown')\n"
        "    store.add_change(change_of(name, name), b'x', receipt_of(name))\n"
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
def test_a_writer_killed_at_any_moment_leaves_a_whole_file(store, path, delay, caplog):
    code = (
        "print('ready', flush=True)\n"
        "for i in range(10**6):\n"
        "    store.add_change(change_of(f'c{i}'), b'x' * 9000, receipt_of(version=f'c{i}'))\n"
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
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert not caplog.records


def damage_as_garbage(path):
    path.write_bytes(random.Random(1).randbytes(20_000))


def damage_by_truncation(path):
    os.truncate(path, path.stat().st_size // 2)


def damage_in_the_middle(path):
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))


DAMAGES = [damage_as_garbage, damage_by_truncation, damage_in_the_middle]


def filled(store):
    for number in range(40):
        store.put_receipt(receipt_of(f"k{number}"), b"x" * 3000)
        store.add_change(change_of(f"c{number}"), b"x" * 3000)
    return store


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_set_aside_with_one_warning(path, damage, caplog):
    filled(SqliteStore(path)).close()
    damage(path)
    damaged = path.read_bytes()
    store = SqliteStore(path)
    store.put_receipt(receipt_of(), b"shown")
    for number in range(40):
        store.receipt(ANN, f"k{number}")
    store.add_change(change_of("new"), b"", receipt_of())
    assert store.change("new") is not None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    (aside,) = asides(path)
    assert aside in caplog.text
    assert (path.parent / aside).read_bytes() == damaged


def test_damage_found_while_working_is_met_by_the_call_that_finds_it(path, caplog):
    store = filled(SqliteStore(path))
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damage_in_the_middle(path)
    added = [store.add_change(change_of(f"n{number}"), b"x" * 9000, receipt_of()) for number in range(200)]
    store.changes(ChangeFilter(limit=1000))
    assert len(added) == 200
    assert len(asides(path)) == 1
    assert len(caplog.records) == 1


def test_a_record_that_is_none_is_damage(path, caplog):
    store = SqliteStore(path)
    store.put_receipt(receipt_of())
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE receipts SET body = '{'")
    assert store.receipt(ANN, KEY) is None
    assert len(asides(path)) == len(caplog.records) == 1


def test_who_follows_the_journal_sees_the_one_that_was_begun_again(path):
    store = filled(SqliteStore(path))
    cursor = store.revision()
    store.close()
    damage_as_garbage(path)
    store.add_change(change_of("new"), b"")
    assert names(store.changes(ChangeFilter(after=cursor))) == ["new"]


def test_two_stores_that_meet_the_damage_set_it_aside_once(path, caplog):
    filled(SqliteStore(path)).close()
    damage_as_garbage(path)
    one, two = SqliteStore(path), SqliteStore(path)
    one.put_receipt(receipt_of("one"))
    two.put_receipt(receipt_of("two"))
    assert [kept.key for kept in one.receipts(ANN)] == ["two", "one"]
    assert len(asides(path)) == len(caplog.records) == 1


def test_a_file_that_somebody_set_aside_already_is_left_there(path):
    SqliteStore(path).put_receipt(receipt_of())
    assert sqlite_file.set_aside(path, (1, 1)) is None
    assert path.exists()


def test_a_newer_version_is_never_touched(path, caplog):
    SqliteStore(path).put_receipt(receipt_of())
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    store = SqliteStore(path)
    store.put_receipt(receipt_of("k"), b"shown")
    assert store.receipt(ANN, KEY) is None
    assert store.shown_text(ANN, "k") == b"shown"
    assert path.read_bytes() == before
    assert ["newer version" in record.message for record in caplog.records] == [True]


def test_another_program_s_database_is_never_touched(path, caplog):
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = path.read_bytes()
    store = SqliteStore(path)
    assert store.add_change(change_of("c1"), b"") == store.change("c1")
    assert path.read_bytes() == before
    assert len(caplog.records) == 1


def unwritable_folder(path):
    path.parent.chmod(0o500)


def unwritable_file(path):
    path.touch(0o400)


def folder_instead(path):
    path.mkdir()


def file_instead_of_its_folder(path):
    path.parent.rmdir()
    path.parent.touch()


@pytest.mark.parametrize("spoil", [unwritable_folder, unwritable_file, folder_instead, file_instead_of_its_folder])
def test_where_no_file_can_be_written_it_goes_on_in_memory_with_one_warning(path, spoil, caplog):
    path.parent.mkdir()
    spoil(path)
    store = SqliteStore(path)
    store.put_receipt(receipt_of(), b"shown")
    store.add_change(change_of("c1"), b"")
    assert store.receipt(ANN, KEY) is not None
    assert not path.is_file() or path.stat().st_size == 0
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_where_wal_cannot_work_the_classic_journal_does(path, caplog):
    path.parent.mkdir()
    (path.parent / "store.sqlite-shm").mkdir()
    store, other = SqliteStore(path), SqliteStore(path)
    store.add_change(change_of("c1"), b"", receipt_of())
    other.add_change(change_of("c2"), b"", receipt_of())
    assert names(store.changes(ChangeFilter())) == ["c2", "c1"]
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert not caplog.records


def test_a_file_left_in_wal_mode_opens_where_wal_cannot_work(path):
    SqliteStore(path).put_receipt(receipt_of())
    shutil.copyfile(path, path.with_name("moved.sqlite"))
    shutil.copyfile(f"{path}-wal", path.with_name("moved.sqlite-wal"))
    path.with_name("moved.sqlite-shm").mkdir()
    moved = SqliteStore(path.with_name("moved.sqlite"))
    assert moved.receipt(ANN, KEY) is not None


@pytest.mark.parametrize("companions", [True, False])
def test_a_file_deleted_under_us_is_begun_again(store, path, companions, caplog):
    store.put_receipt(receipt_of("before"))
    path.unlink()
    if companions:
        path.with_name("store.sqlite-wal").unlink()
        path.with_name("store.sqlite-shm").unlink()
    unwatched()
    store.put_receipt(receipt_of("after"))
    assert [kept.key for kept in SqliteStore(path).receipts(ANN)] == ["after"]
    assert not caplog.records


def test_a_file_replaced_under_us_is_the_one_from_then_on(store, path, tmp_path):
    elsewhere = SqliteStore(tmp_path / "other.sqlite")
    elsewhere.put_receipt(receipt_of("theirs"))
    elsewhere.close()
    store.put_receipt(receipt_of("ours"))
    os.replace(tmp_path / "other.sqlite", path)
    for companion in ("-wal", "-shm"):
        path.with_name(path.name + companion).unlink()
    unwatched()
    assert [kept.key for kept in store.receipts(ANN)] == ["theirs"]
    store.put_receipt(receipt_of("both"))
    assert len(SqliteStore(path).receipts(ANN)) == 2


def test_a_removed_folder_is_made_again(store, path):
    store.put_receipt(receipt_of())
    shutil.rmtree(path.parent)
    unwatched()
    store.put_receipt(receipt_of("after"))
    assert [kept.key for kept in store.receipts(ANN)] == ["after"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_parent_and_child_of_a_fork_go_on_together(path):
    code = (
        "import os\n"
        "store.put_receipt(receipt_of('before'))\n"
        "child = os.fork()\n"
        "for i in range(50):\n"
        "    name = f'{bool(child)}-{i}'\n"
        "    store.add_change(change_of(name), b'', receipt_of(name))\n"
        "    assert store.receipt(ANN, 'before') is not None\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    print(store.count_changes(ChangeFilter()), len(store.receipts(ANN)))\n"
        "os._exit(0) if not child else None\n"
    )
    assert start(code, path).communicate(timeout=60)[0].split() == ["100", "101"]


def test_a_file_held_for_too_long_is_an_io_error(store, path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    store.put_receipt(receipt_of())
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputOutput, match="locked") as refused:
        store.put_receipt(receipt_of("k"))
    assert "Another process" in refused.value.hint
    assert store.receipt(ANN, "k") is None
    holder.execute("COMMIT")
    store.put_receipt(receipt_of("k"))


def test_a_full_disk_is_an_io_error_and_nothing_is_half_done(store):
    store.put_receipt(receipt_of(version="1"))
    connection = store._database._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(InputOutput, match="full") as refused:
        store.add_change(change_of("c1"), b"x" * 10**6, receipt_of(version="2"))
    assert "free some space" in refused.value.hint
    assert store.change("c1") is None
    assert store.receipt(ANN, KEY).version == "1"


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
        store.add_change(change_of(str(number)), b"", receipt_of(str(number)))
    assert 320 <= len(store.receipts(ANN)) <= 330
    assert 320 <= store.count_changes(ChangeFilter()) <= 330
    assert store.receipt(ANN, "699") is not None


READERS = st.sampled_from([ANN, Reader("ann", "s2"), Reader("bob", "default")])
KEYS = st.sampled_from(["/r", "/r/a", "/r/a/b", "/r/a0", "/r/a%", NO_UTF8])
IDS = st.integers(0, 12).map(str)
STATUSES = st.sampled_from(["proposed", "applied", "rejected", "undone"])
BLOBS = st.none() | st.binary(max_size=30)
FILTERS = st.builds(
    ChangeFilter,
    key_prefix=st.none() | KEYS,
    key=st.none() | KEYS,
    reader=st.none() | READERS,
    session=st.sampled_from([None, "default", "s2"]),
    status=st.none() | STATUSES,
    after=st.none() | st.integers(-1, 30),
    limit=st.integers(-1, 8),
    offset=st.integers(-1, 4),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("receipt"), READERS, KEYS),
        st.tuples(st.just("put_receipt"), st.builds(receipt_of, KEYS, READERS, read_at=st.just(1.0)), BLOBS),
        st.tuples(st.just("was_dropped"), READERS, KEYS),
        st.tuples(st.just("shown_text"), READERS, KEYS),
        st.tuples(st.just("receipts"), READERS, st.none() | KEYS),
        st.tuples(st.just("forget"), READERS, st.none() | KEYS),
        st.tuples(st.just("add_change"), KEYS, READERS, STATUSES, BLOBS, st.booleans()),
        st.tuples(st.just("decide"), IDS, STATUSES, STATUSES, BLOBS),
        st.tuples(st.just("change"), IDS),
        st.tuples(st.just("splices"), IDS),
        st.tuples(st.just("changes"), FILTERS),
        st.tuples(st.just("count_changes"), FILTERS),
        st.tuples(st.just("revision")),
        st.tuples(st.just("close")),
    ),
    max_size=40,
)


def taken(store, name, arguments, number):
    if name == "add_change":
        key, reader, status, shown, with_receipt = arguments
        created_at = time.time() - (40 * 86400 if number % 5 == 0 else 0)
        change = change_of(str(number), key, reader, status=status, created_at=created_at // 86400 * 86400)
        receipt = receipt_of(key, reader, read_at=2.0) if with_receipt else None
        return store.add_change(change, b"x" * (number * 7 % 40), receipt, shown)
    if name == "decide":
        change_id, expected, status, splices = arguments
        return store.decide(change_id, expected, status, decided_at=3.0, decided_by="b", splices=splices)
    return getattr(store, name)(*arguments)


@given(STEPS)
@hypothesis_settings(max_examples=60)
def test_it_answers_as_the_store_in_memory_does(tmp_path_factory, steps):
    limits = StoreLimits(max_receipts=3, journal_max_changes=6, journal_max_bytes=100)
    path = tmp_path_factory.mktemp("model") / "store.sqlite"
    model, one, two = InMemoryStore(limits), SqliteStore(path, limits), SqliteStore(path, limits)
    for number, (name, *arguments) in enumerate(steps):
        actual = taken(one if number % 3 else two, name, arguments, number)
        assert actual == taken(model, name, arguments, number), (number, name)
    one.close()
    two.close()
