"""Files that jupytext writes for an open page are not changed by tools; nothing is lost, and no dialog appears."""

from __future__ import annotations

import json
import os

import pytest
from playwright.sync_api import expect

from tests.browser.open_documents.documents import WITHOUT_KERNEL, Notebook, landed, notebook_text, refused, replace
from tests.legs import JUPYTEXT

pytestmark = pytest.mark.parametrize("leg", [JUPYTEXT], indirect=True)

OPEN = """async path => {
  const widget = await jupyterapp.commands.execute("docmanager:open", { path, factory: "Jupytext Notebook" });
  await widget.context.ready;
}"""
FORMATS = "# ---\n# jupyter:\n#   jupytext:\n#     formats: ipynb,py:percent\n# ---\n\n"
TEXT = "# %%\nx = 1\n\n# %%\ny = 1\n"
EDIT = {"old_string": "y = 1", "new_string": "y = 2"}
HI = [{"output_type": "stream", "name": "stdout", "text": ["hi\n"]}]


def test_a_text_that_is_open_as_a_notebook_is_left_alone(desk, folder):
    path = folder.write("a.py", TEXT)
    desk.page.evaluate(OPEN, path)
    document = Notebook(desk)
    document.save()
    desk.wait_until_known(path)
    folder.call("read_file", "a.py")
    assert "no tool can change" in refused(folder.call("edit_file", "a.py", **EDIT), "unsaved")["message"]
    document.type(0, "  # typed")
    desk.wait_until_known(path, saved=False)
    status, answer = folder.call("read_file", "a.py", force=True)
    assert status == 200 and answer["data"]["content"].endswith(TEXT), answer
    refused(folder.call("edit_file", "a.py", **EDIT), "unsaved")
    document.save()
    assert folder.text("a.py").endswith("x = 1  # typed\n\n# %%\ny = 1\n")
    document.tab.locator(".lm-TabBar-tabCloseIcon").click()
    desk.wait_until_known(path, saved=None)
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", **EDIT), "disk")


def test_an_edit_of_a_text_appears_in_the_notebook_that_it_is_paired_with(desk, folder):
    notebook = json.loads(notebook_text("x = 1", "y = 1", outputs=HI))
    notebook["metadata"] = {"jupytext": {"formats": "ipynb,py:percent"}, **WITHOUT_KERNEL}
    path = folder.write("a.ipynb", json.dumps(notebook))
    folder.write("a.py", FORMATS + TEXT)
    # Jupytext loads the newer of both files, and refuses a text that is older.
    os.utime(folder.lab.root / path, (0, 0))
    desk.show(path)
    document = Notebook(desk)
    document.save()
    desk.wait_until_known(path)
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", **EDIT), "disk")
    document.shows(1, "y = 2")
    expect(document.cells.nth(1).locator(".jp-OutputArea-output")).to_have_text("hi")
    document.save()
    folder.call("read_notebook", "a.ipynb")
    assert "no tool can change" in refused(replace(folder, "c0", "x = 2", file="a.ipynb"), "unsaved")["message"]
    document.type(0, "  # typed")
    desk.wait_until_known(path, saved=False)
    folder.call("read_file", "a.py")
    refused(folder.call("edit_file", "a.py", old_string="x = 1", new_string="x = 2"), "unsaved")
    document.save()
    assert folder.text("a.py").endswith("x = 1  # typed\n\n# %%\ny = 2\n")
    assert document.window.dialogs == []
