"""Many calls at once: none is lost, none stops another."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from jupyter_fstools.errors import TimedOut
from jupyter_fstools.server import call_pool
from jupyter_fstools.server.call_pool import Caller, CallPool
from jupyter_fstools.stores.records import Reader

TOKEN = "the-token"


async def test_parallel_edits_of_one_file_all_land(call, jp_root_dir):
    """Over HTTP."""
    (jp_root_dir / "a.txt").write_text("".join(f"line {n:02}\n" for n in range(20)))
    await call("read_file", path="a.txt")
    edits = [call("edit_file", path="a.txt", old_string=f"line {n:02}", new_string=f"done {n:02}") for n in range(20)]
    assert {answer.status for answer in await asyncio.gather(*edits)} == {200}
    assert (jp_root_dir / "a.txt").read_text() == "".join(f"done {n:02}\n" for n in range(20))


async def test_one_failing_call_does_not_disturb_the_others(call, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    reads = [call("read_file", path="missing.txt" if n == 3 else "a.txt") for n in range(8)]
    assert [answer.status for answer in await asyncio.gather(*reads)] == [200, 200, 200, 404, 200, 200, 200, 200]


async def test_neither_reads_nor_waiting_edits_of_a_busy_file_hold_up_anybody(ask, call, served, jp_root_dir):
    """Reads need no lock, and calls that wait for one hold no thread, however many sessions a client names."""
    for name in ("held.txt", "free.txt"):
        (jp_root_dir / name).write_text("one\n")
    workspace = served.workspace
    for number in range(160):
        await call("read_file", path="held.txt", session=f"s{number}")
    edit = {"path": "held.txt", "old_string": "one\n", "new_string": "one\ntwo\n"}
    with workspace.held(workspace.paths.key_of("held.txt")):
        waiting = [asyncio.ensure_future(call("edit_file", session=f"s{n}", **edit)) for n in range(160)]
        reads = [call("read_file", path="held.txt", session=f"r{number}") for number in range(160)]
        assert {answer.status for answer in await asyncio.gather(*reads)} == {200}
        assert (await call("read_file", path="free.txt")).status == 200
        assert (await ask("GET", "/changes")).status == 200
        assert not any(one.done() for one in waiting)
    assert sorted(answer.status for answer in await asyncio.gather(*waiting)) == [200] + [412] * 159


async def test_a_long_edit_and_many_reads_of_its_file_queue_nobody_else(call, served, jp_root_dir):
    """Counted by threads: they never use all of them, and no call waits for a thread."""
    for name in ("busy.txt", "free.txt"):
        (jp_root_dir / name).write_text("one\n")
    workspace, begun, gate = served.workspace, threading.Event(), threading.Event()
    key = workspace.paths.key_of("busy.txt")

    def long_edit():
        with workspace.held(key):
            begun.set()
            gate.wait()

    edit = {"path": "busy.txt", "old_string": "one\n", "new_string": "two\n"}
    await call("read_file", path="busy.txt", session="editor")
    running = asyncio.ensure_future(served.calls.run(Caller("another client", Reader("ada", "editor")), long_edit))
    await asyncio.to_thread(begun.wait)
    waiting = [asyncio.ensure_future(call("edit_file", session="editor", **edit)) for _ in range(40)]
    reads = [asyncio.ensure_future(call("read_file", path="busy.txt", session=f"r{n % 4}")) for n in range(160)]
    try:
        assert (await call("read_file", path="free.txt", session="other")).status == 200
        assert {(await read).status for read in reads} == {200}
        executor = served.calls._threads
        async with asyncio.timeout(30):
            while executor._work_queue.qsize():  # A call that polls the lock takes a thread for a moment.
                await asyncio.sleep(0.01)
        assert len(executor._threads) < executor._max_workers
        assert not running.done() and not any(one.done() for one in waiting)
    finally:
        gate.set()
    assert sorted(answer.status for answer in await asyncio.gather(*waiting)) == [200] + [422] * 39


def test_a_long_edit_and_160_reads_of_its_file_leave_another_session_its_turns(folder):
    """Over HTTP, in one login: only the order of the answers counts, so that a slow machine does not matter."""
    large = folder.write("large.txt", b"".join(b"line %07d of a large file\n" % n for n in range(2_000_000)))
    small = folder.write("small.txt", b"one\n")
    assert folder.call("read_file", path=large, limit=10).status == 200
    edits = [{"old_string": f"line {n * 9000:07d}", "new_string": f"done {n:07d}"} for n in range(1, 100)]
    done = []

    def others():
        while not editing.done():
            answer = folder.server.call("read_file", session="another", path=small, force=True)
            done.append((answer.status, editing.done()))

    with ThreadPoolExecutor(170) as threads:
        editing = threads.submit(folder.call, "edit_file", path=large, edits=edits)
        reads = [
            threads.submit(folder.server.call, "read_file", f"r{n % 4}", path=large, offset=n * 10_000 + 1, limit=100)
            for n in range(160)
        ]
        others()
    assert editing.result().status == 200, editing.result().error
    assert {read.result().status for read in reads} == {200}
    assert {status for status, _ in done} == {200}
    assert sum(not ended for _, ended in done) >= 10


async def test_a_decision_finds_a_thread_whatever_assistants_do(ask, call, served, jp_root_dir):
    gate = threading.Event()
    callers = [Caller(f"client {number}", Reader("ada", "one")) for number in range(10)]
    busy = [asyncio.ensure_future(served.calls.run(one, gate.wait)) for one in callers for _ in range(32)]
    try:
        assert (await ask("POST", "/changes/none/approve", {})).status == 404
        assert not any(one.done() for one in busy)
    finally:
        gate.set()
    await asyncio.gather(*busy)


@pytest.mark.parametrize("caller", [("ada's token", "one"), ("ada's token", None)], ids=["session", "client"])
async def test_a_client_and_its_session_have_a_part_of_the_threads(caller):
    pool, running, most = CallPool(threads=8, per_client=3, per_session=2), 0, 0

    def call():
        nonlocal running, most
        running += 1
        most = max(most, running)
        gate.wait(0.05)
        running -= 1

    client, session = caller
    gate = threading.Event()
    callers = [Caller(client, Reader("ada", session or f"s{number}")) for number in range(8)]
    await asyncio.gather(*(pool.run(one, call) for one in callers))
    pool.close()
    assert most == (2 if session else 3)


async def test_calls_that_are_short_begin_one_after_another(monkeypatch):
    monkeypatch.setattr(call_pool, "_HEAD_START_SECONDS", 20)  # Longer than any call on a busy machine.
    pool, running, most = CallPool(), 0, 0

    def call():
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.001)
        running -= 1

    callers = [Caller(f"client {number}", Reader("ada", "one")) for number in range(8)]
    await asyncio.gather(*(pool.run(one, call) for one in callers for _ in range(10)))
    pool.close()
    assert most == 1


async def test_a_call_that_lasts_keeps_others_from_beginning_for_a_moment_only():
    pool, gate, begun = CallPool(), threading.Event(), threading.Semaphore(0)

    def lasts():
        begun.release()
        gate.wait(20)

    callers = [Caller(f"client {number}", Reader("ada", "one")) for number in range(8)]
    lasting = [asyncio.ensure_future(pool.run(one, lasts)) for one in callers for _ in range(4)]
    await asyncio.wait_for(asyncio.gather(*(pool.run(one, str) for one in callers for _ in range(20))), 10)
    assert begun._value == len(lasting)
    gate.set()
    await asyncio.gather(*lasting)
    pool.close()


@pytest.mark.parametrize(("sessions", "at_once"), [(1, 24), (40, 32)])
async def test_the_parts_of_a_login_are_those_of_the_security_page(sessions, at_once):
    pool, begun, gate = CallPool(), threading.Semaphore(0), threading.Event()

    def call():
        begun.release()
        gate.wait(20)

    callers = [Caller("one", Reader("ada", f"s{number % sessions}")) for number in range(40)]
    calls = [asyncio.ensure_future(pool.run(one, call)) for one in callers]
    while begun._value < at_once:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    assert begun._value == at_once
    gate.set()
    await asyncio.gather(*calls)
    pool.close()


async def test_a_call_whose_client_has_gone_before_its_turn_is_not_begun():
    pool, left, calls = CallPool(threads=1, per_client=1), threading.Event(), []
    gate, caller = threading.Event(), Caller("ada", Reader("ada", "one"))
    running = asyncio.ensure_future(pool.run(caller, gate.wait))
    queued = asyncio.ensure_future(pool.run(caller, lambda: calls.append("begun"), left))
    await asyncio.sleep(0)
    left.set()
    gate.set()
    await running
    with pytest.raises(TimedOut, match="not modified"):
        await queued
    pool.close()
    assert calls == []


@pytest.mark.parametrize("settings", [{"lock_seconds": 0.2}], indirect=True)
async def test_a_call_that_waited_too_long_for_a_file_is_refused_and_told_of(ask, call, served, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("one\n")
    await call("read_file", path="a.txt")
    workspace = served.workspace
    with workspace.held(workspace.paths.key_of("a.txt")):
        edits = [call("edit_file", path="a.txt", old_string="one", new_string="1") for _ in range(3)]
        answers = await asyncio.gather(*edits)
    assert [(one.status, one.error["details"]) for one in answers] == [(504, {})] * 3
    assert all("was locked" in one.error["message"] and "not modified" in one.error["message"] for one in answers)
    told = (await ask("GET", "/activity")).json
    assert [one["code"] for one in told["entries"] if one["kind"] == "refusal"] == ["timeout"] * 3


async def test_a_client_that_goes_away_leaves_old_or_new_bytes(
    call, served, jp_serverapp, jp_root_dir, jp_http_port, caplog
):
    (jp_root_dir / "a.txt").write_text("one\n")
    await call("read_file", path="a.txt")
    workspace = served.workspace
    with workspace.held(workspace.paths.key_of("a.txt")):
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
    """Better no answer than bytes of two versions under one ETag."""
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
