"""A kernel runs a notebook while one of its cells is edited: no output and no edit gets lost."""

import json
import subprocess
import sys
import time

import nbformat
import pytest

from tests.documents.notebook.samples import jupyterlab, notebook

pytestmark = pytest.mark.slow

PATH = "book.ipynb"
WAITS = """
import pathlib, time
pathlib.Path("running").touch()
while not pathlib.Path("edited").exists():
    time.sleep(0.01)
print("computed", 6 * 7)
"""
# Runs the notebook as it was loaded, and gives its outputs to those cells on the disk that are still the same.
RUNNER = """
import nbformat
from nbclient import NotebookClient
loaded = nbformat.read("book.ipynb", as_version=4)
NotebookClient(loaded, timeout=60, kernel_name="python3").execute()
there = nbformat.read("book.ipynb", as_version=4)
ran = {(cell.id, cell.source): cell for cell in loaded.cells}
for cell in there.cells:
    if (cell.id, cell.source) in ran:
        cell.outputs = ran[cell.id, cell.source].outputs
        cell.execution_count = ran[cell.id, cell.source].execution_count
nbformat.write(there, "book.ipynb")
"""


def code(source):
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


@pytest.fixture
def book(call):
    call.put(PATH, jupyterlab(notebook(code(WAITS), code("print('never edited')"), code("print('old')"))))
    call("read_notebook", path=PATH)
    return call


def told(call):
    return {
        cell["id"]: ("".join(cell["source"]), "".join("".join(output["text"]) for output in cell["outputs"]))
        for cell in json.loads(call.got(PATH))["cells"]
    }


def test_an_edit_while_the_kernel_computes_and_one_after_it_saved(book):
    runner = subprocess.Popen([sys.executable, "-c", RUNNER], cwd=book.root)
    while not (book.root / "running").exists():
        assert runner.poll() is None
        time.sleep(0.01)
    book("edit_notebook", path=PATH, cell_id="c2", new_source="print('new')")
    (book.root / "edited").touch()
    assert runner.wait(60) == 0
    assert told(book)["c0"][1] == "computed 42\n"
    assert told(book)["c1"][1] == "never edited\n"
    assert told(book)["c2"] == ("print('new')", "")
    book("edit_notebook", path=PATH, cell_id="c2", new_source="print('newer')")
    book("edit_notebook", path=PATH, cell_id="c1", new_source="print('edited')")
    assert told(book)["c0"][1] == "computed 42\n"
    assert told(book)["c2"] == ("print('newer')", "")


def test_what_a_run_saved_over_the_edit_is_noticed(book):
    """A program that saves an older content takes the edit back, and the next edit is told so."""
    path = book.root / PATH
    loaded = nbformat.read(path, as_version=4)
    book("edit_notebook", path=PATH, cell_id="c2", new_source="print('new')")
    nbformat.write(loaded, path)
    refusal = book.refused("stale", "edit_notebook", path=PATH, cell_id="c2", new_source="print('newer')")
    assert "-print('new')\n+print('old')" in refusal.details["diff"]
