"""An edit of a document with unsaved changes lands in it, and it is saved; what is typed is kept."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.browser.open_documents.documents import Notebook, Text, cell, notebook

CELLS = notebook(cell("one", "x = 1"), cell("two", "y = 1"), cell("three", "z = 1"))


def replaced(folder, cell_id, source):
    return folder.call("edit_notebook", "n.ipynb", edit_mode="replace", cell_id=cell_id, new_source=source)


def sources(folder):
    return ["".join(cell["source"]) for cell in json.loads(folder.text("n.ipynb"))["cells"]]


def test_an_edit_lands_beside_what_is_typed_in_another_cell(open_lab, folder):
    """The document is saved with it; an unsaved change of the same cell is stale, with the diff."""
    folder.write("n.ipynb", CELLS)
    folder.call("read_notebook", "n.ipynb")
    document = Notebook(open_lab(path=folder.path("n.ipynb")))
    document.type(0, "  # typed")
    document.expect_saved(False)
    status, answer = replaced(folder, "two", "y = 2")
    assert (status, answer["change"]["place"]) == (200, "document"), answer
    expect(document.source(1).locator("> .cm-line")).to_have_text(["y = 2"])
    document.expect_saved()
    assert sources(folder) == ["x = 1  # typed", "y = 2", "z = 1"]
    document.type(0, " more")
    status, answer = replaced(folder, "one", "x = 2")
    assert (status, answer["error"]["code"]) == (412, "stale")
    assert "typed" in answer["error"]["details"]["diff"]
    assert document.dialogs == []


def test_a_read_shows_what_the_person_sees(open_lab, folder):
    folder.write("n.ipynb", CELLS)
    folder.write("a.py", "x = 1\n")
    document = Notebook(open_lab(path=folder.path("n.ipynb")))
    document.type(0, "  # typed")
    document.expect_saved(False)
    shown = folder.call("read_notebook", "n.ipynb")[1]
    assert shown["data"]["cells"][0]["source"] == "x = 1  # typed"
    assert replaced(folder, "one", "x = 2")[0] == 200
    expect(document.source(0).locator("> .cm-line")).to_have_text(["x = 2"])
    assert sources(folder)[0] == "x = 2"


def test_an_unsaved_text_file_is_read_and_edited_where_it_is(open_lab, folder):
    folder.write("a.py", "x = 1\ny = 1\n")
    folder.call("read_file", "a.py")
    document = Text(open_lab(path=folder.path("a.py")))
    document.type("  # typed")
    document.expect_saved(False)
    edit = {"old_string": "y = 1", "new_string": "y = 2"}
    status, answer = folder.call("edit_file", "a.py", **edit)
    assert (status, answer["error"]["code"]) == (412, "stale") and "typed" in answer["error"]["details"]["diff"]
    assert folder.call("read_file", "a.py")[1]["data"]["content"] == "x = 1  # typed\ny = 1\n"
    assert folder.call("edit_file", "a.py", **edit)[0] == 200
    expect(document.editor.locator("> .cm-line")).to_have_text(["x = 1  # typed", "y = 2", ""])
    document.expect_saved()
    assert folder.text("a.py") == "x = 1  # typed\ny = 2\n"
    assert document.dialogs == []
