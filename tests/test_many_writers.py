"""Eight processes edit one file through a server and through kernels: every accepted edit is in it, none is lost."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.processes import RunningServer

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parent.parent
EDITS = 50
KERNELS, CLIENTS = 3, 5

# A kernel's share of the work, through the magic: its edits are accepted or refused like anybody's.
KERNEL_WORK = """
from jupyter_fstools import FsToolsError
shell = get_ipython()
shell.run_line_magic("fs", "session {name}")
shell.run_line_magic("fs", "read shared.txt")
for number in range({edits}):
    shell.run_cell_magic("fs", "edit shared.txt --if-stale match", '[{{"old_string": "{name}: %d.", '
        '"new_string": "{name}: %d."}}]' % (number, number + 1))
print("accepted")
"""


# Kernels are driven by processes of their own: their client leaves event loops unclosed in every thread it is used in.
DRIVER = """
import sys
from pathlib import Path
from tests.processes import run_cell, running_kernel
with running_kernel(Path(sys.argv[1])) as kernel:
    print("ready", flush=True)
    sys.stdin.readline()
    print(run_cell(kernel, sys.argv[2]))
"""


@pytest.fixture
def server(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    running = RunningServer(root, "--FsToolsConfig.durable=False")
    running.wait()
    yield running
    running.stop()


def test_no_accepted_edit_of_eight_processes_is_lost(server, tmp_path):
    file = tmp_path / "root" / "shared.txt"
    names = [f"kernel{n}" for n in range(KERNELS)] + [f"client{n}" for n in range(CLIENTS)]
    file.write_text("".join(f"{name}: 0.\n" for name in names), "utf-8")
    ready = threading.Barrier(len(names))

    def through_a_kernel(name):
        command = [sys.executable, "-c", DRIVER, str(file.parent), KERNEL_WORK.format(name=name, edits=EDITS)]
        with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=PROJECT) as driver:
            assert driver.stdout.readline() == "ready\n"
            ready.wait(120)
            said, _ = driver.communicate("go\n", 200)
        return said.strip().endswith("accepted")

    def through_the_server(name):
        ready.wait(120)
        assert server.call("POST", "/tools/read_file", {"path": "shared.txt"}, name)[0] == 200
        for number in range(EDITS):
            edit = {"old_string": f"{name}: {number}.", "new_string": f"{name}: {number + 1}.", "if_stale": "match"}
            status, answer = server.call("POST", "/tools/edit_file", {"path": "shared.txt", **edit}, name)
            assert status == 200, answer
        return True

    with ThreadPoolExecutor(len(names)) as pool:
        work = [pool.submit(through_a_kernel if name.startswith("k") else through_the_server, name) for name in names]
        assert all(one.result(240) for one in work)
    assert file.read_text("utf-8") == "".join(f"{name}: {EDITS}.\n" for name in names)
    applied = server.call("GET", "/changes?limit=1000")[1]["changes"]
    assert len(applied) == len(names) * EDITS
