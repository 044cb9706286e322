"""Reads, changes and refusals in one list, newest first, and on Jupyter's event bus."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

from jupyter_fstools.server.events.payloads import ACTIVITY_SCHEMA

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
READ_AND_BE_REFUSED = """
import sys
from jupyter_fstools import FsToolsError, call_tool, open_workspace
workspace = open_workspace(sys.argv[1], session="kernel", durable=False)
call_tool(workspace, "read_file", path="a.txt")
try:
    call_tool(workspace, "edit_file", path="a.txt", old_string="three", new_string="3")
except FsToolsError:
    pass
"""
EDIT = {"path": "a.txt", "old_string": "one", "new_string": "1"}


@pytest.fixture
def story(call, jp_root_dir):
    """One file read, edited without a read, read and edited."""

    async def tell(session="me"):
        (jp_root_dir / "a.txt").write_text("one\ntwo\n")
        for tool, arguments in (("edit_file", EDIT), ("read_file", {"path": "a.txt"}), ("edit_file", EDIT)):
            await call(tool, **arguments, session=session)

    return tell


def told(entries):
    return [(entry["kind"], entry["path"]) for entry in entries]


async def test_reads_changes_and_refusals_are_one_list_newest_first(ask, story):
    await story()
    page = (await ask("GET", "/activity")).json
    assert told(page["entries"]) == [("change", "a.txt"), ("read", "a.txt"), ("refusal", "a.txt")]
    change, read, refusal = page["entries"]
    assert (change["status"], change["added"], change["session"]) == ("applied", 1, "me")
    assert (read["lines"], read["full"], read["cells"]) == ([[1, 2]], True, None)
    assert (refusal["tool"], refusal["code"]) == ("edit_file", "not_read")
    assert "not modified" in refusal["message"]
    assert (page["next"], page["proposed"]) == (None, 0)


async def test_the_list_is_paged_without_gaps(ask, story):
    for session in ("first", "second"):
        await story(session)
    whole = (await ask("GET", "/activity")).json["entries"]
    paged, before = [], ""
    while before is not None:
        page = (await ask("GET", "/activity", limit=2, before=before)).json
        paged += page["entries"]
        before = page["next"]
    assert paged == whole
    assert len(paged) == 6


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"kind": "read"}, [("read", "b.txt"), ("read", "a.txt")]),
        ({"kind": "refusal,change"}, [("change", "a.txt"), ("refusal", "a.txt")]),
        ({"session": "other"}, [("read", "b.txt")]),
        ({"path": "b.txt"}, [("read", "b.txt")]),
        ({"match": "B.t"}, [("read", "b.txt")]),
        ({"kind": "change", "status": "rejected"}, []),
    ],
)
async def test_the_list_is_filtered(ask, call, story, jp_root_dir, query, expected):
    await story()
    (jp_root_dir / "b.txt").write_text("one\n")
    await call("read_file", path="b.txt", session="other")
    assert told((await ask("GET", f"/activity?{urlencode(query)}")).json["entries"]) == expected


async def test_what_is_new_tells_also_what_it_covers_and_uncovers(ask, call, story):
    await story()
    page = (await ask("GET", "/activity", kind="change")).json
    (first,) = page["entries"]
    await call("edit_file", path="a.txt", old_string="two", new_string="2", session="me")
    page = (await ask("GET", "/activity", after=page["revision"])).json
    undoable = {entry["id"]: entry["undoable"] for entry in page["entries"]}
    (second,) = undoable.keys() - {first["id"]}
    assert undoable == {first["id"]: False, second: True}
    last = second
    for redo in (False, True):
        undone = (await ask("POST", f"/changes/{last}/undo", {})).json["change"]
        last = undone["id"]
        page = (await ask("GET", "/activity", after=page["revision"])).json
        (newest,) = [entry for entry in page["entries"] if entry["id"] == undone["id"]]
        assert (newest["redo"], newest["decided_by"] is None) == (redo, False)
        (was,) = [entry for entry in page["entries"] if entry["id"] == first["id"]]
        assert was["undoable"] is not redo
    assert (await ask("GET", "/activity", after=page["revision"])).json["entries"] == []


async def test_lists_and_answers_tell_what_can_be_undone_now(ask, call, story):
    await story()
    (first,) = (await ask("GET", "/changes", status="applied")).json["changes"]
    assert first["undoable"]
    await call("edit_file", path="a.txt", old_string="two", new_string="2", session="me")
    listed = (await ask("GET", "/changes", status="applied")).json["changes"]
    alone = (await ask("GET", f"/changes/{first['id']}")).json["change"]
    kept = (await ask("POST", f"/changes/{first['id']}/keep", {})).json["change"]
    assert [change["undoable"] for change in (*listed, alone, kept)] == [True, False, False, False]


@pytest.mark.parametrize("query", [{"kind": "write"}, {"before": "nan"}, {"session": "a b"}, {"limit": 0}])
async def test_a_wrong_filter_is_invalid(ask, query):
    assert (await ask("GET", f"/activity?{urlencode(query)}")).error["code"] == "invalid"


@pytest.mark.parametrize("kind", ["write", "read,"])
async def test_a_kind_that_there_is_not_is_answered_with_those_that_there_are(ask, kind):
    said = (await ask("GET", f"/activity?{urlencode({'kind': kind})}")).error["message"]
    assert said == f"kind: takes change, read, refusal, or several with commas between, got {kind!r}"


@pytest.mark.parametrize("settings", [{"deny_read": ["*.secret"]}], indirect=True)
async def test_what_may_not_be_read_is_not_told(ask, call, jp_root_dir, tmp_path):
    (jp_root_dir / "key.secret").write_text("x")
    (jp_root_dir / "way_out").symlink_to(tmp_path)
    for path in ("key.secret", "../elsewhere.txt", f"{tmp_path}/elsewhere.txt", "way_out/elsewhere.txt"):
        await call("read_file", path=path)
        await call("edit_file", path=path, old_string="x", new_string="y")
    await call("write_file", path="key.secret", content="y", mode="append")
    answer = await ask("GET", "/activity")
    assert len(answer.json["entries"]) == 9
    assert {entry["path"] for entry in answer.json["entries"]} == {None}
    for word in (b"secret", b"elsewhere", b"way_out", str(tmp_path).encode()):
        assert word not in answer.body


async def test_the_list_does_not_tell_where_the_root_is(ask, call, jp_root_dir):
    await call("read_file", path=f"{jp_root_dir}/missing.txt")
    answer = await ask("GET", "/activity")
    assert told(answer.json["entries"]) == [("refusal", "missing.txt")]
    assert str(jp_root_dir).encode() not in answer.body


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"path": 5}'], ids=str)
async def test_a_body_that_is_no_call_changes_nothing_and_is_told(ask, body):
    refused = await ask("POST", "/tools/write_file", body)
    assert (refused.status, refused.error["code"]) == (400, "invalid")
    assert "not modified" in refused.error["message"]
    (entry,) = (await ask("GET", "/activity")).json["entries"]
    assert (entry["kind"], entry["tool"], entry["message"]) == ("refusal", "write_file", refused.error["message"])


async def next_entries(bus):
    while True:
        said = json.loads(await asyncio.wait_for(bus.read_message(), 30))
        if said["schema_id"] == ACTIVITY_SCHEMA:
            return said["entries"], said["more"]


async def test_reads_and_refusals_are_told_as_they_are_listed(jp_ws_fetch, ask, story):
    bus = await jp_ws_fetch("api", "events", "subscribe")
    await story()
    entries = []
    while len(entries) < 2:
        entries += (await next_entries(bus))[0]
    assert entries == (await ask("GET", "/activity", kind="refusal,read")).json["entries"][::-1]
    bus.close()


async def test_what_another_process_reads_and_is_refused_is_told(jp_ws_fetch, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\ntwo\n")
    bus = await jp_ws_fetch("api", "events", "subscribe")
    command = [sys.executable, "-c", READ_AND_BE_REFUSED, str(jp_root_dir)]
    await asyncio.to_thread(subprocess.run, command, check=True, cwd=REPOSITORY)
    entries = []
    while len(entries) < 2:
        entries += (await next_entries(bus))[0]
    assert [(entry["kind"], entry["session"]) for entry in entries] == [("read", "kernel"), ("refusal", "kernel")]
    assert entries[1]["code"] == "no_match"
    bus.close()


async def test_many_reads_are_told_in_few_words(jp_ws_fetch, ask, call, jp_root_dir):
    bus = await jp_ws_fetch("api", "events", "subscribe")
    for number in range(60):
        (jp_root_dir / f"{number}.txt").write_text("one\n")
    await asyncio.gather(*(call("read_file", path=f"{number}.txt") for number in range(60)))
    entries, more = await next_entries(bus)
    while len(entries) < 50 and not more:
        further, more = await next_entries(bus)
        entries += further
    assert len({entry["id"] for entry in entries}) == len(entries)
    bus.close()


async def test_a_read_that_shows_nothing_new_is_told_once(jp_ws_fetch, call, jp_root_dir):
    bus = await jp_ws_fetch("api", "events", "subscribe")
    (jp_root_dir / "a.txt").write_text("one\n")
    for _ in range(3):
        await call("read_file", path="a.txt")
    assert told((await next_entries(bus))[0]) == [("read", "a.txt")]
    await call("read_file", path="missing.txt")
    assert told((await next_entries(bus))[0]) == [("refusal", "missing.txt")]
    bus.close()
