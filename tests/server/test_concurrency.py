"""Many calls at once: none is lost, none stops another."""

from __future__ import annotations

import asyncio
import json
import socket
import threading

import pytest

from jupyter_fstools.errors import TimedOut
from jupyter_fstools.server.call_pool import CallPool
from jupyter_fstools.stores.records import Reader

TOKEN = "the-token"


async def test_parallel_edits_of_one_file_all_land(call, jp_root_dir):
    """C2, over HTTP."""
    (jp_root_dir / "a.txt").write_text("".join(f"line {n:02}\n" for n in range(20)))
    await call("read_file", path="a.txt")
    edits = [call("edit_file", path="a.txt", old_string=f"line {n:02}", new_string=f"done {n:02}") for n in range(20)]
    assert {answer.status for answer in await asyncio.gather(*edits)} == {200}
    assert (jp_root_dir / "a.txt").read_text() == "".join(f"done {n:02}\n" for n in range(20))


async def test_one_failing_call_does_not_disturb_the_others(call, jp_root_dir):
    """C9"""
    (jp_root_dir / "a.txt").write_text("one\n")
    reads = [call("read_file", path="missing.txt" if n == 3 else "a.txt") for n in range(8)]
    assert [answer.status for answer in await asyncio.gather(*reads)] == [200, 200, 200, 404, 200, 200, 200, 200]


async def test_calls_that_wait_for_a_file_hold_up_nobody_else(ask, call, jp_serverapp, jp_root_dir):
    """C12: neither the event loop nor, for another reader, the threads; more calls wait than one reader gets."""
    for name in ("held.txt", "free.txt"):
        (jp_root_dir / name).write_text("one\n")
    workspace = jp_serverapp.web_app.settings["jupyter_fstools"].workspace
    with workspace.held(workspace.key_of("held.txt")):
        waiting = [asyncio.ensure_future(call("read_file", path="held.txt", session="busy")) for _ in range(40)]
        await asyncio.sleep(0.1)
        for _ in range(5):
            assert (await call("read_file", path="free.txt", force=True)).status == 200
        assert (await ask("GET", "/changes")).status == 200
        assert not any(one.done() for one in waiting)
    assert {answer.status for answer in await asyncio.gather(*waiting)} == {200}


async def test_a_reader_has_a_part_of_the_threads():
    pool, running, most = CallPool(threads=4, per_reader=2), 0, 0

    def call():
        nonlocal running, most
        running += 1
        most = max(most, running)
        gate.wait(0.05)
        running -= 1

    gate = threading.Event()
    await asyncio.gather(*(pool.run(Reader("ada", "one"), call) for _ in range(6)))
    pool.close()
    assert most <= 2


async def test_a_call_whose_client_has_gone_before_its_turn_is_not_begun():
    pool, left, calls = CallPool(threads=1, per_reader=1), threading.Event(), []
    gate = threading.Event()
    running = asyncio.ensure_future(pool.run(Reader("ada", "one"), gate.wait))
    queued = asyncio.ensure_future(pool.run(Reader("ada", "one"), lambda: calls.append("begun"), left))
    await asyncio.sleep(0)
    left.set()
    gate.set()
    await running
    with pytest.raises(TimedOut, match="not modified"):
        await queued
    pool.close()
    assert calls == []


async def test_a_client_that_goes_away_leaves_old_or_new_bytes(call, jp_serverapp, jp_root_dir, jp_http_port, caplog):
    """C6"""
    (jp_root_dir / "a.txt").write_text("one\n")
    await call("read_file", path="a.txt")
    workspace = jp_serverapp.web_app.settings["jupyter_fstools"].workspace
    with workspace.held(workspace.key_of("a.txt")):
        send_and_leave(jp_http_port, jp_serverapp, {"path": "a.txt", "old_string": "one", "new_string": "1"})
        await asyncio.sleep(0.2)
    after = await call("read_file", path="a.txt", force=True)
    assert after.json["data"]["content"] in ("one\n", "1\n")
    assert not [record for record in caplog.records if record.exc_info]


def send_and_leave(port, serverapp, arguments):
    body = json.dumps(arguments)
    head = [
        f"POST {serverapp.base_url}api/fstools/tools/edit_file HTTP/1.1",
        "Host: localhost",
        f"Authorization: token {serverapp.identity_provider.token}",
        f"Content-Length: {len(body)}",
    ]
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall("\r\n".join([*head, "", body]).encode())


def test_a_large_file_that_changes_while_it_is_sent_is_cut_off(folder):
    """C10: better no answer than bytes of two versions under one ETag."""
    size = 64 << 20
    path = folder.write("a.bin", b"x" * size)
    with socket.create_connection(("127.0.0.1", folder.server.port)) as client:
        head = f"GET /api/fstools/raw/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: token {TOKEN}\r\n\r\n"
        client.sendall(head.encode())
        first = client.recv(1000)
        assert b"200 OK" in first
        with open(f"{folder.path}/a.bin", "r+b") as file:
            file.write(b"y")
        received = len(first)
        while more := client.recv(1 << 20):
            received += len(more)
    assert received < size


@pytest.mark.parametrize("path", ["/raw/a.bin"])
async def test_a_large_file_is_streamed(ask, jp_root_dir, path):
    data = bytes(range(256)) * 20_000
    (jp_root_dir / "a.bin").write_bytes(data)
    assert (await ask("GET", path)).body == data
