"""The panel describes actions in a person's words."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import act, unfold
from tests.browser.open_documents.documents import notebook_text
from tests.browser.test_keyboard_and_themes import STATUS


def test_only_what_waits_is_counted_as_waiting(window, waits):
    for file in ("a.py", "b.py"):
        waits.write(file, "x = 1\n")
        waits.change(file, "x", "y")
    expect(window.waiting).to_contain_text("2 decisions wait for you")
    expect(window.waiting).not_to_contain_text("command")
    act(window.waiting, "reject-all")
    header = window.page.locator(".jp-Dialog-header")
    expect(header).to_have_text("Reject 2 changes?")
    window.page.keyboard.press("Escape")


def test_an_empty_list_says_whether_the_filter_is_why(window):
    window.panel.locator('[data-filter="path"]').fill("no such file")
    expect(window.panel.locator(".jp-fstools-Panel-nothing")).to_have_text("Nothing matches the filter.")
    act(window.panel, "clear-filter")


@pytest.mark.parametrize(
    ("approval", "said"),
    [
        ("never", 'Changes are applied at once (approval is "never" in the server\'s settings).'),
        ("always", "Every change waits for your approval."),
        (["src/", "docs/"], "Changes to src/, docs/ wait for your approval."),
    ],
)
def test_what_waits_is_said_with_the_setting_that_decides_it(open_lab, approval, said):
    def answer(route):
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "approval": approval})

    window = open_lab(prepare=lambda page: page.route(STATUS, answer)).open_panel()
    expect(window.waiting).to_have_text(said)


def test_a_refusal_is_told_in_words_with_its_hint(window, folder):
    folder.write("a.py", "x = 1\n")
    refusal = folder.call("edit_file", "a.py", old_string="x", new_string="y")[1]["error"]
    assert refusal["code"] == "not_read"
    assert refusal["hint"]
    act(window.turn(folder.session), "fold")
    card = window.card(folder.path("a.py"), "refusal")
    expect(card.locator(".jp-fstools-Card-status")).to_have_text("not read yet")
    expect(card.locator(".jp-fstools-Card-hint")).to_have_text(refusal["hint"])
    expect(card).not_to_contain_text("not_read")


def test_what_was_undone_is_offered_as_redo_and_says_who_did_it(window, folder):
    folder.write("a.py", "x = 1\n")
    change = folder.change("a.py", "x", "y")
    act(window.card_of(change), "undo")
    expect(window.card_of(change)).to_have_attribute("data-status", "undone")
    undo = window.card(folder.path("a.py"))
    expect(undo.locator(".jp-fstools-Card-verb")).to_have_text("undo")
    redo = undo.get_by_role("button", name=re.compile("^Redo"))
    expect(window.turn("You")).to_be_visible()
    redo.click()
    expect(window.card(folder.path("a.py")).locator(".jp-fstools-Card-verb")).to_have_text("redo")
    assert folder.text("a.py") == "y = 1\n"


def test_cells_are_counted_from_one_as_jupyterlab_does(window, folder):
    folder.write("n.ipynb", notebook_text("x = 1", "y = 1"))
    folder.call("read_notebook", "n.ipynb")
    edits = [{"cell_id": name, "new_source": "z = 1"} for name in ("c0", "c1")]
    assert folder.call("edit_notebook", "n.ipynb", edits=edits)[0] == 200
    diff = unfold(window.card(folder.path("n.ipynb")))
    expect(diff.locator(".jp-fstools-CellDiff-place")).to_have_text(["Cell 1", "Cell 2"])


@pytest.mark.parametrize("shown_before", [False, True])
def test_a_decided_change_tells_the_reason_that_the_person_gave(window, waits, shown_before):
    waits.write("a.py", "x = 1\n")
    card = window.card_of(change := waits.change("a.py", "x", "y"))
    diff = unfold(card) if shown_before else None
    waits.lab.call("POST", f"/changes/{change['id']}/reject", {"reason": "x is the name\nelsewhere"})
    expect(card).to_have_attribute("data-status", "rejected")
    diff = diff or unfold(card)
    expect(card.locator(".jp-fstools-Diff-reason")).to_have_text("Reason: x is the name\nelsewhere")
    expect(diff).to_contain_text("y = 1")
    window.photograph("reason")
