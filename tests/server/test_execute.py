"""Commands over REST: plain and as a stream of events, approved by a person, ended with their client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading

import pytest
from jupyter_server.auth.authorizer import Authorizer

from jupyter_fstools import open_workspace
from jupyter_fstools.gate import tokens
from jupyter_fstools.server import streaming
from tests.mcp_client import tool_call
from tests.processes import RunningServer, wait_for_line, wait_until_gone

pytestmark = pytest.mark.slow

AT_ONCE = {"enable_execute": True, "execute_approval": False}
BOTH = "application/json, text/event-stream"
runs_at_once = pytest.mark.parametrize("settings", [AT_ONCE], indirect=True)
waits_for_approval = pytest.mark.parametrize(
    "settings", [{"enable_execute": True, "execute_approval_seconds": 60.0}], indirect=True
)


@pytest.fixture
def terminals():
    """Whether the server offers terminals: the extension, and the setting."""
    return True, True


@pytest.fixture
def jp_server_config(settings, terminals):
    extension, enabled = terminals
    return {
        "ServerApp": {
            "jpserver_extensions": {"jupyter_fstools": True, "jupyter_server_terminals": extension},
            "terminals_enabled": enabled,
        },
        "FsToolsConfig": {"durable": False, **settings},
    }


class Events:
    """The events of one answer, as they come."""

    def __init__(self, reader, writer):
        self._reader = reader
        self._writer = writer
        self.head = ""

    async def begin(self):
        self.head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        return self

    async def blocks(self):
        """Each block of the stream: an event, or a comment."""
        rest = b""
        while int(size := (await self._reader.readuntil(b"\r\n")).strip(), 16):
            rest += (await self._reader.readexactly(int(size, 16) + 2))[:-2]
            *whole, rest = rest.split(b"\n\n")
            for block in whole:
                yield block.decode()

    async def next(self, kind):
        """The data of the next event, which must be of this kind; comments are passed over."""
        async for block in self.blocks():
            if not block.startswith(":"):
                event, data = block.split("\n")
                assert event == f"event: {kind}", block
                return json.loads(data.removeprefix("data: "))
        raise AssertionError(f"the stream ended before {kind}")

    async def ended(self):
        return [block async for block in self.blocks() if not block.startswith(":")] == []

    def leave(self):
        self._writer.close()


@pytest.fixture
def send(jp_serverapp, jp_http_port, http_server, jp_auth_header):
    """Send a call on a connection of its own, and give what comes back as it comes."""
    sent = []

    async def send(accept="text/event-stream", token=None, **arguments):
        body = json.dumps(arguments)
        head = f"POST {jp_serverapp.base_url}api/fstools/tools/execute HTTP/1.1\r\nHost: localhost:{jp_http_port}\r\n"
        login = {"Authorization": f"token {token}"} if token else jp_auth_header
        head += "".join(f"{name}: {value}\r\n" for name, value in login.items())
        reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
        writer.write(f"{head}Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        sent.append(writer)
        return Events(reader, writer)

    yield send
    for writer in sent:
        writer.close()


@runs_at_once
async def test_a_command_is_answered_like_every_call(call, jp_root_dir):
    answer = await call("execute", command="touch x; echo hi; exit 3")
    assert answer.status == 200
    assert (answer.json["data"]["output"], answer.json["data"]["exit_code"]) == ("hi\n", 3)
    assert answer.json["data"]["changed_files"] == ["x"]
    assert answer.json["change"]["diff"]["op"] == "execute"


@runs_at_once
async def test_output_is_streamed_while_the_command_runs(send, jp_root_dir):
    stream = await (await send(command="echo begun; until [ -e go ]; do sleep 0.05; done; echo done")).begin()
    assert "HTTP/1.1 200" in stream.head
    for header in ("Content-Type: text/event-stream", "X-Accel-Buffering: no", "Cache-Control: no-store"):
        assert header in stream.head
    assert await stream.next("output") == {"text": "begun\n"}
    (jp_root_dir / "go").touch()
    assert await stream.next("output") == {"text": "done\n"}
    result = await stream.next("result")
    assert (result["tool"], result["data"]["output"]) == ("execute", "begun\ndone\n")
    assert await stream.ended()


@runs_at_once
async def test_a_call_refused_at_once_has_a_status_and_no_stream(send):
    stream = await (await send(command="")).begin()
    assert "HTTP/1.1 400" in stream.head
    assert "application/json" in stream.head


@runs_at_once
async def test_a_quiet_command_is_kept_alive_by_comments(send, jp_root_dir, monkeypatch):
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.05)
    stream = await (await send(command="until [ -e go ]; do sleep 0.05; done")).begin()
    blocks = stream.blocks()
    assert [(await anext(blocks))[0], (await anext(blocks))[0]] == [":", ":"]
    (jp_root_dir / "go").touch()
    assert [block async for block in blocks if block.startswith("event: result")]


@runs_at_once
async def test_a_quiet_command_over_mcp_is_kept_alive_for_a_client_that_wants_no_progress(
    ask, jp_auth_header, monkeypatch
):
    async def post(tool, accept, **arguments):
        headers = {**jp_auth_header, "X-Fstools-Session": "s", "Accept": accept}
        return await ask("POST", "/mcp", tool_call(tool, **arguments), headers=headers)

    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.1)
    answer = await post("execute", BOTH, command="echo one; sleep 0.5; echo two")
    comments, _, told = answer.body.partition(b"event: message\ndata: ")
    assert comments.count(b": still running\n\n") > 1 and b"data" not in comments
    assert json.loads(told)["result"]["content"][0]["text"] == "one\ntwo"
    assert (await post("list_files", BOTH)).json["result"]["isError"] is False
    assert (await post("execute", "application/json", command="sleep 0.3")).json["result"]["isError"] is False


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
@runs_at_once
async def test_a_client_that_goes_away_ends_its_command(send, jp_root_dir, accept):
    stream = await send(accept, command="trap '' TERM; sleep 1000 & echo $$ $! > pids; wait")
    pids = await asyncio.to_thread(wait_for_line, jp_root_dir / "pids")
    stream.leave()
    for process in pids.split():
        await asyncio.to_thread(wait_until_gone, process)


@runs_at_once
async def test_a_command_ends_when_its_token_is_revoked_and_no_other_does(send, ask, jp_root_dir):
    tokens = [(await ask("POST", "/tokens", {"name": name, "tools": ["execute"]})).json for name in ("one", "two")]
    commands = [
        await send(token=token["token"], command=f"echo $$ > {token['name']}; until [ -e go ]; do sleep 0.05; done")
        for token in tokens
    ]
    pids = [await asyncio.to_thread(wait_for_line, jp_root_dir / token["name"]) for token in tokens]
    assert (await ask("DELETE", f"/tokens/{tokens[0]['id']}")).status == 204
    await asyncio.to_thread(wait_until_gone, pids[0])
    (jp_root_dir / "go").touch()
    assert (await (await commands[1].begin()).next("result"))["data"]["exit_code"] == 0


@runs_at_once
async def test_a_command_ends_when_another_process_revokes_its_token(send, ask, jp_root_dir):
    token = (await ask("POST", "/tokens", {"name": "one", "tools": ["execute"]})).json
    stream = await send(token=token["token"], command="echo $$ > pid; sleep 1000")
    pid = await asyncio.to_thread(wait_for_line, jp_root_dir / "pid")
    with open_workspace(jp_root_dir) as elsewhere:
        tokens.revoke(elsewhere.store, elsewhere.reader.user, token["id"])
    await asyncio.to_thread(wait_until_gone, pid)
    assert (await (await stream.begin()).next("result"))["data"]["cancelled"]


@runs_at_once
async def test_a_command_ends_when_its_token_expires(send, ask, jp_root_dir):
    token = (await ask("POST", "/tokens", {"name": "one", "tools": ["execute"], "expires_in": 3})).json
    stream = await send(token=token["token"], command="echo $$ > pid; sleep 1000")
    pid = await asyncio.to_thread(wait_for_line, jp_root_dir / "pid")
    await asyncio.to_thread(wait_until_gone, pid)
    assert (await (await stream.begin()).next("result"))["data"]["cancelled"]


@waits_for_approval
async def test_a_command_runs_once_a_person_approves_it(send, ask, jp_root_dir):
    stream = await (await send(command="touch x; echo done")).begin()
    waiting = await stream.next("waiting")
    (listed,) = (await ask("GET", "/changes", status="proposed")).json["changes"]
    assert listed["id"] == waiting["change_id"]
    assert listed["diff"]["hunks"][0]["rows"][0]["text"] == "touch x; echo done"
    assert not (jp_root_dir / "x").exists()
    approved = await ask("POST", f"/changes/{listed['id']}/approve", b"")
    assert (approved.status, approved.json["change"]["status"]) == (200, "applied")
    assert await stream.next("output") == {"text": "done\n"}
    assert (await stream.next("result"))["change"]["id"] == listed["id"]
    assert (jp_root_dir / "x").exists()


@waits_for_approval
async def test_a_rejected_command_ends_its_stream_with_the_refusal(send, ask, jp_root_dir):
    stream = await (await send(command="touch x")).begin()
    waiting = await stream.next("waiting")
    await ask("POST", f"/changes/{waiting['change_id']}/reject", b"")
    assert (await stream.next("error"))["code"] == "rejected"
    assert await stream.ended()
    assert list(jp_root_dir.iterdir()) == []


@waits_for_approval
async def test_a_proposal_whose_client_has_gone_cannot_be_approved(send, ask, jp_root_dir):
    stream = await (await send(command="touch x")).begin()
    change = (await stream.next("waiting"))["change_id"]
    stream.leave()
    decided = await ask("GET", f"/changes/{change}", wait=30)
    assert (decided.json["change"]["status"], decided.json["change"]["decided_by"]) == ("rejected", None)
    refused = await ask("POST", f"/changes/{change}/approve", b"")
    assert (refused.status, refused.error["code"]) == (409, "conflict")
    assert list(jp_root_dir.iterdir()) == []


@waits_for_approval
async def test_commands_that_wait_hold_up_no_other_call_of_their_reader(ask, call):
    """More of them than one reader gets threads; the decision is a call of that reader too."""
    waiting = [asyncio.ensure_future(call("execute", command="true")) for _ in range(40)]
    while not (await ask("GET", "/changes", status="proposed")).json["changes"]:
        await asyncio.sleep(0.01)
    assert (await call("write_file", path="a.txt", content="x")).status == 200
    while not all(one.done() for one in waiting):
        assert (await ask("POST", "/changes/reject", {"session": "default"})).status == 200
    assert {answer.result().error["code"] for answer in waiting} == {"rejected"}


class Allowing(Authorizer):
    """Authorizer that allows everything except the actions left out."""

    left_out = ("execute", "terminals")

    def is_authorized(self, handler, user, action, resource):
        return (action, resource) != self.left_out


@runs_at_once
async def test_who_may_only_write_may_not_run_commands(call, jp_serverapp, jp_root_dir):
    jp_serverapp.web_app.settings["authorizer"] = Allowing(parent=jp_serverapp)
    assert (await call("write_file", path="a.txt", content="x")).status == 200
    refused = await call("execute", command="touch x")
    assert (refused.status, refused.error["code"]) == (403, "denied")
    assert [path.name for path in jp_root_dir.iterdir()] == ["a.txt"]


@runs_at_once
async def test_who_may_run_commands_need_not_be_let_write(call, jp_serverapp):
    allowing = Allowing(parent=jp_serverapp)
    allowing.left_out = ("write", "contents")
    jp_serverapp.web_app.settings["authorizer"] = allowing
    assert (await call("execute", command="true")).status == 200


@waits_for_approval
async def test_who_may_not_run_commands_may_not_approve_them(send, ask, jp_serverapp, jp_root_dir):
    stream = await (await send(command="touch x")).begin()
    change = (await stream.next("waiting"))["change_id"]
    jp_serverapp.web_app.settings["authorizer"] = Allowing(parent=jp_serverapp)
    refused = await ask("POST", f"/changes/{change}/approve", b"")
    assert (refused.status, refused.error["code"]) == (403, "denied")
    assert (await ask("POST", f"/changes/{change}/reject", b"")).status == 200
    assert list(jp_root_dir.iterdir()) == []


async def assert_off(ask, call, jp_root_dir):
    assert "execute" not in (await ask("GET", "/")).json["tools"]
    for form in ("mcp", "openai", "anthropic"):
        assert '"execute"' not in (await ask("GET", "/tools", format=form)).body.decode()
    refused = await call("execute", command="touch x")
    assert (refused.status, refused.error["code"]) == (403, "disabled")
    assert list(jp_root_dir.iterdir()) == []


async def test_it_is_off_unless_it_is_enabled(ask, call, jp_root_dir):
    await assert_off(ask, call, jp_root_dir)


@pytest.mark.parametrize("terminals", [(False, True), (True, False)])
@runs_at_once
async def test_it_is_off_where_the_server_offers_no_terminals(ask, call, jp_root_dir):
    await assert_off(ask, call, jp_root_dir)


@pytest.mark.parametrize("settings", [{**AT_ONCE, "read_only": True}], indirect=True)
async def test_it_is_off_where_nothing_is_written(ask, call, jp_root_dir):
    await assert_off(ask, call, jp_root_dir)


@pytest.mark.parametrize("settings", [{**AT_ONCE, "tool_prefix": "fs_"}], indirect=True)
async def test_a_prefix_lets_nobody_past_the_permission(call, jp_serverapp):
    assert (await call("fs_execute", command="true")).status == 200
    jp_serverapp.web_app.settings["authorizer"] = Allowing(parent=jp_serverapp)
    assert (await call("fs_execute", command="true")).status == 403
    assert (await call("execute", command="true")).status == 403


def test_a_server_that_stops_ends_its_commands(tmp_path):
    server = RunningServer(tmp_path, "--FsToolsConfig.enable_execute=True", "--FsToolsConfig.execute_approval=False")
    asked = threading.Thread(target=lambda: ask_until_it_stops(server))
    try:
        server.wait()
        asked.start()
        process = wait_for_line(tmp_path / "pid")
    finally:
        server.stop()
    wait_until_gone(process)
    asked.join()


def ask_until_it_stops(server):
    with contextlib.suppress(OSError):
        server.call("POST", "/tools/execute", {"command": "echo $$ > pid; sleep 1000"})
