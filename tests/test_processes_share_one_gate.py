"""Text shown to one process may be edited by another: server, kernel and plain Python share one reader and store."""

import os
import subprocess
import sys

import pytest

from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow

PLAIN = """
from jupyter_fstools import call_tool, open_workspace
files = open_workspace(".", durable=False)
text = call_tool(files, "read_file", path="b.txt").data["content"]
call_tool(files, "edit_file", path="b.txt", old_string="na\\xefve", new_string="na\\xefve \\u2192")
print(ascii(text))
"""


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n", "utf-8")
    return folder


@pytest.fixture
def server(root):
    running = RunningServer(root)
    running.wait()
    yield running
    running.stop()


def test_read_in_the_server_and_edited_in_a_kernel_and_the_other_way_round(server, root):
    assert server.call("POST", "/tools/read_file", {"path": "a.py"})[0] == 200
    with running_kernel(root) as kernel:
        assert "Edited a.py" in run_cell(kernel, '%fs edit a.py --old "x = 1" --new "x = 2"')
        edit = {"path": "a.py", "old_string": "x = 2", "new_string": "x = 3"}
        assert server.call("POST", "/tools/edit_file", edit)[0] == 200
        assert server.call("POST", "/tools/edit_file", edit, "another")[1]["error"]["code"] == "not_read"
        assert "not_read" in run_cell(kernel, "%fs session third\n%fs edit a.py --old x --new y")
    assert (root / "a.py").read_bytes() == b"x = 3\n"
    changes = server.call("GET", "/changes")[1]["changes"]
    assert [change["session"] for change in changes] == ["default", "default"]


def test_what_a_kernel_reads_and_is_refused_is_in_the_server_s_list(server, root):
    with running_kernel(root) as kernel:
        assert "not_read" in run_cell(kernel, '%fs edit a.py --old "x = 1" --new "x = 2"')
        run_cell(kernel, "%fs read a.py")
    read, refusal = server.call("GET", "/activity")[1]["entries"]
    assert (read["kind"], read["path"], read["lines"], read["full"]) == ("read", "a.py", [[1, 1]], True)
    assert (refusal["kind"], refusal["path"], refusal["tool"], refusal["code"]) == (
        *("refusal", "a.py"),
        *("edit_file", "not_read"),
    )


def test_the_system_s_locale_is_of_no_account(root):
    (root / "b.txt").write_bytes("naïve\n".encode())
    environment = {**os.environ, "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", PLAIN]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ascii("naïve\n")
    assert (root / "b.txt").read_bytes() == "naïve →\n".encode()
