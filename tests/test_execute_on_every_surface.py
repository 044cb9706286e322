"""Commands, run through %fs, over REST and from Python: the same answers, the same refusals, one gate."""

from __future__ import annotations

import json

import pytest

from jupyter_fstools import FsToolsError, call_tool, open_workspace
from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow

# (arguments, the same as a %fs line)
CALLS = [
    ({"command": "echo one; echo two >&2; exit 3"}, "sh echo one; echo two >&2; exit 3"),
    ({"command": "pwd | tail -c 4; touch new.txt", "cwd": "sub"}, "sh --cwd sub pwd | tail -c 4; touch new.txt"),
    ({"command": "env | grep -c -e ^JPY_ -e COLOR= -e TOKEN"}, "sh env | grep -c -e ^JPY_ -e COLOR= -e TOKEN"),
    ({"command": "sleep 1000", "timeout": 0.2}, "sh --timeout 0.2 sleep 1000"),
    ({"command": "ls", "cwd": ".."}, "sh --cwd .. ls"),
    ({"command": "ls", "cwd": "nowhere"}, "sh --cwd nowhere ls"),
    ({"command": "ls", "timeout": "-1"}, "sh --timeout -1 ls"),
]
THROUGH_MAGIC = """
import json
from jupyter_fstools import FsToolsError
shell, answers = get_ipython(), []
shell.config.FsToolsConfig.enable_execute, shell.config.FsToolsConfig.execute_approval = True, False
for line in json.loads({lines!r}):
    try:
        result = shell.run_line_magic("fs", line)
        answers.append({{"content": result.content, "data": result.data}})
    except FsToolsError as refusal:
        answers.append(refusal.as_dict())
print("\\n\\0" + json.dumps(answers))
"""


def through_python(root):
    with open_workspace(root, enable_execute=True, execute_approval=False) as files:
        for arguments, _ in CALLS:
            try:
                result = call_tool(files, "execute", arguments)
                yield {"content": result.content, "data": result.data}
            except FsToolsError as refusal:
                yield refusal.as_dict()


def through_rest(server):
    for arguments, _ in CALLS:
        status, answer = server.call("POST", "/tools/execute", arguments)
        yield {"content": answer["content"], "data": answer["data"]} if status == 200 else answer["error"]


def through_magic(kernel):
    shown = run_cell(kernel, THROUGH_MAGIC.format(lines=json.dumps([line for _, line in CALLS])))
    return json.loads(shown.rpartition("\0")[2])


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root/sub").mkdir(parents=True)
    return tmp_path / "root"


@pytest.fixture
def server(root):
    running = RunningServer(root, "--FsToolsConfig.enable_execute=True", "--FsToolsConfig.execute_approval=False")
    try:
        running.wait()
        yield running
    finally:
        running.stop()


def comparable(answers):
    """A result without its duration."""
    answers = list(answers)
    for answer in answers:
        answer.get("data", {}).pop("seconds", None)
    return answers


def test_three_surfaces_give_the_same_results_and_refusals(root, server):
    python = comparable(through_python(root))
    rest = comparable(through_rest(server))
    with running_kernel(root) as kernel:
        magic = comparable(through_magic(kernel))
    for call, *answers in zip(CALLS, python, rest, magic, strict=True):
        assert answers[0] == answers[1] == answers[2], call
    assert [answer.get("code", answer.get("data", {}).get("exit_code")) for answer in python] == [
        *(3, 0, 0, 143),
        *("outside_root", "not_found", "invalid"),
    ]


def test_what_a_command_changed_over_rest_is_stale_for_a_kernel_of_the_same_session(root, server):
    (root / "a.txt").write_text("one\n")
    with running_kernel(root) as kernel:
        run_cell(kernel, "%fs read a.txt")
        assert server.call("POST", "/tools/execute", {"command": "echo two >> a.txt"})[0] == 200
        assert "stale" in run_cell(kernel, "%fs edit a.txt --old one --new 1")
    assert (root / "a.txt").read_text() == "one\ntwo\n"
