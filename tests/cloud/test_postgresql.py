"""The store in PostgreSQL: the contract, several servers, lost connections and suspended processes."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.config import FsToolsConfig
from jupyter_fstools.errors import Conflict, InputOutput, Invalid, NoMatch, TimedOut
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.kernel.desk import Desk
from jupyter_fstools.limits import StoreLimits
from jupyter_fstools.stores.postgresql import PostgresqlStore
from jupyter_fstools.stores.postgresql_answers import Patient
from jupyter_fstools.stores.postgresql_locks import PostgresqlLocks
from jupyter_fstools.stores.protocol import ChangeFilter
from jupyter_fstools.stores.records import OpenDocument
from jupyter_fstools.testing.store_contract import StoreContract
from jupyter_fstools.testing.store_samples import ANN, change_of, receipt_of
from tests import postgresql


class TestPostgresql(StoreContract):
    @pytest.fixture
    def make_store(self, take_database):
        made = []

        def make(limits):
            made.append(PostgresqlStore(take_database(), limits))
            return made[-1]

        yield make
        for store in made:
            store.close()

    @pytest.fixture
    def store(self, make_store):
        return make_store(StoreLimits())


@pytest.fixture
def two(database):
    """Two servers' stores on one database."""
    stores = PostgresqlStore(database), PostgresqlStore(database)
    yield stores
    for store in stores:
        store.close()


def test_servers_that_start_at_once_make_the_tables_once(database):
    stores = [PostgresqlStore(database) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda store: store.revision(), stores)) == [0] * 6
    for store in stores:
        store.close()


def test_an_older_server_beside_a_newer_one_is_refused_clearly(database):
    first = PostgresqlStore(database)
    first.put_receipt(receipt_of())
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE fstools.version SET version = 99")
    with pytest.raises(Invalid, match="version 99") as refused:
        PostgresqlStore(database).revision()
    assert "Update jupyter-fstools" in refused.value.hint
    first.close()


def test_the_password_shows_up_nowhere(database, tmp_path, make_shell_config, monkeypatch):
    wrong = database.replace("the-password", "wrong-password").replace("ada:", "eve:")
    with pytest.raises(InputOutput) as refused:
        PostgresqlStore(wrong).revision()
    assert "wrong-password" not in str(refused.value)
    desk = Desk(make_shell_config(store=database), str(tmp_path))
    assert "the-password" not in desk.files.status()["store"]
    handed = desk.settings.shared_settings()["store"]
    assert "the-password" not in handed
    assert "ada@" in handed
    apart = database.replace("ada:the-password@", "ada@") + "?password=the-password&connect_timeout=5"
    handed = Desk(make_shell_config(store=apart), str(tmp_path)).settings.shared_settings()["store"]
    assert handed == database.replace("ada:the-password@", "ada@") + "?connect_timeout=5"
    with pytest.raises(InputOutput) as refused:
        PostgresqlStore(apart.replace("=the-password", "=wrong-password")).revision()
    assert "wrong-password" not in str(refused.value)


@pytest.mark.parametrize(
    "secret", ["s3cr%zzet", "s3cr et", "s3cr/et", "s3cr@et", "5/s3cr@et", "s3cr#et", "s3cr?et", "s3cret:"]
)
def test_a_password_that_is_not_escaped_is_repeated_nowhere(secret):
    address = f"postgresql://ada:{secret}@127.0.0.1:9/db"
    handed = FsToolsConfig(store=address).shared_settings()["store"]
    with pytest.raises((Invalid, InputOutput)) as refused:
        open_workspace(".", store=address).store.revision()
    assert not any(part in f"{handed} {refused.value} {refused.value.hint}" for part in ("s3cr", "et@"))


@pytest.mark.parametrize("port", ["99999", "0", "-1", "5432x", "5432,70000", "1" * 5000], ids=lambda port: port[:9])
def test_a_port_that_is_none_is_refused_at_once(port):
    """It would look like a database that is away, and comes back by itself."""
    with pytest.raises(Invalid, match="store: this is no address") as refused:
        PostgresqlStore.from_setting(f"postgresql://ada@h,i/db?port={port}")
    assert "port" in refused.value.hint
    PostgresqlStore.from_setting("postgresql://ada@h:,i:5433/db").close()


@pytest.mark.parametrize("source", ["PGPASSFILE", "PGPASSWORD"])
def test_the_password_comes_from_a_file_or_the_environment(database, tmp_path, monkeypatch, source):
    secret = "the-password"
    if source == "PGPASSFILE":
        (tmp_path / "pass").write_text(f"127.0.0.1:*:*:ada:{secret}\n")
        (tmp_path / "pass").chmod(0o600)
        secret = str(tmp_path / "pass")
    address = database.replace("ada:the-password@", "ada@")
    with pytest.raises(InputOutput, match="password"):
        PostgresqlStore(address).revision()
    monkeypatch.setenv(source, secret)
    store = PostgresqlStore(address)
    assert store.revision() == 0
    store.close()


@pytest.mark.parametrize("name", ["password", "sslpassword", "pass%77ord", "PASSWORD"])
def test_a_password_among_the_options_is_handed_to_nobody(name):
    settings = FsToolsConfig(store=f"postgresql://ada@h/db?{name}=s3cret&connect_timeout=5")
    assert settings.shared_settings()["store"] == "postgresql://ada@h/db?connect_timeout=5"


@pytest.fixture
def make_shell_config():
    from traitlets.config import Config

    return lambda **settings: Config({"FsToolsConfig": settings})


def test_the_tools_work_and_receipts_are_seen_by_every_server(database, tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    here = open_workspace(tmp_path, session="s", store=database)
    there = open_workspace(tmp_path, session="s", store=database)
    call_tool(here, "read_file", path="a.txt")
    done = call_tool(there, "edit_file", path="a.txt", old_string="one", new_string="1")
    assert (tmp_path / "a.txt").read_text() == "1\n"
    call_tool(here, "undo", change_id=done.change.id)
    assert (tmp_path / "a.txt").read_text() == "one\n"
    here.store.close()
    there.store.close()


def test_news_of_another_server_come_within_the_time_of_a_glance(two):
    here, there = two
    here.mark()
    there.revision()
    told = threading.Event()
    here.subscribe(told.set)
    waits = []
    for number in range(5):
        told.clear()
        started = time.monotonic()
        there.add_change(change_of(f"c{number}"), b"")
        assert told.wait(10)
        waits.append(time.monotonic() - started)
    assert min(waits) < 0.3
    assert [change.id for change in here.changes(ChangeFilter(after=0))] == [f"c{number}" for number in range(5)]


def test_nothing_is_missed_where_the_listening_connection_was_lost(two, database):
    here, there = two
    here.mark()
    heard = threading.Event()
    here.subscribe(heard.set)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    heard.clear()
    before = here.mark()
    there.add_change(change_of("c"), b"")
    assert heard.wait(10)
    assert here.mark() != before
    assert [change.id for change in here.changes(ChangeFilter(after=0))] == ["c"]


def test_revisions_become_visible_in_their_order(two):
    seen, done = [], threading.Event()

    def follow():
        last = 0
        while not (done.is_set() and two[0].revision() == last):
            for change in two[0].changes(ChangeFilter(after=last)):
                assert change.revision > last
                last = change.revision
                seen.append(change.id)

    follower = threading.Thread(target=follow)
    follower.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: two[number % 2].add_change(change_of(f"c{number}"), b""), range(60)))
    done.set()
    follower.join(60)
    assert sorted(seen) == sorted(f"c{number}" for number in range(60))


def test_a_lock_is_one_lock_for_all_servers(two):
    here, there = (store.locks(0.3) for store in two)
    with here.hold("/r/a", "/r/b"):
        with pytest.raises(TimedOut), there.hold("/r/b"):
            pass
        with there.hold("/r/c"):
            pass
        with pytest.raises(RuntimeError), here.hold("/r/a"):
            pass
    with there.hold("/r/a", "/r/b"):
        pass


def test_receipts_are_found_over_a_connection_that_waited_for_a_lock_in_vain(two):
    """The wait ends in a rollback, after which psycopg makes the session forget its prepared statements."""
    here, there = two
    for _ in range(9):  # From the sixth time on psycopg prepares a statement, too.
        here.put_receipt(receipt_of())
        assert here.receipt(ANN, "/root/a.txt") is not None
    with there.locks(5).hold("/r/a"), pytest.raises(TimedOut), here.locks(0.1).hold("/r/a"):
        pass
    assert here.receipt(ANN, "/root/a.txt") == there.receipt(ANN, "/root/a.txt")


def test_a_lock_whose_holder_was_killed_is_free(database):
    code = (
        "import sys, time\n"
        "from jupyter_fstools.stores.postgresql import PostgresqlStore\n"
        "with PostgresqlStore(sys.argv[1]).locks(5).hold('/r/a'):\n"
        "    print('held', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code, database], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
    store = PostgresqlStore(database)
    with store.locks(30).hold("/r/a"):
        pass
    store.close()


SUSPENDED = """
import os, signal, sys
from jupyter_fstools.errors import Conflict, FsToolsError
from jupyter_fstools.stores.postgresql import PostgresqlStore
from jupyter_fstools.stores.postgresql_answers import Patient
from jupyter_fstools.stores.postgresql_locks import PostgresqlLocks
from jupyter_fstools.testing.store_samples import change_of
store = PostgresqlStore(sys.argv[1])
locks = PostgresqlLocks(store._database, timeout=5, lease=1.0)
with locks.hold("/root/a.txt"):
    os.kill(os.getpid(), signal.SIGSTOP)
    try:
        store.add_change(change_of("late", "/root/a.txt", status="pending"), b"")
        print("written")
    except FsToolsError as refused:
        print(refused.code)
"""


@pytest.mark.parametrize("account", ["database", "plain_account"])
def test_who_was_suspended_past_the_lease_may_write_nothing(account, request):
    """The change is recorded as pending before a file is replaced: where that is refused, nothing is written."""
    database = request.getfixturevalue(account)
    store = PostgresqlStore(database)
    with subprocess.Popen([sys.executable, "-c", SUSPENDED, database], stdout=subprocess.PIPE, text=True) as holder:
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
        with PostgresqlLocks(store._database, timeout=60, lease=1.0).hold("/root/a.txt"):
            store.add_change(change_of("mine", "/root/a.txt"), b"")
        holder.send_signal(signal.SIGCONT)
        said, _ = holder.communicate(timeout=60)
    assert said.strip() in ("conflict", "io")
    assert [change.id for change in store.changes(ChangeFilter())] == ["mine"]
    assert store.change("late") is None
    store.close()


SUSPENDED_SERVER = """
import os, signal, sys
from functools import partialmethod
from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import FsToolsError
from jupyter_fstools.stores.postgresql_answers import Patient
from jupyter_fstools.stores.postgresql_locks import PostgresqlLocks

def suspended(call):
    def suspend(self, *given, **named):
        answer = call(self, *given, **named)
        os.kill(os.getpid(), signal.SIGSTOP)
        return answer
    return suspend

PostgresqlLocks.__init__ = partialmethod(PostgresqlLocks.__init__, lease=1.0)
files = open_workspace(sys.argv[1], session="late", store=sys.argv[2], durable=False)
call_tool(files, "read_file", path="a.txt")
store = type(files.store)
setattr(store, sys.argv[3], suspended(getattr(store, sys.argv[3])))
try:
    call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="late")
    print("written")
except FsToolsError as refused:
    print(refused.code)
"""


@pytest.mark.parametrize("after", ["unfinished", "add_change"])
@pytest.mark.parametrize("old", ["one", "never there"])
def test_a_server_suspended_in_an_edit_writes_nothing_after_its_lock_was_taken(
    database, tmp_path, monkeypatch, after, old
):
    """It holds the lock, or has recorded its change as pending already, and stops for longer than the lease.

    The server that takes the lock changes the file, or is refused after it has settled the pending change.
    """
    monkeypatch.setattr(PostgresqlLocks, "__init__", functools.partialmethod(PostgresqlLocks.__init__, lease=1.0))
    (tmp_path / "a.txt").write_text("one\n")
    files = open_workspace(tmp_path, store=database, durable=False)
    call_tool(files, "read_file", path="a.txt")
    command = [sys.executable, "-c", SUSPENDED_SERVER, str(tmp_path), database, after]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as late:
        os.waitid(os.P_PID, late.pid, os.WSTOPPED | os.WNOWAIT)
        with contextlib.nullcontext() if old == "one" else pytest.raises(NoMatch):
            call_tool(files, "edit_file", path="a.txt", old_string=old, new_string="mine")
        late.send_signal(signal.SIGCONT)
        said, _ = late.communicate(timeout=60)
    assert said.strip() in ("conflict", "io", "stale")
    assert (tmp_path / "a.txt").read_text() == ("mine\n" if old == "one" else "one\n")
    assert [change.session for change in Journal(files).changes(ChangeQuery())] == ["default"] * (old == "one")
    assert files.store.unfinished(files.backend.root_key) == []
    files.store.close()


@pytest.mark.parametrize("kind", ["edit", "undo"])
def test_who_lost_its_connection_until_others_forgot_its_change_takes_it_back(database, tmp_path, monkeypatch, kind):
    (tmp_path / "a.txt").write_text("one\n")
    files, other = (open_workspace(tmp_path, store=database, durable=False) for _ in range(2))
    call_tool(files, "read_file", path="a.txt")
    made = call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="two").change
    known = Journal(other).changes(ChangeQuery())
    write = files.backend.write

    def cut_off(path, chunks, *, if_match):
        data = list(chunks)  # By now the change is pending.
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        other.store.close()
        assert [change.id for change in Journal(other).changes(ChangeQuery())] == [made.id]
        monkeypatch.setattr(files.backend, "write", write)
        return write(path, data, if_match=if_match)

    monkeypatch.setattr(files.backend, "write", cut_off)
    with pytest.raises(Conflict, match="not modified"):
        if kind == "edit":
            call_tool(files, "edit_file", path="a.txt", old_string="two", new_string="late")
        else:
            Journal(files).undo(made, by_person=True)
    assert (tmp_path / "a.txt").read_text() == "two\n"
    assert Journal(other).changes(ChangeQuery()) == known
    for one in (files, other):
        one.store.close()


def test_a_change_whose_connection_ends_once_its_file_is_written_is_recorded_over_another_one(
    database, tmp_path, monkeypatch
):
    (tmp_path / "a.txt").write_text("one\n")
    files = open_workspace(tmp_path, store=database, durable=False)
    call_tool(files, "read_file", path="a.txt")
    finish = files.store.finish

    def cut_off(*given, **named):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        return finish(*given, **named)

    monkeypatch.setattr(files.store, "finish", cut_off)
    made = call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="two").change
    assert files.store.change(made.id).status == "applied"
    files.store.close()


def test_who_lost_its_locks_with_their_connection_may_ask_but_not_record(two, database):
    """Files that it has written are put back, which takes the answer who has them open."""
    here, there = two
    there.note_open("page", [OpenDocument("page", "/root/b.txt", False)], time.time() + 60)
    with here.locks(5).hold("/root/a.txt"):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert [document.page for document in here.open_documents("/root/b.txt")] == ["page"]
        with pytest.raises(Conflict, match="not modified"):
            here.add_change(change_of("c", "/root/a.txt", status="pending"), b"")
    assert here.change("c") is None


def test_a_lock_that_was_lost_is_noticed_in_the_transaction_of_the_commit(two, database):
    here, _ = two
    with here.locks(5).hold("/root/a.txt"):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("UPDATE fstools.locks SET fence = fence + 1")
        with pytest.raises(Conflict, match="not modified"):
            here.add_change(change_of("c", "/root/a.txt", status="pending"), b"")
    assert here.change("c") is None


def test_while_the_database_is_away_nothing_is_written_and_then_everything_goes_on(tmp_path):
    with postgresql.running() as server:
        root = tmp_path / "root"
        root.mkdir()
        (root / "a.txt").write_text("one\n")
        files = open_workspace(root, store=server.address)
        call_tool(files, "read_file", path="a.txt")
        # A crash may forget the last reads; a later write is flushed to the disk, and the reads before it with it.
        call_tool(files, "write_file", path="b.txt", content="")
        server.stop("immediate")
        with pytest.raises(InputOutput, match="not modified") as refused:
            call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="1")
        assert "administrator" in refused.value.hint
        assert (root / "a.txt").read_text() == "one\n"
        assert call_tool(files, "read_file", path="a.txt", force=True).data["content"] == "one\n"
        assert call_tool(files, "list_files").data["total"] == 2
        server.start()
        call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="1")
        assert (root / "a.txt").read_text() == "1\n"
        files.store.close()


@pytest.fixture
def waits(monkeypatch):
    """How often this thread waits for an answer of the database; those that listen for news wait all the time."""
    counted, wait, caller = [], Patient.wait, threading.current_thread()

    def count(connection, gen, *given, **named):
        if threading.current_thread() is caller:
            counted.append(gen)
        return wait(connection, gen, *given, **named)

    monkeypatch.setattr(Patient, "wait", count)
    return counted


def test_an_edit_is_three_round_trips_a_first_read_two_and_the_same_again_one(database, tmp_path, waits):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("one\ntwo\n")
        os.utime(tmp_path / name, (1, 1))  # An old modification time: no program can still be writing it.
    files = open_workspace(tmp_path, store=database)
    call_tool(files, "read_file", path="a.txt")
    call_tool(files, "edit_file", path="a.txt", old_string="one", new_string="1")
    for tool, arguments, most in (
        ("edit_file", {"path": "a.txt", "old_string": "two", "new_string": "2"}, 3),
        ("read_file", {"path": "b.txt", "limit": 1}, 2),
        ("read_file", {"path": "b.txt", "limit": 1}, 1),
        ("read_file", {"path": "b.txt", "limit": 1, "force": True}, 1),
        ("read_file", {"path": "b.txt", "offset": 2}, 3),
    ):
        waits.clear()
        call_tool(files, tool, **arguments)
        assert len(waits) == most, (tool, arguments)
    files.store.close()


def test_a_receipt_is_the_readers_own(two):
    two[0].put_receipt(receipt_of())
    assert two[1].receipt(ANN, "/root/a.txt") == two[0].receipt(ANN, "/root/a.txt")
