"""Two users of a JupyterHub with one project folder and one database: each has a server of their own."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect
from websocket import create_connection

from tests import hub, postgresql
from tests.browser.lab import unfold
from tests.browser.test_connecting import field, read_by_a_client, requires_the_client
from tests.hub import OnHub


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("hub")


@pytest.fixture(scope="module")
def users(place):
    """The servers of two users."""
    with postgresql.running() as database, hub.running(place, database.address) as running:
        yield running.server_of("ada"), running.server_of("grace")


def called(user, tool, **arguments):
    return user.call("POST", f"/tools/{tool}", arguments)


def edited(user, path, old, new):
    """Read a file and edit it; gives the change."""
    called(user, "read_file", path=path)
    status, answer = called(user, "edit_file", path=path, old_string=old, new_string=new)
    assert status == 200, answer
    return answer["change"]


def heard(user):
    """A connection to the events that a user's server sends to its browsers."""
    address = user.url.replace("http:", "ws:").replace("api/fstools", "api/events/subscribe")
    return create_connection(address, header={"Authorization": f"token {user.token}"}, timeout=60)


def test_both_edit_one_is_stale_and_each_is_told_of_the_others_change(users, place):
    ada, grace = users
    (place / "project" / "a.txt").write_text("one\n")
    called(grace, "read_file", path="a.txt")
    events = heard(grace)
    done = edited(ada, "a.txt", "one", "two")
    told = json.loads(events.recv())
    while told["schema_id"].split("/")[-2] != "change":
        told = json.loads(events.recv())
    events.close()
    assert (told["id"], told["user"], told["path"]) == (done["id"], "ada", "a.txt")
    status, refusal = called(grace, "edit_file", path="a.txt", old_string="one", new_string="three")
    assert (status, refusal["error"]["code"]) == (412, "stale")
    assert "+two" in refusal["error"]["details"]["diff"]
    mine = edited(grace, "a.txt", "two", "three")
    listed = ada.call("GET", "/changes?path=a.txt")[1]["changes"]
    assert [(one["id"], one["user"]) for one in listed] == [(mine["id"], "grace"), (done["id"], "ada")]
    assert (place / "project" / "a.txt").read_text() == "three\n"


def test_an_assistants_token_of_one_user_does_not_open_the_server_of_the_other(users, place):
    ada, grace = users
    (place / "project" / "token.txt").write_text("one\n")
    secret = ada.call("POST", "/tokens", {"name": "helper"})[1]["token"]
    statuses = []
    for user in (ada, grace):
        assistant = OnHub(user.url.partition("/user/")[0], user.name, secret)
        statuses.append(called(assistant, "read_file", path="token.txt")[0])
    assert statuses == [200, 403]


def test_each_sees_the_others_change_in_the_panel(users, place, open_lab):
    (place / "project" / "b.txt").write_text("one\n")
    windows = [open_lab(user).open_panel() for user in users]
    for editor, watcher, old, new in ((0, 1, "one", "two"), (1, 0, "two", "three")):
        change = edited(users[editor], "b.txt", old, new)
        expect(unfold(windows[watcher].card_of(change))).to_contain_text(new)


@requires_the_client
def test_a_program_is_connected_through_the_hub(users, place, open_lab):
    ada, _ = users
    (place / "project" / "c.txt").write_text("hello\n")
    window = open_lab(ada)
    dialog = window.page.get_by_role("dialog")
    window.run("Connect an Assistant…")
    field(dialog, "Program").select_option("generic")
    dialog.get_by_role("button", name="Make its token").click()
    configuration = json.loads(dialog.get_by_role("group", name="Configuration").inner_text())
    window.photograph("connected")
    # The hub's public address, not the one that this page was opened with.
    address = ada.url.replace("127.0.0.1", "localhost")
    assert [entry["url"] for entry in configuration["mcpServers"].values()] == [f"{address}/mcp"]
    assert "hello" in read_by_a_client(configuration, "c.txt", {})
    expect(dialog.get_by_role("status")).to_have_text("Another client has called: it works.")


def test_nobody_is_told_the_databases_password(users, place):
    (place / "project" / "d.txt").write_text("one\n")
    events = heard(users[1])
    edited(users[0], "d.txt", "one", "two")
    said = [json.loads(events.recv())]
    events.close()
    said += [user.call("GET", path)[1] for user in users for path in ("/", "/changes", "/activity")]
    assert "the-password" not in json.dumps(said) + (place / "hub.log").read_text()
