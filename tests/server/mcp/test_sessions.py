"""A session of the protocol is a reader of its own, unless the client's configuration names another."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request

import pytest

from jupyter_fstools.server.mcp.sessions import McpSessions
from tests.mcp_client import connected, introduction, request, talk, tool_call
from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow


def test_two_sessions_are_two_readers(folder, shared_server):
    path = folder.write("a.txt", b"one\n")
    edit = {"path": path, "old_string": "one", "new_string": "1"}
    url = f"http://127.0.0.1:{shared_server.port}/api/fstools/mcp"

    async def script():
        async with connected(url, "the-token") as first, connected(url, "the-token") as second:
            await first.call_tool("read_file", {"path": path})
            refused = await second.call_tool("edit_file", edit)
            return refused, await first.call_tool("edit_file", edit)

    refused, edited = asyncio.run(script())
    assert refused.structured_content["error"]["code"] == "not_read"
    assert edited.structured_content["status"] == "applied" and folder.read("a.txt") == b"1\n"


def test_in_a_session_that_is_named_mcp_rest_and_the_magic_are_one_reader(tmp_path):
    """Text shown to one of them may be edited by the others, and by no other reader."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    server = RunningServer(root)
    url = f"{server.url}/mcp"

    def edit(old, new, **headers):
        call = {"path": "a.py", "old_string": f"x = {old}", "new_string": f"x = {new}"}
        return talk(url, server.token, lambda session: session.call_tool("edit_file", call), **headers)

    try:
        server.wait()
        assert server.call("POST", "/tools/read_file", {"path": "a.py"}, "pair")[0] == 200
        assert edit(1, 2).is_error
        assert not edit(1, 2, **{"X-Fstools-Session": "pair"}).is_error
        with running_kernel(root) as kernel:
            assert "not_read" in run_cell(kernel, '%fs edit a.py --old "x = 2" --new "x = 3"')
            assert "Edited" in run_cell(kernel, '%fs session pair\n%fs edit a.py --old "x = 2" --new "x = 3"')
        assert not edit(3, 4, **{"X-Fstools-Session": "pair"}).is_error
        body = {"path": "a.py", "old_string": "x = 4", "new_string": "x = 5"}
        assert server.call("POST", "/tools/edit_file", body, "pair")[0] == 200
    finally:
        server.stop()
    assert (root / "a.py").read_text() == "x = 5\n"


def test_a_session_and_what_it_read_survive_a_restart_of_the_server(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    headers = {}
    for message in (introduction(), tool_call("read_file", path="a.txt")):
        headers |= posted_to_a_new_server(root, message, headers)[1]
    edit = tool_call("edit_file", path="a.txt", old_string="one", new_string="1")
    assert posted_to_a_new_server(root, edit, headers)[0]["result"]["content"][0]["text"].startswith("Edited a.txt")


def posted_to_a_new_server(root, message, headers):
    server = RunningServer(root)
    try:
        server.wait()
        sent = {"Authorization": f"token {server.token}", **headers}
        asked = urllib.request.Request(f"{server.url}/mcp", json.dumps(message).encode(), sent)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            given = answer.headers["Mcp-Session-Id"]
            return json.load(answer), {"Mcp-Session-Id": given} if given else {}
    finally:
        server.stop()


def test_an_ended_session_is_unknown_and_what_it_read_forgotten(raw):
    path = raw.folder.write("a.txt", b"one\n")
    raw.call("read_file", path=path)
    session = raw.headers["Mcp-Session-Id"].partition(".")[0]
    server = raw.folder.server
    assert server.get("/receipts", session=session).json["receipts"]
    ended = server.ask("DELETE", "/mcp", headers=raw.headers)
    assert (ended.status, ended.body) == (204, b"")
    assert server.get("/receipts", session=session).json["receipts"] == []
    answer = raw.post(request("ping"))
    assert (answer.status, answer.json["error"]["data"]["code"]) == (404, "not_found")
    assert server.ask("DELETE", "/mcp", headers=raw.headers).status == 404


@pytest.mark.parametrize("session", ["mcp-0123456789abcdef", "mcp-0123456789abcdef.00", "x" * 5000, "\xe9", "."])
def test_a_session_that_was_not_given_is_unknown(raw, session):
    answer = raw.post(request("ping"), **{"Mcp-Session-Id": session})
    assert answer.status == 404 and "initialize" in answer.json["error"]["message"]


def test_without_a_session_nothing_is_answered_but_its_beginning(folder):
    answer = folder.server.post("/mcp", request("tools/list"))
    assert answer.status == 400 and "Mcp-Session-Id is missing" in answer.json["error"]["message"]
    named = folder.server.post("/mcp", request("tools/list"), session="mine")
    assert named.status == 200 and named.json["result"]["tools"]


def test_a_session_is_of_one_user_and_of_one_server():
    ours, theirs = McpSessions(b"secret"), McpSessions(b"another")
    id = ours.begin("ada", "Test")
    assert ours.session(id, "ada") == McpSessions(b"secret").session(id, "ada") == id.partition(".")[0]
    assert ours.session(id, "eve") is None and theirs.session(id, "ada") is None


def test_request_ids_belong_to_a_session(raw):
    """One session cannot cancel another's call, nor its own answered one."""
    other = type(raw)(raw.folder)
    other.begin()
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert other.post(cancelled).status == raw.post(cancelled).status == 202
    assert raw.call("list_files", path=raw.folder.name)["isError"] is False


def test_a_new_conversation_of_one_assistant_is_shown_again_what_another_has_read(raw):
    """A token's session outlasts a conversation: its receipts count in the next one, which has not seen the text."""
    path = raw.folder.write("a.txt", b"one\n")
    token = raw.folder.server.post("/tokens", {"name": "ada"}).json["token"]
    first, second = type(raw)(raw.folder), type(raw)(raw.folder)
    for conversation in (first, second):
        conversation.headers = {"Authorization": f"token {token}"}
        given = conversation.post(introduction()).headers["mcp-session-id"]
        conversation.headers["Mcp-Session-Id"] = given

    def read(conversation):
        return conversation.call("read_file", path=path)["content"][0]["text"]

    assert "1\tone" in read(first) and "unchanged" in read(first)
    edited = second.call("edit_file", path=path, old_string="two", new_string="2")
    assert edited["content"][0]["text"].startswith("no_match")
    assert "1\tone" in read(second) and "unchanged" in read(second)
    assert "unchanged" in read(first)


@pytest.mark.parametrize("name", ["claude-code", "codex-mcp-client", "gemini-cli-mcp-client"])
def test_an_answer_has_no_more_than_its_client_shows_and_the_receipt_says_so(raw, name):
    raw.begin(name=name)
    text = "".join(f"line {number} of a long text\n" for number in range(1900))
    path = raw.folder.write("a.txt", text.encode())
    shown, note = (block["text"] for block in raw.call("read_file", path=path)["content"])
    last = int(note.partition("Lines 1-")[2].partition(" ")[0])
    assert len(shown) < 40_000 and last < 1900
    assert f"\n{last}\tline {last - 1} of" in shown and f"offset={last + 1}." in note
    refused = raw.call("write_file", path=path, content="")
    assert refused["isError"] and refused["content"][0]["text"].startswith("not_read")
    raw.call("read_file", path=path, offset=last + 1)
    assert not raw.call("write_file", path=path, content="")["isError"]


@pytest.mark.parametrize("tool, arguments", [("list_files", {}), ("glob", {"pattern": "*"})])
def test_a_list_that_its_client_would_cut_is_paged(raw, tool, arguments):
    for number in range(200):
        raw.folder.write(f"{number:03}{'-' * 200}", b"")
    raw.begin(name="claude-code")
    names, offset = [], 0
    while offset is not None:
        rows, *notes = raw.call(tool, path=raw.folder.name, limit=1000, offset=offset, **arguments)["content"]
        assert len(rows["text"]) <= 28 << 10
        names += [row.rpartition("/")[2][:3] for row in rows["text"].splitlines()]
        following = re.search(r"offset=(\d+)", notes[0]["text"]) if notes else None
        offset = int(following[1]) if following else None
    assert sorted(names) == [f"{number:03}" for number in range(200)]


SHORT_LINES = "".join(f"{number % 7}\n" for number in range(12_000))
LONG_CELLS = [
    {"cell_type": "code", "id": f"c{number}", "metadata": {}, "execution_count": None, "source": "日本語\n" * 90,
     "outputs": [{"output_type": "stream", "name": "stdout", "text": SHORT_LINES}]}
    for number in range(90)
]  # fmt: skip


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("read_file", {"path": "short.txt", "limit": 12_000}),
        ("read_file", {"path": "long.txt", "limit": 12_000}),
        ("read_notebook", {"path": "book.ipynb"}),
        ("read_notebook", {"path": "book.ipynb", "cell_id": "c1", "output_index": 0}),
        ("grep", {"pattern": "^[0-9]", "path": "short.txt", "limit": 10_000}),
        ("grep", {"pattern": "hit", "path": "long.txt"}),
        ("grep", {"pattern": "last", "path": "around.txt", "before_lines": 20_000}),
        ("grep", {"pattern": "日", "path": "book.ipynb", "limit": 10_000}),
        ("grep", {"pattern": "named", "path": ".", "output_mode": "files", "limit": 10_000}),
        ("grep", {"pattern": "named", "path": ".", "output_mode": "count", "limit": 10_000}),
    ],
)
def test_no_answer_has_more_bytes_than_its_client_shows(raw, tool, arguments):
    """Numbers, headings and notes around the rows are included."""
    book = {"cells": LONG_CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    raw.folder.write("short.txt", SHORT_LINES.encode())
    raw.folder.write("long.txt", f"hit {'日本語' * 120}\n".encode() * 500)
    raw.folder.write("around.txt", f"{SHORT_LINES}last\n".encode())
    raw.folder.write("book.ipynb", json.dumps(book).encode())
    for number in range(200):
        raw.folder.write(f"{number:03}{'-' * 200}", b"named\n")
    raw.begin(name="claude-code")
    answer = raw.call(tool, **arguments | {"path": f"{raw.folder.name}/{arguments['path']}"})
    shown = sum(len(block["text"].encode()) for block in answer["content"])
    assert not answer["isError"] and 20 << 10 < shown <= 28 << 10


def test_other_clients_get_long_answers_whole(raw):
    text = "".join(f"line {number} of a long text\n" for number in range(1900))
    path = raw.folder.write("a.txt", text.encode())
    (shown,) = raw.call("read_file", path=path)["content"]
    assert "\n1900\tline 1899 of" in shown["text"]
