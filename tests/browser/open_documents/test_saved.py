"""A saved document that is open takes an edit at once, and its file has the bytes of an edit beside it."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.browser.open_documents.documents import Notebook, Text, cell, notebook

EDIT = {"old_string": "x = 1", "new_string": "x = 2"}
CELLS = notebook(cell("one", "x = 1"), cell("two", "y = 1"), cell("three", "z = 1"))


def landed(call, place="document"):
    status, answer = call
    assert status == 200, answer
    assert answer["change"]["place"] == place
    return answer


def test_an_edit_arrives_in_an_open_text_file(open_lab, folder):
    """The bytes are those of the same edit in a closed file; saving afterwards asks nothing."""
    folder.write("a.py", "x = 1\ny = 1\n")
    folder.call("read_file", "a.py")
    document = Text(open_lab(path=folder.path("a.py")))
    landed(folder.call("edit_file", "a.py", **EDIT))
    expect(document.editor.locator("> .cm-line")).to_have_text(["x = 2", "y = 1", ""])
    document.expect_saved()
    assert folder.text("a.py") == "x = 2\ny = 1\n"
    landed(folder.call("edit_file", "a.py", old_string="y = 1", new_string="y = 2"))
    document.type("  # typed")
    document.save()
    document.expect_saved()
    assert folder.text("a.py") == "x = 2  # typed\ny = 2\n"
    assert document.dialogs == []


def test_an_edit_arrives_in_an_open_notebook(open_lab, folder):
    folder.write("n.ipynb", CELLS)
    folder.call("read_notebook", "n.ipynb")
    document = Notebook(open_lab(path=folder.path("n.ipynb")))
    landed(folder.call("edit_notebook", "n.ipynb", edit_mode="replace", cell_id="two", new_source="y = 2"))
    expect(document.source(1).locator("> .cm-line")).to_have_text(["y = 2"])
    assert json.loads(folder.text("n.ipynb"))["cells"][1]["source"] == "y = 2"
    document.expect_saved()
    document.type(0, "  # typed")
    document.save()
    assert "typed" in folder.text("n.ipynb") and document.dialogs == []
