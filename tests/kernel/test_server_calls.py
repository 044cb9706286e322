"""Tools called over REST, on a real server and on ones that fail."""

from __future__ import annotations

import json
import select
import socket
import threading
from contextlib import contextmanager

import pytest

from jupyter_fstools.client.runtime_files import JupyterServer
from jupyter_fstools.errors import Denied, FsToolsError, InputOutput, Invalid, NotRead, OutsideRoot, Stale
from jupyter_fstools.kernel import server_calls
from jupyter_fstools.kernel.server_calls import ServerCalls
from tests.kernel.real_kernel import private_environment
from tests.processes import RunningServer

pytestmark = pytest.mark.slow

ANSWER = {"tool": "read_file", "content": [{"type": "text", "text": "1\tone"}], "data": {}, "change": None}


def server_at(url, token="t"):
    return JupyterServer(url, "", token, 0, 0)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    options = {"durable": False, "enable_execute": True, "execute_approval": False}
    given = (f"--FsToolsConfig.{name}={value}" for name, value in options.items())
    server = RunningServer(root, *given, environment=private_environment(tmp_path_factory.mktemp("home")))
    try:
        server.wait()
        yield server, root
    finally:
        server.stop()


@pytest.fixture
def calls(served):
    server, _ = served
    calls = ServerCalls(server_at(server.url.removesuffix("/api/fstools"), server.token))
    yield calls
    calls.close()


@contextmanager
def fake_server(*answers):
    """A server that gives each connection its answers (some with a status; None: it closes); keeps the requests."""
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            for on_one_connection in answers:
                connection, _ = listening.accept()
                with connection:
                    for answer in on_one_connection:
                        asked.append(request_of(connection))
                        if answer is None:
                            break
                        status, body = answer if isinstance(answer, tuple) else (200, answer)
                        head = f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\n\r\n"
                        connection.sendall(head.encode() + body)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", asked
        thread.join(30)


def request_of(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head.decode(), json.loads(body or b"null")


def test_a_result_is_the_one_of_the_tool(calls, served):
    (served[1] / "a.txt").write_text("one\ntwo\n")
    read = calls.call("read_file", {"path": "a.txt"}, session="ann")
    assert (read.tool, read.data["total_lines"]) == ("read_file", 2)
    edited = calls.call("edit_file", {"path": "a.txt", "old_string": "two", "new_string": "2"}, session="ann")
    assert (edited.change.status, edited.change.path, edited.change.diff.added) == ("applied", "a.txt", 1)
    assert (served[1] / "a.txt").read_text() == "one\n2\n"


def test_a_session_is_as_everywhere(calls, served):
    (served[1] / "b.txt").write_text("one\n")
    calls.call("read_file", {"path": "b.txt"}, session="ann")
    with pytest.raises(NotRead, match="not modified"):
        calls.call("edit_file", {"path": "b.txt", "old_string": "one", "new_string": "1"}, session="bob")


def test_a_refusal_is_raised_as_the_tool_raised_it(calls, served):
    (served[1] / "c.txt").write_text("one\n")
    calls.call("read_file", {"path": "c.txt"}, session="ann")
    (served[1] / "c.txt").write_text("other\n")
    with pytest.raises(Stale) as refused:
        calls.call("edit_file", {"path": "c.txt", "old_string": "one", "new_string": "1"}, session="ann")
    assert "+other" in refused.value.details["diff"]
    assert refused.value.hint
    with pytest.raises(OutsideRoot):
        calls.call("read_file", {"path": "../x"}, session="ann")


def test_what_a_command_prints_is_told_while_it_runs(calls):
    told = []
    result = calls.call("execute", {"command": "echo one; exit 3"}, session="ann", progress=told.append)
    assert "".join(one.text for one in told) == "one\n"
    assert result.data["exit_code"] == 3


def test_any_other_route_can_be_asked(calls):
    assert "read_file" in calls.ask("/", session="ann")["tools"]


def test_a_wrong_token_is_denied_and_not_shown(served):
    server, _ = served
    calls = ServerCalls(server_at(server.url.removesuffix("/api/fstools"), "secret-word"))
    with pytest.raises(Denied) as refused:
        calls.call("list_files", {}, session="ann")
    assert "secret-word" not in str(refused.value) + repr(calls.server)


def test_calls_share_one_connection():
    with fake_server([json.dumps(ANSWER).encode()] * 3) as (url, asked):
        calls = ServerCalls(server_at(url))
        for _ in range(3):
            assert calls.call("read_file", {"path": "a"}, session="ann").text == "1\tone"
        calls.close()
    assert len(asked) == 3
    assert all("X-Fstools-Session: ann" in head and "token t" in head for head, _ in asked)


@pytest.mark.parametrize("seen", [True, False])
def test_a_connection_that_was_closed_meanwhile_is_made_anew(monkeypatch, seen):
    """Closed before the call or while it is sent, when the server cannot have acted on it."""
    answer = json.dumps(ANSWER).encode()
    with fake_server([answer], [answer]) as (url, asked):
        calls = ServerCalls(server_at(url))
        calls.call("read_file", {"path": "a"}, session="ann")
        assert select.select([calls._connection.sock], [], [], 30)[0]
        if not seen:
            monkeypatch.setattr(server_calls, "_has_something_to_read", lambda sock: False)
        calls.call("write_file", {"path": "a", "content": ""}, session="ann")
        calls.close()
    assert len(asked) == 2


def test_a_call_that_reads_is_repeated_once_where_the_connection_broke():
    answer = json.dumps(ANSWER).encode()
    with fake_server([answer, None], [answer]) as (url, asked):
        calls = ServerCalls(server_at(url))
        calls.call("read_file", {"path": "a"}, session="ann")
        calls.call("read_file", {"path": "b"}, session="ann")
        calls.close()
    assert [body["path"] for _, body in asked] == ["a", "b", "b"]


def test_a_call_that_writes_is_never_sent_twice():
    answer = json.dumps(ANSWER).encode()
    with fake_server([answer, None]) as (url, asked):
        calls = ServerCalls(server_at(url))
        calls.call("read_file", {"path": "a"}, session="ann")
        with pytest.raises(InputOutput, match="connection") as refused:
            calls.call("write_file", {"path": "a", "content": "x"}, session="ann")
    assert "may have been carried out" in refused.value.hint
    assert len(asked) == 2


@pytest.mark.parametrize("status", [500, 502, 504])
@pytest.mark.parametrize("body", [b"", b"<html>Bad gateway</html>", b'{"message": "Unhandled error"}'])
def test_an_accident_says_of_a_write_that_it_may_have_been_carried_out(status, body):
    with fake_server([(status, body)]) as (url, _), pytest.raises(InputOutput, match=f"status {status}") as refused:
        ServerCalls(server_at(url)).call("write_file", {"path": "a", "content": "x"}, session="ann")
    assert refused.value.details["modified"] == "unknown"
    assert "may have been carried out" in refused.value.hint


@pytest.mark.parametrize(
    "answer",
    [b"{}", b'{"tool": 1, "content": 2, "data": 3, "change": {"id": 4}}', b'{"data": ' + b"[" * 99_999],
    ids=["nothing", "other types", "nested deeply"],
)
@pytest.mark.parametrize(("tool", "modified"), [("read_file", None), ("write_file", "unknown")])
def test_an_answer_of_another_version_is_a_refusal(answer, tool, modified):
    with fake_server([answer]) as (url, _), pytest.raises(InputOutput, match="another version") as refused:
        ServerCalls(server_at(url)).call(tool, {"path": "a", "content": "x"}, session="ann")
    assert refused.value.details.get("modified") == modified


def test_an_answer_that_is_nested_too_deeply_is_a_refusal_of_any_request():
    with fake_server([b"[" * 99_999]) as (url, _), pytest.raises(InputOutput, match="another version"):
        ServerCalls(server_at(url)).ask("/tokens", session="ann")


@pytest.mark.parametrize("token", ["secret\n", "sec ret", "secr\u00e9t", "secret\r\nX-Other: 1"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_shown(token):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        with pytest.raises(Invalid, match="character that no token has") as refused:
            ServerCalls(server_at(url, token)).call("read_file", {"path": "a"}, session="ann")
    assert "sec" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://a..b/", "http://exa mple/", "http://\x00/"])
def test_an_address_that_no_host_can_have_is_a_refusal(url):
    with pytest.raises((InputOutput, Invalid)):
        ServerCalls(server_at(url)).call("read_file", {"path": "a"}, session="ann")


def test_nobody_there_is_a_refusal():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    with pytest.raises(InputOutput, match="does not answer"):
        ServerCalls(server_at(url)).call("list_files", {}, session="ann")


def test_a_write_that_no_server_took_says_that_nothing_was_modified(served):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        nobody = server_at(f"http://127.0.0.1:{listening.getsockname()[1]}/")
    wrong_token = server_at(served[0].url.removesuffix("/api/fstools"), "secret-word")
    for server in (nobody, wrong_token, server_at(nobody.url, "sec ret")):
        with pytest.raises(FsToolsError, match="not modified"):
            ServerCalls(server).call("write_file", {"path": "a", "content": "x"}, session="ann")
        with pytest.raises(FsToolsError) as refused:
            ServerCalls(server).call("read_file", {"path": "a"}, session="ann")
        assert "not modified" not in refused.value.message
