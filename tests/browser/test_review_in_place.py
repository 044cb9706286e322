"""A person reads and decides inside the document: lines, cells, the bar in the toolbar."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

LINES = [f"line_{number} = {number}\n" for number in range(40)]
BEFORE = "".join(LINES)
METADATA = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def upper(*places):
    return "".join(line.upper() if at in places else line for at, line in enumerate(LINES))


def notebook(*cells):
    made = [
        {"cell_type": "code", "id": name, "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for name, source in cells
    ]
    return json.dumps({"cells": made, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5})


def rewrite(folder, content, file="a.py"):
    folder.call("read_file", file)
    status, answer = folder.call("write_file", file, content=content)
    assert status in (200, 202), answer
    return answer["change"]


@pytest.fixture
def editor(open_lab, waits):
    """A file of forty lines, open, of which an assistant would change two that are far apart."""
    waits.write("a.py", BEFORE)
    window = open_lab(path=waits.path("a.py"))
    expect(window.page.locator(".jp-FileEditor .cm-content")).to_contain_text("line_1")
    change = rewrite(waits, upper(3, 30))
    expect(window.page.locator(".jp-fstools-Review-controls").first).to_be_visible()
    return window, change


def controls(window, number):
    return window.page.locator(".jp-FileEditor .jp-fstools-Review-controls").nth(number)


def press(within, action):
    within.locator(f'[data-action="{action}"]').click()


def test_a_change_that_waits_is_shown_at_its_place_and_leaves_the_document(editor, waits):
    window, _ = editor
    page = window.page
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove").first).to_have_text("line_3 = 3")
    expect(page.locator(".jp-fstools-Review-lines.jp-mod-add").first).to_have_text("LINE_3 = 3")
    bar = page.locator(".jp-fstools-ReviewBar")
    expect(bar).to_contain_text(f"1 change by {waits.session}")
    assert waits.text("a.py") == BEFORE
    window.photograph("waits")


def test_one_of_two_hunks_is_approved_and_the_reason_is_kept(editor, waits):
    window, change = editor
    press(controls(window, 0), "approve")
    assert waits.text("a.py") == BEFORE
    window.page.evaluate("() => document.querySelector('.jp-FileEditor .cm-scroller').scrollTo(0, 1e6)")
    last = window.page.locator(".jp-FileEditor .jp-fstools-Review-controls").last
    last.get_by_label("Reason for rejecting").fill("line 30 stays")
    press(last, "reject")
    expect(window.page.locator(".jp-fstools-Review-line.jp-mod-remove")).to_have_count(0)
    assert waits.text("a.py") == upper(3)
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert decided == {"taken": [0], "rejected": [1], "reason": "line 30 stays", "edited": False}
    window.photograph("decided")


def test_the_bar_approves_all_of_a_document(editor, waits):
    window, _ = editor
    press(window.page.locator(".jp-fstools-ReviewBar"), "approve")
    expect(window.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == upper(3, 30)


def test_the_person_goes_on_typing_and_the_hunks_stay_at_their_lines(editor, waits):
    window, _ = editor
    page = window.page
    page.locator(".jp-FileEditor .cm-line").first.click()
    page.keyboard.press("Home")
    page.keyboard.type("# mine\n")
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove").first).to_have_text("line_3 = 3")
    assert waits.text("a.py") == BEFORE


def test_the_next_change_is_reached_with_the_keyboard(editor):
    window, _ = editor
    page = window.page
    page.locator(".jp-FileEditor .cm-line").first.click()
    for line in (4, 31):
        page.keyboard.press("Alt+F5")
        expect(page.locator("#jp-main-statusbar")).to_contain_text(f"Ln {line}, Col 1")


def test_a_change_that_was_made_is_marked_until_it_is_kept_also_after_a_reload(open_lab, folder):
    folder.write("a.py", BEFORE)
    change = rewrite(folder, upper(3))
    window = open_lab(path=folder.path("a.py"))
    page = window.page
    expect(page.locator(".jp-fstools-Review-line.jp-mod-add")).to_have_text("LINE_3 = 3")
    old = page.locator(".jp-fstools-Review-lines.jp-mod-remove")
    expect(old).to_be_hidden()
    press(controls(window, 0), "old")
    expect(old).to_have_text("line_3 = 3")
    window.photograph("made")
    press(controls(window, 0), "keep")
    expect(page.locator(".jp-fstools-Review-line")).to_have_count(0)
    assert len(folder.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["seen_by"]) == 1
    again = open_lab(path=folder.path("a.py"))
    expect(again.page.locator(".jp-FileEditor .cm-content")).to_contain_text("LINE_3")
    expect(again.page.locator(".jp-fstools-Review-line")).to_have_count(0)
    assert folder.text("a.py") == upper(3)


def test_one_hunk_of_a_change_that_was_made_is_undone(open_lab, folder):
    folder.write("a.py", BEFORE)
    rewrite(folder, upper(3, 12))
    window = open_lab(path=folder.path("a.py"))
    expect(window.page.locator(".jp-fstools-Review-line.jp-mod-add")).to_have_count(2)
    press(controls(window, 0), "undo")
    expect(window.page.locator(".jp-fstools-ReviewBar")).to_be_visible()
    for _ in range(100):
        if folder.text("a.py") == upper(12):
            break
        window.page.wait_for_timeout(100)
    assert folder.text("a.py") == upper(12)


@pytest.fixture
def cells(open_lab, waits):
    """A notebook of which an assistant would edit a cell, insert one and delete one."""
    waits.write("n.ipynb", notebook(("one", "x = 1"), ("two", "y = 2"), ("three", "z = 3")))
    window = open_lab(path=waits.path("n.ipynb"))
    # What the kernel says of its language is saved first, as it makes the document another.
    expect(window.page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    window.page.locator(".jp-Notebook .jp-Cell .jp-InputPrompt").first.click()
    window.page.keyboard.press("Control+s")
    expect(window.page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
    waits.call("read_notebook", "n.ipynb")
    edits = [
        {"cell_id": "one", "new_source": "x = 'one'"},
        {"edit_mode": "insert", "after": "one", "cell_type": "code", "new_source": "print(x)"},
        {"edit_mode": "delete", "cell_id": "three"},
    ]
    status, answer = waits.call("edit_notebook", "n.ipynb", edits=edits)
    assert status == 202, answer
    expect(window.page.locator(".jp-fstools-Review-ghost")).to_be_visible()
    return window, answer["change"]


def test_cells_that_wait_are_shown_at_their_places(cells, waits):
    window, _ = cells
    page = window.page
    expect(page.locator(".jp-fstools-Review-ghost .jp-fstools-Review-lines")).to_have_text("print(x)")
    expect(page.locator(".jp-Cell.jp-fstools-mod-delete .cm-content")).to_have_text("z = 3")
    expect(page.locator(".jp-Cell .jp-fstools-Review-lines.jp-mod-add").first).to_have_text("x = 'one'")
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)
    window.photograph("cells")


def test_of_a_notebook_exactly_the_approved_cells_are_written(cells, waits):
    window, change = cells
    boxes = window.page.locator(".jp-Notebook .jp-fstools-Review-controls")
    expect(boxes).to_have_count(3)
    for number, action in enumerate(("approve", "approve", "reject")):
        press(boxes.nth(number), action)
    expect(boxes).to_have_count(0)
    written = json.loads(waits.text("n.ipynb"))["cells"]
    assert ["".join(cell["source"]) for cell in written] == ["x = 'one'", "print(x)", "y = 2", "z = 3"]
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert decided["rejected"] == {"three": [0]}
