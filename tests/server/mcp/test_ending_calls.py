"""Calls end when their clients are gone, and bad calls leave nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path

import psutil
import pytest

from jupyter_fstools.search.ripgrep.process import newest_ripgrep
from tests.mcp_client import introduction, request, tool_call
from tests.slow_ripgrep import SlowRipgrep, something_to_search

pytestmark = pytest.mark.slow

TOKEN = "the-token"


@pytest.fixture
def slow_ripgrep(tmp_path, monkeypatch):
    slow = SlowRipgrep(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(slow.folder), prepend=":")
    newest_ripgrep.cache_clear()
    yield slow
    newest_ripgrep.cache_clear()


@pytest.mark.parametrize("batch", [False, True])
async def test_a_cancelled_call_ends(slow_ripgrep, post, jp_root_dir, batch):
    something_to_search(jp_root_dir)
    await post(introduction())
    search = tool_call("grep", "search", pattern="nowhere")
    searching = asyncio.ensure_future(post([search, request("ping", id=2)] if batch else search))
    await asyncio.to_thread(slow_ripgrep.wait)
    await post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "another"}})
    assert slow_ripgrep.runs
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "search"}}
    assert (await post(cancelled)).status == 202
    answers = (await searching).json
    assert "search was cancelled" in str(answers[0] if batch else answers)
    assert not slow_ripgrep.runs and (not batch or answers[1]["result"] == {})


async def test_the_call_of_a_client_that_goes_away_ends(slow_ripgrep, post, jp_serverapp, jp_root_dir, jp_http_port):
    something_to_search(jp_root_dir)
    session = (await post(introduction())).headers["mcp-session-id"]
    body = json.dumps(tool_call("grep", pattern="nowhere"))
    token = jp_serverapp.identity_provider.token
    _, client = await asyncio.open_connection("127.0.0.1", jp_http_port)
    head = f"POST {jp_serverapp.base_url}api/fstools/mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\n"
    head += f"Authorization: token {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    client.write((head + body).encode())
    await asyncio.to_thread(slow_ripgrep.wait)
    client.close()
    await asyncio.to_thread(slow_ripgrep.wait_for_end)


async def test_a_session_that_ends_ends_its_calls(slow_ripgrep, post, ask, jp_auth_header, jp_root_dir):
    something_to_search(jp_root_dir)
    session = (await post(introduction())).headers["mcp-session-id"]
    searching = asyncio.ensure_future(post(tool_call("grep", pattern="nowhere")))
    await asyncio.to_thread(slow_ripgrep.wait)
    assert (await ask("DELETE", "/mcp", headers={**jp_auth_header, "Mcp-Session-Id": session})).status == 204
    assert "search was cancelled" in str((await searching).json)


@pytest.mark.parametrize("ends", ["its cancellation", "the session's end"])
async def test_a_request_that_waits_for_its_batch_s_earlier_ones_ends_too(
    slow_ripgrep, post, ask, jp_auth_header, jp_root_dir, ends
):
    something_to_search(jp_root_dir)
    session = (await post(introduction())).headers["mcp-session-id"]
    calls = [tool_call("grep", "search", pattern="nowhere"), tool_call("write_file", "write", path="new", content="")]
    answering = asyncio.ensure_future(post(calls))
    await asyncio.to_thread(slow_ripgrep.wait)
    if ends == "the session's end":
        assert (await ask("DELETE", "/mcp", headers={**jp_auth_header, "Mcp-Session-Id": session})).status == 204
    else:
        for id in ("write", "search"):
            await post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
    search, write = (await answering).json
    assert "search was cancelled" in str(search)
    assert write["result"]["isError"] and "not modified" in str(write)
    assert not (jp_root_dir / "new").exists()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts what /proc shows")
def test_a_thousand_bad_calls_leave_the_server_as_it_was(raw):
    server = raw.folder.server
    path = raw.folder.write("a.txt", b"one\n")
    bad_calls(raw, path, 200)
    before = held(server)
    bad_calls(raw, path, 1000)
    threads, files, memory = (now - then for now, then in zip(held(server), before, strict=True))
    assert threads <= 2 and files <= 2 and memory < 32 << 20
    assert raw.call("read_file", path=path)["structuredContent"]["content"] == "one\n"
    assert os.listdir(raw.folder.path) == ["a.txt"]


def bad_calls(raw, path, count):
    """Calls with a dozen faults, in turn; every tenth begins a session, and every twelfth disconnects in the middle."""
    edit = tool_call("edit_file", path=path, old_string="one", new_string="1")
    calls = [
        lambda: raw.post(b"{" * 1000),
        lambda: raw.post(request("no/such/method")),
        lambda: raw.post(tool_call("no_such_tool")),
        lambda: raw.post(tool_call("read_file", wrong=1)),
        lambda: raw.post(tool_call("read_file", path="../../etc/passwd")),
        lambda: raw.post(edit),
        lambda: raw.post(edit, **{"Mcp-Session-Id": "x"}),
        lambda: raw.post(edit, Origin="https://evil.example"),
        lambda: raw.post(edit, **{"MCP-Protocol-Version": "x"}),
        lambda: raw.post(introduction()),
        lambda: raw.folder.server.post("/mcp", edit, headers=raw.headers, token="wrong"),
        lambda: go_away(raw, edit),
    ]
    for number in range(count):
        calls[number % len(calls)]()


def go_away(raw, message):
    body = json.dumps(message)
    head = [
        "POST /api/fstools/mcp HTTP/1.1",
        "Host: localhost",
        f"Authorization: token {TOKEN}",
        f"Mcp-Session-Id: {raw.headers['Mcp-Session-Id']}",
        f"Content-Length: {2 * len(body)}",
    ]
    with socket.create_connection(("127.0.0.1", raw.folder.server.port)) as client:
        client.sendall("\r\n".join([*head, "", body]).encode())


def held(server):
    """Threads, open files and resident bytes of the server's process."""
    process = next(
        found.pid
        for found in psutil.net_connections("tcp")
        if found.laddr.port == server.port and found.status == "LISTEN"
    )
    told = psutil.Process(process)
    return told.num_threads(), told.num_fds(), told.memory_info().rss
