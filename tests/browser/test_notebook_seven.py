"""Panel and review work in Notebook 7, too."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PICTURES
from tests.browser.lab import Lab, axe_finds
from tests.browser.test_review_in_place import notebook
from tests.legs import NOTEBOOK

GAP_ABOVE = """list => {
    const first = list.querySelector('.jp-fstools-Turn');
    return first.getBoundingClientRect().top - list.getBoundingClientRect().top;
}"""


@pytest.fixture
def notebook_seven(tmp_path):
    running = Lab(tmp_path, leg=NOTEBOOK)
    yield running
    running.stop()


def test_a_proposal_is_shown_in_the_notebook_and_in_the_panel_and_approved(browser, notebook_seven):
    lab = notebook_seven
    folder = lab.root / "waits"
    folder.mkdir()
    (folder / "n.ipynb").write_text(notebook(("one", "x = 1"), ("two", "y = 2")))
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.goto(f"{lab.url.removesuffix('/api/fstools')}/notebooks/waits/n.ipynb?token={lab.token}")
    expect(page.locator(".jp-Notebook .jp-Cell .cm-content").first).to_have_text("x = 1")
    # Its kernel says of its language meanwhile, which makes the document another, and unsaved.
    lab.call("POST", "/tools/read_notebook", {"path": "waits/n.ipynb"}, "claude")
    edits = [
        {"cell_id": "one", "new_source": "x = 'one'"},
        {"edit_mode": "insert", "after": "one", "cell_type": "code", "new_source": "print(x)"},
    ]
    status, answer = lab.call("POST", "/tools/edit_notebook", {"path": "waits/n.ipynb", "edits": edits}, "claude")
    assert status == 202, answer
    expect(page.locator(".jp-fstools-Review-ghost")).to_contain_text("print(x)")
    expect(page.locator(".jp-fstools-ReviewBar")).to_contain_text("1 change by claude")
    page.keyboard.press("Control+Shift+KeyC")
    page.locator(".lm-CommandPalette-input").fill("Show What Assistants Did")
    page.keyboard.press("Enter")
    expect(page.locator('.jp-fstools-Panel .jp-fstools-Card[data-kind="change"]')).to_have_count(1)
    assert page.locator(".jp-fstools-CardList").evaluate(GAP_ABOVE) < 2
    pictures = PICTURES / "notebook_seven"
    pictures.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=pictures / "panel.png")
    assert axe_finds(page, ".jp-fstools-Panel", ".jp-fstools-ReviewBar", ".jp-fstools-Review-ghost") == []
    page.locator('.jp-fstools-ReviewBar [data-action="approve"]').click()
    expect(page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    written = json.loads((folder / "n.ipynb").read_text())["cells"]
    assert ["".join(one["source"]) for one in written] == ["x = 'one'", "print(x)", "y = 2"]
