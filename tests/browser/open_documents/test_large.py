"""A notebook with 50 MB of outputs, and 200 open documents."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.open_documents.documents import Notebook, Text, landed, notebook_text, refused, replace, sources_in
from tests.legs import NEWEST

on_both = pytest.mark.parametrize("leg", [NEWEST, "lab42"], indirect=True)

MEGABYTE = "x" * (1 << 20)
OUTPUT = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": ["large"], "application/x-x": MEGABYTE}}
OPEN_ALL = """async paths => {
  await Promise.all(paths.map(async path => {
    const options = { activate: false };
    const widget = await jupyterapp.commands.execute("docmanager:open", { path, options });
    await widget.context.ready;
  }));
}"""


@on_both
def test_a_notebook_with_50_megabytes_of_outputs_is_edited_saved_and_unsaved(desk, folder):
    sources = ["x = 1", "y = 1", "z = 1"]
    text = notebook_text(*sources)
    told = json.loads(text)
    told["cells"][2]["outputs"] = [OUTPUT] * 50
    text = json.dumps(told, indent=1, sort_keys=True) + "\n"
    desk.open(folder.write("n.ipynb", text))
    folder.call("read_notebook", "n.ipynb")
    document = Notebook(desk)
    landed(replace(folder, "c1", "y = 2"))
    document.shows(1, "y = 2")
    document.expect_saved()
    assert folder.text("n.ipynb") == text.replace("y = 1", "y = 2")
    document.type(0, "  # typed")
    desk.wait_until_known(folder.path("n.ipynb"), saved=False)
    status, answer = replace(folder, "c1", "y = 3")
    if status != 200:  # A page that has to serialise 50 MB may miss the time limit: then nothing is changed.
        assert refused((status, answer), "unsaved")
        document.save()
        folder.call("read_notebook", "n.ipynb")
        landed(replace(folder, "c1", "y = 3"))
    document.shows(1, "y = 3")
    assert sources_in(folder.text("n.ipynb")) == ["x = 1  # typed", "y = 3", "z = 1"]
    assert folder.text("n.ipynb").count(MEGABYTE) == 50


COUNT = """() => {
  const { model } = jupyterapp.shell.currentWidget.context;
  window.spelled = 0;
  for (const one of [model, model.sharedModel, ...model.sharedModel.cells]) {
    const spell = one.toJSON.bind(one);
    one.toJSON = () => (window.spelled++, spell());
  }
}"""


def test_an_edit_of_a_large_notebook_sends_operations_and_costs_its_page_the_patch_alone(open_lab, folder):
    """Neither side sends, requests or serialises the document, and after the edit nothing is requested again."""
    sent, asked = [], []

    def note(text):
        sent.append(text)

    def hear(socket):
        if "/api/fstools/documents" in socket.url:
            for frame in ("framesent", "framereceived"):
                socket.on(frame, note)

    window = open_lab(prepare=lambda page: page.on("websocket", hear))
    told = json.loads(notebook_text("x = 1", "y = 1"))
    told["cells"][0]["outputs"] = [OUTPUT] * 5
    window.open(folder.write("n.ipynb", json.dumps(told, indent=1, sort_keys=True) + "\n"))
    document = Notebook(window)
    folder.call("read_notebook", "n.ipynb")
    window.page.evaluate(COUNT)
    window.page.on("request", lambda request: asked.append(request.url))
    sent.clear()
    landed(replace(folder, "c1", "y = 2"))
    document.shows(1, "y = 2")
    document.expect_saved()
    window.page.wait_for_timeout(500)
    frames = len(sent)
    window.page.wait_for_timeout(3000)
    assert sum(map(len, sent)) < 2000
    assert len(sent) == frames
    # JupyterLab lists the checkpoints, and the review its changes.
    assert [url for url in asked if re.search(r"/api/contents/.*n\.ipynb(\?|$)", url)] == []
    assert window.page.evaluate("() => window.spelled") == 0


@on_both
def test_two_hundred_documents_are_open(desk, folder):
    paths = [folder.write(f"f{number}.py", "x = 1\n") for number in range(200)]
    desk.page.evaluate(OPEN_ALL, paths)
    for path in paths:
        desk.wait_until_known(path)
    for number in (0, 100, 199):
        folder.call("read_file", f"f{number}.py")
        landed(folder.call("edit_file", f"f{number}.py", old_string="x = 1", new_string="x = 2"))
    desk.open(paths[100])
    document = Text(desk)
    document.shows("x = 2\n")
    document.type("  # typed")
    document.save()
    assert folder.text("f100.py") == "x = 2  # typed\n"
    expect(desk.page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
