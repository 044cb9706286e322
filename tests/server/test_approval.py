"""A person's decisions over REST."""

from __future__ import annotations

import asyncio
import json

import pytest

EDIT = {"path": "a.txt", "old_string": "one", "new_string": "1"}
waits_for_approval = pytest.mark.parametrize("settings", [{"approval": "always"}], indirect=True)


@pytest.fixture
def propose(call, jp_root_dir):
    async def propose():
        (jp_root_dir / "a.txt").write_text("one\n")
        await call("read_file", path="a.txt")
        answer = await call("edit_file", **EDIT)
        assert (answer.status, answer.json["change"]["status"]) == (202, "proposed")
        return answer.json["change"]["id"]

    return propose


@waits_for_approval
async def test_a_proposal_is_listed_and_touches_nothing(ask, propose, jp_root_dir):
    change_id = await propose()
    listed = await ask("GET", "/changes", status="proposed")
    assert [change["id"] for change in listed.json["changes"]] == [change_id]
    assert listed.json["revision"] == listed.json["changes"][0]["revision"]
    assert (jp_root_dir / "a.txt").read_text() == "one\n"


@waits_for_approval
async def test_an_approved_proposal_is_carried_out_once(ask, propose, jp_root_dir):
    change_id = await propose()
    approved = await ask("POST", f"/changes/{change_id}/approve", b"")
    assert (approved.status, approved.json["change"]["status"]) == (200, "applied")
    assert (jp_root_dir / "a.txt").read_text() == "1\n"
    again = await ask("POST", f"/changes/{change_id}/approve", b"")
    assert (again.status, again.error["code"]) == (409, "conflict")


@waits_for_approval
async def test_a_rejected_proposal_never_lands(ask, propose, jp_root_dir):
    change_id = await propose()
    assert (await ask("POST", f"/changes/{change_id}/reject", b"")).json["change"]["status"] == "rejected"
    for decision in ("approve", "reject", "undo"):
        assert (await ask("POST", f"/changes/{change_id}/{decision}", b"")).status == 409
    assert (jp_root_dir / "a.txt").read_text() == "one\n"


@waits_for_approval
async def test_whoever_waits_is_told_what_was_taken_and_why(ask, call, jp_root_dir):
    lines = [f"line {number}\n" for number in range(30)]
    (jp_root_dir / "b.txt").write_text("".join(lines))
    await call("read_file", path="b.txt")
    wanted = "".join(line.upper() if at in (3, 25) else line for at, line in enumerate(lines))
    change = (await call("write_file", path="b.txt", content=wanted)).json["change"]["id"]
    waiting = asyncio.create_task(ask("GET", f"/changes/{change}", wait=30))
    body = json.dumps({"hunks": [1], "reason": "only the last"}).encode()
    approved = await ask("POST", f"/changes/{change}/approve", body)
    assert approved.status == 200
    told = (await waiting).json["change"]
    assert told["status"] == "applied"
    assert told["decided"] == {"taken": [1], "rejected": [0], "reason": "only the last", "edited": False}
    assert (jp_root_dir / "b.txt").read_text() == "".join(lines).replace("line 25", "LINE 25")


@waits_for_approval
@pytest.mark.parametrize(
    ("decision", "body", "field"),
    [
        ("approve", {"hunks": [7]}, "hunks"),
        ("approve", {"hunks": "all"}, "hunks"),
        ("approve", {"hunks": [0], "content": "x"}, "content"),
        ("reject", {"content": "x"}, "content"),
        ("undo", {"reason": "x"}, "reason"),
        ("keep", {"hunks": [0]}, "hunks"),
    ],
)
async def test_a_decision_that_makes_no_sense_names_the_field(ask, propose, jp_root_dir, decision, body, field):
    change_id = await propose()
    refused = await ask("POST", f"/changes/{change_id}/{decision}", json.dumps(body).encode())
    assert (refused.status, refused.error["code"]) == (400, "invalid")
    assert field in refused.error["message"]
    assert (jp_root_dir / "a.txt").read_text() == "one\n"


@waits_for_approval
async def test_a_rejection_tells_its_reason(ask, propose):
    change_id = await propose()
    rejected = await ask("POST", f"/changes/{change_id}/reject", b'{"reason": "not now"}')
    assert rejected.json["change"]["decided"]["reason"] == "not now"
    assert (await ask("GET", f"/changes/{change_id}")).json["change"]["decided"]["reason"] == "not now"


@waits_for_approval
async def test_a_change_that_is_kept_is_told_as_seen(ask, propose):
    change_id = await propose()
    assert (await ask("POST", f"/changes/{change_id}/keep", b"")).status == 409
    await ask("POST", f"/changes/{change_id}/approve", b"")
    kept = await ask("POST", f"/changes/{change_id}/keep", b"")
    user = (await ask("GET", "/")).json["user"]
    assert (kept.status, kept.json["change"]["seen_by"]) == (200, [user])


@waits_for_approval
async def test_a_proposal_whose_file_moved_on_is_stale(ask, propose, jp_root_dir):
    change_id = await propose()
    (jp_root_dir / "a.txt").write_text("one and more\n")
    refused = await ask("POST", f"/changes/{change_id}/approve", b"")
    assert (refused.status, refused.error["code"]) == (412, "stale")
    assert (jp_root_dir / "a.txt").read_text() == "one and more\n"


@waits_for_approval
@pytest.mark.parametrize(("decision", "status"), [("approve", "applied"), ("reject", "rejected")])
async def test_who_waits_for_a_decision_gets_it(ask, propose, decision, status):
    change_id = await propose()
    waiting = asyncio.ensure_future(ask("GET", f"/changes/{change_id}", wait=50))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await ask("POST", f"/changes/{change_id}/{decision}", b"")
    assert (await waiting).json["change"]["status"] == status


@waits_for_approval
async def test_waiting_ends_when_the_time_is_up(ask, propose):
    change_id = await propose()
    answer = await ask("GET", f"/changes/{change_id}", wait=0.1)
    assert answer.json["change"]["status"] == "proposed"
    assert answer.json["change"]["diff"]["hunks"]


@waits_for_approval
async def test_waiting_leaves_nothing_behind(ask, propose):
    change_id = await propose()
    before = len(asyncio.all_tasks())
    for _ in range(5):
        await ask("GET", f"/changes/{change_id}", wait=0.01)
    assert len(asyncio.all_tasks()) <= before


@waits_for_approval
async def test_waiting_ends_when_the_server_stops(ask, propose, jp_serverapp):
    change_id = await propose()
    waiting = asyncio.ensure_future(ask("GET", f"/changes/{change_id}", wait=50))
    await asyncio.sleep(0.1)
    await jp_serverapp.cleanup_extensions()
    assert (await waiting).error["message"] == "the server is stopping"


async def test_a_person_undoes_anybodys_change(ask, call, jp_root_dir):
    made = await call("write_file", path="a.txt", content="one\n", session="assistant")
    undone = await ask("POST", f"/changes/{made.json['change']['id']}/undo", b"", session="person")
    assert undone.json["change"]["undoes"] == made.json["change"]["id"]
    assert not (jp_root_dir / "a.txt").exists()


async def test_undoing_a_path_steps_back_through_its_changes(ask, call, jp_root_dir):
    file = jp_root_dir / "a.txt"
    for content in ("one\n", "two\n", "three\n"):
        await call("write_file", path="a.txt", content=content)
    for expected in ("two\n", "one\n"):
        assert (await ask("POST", "/changes/undo", {"path": "a.txt"})).status == 200
        assert file.read_text() == expected
    assert (await ask("POST", "/changes/undo", {"path": "a.txt"})).status == 200
    assert not file.exists()
    assert (await ask("POST", "/changes/undo", {"path": "a.txt"})).error["code"] == "not_found"


async def test_an_undo_of_a_file_that_moved_on_is_stale(ask, call, jp_root_dir):
    made = await call("write_file", path="a.txt", content="one\n")
    (jp_root_dir / "a.txt").write_text("mine\n")
    refused = await ask("POST", f"/changes/{made.json['change']['id']}/undo", b"")
    assert (refused.status, refused.error["code"]) == (412, "stale")
    assert (jp_root_dir / "a.txt").read_text() == "mine\n"


async def test_the_journal_goes_on_after_a_cursor(ask, call):
    await call("write_file", path="a.txt", content="one\n")
    cursor = (await ask("GET", "/changes")).json["revision"]
    await call("write_file", path="b.txt", content="one\n")
    await call("write_file", path="c.txt", content="one\n")
    after = (await ask("GET", "/changes", after=cursor)).json["changes"]
    assert [change["path"] for change in after] == ["b.txt", "c.txt"]
    newest = (await ask("GET", "/changes", path="", limit=2)).json["changes"]
    assert [change["path"] for change in newest] == ["c.txt", "b.txt"]


async def test_the_journal_is_paged_by_time_without_the_diffs(ask, call):
    for number in range(5):
        await call("write_file", path=f"{number}.txt", content="one\n")
    first = (await ask("GET", "/changes", limit=2, diffs="false")).json
    rest = (await ask("GET", "/changes", before=first["changes"][-1]["created_at"], diffs="false")).json
    listed = first["changes"] + rest["changes"]
    assert [change["path"] for change in listed] == ["4.txt", "3.txt", "2.txt", "1.txt", "0.txt"]
    assert {(change["diff"]["added"], len(change["diff"]["hunks"])) for change in listed} == {(1, 0)}
    assert (first["total"], first["proposed"]) == (5, 0)


async def test_a_change_does_not_tell_where_the_root_is(ask, call, jp_root_dir):
    made = await call("write_file", path="a.txt", content="one\n")
    listed = await ask("GET", "/changes")
    assert str(jp_root_dir).encode() not in made.body + listed.body


@pytest.fixture
def propose_many(ask, call, jp_root_dir):
    async def propose_many():
        ids = {}
        for name, session in (("a", "one"), ("b", "one"), ("c", "two")):
            (jp_root_dir / f"{name}.txt").write_text("one\n")
            await call("read_file", path=f"{name}.txt", session=session)
            answer = await call("edit_file", **{**EDIT, "path": f"{name}.txt"}, session=session)
            ids[name] = answer.json["change"]["id"]
        assert (await ask("GET", "/changes", limit=1)).json["proposed"] == 3
        return ids

    return propose_many


@waits_for_approval
async def test_all_that_a_session_proposed_is_approved_but_what_is_stale(ask, propose_many, jp_root_dir):
    ids = await propose_many()
    (jp_root_dir / "a.txt").write_text("one and more\n")
    stale, approved = (await ask("POST", "/changes/approve", {"session": "one"})).json["outcomes"]
    assert (stale["id"], stale["path"], stale["change"], stale["error"]["code"]) == (ids["a"], "a.txt", None, "stale")
    assert (approved["id"], approved["error"], approved["change"]["status"]) == (ids["b"], None, "applied")
    assert approved["change"]["diff"]["hunks"] == []
    assert [(jp_root_dir / f"{name}.txt").read_text() for name in "abc"] == ["one and more\n", "1\n", "one\n"]
    assert (await ask("GET", "/activity", kind="change", limit=1)).json["proposed"] == 1


@waits_for_approval
async def test_changes_are_rejected_by_their_ids(ask, propose_many, jp_root_dir):
    ids = await propose_many()
    body = {"ids": [ids["c"], "none", ids["a"], ids["c"]]}
    outcomes = (await ask("POST", "/changes/reject", body)).json["outcomes"]
    assert [(one["path"], one["error"] and one["error"]["code"]) for one in outcomes] == [
        ("c.txt", None),
        (None, "not_found"),
        ("a.txt", None),
    ]
    again = (await ask("POST", "/changes/approve", body)).json["outcomes"]
    assert [one["error"]["code"] for one in again] == ["conflict", "not_found", "conflict"]
    waiting = (await ask("GET", "/changes", status="proposed")).json
    assert ([change["id"] for change in waiting["changes"]], waiting["total"]) == ([ids["b"]], 1)


@waits_for_approval
async def test_everything_below_a_folder_is_approved(ask, propose_many, jp_root_dir):
    await propose_many()
    outcomes = (await ask("POST", "/changes/approve", {"path": "."})).json["outcomes"]
    assert [one["path"] for one in outcomes] == ["a.txt", "b.txt", "c.txt"]
    assert (await ask("POST", "/changes/approve", {"path": "."})).json == {"outcomes": []}


@pytest.mark.parametrize(
    "body", [{}, {"ids": []}, {"path": ""}, {"ids": ["c"], "session": "s"}, {"session": "a b"}, {"ids": [1]}]
)
async def test_a_decision_about_nothing_is_invalid(ask, body):
    assert (await ask("POST", "/changes/approve", body)).error["code"] == "invalid"
