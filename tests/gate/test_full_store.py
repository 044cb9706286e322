"""Reads go on while the disk of the store is full, and edits are refused."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")]

FULL = """
import json, resource, sys
from jupyter_fstools import call_tool, open_workspace
from jupyter_fstools.errors import FsToolsError

root, first = sys.argv[1:]
with open_workspace(root, session="one") as files:
    if first == "read":
        call_tool(files, "read_file", path="a.txt")
    # No file may grow any more: the system refuses like a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
    said = {}
    for path, tool in (("a.txt", "read_file"), ("b.txt", "read_file"), ("c.ipynb", "read_notebook")):
        said[path] = call_tool(files, tool, path=path).content[0]["text"]
    said["grep"] = call_tool(files, "grep", pattern="text").data["total"]
    try:
        call_tool(files, "edit_file", path="a.txt", old_string="text", new_string="x")
    except FsToolsError as refusal:
        said["edit"] = [refusal.code, refusal.message]
    print(json.dumps(said))
"""


@pytest.mark.parametrize("first", ["read", "nothing"], ids=["filled later", "full at the start"])
def test_reads_go_on_while_the_disk_of_the_store_is_full_and_edits_are_refused(tmp_path, first):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(f"text of {name}\n")
    cell = {"cell_type": "code", "id": "x", "metadata": {}, "outputs": [], "execution_count": None, "source": "text"}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (tmp_path / "c.ipynb").write_text(json.dumps(notebook))
    command = [sys.executable, "-c", FULL, str(tmp_path), first]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (
        "text of b" in said["b.txt"]
        and ("unchanged" in said["a.txt"]) == (first == "read")
        and "text" in said["c.ipynb"]
    )
    assert said["grep"] == 3
    assert said["edit"][0] == "io" and "not modified" in said["edit"][1]
    assert (tmp_path / "a.txt").read_text() == "text of a\n"
