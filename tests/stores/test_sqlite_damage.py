"""The SQLite store where its file is damaged, foreign, unwritable, replaced or gone."""

from __future__ import annotations

import errno
import os
import random
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from jupyter_fstools.errors import InputOutput
from jupyter_fstools.stores import sqlite as sqlite_module
from jupyter_fstools.stores import sqlite_file
from jupyter_fstools.stores.protocol import ChangeFilter
from jupyter_fstools.stores.records import OpenDocument
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.testing.store_samples import ANN, change_of, names, receipt_of

KEY = "/root/a.txt"


def unwatched():
    """Wait longer than a store may go without checking that its file was not replaced."""
    time.sleep(2 * sqlite_module._LOOK_SECONDS)


def asides(path):
    return [str(file) for file in path.with_name(f"{path.name}.damaged").glob("*Z")]


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
    store.add_change(change_of("new"), b"")
    assert store.change("new") is not None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    (aside,) = asides(path)
    assert aside in caplog.text
    assert Path(aside).read_bytes() == damaged


def test_damage_found_while_working_is_met_by_the_call_that_finds_it(store, path, query, caplog):
    filled(store)
    query("PRAGMA wal_checkpoint(TRUNCATE)")
    damage_in_the_middle(path)
    added = [store.add_change(change_of(f"n{number}"), b"x" * 9000) for number in range(200)]
    store.changes(ChangeFilter(limit=1000))
    assert len(added) == 200
    assert len(asides(path)) == 1
    assert len(caplog.records) == 1


def test_a_record_that_is_none_is_damage(store, path, query, caplog):
    store.put_receipt(receipt_of())
    query("UPDATE receipts SET body = '{'")
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


def test_a_newer_version_is_never_touched(path, query, caplog):
    older = SqliteStore(path)
    older.put_receipt(receipt_of())
    older.close()
    query("PRAGMA user_version = 99")
    before = path.read_bytes()
    store = SqliteStore(path)
    store.put_receipt(receipt_of("k"), b"shown")
    assert store.receipt(ANN, KEY) is None
    assert store.shown_text(ANN, "k") == b"shown"
    assert path.read_bytes() == before
    assert ["newer version" in record.message for record in caplog.records] == [True]


def test_an_older_version_gets_the_tables_it_lacks_and_keeps_what_it_has(path, query):
    old = filled(SqliteStore(path))
    old.put_receipt(receipt_of(KEY))
    before = old.revision()
    old.close()
    query("DROP TABLE open_documents")
    query("PRAGMA user_version = 1")
    store = SqliteStore(path)
    store.note_open("page", [OpenDocument("page", KEY, saved=False)], time.time() + 60)
    assert (len(store.open_documents(KEY)), store.revision()) == (1, before)
    assert store.receipt(ANN, KEY) is not None


def test_another_program_s_database_is_never_touched(path, query, caplog):
    path.parent.mkdir()
    query("CREATE TABLE theirs (a)")
    before = path.read_bytes()
    store = SqliteStore(path)
    assert store.add_change(change_of("c1"), b"") == store.change("c1")
    assert path.read_bytes() == before
    assert len(caplog.records) == 1


def test_a_text_that_a_setting_names_as_the_store_is_left_alone(path, caplog):
    path.parent.mkdir()
    path.write_text("not a database\n" * 100)
    before = path.read_bytes()
    store = SqliteStore(path)
    assert store.add_change(change_of("c1"), b"") == store.change("c1")
    assert (path.read_bytes(), asides(path)) == (before, [])
    assert [record.getMessage().partition(": ")[2][:25] for record in caplog.records] == ["it is a text, no database"]


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


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_without_room_for_the_file_is_a_refusal_until_there_is_room(path, monkeypatch, caplog):
    """A store in memory would lose the journal with the process, though there is room a minute later."""
    store = SqliteStore(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", full)
        with pytest.raises(InputOutput, match="No space left") as refused:
            store.add_change(change_of("c1"), b"")
        assert "free some space" in refused.value.hint
    store.add_change(change_of("c1"), b"")
    assert not store.in_memory and names(SqliteStore(path).changes(ChangeFilter())) == ["c1"]
    assert not caplog.records


def test_so_is_one_without_room_for_what_sqlite_makes_beside_an_existing_file(store, path, monkeypatch):
    store.add_change(change_of("c1"), b"")
    store.close()
    for ending in ("-wal", "-shm", "-journal"):
        # SQLite says of these what it says where no inode is left.
        path.with_name(path.name + ending).mkdir()
    later = SqliteStore(path)
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", full)
        with pytest.raises(InputOutput, match="No space left"):
            later.changes(ChangeFilter())
    for ending in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).rmdir()
    assert names(later.changes(ChangeFilter())) == ["c1"] and not later.in_memory


def test_a_damaged_file_that_cannot_be_set_aside_for_want_of_room_is_a_refusal(store, path, monkeypatch):
    store.put_receipt(receipt_of())
    store.close()
    damage_as_garbage(path)
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_module, "set_aside", full)
        with pytest.raises(InputOutput, match="No space left"):
            store.receipt(ANN, KEY)
    assert store.receipt(ANN, KEY) is None and not store.in_memory and asides(path)


def test_where_wal_cannot_work_the_classic_journal_does(path, query, caplog):
    path.parent.mkdir()
    (path.parent / "store.sqlite-shm").mkdir()
    store, other = SqliteStore(path), SqliteStore(path)
    store.add_change(change_of("c1"), b"")
    other.add_change(change_of("c2"), b"")
    assert names(store.changes(ChangeFilter())) == ["c2", "c1"]
    assert query("PRAGMA journal_mode") == ("delete",)
    assert not caplog.records


def test_a_file_left_in_wal_mode_opens_where_wal_cannot_work(store, path):
    store.put_receipt(receipt_of())
    shutil.copyfile(path, path.with_name("moved.sqlite"))
    shutil.copyfile(f"{path}-wal", path.with_name("moved.sqlite-wal"))
    path.with_name("moved.sqlite-shm").mkdir()
    moved = SqliteStore(path.with_name("moved.sqlite"))
    assert moved.receipt(ANN, KEY) is not None


@pytest.mark.parametrize("leads_to", ["missing.sqlite", "store.sqlite"], ids=["nowhere", "itself"])
def test_a_link_that_leads_nowhere_and_took_its_place_is_a_refusal_until_it_is_gone(store, path, leads_to, caplog):
    store.put_receipt(receipt_of("before"))
    path.unlink()
    path.symlink_to(leads_to)
    unwatched()
    with pytest.raises(InputOutput, match="cannot be opened"):
        store.put_receipt(receipt_of("after"))
    path.unlink()
    store.put_receipt(receipt_of("after"))
    assert [kept.key for kept in store.receipts(ANN)] == ["after"]
    assert not store.in_memory and not caplog.records


def test_a_disk_that_goes_away_with_the_file_is_a_refusal_until_it_is_back(store, path, caplog):
    """A journal in memory would end with the process, and proposals would wait no more."""
    store.add_change(change_of("c1", status="proposed"), b"")
    away = path.parent.rename(path.parent.with_name("away"))
    path.parent.touch()
    unwatched()
    with pytest.raises(InputOutput, match="cannot be written"):
        store.add_change(change_of("c2"), b"")
    path.parent.unlink()
    away.rename(path.parent)
    assert names(store.changes(ChangeFilter(status="proposed"))) == ["c1"]
    assert not store.in_memory and not caplog.records


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
