"""Searching over REST: a search ends when its client disconnects."""

from __future__ import annotations

import asyncio
import json

import pytest

from jupyter_fstools.search.ripgrep.process import newest_ripgrep
from tests.slow_ripgrep import SlowRipgrep, something_to_search


@pytest.fixture
def slow_ripgrep(tmp_path, monkeypatch):
    slow = SlowRipgrep(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(slow.folder), prepend=":")
    newest_ripgrep.cache_clear()
    yield slow
    newest_ripgrep.cache_clear()


async def test_a_client_that_goes_away_ends_its_search(
    slow_ripgrep, jp_serverapp, jp_root_dir, jp_http_port, http_server, jp_auth_header
):
    something_to_search(jp_root_dir)
    body = json.dumps({"pattern": "nowhere"})
    head = f"POST {jp_serverapp.base_url}api/fstools/tools/grep HTTP/1.1\r\nHost: localhost:{jp_http_port}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in jp_auth_header.items())
    _, client = await asyncio.open_connection("127.0.0.1", jp_http_port)
    client.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    await asyncio.to_thread(slow_ripgrep.wait)
    assert slow_ripgrep.runs
    client.close()
    await asyncio.to_thread(slow_ripgrep.wait_for_end)


async def test_only_a_search_that_shows_lines_leaves_a_receipt(call, ask, jp_root_dir):
    (jp_root_dir / "a.txt").write_text("needle\n")
    assert (await call("grep", pattern="needle", output_mode="files")).json["data"]["total"] == 1
    assert (await call("glob", pattern="*.txt")).json["data"]["total"] == 1
    assert (await ask("GET", "/receipts")).json == {"receipts": []}
    assert (await call("grep", pattern="needle")).json["data"]["total"] == 1
    assert [shown["lines"] for shown in (await ask("GET", "/receipts")).json["receipts"]] == [[[1, 1]]]
