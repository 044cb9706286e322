"""Changes appear on Jupyter's event bus, whichever process made them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import InputOutput, NotFound
from jupyter_fstools.server.events import change_feed
from jupyter_fstools.server.events.payloads import CHANGE_SCHEMA
from jupyter_fstools.server.events.waiting_files import WaitingFiles

REPOSITORY = Path(__file__).parents[2]
MAKE_A_CHANGE = """
import sys
from jupyter_fstools import call_tool, open_workspace
workspace = open_workspace(sys.argv[1], session="kernel", durable=False)
call_tool(workspace, "write_file", path=sys.argv[2], content="from a kernel")
"""


async def next_change(bus):
    while True:
        said = json.loads(await asyncio.wait_for(bus.read_message(), 30))
        if said.pop("schema_id") == CHANGE_SCHEMA:
            return {name: value for name, value in said.items() if not name.startswith("__")}


async def elsewhere(root, path="a.txt"):
    command = [sys.executable, "-c", MAKE_A_CHANGE, str(root), path]
    await asyncio.to_thread(subprocess.run, command, check=True, cwd=REPOSITORY)


async def test_a_change_over_rest_is_told(jp_ws_fetch, call):
    bus = await jp_ws_fetch("api", "events", "subscribe")
    made = (await call("write_file", path="a.txt", content="one\ntwo\n", session="me")).json["change"]
    told = await next_change(bus)
    assert told == {
        **{name: made[name] for name in ("id", "revision", "path", "status", "tool", "user", "session")},
        **{name: made[name] for name in ("undoes", "undoable", "place", "saved", "decided_at", "decided_by")},
        "decided_via": None,
        "exit_code": None,
        "redo": False,
        "kind": "change",
        "at": made["created_at"],
        "op": "create",
        "added": 2,
        "removed": 0,
        "truncated": False,
        "paths": [],
        "stale": False,
        "seen_by": [],
    }
    bus.close()


async def test_a_change_of_another_process_is_told(jp_ws_fetch, jp_root_dir):
    bus = await jp_ws_fetch("api", "events", "subscribe")
    await elsewhere(jp_root_dir)
    told = await next_change(bus)
    assert (told["path"], told["session"], told["status"]) == ("a.txt", "kernel", "applied")
    bus.close()


async def test_a_change_outside_the_root_is_not_told(jp_ws_fetch, call, jp_root_dir, tmp_path):
    bus = await jp_ws_fetch("api", "events", "subscribe")
    (tmp_path / "elsewhere").mkdir()
    await elsewhere(tmp_path / "elsewhere")
    await call("write_file", path="b.txt", content="one\n")
    assert (await next_change(bus))["path"] == "b.txt"
    bus.close()


@pytest.mark.parametrize("settings", [{"approval": "always"}], indirect=True)
async def test_every_step_of_a_proposal_is_told(jp_ws_fetch, ask, call):
    bus = await jp_ws_fetch("api", "events", "subscribe")
    change_id = (await call("write_file", path="a.txt", content="one\n")).json["change"]["id"]
    assert (await next_change(bus))["status"] == "proposed"
    await ask("POST", f"/changes/{change_id}/approve", b"")
    told = await next_change(bus)
    assert (told["id"], told["status"]) == (change_id, "applied")
    bus.close()


async def test_an_undo_is_told_with_what_it_undoes(jp_ws_fetch, ask, call):
    change_id = (await call("write_file", path="a.txt", content="one\n")).json["change"]["id"]
    bus = await jp_ws_fetch("api", "events", "subscribe")
    undo = (await ask("POST", f"/changes/{change_id}/undo", b"")).json["change"]["id"]
    told = {}
    # The write itself may be told after the subscription to the bus.
    while undo not in told or told.get(change_id, {}).get("status") != "undone":
        change = await next_change(bus)
        told[change["id"]] = change
    assert told[undo]["undoes"] == change_id
    bus.close()


@pytest.mark.parametrize("settings", [{"approval": "always"}], indirect=True)
async def test_a_proposal_is_told_again_once_a_program_writes_its_file(jp_ws_fetch, ask, call, jp_root_dir):
    """Told as out of date, and again once it fits; text written beside it is no news."""
    (jp_root_dir / "a.txt").write_text("one\n")
    await call("read_file", path="a.txt")
    proposal = (await call("write_file", path="a.txt", content="two\n")).json["change"]
    bus = await jp_ws_fetch("api", "events", "subscribe")
    await asyncio.sleep(1.5)
    for text, stale in (("another\n", True), ("one\n", False)):
        (jp_root_dir / "b.txt").write_text(text)
        (jp_root_dir / "a.txt").write_text(text)
        while True:
            told = await next_change(bus)
            if told["stale"] is stale:
                break
        assert (told["id"], told["status"]) == (proposal["id"], "proposed")
    bus.close()


def test_a_proposal_whose_file_is_deleted_before_the_first_look_is_told_at_that(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    with open_workspace(tmp_path, durable=False, approval="always") as workspace:
        call_tool(workspace, "read_file", path="a.txt")
        proposal = call_tool(workspace, "write_file", path="a.txt", content="two\n").change
        (tmp_path / "a.txt").unlink()
        files = WaitingFiles(workspace)
        assert [one.id for one in files.look("a mark")] == [proposal.id]


async def test_a_new_proposal_that_is_out_of_date_is_told_once_and_in_its_turn(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    told = []
    with open_workspace(tmp_path, durable=False, approval=["a.txt"]) as workspace:
        feed = change_feed.ChangeFeed(workspace, told.append, lambda event: None, asyncio.get_running_loop())
        call_tool(workspace, "write_file", path="b.txt", content="x")
        call_tool(workspace, "read_file", path="a.txt")
        call_tool(workspace, "write_file", path="a.txt", content="two\n")
        (tmp_path / "a.txt").write_text("three\n")
        feed.start()
        late = time.monotonic() + 2.5
        while time.monotonic() < late:
            await asyncio.sleep(0.05)
        feed.stop()
    assert [(event.path, event.stale) for event in told] == [("b.txt", False), ("a.txt", True)]


async def test_a_busy_loop_is_handed_few_changes_at_a_time_and_reads_none_itself(tmp_path, monkeypatch):
    """The details of each change come from the store, which may be slow."""
    looked = []
    real = change_feed.change_entry
    monkeypatch.setattr(
        change_feed, "change_entry", lambda *given: looked.append(threading.current_thread().name) or real(*given)
    )
    told = []
    with open_workspace(tmp_path, durable=False) as workspace:
        feed = change_feed.ChangeFeed(workspace, told.append, lambda event: None, asyncio.get_running_loop())
        feed.start()
        for number in range(3 * change_feed._PAGE):
            call_tool(workspace, "write_file", path=f"{number}.txt", content="x")
        feed.wake()
        late = time.monotonic() + 1
        while time.monotonic() < late:  # The event loop is blocked.
            time.sleep(0.1)
        assert 0 < len(looked) <= change_feed._PAGE
        while len(told) < 3 * change_feed._PAGE:
            await asyncio.sleep(0.05)
        feed.stop()
    assert [event.path for event in told] == [f"{number}.txt" for number in range(3 * change_feed._PAGE)]
    assert set(looked) == {"fstools-feed"}


async def test_what_the_store_did_not_give_at_first_is_told_once_it_does(tmp_path, monkeypatch):
    """For changes, reads and refusals: the lookup of details may fail where finding them did not."""
    failing = {"change_entry", "read_entry", "refusal_entry"}

    def failing_once(name):
        real = getattr(change_feed, name)

        def entry(*given):
            if name in failing:
                failing.remove(name)
                raise InputOutput("the database is gone", hint="")
            return real(*given)

        return entry

    changes, activity = [], []
    with open_workspace(tmp_path, durable=False) as workspace:
        feed = change_feed.ChangeFeed(workspace, changes.append, activity.append, asyncio.get_running_loop())
        for name in tuple(failing):
            monkeypatch.setattr(change_feed, name, failing_once(name))
        feed.start()
        call_tool(workspace, "write_file", path="a.txt", content="x")
        call_tool(workspace, "read_file", path="a.txt")
        with pytest.raises(NotFound):
            call_tool(workspace, "read_file", path="b.txt")
        late = time.monotonic() + 5
        while time.monotonic() < late and len(changes) + sum(len(event.entries) for event in activity) < 3:
            await asyncio.sleep(0.05)
        feed.stop()
    assert not failing
    assert [event.path for event in changes] == ["a.txt"]
    assert sorted(entry.kind for event in activity for entry in event.entries) == ["read", "refusal"]


def test_reads_are_told_whatever_time_it_is(tmp_path, monkeypatch):
    """The clock was an hour ahead as the server started and files were read, and then set right."""
    hour, now, now_ns = 3600, time.time, time.time_ns
    many = change_feed._MOST_TOLD + 1
    for number in range(many + 1):
        (tmp_path / f"{number}.txt").write_text("x\n")
    with open_workspace(tmp_path, durable=False) as workspace, monkeypatch.context() as ahead:
        ahead.setattr(time, "time", lambda: now() + hour)
        ahead.setattr(time, "time_ns", lambda: now_ns() + hour * 10**9)
        news = change_feed.ActivityNews(workspace)
        for number in range(many):
            call_tool(workspace, "read_file", path=f"{number}.txt")
        assert len(news.look().entries) == change_feed._MOST_TOLD
        ahead.undo()
        later = change_feed.ActivityNews(workspace)
        call_tool(workspace, "read_file", path=f"{many}.txt")
        for one in (news, later):
            assert [entry.path for entry in one.look().entries] == [f"{many}.txt"]
            assert one.look() is None
