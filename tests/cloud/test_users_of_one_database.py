"""Two users whose servers share one database: the changes of the other that each is told."""

from __future__ import annotations

import os

import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import NotFound, Stale
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from jupyter_fstools.journal.standing import waiting_count
from jupyter_fstools.server.events.payloads import change_entry


@pytest.fixture
def as_user(database, tmp_path, monkeypatch):
    opened = []

    def open_as(user, **settings):
        monkeypatch.setenv("JUPYTERHUB_USER", user)
        opened.append(open_workspace(tmp_path, store=database, **settings))
        return opened[-1]

    yield open_as
    for files in opened:
        files.store.close()


def test_users_have_receipts_of_their_own_and_see_each_others_changes(as_user, tmp_path):
    ada, grace = as_user("ada"), as_user("grace")
    (tmp_path / "a.txt").write_text("one\n")
    for files in (ada, grace):
        call_tool(files, "read_file", path="a.txt")
    done = call_tool(ada, "edit_file", path="a.txt", old_string="one", new_string="1")
    with pytest.raises(Stale) as refused:
        call_tool(grace, "edit_file", path="a.txt", old_string="one", new_string="2")
    assert "+1" in refused.value.details["diff"]
    assert [change.user for change in Journal(grace).changes(ChangeQuery())] == ["ada"]
    assert Journal(grace).change(done.change.id).diff.added == 1


def test_nothing_is_told_of_others_where_that_is_the_setting(as_user, tmp_path):
    ada, grace = as_user("ada"), as_user("grace", journal_of_others="nothing")
    done = call_tool(ada, "write_file", path="a.txt", content="secret\n")
    assert Journal(grace).changes(ChangeQuery()) == []
    assert Journal(grace).count(ChangeQuery()) == 0
    with pytest.raises(NotFound):
        Journal(grace).change(done.change.id)
    assert len(Journal(ada).changes(ChangeQuery())) == 1


def test_how_many_changes_wait_is_one_count_for_all_servers(as_user, tmp_path):
    ada, grace = as_user("ada", approval="always"), as_user("grace", approval="always")
    alone = as_user("alan", journal_of_others="nothing")
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    call_tool(ada, "read_file", path="a.txt")
    waiting = [
        call_tool(ada, "edit_file", path="a.txt", old_string="one", new_string=new).change.id for new in ("1", "I")
    ]
    call_tool(grace, "read_file", path="a.txt")
    call_tool(grace, "edit_file", path="a.txt", old_string="two", new_string="2")
    assert [waiting_count(files) for files in (ada, grace, alone)] == [3, 3, 0]
    assert [waiting_count(files, files.reader) for files in (ada, grace)] == [2, 1]
    Journal(ada).reject(waiting[0])
    assert [waiting_count(files) for files in (ada, grace)] == [2, 2]
    Journal(ada).approve(waiting[1])
    assert (tmp_path / "a.txt").read_text() == "I\ntwo\n"
    # The other server's proposal is of content that is gone: it can no longer be approved, and is not counted.
    assert [waiting_count(files) for files in (ada, grace)] == [0, 0]


@pytest.mark.skipif(os.getuid() == 0, reason="root may read every file")
def test_what_the_account_may_not_read_is_not_told(as_user, tmp_path):
    ada, grace = as_user("ada"), as_user("grace")
    call_tool(ada, "write_file", path="a.txt", content="secret\n")
    (tmp_path / "a.txt").chmod(0o000)
    assert Journal(grace).changes(ChangeQuery()) == []


def test_a_file_that_cannot_be_read_is_told_to_nobody_else(as_user, tmp_path, monkeypatch):
    """The same for a test that runs as root: the backend refuses in place of the system."""
    from jupyter_fstools.errors import Denied

    ada, grace = as_user("ada"), as_user("grace")
    call_tool(ada, "write_file", path="a.txt", content="secret\n")

    def denied(path):
        raise Denied(f"{path}: the system does not permit it")

    call_tool(grace, "write_file", path="b.txt", content="mine\n")
    assert Journal(grace).count(ChangeQuery()) == 2
    monkeypatch.setattr(grace.backend, "read", denied)
    assert [change.user for change in Journal(grace).changes(ChangeQuery())] == ["grace"]
    assert Journal(grace).count(ChangeQuery()) == 1


def test_a_file_that_is_gone_is_told_to_its_own_account_alone(as_user, tmp_path, monkeypatch):
    """Nobody can say any more who could read it; a file that was only proposed has never been there."""
    ada, grace = as_user("ada"), as_user("grace")
    asks = as_user("ada", approval="always")
    call_tool(ada, "write_file", path="a.txt", content="secret\n")
    call_tool(ada, "write_file", path="b.txt", content="there\n")
    call_tool(asks, "write_file", path="new.txt", content="proposed\n")
    (tmp_path / "a.txt").unlink()

    def told():
        found = Journal(grace).changes(ChangeQuery())
        assert Journal(grace).count(ChangeQuery()) == len(found)
        assert [change.id for change in found if change_entry(grace, change) is None] == []
        return {change.path for change in found}

    assert told() == {"a.txt", "b.txt", "new.txt"}
    monkeypatch.setenv("JUPYTERHUB_USER", "grace")
    assert told() == {"b.txt", "new.txt"}
    assert {change.path for change in Journal(ada).changes(ChangeQuery())} == {"a.txt", "b.txt", "new.txt"}
