"""Objects far larger than the windows shown of them, and together larger than memory."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from jupyter_fstools import call_tool, open_workspace
from tests import proxy

LINE = b"0123456789abcde\n"
MIB = 1 << 20
LISTED = """<ListBucketResult><IsTruncated>false</IsTruncated>{}</ListBucketResult>"""
ENTRY = """<Contents><Key>{}</Key><LastModified>2025-11-01T10:00:00.000Z</LastModified><ETag>&quot;1&quot;</ETag>
<Size>{}</Size></Contents>"""


@contextmanager
def s3_with(sizes):
    """An S3 API with objects of given sizes by name, all of them lines of 16 bytes; counts the bytes that it sends."""
    sent, tried = [], set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        @property
        def size(self):
            return sizes.get(self.path.partition("?")[0].removeprefix("/team/"))

        def answer(self, status, data=b"", length=None, **headers):
            self.send_response_only(status)
            named = {"ETag": '"1"', "Last-Modified": "Sat, 01 Nov 2025 10:00:00 GMT", **headers}
            for name, one in {**named, "Content-Length": str(len(data) if length is None else length)}.items():
                self.send_header(name.replace("_", "-"), one)
            self.end_headers()
            self.wfile.write(data)
            sent.append(len(data))

        def do_HEAD(self):
            self.answer(404) if self.size is None else self.answer(200, length=self.size)

        def do_GET(self):
            if "list-type" in self.path:
                below = [] if "prefix=" in self.path else sizes.items()
                self.answer(200, LISTED.format("".join(ENTRY.format(*one) for one in below)).encode())
                return
            start, end = (int(one) for one in self.headers["Range"].removeprefix("bytes=").split("-"))
            data = (LINE * ((end - start) // 16 + 2))[start % 16 :][: end + 1 - start]
            self.answer(206, data, Content_Range=f"bytes {start}-{end}/{self.size}")

        def do_PUT(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            # The check at the start: the first write creates an object, each later one fails its precondition.
            self.answer(412 if self.path in tried else 200)
            tried.add(self.path)

        def do_DELETE(self):
            self.answer(204)

        def log_message(self, *words):
            """Say nothing."""

    with proxy.serving(Handler) as url:
        yield url, sent


def test_a_window_of_an_object_of_a_gigabyte_moves_two_mebibytes_more_than_it_shows(s3, monkeypatch):
    with s3_with({"large.txt": 1 << 30}) as (url, sent):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        files = open_workspace("s3://team", store="memory:")
        sent.clear()
        shown = call_tool(files, "read_file", path="large.txt", limit=100)
        assert shown.data["content"].count("0123456789abcde") == 100
        assert sum(sent) <= 2 * MIB + 1600
        sent.clear()
        with files.backend.read("large.txt") as opened:
            assert opened.read(900 * MIB, 1600) == LINE * 100
        assert sum(sent) <= 2 * MIB + 1600


def test_the_lines_before_a_deep_window_are_fetched_once_whichever_process_asks_again(s3, monkeypatch, private_jupyter):
    """The first window deep in an object needs its lines counted; where they begin is kept with its version."""
    with s3_with({"large.txt": 96 * MIB}) as (url, sent):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        # A window is limited in bytes, so its last line may lie far beyond what is fetched.
        arguments = {"path": "large.txt", "limit": 200_000, "force": True}

        def moved_beyond_what_is_shown(files, line):
            sent.clear()
            shown = call_tool(files, "read_file", offset=line, **arguments).data["content"]
            assert shown.startswith("0123456789abcde")
            return sum(sent) - len(shown)

        here, elsewhere = (open_workspace("s3://team", store="memory:") for _ in range(2))
        assert moved_beyond_what_is_shown(here, 1) <= 2 * MIB
        before = 5_000_000 * len(LINE)
        assert before - 2 * MIB <= moved_beyond_what_is_shown(here, 5_000_001) <= before + 2 * MIB
        for files in (here, elsewhere):
            assert moved_beyond_what_is_shown(files, 5_000_001) <= 2 * MIB
            assert moved_beyond_what_is_shown(files, 3_456_789) <= 2 * MIB
            assert moved_beyond_what_is_shown(files, 1) <= 2 * MIB


SEARCH = """
import sys
from jupyter_fstools import call_tool, open_workspace
def peak():
    with open("/proc/self/status") as status:
        return next(int(row.split()[1]) for row in status if row.startswith("VmHWM")) // 1024
files = open_workspace("s3://team", store="memory:", search_seconds=300.0)
call_tool(files, "grep", pattern="needle", path="0.txt")
before = peak()
found = call_tool(files, "grep", pattern="needle", output_mode="files")
print(peak() - before)
assert found.data["total"] == 0 and not found.data["partial"], found.data
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell of memory")
def test_a_search_holds_a_bounded_part_of_what_it_searches(s3, tmp_path):
    sizes = {f"{number}.txt": 16 * MIB for number in range(16)}
    with s3_with(sizes) as (url, sent):
        told = {**os.environ, "AWS_ENDPOINT_URL": url, "JUPYTER_DATA_DIR": str(tmp_path)}
        searched = subprocess.run([sys.executable, "-c", SEARCH], env=told, capture_output=True, text=True, check=False)
    assert searched.returncode == 0, searched.stderr
    assert sum(sent) >= 16 * 16 * MIB
    assert int(searched.stdout) <= 120, "MiB"
