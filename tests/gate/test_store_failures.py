"""A change that the store cannot record is taken back, because it could never be undone."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager

import pytest

from jupyter_fstools.errors import InputOutput
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.stores.sqlite import SqliteStore
from jupyter_fstools.testing.store_samples import change_of


@pytest.fixture
def store(tmp_path):
    with SqliteStore(tmp_path / "store.sqlite") as kept:
        yield kept


@pytest.fixture
def break_store(tmp_path, store):
    """Has the store refuse new changes, or new decisions about them, as on a broken disk."""

    def broken(event):
        store.revision()  # From the first call on there are tables.
        with closing(sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)) as other:
            other.execute(f"CREATE TRIGGER broken BEFORE {event} ON changes BEGIN SELECT RAISE(FAIL, 'no'); END")

    return broken


def edit(call, path="a.txt", old="one", new="1"):
    return call("edit_file", path=path, old_string=old, new_string=new)


@pytest.mark.parametrize("hard_linked", [False, True])
@pytest.mark.parametrize("size", [10, 3 << 20])
def test_an_edit_that_cannot_be_kept_writes_nothing(make_call, store, break_store, size, hard_linked):
    """Small files and streams, replaced and written in place."""
    call = make_call(store=store)
    old = b"one\r\n" + b"x\n" * size
    file = call.put("a.txt", old)
    if hard_linked:
        os.link(file, call.root / "b.txt")
    call("read_file", path="a.txt", limit=5)
    break_store("INSERT")
    call.refused("io", "edit_file", path="a.txt", old_string="one", new_string="eleven")
    assert call.got("a.txt") == old and os.listdir(call.root).count("a.txt") == 1
    assert Journal(call.workspace).changes(ChangeQuery()) == []


def test_a_creation_that_cannot_be_kept_writes_nothing(make_call, store, break_store):
    call = make_call(store=store)
    break_store("INSERT")
    call.refused("io", "write_file", path="a.txt", content="new\n")
    assert os.listdir(call.root) == []


def test_an_undo_of_a_creation_that_cannot_be_kept_writes_nothing(make_call, store, break_store):
    """The file that was to be removed is there again."""
    call = make_call(store=store)
    made = call("write_file", path="a.txt", content="new\n").change
    break_store("INSERT")
    call.refused("io", "undo", change_id=made.id)
    assert call.got("a.txt") == b"new\n"
    assert Journal(call.workspace).change(made.id).status == "applied"


def test_an_approval_that_cannot_be_kept_writes_nothing(make_call, store, break_store):
    """The proposal still waits."""
    call = make_call(store=store, approval="always")
    call.put("a.txt", "one\n")
    call("read_file", path="a.txt")
    waiting = edit(call).change
    break_store("UPDATE")
    with pytest.raises(InputOutput, match="not modified"):
        Journal(call.workspace).approve(waiting.id)
    assert call.got("a.txt") == b"one\n"
    assert Journal(call.workspace).change(waiting.id).status == "proposed"


def test_a_change_that_is_kept_counts_though_what_it_took_back_cannot_be_noted(make_call, store, break_store, caplog):
    call = make_call(store=store)
    made = call("write_file", path="a.txt", content="one\n").change
    edited = edit(call).change
    break_store("UPDATE")
    done = call("undo", change_id=edited.id).change
    assert call.got("a.txt") == b"one\n" and done.status == "applied"
    assert f"Change {done.id} stays pending" in caplog.text
    assert Journal(call.workspace).change(made.id).status == "applied"


def test_an_undo_that_is_made_is_told_so_though_neither_it_nor_its_reason_can_be_noted(make_call, store, break_store):
    call = make_call(store=store)
    made = call("write_file", path="a.txt", content="one\n").change
    edited = edit(call).change
    break_store("UPDATE")
    done = Journal(call.workspace).undo(edited, by_person=True, reason="not that")
    assert call.got("a.txt") == b"one\n" and done.status == "applied"
    assert Journal(call.workspace).change(made.id).status == "applied"


def test_an_undo_during_which_the_disk_of_the_store_goes_away_is_recorded_once_it_is_back(
    make_call, tmp_path, monkeypatch
):
    home, finish = tmp_path / "home", SqliteStore.finish
    with SqliteStore(home / "store.sqlite") as store:
        call = make_call(store=store)
        call("write_file", path="a.txt", content="one\n")
        edited = edit(call).change

        def after_the_disk(*given, **named):
            home.rename(tmp_path / "away")
            home.touch()
            time.sleep(0.02)  # The next call then looks whether the file is still there.
            return finish(*given, **named)

        monkeypatch.setattr(SqliteStore, "finish", after_the_disk)
        done = call("undo", change_id=edited.id).change
        monkeypatch.undo()
        home.unlink()
        (tmp_path / "away").rename(home)
        assert call.got("a.txt") == b"one\n"
        known = Journal(call.workspace).changes(ChangeQuery())
        assert [(change.id, change.status) for change in known[:2]] == [(done.id, "applied"), (edited.id, "undone")]


@pytest.mark.parametrize("note", [Journal.keep, Journal.note_told])
def test_what_is_noted_of_a_change_does_not_settle_what_a_killed_writer_left_of_its_file(make_call, note, monkeypatch):
    """The caller that waited for its writer holds the lock then."""
    call = make_call()
    made = call("write_file", path="a.txt", content="one\n").change
    workspace, held = call.workspace, call.workspace.held

    @contextmanager
    def after_a_killed_writer(*keys):
        with held(*keys):
            workspace.store.add_change(change_of("left", made.key, status="pending"), b"")
            yield

    monkeypatch.setattr(workspace, "held", after_a_killed_writer)
    note(Journal(workspace), made.id)
    noted = Journal(call.workspace).change(made.id)
    assert noted.seen_by or noted.told
