"""A server that goes, and one that comes back, while a client is connected."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from mcp import MCPError

from tests.command_line.test_finding import write_runtime_file

pytestmark = pytest.mark.slow


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def failure(call):
    try:
        await call
    except MCPError as error:
        return error.error.message
    raise AssertionError("the call was answered")


def test_a_call_without_a_server_fails_and_the_next_one_finds_the_new_server(home):
    (home.files / "a.txt").write_text("x\n")
    edit = {"path": "a.txt", "old_string": "x", "new_string": "y"}

    async def script(session):
        await session.call_tool("read_file", {"path": "a.txt"})
        first.stop()
        lost = await failure(session.call_tool("list_files", {}))
        with home.server(home.files):
            return lost, await session.call_tool("edit_file", edit)

    with home.server(home.files) as first:
        lost, edited = home.talk(script)
    assert "no Jupyter server runs" in lost
    assert "Start one" in lost
    assert not edited.is_error, text_of(edited)


def test_a_server_that_never_knew_the_session_gets_it_begun_anew(home):
    (home.files / "a.txt").write_text("x\n")

    async def script(session):
        await session.call_tool("read_file", {"path": "a.txt"})
        first.stop()
        (home.runtime / "jupyter_cookie_secret").unlink()
        with home.server(home.files):
            calls = [session.call_tool("list_files", {}) for _ in range(4)]
            return [await call for call in calls]

    with home.server(home.files) as first:
        answers = home.talk(script)
    assert [text_of(answer) for answer in answers] == ["a.txt\t2"] * 4


class HalfAnswer(BaseHTTPRequestHandler):
    """Has the tools, begins a session, and falls silent in the middle of every later answer."""

    def do_GET(self):
        self.say(b'{"tools": []}')

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["method"] == "tools/call" and self.server.streams:
            self.say(b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\ndata: ', kind="text/event-stream")
        elif asked["method"] == "tools/call":
            self.say(b'{"jsonrpc":', length=1000)
        else:
            about = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
            self.say(json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": about}).encode())

    def say(self, body, length=None, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.mark.parametrize("streams", [False, True])
def test_a_connection_lost_in_the_middle_of_an_answer_is_an_error_and_nothing_is_sent_twice(home, streams):
    with HTTPServer(("127.0.0.1", 0), HalfAnswer) as server:
        server.streams = streams
        threading.Thread(target=server.serve_forever, daemon=True).start()
        write_runtime_file(home, 1, url=f"http://127.0.0.1:{server.server_port}/")
        lost = home.talk(lambda session: failure(session.call_tool("undo", {"path": "a.txt"})))
        server.shutdown()
    assert "It may have been carried out: check first" in lost
