"""Every tool, called through %fs, over REST and MCP and from Python, gives the same result and the same refusal."""

import json
import shutil

import pytest

from jupyter_fstools import FsToolsError, call_tool, open_workspace
from tests.mcp_client import request
from tests.processes import RunningServer, run_cell, running_kernel

pytestmark = pytest.mark.slow

# (tool, arguments, the same as a %fs line, the body of its cell)
CALLS = [
    ("list_files", {}, "ls", None),
    ("list_files", {"recursive": True}, "ls -r", None),
    ("list_files", {"path": "nowhere"}, "ls nowhere", None),
    ("list_files", {"path": "a.py"}, "ls a.py", None),
    ("glob", {"pattern": "**", "sort": "path"}, "glob ** --sort path", None),
    ("glob", {"pattern": "*.py", "limit": 1, "include_hidden": True}, "glob *.py --limit 1 --hidden", None),
    ("glob", {"pattern": "../*"}, "glob ../*", None),
    ("glob", {"pattern": "*", "path": "nowhere"}, "glob * nowhere", None),
    ("grep", {"pattern": "p.int"}, "grep p.int", None),
    ("grep", {"pattern": "PRINT", "-i": True, "-C": 1, "glob": "*.py"}, "grep PRINT -i -C 1 --glob *.py", None),
    ("grep", {"pattern": "e", "output_mode": "count", "limit": 1}, "grep e -c --limit 1", None),
    ("grep", {"pattern": "x", "file_type": "py", "output_mode": "files"}, "grep x --type py -l", None),
    ("grep", {"pattern": "("}, "grep (", None),
    ("grep", {"pattern": "(", "literal": True}, "grep ( -F", None),
    ("grep", {"pattern": "x", "path": ".ssh"}, "grep x .ssh", None),
    ("read_file", {"path": "aa.py"}, "read aa.py", None),
    ("read_file", {"path": "../x"}, "read ../x", None),
    ("read_file", {"path": "sub"}, "read sub", None),
    ("read_file", {"path": "picture"}, "read picture", None),
    ("read_file", {"path": "old.txt"}, "read old.txt", None),
    ("read_file", {"path": ".ssh/key"}, "read .ssh/key", None),
    ("read_file", {"path": "a.py", "offset": 9}, "read a.py --offset 9", None),
    ("edit_file", {"path": "a.py", "old_string": "x", "new_string": "y"}, "edit a.py --old x --new y", None),
    ("write_file", {"path": "a.py", "content": "z\n"}, "write a.py", "z\n"),
    ("read_file", {"path": "a.py", "offset": 1, "limit": 1}, "read a.py --offset 1 --limit 1", None),
    ("write_file", {"path": "a.py", "content": "z\n"}, "write a.py", "z\n"),
    ("read_file", {"path": "a.py"}, "read a.py", None),
    ("read_file", {"path": "a.py", "force": True}, "read a.py", None),
    ("read_file", {"path": "old.txt", "encoding": "latin-1"}, "read old.txt --encoding latin-1", None),
    ("edit_file", {"path": "a.py", "old_string": "x", "new_string": "x"}, "edit a.py --old x --new x", None),
    ("edit_file", {"path": "a.py", "old_string": "q", "new_string": "y"}, "edit a.py --old q --new y", None),
    ("edit_file", {"path": "a.py", "old_string": "x", "new_string": "y"}, "edit a.py --old x --new y", None),
    (
        "edit_file",
        {"path": "a.py", "old_string": "x", "new_string": "y", "replace_all": True},
        "edit a.py --old x --new y --all",
        None,
    ),
    (
        "edit_file",
        {"path": "a.py", "edits": [{"old_string": "y = 1", "new_string": "y = 2"}]},
        "edit a.py",
        '[{"old_string": "y = 1", "new_string": "y = 2"}]',
    ),
    (
        "edit_file",
        {"path": "book.ipynb", "old_string": "x", "new_string": "y"},
        "edit book.ipynb --old x --new y",
        None,
    ),
    ("edit_file", {"path": "old.txt", "old_string": "é", "new_string": "→"}, "edit old.txt --old é --new →", None),
    ("edit_file", {"path": "old.txt", "old_string": "é", "new_string": "è"}, "edit old.txt --old é --new è", None),
    ("write_file", {"path": "new/file.txt", "content": "one\ntwo\n"}, "write new/file.txt", "one\ntwo\n"),
    (
        "write_file",
        {"path": "new/file.txt", "content": "one\n", "create_only": True},
        "write new/file.txt --create-only",
        "one\n",
    ),
    ("write_file", {"path": "a.py/b", "content": "one\n"}, "write a.py/b", "one\n"),
    (
        "edit_notebook",
        {"path": "book.ipynb", "cell_id": "c0", "new_source": "y"},
        "cell book.ipynb c0",
        "y\n",
    ),
    ("read_notebook", {"path": "a.py"}, "cells a.py", None),
    ("read_notebook", {"path": "book.ipynb"}, "cells book.ipynb", None),
    ("read_notebook", {"path": "book.ipynb", "cell_id": "c0"}, "cell book.ipynb c0", None),
    ("read_file", {"path": "book.ipynb"}, "read book.ipynb", None),
    (
        "read_notebook",
        {"path": "book.ipynb", "cell_id": "c0", "output_index": 0},
        "cell book.ipynb c0 --output 0",
        None,
    ),
    (
        "edit_notebook",
        {"path": "book.ipynb", "cell_id": "c0", "edit_mode": "edit", "old_string": "x", "new_string": "y"},
        "cell book.ipynb c0 --old x --new y",
        None,
    ),
    ("edit_notebook", {"path": "book.ipynb", "cell_id": "c0", "new_source": "y"}, "cell book.ipynb c0", "y\n"),
    ("edit_notebook", {"path": "book.ipynb", "cell_id": "c0", "new_source": "z = 1"}, "cell book.ipynb c0", "z = 1\n"),
    (
        "edit_notebook",
        {"path": "book.ipynb", "cell_id": "c0", "edit_mode": "convert", "cell_type": "markdown"},
        "cell book.ipynb c0 --mode convert --type markdown",
        None,
    ),
    (
        "edit_notebook",
        {"path": "book.ipynb", "cell_id": "c9", "edit_mode": "delete"},
        "cell book.ipynb c9 --mode delete",
        None,
    ),
    ("undo", {"path": "book.ipynb"}, "undo book.ipynb", None),
    ("undo", {"path": "new/file.txt"}, "undo new/file.txt", None),
    ("undo", {"path": "a.py"}, "undo a.py", None),
    ("undo", {"path": "sub/deep.txt"}, "undo sub/deep.txt", None),
]
THROUGH_MAGIC = """
import json
from jupyter_fstools import FsToolsError
shell, answers = get_ipython(), []
shell.run_line_magic("fs", "session magic")
for line, body in json.loads({calls!r}):
    try:
        result = shell.run_line_magic("fs", line) if body is None else shell.run_cell_magic("fs", line, body)
        change = result.change and result.change.diff.model_dump()
        answers.append({{"content": result.content, "data": result.data, "diff": change}})
    except FsToolsError as refusal:
        answers.append(refusal.as_dict())
print(json.dumps(answers))
"""


def fill(root):
    files = {
        "a.py": b"x = 1\nprint(x)\n",
        "sub/deep.txt": b"deep\n",
        "picture": b"\x89PNG\0\0",
        "old.txt": b"caf\xe9\r\n",
        ".ssh/key": b"secret",
        "book.ipynb": (
            b'{"cells": [{"cell_type": "code", "execution_count": 1, "id": "c0", "metadata": {}, "outputs": [{"name": '
            b'"stdout", "output_type": "stream", "text": "1\\n"}], "source": "x"}], "metadata": {}, "nbformat": 4, '
            b'"nbformat_minor": 5}'
        ),
    }
    shutil.rmtree(root / "new", ignore_errors=True)
    for name, data in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)


def through_python(root):
    answers = []
    with open_workspace(root, session="python", durable=False) as files:
        for name, arguments, _, _ in CALLS:
            try:
                result = call_tool(files, name, arguments)
                diff = result.change and result.change.diff.model_dump()
                answers.append({"content": result.content, "data": result.data, "diff": diff})
            except FsToolsError as refusal:
                answers.append(refusal.as_dict())
    return answers


def through_rest(server):
    answers = []
    for name, arguments, _, _ in CALLS:
        status, answer = server.call("POST", f"/tools/{name}", arguments, "rest")
        if status == 200:
            diff = answer["change"] and answer["change"]["diff"]
            answers.append({"content": answer["content"], "data": answer["data"], "diff": diff})
        else:
            answers.append(answer["error"])
    return answers


def through_mcp(server):
    for name, arguments, _, _ in CALLS:
        asked = request("tools/call", {"name": name, "arguments": arguments})
        answer = server.call("POST", "/mcp", asked, "mcp")[1]["result"]
        data = answer["structuredContent"]
        data.pop("pictures", None)
        yield data["error"] if answer["isError"] else {"content": answer["content"], "data": data}


def through_magic(kernel):
    calls = json.dumps([(line, body) for _, _, line, body in CALLS])
    return json.loads(run_cell(kernel, THROUGH_MAGIC.format(calls=calls)))


def comparable(answers, session):
    """A result without the parts that have to differ: ids, times, the session's own name."""
    differing = {"change_id", "change", "undoes", "modified_at"}

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items() if key not in differing}
        if isinstance(value, list | tuple):
            return [plain(one) for one in value]
        return value.replace(f"({session})", "(session)") if isinstance(value, str) else value

    return [plain(json.loads(json.dumps(answer))) for answer in answers]


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    fill(folder)
    return folder


def test_four_surfaces_give_the_same_results_and_refusals(root):
    python = comparable(through_python(root), "python")
    fill(root)
    server = RunningServer(root, "--FsToolsConfig.durable=False", "--FsToolsConfig.structured_content=True")
    try:
        server.wait()
        rest = comparable(through_rest(server), "rest")
        fill(root)
        mcp = comparable(through_mcp(server), "mcp")
    finally:
        server.stop()
    fill(root)
    with running_kernel(root) as kernel:
        magic = comparable(through_magic(kernel), "magic")
    for call, *answers in zip(CALLS, python, rest, magic, mcp, strict=True):
        texts = [without_ids(answer) for answer in answers]
        if call[0] == "undo" and "code" in texts[2]:  # `%fs` can list changes, which no tool can.
            assert texts[2].pop("hint") == "Name a change of this session (`changes` lists them)."
            assert all("undone already" in texts[other].pop("hint") for other in (0, 1, 3))
        assert texts[0] == texts[1] == texts[2], call
        assert {name: told for name, told in texts[0].items() if name != "diff"} == texts[3], call
    codes = {answer.get("code") for answer in python}
    assert codes >= {
        "not_read",
        "no_match",
        "ambiguous",
        "no_op",
        "notebook",
        "binary",
        "encoding",
        "conflict",
        "denied",
    }


def without_ids(answer):
    """An undo's sentence names the change it undid."""
    content = [block | {"text": block["text"].split(" (", 1)[-1]} for block in answer.get("content", [])]
    return answer | {"content": content} if content and content[0]["text"] and "Undid" in str(answer) else answer
