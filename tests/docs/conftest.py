"""A reader of a page: the sample files, a shell with the magic, and a server where the page uses one."""

from __future__ import annotations

import atexit
import json
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tests.docs.blocks import Reader

HELLO = 'def greeting(name):\n    return "Hello, " + name\n\n\nprint(greeting("Ada"))\n'


def code_cell(name, source, printed):
    output = {"output_type": "stream", "name": "stdout", "text": printed}
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "source": source,
        "execution_count": 1,
        "outputs": [output],
    }


REPORT = {
    "cells": [
        {"cell_type": "markdown", "id": "heading", "metadata": {}, "source": "# Report"},
        code_cell("load", "rows = [1, 2, 3]\nprint(len(rows))", "3\n"),
        code_cell("sum", "print(sum(rows))", "6\n"),
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def reader(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "hello.py").write_text(HELLO)
    (folder / "src" / "shop.py").write_text("TAX = 0.19\n")
    (folder / "notes.md").write_text("# Notes\n")
    (folder / "report.ipynb").write_text(json.dumps(REPORT, indent=1))
    monkeypatch.chdir(folder)
    displayhook = sys.displayhook
    quiet = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell(config=quiet, ipython_dir=str(tmp_path / "ipython"))
    shell.extension_manager.load_extension("jupyter_fstools")
    reader = Reader(folder, shell)
    yield reader
    reader.stop()
    shell.extension_manager.unload_extension("jupyter_fstools")
    shell.atexit_operations()
    atexit.unregister(shell.atexit_operations)
    sys.displayhook = displayhook
