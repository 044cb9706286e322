"""`jupyter fstools mcp` between the official client and a real server."""

from __future__ import annotations

import asyncio
import json
import os
import time

import pytest

from jupyter_fstools.tools import TOOLS
from tests.documents.media import samples as pictures
from tests.mcp_client import introduction, request, tool_call

pytestmark = pytest.mark.slow

STATELESS = {
    "protocolVersion": "2026-07-28",
    "clientCapabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def lines(*messages):
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def test_the_official_client_lists_and_calls_every_tool(served):
    home, folder = served
    name = folder.name
    (folder / "book.ipynb").write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    calls = [
        ("list_files", {}),
        ("write_file", {"path": f"{name}/a.py", "content": "x = 1\n"}),
        ("glob", {"pattern": "*.py"}),
        ("grep", {"pattern": "x = "}),
        ("read_file", {"path": f"{name}/a.py"}),
        ("edit_file", {"path": f"{name}/a.py", "old_string": "1", "new_string": "2"}),
        ("read_notebook", {"path": f"{name}/book.ipynb"}),
        (
            "edit_notebook",
            {"path": f"{name}/book.ipynb", "edit_mode": "insert", "cell_type": "raw", "at": "end"}
            | {"new_source": "y"},
        ),
        ("undo", {"path": f"{name}/a.py"}),
        ("execute", {"command": "echo 5"}),
    ]

    async def script(session):
        listed = [tool.name for tool in (await session.list_tools()).tools]
        return listed, {tool: await session.call_tool(tool, arguments) for tool, arguments in calls}

    listed, answers = home.talk(script)
    assert set(listed) == set(answers) == set(TOOLS)
    assert [text_of(answer) for answer in answers.values() if answer.is_error] == []
    assert "raw" in (folder / "book.ipynb").read_text()
    assert (folder / "a.py").read_text() == "x = 1\n"


def test_a_picture_comes_as_a_picture(served):
    home, folder = served
    (folder / "dot.png").write_bytes(pictures.picture())
    shown = home.talk(lambda session: session.call_tool("read_file", {"path": f"{folder.name}/dot.png"}))
    assert [block.mime_type for block in shown.content if block.type == "image"] == ["image/png"]


def test_a_refusal_says_what_to_do_next(served):
    home, folder = served
    (folder / "a.txt").write_text("x\n")
    arguments = {"path": f"{folder.name}/a.txt", "old_string": "x", "new_string": "y"}
    refused = home.talk(lambda session: session.call_tool("edit_file", arguments))
    assert refused.is_error
    assert text_of(refused).startswith("not_read: ")
    assert "Hint: " in text_of(refused)


def test_an_answer_of_megabytes_comes_whole_whatever_the_locale(served):
    home, folder = served
    text = "é\u2028→\r\n" * 300_000
    (folder / "big.txt").write_text(text, newline="")
    arguments = {"path": f"{folder.name}/big.txt", "offset": 1, "limit": 300_000}
    shown = home.talk(lambda session: session.call_tool("read_file", arguments))
    rows = text_of(shown).removeprefix(text_of(shown).split("\n", 1)[0] + "\n").split("</read_file>")[0]
    assert "".join(row.split("\t", 1)[1] + "\n" for row in rows.split("\n")[:-1]) == text.replace("\r", "")


def test_many_calls_at_once_get_their_own_answers(served):
    home, folder = served
    for number in range(30):
        (folder / f"{number}.txt").write_text(f"file {number}\n")

    async def script(session):
        calls = (session.call_tool("read_file", {"path": f"{folder.name}/{number}.txt"}) for number in range(30))
        return await asyncio.gather(*calls)

    answers = home.talk(script)
    assert [f"1\tfile {number}\n" in text_of(answer) for number, answer in enumerate(answers)] == [True] * 30


def test_a_named_session_is_the_one_of_that_name(served):
    home, folder = served
    (folder / "a.txt").write_text("x\n")
    arguments = {"path": f"{folder.name}/a.txt", "old_string": "x", "new_string": "y"}
    home.talk(lambda session: session.call_tool("read_file", {"path": arguments["path"]}), "--session", folder.name)
    edited = home.talk(lambda session: session.call_tool("edit_file", arguments), "--session", folder.name)
    assert not edited.is_error, text_of(edited)
    assert folder.name in home.run("changes", str(folder)).out


def test_each_client_without_a_name_is_a_session_of_its_own(served):
    home, folder = served
    (folder / "a.txt").write_text("x\n")
    arguments = {"path": f"{folder.name}/a.txt", "old_string": "x", "new_string": "y"}
    home.talk(lambda session: session.call_tool("read_file", {"path": arguments["path"]}))
    assert home.talk(lambda session: session.call_tool("edit_file", arguments)).is_error


def test_what_a_command_prints_comes_while_it_runs(served_home):
    told = []

    async def progress(number, total, message):
        told.append(message)

    command = {"command": "echo one; sleep 1; echo two"}
    answer = served_home.talk(lambda session: session.call_tool("execute", command, progress_callback=progress))
    assert not answer.is_error
    assert "".join(told) == "one\ntwo\n"


def test_a_call_that_the_client_cancels_ends(served):
    home, folder = served
    command = {"command": "echo $$ > pid; sleep 60", "cwd": folder.name}

    async def script(session):
        call = asyncio.create_task(session.call_tool("execute", command))
        process = await asyncio.to_thread(process_named_in, folder / "pid")
        call.cancel()
        await asyncio.to_thread(wait_for_end, process)

    home.talk(script)


@pytest.mark.parametrize("stateless", [False, True])
def test_a_call_that_is_cancelled_in_the_next_line_ends(served, stateless):
    """Without sessions the call names the protocol's revision, but its cancellation does not."""
    home, folder = served
    # The server takes longer to read a large call than the message that cancels it.
    call = tool_call("execute", 2, command=f"sleep 10; touch ran {'#' * 100_000}", cwd=folder.name)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    if stateless:
        call["params"]["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in STATELESS.items()}
    with home.start("mcp") as bridge:
        if not stateless:
            bridge.stdin.write(lines(introduction()))
            bridge.stdin.flush()
            bridge.stdout.readline()
        bridge.stdin.write(lines(call, cancel))
        bridge.stdin.flush()
        answer = json.loads(bridge.stdout.readline())
        bridge.stdin.close()
    assert answer["id"] == 2 and not (folder / "ran").exists()


def test_a_batch_holds_up_no_later_line(served):
    home, folder = served
    batch = [tool_call("execute", 2, command="echo $$ > pid; sleep 60", cwd=folder.name), request("ping", id=3)]
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    with home.start("mcp") as bridge:
        bridge.stdin.write(lines(introduction("2025-03-26"), batch))
        bridge.stdin.flush()
        process = process_named_in(folder / "pid")
        bridge.stdin.write(lines(request("ping", id=4), cancel))
        bridge.stdin.flush()
        began, ping, answers = (json.loads(bridge.stdout.readline()) for _ in range(3))
        bridge.stdin.close()
    assert (began["id"], ping["id"], [answer["id"] for answer in answers]) == (1, 4, [2, 3])
    wait_for_end(process)


def test_what_runs_when_the_client_says_no_more_ends_with_it(served):
    home, folder = served
    command = tool_call("execute", 2, command="echo $$ > pid; sleep 60", cwd=folder.name)
    with home.start("mcp") as bridge:
        bridge.stdin.write(lines(introduction(), command))
        bridge.stdin.flush()
        process = process_named_in(folder / "pid")
        bridge.stdin.close()
        assert bridge.wait(30) == 0
    wait_for_end(process)


def process_named_in(file):
    for _ in range(600):
        if file.exists() and file.read_text().endswith("\n"):
            return int(file.read_text())
        time.sleep(0.05)
    raise AssertionError("the command does not begin")


def wait_for_end(process):
    for _ in range(600):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("the command does not end")


def test_nothing_but_messages_goes_out_and_the_end_of_input_is_the_end(served_home):
    begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    calls = [tool_call("list_files", 7), request("nothing", id="a")]
    ran = served_home.run("mcp", given=lines(introduction(), begun) + b"\n" + lines(*calls))
    assert (ran.code, ran.err) == (0, "")
    answers = {answer["id"]: answer for answer in map(json.loads, ran.out.splitlines())}
    assert set(answers) == {1, 7, "a"}
    assert "result" in answers[7]
    assert answers["a"]["error"]["code"] == -32601


@pytest.mark.parametrize("stateless", [False, True])
def test_no_notification_is_answered(served_home, stateless):
    """Where there are no sessions, only the calls say which revision is spoken."""
    told = [{"jsonrpc": "2.0", "method": f"notifications/{name}"} for name in ("progress", "roots/list_changed", "x")]
    call = tool_call("list_files", 7)
    if stateless:
        call["params"]["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in STATELESS.items()}
    begun = [] if stateless else [introduction()]
    ran = served_home.run("mcp", given=lines(*begun, call, *told))
    assert sorted(json.loads(line)["id"] for line in ran.out.splitlines()) == [1, 7][stateless:]
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25"])
def test_a_notification_that_is_refused_is_named_where_nobody_takes_it_for_an_answer(served_home, version):
    wrong = {"jsonrpc": "2.0", "method": "notifications/progress", "params": 5}
    given = lines(introduction(version), wrong, [wrong], request("ping", id=2))
    ran = served_home.run("mcp", given=given)
    assert [json.loads(line)["id"] for line in ran.out.splitlines()] == [1, 2]
    assert [line.partition(": ")[0] for line in ran.err.splitlines()] == ["jupyter fstools mcp"] * 2
    assert "params: takes an object, got 5" in ran.err and "Traceback" not in ran.err


@pytest.mark.parametrize("line", [b"nonsense", b'{"jsonrpc":', b"\xff\xfe", b"[" * 100_000], ids=range(4))
def test_what_is_no_json_is_answered_so_and_the_next_line_taken(served_home, line):
    ran = served_home.run("mcp", given=line + b"\n" + lines(introduction()))
    refused, begun = map(json.loads, ran.out.splitlines())
    assert refused["error"]["code"] == -32700
    assert (refused["id"], begun["id"]) == (None, 1)


@pytest.mark.parametrize(
    "message", [5, [], {}, {"id": 5}, {"method": 5, "id": 6}, {"method": "x", "id": None}], ids=str
)
def test_what_is_no_message_harms_nobody(served_home, message):
    ran = served_home.run("mcp", given=lines(introduction(), message, tool_call("list_files", 2)))
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert any(answer.get("id") == 2 and "result" in answer for answer in answers)
    assert "Traceback" not in ran.err


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="only Linux shows them as files")
def test_the_token_stands_neither_in_the_command_line_nor_in_the_environment(served_home):
    token = json.loads(next(served_home.runtime.glob("jpserver-*.json")).read_text())["token"]
    with served_home.start("mcp") as bridge:
        bridge.stdin.write(lines(introduction()))
        bridge.stdin.flush()
        assert b"result" in bridge.stdout.readline()
        for told in ("cmdline", "environ"):
            with open(f"/proc/{bridge.pid}/{told}", "rb") as file:
                assert token.encode() not in file.read()
        bridge.stdin.close()
        assert bridge.wait(10) == 0


def test_a_bridge_whose_reader_has_gone_ends_quietly(served_home):
    with served_home.start("mcp") as bridge:
        bridge.stdout.close()
        for number in range(3):
            bridge.stdin.write(lines(introduction(), tool_call("list_files", number)))
            bridge.stdin.flush()
        bridge.stdin.close()
        assert bridge.wait(20) == 0
        assert bridge.stderr.read() == b""


def test_a_signal_ends_it(served_home):
    with served_home.start("mcp") as bridge:
        bridge.stdin.write(lines(introduction()))
        bridge.stdin.flush()
        bridge.stdout.readline()
        bridge.terminate()
        assert bridge.wait(10) != 0
