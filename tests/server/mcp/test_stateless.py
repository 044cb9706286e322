"""The revision without sessions: each request carries the facts of the former handshake."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp_client import introduction, request, tool_call

pytestmark = pytest.mark.slow

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"


def stateless(message, client="test", **meta):
    params = dict(message.get("params") or {})
    info = {META + "clientInfo": {"name": client, "version": "1"}} if client else {}
    params["_meta"] = {META + "protocolVersion": VERSION, META + "clientCapabilities": {}, **info, **meta}
    return message | {"params": params}


def headers_of(message):
    named = {"Mcp-Name": message["params"]["name"]} if message["method"] == "tools/call" else {}
    return {"MCP-Protocol-Version": VERSION, "Mcp-Method": message["method"], **named}


@pytest.fixture
def post(folder):
    def post(message, client="test", **headers):
        message = stateless(message, client)
        return folder.server.post("/mcp", message, headers=headers_of(message) | headers)

    return post


def test_discover_tells_the_revisions_and_instructions(post):
    answer = post(request("server/discover"))
    told = answer.json["result"]
    assert answer.status == 200 and "mcp-session-id" not in answer.headers
    assert VERSION in told["supportedVersions"] and "2025-11-25" in told["supportedVersions"]
    assert told["resultType"] == "complete" and told["capabilities"] == {"tools": {"listChanged": False}}
    assert told["_meta"][META + "serverInfo"]["name"] == "jupyter-fstools" and "read" in told["instructions"]


def test_the_list_of_tools_says_how_long_it_holds(post):
    told = post(request("tools/list")).json["result"]
    assert told["tools"] and (told["cacheScope"], told["resultType"]) == ("private", "complete") and told["ttlMs"] > 0


@pytest.mark.parametrize("method", ["initialize", "ping", "tools/run"])
def test_a_method_of_sessions_is_not_found(post, method):
    answer = post(request(method))
    assert (answer.status, answer.json["error"]["code"]) == (404, -32601)
    assert "server/discover" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"Mcp-Method": "tools/list"}, "Mcp-Method"),
        ({"Mcp-Name": "write_file"}, "Mcp-Name"),
        ({"MCP-Protocol-Version": "2025-11-25"}, "MCP-Protocol-Version"),
    ],
)
def test_a_header_that_contradicts_the_body_is_refused(post, changed, named):
    answer = post(tool_call("list_files"), **changed)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020) and named in answer.json["error"]["message"]


def test_a_request_without_its_envelope_is_refused(folder):
    answer = folder.server.post("/mcp", request("tools/list"), headers=headers_of(request("tools/list")))
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)
    assert META + "protocolVersion" in answer.json["error"]["message"]


def test_wrong_parameters_and_batches_are_bad_requests(post, folder):
    assert post(request("tools/list", {"cursor": "x"})).status == 400
    batch = [stateless(request("tools/list"))]
    assert folder.server.post("/mcp", batch, headers=headers_of(batch[0])).status == 400


def test_a_name_that_is_no_ascii_is_compared_decoded(post):
    answer = post(tool_call("läse"), **{"Mcp-Name": "=?base64?bMOkc2U=?="})
    assert "there is no tool" in answer.json["error"]["message"]


def test_calls_of_one_client_share_what_they_read_and_others_do_not(post, folder):
    path = folder.write("a.txt", b"one\n")
    edit = tool_call("edit_file", path=path, old_string="one", new_string="1")
    assert not post(tool_call("read_file", path=path), "Reader One").json["result"]["isError"]
    assert post(edit, "another").json["result"]["isError"]
    assert post(edit, "Reader One", **{"X-Fstools-Session": "mine"}).json["result"]["isError"]
    done = post(edit, "Reader One").json["result"]
    assert not done["isError"] and done["resultType"] == "complete" and folder.read("a.txt") == b"1\n"


def test_a_notification_is_taken_and_nothing_else_is_said(folder):
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    answer = folder.server.post("/mcp", message, headers={"MCP-Protocol-Version": VERSION})
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize("mode", ["auto", VERSION, "legacy"])
def test_the_official_client_speaks_either_revision(folder, shared_server, mode):
    path = folder.write("a.txt", b"one\n")
    url = f"http://127.0.0.1:{shared_server.port}/api/fstools/mcp"

    async def script():
        async with (
            httpx2.AsyncClient(headers={"Authorization": "token the-token"}, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            assert len((await client.list_tools()).tools) == 9
            edit = {"path": path, "old_string": "one", "new_string": "1"}
            refused = await client.call_tool("edit_file", edit)
            assert refused.is_error and "not_read" in refused.content[0].text
            await client.call_tool("read_file", {"path": path})
            assert not (await client.call_tool("edit_file", edit)).is_error
            return client.protocol_version

    assert asyncio.run(script()) == ("2025-11-25" if mode == "legacy" else VERSION)
    assert folder.read("a.txt") == b"1\n"


def begun(folder):
    return {"Mcp-Session-Id": folder.server.post("/mcp", introduction()).headers["mcp-session-id"]}


def test_a_client_that_may_open_a_session_for_every_call_is_told_what_to_do(folder):
    path = folder.write("a.txt", b"one\n")
    edit = tool_call("edit_file", path=path, old_string="one", new_string="1")
    first = folder.server.post("/mcp", edit, headers=begun(folder)).json["result"]["content"][0]["text"]
    assert "Read the file" in first
    folder.server.post("/mcp", tool_call("read_file", path=path), headers=begun(folder))
    again = folder.server.post("/mcp", edit, headers=begun(folder)).json["result"]["content"][0]["text"]
    assert "opens a session for every call" in again and "X-Fstools-Session" in again
    conversation = begun(folder)
    assert (
        "Read the file" in folder.server.post("/mcp", edit, headers=conversation).json["result"]["content"][0]["text"]
    )
    folder.server.post("/mcp", tool_call("read_file", path=path), headers=conversation)
    assert not folder.server.post("/mcp", edit, headers=conversation).json["result"].get("isError")
    edit = tool_call("edit_file", path=path, old_string="1", new_string="one")
    used = begun(folder)
    folder.server.post("/mcp", tool_call("read_file", path=folder.write("b.txt", b"b\n")), headers=used)
    other = folder.server.post("/mcp", edit, headers=used).json["result"]["content"][0]["text"]
    assert "opens a session for every call" not in other


def test_a_token_names_the_session_of_calls_in_sessions_of_their_own(folder):
    path = folder.write("a.txt", b"one\n")
    token = folder.server.post("/tokens", {"name": "per-call"}).json["token"]
    for message in (
        tool_call("read_file", path=path),
        tool_call("edit_file", path=path, old_string="one", new_string="1"),
    ):
        headers = {"Authorization": f"Bearer {token}"}
        headers["Mcp-Session-Id"] = folder.server.post("/mcp", introduction(), headers=headers).headers[
            "mcp-session-id"
        ]
        assert not folder.server.post("/mcp", message, headers=headers).json["result"]["isError"]
    assert folder.read("a.txt") == b"1\n"
