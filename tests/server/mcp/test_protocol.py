"""Messages in the protocol's form, and the answers to all others."""

from __future__ import annotations

import asyncio
import json
import os

import jsonschema
import pytest
from jupyter_server.auth.authorizer import Authorizer

from jupyter_fstools.server import streaming
from tests.mcp_client import NEWEST, introduction, request, tool_call

NO_MESSAGES = {
    "nothing": (b"", -32700),
    "broken": (b'{"jsonrpc": "2.0", "id": 1', -32700),
    "no UTF-8": (b'{"jsonrpc": "2.0", "id": "\xe9", "method": "ping"}', -32700),
    "NaN": (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
    "too deep": (b"[" * 100_000, -32700),
    "a string": (b'"ping"', -32600),
    "null": (b"null", -32600),
    "an empty object": (b"{}", -32600),
    "another version of JSON-RPC": (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
    "no method": (b'{"jsonrpc": "2.0", "id": 1}', -32600),
    "an id that is none": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
    "a list as id": (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600),
    "parameters in a list": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32600),
    "overlong UTF-8": (b'{"jsonrpc": "2.0", "id": 1, "method": "\xc0\x80"}', -32700),
    "a byte order mark": (b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 1, "method": "ping"}', -32700),
    "UTF-16": ('{"jsonrpc": "2.0", "id": 1, "method": "ping"}'.encode("utf-16"), -32700),
    "two messages": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}' * 2, -32700),
    "a number without end": (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "ping"}', -32700),
    "arguments too deep": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ' + b'{"x":' * 50_000 + b"1" + b"}" * 50_001,
        -32700,
    ),
    "a huge number as id": (b'{"jsonrpc": "2.0", "id": 99999999999999999999999, "method": "ping"}', -32600),
    "half of a character as id": (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', -32600),
    "a fraction as id": (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
    "true as id": (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
    "a number as method": (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
    "a batch": (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST])
def test_the_version_that_the_client_asks_for_is_spoken(raw, version):
    answer = raw.begin(version).json["result"]
    assert answer["protocolVersion"] == version and answer["capabilities"] == {"tools": {"listChanged": False}}


@pytest.mark.parametrize("version", ["2026-07-28", "1.0", ""])
def test_to_another_version_the_newest_is_answered(raw, version):
    assert raw.begin(version).json["result"]["protocolVersion"] == NEWEST


@pytest.mark.parametrize("version", ["2027-01-01", "1999-01-01", "x" * 1000])
def test_a_header_of_a_version_that_is_not_spoken_is_refused(raw, version):
    answer = raw.post(request("ping"), **{"MCP-Protocol-Version": version})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32022)
    assert NEWEST in answer.json["error"]["data"]["supported"]


@pytest.mark.parametrize("name", NO_MESSAGES)
def test_what_is_no_message_is_an_error_of_json_rpc(raw, name):
    body, code = NO_MESSAGES[name]
    answer = raw.post(body, **{"MCP-Protocol-Version": NEWEST})
    assert (answer.status, answer.json["error"]["code"]) == (400, code), answer.json
    assert answer.json["jsonrpc"] == "2.0" and answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("message", "code", "said"),
    [
        (request("tools/run"), -32601, "there are initialize, ping, tools/list and tools/call"),
        (request("resources/list"), -32601, "no method 'resources/list'"),
        (request("tools/call"), -32602, "tools/call: name: is required"),
        (request("tools/call", {"name": 5}), -32602, "tools/call: name: takes a string, got 5"),
        (
            request("tools/call", {"name": "read_file", "arguments": []}),
            -32602,
            "tools/call: arguments: takes an object, got a list",
        ),
        (request("tools/list", {"cursor": "2"}), -32602, "one page"),
        (request("initialize", {"protocolVersion": NEWEST}), -32602, "initialize: capabilities: is required"),
    ],
)
def test_a_request_that_cannot_be_answered_says_why(raw, message, code, said):
    answer = raw.post(message)
    assert (answer.status, answer.json["id"], answer.json["error"]["code"]) == (200, 1, code)
    assert said in answer.json["error"]["message"] and "mcp-session-id" not in answer.headers


ID = "takes a whole number or a string, got"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"id": {}}, f"id: {ID} an object"),
        ({"id": None}, f"id: {ID} null"),
        ({"id": 1.5}, f"id: {ID} 1.5"),
        ({"id": True}, f"id: {ID} true"),
        ({"id": [1] * 1000}, f"id: {ID} a list"),
        ({"id": 1, "jsonrpc": "1.0"}, "jsonrpc: takes '2.0', got '1.0'"),
        ({"id": 1, "method": 5, "params": [1]}, "method: takes a string, got 5; params: takes an object, got a list"),
        ({"method": "notifications/cancelled", "params": {"requestId": {}}}, f"requestId: {ID} an object"),
        ({"id": 1, "method": None}, "method: takes a string, got null"),
    ],
)
def test_a_field_that_does_not_fit_is_named_with_what_it_takes(raw, message, said):
    error = raw.post({"jsonrpc": "2.0", "method": "ping", **message}).json["error"]
    assert error["message"].partition(": ")[2] == said
    assert not any(word in error["message"] for word in (".int", ".str", "Input", "dictionary", "instance"))


NO_CALLS = {
    "no name": {},
    "a number as name": {"name": 5},
    "a decision": {"name": "approve", "arguments": {"change_id": "c1"}},
    "a path as name": {"name": "../write_file", "arguments": {}},
    "a huge name": {"name": "x" * 1_000_000},
    "arguments in a list": {"name": "list_files", "arguments": [1]},
    "arguments as text": {"name": "list_files", "arguments": "{}"},
    "facts that are none": {"name": "list_files", "arguments": {}, "_meta": 5},
    "a token that is none": {"name": "list_files", "arguments": {}, "_meta": {"progressToken": {}}},
}


@pytest.mark.parametrize("name", NO_CALLS)
def test_a_call_of_nothing_is_refused_in_few_words(raw, name):
    for headers in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "application/json; charset=utf-16"}):
        answer = raw.post(request("tools/call", NO_CALLS[name]), **headers)
        assert (answer.status, answer.json["error"]["code"]) == (200, -32602)
        assert len(answer.body) < 1000


def test_a_write_that_is_refused_before_its_tool_is_called_says_that_nothing_was_modified(raw, folder):
    write = tool_call("write_file", path=f"{folder.name}/new.txt", content="x")
    as_text = request("tools/call", {"name": "write_file", "arguments": json.dumps(write["params"]["arguments"])})
    answers = [
        raw.post(as_text),
        raw.post(write, **{"Mcp-Session-Id": "gone"}),
        raw.post({**write, "padding": "x" * 5_000_000}),
    ]
    assert [answer.json["error"]["message"].count("not modified") for answer in answers] == [1, 1, 1]
    assert "not modified" not in raw.post(request("tools/call", NO_CALLS["arguments as text"])).json["error"]["message"]
    assert not os.listdir(folder.path)


def test_of_a_key_that_comes_twice_the_last_counts_for_every_check(raw, folder):
    folder.write("a.txt", b"one\n")
    twice = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write_file", "arguments": '
    twice += b'{"path": "%s/new.txt", "content": "x", "path": "../new.txt"}}}' % folder.name.encode()
    told = raw.post(twice).json["result"]
    assert told["isError"] and told["content"][0]["text"].startswith("outside_root")
    assert folder.call("list_files", path=folder.name).json["data"]["total"] == 1


def test_a_ping_is_answered_and_a_notification_is_accepted(raw):
    assert raw.post(request("ping", id="a")).json == {"jsonrpc": "2.0", "id": "a", "result": {}}
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/nobody/knows"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ):
        answer = raw.post(message)
        assert (answer.status, answer.body) == (202, b"")


async def test_a_request_that_is_refused_after_its_stream_began_says_why(post, served, monkeypatch):
    async def late(call, *arguments):
        await asyncio.sleep(0.1)
        return await run(call, *arguments)

    run = served.calls.run
    await post(introduction())
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(served.calls, "run", late)
    asked = request("tools/list", {"cursor": "x", "_meta": {"progressToken": "p"}}, id="late")
    answer = await post(asked, Accept="application/json, text/event-stream")
    told = json.loads(answer.body.partition(b"data: ")[2])
    assert (told["id"], told["error"]["code"], told["error"]["message"][:8]) == ("late", -32602, "cursor: ")


def test_there_is_no_stream_to_get(raw):
    answer = raw.folder.server.get("/mcp", headers={**raw.headers, "Accept": "text/event-stream"})
    assert (answer.status, answer.headers["allow"]) == (405, "POST, DELETE, OPTIONS")


def test_a_batch_is_answered_where_the_version_has_batches(raw):
    path = raw.folder.write("a.txt", b"one\n")
    batch = [
        tool_call("read_file", 1, path=path),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
        tool_call("edit_file", 2, path=path, old_string="one", new_string="1"),
        request("nothing", id=3),
    ]
    answers = raw.post(batch, **{"MCP-Protocol-Version": "2025-03-26"}).json
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert answers[2]["error"]["code"] == -32601 and raw.folder.read("a.txt") == b"1\n"


@pytest.mark.parametrize("batch", [[], [request("ping")] * 101, [introduction()], [request("ping"), 5]])
def test_a_batch_that_is_none_is_refused(raw, batch):
    assert raw.post(batch).json["error"]["code"] == -32600


def test_a_huge_body_is_refused(raw):
    answer = raw.post(b'{"content": "' + b"x" * 5_000_000 + b'"}')
    assert (answer.status, answer.json["error"]["data"]["code"]) == (413, "too_large")


@pytest.mark.parametrize("token", [None, "wrong"])
def test_without_the_token_nothing_is_answered(raw, token):
    path = f"{raw.folder.name}/new.txt"
    for method, body in (("POST", tool_call("write_file", path=path, content="x")), ("DELETE", None)):
        answer = raw.folder.server.ask(method, "/mcp", body, headers=raw.headers, token=token)
        assert answer.status == 403 and set(answer.json) == {"jsonrpc", "id", "error"}
        assert raw.folder.path not in answer.body.decode() and "the-token" not in answer.body.decode()
    assert raw.call("read_file", path=path)["structuredContent"]["error"]["code"] == "not_found"


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_token_that_is_wrong_is_said_to_be_wrong(raw, method):
    """The message does not mention a browser's cookie, which is unknown to a client."""
    answer = raw.folder.server.ask(method, "/mcp", request("ping"), headers=raw.headers, token="wrong")
    said = answer.json["error"]["message"]
    assert said.startswith("the token is not valid here (not modified). It is wrong, expired or revoked")
    without = raw.folder.server.ask(method, "/mcp", request("ping"), headers=raw.headers, token=None)
    assert "Send the server's token" in without.json["error"]["message"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_another_origin_is_refused_even_with_the_token(raw, origin):
    answer = raw.post(request("ping"), Origin=origin)
    assert (answer.status, answer.json["error"]["code"]) == (403, -32600)
    assert "allow_origin" in answer.json["error"]["message"]
    assert raw.post(introduction(), Origin=f"http://127.0.0.1:{raw.folder.server.port}").status == 200


async def test_an_origin_that_jupyter_allows_is_let_in(post, ask, jp_serverapp):
    jp_serverapp.web_app.settings["allow_origin"] = "https://friend.example"
    assert (await post(introduction(), Origin="https://friend.example")).status == 200
    answer = await post(request("ping"), Origin="https://friend.example")
    assert answer.status == 200 and answer.headers["access-control-expose-headers"] == "Mcp-Session-Id"
    assert (await post(request("ping"), Origin="https://evil.example")).status == 403
    asked = await ask("OPTIONS", "/mcp")
    assert "mcp-session-id, mcp-protocol-version" in asked.headers["access-control-allow-headers"]


class OnlyReading(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return action == "read" and resource == "contents"


async def test_who_may_only_read_calls_only_the_tools_that_read(post, jp_serverapp, jp_root_dir):
    jp_serverapp.web_app.settings["authorizer"] = OnlyReading(parent=jp_serverapp)
    (jp_root_dir / "a.txt").write_text("one\n")
    await post(introduction())
    assert (await post(tool_call("read_file", path="a.txt"))).status == 200
    for message in (tool_call("write_file", path="b.txt", content="x"), tool_call("execute", command="true")):
        for answer in ((await post(message)).json, (await post([message])).json[0]):
            said = answer["result"]["content"][0]["text"]
            assert answer["result"]["isError"] and said.startswith("denied: ")
            assert "not modified" in said and "does not let you" in said
    assert [file.name for file in jp_root_dir.iterdir()] == ["a.txt"]


async def test_nothing_at_all_is_answered_to_who_may_not_read(post, jp_serverapp):
    jp_serverapp.web_app.settings["authorizer"] = type(
        "Nobody", (Authorizer,), {"is_authorized": lambda *asked: False}
    )(parent=jp_serverapp)
    assert (await post(introduction())).status == 403


@pytest.mark.parametrize("settings", [{"approval": "always", "structured_content": True}], indirect=True)
async def test_a_change_that_waits_says_who_decides_and_how_to_learn_the_outcome(call, post, ask, jp_root_dir):
    result = await call("write_file", path="a.txt", content="x\n")
    data = result["structuredContent"]
    assert result["isError"] is False and data["status"] == "proposed" and not (jp_root_dir / "a.txt").exists()
    said = result["content"][1]["text"]
    assert data["waiting"] == said
    assert f"A person decides about change {data['change_id']} in JupyterLab's File tools panel" in said
    assert "read a.txt again once a later answer says that it was approved" in said and "api/" not in said
    tools = (await post(request("tools/list"))).json["result"]["tools"]
    assert not any("approve" in tool["name"] or "reject" in tool["name"] for tool in tools)
    assert (await ask("POST", f"/changes/{data['change_id']}/approve", b"")).status == 200
    assert (jp_root_dir / "a.txt").read_text() == "x\n"


@pytest.mark.parametrize("settings", [{"approval": "always"}], indirect=True)
@pytest.mark.parametrize("refused", [False, True], ids=["an answer", "a refusal"])
async def test_the_next_message_tells_a_rejection_with_its_reason(call, post, ask, refused):
    waiting = await call("write_file", path="a.txt", content="x\n")
    change = waiting["content"][-1]["text"].split()[5]
    assert (await ask("POST", f"/changes/{change}/reject", b'{"reason": "not here"}')).status == 200
    result = await call("read_file", path="a.txt") if refused else await call("list_files")
    assert result["isError"] is refused
    assert 'was rejected; nothing of it was written. The person says: "not here"' in result["content"][-1]["text"]
    assert "not here" not in str(await call("list_files"))


@pytest.mark.parametrize("settings", [{"read_only": True, "tool_prefix": "fs_"}], indirect=True)
async def test_where_it_is_read_only_no_tool_writes_and_names_have_their_prefix(call, post):
    assert (await call("fs_list_files"))["isError"] is False
    tools = (await post(request("tools/list"))).json["result"]["tools"]
    names = {tool["name"] for tool in tools}
    assert "fs_read_file" in names and all(name.startswith("fs_") for name in names)
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)
    assert next(tool for tool in tools if tool["name"] == "fs_glob")["description"].endswith("files use fs_grep.")
    missing = await call("fs_read_file", path="read_file")
    assert "'read_file' does not exist" in missing["content"][0]["text"]
    assert "with `fs_list_files`" in missing["content"][0]["text"]
    refused = await call("fs_write_file", path="a.txt", content="x")
    assert refused["content"][0]["text"].startswith("disabled: ")


def test_schemas_are_what_clients_take(raw):
    """Objects at the top, as the protocol has it, and JSON Schema throughout."""
    tools = raw.post(request("tools/list")).json["result"]["tools"]
    for tool in tools:
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])


async def test_by_default_answers_are_content_alone_and_the_list_of_tools_is_short(post, call, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    for result in (await call("read_file", path="a.txt"), await call("read_file", path="b.txt")):
        assert set(result) == {"content", "isError"}
    listed = (await post(request("tools/list"))).json["result"]
    assert len(listed["tools"]) == 9 and len(json.dumps(listed, separators=(",", ":")).encode()) <= 12_000
    assert not any("outputSchema" in tool for tool in listed["tools"])
    assert "anyOf" not in json.dumps(listed) and "null" not in json.dumps(listed)


def test_an_address_may_end_with_a_slash(raw, folder):
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = folder.server.post("/mcp/", ping, headers=raw.headers)
    assert (answer.status, answer.json["result"]) == (200, {})
