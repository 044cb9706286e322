"""Notebooks that are edited while their kernels work: outputs, widgets, and `%fs` in the notebook that it edits."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.lab import OPEN
from tests.browser.open_documents.documents import (
    SLIDER,
    Notebook,
    Text,
    holds,
    landed,
    notebook_text,
    refused,
    replace,
    sources_in,
    turned_slider,
)
from tests.legs import NEWEST

PRINTING = "import time\nfor n in range(30):\n    print(n, end=' ', flush=True)\n    time.sleep(0.1)"
PRINTED = " ".join(str(n) for n in range(30)) + " "
SHOWN = """([path, text]) => [...jupyterapp.shell.widgets('main')].some(
  ({ context }) => context?.path === path && context.model.toString() === text)"""
"""Whether an open document has this text, even if its tab is not in front."""


@pytest.fixture
def open_notebook(desk, folder):
    """Opens a notebook that the assistant has read, once its kernel is there."""

    def opened(*sources):
        path = folder.write("n.ipynb", notebook_text(*sources, kernel=True))
        desk.page.evaluate(OPEN, path)
        # JupyterLab writes the kernel's metadata into it.
        desk.wait_until_known(path, saved=False)
        folder.call("read_notebook", "n.ipynb")
        return Notebook(desk, kernel=True)

    return opened


def ended(document, at):
    """Expect that a cell has ended."""
    expect(document.cells.nth(at).locator(".jp-InputPrompt")).not_to_have_text("[*]:")


def test_a_running_cell_keeps_what_it_prints(open_notebook, folder):
    document = open_notebook(PRINTING, "y = 1")
    document.start(0)
    expect(document.cells.nth(0).locator(".jp-OutputArea-output")).to_contain_text("2 3")
    landed(replace(folder, "c1", "y = 2"))
    edits = [{"edit_mode": "insert", "at": "start", "cell_type": "code", "new_source": "z = 1"}]
    landed(folder.call("edit_notebook", "n.ipynb", edits=edits))
    expect(document.cells.nth(1).locator(".jp-OutputArea-output")).to_contain_text(PRINTED.strip())
    ended(document, 1)
    document.shows(0, "z = 1")
    document.shows(2, "y = 2")
    document.save()
    cell = json.loads(folder.text("n.ipynb"))["cells"][1]
    assert "".join("".join(output["text"]) for output in cell["outputs"]) == PRINTED


UNTIL_TOLD = "import os, time\nprint('begun')\nwhile not os.path.exists('go'):\n    time.sleep(0.1)\nprint('ended')"


@pytest.mark.parametrize("leg", [NEWEST, "lab42"], indirect=True)
def test_a_running_cell_stays_the_same_one(open_notebook, folder):
    """It is edited, and moves when others are moved; an edit that would replace it is refused until it has ended."""
    document = open_notebook(UNTIL_TOLD, "y = 1", "z = 1")
    document.start(0)
    expect(document.cells.nth(0).locator(".jp-OutputArea-output")).to_have_text("begun")
    for edit in ({"edit_mode": "convert", "cell_type": "markdown"}, {"edit_mode": "delete"}):
        refusal = refused(folder.call("edit_notebook", "n.ipynb", edits=[{**edit, "cell_id": "c0"}]), "conflict")
        assert "running" in refusal["message"] and "not modified" in refusal["message"]
    landed(folder.call("edit_notebook", "n.ipynb", edits=[{"edit_mode": "move", "cell_id": "c0", "at": "end"}]))
    landed(replace(folder, "c0", f"{UNTIL_TOLD}\nmore = 1"))
    document.shows(2, f"{UNTIL_TOLD}\nmore = 1")
    folder.write("go", "")
    expect(document.cells.nth(2).locator(".jp-OutputArea-output")).to_have_text("begun\nended")
    ended(document, 2)
    document.save()
    cells = json.loads(folder.text("n.ipynb"))["cells"]
    assert [cell["id"] for cell in cells] == ["c1", "c2", "c0"]
    assert "".join(cells[2]["outputs"][0]["text"]) == "begun\nended\n"


@pytest.mark.parametrize("leg", [NEWEST, "lab42"], indirect=True)
def test_a_widget_keeps_its_state(open_notebook, folder):
    document = open_notebook(SLIDER, "y = 1", "print(slider.value)")
    widget_keeps_its_state(document, folder, "document")


# jupyter-server-documents 0.3 shows a widget as text, whether anything is edited or not.
@pytest.mark.parametrize("leg", ["collaboration"], indirect=True)
def test_a_widget_in_a_room_keeps_its_state(open_lab, folder):
    path = folder.write("n.ipynb", notebook_text(SLIDER, "y = 1", "print(slider.value)", kernel=True))
    document = Notebook(open_lab(path=path), kernel=True)
    folder.call("read_notebook", "n.ipynb")
    widget_keeps_its_state(document, folder, "room")


def widget_keeps_its_state(document, folder, place):
    readout = turned_slider(document)
    landed(replace(folder, "c1", "y = 2"), place)
    edits = [
        {"edit_mode": "insert", "after": "c0", "cell_type": "code", "new_source": "z = 1"},
        {"edit_mode": "move", "cell_id": "c1", "at": "end"},
    ]
    landed(folder.call("edit_notebook", "n.ipynb", edits=edits), place)
    document.shows(3, "y = 2")
    expect(readout).to_have_text("6")
    assert readout.evaluate("node => node.mark") == "same"
    document.start(2)
    expect(document.cells.nth(2).locator(".jp-OutputArea-output")).to_have_text("6")
    assert holds(folder, "n.ipynb", [SLIDER, "z = 1", "print(slider.value)", "y = 2"])


def test_a_cell_edits_the_notebook_that_it_runs_in(open_notebook, folder):
    """Its kernel waits for the page meanwhile; text that the person typed beside it stays, and a save asks nothing."""
    edit = f"import time; time.sleep(2)\n%fs cell {folder.path('n.ipynb')} c1 --old 1 --new 2"
    document = open_notebook(f"%fs cells {folder.path('n.ipynb')}", "y = 1", edit, "z = 1")
    document.start(0)
    expect(document.cells.nth(0).locator(".jp-OutputArea-output").first).to_contain_text("y = 1")
    ended(document, 0)
    document.type(3, "  # typed")
    document.start(2)
    document.shows(1, "y = 2")
    expect(document.cells.nth(2).locator(".jp-OutputArea-output").first).to_contain_text("y = 2")
    ended(document, 2)
    document.save()
    assert sources_in(folder.text("n.ipynb"))[1::2] == ["y = 2", "z = 1  # typed"]
    folder.call("read_notebook", "n.ipynb")
    landed(replace(folder, "c3", "z = 2"))
    assert holds(folder, "n.ipynb", [f"%fs cells {folder.path('n.ipynb')}", "y = 2", edit, "z = 2"])


def test_open_documents_follow_what_a_command_in_a_kernel_changed(open_notebook, desk, folder):
    desk.open(folder.write("a.py", "x = 1\n"))
    text = Text(desk)
    allowed = "settings = get_ipython().config.FsToolsConfig\nsettings.execute_approval = False"
    document = open_notebook(allowed, f"%fs sh sed -i s/1/2/ {folder.path('a.py')}")
    for at in (0, 1):
        document.start(at)
        ended(document, at)
    assert folder.text("a.py") == "x = 2\n"
    desk.page.wait_for_function(SHOWN, arg=[folder.path("a.py"), "x = 2\n"])
    text.tab.locator("xpath=..").get_by_text("a.py").click()
    text.shows("x = 2\n")
    text.expect_saved()
    text.type("  # typed")
    text.save()
    assert folder.text("a.py") == "x = 2  # typed\n"
