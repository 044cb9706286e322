"""Files far larger than the memory a read may take; each is made once, by the tests that need it."""

import json
import subprocess
import sys

import pytest

MIB = 1 << 20
GIB = 1 << 30
MOST_GROWTH = 48 * MIB
ROWS_PER_MIB = MIB // 64

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in KiB on Linux only"),
]

# A process of its own, so that what other tests took does not count.
READER = """
import json, resource, sys
from pathlib import Path
from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.backends.local_disk import LocalDisk
from jupyter_fstools.gate.policy import Policy
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.stores.in_memory import InMemoryStore
from jupyter_fstools.tools import call_tool
from jupyter_fstools.gate.workspace import Workspace

root, arguments = Path(sys.argv[1]), json.loads(sys.argv[2])
locks = FileLocks(root.parent / "locks")
workspace = Workspace(LocalDisk(root), InMemoryStore(), locks, Policy(), Reader("ada", "default"))
call_tool(workspace, "read_file", {"path": "small"})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = call_tool(workspace, "read_file", {"path": "large", **arguments}).data
growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
print(json.dumps({"growth": growth, "content": data.pop("content")[:200], **data}))
"""


@pytest.fixture
def made(tmp_path):
    """Makes a large file out of many equal blocks and a tail; it is gone after the test."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "small").write_text("x\n")
    large = root / "large"

    def make(block, size, tail=b"", head=b""):
        with open(large, "wb", buffering=0) as file:
            file.write(head)
            for _ in range(size // len(block)):
                file.write(block)
            file.write(tail)
        return root

    yield make
    large.unlink(missing_ok=True)


def read(root, **arguments):
    done = subprocess.run(
        [sys.executable, "-c", READER, str(root), json.dumps(arguments)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_a_window_of_a_large_file_takes_little_memory(made):
    """At its beginning, and at its end."""
    root = made((b"x" * 63 + b"\n") * ROWS_PER_MIB * 16, GIB, b"the last line\n")
    total = GIB // 64 + 1
    first = read(root, offset=10, limit=5)
    assert (first["lines_read"], first["next_offset"], first["truncated"]) == (5, 15, False)
    last = read(root, offset=total, limit=5)
    assert last["content"] == "the last line\n" and last["total_lines"] == total and last["next_offset"] is None
    assert first["growth"] < MOST_GROWTH and last["growth"] < MOST_GROWTH


def test_a_window_of_a_large_wide_file_takes_little_memory(made):
    row = ("é" * 31 + "\n").encode("utf-16-le")
    size = 256 * MIB
    root = made(row * ROWS_PER_MIB * 16, size, "last".encode("utf-16-le"), b"\xff\xfe")
    last = read(root, offset=size // 64 + 1, limit=5)
    assert last["content"] == "last" and last["growth"] < MOST_GROWTH


def test_one_long_line_takes_little_memory(made):
    """It is cut with a marker that counts the rest, and the rest can be read."""
    size = 200 * MIB
    root = made(b"0123456789abcdef" * (MIB // 16), size)
    start = read(root, limit=1)
    assert start["cut_lines"] == [{"line": 1, "column": 1, "shown": 2000, "omitted": size - 2000}]
    assert start["truncated"] and start["next_offset"] is None
    later = read(root, limit=1, column=size - 2)
    assert later["content"] == "def" and not later["truncated"]
    assert start["growth"] < MOST_GROWTH and later["growth"] < MOST_GROWTH


def test_a_hundred_mebibytes_are_streamed_with_the_right_line_numbers(made):
    rows = MIB // 8
    root = made(b"".join(b"%07d\n" % number for number in range(rows)), 100 * MIB)
    data = read(root, offset=13 * rows + 6, limit=2)
    assert data["content"] == "0000005\n0000006\n" and data["growth"] < MOST_GROWTH
