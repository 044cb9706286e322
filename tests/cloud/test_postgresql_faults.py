"""Faults of databases, their administrators and clocks, and how the store in PostgreSQL handles them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import Denied, InputOutput, Invalid, NoMatch
from jupyter_fstools.gate import tokens
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.limits import StoreLimits
from jupyter_fstools.server.events.change_feed import ActivityNews
from jupyter_fstools.stores import postgresql_connection
from jupyter_fstools.stores.postgresql import PostgresqlStore
from jupyter_fstools.stores.postgresql_answers import Patient
from jupyter_fstools.stores.postgresql_connection import AWAY_SECONDS
from jupyter_fstools.stores.postgresql_schema import _MIGRATIONS
from jupyter_fstools.stores.protocol import ChangeFilter, MomentFilter
from jupyter_fstools.stores.records import OpenDocument
from jupyter_fstools.testing.store_samples import ANN, change_of, receipt_of, refusal_of
from tests import postgresql
from tests.kernel.elsewhere import with_disk


@pytest.fixture
def ask(database):
    """Asks the database as its administrator."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection.execute


@pytest.fixture
def open_files(database, tmp_path):
    """Opens the workspace of a server, on a folder with one file; closes it after the test."""
    opened = []
    (tmp_path / "a.txt").write_text("one\n")

    def open_(address=database, **settings):
        opened.append(open_workspace(tmp_path, store=address, durable=False, **settings))
        return opened[-1]

    yield open_
    for files in opened:
        files.store.close()


@pytest.fixture
def files(open_files):
    files = open_files()
    call_tool(files, "read_file", path="a.txt")
    return files


def edit(files, old="one", new="1", path="a.txt"):
    return call_tool(files, "edit_file", path=path, old_string=old, new_string=new)


def require_refused_and_unchanged(files, tmp_path, match):
    with pytest.raises(InputOutput, match=match) as refused:
        edit(files)
    assert "not modified" in str(refused.value) or "Nothing was written" in refused.value.hint
    assert (tmp_path / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1", "EUC_JP"])
def test_a_database_of_any_encoding_keeps_every_text(database_server, ask, tmp_path, encoding):
    """As Debian makes one where no locale is set; libraries give its text as bytes."""
    name = f"in_{encoding.lower()}"
    ask(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'")
    (tmp_path / "é🎉.txt").write_text("日本\n")
    files = open_workspace(tmp_path, store=database_server.address.removesuffix("postgres") + name, durable=False)
    call_tool(files, "read_file", path="é🎉.txt")
    done = edit(files, "本", "€", "é🎉.txt")
    assert [change.path for change in Journal(files).changes(ChangeQuery(status="applied"))] == ["é🎉.txt"]
    call_tool(files, "undo", change_id=done.change.id)
    assert (tmp_path / "é🎉.txt").read_text() == "日本\n"
    files.store.close()


@pytest.mark.parametrize(
    "default", ["default_transaction_isolation = 'serializable'", "standard_conforming_strings = off"]
)
def test_other_defaults_of_a_database_change_nothing(database, ask, open_files, default):
    ask(f"ALTER DATABASE {psycopg.conninfo.conninfo_to_dict(database)['dbname']} SET {default}")
    files = open_files()
    call_tool(files, "read_file", path="a.txt")
    edit(files)
    stores = [PostgresqlStore(database) for _ in range(5)]

    def hold(store):
        with store.locks(5).hold("/root/a.txt"):
            time.sleep(0.3)
        store.close()

    with ThreadPoolExecutor() as pool:
        # Each waits while the one before it has the lock, and takes it in the same statement.
        for held in [pool.submit(hold, store) for store in stores]:
            held.result()


@pytest.mark.parametrize("version", range(1, len(_MIGRATIONS)))
def test_tables_of_an_older_server_are_migrated_with_what_is_in_them(make_database, version):
    new, old = make_database(), make_database()
    store = PostgresqlStore(new)
    store.put_receipt(kept := receipt_of(), b"shown")
    for name, status in (("done", "applied"), ("waiting", "proposed"), ("left", "pending")):
        store.add_change(change_of(name, status=status), b"splices")
    store.close()
    with psycopg.connect(new) as source, psycopg.connect(old) as target:
        target.execute("CREATE SCHEMA fstools")
        target.execute("CREATE TABLE fstools.version (version integer NOT NULL)")
        target.execute("INSERT INTO fstools.version VALUES (%s)", (version,))
        for statements in _MIGRATIONS[:version]:
            target.execute(statements)
        target.execute("DELETE FROM fstools.state")
        columns = "revision, id, keys, owner, session, status, created_at, decided_at, decided_by, body, splices"
        for table, what in (("state", "*"), ("receipts", "*"), ("changes", columns)):
            into = table if what == "*" else f"{table} ({what})"
            rows = source.execute(f"SELECT {what} FROM fstools.{table}").fetchall()
            for row in rows:
                target.execute(f"INSERT INTO fstools.{into} VALUES ({', '.join(['%s'] * len(row))})", row)
        target.execute("INSERT INTO fstools.locks (key, fence, process) VALUES ('/root/a.txt', 7, 1)")
    store = PostgresqlStore(old)
    assert (store.receipt(ANN, kept.key), store.shown_text(ANN, kept.key)) == (kept, b"shown")
    assert [(one.id, one.status) for one in store.changes(ChangeFilter())] == [
        ("waiting", "proposed"),
        ("done", "applied"),
    ]
    with store.locks(5).hold("/root/a.txt"):
        assert [change.id for change in store.unfinished("/root")] == ["left"]
        assert store.finish("left") == 3
    store.close()


def test_a_server_that_runs_while_a_newer_one_migrates_is_refused_clearly(files, ask, tmp_path):
    """Like a migration that gives a function other arguments."""
    ask("DROP FUNCTION fstools.take")
    ask("UPDATE fstools.version SET version = version + 1")
    for _ in range(2):
        with pytest.raises(Invalid, match="tables of version") as refused:
            edit(files)
        assert "Update jupyter-fstools" in refused.value.hint
    assert (tmp_path / "a.txt").read_text() == "one\n"


def test_a_connection_that_the_database_ended_between_two_calls_costs_no_call(files, ask, tmp_path):
    """As a restart does, or `idle_session_timeout`: the database says why before it hangs up."""
    ask(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
        "AND datname = current_database()"
    )
    edit(files)
    assert (tmp_path / "a.txt").read_text() == "1\n"


def test_a_database_that_was_replaced_by_an_empty_one_is_used_without_a_restart(files, ask, tmp_path):
    ask("DROP SCHEMA fstools CASCADE")
    require_refused_and_unchanged(files, tmp_path, "does not exist")
    call_tool(files, "read_file", path="a.txt")
    done = edit(files)
    assert [change.id for change in Journal(files).changes(ChangeQuery())] == [done.change.id]


def test_in_a_database_that_may_only_be_read_nothing_is_written_until_it_may_again(files, ask, tmp_path, database):
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    ask(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    files.store.close()  # Like a standby that takes over: all connections are new.
    require_refused_and_unchanged(files, tmp_path, "read-only")
    assert call_tool(files, "read_file", path="a.txt", force=True).data["content"] == "one\n"
    ask(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    files.store.close()
    edit(files)
    assert (tmp_path / "a.txt").read_text() == "1\n"


ON_A_SMALL_DISK = """
import contextlib, os, sys
from pathlib import Path
from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import Conflict, InputOutput, NotRead
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from tests.postgresql import Postgresql

disk, place, root = map(Path, sys.argv[1:])
disk.chmod(0o777)
text, done, refused = "one\\n", [], 0
def write():
    global text
    large = "".join(f"{os.urandom(80).hex()}\\n" for _ in range(1500))
    call_tool(files, "read_file", path="a.txt")  # A crash of the database may forget what was read before.
    done.append(call_tool(files, "write_file", path="a.txt", content=large).change.id)
    text = large
server = Postgresql(place) if disk == place else Postgresql(place, "--wal-segsize=1", f"--waldir={disk}/log")
server.start()
try:
    files = open_workspace(root, store=server.address, durable=False)
    write()
    with open(disk / "filling", "wb", buffering=0) as filling:
        try:
            while True:
                filling.write(bytes(4096))
        except OSError as full:
            print(full.strerror)
    while refused < 3:  # The log has some room left within its files.
        try:
            write()
        except (Conflict, InputOutput, NotRead) as refusal:
            print(refusal)
            refused += 1
        assert (root / "a.txt").read_text() == text
    assert text.startswith(call_tool(files, "read_file", path="a.txt", force=True, limit=1).data["content"])
    os.unlink(disk / "filling")
    if disk != place:  # A database that cannot write its log ends, and is started again.
        with contextlib.suppress(AssertionError):
            server.stop("immediate")
        server.start()
    write()
    assert (root / "a.txt").read_text() == text
    assert [change.id for change in Journal(files).changes(ChangeQuery())] == done[::-1]
    files.store.close()
finally:
    server.stop("immediate")
"""


@pytest.mark.parametrize("full", ["everything", "the log"])
def test_while_the_disk_of_the_database_is_full_nothing_is_written_and_then_everything_goes_on(tmp_path, full):
    """A real disk, mounted for the database alone: its tables cannot grow, or only its log, without which it ends."""
    (tmp_path / "a.txt").write_text("one\n")
    with postgresql.folder() as disk, postgresql.folder() as elsewhere:
        if not (small := with_disk(disk, "128m")):
            pytest.skip("no disk can be mounted here")
        place = disk if full == "everything" else elsewhere
        command = [*small[0], sys.executable, "-c", ON_A_SMALL_DISK, str(disk), str(place), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "No space left on device"
    refused = [line for line in said if line.startswith(("io:", "conflict:", "not_read:"))]
    assert len(refused) == 3 and all("not modified" in line for line in refused), said
    assert any(line.startswith("io:") for line in refused)
    assert ("could not extend file" in done.stdout) == (full == "everything")


FULL = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
"""
FULL_FOR = "CREATE TRIGGER full_disk BEFORE {} ON fstools.{} FOR EACH STATEMENT EXECUTE FUNCTION full_disk();"


def test_a_disk_that_fills_up_in_the_middle_of_an_edit_leaves_a_change_that_the_next_look_completes(
    files, open_files, ask, tmp_path
):
    ask(FULL + FULL_FOR.format("UPDATE", "changes"))
    done = edit(files)
    assert (tmp_path / "a.txt").read_text() == "1\n"
    assert [change.id for change in files.store.unfinished(files.backend.root_key)] == [done.change.id]
    ask("DROP TRIGGER full_disk ON fstools.changes")
    another = open_files()
    applied = Journal(another).changes(ChangeQuery(status="applied"))
    assert [change.id for change in applied] == [done.change.id]
    call_tool(another, "undo", change_id=done.change.id)
    assert (tmp_path / "a.txt").read_text() == "one\n"


def test_what_is_kept_is_not_refused_where_nothing_older_can_be_dropped(database, ask, caplog):
    """A refusal would report the change as not made, although it is."""
    store = PostgresqlStore(database, StoreLimits(journal_max_changes=1, max_receipts=1))
    store.add_change(change_of("c1"), b"")
    store.put_receipt(receipt_of("/root/1"))
    ask(FULL + FULL_FOR.format("DELETE", "changes") + FULL_FOR.format("DELETE", "receipts"))
    assert store.add_change(change_of("c2", status="proposed"), b"").revision == 2
    assert store.decide("c2", "proposed", "applied", decided_at=time.time()).revision == 3
    store.put_receipt(receipt_of("/root/2"))
    assert [change.id for change in store.changes(ChangeFilter())] == ["c2", "c1"]
    assert "No space left" in caplog.text
    for table in ("changes", "receipts"):
        ask(f"DROP TRIGGER full_disk ON fstools.{table}")
    store.add_change(change_of("c3"), b"")
    store.put_receipt(receipt_of("/root/3"))
    assert [change.id for change in store.changes(ChangeFilter())] == ["c3"]
    assert [kept.key for kept in store.receipts(ANN)] == ["/root/3"]
    store.close()


def test_more_calls_than_connections_wait_their_turn(files, monkeypatch, tmp_path):
    monkeypatch.setattr(postgresql_connection, "_MOST_CONNECTIONS", 2)
    files.store.close()
    names = [f"{number}.txt" for number in range(8)]

    def work(name):
        call_tool(files, "write_file", path=name, content="0\n")
        for number in range(5):
            edit(files, str(number), str(number + 1), name)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, names))
    assert {(tmp_path / name).read_text() for name in names} == {"5\n"}
    assert Journal(files).count(ChangeQuery()) == 8 * 6


def test_a_call_that_gets_no_connection_is_refused_and_writes_nothing(files, monkeypatch, tmp_path):
    monkeypatch.setattr(postgresql_connection, "_MOST_CONNECTIONS", 1)
    monkeypatch.setattr(postgresql_connection, "WAIT_SECONDS", 0.2)
    files.store.close()
    with files.store._database.connection(), ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(require_refused_and_unchanged, files, tmp_path, "all 1 connections are in use").result()
    edit(files)
    assert (tmp_path / "a.txt").read_text() == "1\n"


def test_a_database_that_takes_no_more_connections_refuses_calls_until_it_does(
    plain_account, open_files, ask, tmp_path
):
    files = open_files(plain_account)
    call_tool(files, "read_file", path="a.txt")
    role = psycopg.conninfo.conninfo_to_dict(plain_account)["user"]
    files.store.close()
    ask(f"ALTER ROLE {role} CONNECTION LIMIT 0")
    require_refused_and_unchanged(files, tmp_path, "too many connections")
    ask(f"ALTER ROLE {role} CONNECTION LIMIT -1")
    edit(files)
    assert (tmp_path / "a.txt").read_text() == "1\n"


def test_an_account_whose_password_changes_is_refused_without_it_until_it_is_the_old_one(
    plain_account, open_files, ask, tmp_path, caplog
):
    files = open_files(plain_account)
    call_tool(files, "read_file", path="a.txt")
    role = psycopg.conninfo.conninfo_to_dict(plain_account)["user"]
    ask(f"ALTER ROLE {role} PASSWORD 'another'")
    ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (role,))
    files.store.close()
    require_refused_and_unchanged(files, tmp_path, "password authentication failed")
    assert call_tool(files, "read_file", path="a.txt", force=True).data["content"] == "one\n"
    assert "plain:plain" not in caplog.text and ":plain@" not in caplog.text
    ask(f"ALTER ROLE {role} PASSWORD 'plain'")
    edit(files)
    assert (tmp_path / "a.txt").read_text() == "1\n"


def test_an_account_without_rights_is_refused_until_it_has_them(plain_account, open_files, ask, tmp_path):
    files = open_files(plain_account)
    call_tool(files, "read_file", path="a.txt")
    role = psycopg.conninfo.conninfo_to_dict(plain_account)["user"]
    ask(f"REVOKE INSERT, UPDATE ON ALL TABLES IN SCHEMA fstools FROM {role}")
    require_refused_and_unchanged(files, tmp_path, "permission denied")
    ask(f"GRANT ALL ON ALL TABLES IN SCHEMA fstools TO {role}")
    edit(files)
    assert (tmp_path / "a.txt").read_text() == "1\n"


def test_what_one_clock_says_counts_for_no_other_machine(database, monkeypatch):
    """A server whose clock is a year ahead makes nobody forget open files, reads, refusals or the journal."""
    here, ahead = PostgresqlStore(database), PostgresqlStore(database)
    opened = [OpenDocument("page", "/root/a.txt", False, None, 1)]
    here.note_open("page", opened, time.time() + 60)
    here.add_change(change_of("young", created_at=time.time()), b"")
    here.put_receipt(receipt_of())
    here.add_refusal(refusal_of("young"))
    with monkeypatch.context() as patch:
        now = time.time
        patch.setattr(time, "time", lambda: now() + 365 * 86400)
        ahead.note_open("another", [], time.time() + 60)
        ahead.add_change(change_of("late", created_at=time.time()), b"")
        ahead.put_receipt(receipt_of("/root/b.txt"))
        ahead.add_refusal(refusal_of("late"))
        assert ahead.open_documents("/root/a.txt") == opened
    assert here.open_documents("/root/a.txt") == opened
    assert [change.id for change in here.changes(ChangeFilter())] == ["late", "young"]
    assert [receipt.key for receipt in here.receipts(ANN)] == ["/root/b.txt", "/root/a.txt"]
    assert [refusal.message for refusal in here.refusals(MomentFilter())] == ["late", "young"]
    for store in (here, ahead):
        store.close()


@pytest.fixture
def clock(monkeypatch):
    """Sets the clock of the machine: a function that takes how far it is ahead, in seconds."""
    now = time.time

    def set_(ahead):
        monkeypatch.setattr(time, "time", lambda: now() + ahead)

    return set_


@pytest.mark.parametrize("ahead", [86400, -86400])
def test_times_in_the_journal_are_those_of_the_clock_that_servers_have_in_common(open_files, clock, ahead):
    """Pages of the journal end at a time: entries between two clocks would be on none of them."""
    files = open_files()
    call_tool(files, "read_file", path="a.txt")
    made = []
    for number, its_ahead in enumerate((0, ahead, 0)):
        clock(its_ahead)
        made.append(edit(files, str(number) if number else "one", str(number + 1)).change.id)
        with pytest.raises(NoMatch):
            edit(files, "nowhere", "here")
    changes, refusals = files.store.changes(ChangeFilter()), files.store.refusals(MomentFilter())
    assert [change.created_at for change in changes] == pytest.approx([time.time()] * 3, abs=60)
    assert [refusal.at for refusal in refusals] == pytest.approx([time.time()] * 3, abs=60)
    before = ChangeFilter(before=changes[0].created_at)
    assert [change.id for change in files.store.changes(before)] == [made[1], made[0]]


@pytest.mark.parametrize("ahead", [365 * 86400, -365 * 86400])
def test_no_change_is_dropped_as_too_old_for_the_clock_of_who_decided_about_it(open_files, clock, ahead):
    files = open_files(approval="always")
    call_tool(files, "read_file", path="a.txt")
    clock(ahead)
    journal, approved = Journal(files), edit(files).change
    journal.approve(approved.id)
    rejected = edit(files, "1", "2").change
    journal.reject(rejected.id)
    undone = journal.undo(journal.change(approved.id), by_person=True)
    clock(0)
    known = {change.id: change.decided_at for change in journal.changes(ChangeQuery())}
    assert known == pytest.approx(dict.fromkeys((approved.id, rejected.id, undone.id), time.time()), abs=60)


@pytest.mark.parametrize("ahead", [86400, -86400])
def test_a_read_on_a_machine_with_another_clock_is_told_on_the_others_at_once(open_files, clock, ahead):
    reading, followed = open_files(), open_files()
    news = ActivityNews(followed)
    clock(ahead)
    call_tool(reading, "read_file", path="a.txt")
    clock(0)
    event = news.look()
    assert event is not None and [entry.path for entry in event.entries] == ["a.txt"]


@pytest.mark.parametrize("ahead", [86400, -86400])
def test_a_token_ends_at_the_same_moment_on_every_machine(database, clock, ahead):
    with PostgresqlStore(database) as store:
        may = {"account": "ann", "session": None, "tools": "read", "paths": (), "known": ["read_file"]}
        (lasting, secret), (_, ended) = (tokens.issue(store, "ann", "one", seconds=left, **may) for left in (60, -60))
        clock(ahead)
        assert tokens.check(store, secret, "ann").id == lasting.id
        with pytest.raises(Denied, match="expired"):
            tokens.check(store, ended, "ann")


@pytest.mark.parametrize("ahead", [86400, -86400])
@pytest.mark.parametrize("of_caller", [True, False], ids=["of caller", "of approver"])
def test_a_command_is_approved_whatever_the_clocks_of_the_two_servers_say(
    open_files, database, clock, ahead, of_caller
):
    asking, approving = (open_files(database, enable_execute=True, execute_approval_seconds=60.0) for _ in range(2))

    def approve(progress):
        if progress.kind == "waiting":
            clock(0 if of_caller else ahead)
            Journal(approving).approve(progress.change_id, commands=True)

    clock(ahead if of_caller else 0)
    asking.progress = approve
    assert call_tool(asking, "execute", command="echo it ran").text.startswith("it ran")


@pytest.fixture
def lose_answers(monkeypatch):
    """Has connections end, once, when the database has recorded a proposal or a decision but not said so yet.

    With `is_away` none can be made until the test undoes that.
    """
    transaction, execute, away = Patient.transaction, Patient.execute, []

    def connect(*_, **__):
        raise psycopg.OperationalError("the database is away")

    def lost(connection):
        monkeypatch.undo()
        if away:
            monkeypatch.setattr(Patient, "connect", connect)
        connection.close()
        raise psycopg.OperationalError("the connection is lost")

    @contextlib.contextmanager
    def losing_transaction(connection):
        with transaction(connection):
            yield
        lost(connection)

    def losing_execute(connection, query, *given, **named):
        answer = execute(connection, query, *given, **named)
        return lost(connection) if "fstools.decide(" in str(query) else answer

    def lose(*, is_away=False):
        away.extend([True] * is_away)
        monkeypatch.setattr(Patient, "transaction", losing_transaction)
        monkeypatch.setattr(Patient, "execute", losing_execute)

    return lose


def test_a_proposal_of_which_only_the_answer_was_lost_is_told_as_made(open_files, lose_answers):
    """An assistant that is refused proposes the same once more."""
    files = open_files(approval="always")
    call_tool(files, "read_file", path="a.txt")
    lose_answers()
    made = edit(files).change
    (waiting,) = Journal(files).changes(ChangeQuery())
    assert (waiting.id, waiting.revision, waiting.status) == (made.id, made.revision, "proposed")


def test_a_proposal_after_which_the_database_is_away_is_told_as_one_that_may_wait(
    open_files, lose_answers, monkeypatch
):
    files = open_files(approval="always")
    call_tool(files, "read_file", path="a.txt")
    lose_answers(is_away=True)
    with pytest.raises(InputOutput, match="may wait for a person's approval") as refused:
        edit(files)
    assert "Nothing" not in refused.value.hint and "waiting changes" in refused.value.hint
    monkeypatch.undo()
    (waiting,) = Journal(files).changes(ChangeQuery())
    assert (waiting.id, waiting.status) == (refused.value.details["change_id"], "proposed")


def test_a_command_while_the_database_is_away_is_told_as_one_that_does_not_wait(open_files, monkeypatch):
    def connect(*_, **__):
        raise psycopg.OperationalError("connection refused")

    files = open_files(enable_execute=True)
    monkeypatch.setattr(Patient, "connect", connect)
    with pytest.raises(InputOutput) as refused:
        call_tool(files, "execute", command="true")
    assert "may wait" not in str(refused.value) and "Nothing was written" in refused.value.hint


def test_a_decision_of_which_only_the_answer_was_lost_is_told_as_made(open_files, lose_answers):
    files = open_files(approval="always", enable_execute=True)
    call_tool(files, "read_file", path="a.txt")
    waiting = edit(files).change
    lose_answers()
    assert Journal(files).reject(waiting.id, reason="not that").status == "rejected"

    def approve(progress):
        if progress.kind == "waiting":
            lose_answers()
            assert Journal(files).approve(progress.change_id, commands=True).status == "applied"

    files.progress = approve
    assert call_tool(files, "execute", command="echo it ran").text.startswith("it ran")


def test_an_approval_of_which_the_answer_was_lost_with_its_locks_waits_again(open_files, lose_answers, tmp_path):
    files = open_files(approval="always")
    call_tool(files, "read_file", path="a.txt")
    waiting = edit(files).change
    lose_answers()
    with pytest.raises(InputOutput, match="not modified"):
        Journal(files).approve(waiting.id)
    assert (tmp_path / "a.txt").read_text() == "one\n"
    assert Journal(files).approve(waiting.id).status == "applied"


@contextlib.contextmanager
def suspended(server):
    """Stop all processes of a database: its connections stay open, and nothing answers."""
    first = int((server.folder / "postmaster.pid").read_text().split()[0])
    parents = {int(one.name): parent_of(one) for one in Path("/proc").iterdir() if one.name.isdigit()}
    processes = [first, *(process for process, parent in parents.items() if parent == first)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def parent_of(process):
    with contextlib.suppress(OSError):
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    return None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell of processes")
def test_a_database_that_hangs_refuses_calls_in_time_and_then_everything_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(postgresql_connection, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(postgresql_connection, "WAIT_SECONDS", 2.0)
    with postgresql.running() as server:
        root = tmp_path / "root"
        root.mkdir()
        (root / "a.txt").write_text("one\n")
        files = open_workspace(root, store=server.address, durable=False)
        call_tool(files, "read_file", path="a.txt")
        with suspended(server):
            require_refused_and_unchanged(files, root, "no answer|timeout")
            assert call_tool(files, "read_file", path="a.txt", force=True).data["content"] == "one\n"
        time.sleep(AWAY_SECONDS)
        edit(files)
        assert (root / "a.txt").read_text() == "1\n"
        files.store.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell of processes")
def test_a_database_that_hangs_is_waited_for_once_and_not_on_each_connection(monkeypatch, tmp_path):
    monkeypatch.setattr(postgresql_connection, "ANSWER_SECONDS", 4.0)
    monkeypatch.setattr(postgresql_connection, "WAIT_SECONDS", 2.0)
    with postgresql.running() as server:
        (tmp_path / "a.txt").write_text("one\n")
        files = open_workspace(tmp_path, store=server.address, durable=False)
        call_tool(files, "read_file", path="a.txt")
        database = files.store._database
        for connection in [database.connect() for _ in range(8)]:
            database._idle.give_back(connection)
        with suspended(server):
            begun = time.monotonic()
            for _ in range(3):
                call_tool(files, "read_file", path="a.txt", force=True)
            assert time.monotonic() - begun < 14
        files.store.close()


def test_calls_at_the_same_time_share_the_wait_for_a_silent_database(monkeypatch, tmp_path):
    monkeypatch.setattr(postgresql_connection, "WAIT_SECONDS", 2.0)
    (tmp_path / "a.txt").write_text("one\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://ada:pw@127.0.0.1:{silent.getsockname()[1]}/team"
        files = open_workspace(tmp_path, store=address, durable=False)
        begun = time.monotonic()
        with ThreadPoolExecutor() as pool:
            reads = [pool.submit(call_tool, files, "read_file", path="a.txt") for _ in range(6)]
            assert {read.result().data["content"] for read in reads} == {"one\n"}
        require_refused_and_unchanged(files, tmp_path, "timeout")
        assert time.monotonic() - begun < 10
        files.store.close()


def test_a_database_that_hangs_in_the_middle_of_an_edit_loses_and_repeats_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(postgresql_connection, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(postgresql_connection, "WAIT_SECONDS", 2.0)
    with postgresql.running() as server:
        root = tmp_path / "root"
        root.mkdir()
        (root / "a.txt").write_text("")
        files = open_workspace(root, store=server.address, durable=False)
        call_tool(files, "read_file", path="a.txt")
        done, over = [], threading.Event()

        def hang():
            for _ in range(3):
                time.sleep(0.3)
                with suspended(server):
                    time.sleep(1.5)
            over.set()

        hanging = threading.Thread(target=hang)
        hanging.start()
        number = 0
        while not over.is_set():
            number += 1
            with contextlib.suppress(InputOutput):
                call_tool(files, "read_file", path="a.txt")
                call_tool(files, "write_file", path="a.txt", content=(root / "a.txt").read_text() + f"{number}\n")
                done.append(number)
        hanging.join()
        lines = [int(line) for line in (root / "a.txt").read_text().splitlines()]
        assert len(lines) == len(set(lines))
        assert set(done) <= set(lines)
        assert Journal(files).count(ChangeQuery(status="applied")) == len(lines)
        files.store.close()
