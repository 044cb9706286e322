"""A person's decisions over REST."""

from __future__ import annotations

import asyncio
import json

import pytest

from jupyter_fstools.errors import InputOutput
from jupyter_fstools.server.rest import decision_handlers

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
        ("approve", {"hunks": [-1]}, "hunks"),
        ("approve", {"hunks": [True]}, "hunks"),
        ("approve", {"hunks": [0, 0, 7]}, "hunks"),
        ("approve", {"hunks": [0] * 100_001}, "hunks"),
        ("approve", {"hunks": [10**30]}, "hunks"),
        ("approve", {"hunks": {"c1": [0]}}, "hunks"),
        ("approve", {"hunks": [0], "content": {"c1": "x"}}, "content"),
        ("approve", {"content": {"c1": 5}}, "content"),
        ("approve", {"hunks": [], "reason": "none"}, "no part of the change"),
        ("approve", {"reason": "x" * 10_001}, "reason"),
        ("approve", {"hunks": [7], "content": "x"}, "hunks"),
        ("reject", {"hunks": [7]}, "hunks"),
        ("approve", {"base": "one\n"}, "base"),
        ("approve", {"content": "x", "base": 5}, "base"),
        ("approve", {"content": "x", "base": ["one"]}, "base"),
        ("approve", {"content": "x", "base": {"c1": 5}}, "base"),
        ("approve", {"content": "x", "base": {"c1": "one"}}, "base"),
        ("reject", {"content": "x"}, "content"),
        ("reject", {"base": "x"}, "base"),
        ("undo", {"content": "x"}, "content"),
        ("undo", {"base": "x"}, "base"),
        ("keep", {"reason": "x"}, "reason"),
    ],
)
async def test_a_decision_that_makes_no_sense_names_the_field(ask, propose, jp_root_dir, decision, body, field):
    change_id = await propose()
    refused = await ask("POST", f"/changes/{change_id}/{decision}", json.dumps(body).encode())
    assert (refused.status, refused.error["code"]) == (400, "invalid")
    assert field in refused.error["message"] and "[" not in refused.error["message"]
    assert refused.error["details"]["field"].split(".")[0] in body
    assert (jp_root_dir / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("settings", [{"approval": "always", "max_edit_bytes": 1000}], indirect=True)
async def test_what_a_person_writes_instead_is_bounded_too(ask, propose, jp_root_dir):
    change_id = await propose()
    refused = await ask("POST", f"/changes/{change_id}/approve", {"content": "x" * 1001})
    assert (refused.status, refused.error["code"]) == (413, "too_large") and "not modified" in refused.error["message"]
    assert (jp_root_dir / "a.txt").read_text() == "one\n"
    assert (await ask("POST", f"/changes/{change_id}/approve", {"content": "x" * 1000})).status == 200


@waits_for_approval
async def test_what_was_made_from_another_text_is_stale_and_not_written(ask, propose, jp_root_dir):
    change_id = await propose()
    refused = await ask("POST", f"/changes/{change_id}/approve", {"content": "mine\n", "base": "two\n"})
    assert (refused.status, refused.error["code"]) == (412, "stale") and "not modified" in refused.error["message"]
    assert (jp_root_dir / "a.txt").read_text() == "one\n"
    assert (await ask("GET", f"/changes/{change_id}")).json["change"]["status"] == "proposed"
    assert (await ask("POST", f"/changes/{change_id}/approve", {"content": "mine\n", "base": "one\n"})).status == 200
    assert (jp_root_dir / "a.txt").read_text() == "mine\n"


@waits_for_approval
@pytest.mark.parametrize("is_new", [False, True])
async def test_the_encoding_that_a_person_s_text_declares_is_named(ask, call, propose, jp_root_dir, is_new):
    change_id = await propose()
    if is_new:
        change_id = (await call("write_file", path="b.txt", content="b\n")).json["change"]["id"]
    told = (await ask("POST", f"/changes/{change_id}/approve", {"content": "# coding: shift_jis\n\u005c\n"})).json
    assert told["change"]["diff"]["encoding"] == "shift_jis"


@waits_for_approval
async def test_of_all_who_decide_at_once_one_does(ask, propose, jp_root_dir):
    decisions = [
        ("approve", b""),
        ("reject", b""),
        ("approve", b'{"hunks": [0]}'),
        ("approve", b'{"content": "mine\\n"}'),
    ]
    expected = {b"": "1\n", b'{"hunks": [0]}': "1\n", b'{"content": "mine\\n"}': "mine\n"}
    for first in range(len(decisions)):
        change_id = await propose()
        several = (decisions[first:] + decisions[:first]) * 3
        answers = await asyncio.gather(
            *(ask("POST", f"/changes/{change_id}/{decision}", body) for decision, body in several)
        )
        (won,) = [at for at, answer in enumerate(answers) if answer.status == 200]
        assert {answer.status for answer in answers} == {200, 409}
        decision, body = several[won]
        assert (jp_root_dir / "a.txt").read_text() == ("one\n" if decision == "reject" else expected[body])


@waits_for_approval
async def test_the_next_answer_tells_a_rejection_unless_its_session_waited_for_it(ask, call, propose):
    for waits in (False, True):
        change_id = await propose()
        assert (await ask("POST", f"/changes/{change_id}/reject", b'{"reason": "not now"}')).status == 200
        if waits:
            await ask("GET", f"/changes/{change_id}", wait=1)
        answer = (await call("read_file", path="a.txt")).json
        assert ("not now" in answer["data"].get("since_last_call", "")) is not waits
        assert ("not now" in answer["content"][-1]["text"]) is not waits


@waits_for_approval
async def test_a_rejection_tells_its_reason(ask, propose):
    change_id = await propose()
    rejected = await ask("POST", f"/changes/{change_id}/reject", b'{"reason": "not now"}')
    assert rejected.json["change"]["decided"]["reason"] == "not now"
    told = (await ask("GET", f"/changes/{change_id}", wait=30)).json
    assert told["change"]["decided"]["reason"] == "not now"
    assert told["refusal"]["code"] == "rejected"
    assert "not now" in told["refusal"]["message"]


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
async def test_a_wait_whose_client_has_gone_is_not_logged_as_a_fault(
    propose, caplog, jp_http_port, jp_base_url, jp_auth_header
):
    path = f"{jp_base_url}api/fstools/changes/{await propose()}?wait=50"
    _, client = await asyncio.open_connection("127.0.0.1", jp_http_port)
    client.write(
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {jp_auth_header['Authorization']}\r\n\r\n".encode()
    )
    await asyncio.sleep(0.2)
    client.close()
    while not (logged := [one for one in caplog.records if f" GET {path}" in one.getMessage()]):
        await asyncio.sleep(0.01)
    assert [one.levelname for one in logged] == ["WARNING"]


@waits_for_approval
async def test_waiting_ends_when_the_server_stops(ask, propose, jp_serverapp):
    change_id = await propose()
    waiting = asyncio.ensure_future(ask("GET", f"/changes/{change_id}", wait=50))
    await asyncio.sleep(0.1)
    await jp_serverapp.cleanup_extensions()
    answer = await waiting
    assert (answer.status, answer.error["code"], answer.error["message"]) == (500, "io", "the server is stopping")


async def test_a_person_undoes_anybodys_change(ask, call, jp_root_dir):
    made = await call("write_file", path="a.txt", content="one\n", session="assistant")
    undone = await ask("POST", f"/changes/{made.json['change']['id']}/undo", b"", session="person")
    assert undone.json["change"]["undoes"] == made.json["change"]["id"]
    assert not (jp_root_dir / "a.txt").exists()


async def test_the_reason_of_an_undo_reaches_the_session_that_made_the_change(ask, call):
    made = await call("write_file", path="a.txt", content="one\n", session="assistant")
    path = f"/changes/{made.json['change']['id']}"
    assert (await ask("POST", f"{path}/undo", {"reason": "not here"}, session="person")).status == 200
    assert (await ask("GET", path)).json["change"]["decided"]["reason"] == "not here"
    assert "not here" in (await call("list_files", session="assistant")).json["data"]["since_last_call"]


@pytest.mark.parametrize("settings", [{"journal_max_changes": 1}], indirect=True)
async def test_an_undo_for_which_the_journal_drops_the_change_is_told_as_made(ask, call, jp_root_dir):
    """The one that it keeps is the undo."""
    made = (await call("write_file", path="a.txt", content="one\n")).json["change"]["id"]
    undone = await ask("POST", f"/changes/{made}/undo", {"reason": "not here"})
    assert (undone.status, undone.json["change"]["undoes"]) == (200, made)
    assert not (jp_root_dir / "a.txt").exists()


@waits_for_approval
async def test_a_decision_after_which_the_store_is_away_is_told_as_made(ask, propose, jp_root_dir, monkeypatch):
    def as_of_now(*_):
        raise InputOutput("the store's database failed", hint="Nothing was written.")

    change_id = await propose()
    monkeypatch.setattr(decision_handlers, "as_of_now", as_of_now)
    approved = await ask("POST", f"/changes/{change_id}/approve", b"")
    assert (approved.status, approved.json["change"]["status"]) == (200, "applied")
    assert (jp_root_dir / "a.txt").read_text() == "1\n"


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


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("/changes/c000000000000/approve", b""),
        ("/changes/c000000000000/undo", b""),
        ("/changes/undo", b'{"path": "none.txt"}'),
        ("/changes/c000000000000/approve", b'{"hunks": [-1]}'),
        ("/changes/c000000000000/approve", b'{"content": 5}'),
    ],
)
async def test_a_decision_that_is_refused_says_that_nothing_was_modified(ask, route, body):
    refused = await ask("POST", route, body)
    assert "not modified" in refused.error["message"] and refused.error["hint"]


async def test_the_journal_goes_on_after_a_cursor(ask, call):
    await call("write_file", path="a.txt", content="one\n")
    cursor = (await ask("GET", "/changes")).json["revision"]
    await call("write_file", path="b.txt", content="one\n")
    await call("write_file", path="c.txt", content="one\n")
    after = (await ask("GET", "/changes", after=cursor)).json["changes"]
    assert [change["path"] for change in after] == ["b.txt", "c.txt"]
    page = (await ask("GET", "/changes", after=cursor, limit=1)).json
    rest = (await ask("GET", "/changes", after=page["revision"])).json
    assert [change["path"] for change in page["changes"] + rest["changes"]] == ["b.txt", "c.txt"]
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


@waits_for_approval
async def test_the_journal_says_how_a_decision_came_in(ask, propose):
    by_token = (await ask("POST", f"/changes/{await propose()}/reject", b"")).json["change"]
    page = await ask("GET", "/")
    cookie = {"Cookie": page.headers["set-cookie"].partition(";")[0]}
    xsrf = "2|1234abcd|00000000000000000000000000000000|1700000000"
    login = {"Cookie": f"{cookie['Cookie']}; _xsrf={xsrf}", "X-XSRFToken": xsrf}
    by_page = (await ask("POST", f"/changes/{await propose()}/approve", b"", headers=login)).json["change"]
    undone = (await ask("POST", f"/changes/{by_page['id']}/undo", b"", headers=login)).json["change"]
    assert [one["decided_via"] for one in (by_token, by_page, undone)] == ["token", "browser", "browser"]
    told = (await ask("GET", "/activity", kind="change")).json["entries"]
    assert {one["decided_via"] for one in told} == {"token", "browser"}


NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "id": "a",
            "metadata": {"tags": ["run-me"]},
            "execution_count": 7,
            "source": "1 + 1",
            "outputs": [
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<script>told()</script>"}}
            ],
        },
        {
            "cell_type": "markdown",
            "id": "b",
            "metadata": {},
            "source": "# Title",
            "attachments": {"a.svg": {"image/svg+xml": "<svg onload=told()>"}},
        },
    ],
    "metadata": {"kernelspec": {"name": "another", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def rows_of(hunks):
    return "\n".join(row["text"] for hunk in hunks for row in hunk["rows"])


@waits_for_approval
async def test_all_that_a_new_notebook_brings_is_in_the_diff_that_is_approved(ask, call, jp_root_dir):
    proposed = (await call("write_file", path="n.ipynb", content=json.dumps(NOTEBOOK))).json["change"]
    diff = (await ask("GET", f"/changes/{proposed['id']}")).json["change"]["diff"]
    assert '"name": "another"' in rows_of(diff["hunks"]) and '"nbformat_minor": 5' in rows_of(diff["hunks"])
    code, markdown = diff["cells"]
    for told in ("run-me", '"execution_count": 7', "<script>told()</script>"):
        assert told in rows_of(code["carried"])
    assert "<svg onload=told()>" in rows_of(markdown["carried"])
    assert not diff["truncated"]
    assert (await ask("POST", f"/changes/{proposed['id']}/approve", b"")).status == 200
    assert json.loads((jp_root_dir / "n.ipynb").read_text()) == NOTEBOOK


@waits_for_approval
@pytest.mark.parametrize("name", ["a.txt", "n.ipynb"])
async def test_what_a_cut_line_hides_is_not_approved_unseen(ask, call, jp_root_dir, name):
    hidden = "x" * 3000 + "; told()"
    notebook = json.dumps({**NOTEBOOK, "metadata": {"hidden": hidden}})
    proposed = (await call("write_file", path=name, content=hidden if name == "a.txt" else notebook)).json["change"]
    assert proposed["diff"]["truncated"]
    approve = f"/changes/{proposed['id']}/approve"
    for body in (b"", b'{"reason": "fine"}'):
        refused = await ask("POST", approve, body)
        assert (refused.status, refused.error["code"]) == (428, "not_read")
        assert "not modified" in refused.error["message"] and f"{proposed['id']}?rows=all" in refused.error["hint"]
    many = (await ask("POST", "/changes/approve", json.dumps({"ids": [proposed["id"]]}).encode())).json["outcomes"]
    assert [one["error"]["code"] for one in many] == ["not_read"]
    assert not (jp_root_dir / name).exists()
    assert (await ask("GET", f"/changes/{proposed['id']}")).json["change"]["diff"]["truncated"]
    assert (await ask("POST", approve, b"")).status == 428
    whole = await ask("GET", f"/changes/{proposed['id']}", rows="all")
    assert "; told()" in whole.body.decode() and not whole.json["change"]["diff"]["truncated"]
    assert (await ask("POST", approve, b"")).status == 200


@waits_for_approval
async def test_a_notebook_is_approved_once_every_one_of_its_cells_was_sent(ask, call, jp_root_dir):
    """More cells than a bounded diff has rows: nothing of the last ones is in it."""
    cells = [{"cell_type": "raw", "id": f"c{n}", "metadata": {}, "source": f"<{n}>"} for n in range(4500)]
    content = json.dumps({**NOTEBOOK, "cells": cells})
    proposed = (await call("write_file", path="n.ipynb", content=content)).json["change"]
    assert proposed["diff"]["truncated"] and "<4499>" not in json.dumps(proposed)
    approve = f"/changes/{proposed['id']}/approve"
    assert (await ask("POST", approve, b"")).error["code"] == "not_read"
    whole = (await ask("GET", f"/changes/{proposed['id']}", rows="all")).json["change"]["diff"]
    assert [cell["hunks"][0]["rows"][0]["text"] for cell in whole["cells"]] == [f"<{n}>" for n in range(4500)]
    assert (await ask("POST", approve, b"")).status == 200
    assert json.loads((jp_root_dir / "n.ipynb").read_text())["cells"] == cells


@waits_for_approval
async def test_what_no_diff_shows_is_approved_once_it_was_downloaded(ask, call, jp_root_dir):
    hidden = "x\n" * ((8 << 20) + 1)
    proposed = (await call("write_file", path="a.txt", content=hidden)).json["change"]
    approve = f"/changes/{proposed['id']}/approve"
    assert (await ask("GET", f"/changes/{proposed['id']}", rows="all")).json["change"]["diff"]["truncated"]
    assert (await ask("POST", approve, b"")).error["code"] == "not_read"
    assert (await ask("GET", f"/changes/{proposed['id']}/content", path="b.txt")).error["code"] == "not_found"
    assert (await ask("POST", approve, b"")).error["code"] == "not_read"
    sent = await ask("GET", f"/changes/{proposed['id']}/content")
    assert sent.body == hidden.encode()
    assert sent.headers["content-disposition"] == "attachment; filename*=utf-8''a.txt"
    assert "sandbox" in sent.headers["content-security-policy"]
    assert (await ask("POST", approve, b"")).status == 200
    assert (jp_root_dir / "a.txt").stat().st_size == len(hidden)


@waits_for_approval
async def test_what_a_browser_fetches_for_a_picture_s_address_is_not_shown_to_a_person(ask, call):
    """A notebook, or another page, may have it ask for anything with the login's cookies."""
    proposed = (await call("write_file", path="a.txt", content="x" * 3000)).json["change"]
    cookie = (await ask("GET", "/tools")).headers["set-cookie"].partition(";")[0]
    xsrf = "2|1234abcd|00000000000000000000000000000000|1700000000"
    picture, page = {"Cookie": f"{cookie}; _xsrf={xsrf}"}, {"Cookie": f"{cookie}; _xsrf={xsrf}", "X-XSRFToken": xsrf}
    approve = f"/changes/{proposed['id']}/approve"
    assert (await ask("GET", f"/changes/{proposed['id']}/content", headers=picture)).status == 200
    assert (await ask("GET", f"/changes/{proposed['id']}", headers=picture, rows="all")).status == 200
    assert (await ask("POST", approve, b"", headers=page)).error["code"] == "not_read"
    assert (await ask("GET", f"/changes/{proposed['id']}/content", headers=page)).status == 200
    assert (await ask("POST", approve, b"", headers=page)).status == 200


@waits_for_approval
async def test_of_a_change_of_several_files_each_is_to_be_seen(ask, call, jp_root_dir):
    for name in ("a.txt", "b.txt"):
        (jp_root_dir / name).write_text("one\n")
        await call("read_file", path=name)
    edits = [{"path": name, "old_string": "one", "new_string": "x" * 2000} for name in ("a.txt", "b.txt")]
    proposed = (await call("edit_file", edits=edits)).json["change"]
    approve = f"/changes/{proposed['id']}/approve"
    assert (await ask("GET", f"/changes/{proposed['id']}/content", path="a.txt")).body == b"x" * 2000 + b"\n"
    assert "b.txt" in (await ask("POST", approve, b"")).error["message"]
    assert (await ask("GET", f"/changes/{proposed['id']}/content", path="b.txt")).status == 200
    assert (await ask("POST", approve, b"")).status == 200
