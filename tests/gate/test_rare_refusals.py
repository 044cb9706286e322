"""Refusals that need a full disk, a held lock or a read-only workspace, through REST and through the magic."""

import json
import resource
import subprocess
import sys
from contextlib import contextmanager
from subprocess import PIPE

import pytest

from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow

MOST_BYTES = 2_000_000

THROUGH_MAGIC = """
import json
from jupyter_fstools import FsToolsError
try:
    {call}
    print(json.dumps("no refusal"))
except FsToolsError as refusal:
    print(json.dumps(refusal.as_dict()))
"""

# Holds the lock of a file as another process's call does, until its input ends.
HOLDER = """
import sys
from pathlib import Path
from jupyter_fstools.backends.file_locks import FileLocks
from jupyter_fstools.own_folders import lock_folder
with FileLocks(lock_folder()).hold(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a.txt").write_text("old\n", "utf-8")
    return folder


@contextmanager
def held(path):
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=PIPE, stdout=PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        yield
        holder.stdin.close()


@contextmanager
def serving(root, *options):
    server = RunningServer(root, "--FsToolsConfig.durable=False", *options)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def through_magic(kernel, call):
    return json.loads(run_cell(kernel, THROUGH_MAGIC.format(call=call)))


def is_refusal(answer, code):
    return answer["code"] == code and answer["message"] and answer["hint"] and set(answer) >= {"details"}


def limit_file_size(process_id):
    """No file may grow beyond this: the system refuses like a full disk does."""
    resource.prlimit(process_id, resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))


def test_a_full_disk_is_io_over_rest_and_leaves_nothing(root):
    with serving(root) as server:
        limit_file_size(server.process.pid)
        body = {"path": "new.txt", "content": "x" * 2 * MOST_BYTES}
        status, answer = server.call("POST", "/tools/write_file", body)
    assert status == 500
    assert is_refusal(answer["error"], "io")
    assert "not modified" in answer["error"]["message"]
    assert [path.name for path in root.iterdir()] == ["a.txt"]


def test_a_full_disk_is_io_in_a_cell_and_leaves_nothing(root):
    with running_kernel(root) as kernel:
        limit_file_size(int(run_cell(kernel, "import os; print(os.getpid())")))
        call = f'get_ipython().run_cell_magic("fs", "write new.txt", "x" * {2 * MOST_BYTES})'
        answer = through_magic(kernel, call)
    assert is_refusal(answer, "io")
    assert [path.name for path in root.iterdir()] == ["a.txt"]


def test_a_file_that_another_process_holds_is_timeout_over_rest(root):
    with serving(root, "--FsToolsConfig.lock_seconds=0.3") as server:
        server.call("POST", "/tools/read_file", {"path": "a.txt"})
        with held(root / "a.txt"):
            edit = {"path": "a.txt", "old_string": "one", "new_string": "two"}
            status, answer = server.call("POST", "/tools/edit_file", edit)
            assert server.call("POST", "/tools/read_file", {"path": "a.txt", "force": True})[0] == 200
    assert status == 504
    assert is_refusal(answer["error"], "timeout")


def test_a_file_that_another_process_holds_is_timeout_in_a_cell(root):
    with running_kernel(root) as kernel:
        run_cell(kernel, "get_ipython().config.FsToolsConfig.lock_seconds = 0.3")
        run_cell(kernel, "%fs read a.txt")
        with held(root / "a.txt"):
            call = 'get_ipython().run_line_magic("fs", "edit a.txt --old one --new two")'
            assert is_refusal(through_magic(kernel, call), "timeout")


def test_a_read_only_workspace_has_no_tool_that_writes(root):
    with serving(root, "--FsToolsConfig.read_only=True") as server:
        status, answer = server.call("POST", "/tools/write_file", {"path": "b.txt", "content": "x"})
        assert (status, answer["error"]["code"]) == (403, "disabled")
        names = [tool["name"] for tool in server.call("GET", "/tools")[1]["tools"]]
        assert "read_file" in names
        assert not {"write_file", "edit_file", "undo"} & set(names)
    with running_kernel(root) as kernel:
        run_cell(kernel, "get_ipython().config.FsToolsConfig.read_only = True")
        assert is_refusal(through_magic(kernel, 'get_ipython().run_cell_magic("fs", "write b.txt", "x")'), "disabled")
