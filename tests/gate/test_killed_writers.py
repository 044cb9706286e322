"""kill -9 in the middle of writes: the file is always one whole version, the store opens, nothing is left behind."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

# Forked children edit as fast as they can; each is killed at a random moment after some edits, then the file and the
# store are checked.
ROUNDS = """
import os, random, signal, sys, time
from jupyter_fstools import call_tool, open_workspace

root, rounds, linked = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "linked"
size = 200_000
body = "x" * 99 + "\\n"


def text(number):
    return f"version {number}\\n" + body * (size // 100) + f"end of version {number}\\n"


def work(start, done):
    files = open_workspace(root, session="writer", durable=False)
    call_tool(files, "read_file", path="a.txt", limit=1)
    number = start
    while True:
        edits = [
            {"old_string": f"end of version {number}\\n", "new_string": f"end of version {number + 1}\\n"},
            {"old_string": f"version {number}\\nxx", "new_string": f"version {number + 1}\\nxx"},
        ]
        call_tool(files, "edit_file", path="a.txt", edits=edits)
        os.write(done, b".")
        number += 1


def current():
    with open(os.path.join(root, "a.txt"), encoding="utf-8") as file:
        there = file.read()
    number = int(there.split("\\n", 1)[0].removeprefix("version "))
    assert there == text(number), (number, len(there), there[-40:])
    return number


number = 1
with open(os.path.join(root, "a.txt"), "w", encoding="utf-8") as file:
    file.write(text(1))
if linked:
    os.link(os.path.join(root, "a.txt"), os.path.join(root, "b.txt"))
# What children need is imported once, before they are forked.
call_tool(open_workspace(root, session="warm"), "read_file", path="a.txt", limit=1)
moved = 0
for _ in range(rounds):
    edited, done = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(number, done)
        finally:
            os._exit(9)
    for _ in range(random.randrange(4)):
        os.read(edited, 1)
    time.sleep(random.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.close(edited)
    os.close(done)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the writer ended by itself"
    if linked:
        # In place: what the kill left half done is put right by the next access.
        call_tool(open_workspace(root, session="reader"), "read_file", path="a.txt", limit=1, force=True)
        assert os.stat(os.path.join(root, "a.txt")).st_ino == os.stat(os.path.join(root, "b.txt")).st_ino
    visible = {name for name in os.listdir(root) if not name.startswith(".")}
    assert visible == ({"a.txt", "b.txt"} if linked else {"a.txt"}), visible
    now = current()
    moved += now > number
    number = now
files = open_workspace(root, session="writer")
call_tool(files, "read_file", path="a.txt", limit=1, force=True)
call_tool(files, "edit_file", path="a.txt", old_string=f"end of version {number}\\n", new_string="the end\\n")
print(moved, sorted(os.listdir(root)))
"""


def rounds(tmp_path, count, kind):
    root = tmp_path / "root"
    root.mkdir()
    command = [sys.executable, "-c", ROUNDS, str(root), str(count), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    moved, left = done.stdout.split(" ", 1)
    assert int(moved) > count // 4, "hardly any writer got to work before it was killed"
    return left.strip()


def test_a_hundred_writers_killed_in_the_middle_leave_whole_versions_and_no_temporary_file(tmp_path):
    assert rounds(tmp_path, 100, "plain") == "['a.txt']"


def test_a_hard_linked_file_is_put_right_after_a_kill(tmp_path):
    assert rounds(tmp_path, 30, "linked") == "['a.txt', 'b.txt']"
