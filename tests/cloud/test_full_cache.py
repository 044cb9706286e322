"""A disk without room for the cache of a bucket: everything is fetched, and nothing is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from jupyter_fstools.entry_points import open_backend
from jupyter_fstools.testing.backend_contract import content, put
from tests.kernel.elsewhere import with_disk

NAMES = [f"{number}.txt" for number in range(8)]
LINES = b"text of 16 bytes\n" * 8000
FULL = f"""
import os, resource, sys
from jupyter_fstools import call_tool, open_workspace
where, data, bound = sys.argv[1:]
os.environ["JUPYTER_DATA_DIR"] = data
if bound == "file sizes":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
files = open_workspace(where, store="memory:")
kept = data + "/fstools/objects"
assert call_tool(files, "grep", pattern="^needle", output_mode="files").data["total"] == 8
for name in {NAMES}:
    assert call_tool(files, "read_file", path=name, limit=1).data["content"] == "needle\\n"
    call_tool(files, "edit_file", path=name, old_string="needle", new_string="pin")
    assert call_tool(files, "read_file", path=name, limit=1).data["content"] == "pin\\n"
sizes = [os.path.getsize(kept + "/" + name) for name in os.listdir(kept)]
print(len(sizes), "kept")
assert set(sizes) <= {{16 + {len(LINES) + 4}, 16 + {len(LINES) + 7}}}, "no part of a file stays"
if bound == "the disk":
    assert 0 < len(sizes) < 8
    for name in os.listdir(kept):
        os.unlink(kept + "/" + name)
    call_tool(files, "read_file", path="0.txt", force=True, limit=1)
    assert len(os.listdir(kept)) == 1, "with room again it is kept again"
"""


@pytest.mark.parametrize("bound", ["the disk", "file sizes"])
def test_a_bucket_is_read_and_changed_while_the_disk_of_what_is_kept_is_full(s3, tmp_path, bound):
    if sys.platform == "win32":
        pytest.skip("needs limits of POSIX")
    smaller = with_disk(tmp_path, "300k")[:1] if bound == "the disk" else [[]]
    if not smaller:
        pytest.skip("no disk can be mounted here: the limit of file sizes alone is tested")
    backend = open_backend(s3)
    for name in NAMES:
        put(backend, name, b"needle\n" + LINES)
    command = [*smaller[0], sys.executable, "-c", FULL, s3, str(tmp_path), bound]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {content(backend, name) for name in NAMES} == {b"pin\n" + LINES}
