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


@pytest.fixture
def proposed(browser, notebook_seven):
    """An open notebook with a proposal that edits one cell and inserts another: the page, the file, the change."""
    lab = notebook_seven
    file = lab.root / "waits" / "n.ipynb"
    file.parent.mkdir()
    file.write_text(notebook(("one", "x = 1"), ("two", "y = 2")))
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.goto(f"{lab.url.removesuffix('/api/fstools')}/notebooks/waits/n.ipynb?token={lab.token}")
    expect(page.locator(".jp-Notebook .jp-Cell .cm-content").first).to_have_text("x = 1")
    # Its kernel reports its language meanwhile, which modifies the document.
    lab.call("POST", "/tools/read_notebook", {"path": "waits/n.ipynb"}, "claude")
    edits = [
        {"cell_id": "one", "new_source": "x = 'one'"},
        {"edit_mode": "insert", "after": "one", "cell_type": "code", "new_source": "print(x)"},
    ]
    status, answer = lab.call("POST", "/tools/edit_notebook", {"path": "waits/n.ipynb", "edits": edits}, "claude")
    assert status == 202, answer
    expect(page.locator(".jp-fstools-Review-ghost")).to_contain_text("print(x)")
    expect(page.locator(".jp-fstools-ReviewBar")).to_contain_text("1 change by claude")
    yield page, file, answer["change"]
    page.context.close()


def expect_sources(page, file, expected):
    """Wait until the file has these sources: a change that lands in an unsaved notebook is shown before it is saved."""
    for _ in range(200):
        found = ["".join(one["source"]) for one in json.loads(file.read_text())["cells"]]
        if found == expected:
            return
        page.wait_for_timeout(50)
    assert found == expected


def test_a_proposal_is_shown_in_the_notebook_and_in_the_panel_and_approved(proposed):
    page, file, _ = proposed
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
    expect_sources(page, file, ["x = 'one'", "print(x)", "y = 2"])


def test_one_cell_of_a_proposal_is_approved_and_the_other_rejected_with_a_reason(proposed, notebook_seven):
    page, file, change = proposed
    changed, ghost = (page.locator(".jp-fstools-Review-controls").nth(at) for at in range(2))
    changed.locator('[data-action="approve"]').click()
    expect(changed.locator('[data-action="approve"]')).to_have_attribute("aria-pressed", "true")
    ghost.get_by_label("Reason for rejecting").fill("no prints")
    ghost.locator('[data-action="reject"]').click()
    expect(page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    expect(page.locator(".jp-fstools-Review-ghost")).to_have_count(0)
    expect(page.locator(".jp-Notebook .jp-Cell .cm-content").first).to_have_text("x = 'one'")
    expect_sources(page, file, ["x = 'one'", "y = 2"])
    decided = notebook_seven.call("GET", f"/changes/{change['id']}?wait=10")[1]["change"]["decided"]
    assert (list(decided["taken"]), decided["reason"]) == (["one"], "no prints")


def test_whole_changes_are_compared_below_the_notebook(proposed, notebook_seven):
    """The main area takes one widget only."""
    page, file, _ = proposed
    notebook_seven.call("POST", "/tools/write_file", {"path": "waits/a.py", "content": "x = 1\n"}, "claude")
    compared = page.locator(".jp-fstools-ChangeComparison:not(.lm-mod-hidden)")
    compare = page.locator('.jp-Cell [data-action="compare"]').first
    compare.click()
    expect(compared).to_contain_text("x = 'one'")
    assert compared.locator("> .jp-fstools-DiffView").bounding_box()["height"] > 300
    page.locator(".Toastify__toast").get_by_role("button", name="Compare").click()
    expect(compared).to_contain_text("waits/a.py")
    compare.click()
    expect(compared).to_contain_text("x = 'one'")
    compared.get_by_role("button", name="Approve").click()
    expect(page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    expect_sources(page, file, ["x = 'one'", "print(x)", "y = 2"])


def test_the_next_change_in_another_file_opens_one_tab(proposed, notebook_seven):
    page, _, _ = proposed
    for name in ("a.py", "b.py"):
        status, answer = notebook_seven.call(
            "POST", "/tools/write_file", {"path": name, "content": "x = 1\n"}, "claude"
        )
        assert status == 200, answer
    next_change = page.locator('.jp-fstools-ReviewBar [data-action="next"]')
    page.wait_for_timeout(2000)  # The page asks for new changes at most every second.
    with page.context.expect_page() as opened:
        for _ in range(2):
            next_change.click()
    assert opened.value.url.endswith("/a.py")
    page.wait_for_timeout(1000)
    assert len(page.context.pages) == 2
