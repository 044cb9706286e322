"""Two users whose servers share one database: what each is told of the other."""

from __future__ import annotations

import os

import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import NotFound, Stale
from jupyter_fstools.journal.journal import ChangeQuery, Journal


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
    with pytest.raises(NotFound):
        Journal(grace).change(done.change.id)
    assert len(Journal(ada).changes(ChangeQuery())) == 1


@pytest.mark.skipif(os.getuid() == 0, reason="root may read every file")
def test_what_the_account_may_not_read_is_not_told(as_user, tmp_path):
    ada, grace = as_user("ada"), as_user("grace")
    call_tool(ada, "write_file", path="a.txt", content="secret\n")
    (tmp_path / "a.txt").chmod(0o000)
    assert Journal(grace).changes(ChangeQuery()) == []


def test_a_file_that_cannot_be_read_is_told_to_nobody_else(as_user, tmp_path, monkeypatch):
    """The same for a test that runs as root: the backend says what the system would."""
    from jupyter_fstools.errors import Denied

    ada, grace = as_user("ada"), as_user("grace")
    call_tool(ada, "write_file", path="a.txt", content="secret\n")

    def denied(path):
        raise Denied(f"{path}: the system does not permit it")

    monkeypatch.setattr(grace.backend, "read", denied)
    assert Journal(grace).changes(ChangeQuery()) == []
