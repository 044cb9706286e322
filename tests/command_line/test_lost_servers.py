"""A server that stops, and one that comes back, while a client is connected."""

from __future__ import annotations

import io
import json
import os
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from mcp import MCPError

from jupyter_fstools.client.runtime_files import JupyterServer
from jupyter_fstools.command_line import bridge as bridge_module
from jupyter_fstools.command_line.bridge import Bridge
from tests.command_line.test_bridge import lines
from tests.command_line.test_finding import write_runtime_file
from tests.mcp_client import introduction, tool_call

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


@pytest.mark.parametrize("message", [introduction(), {"jsonrpc": "2.0", "method": "notifications/initialized"}])
def test_a_client_that_says_no_more_leaves_no_bridge_behind_at_a_server_that_hangs(monkeypatch, message):
    for name in ("_FORWARD_SECONDS", "_GRACE_SECONDS"):
        monkeypatch.setattr(bridge_module, name, 0.5)
    there = set(threading.enumerate())
    with open(os.devnull, "wb", buffering=0) as nowhere:
        with socket.create_server(("127.0.0.1", 0)) as hanging:
            server = JupyterServer(f"http://127.0.0.1:{hanging.getsockname()[1]}/", "/", "t", 1, 0)
            given = io.BytesIO(lines(message))
            running = threading.Thread(target=Bridge(lambda: server, None, given, nowhere).run, daemon=True)
            running.start()
            running.join(20)
            ended = not running.is_alive()
        for thread in set(threading.enumerate()) - there:
            thread.join(20)
    assert ended


class Imitation(BaseHTTPRequestHandler):
    """Has the tools and begins sessions; calls of tools are answered by the `answer` of its server."""

    def do_GET(self):
        self.say(b'{"tools": []}')

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.is_away:
            self.say(b"<html>Not found</html>", kind="text/html", status=404)
        elif isinstance(asked, list) or asked["method"] == "tools/call":
            self.server.answer(self, asked)
        else:
            about = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
            self.say(json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": about}).encode())

    def say(self, body, length=None, kind="application/json", status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if kind != "text/html":
            self.send_header("Mcp-Session-Id", "mcp-x")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextmanager
def imitation(home, answer):
    """A server that looks like ours."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Imitation) as server:
        server.answer, server.is_away = answer, False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        write_runtime_file(home, 1, url=f"http://127.0.0.1:{server.server_port}/")
        yield server
        server.shutdown()


def half_an_event(handler, asked):
    handler.say(b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\ndata: ', kind="text/event-stream")


def half_an_answer(handler, asked):
    handler.say(b'{"jsonrpc":', length=1000)


@pytest.mark.parametrize("answer", [half_an_answer, half_an_event])
def test_a_connection_lost_in_the_middle_of_an_answer_is_an_error_and_nothing_is_sent_twice(home, answer):
    with imitation(home, answer):
        lost = home.talk(lambda session: failure(session.call_tool("undo", {"path": "a.txt"})))
    assert "It may have been carried out: check first" in lost


FOREIGN = [
    (200, "text/html", b"<html>\n<title>Sign in</title>\n</html>"),
    (302, "text/html", b"<html>"),
    (200, "application/json", b""),
    (204, "application/json", b""),
    (200, "application/json", b"[" * 100_000),
    (200, "application/json", b'{"jsonrpc": "2.0", "id": 99, "result": {}}'),
    (200, "application/json", b'{"jsonrpc": "2.0", "result": {}}'),
    (200, "application/json", b'[{"jsonrpc": "2.0", "id": 8, "result": {}}]'),
    (200, "text/event-stream", b"data: tick\n\ndata: tock\n\n"),
    (500, "text/event-stream", b"data: tick\n\n"),
    (502, "text/html", b"<html>Bad gateway</html>"),
]


def test_what_another_program_answers_is_an_error_of_each_call(home):
    def answer(handler, asked):
        status, kind, body = FOREIGN[asked["id"]]
        handler.say(body, kind=kind, status=status)

    calls = [tool_call("undo", id=number) for number in range(len(FOREIGN))]
    with imitation(home, answer):
        ran = home.run("mcp", given=lines({**introduction(), "id": "begin"}, *calls))
    answers = {told["id"]: told for told in map(json.loads, ran.out.splitlines())}
    assert "result" in answers.pop("begin")
    said = [answers[number]["error"]["message"] for number in range(len(FOREIGN))]
    assert len(answers) == len(FOREIGN)
    assert "status 200: <html> <title>Sign in</title> </html>" in said[0]
    assert "status 302" in said[1] and "status 502: <html>Bad gateway</html>" in said[-1]
    assert all("jupyter server list" in message for message in said)
    assert ran.err == ""


BATCH_FAILURES = {
    "lost": lambda handler, asked: None,
    "foreign": lambda handler, asked: handler.say(b"<html>"),
    "incomplete": lambda handler, asked: handler.say(b'[{"jsonrpc": "2.0", "id": 7, "result": {}}]'),
    "refused": lambda handler, asked: handler.say(
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "one by one"}}', status=400
    ),
}


@pytest.mark.parametrize("answer", BATCH_FAILURES.values(), ids=BATCH_FAILURES)
def test_each_request_of_a_batch_that_fails_is_answered(home, answer):
    batch = [tool_call("undo", id=7), {"jsonrpc": "2.0", "method": "notifications/x"}, tool_call("undo", id="b")]
    with imitation(home, answer):
        ran = home.run("mcp", given=lines(introduction(), batch))
    answers = [json.loads(line) for line in ran.out.splitlines()]
    batches = [told for told in answers if isinstance(told, list)]
    assert [[(told["id"], "error" in told) for told in one] for one in batches] == [[(7, True), ("b", True)]]
    assert (len(answers), ran.err) == (2, "")


def test_a_session_goes_on_after_a_proxy_answered_for_its_server(home):
    def answer(handler, asked):
        told = {"result": {"session": handler.headers["Mcp-Session-Id"]}}
        handler.say(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}).encode())

    with imitation(home, answer) as server, home.start("mcp") as bridge:

        def answered(message):
            bridge.stdin.write(lines(message))
            bridge.stdin.flush()
            return json.loads(bridge.stdout.readline())

        answered(introduction())
        server.is_away = True
        assert "status 404" in answered(tool_call("undo"))["error"]["message"]
        server.is_away = False
        assert answered(tool_call("undo")).get("result") == {"session": "mcp-x"}
        bridge.stdin.close()


def test_a_server_is_looked_for_again_after_another_program_answered_at_its_address(home):
    def foreign(handler, asked):
        handler.say(b"<html>", kind="text/html")

    def answer(handler, asked):
        handler.say(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).encode())

    with imitation(home, foreign), home.start("mcp") as bridge:
        bridge.stdin.write(lines(introduction(), tool_call("undo", 2)))
        bridge.stdin.flush()
        assert [("error" in json.loads(bridge.stdout.readline())) for _ in range(2)] == [False, True]
        with imitation(home, answer):
            bridge.stdin.write(lines(tool_call("undo", 3)))
            bridge.stdin.flush()
            assert json.loads(bridge.stdout.readline()) == {"jsonrpc": "2.0", "id": 3, "result": {}}
            bridge.stdin.close()
            bridge.wait(20)


def test_calls_behind_a_beginning_that_takes_long_are_answered_after_the_client_s_last(home, monkeypatch, tmp_path):
    monkeypatch.setattr(bridge_module, "_GRACE_SECONDS", 1.0)

    def answer(handler, asked):
        handler.say(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}).encode())

    def begins_late(handler, *given, say=Imitation.say, **more):
        time.sleep(2 if b"serverInfo" in given[0] else 0)
        say(handler, *given, **more)

    monkeypatch.setattr(Imitation, "say", begins_late)
    with imitation(home, answer) as server, (tmp_path / "out").open("wb", buffering=0) as out:
        found = JupyterServer(f"http://127.0.0.1:{server.server_port}/", "/", "t", 1, 0)
        Bridge(lambda: found, None, io.BytesIO(lines(introduction(), tool_call("undo", 2))), out).run()
    assert [json.loads(line)["id"] for line in (tmp_path / "out").read_bytes().splitlines()] == [1, 2]
