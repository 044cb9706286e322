"""Outputs that a person trusts stay trusted in the open document, and outputs of an assistant never become trusted."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from playwright.sync_api import expect

from tests.browser.lab import OPEN
from tests.browser.open_documents.documents import Notebook, landed, notebook_text, replace, sources_in
from tests.legs import NEWEST

pytestmark = pytest.mark.parametrize("leg", [NEWEST, "lab42"], indirect=True)

RAN = "() => window.ran ?? []"
TRUSTED = """() => {
  const { cells } = jupyterapp.shell.currentWidget.content.model;
  return Object.fromEntries(Array.from(cells, cell => [cell.id, cell.trusted]));
}"""


def html(mark):
    """An output that shows whether it is trusted: its script runs only then."""
    script = f"<b>{mark}</b><script>window.ran = [...(window.ran ?? []), '{mark}'];</script>"
    return {"output_type": "display_data", "metadata": {}, "data": {"text/html": [script]}}


def with_outputs(text, **outputs):
    """A notebook's text in which some cells have an output that shows its mark."""
    told = json.loads(text)
    for cell in told["cells"]:
        if cell["id"] in outputs:
            cell["outputs"] = [html(outputs[cell["id"]])]
    return json.dumps(told, indent=1, sort_keys=True) + "\n"


@pytest.fixture
def trusted(desk, lab, folder):
    """An open notebook that its person has trusted, and that the assistant has read."""
    text = with_outputs(notebook_text("x = 1", "y = 1", "z = 1", "old = 1"), c0="mine", c1="mine too")
    path = folder.write("n.ipynb", text)
    notary = NotebookNotary(data_dir=lab.environment["JUPYTER_DATA_DIR"])
    notary.sign(nbformat.reads(text, 4))
    notary.store.close()
    desk.page.evaluate("() => { window.ran = []; }")
    desk.open(path)
    folder.call("read_notebook", "n.ipynb")
    document = Notebook(desk)
    desk.page.wait_for_function("() => window.ran.length === 2")
    assert desk.page.evaluate(TRUSTED) == {"c0": True, "c1": True, "c2": True, "c3": True}
    return document


def test_a_trusted_notebook_stays_trusted(trusted, desk, folder):
    """Whatever happens to its cells, and for good once the person saves it."""
    landed(replace(folder, "c2", "z = 2"))
    edits = [
        {"edit_mode": "insert", "after": "c0", "cell_type": "code", "new_source": "new = 1"},
        {"edit_mode": "move", "cell_id": "c1", "at": "end"},
        {"edit_mode": "delete", "cell_id": "c3"},
    ]
    landed(folder.call("edit_notebook", "n.ipynb", edits=edits))
    trusted.shows(3, "y = 1")
    now = desk.page.evaluate(TRUSTED)
    assert (now["c0"], now["c1"]) == (True, True)
    trusted.type(0, "  # typed")
    trusted.save()
    load_again(desk, folder)
    desk.page.wait_for_function("() => window.ran.length === 2")
    assert sources_in(folder.text("n.ipynb")) == ["x = 1  # typed", "new = 1", "z = 2", "y = 1"]


def load_again(desk, folder):
    desk.close_all()
    desk.wait_until_known(folder.path("n.ipynb"), saved=None)
    desk.page.evaluate("() => { window.ran = []; }")
    desk.open(folder.path("n.ipynb"))
    return Notebook(desk)


def test_what_others_wrote_is_not_trusted(trusted, desk, folder):
    """Neither outputs that a file adds, in a trusted cell or one marked `trusted`, nor those that an undo restores."""
    told = json.loads(folder.text("n.ipynb"))
    told["cells"][0]["outputs"] = [html("theirs")]
    new = {"id": "new", "metadata": {"trusted": True}, "outputs": [html("theirs too")]}
    told["cells"].append({**told["cells"][2], **new})
    folder.write("n.ipynb", json.dumps(told, indent=1, sort_keys=True) + "\n")
    folder.call("read_notebook", "n.ipynb")
    outputs = trusted.cells.locator(".jp-OutputArea-output")
    expect(outputs).to_have_text(["theirs", "mine too", "theirs too"])
    edits = [{"edit_mode": "delete", "cell_id": "new"}]
    change = landed(folder.call("edit_notebook", "n.ipynb", edits=edits))
    expect(outputs).to_have_text(["theirs", "mine too"])
    assert folder.lab.call("POST", f"/changes/{change['id']}/undo")[0] == 200
    expect(outputs).to_have_text(["theirs", "mine too", "theirs too"])
    assert desk.page.evaluate(RAN) == ["mine", "mine too"]
    assert desk.page.evaluate(TRUSTED) == {"c0": False, "c1": True, "c2": True, "c3": True, "new": False}
    trusted.type(1, "  # typed")
    trusted.save()
    document = load_again(desk, folder)
    expect(document.cells.locator(".jp-OutputArea-output")).to_have_text(["theirs", "mine too", "theirs too"])
    assert desk.page.evaluate(RAN) == []


def test_a_trusted_cell_that_comes_back_is_trusted_as_it_was(trusted, desk, folder):
    """From the memory of the page that showed it, never with content that another program put into its file."""
    change = landed(folder.call("edit_notebook", "n.ipynb", edits=[{"edit_mode": "delete", "cell_id": "c1"}]))
    outputs = trusted.cells.locator(".jp-OutputArea-output")
    expect(outputs).to_have_text(["mine"])
    assert folder.lab.call("POST", f"/changes/{change['id']}/undo")[0] == 200
    expect(outputs).to_have_text(["mine", "mine too"])
    assert desk.page.evaluate(TRUSTED) == {"c0": True, "c1": True, "c2": True, "c3": True}
    assert desk.page.evaluate(RAN) == ["mine", "mine too", "mine too"]
    trusted.type(0, "  # typed")
    trusted.save()
    load_again(desk, folder)
    desk.page.wait_for_function("() => window.ran.length === 2")


def test_outputs_that_an_undo_brings_back_run_no_script_of_others(desk, folder):
    """A cell that the person has run since is trusted only for its own outputs."""
    path = folder.write("n.ipynb", with_outputs(notebook_text("x = 1", "y = 1", kernel=True), c0="theirs"))
    desk.page.evaluate("() => { window.ran = []; }")
    desk.page.evaluate(OPEN, path)
    desk.wait_until_known(path, saved=False)
    document = Notebook(desk, kernel=True)
    folder.call("read_notebook", "n.ipynb")
    change = landed(replace(folder, "c0", "x = 2"))
    outputs = document.cells.locator(".jp-OutputArea-output")
    expect(outputs).to_have_count(0)
    document.start(0)
    desk.page.wait_for_function(f"() => ({TRUSTED})().c0")
    # A running cell gets no outputs from the tools.
    expect(document.cells.nth(0).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"))
    document.click(1)
    assert folder.lab.call("POST", f"/changes/{change['id']}/undo")[0] == 200
    expect(outputs).to_have_text("theirs")
    document.shows(0, "x = 1")
    assert desk.page.evaluate(RAN) == []
    assert desk.page.evaluate(TRUSTED)["c0"] is False


def test_outputs_of_a_trusted_cell_come_back_trusted_when_an_edit_is_undone(trusted, desk, folder):
    change = landed(replace(folder, "c0", "x = 2"))
    outputs = trusted.cells.locator(".jp-OutputArea-output")
    expect(outputs).to_have_text(["mine too"])
    assert folder.lab.call("POST", f"/changes/{change['id']}/undo")[0] == 200
    expect(outputs).to_have_text(["mine", "mine too"])
    assert desk.page.evaluate(TRUSTED)["c0"] is True
    assert desk.page.evaluate(RAN) == ["mine", "mine too", "mine"]
