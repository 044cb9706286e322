"""A person reads and decides about the cells of an open notebook, and works in them meanwhile."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import THREE_FRAMES, act, axe_finds, unfold
from tests.browser.open_documents.documents import Notebook, holds, notebook_text, replace
from tests.legs import NEWEST

LINES = [f"line_{number} = {number}" for number in range(12)]
LONG = "\n".join(LINES)
CHANGED = LONG.replace("line_8 = 8", "LINE_8 = 8")
ADD = ".jp-fstools-Review-lines.jp-mod-add"


@pytest.fixture
def open_notebook(desk):
    """Opens a notebook that the assistant has read."""

    def opened(folder, *sources):
        desk.open(folder.write("n.ipynb", notebook_text(*sources)))
        folder.call("read_notebook", "n.ipynb")
        Notebook(desk)

    return opened


def cell(window, index):
    return window.page.locator(".jp-Notebook .jp-Cell").nth(index)


def proposed(call):
    status, answer = call
    assert status == 202, answer
    return answer["change"]


def type_in(window, index, text):
    """Type at the end of a cell: a click beside its lines might press a button of the review between them."""
    cell(window, index).locator(".cm-line").first.click()
    window.page.keyboard.press("Control+End")
    window.page.keyboard.type(text)


def bar(window):
    return window.page.locator(".jp-fstools-ReviewBar:visible")


def test_a_proposal_lands_in_the_cell_that_the_person_goes_on_with(open_notebook, desk, waits):
    open_notebook(waits, "x = 1", LONG)
    proposed(replace(waits, "c1", CHANGED))
    expect(cell(desk, 1).locator(ADD)).to_have_text("LINE_8 = 8")
    type_in(desk, 1, "\nmine = 1")
    desk.wait_until_known(waits.path("n.ipynb"), saved=False)
    expect(cell(desk, 1).locator(ADD)).to_have_text("LINE_8 = 8")
    expect(bar(desk).locator(".jp-fstools-ReviewBar-stale")).to_have_count(0)
    act(cell(desk, 1), "approve")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", CHANGED + "\nmine = 1"])


@pytest.mark.parametrize("saved", [False, True])
def test_what_still_fits_of_a_cell_is_approved_and_nothing_else(open_notebook, desk, waits, saved):
    open_notebook(waits, "x = 1", LONG)
    change = proposed(replace(waits, "c1", CHANGED.replace("line_0 ", "LINE_0 ")))
    expect(cell(desk, 1).locator(ADD)).to_have_text(["LINE_0 = 0", "LINE_8 = 8"])
    cell(desk, 1).locator(".cm-line", has_text="line_8 = 8").click()
    desk.page.keyboard.press("End")
    desk.page.keyboard.type("88")
    if saved:
        desk.page.keyboard.press("Control+s")
    desk.wait_until_known(waits.path("n.ipynb"), saved=saved)
    stale = cell(desk, 1).locator(".jp-fstools-Review-other.jp-mod-stale")
    expect(stale.locator(".jp-mod-remove")).to_contain_text("line_8 = 8")
    expect(stale.locator(".jp-mod-add")).to_contain_text("LINE_8 = 8")
    expect(cell(desk, 1).locator('[data-action="approve"]')).to_have_count(1)
    desk.photograph("one_of_two_is_stale")
    act(stale, "reject")
    act(cell(desk, 1), "approve")
    expect(bar(desk)).to_have_count(0)
    wanted = LONG.replace("line_0 ", "LINE_0 ").replace("line_8 = 8", "line_8 = 888")
    assert holds(waits, "n.ipynb", ["x = 1", wanted])
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert (decided["taken"], decided["rejected"]) == ({"c1": [0]}, {"c1": [1]})


@pytest.mark.parametrize("saved", [False, True])
def test_a_hunk_of_a_cell_is_edited_while_another_no_longer_fits(open_notebook, desk, waits, saved):
    open_notebook(waits, "x = 1", LONG)
    change = proposed(replace(waits, "c1", CHANGED.replace("line_0 ", "LINE_0 ")))
    expect(cell(desk, 1).locator(ADD)).to_have_count(2)
    cell(desk, 1).locator(".cm-line", has_text="line_8 = 8").click()
    desk.page.keyboard.press("End")
    desk.page.keyboard.type("88")
    if saved:
        desk.page.keyboard.press("Control+s")
    desk.wait_until_known(waits.path("n.ipynb"), saved=saved)
    act(cell(desk, 1).locator(".jp-fstools-Review-other.jp-mod-stale"), "reject")
    act(cell(desk, 1), "edit")
    edit = cell(desk, 1).get_by_label("Text to write instead")
    edit.fill(edit.input_value().replace("LINE_0", "EDITED"))
    act(cell(desk, 1), "approve")
    expect(bar(desk)).to_have_count(0)
    wanted = LONG.replace("line_0 ", "EDITED ").replace("line_8 = 8", "line_8 = 888")
    assert holds(waits, "n.ipynb", ["x = 1", wanted])
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert (decided["taken"], decided["rejected"], decided["edited"]) == ({"c1": [0]}, {"c1": [1]}, True)


def test_all_of_a_cell_is_approved_with_a_hunk_as_it_was_edited(open_notebook, desk, waits):
    """Its own buttons are pressed only where all of its hunks are decided alike."""
    open_notebook(waits, "x = 1", LONG)
    proposed(replace(waits, "c1", CHANGED.replace("line_0 ", "LINE_0 ")))
    act(cell(desk, 1).locator(".jp-fstools-Review-controls").first, "edit")
    edit = cell(desk, 1).get_by_label("Text to write instead")
    edit.fill(edit.input_value().replace("LINE_0", "EDITED"))
    approve = cell(desk, 1).locator('[data-action="approve"]')
    approve.first.click()
    expect(approve.first).to_have_attribute("aria-pressed", "true")
    expect(approve.last).to_have_attribute("aria-pressed", "false")
    approve.last.click()
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", CHANGED.replace("line_0 ", "EDITED ")])


@pytest.mark.parametrize("at", ["bar", "cell"])
def test_a_text_that_is_being_edited_counts_when_all_is_approved(open_notebook, desk, waits, at):
    open_notebook(waits, "x = 1", LONG)
    proposed(replace(waits, "c1", CHANGED.replace("line_0 ", "LINE_0 ")))
    act(cell(desk, 1).locator(".jp-fstools-Review-controls").first, "edit")
    edit = cell(desk, 1).get_by_label("Text to write instead")
    edit.fill(edit.input_value().replace("LINE_0", "EDITED"))
    approve = (bar(desk) if at == "bar" else cell(desk, 1)).locator('[data-action="approve"]')
    approve.last.click()
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", CHANGED.replace("line_0 ", "EDITED ")])


@pytest.fixture
def open_without_ids(desk):
    """Opens a notebook whose file has no ids, as before format 4.5, and which the assistant has read."""

    def opened(folder, *sources):
        content = json.loads(notebook_text(*(sources or ("a = 1", "b = 1", "c = 1")))) | {"nbformat_minor": 4}
        for one in content["cells"]:
            del one["id"]
        desk.open(folder.write("n.ipynb", json.dumps(content)))
        folder.call("read_notebook", "n.ipynb")
        Notebook(desk)

    return opened


def test_a_proposal_for_a_notebook_without_ids_is_shown_and_approved_in_its_cell(open_without_ids, desk, waits):
    """The page finds the cell by its text; the server tells whether the proposal still fits."""
    open_without_ids(waits)
    proposed(waits.call("edit_notebook", "n.ipynb", index=1, new_source="b = 2"))
    desk.open_panel()
    card = desk.card(waits.path("n.ipynb"))
    approve = card.locator('[data-action="approve"]')
    stale = bar(desk).locator(".jp-fstools-ReviewBar-stale")
    expect(cell(desk, 1).locator(ADD)).to_have_text("b = 2")
    expect(approve).to_be_visible()
    type_in(desk, 1, "3")
    expect(stale).to_have_count(1)
    expect(cell(desk, 1).locator(".jp-fstools-Review-other.jp-mod-stale .jp-mod-add")).to_have_text("b = 2")
    expect(approve).to_have_count(0)
    desk.page.keyboard.press("Backspace")
    expect(stale).to_have_count(0)
    expect(approve).to_be_visible()
    act(cell(desk, 1), "approve")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["a = 1", "b = 2", "c = 1"])


def test_a_proposal_that_fits_several_cells_without_ids_is_compared(open_without_ids, desk, waits):
    open_without_ids(waits, "a = 1", "a = 1")
    proposed(waits.call("edit_notebook", "n.ipynb", index=1, new_source="a = 2"))
    expect(bar(desk).locator('[data-action="compare"]')).to_be_visible()
    expect(desk.page.locator('.jp-Notebook [data-action="approve"], .jp-fstools-Review-lines')).to_have_count(0)
    act(bar(desk), "compare")
    desk.page.locator(".jp-fstools-ChangeComparison:visible").get_by_role("button", name="Approve").click()
    assert holds(waits, "n.ipynb", ["a = 1", "a = 2"])


def test_two_proposals_that_make_cells_without_ids_alike_are_compared(open_without_ids, desk, waits):
    """Both cells would get the same name."""
    open_without_ids(waits)
    for at in range(2):
        proposed(waits.call("edit_notebook", "n.ipynb", index=at, new_source="pass"))
    expect(bar(desk)).to_contain_text("2 changes")
    expect(bar(desk).locator('[data-action="compare"]')).to_be_visible()
    expect(desk.page.locator(".jp-Notebook .jp-fstools-Review-lines")).to_have_count(0)


def test_a_change_of_a_notebook_without_ids_is_undone_in_the_document(open_without_ids, desk, folder):
    open_without_ids(folder)
    folder.call("edit_notebook", "n.ipynb", index=1, new_source="b = 2")
    expect(bar(desk)).to_contain_text(f"1 change by {folder.session}")
    expect(cell(desk, 1).locator(".jp-fstools-Review-line")).to_have_text("b = 2")
    act(cell(desk, 1), "undo")
    expect(bar(desk)).to_have_count(0)
    assert holds(folder, "n.ipynb", ["a = 1", "b = 1", "c = 1"])


@pytest.fixture
def open_with_one_id_twice(desk):
    """Opens a notebook whose first two cells have one id, of which JupyterLab gives the second another one."""

    def opened(folder):
        content = json.loads(notebook_text("a = 1", "b = 1", "c = 1"))
        content["cells"][1]["id"] = "c0"
        desk.open(folder.write("n.ipynb", json.dumps(content)))
        folder.call("read_notebook", "n.ipynb")
        Notebook(desk)

    return opened


@pytest.mark.parametrize("at", [0, 1])
def test_a_proposal_for_one_of_two_cells_with_the_same_id_is_approved_in_its_cell(
    open_with_one_id_twice, desk, waits, at
):
    open_with_one_id_twice(waits)
    proposed(waits.call("edit_notebook", "n.ipynb", index=at, new_source="x = 2"))
    expect(cell(desk, at).locator(ADD)).to_have_text("x = 2")
    expect(desk.page.locator(".jp-Notebook .jp-fstools-Review-controls")).to_have_count(1)
    act(cell(desk, at), "approve")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 2", "b = 1", "c = 1"] if at == 0 else ["a = 1", "x = 2", "c = 1"])


def test_changes_of_both_cells_with_the_same_id_are_compared(open_with_one_id_twice, desk, waits):
    open_with_one_id_twice(waits)
    edits = [{"index": at, "new_source": f"x = {at}"} for at in (0, 1)]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    expect(bar(desk).locator('[data-action="compare"]')).to_be_visible()
    expect(bar(desk).locator(".jp-fstools-ReviewBar-stale")).to_have_count(0)
    expect(desk.page.locator(".jp-Notebook .jp-fstools-Review-lines")).to_have_count(0)
    act(bar(desk), "compare")
    desk.page.locator(".jp-fstools-ChangeComparison:visible").get_by_role("button", name="Approve").click()
    assert holds(waits, "n.ipynb", ["x = 0", "x = 1", "c = 1"])


@pytest.mark.parametrize("delete", [False, True])
def test_a_change_of_one_of_two_cells_with_the_same_id_is_taken_back_at_its_place(
    open_with_one_id_twice, desk, folder, delete
):
    open_with_one_id_twice(folder)
    edit = {"edit_mode": "delete"} if delete else {"new_source": "b = 2"}
    assert folder.call("edit_notebook", "n.ipynb", index=1, **edit)[0] == 200
    expect(bar(desk)).to_contain_text("1 change by")
    act(desk.page.locator(".jp-fstools-Review-ghost") if delete else cell(desk, 1), "undo")
    expect(bar(desk)).to_have_count(0)
    assert holds(folder, "n.ipynb", ["a = 1", "b = 1", "c = 1"])


def test_what_the_person_types_over_is_stale_in_the_document_and_in_the_panel_at_once(open_notebook, desk, waits):
    open_notebook(waits, "x = 1", "y = 1")
    proposed(replace(waits, "c1", "y = 2"))
    desk.open_panel()
    card = desk.card(waits.path("n.ipynb"))
    expect(card.locator('[data-action="approve"]')).to_be_visible()
    type_in(desk, 1, "  # mine")
    stale = cell(desk, 1).locator(".jp-fstools-Review-other.jp-mod-stale")
    expect(stale.locator(".jp-mod-remove")).to_have_text("y = 1")
    expect(stale.locator(".jp-mod-add")).to_have_text("y = 2")
    for place in (stale, bar(desk), card):
        expect(place.locator('[data-action="approve"]')).to_have_count(0)
    expect(card).to_contain_text("out of date")
    desk.wait_until_known(waits.path("n.ipynb"), saved=False)
    expect(unfold(card).locator("..")).to_contain_text("y = 1  # mine")
    desk.photograph("stale_in_the_panel")
    # The proposal fits again once the typed text is removed.
    cell(desk, 1).locator(".cm-line").first.click()
    desk.page.keyboard.press("End")
    for _ in "  # mine":
        desk.page.keyboard.press("Backspace")
    for place in (cell(desk, 1), bar(desk), card):
        expect(place.locator('[data-action="approve"]').first).to_be_visible()


def test_proposals_for_cells_that_the_person_deleted_or_changed_are_stale(open_notebook, desk, waits):
    open_notebook(waits, "x = 1", "y = 1", "z = 1")
    edits = [{"cell_id": "c1", "new_source": "y = 2"}, {"cell_id": "c2", "edit_mode": "delete"}]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    expect(cell(desk, 2)).to_contain_text("deletes this cell")
    type_in(desk, 2, "  # mine")
    ghost = desk.page.locator(".jp-fstools-Review-ghost")
    expect(ghost.locator(".jp-mod-remove")).to_have_text("z = 1")
    cell(desk, 1).locator(".jp-InputPrompt").click()
    desk.page.keyboard.press("d")
    desk.page.keyboard.press("d")
    expect(desk.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)
    expect(ghost.locator(".jp-mod-add")).to_have_text("y = 2")
    expect(bar(desk).locator(".jp-fstools-ReviewBar-stale")).to_have_text("1 out of date")
    expect(desk.page.locator('.jp-NotebookPanel [data-action="approve"]')).to_have_count(0)
    desk.photograph("gone")
    act(bar(desk), "reject")
    expect(ghost).to_have_count(0)
    assert not waits.lab.proposed()


def test_each_hunk_of_a_cell_that_is_larger_than_the_screen_is_reached_with_the_keyboard(open_notebook, desk, waits):
    long = "\n".join(f"line_{number} = {number}" for number in range(200))
    open_notebook(waits, "x = 1", long, "y = 1")
    changed = long.replace("line_90 ", "LINE_90 ").replace("line_180 ", "LINE_180 ")
    edits = [{"cell_id": "c1", "new_source": changed}, {"cell_id": "c2", "new_source": "y = 2"}]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    expect(bar(desk)).to_be_visible()
    for key, text in (("Alt+F5", "LINE_90"), ("Alt+F5", "LINE_180"), ("Alt+F5", "y = 2"), ("Alt+Shift+F5", "LINE_180")):
        desk.page.keyboard.press(key)
        expect(desk.page.locator(ADD, has_text=text)).to_be_in_viewport()
    desk.photograph("reached")


def test_changes_are_shown_and_reached_in_a_notebook_that_is_drawn_whole(open_lab, waits, settings):
    settings("@jupyterlab/notebook-extension:tracker", windowingMode="none")
    window = open_lab()
    window.open(waits.write("n.ipynb", notebook_text(*(f"x = {number}" for number in range(80)))))
    Notebook(window)
    waits.call("read_notebook", "n.ipynb")
    edits = [{"cell_id": f"c{number}", "new_source": f"y = {number}"} for number in (2, 70)]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    # Marks exist only for cells on screen.
    expect(window.page.locator(".jp-Notebook .jp-fstools-Review-controls")).to_have_count(1)
    for number in (2, 70):
        window.page.keyboard.press("Alt+F5")
        expect(cell(window, number).locator('[data-action="approve"]')).to_be_in_viewport()
    act(bar(window), "approve")
    expect(bar(window)).to_have_count(0)
    wanted = [f"{'y' if number in (2, 70) else 'x'} = {number}" for number in range(80)]
    assert holds(waits, "n.ipynb", wanted)


def test_a_new_cell_is_stale_once_the_cell_is_gone_below_which_it_was_to_stand(open_notebook, desk, waits):
    """Stale until the person takes the deletion back; then it lands there."""
    open_notebook(waits, "x = 1", "y = 1", "z = 1")
    edits = [{"edit_mode": "insert", "after": "c1", "cell_type": "code", "new_source": "new = 1"}]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    approve = desk.page.locator('.jp-NotebookPanel [data-action="approve"]')
    ghost = desk.page.locator(".jp-fstools-Review-ghost")
    expect(ghost.locator('[data-action="approve"]')).to_be_visible()
    cell(desk, 1).locator(".jp-InputPrompt").click()
    for key in ("d", "d"):
        desk.page.keyboard.press(key)
    expect(ghost).to_contain_text("out of date")
    expect(approve).to_have_count(0)
    expect(bar(desk).locator(".jp-fstools-ReviewBar-stale")).to_have_text("1 out of date")
    desk.photograph("stale")
    desk.page.keyboard.press("z")
    expect(ghost.locator('[data-action="approve"]')).to_be_visible()
    act(ghost, "approve")
    expect(ghost).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", "y = 1", "new = 1", "z = 1"])


def test_parts_that_still_fit_are_approved_beside_a_cell_that_the_person_deleted(open_notebook, desk, waits):
    """Also a new cell, if the one is there below which it is to stand."""
    open_notebook(waits, "x = 1", "y = 1", "z = 1", "w = 1")
    new = {"edit_mode": "insert", "cell_type": "code"}
    edits = [
        {"edit_mode": "delete", "cell_id": "c0"},
        {**new, "after": "c1", "new_source": "lost = 1"},
        {"cell_id": "c2", "new_source": "z = 2"},
        {**new, "after": "c3", "new_source": "new = 1"},
    ]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    approve = desk.page.locator('.jp-NotebookPanel .jp-Cell [data-action="approve"]')
    expect(approve).to_have_count(4)
    for _ in range(2):
        cell(desk, 0).locator(".jp-InputPrompt").click()
        for key in ("d", "d"):
            desk.page.keyboard.press(key)
    stale = desk.page.locator(".jp-NotebookPanel .jp-Cell .jp-fstools-Review-controls", has_text="out of date")
    expect(stale).to_have_count(2)
    expect(approve).to_have_count(2)
    desk.photograph("two_of_four_fit")
    for at in range(2):
        act(stale.nth(at), "reject")
        approve.nth(at).click()
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["z = 2", "w = 1", "new = 1"])


def test_an_edited_cell_that_the_person_deleted_is_shown_below_the_one_that_it_followed(open_notebook, desk, waits):
    """Wherever that stands by now; a new cell between them is not there yet."""
    open_notebook(waits, "w = 1", "x = 1", "y = 1", "z = 1")
    edits = [
        {"edit_mode": "insert", "after": "c1", "cell_type": "code", "new_source": "new = 1"},
        {"cell_id": "c2", "new_source": "y = 2"},
    ]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    expect(cell(desk, 2).locator(ADD)).to_have_text("y = 2")
    for at in (2, 0):
        cell(desk, at).locator(".jp-InputPrompt").click()
        for key in ("d", "d"):
            desk.page.keyboard.press(key)
    expect(desk.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)
    expect(cell(desk, 0)).to_contain_text("A cell that is no longer there")
    expect(cell(desk, 0)).to_contain_text("y = 2")


def open_with_hidden_editors(desk, folder):
    """Open a notebook of which one cell is rendered, and another one folded."""
    whole = json.loads(notebook_text("x = 1", "y = 1", "z = 1"))
    title, folded = whole["cells"][1:]
    title.update(cell_type="markdown", source=["# Title"])
    del title["outputs"], title["execution_count"]
    folded["metadata"] = {"jupyter": {"source_hidden": True}}
    desk.open(folder.write("n.ipynb", json.dumps(whole)))
    folder.call("read_notebook", "n.ipynb")
    Notebook(desk)


def test_cells_to_be_deleted_whose_editor_is_out_of_sight_are_struck_through(desk, waits):
    open_with_hidden_editors(desk, waits)
    edits = [{"edit_mode": "delete", "cell_id": name} for name in ("c1", "c2")]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    for index, seen in ((1, ".jp-MarkdownOutput"), (2, ".jp-Placeholder-content")):
        expect(cell(desk, index).locator(seen)).to_have_css("text-decoration-line", "line-through")
    desk.photograph("struck")


def test_changes_of_cells_whose_editor_is_out_of_sight_are_shown_beside_them(desk, waits):
    """Markdown is rendered, and an input folded; once it comes into sight, the lines are marked there."""
    open_with_hidden_editors(desk, waits)
    edits = [{"cell_id": "c1", "new_source": "# New title"}, {"cell_id": "c2", "new_source": "z = 2"}]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    for index, old, new in ((1, "# Title", "# New title"), (2, "z = 1", "z = 2")):
        box = cell(desk, index).locator("> .jp-fstools-Review-other")
        expect(box.locator(".jp-mod-remove")).to_have_text(old)
        expect(box.locator(ADD)).to_have_text(new)
        expect(box.locator('[data-action="approve"]')).to_be_visible()
    desk.photograph("beside")
    assert axe_finds(desk.page, ".jp-fstools-Review-other") == []
    cell(desk, 1).locator(".jp-RenderedMarkdown").dblclick()
    expect(cell(desk, 1).locator("> .jp-fstools-Review-other")).to_have_count(0)
    expect(cell(desk, 1).locator(f".cm-editor {ADD}")).to_have_text("# New title")
    desk.page.keyboard.press("Shift+Enter")
    act(cell(desk, 1).locator("> .jp-fstools-Review-other"), "approve")
    cell(desk, 2).locator(".jp-Placeholder-content").click()
    act(cell(desk, 2).locator(".cm-editor"), "approve")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", "# New title", "z = 2"])


def test_hunks_of_a_cell_are_decided_with_the_keyboard_alone(open_notebook, desk, waits):
    """Text typed at a hunk stays there: no key reaches the cell or runs a command of the notebook."""
    open_notebook(waits, "x = 1", LONG)
    change = proposed(replace(waits, "c1", CHANGED.replace("line_0 ", "LINE_0 ")))
    expect(cell(desk, 1).locator(ADD)).to_have_count(2)
    page, keys = desk.page, desk.page.keyboard
    type_in(desk, 1, "")
    cell(desk, 1).locator('[data-action="edit"]').first.focus()
    keys.press("Tab")
    keys.type("odd, odd, no")
    expect(cell(desk, 1).get_by_label("Reason for rejecting").first).to_have_value("odd, odd, no")
    keys.press("Shift+Tab")
    keys.press("Shift+Tab")
    keys.press("Enter")
    pressed = page.locator('[data-action="reject"]:focus')
    expect(pressed).to_have_attribute("aria-pressed", "true")
    for _ in range(4):
        keys.press("Tab")
    expect(page.locator(":focus")).to_have_attribute("data-action", "approve")
    keys.press("Space")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", CHANGED])
    expect(page.locator(".jp-Notebook :focus")).to_have_count(1)
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert (decided["taken"], decided["reason"]) == ({"c1": [1]}, "odd, odd, no")


def test_what_is_written_beside_the_buttons_runs_and_takes_back_nothing_of_the_notebook(open_notebook, desk, waits):
    open_notebook(waits, "x = 1", LONG)
    proposed(replace(waits, "c1", CHANGED))
    type_in(desk, 0, "23")
    page = desk.page
    beside = cell(desk, 1).locator(".jp-fstools-Review-controls")
    act(beside, "edit")
    for field in (beside.locator("input"), beside.locator("textarea")):
        field.focus()
        for key in ("Control+Enter", "Shift+Enter", "Alt+Enter"):
            page.keyboard.press(key)
        field.fill("why")
        page.keyboard.type("?")
        expect(field).to_have_value("why?")
        page.keyboard.press("Control+KeyZ")
        expect(field).not_to_have_value("why?")
        expect(field).to_be_focused()
    page.keyboard.type("a")
    page.keyboard.press("Enter")
    page.keyboard.type("b")
    expect(beside.locator("textarea")).to_have_value(re.compile("a\nb$"))
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)
    expect(cell(desk, 0).locator(".cm-line")).to_have_text("x = 123")


def test_the_keyboard_goes_with_the_change_that_it_leads_to(open_notebook, desk, waits):
    """From the buttons of one change Enter would else decide about that one, while another is shown."""
    open_notebook(waits, "x = 1", LONG)
    proposed(replace(waits, "c0", "x = 2"))
    proposed(replace(waits, "c1", CHANGED.replace("line_0 ", "LINE_0 ")))
    expect(cell(desk, 1).locator(ADD)).to_have_count(2)
    keys = desk.page.keyboard
    keys.press("Alt+F5")
    keys.press("Tab")
    expect(cell(desk, 0).locator('[data-action="approve"]')).to_be_focused()
    for hunk in range(2):
        keys.press("Alt+F5")
        expect(cell(desk, 1)).to_be_focused()
        keys.press("Tab")
        expect(cell(desk, 1).locator('[data-action="approve"]').nth(hunk)).to_be_focused()


def test_a_proposal_for_a_cell_whose_lines_end_as_on_windows_is_approved(open_notebook, desk, waits):
    open_notebook(waits, "x = 1\r\ny = 1", "z = 1")
    proposed(replace(waits, "c0", "x = 1\ny = 2"))
    expect(cell(desk, 0).locator(ADD)).to_contain_text("y = 2")
    cell(desk, 0).locator('[data-action="approve"]').click(timeout=5000)
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1\ny = 2", "z = 1"])


def test_a_reason_that_is_being_typed_stays_while_a_program_inserts_a_cell_above(open_notebook, desk, waits):
    open_notebook(waits, "x = 1", "y = 1")
    proposed(waits.call("edit_notebook", "n.ipynb", edit_mode="delete", cell_id="c1"))
    reason = desk.page.get_by_label("Reason for rejecting")
    reason.focus()
    desk.page.keyboard.type("still ")
    found = json.loads(waits.text("n.ipynb"))
    found["cells"].insert(0, {**found["cells"][0], "id": "new", "source": "z = 1"})
    waits.write("n.ipynb", json.dumps(found))
    waits.call("read_notebook", "n.ipynb")
    expect(cell(desk, 0).locator(".cm-content")).to_have_text("z = 1")
    desk.page.evaluate(THREE_FRAMES)
    desk.page.keyboard.type("needed")
    expect(reason).to_have_value("still needed")


def test_what_was_rejected_or_edited_before_is_so_once_all_is_approved(open_notebook, desk, waits):
    open_notebook(waits, "x = 1", "y = 1", "z = 1")
    change = proposed(waits.call("edit_notebook", "n.ipynb", edits=[
        {"cell_id": name, "new_source": f"{name} = 2"} for name in ("c0", "c1", "c2")
    ]))  # fmt: skip
    act(cell(desk, 0), "reject")
    expect(cell(desk, 0).locator('[data-action="reject"]')).to_have_attribute("aria-pressed", "true")
    act(cell(desk, 1), "edit")
    cell(desk, 1).get_by_label("Text to write instead").fill("mine = 2")
    act(cell(desk, 1), "approve")
    expect(cell(desk, 1).locator('[data-action="approve"]')).to_have_attribute("aria-pressed", "true")
    act(bar(desk), "approve")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", "mine = 2", "c2 = 2"])
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert (decided["rejected"], decided["edited"]) == ({"c0": [0]}, True)


@pytest.fixture
def made(open_notebook, desk, folder):
    """A notebook with a cell edited in two places, one inserted, one deleted and one moved by an assistant."""
    open_notebook(folder, LONG, "y = 1", "z = 1", "w = 1")
    edits = [
        {"cell_id": "c0", "new_source": CHANGED.replace("line_0 ", "LINE_0 ")},
        {"cell_id": "c1", "edit_mode": "delete"},
        {"edit_mode": "insert", "after": "c2", "cell_type": "code", "new_source": "new = 1"},
        {"cell_id": "c3", "edit_mode": "move", "at": "start"},
    ]
    status, answer = folder.call("edit_notebook", "n.ipynb", edits=edits)
    assert status == 200, answer
    expect(desk.page.locator(".jp-fstools-Review-ghost")).to_contain_text("y = 1")
    return answer["change"]


def about(window, said):
    """The buttons for a cell as a whole."""
    return window.page.locator(".jp-Notebook .jp-fstools-Review-controls", has_text=said)


def test_cells_are_kept_as_a_whole_also_after_a_reload(made, open_lab, desk, folder):
    for said in ("all of this cell", "moved here", "new cell"):
        act(about(desk, said), "keep")
        expect(about(desk, said)).to_have_count(0)
    act(desk.page.locator(".jp-fstools-Review-ghost"), "keep")
    expect(bar(desk)).to_have_count(0)
    kept = folder.lab.call("GET", f"/changes/{made['id']}")[1]["change"]
    assert len(kept["seen_by"]) == 1
    again = open_lab(path=folder.path("n.ipynb"))
    expect(again.page.locator(".jp-Notebook .jp-Cell")).to_have_count(4)
    again.page.evaluate(THREE_FRAMES)
    expect(bar(again)).to_have_count(0)
    assert holds(folder, "n.ipynb", ["w = 1", CHANGED.replace("line_0 ", "LINE_0 "), "z = 1", "new = 1"])


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("all of this cell", ["w = 1", LONG, "z = 1", "new = 1"]),
        ("new cell", ["w = 1", CHANGED.replace("line_0 ", "LINE_0 "), "z = 1"]),
        ("moved here", [CHANGED.replace("line_0 ", "LINE_0 "), "z = 1", "new = 1", "w = 1"]),
        ("y = 1", ["w = 1", CHANGED.replace("line_0 ", "LINE_0 "), "y = 1", "z = 1", "new = 1"]),
    ],
)
def test_one_cell_is_taken_back_as_a_whole(made, desk, folder, said, wanted):
    ghost = desk.page.locator(".jp-fstools-Review-ghost")
    act(ghost if said == "y = 1" else about(desk, said), "undo")
    expect(ghost if said == "y = 1" else about(desk, said)).to_have_count(0)
    expect(desk.page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(wanted))
    assert holds(folder, "n.ipynb", wanted)
    desk.photograph("taken_back")


def test_one_cell_after_the_other_is_taken_back_until_nothing_is_left(made, desk, folder):
    act(about(desk, "new cell"), "undo")
    expect(about(desk, "new cell")).to_have_count(0)
    act(desk.page.locator(".jp-fstools-Review-ghost"), "undo")
    expect(desk.page.locator(".jp-fstools-Review-ghost")).to_have_count(0)
    act(about(desk, "moved here"), "undo")
    expect(about(desk, "moved here")).to_have_count(0)
    act(about(desk, "all of this cell"), "undo")
    expect(bar(desk)).to_have_count(0)
    assert holds(folder, "n.ipynb", [LONG, "y = 1", "z = 1", "w = 1"])


def test_a_cell_that_a_later_change_rewrote_is_offered_for_undo_once_that_one_is_gone(made, desk, folder):
    new = next(one["cell_id"] for one in made["diff"]["cells"] if one["action"] == "insert")
    later = folder.call("edit_notebook", "n.ipynb", cell_id=new, new_source="later = 1")[1]["change"]
    undo = about(desk, "new cell").locator('[data-action="undo"]')
    expect(undo).to_have_count(0)
    expect(about(desk, "moved here").locator('[data-action="undo"]')).to_be_visible()
    assert folder.lab.decide(later, "undo")[0] == 200
    undo.click()
    expect(about(desk, "new cell")).to_have_count(0)


def test_lines_that_were_only_added_are_taken_back_below_a_later_change(desk, folder):
    folder.write("a.py", LONG)
    desk.open(folder.path("a.py"))
    folder.change("a.py", "line_11 = 11", "line_11 = 11\nnew = 1", session=f"{folder.session}.ada")
    folder.change("a.py", "line_3 = 3", "LINE_3 = 3")
    box = desk.page.locator(".jp-FileEditor .jp-fstools-Review-controls", has_text=f"{folder.session}.ada")
    act(box, "undo")
    expect(box).to_have_count(0)
    assert holds(folder, "a.py", LONG.replace("line_3 = 3", "LINE_3 = 3"))


def test_a_cell_is_converted_and_cleared_though_the_person_goes_on_in_it(open_notebook, desk, waits):
    output = {"output_type": "stream", "name": "stdout", "text": "forty-two\n"}
    desk.open(waits.write("n.ipynb", notebook_text("x = 1", "y = 1", outputs=[output])))
    waits.call("read_notebook", "n.ipynb")
    Notebook(desk)
    edits = [
        {"cell_id": "c0", "edit_mode": "convert", "cell_type": "markdown"},
        {"cell_id": "c1", "edit_mode": "clear_outputs"},
    ]
    proposed(waits.call("edit_notebook", "n.ipynb", edits=edits))
    expect(cell(desk, 0)).to_contain_text("becomes a markdown cell")
    type_in(desk, 0, "  # mine")
    type_in(desk, 1, "  # mine")
    desk.wait_until_known(waits.path("n.ipynb"), saved=False)
    expect(bar(desk).locator(".jp-fstools-ReviewBar-stale")).to_have_count(0)
    act(bar(desk), "approve")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1  # mine", "y = 1  # mine"])
    [first, second] = json.loads(waits.text("n.ipynb"))["cells"]
    assert (first["cell_type"], second["outputs"]) == ("markdown", [])


def test_a_conversion_of_a_cell_that_has_another_type_by_now_is_stale(open_notebook, desk, waits):
    open_notebook(waits, "x = 1", "y = 1")
    proposed(waits.call("edit_notebook", "n.ipynb", cell_id="c0", edit_mode="convert", cell_type="markdown"))
    expect(cell(desk, 0).locator('[data-action="approve"]')).to_be_visible()
    cell(desk, 0).locator(".jp-InputPrompt").click()
    desk.page.keyboard.press("m")
    expect(bar(desk).locator(".jp-fstools-ReviewBar-stale")).to_have_text("1 out of date")
    expect(desk.page.locator('.jp-NotebookPanel [data-action="approve"]')).to_have_count(0)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_nothing_keeps_anybody_from_deciding_about_cells(desk, folder, waits, choose_theme, theme):
    choose_theme(theme)
    for place in (waits, folder):
        place.write("n.ipynb", notebook_text(LONG, "y = 1", "z = 1", "w = 1"))
        place.call("read_notebook", "n.ipynb")
        edits = [
            {"cell_id": "c0", "new_source": CHANGED.replace("line_0 ", "LINE_0 ")},
            {"cell_id": "c1", "edit_mode": "delete"},
            {"edit_mode": "insert", "after": "c2", "cell_type": "code", "new_source": "new = 1"},
            {"cell_id": "c3", "edit_mode": "move", "at": "start"},
        ]
        assert place.call("edit_notebook", "n.ipynb", edits=edits)[0] in (200, 202)
        desk.open(place.path("n.ipynb"))
        Notebook(desk)
        expect(desk.page.locator(".jp-fstools-Review-ghost")).to_have_count(1)
        expect(desk.page.locator(".jp-fstools-Review-other").first).to_be_visible()
        desk.photograph(f"cells_{place.name[:5]}")
        found = axe_finds(desk.page, ".jp-fstools-ReviewBar", ".jp-fstools-Review-box", ".jp-fstools-Review-other")
        assert found == []
        desk.close_all()


def test_the_bar_counts_no_change_whose_cell_was_typed_over_or_deleted(open_notebook, desk, folder):
    open_notebook(folder, "x = 1", "y = 1", "z = 1")
    for name, source in (("c0", "x = 2"), ("c1", "y = 2"), ("c2", "z = 2")):
        assert replace(folder, name, source)[0] == 200
    expect(bar(desk)).to_contain_text("3 changes by")
    type_in(desk, 0, "  # mine")
    expect(bar(desk)).to_contain_text("2 changes by")
    expect(bar(desk)).to_contain_text("1 change no longer in the document")
    cell(desk, 2).locator(".jp-InputPrompt").click()
    desk.page.keyboard.press("Escape")
    for _ in range(2):
        desk.page.keyboard.press("d")
    expect(desk.page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)
    expect(bar(desk)).to_contain_text("2 changes no longer in the document")
    desk.photograph("gone")
    cell(desk, 0).locator(".jp-InputPrompt").click()
    act(bar(desk), "next")
    expect(cell(desk, 1)).to_have_class(re.compile("jp-mod-active"))
    act(bar(desk), "keep")
    expect(bar(desk)).to_have_count(0)


@pytest.mark.parametrize("line", ["line_0 = 0", "line_8 = 8"])
def test_what_is_typed_in_a_cell_while_an_edit_of_it_is_approved_stays(open_notebook, desk, waits, line):
    """Typed elsewhere in the cell, both stay; typed at the place of the edit, the edit is not written."""
    open_notebook(waits, "x = 1", LONG)
    proposed(replace(waits, "c1", CHANGED))
    act(cell(desk, 1), "edit")
    edit = cell(desk, 1).get_by_label("Text to write instead")
    edit.fill(edit.input_value().replace("LINE_8", "EDITED"))

    def typed(route):
        cell(desk, 1).locator(".cm-line", has_text=line).click()
        desk.page.keyboard.press("End")
        desk.page.keyboard.type("  # mine")
        desk.wait_until_known(waits.path("n.ipynb"), saved=False)
        route.continue_()

    desk.page.route("**/approve*", typed, times=1)
    act(cell(desk, 1), "approve")
    mine = LONG.replace(line, f"{line}  # mine")
    if line == "line_0 = 0":
        expect(bar(desk)).to_have_count(0)
        assert holds(waits, "n.ipynb", ["x = 1", mine.replace("line_8", "EDITED")])
    else:
        expect(bar(desk).get_by_role("alert")).to_have_text("The text has changed since; nothing was written.")
        expect(cell(desk, 1).locator(".cm-line", has_text="line_8 = 8  # mine")).to_be_visible()
        assert holds(waits, "n.ipynb", ["x = 1", LONG])


def test_a_proposal_fits_again_once_the_person_takes_back_another_type_of_the_cell(open_notebook, desk, waits):
    """The server has nothing to compare there, as if the file were gone."""
    open_notebook(waits, "x = 1", LONG)
    change = proposed(replace(waits, "c1", CHANGED))
    expect(cell(desk, 1).locator(ADD)).to_have_text("LINE_8 = 8")
    told = None
    desk.page.evaluate("() => { jupyterapp.shell.currentWidget.content.activeCellIndex = 1; }")
    while not told:
        with desk.page.expect_response(lambda answer: f"/changes/{change['id']}?" in answer.url) as answer:
            if told is None:
                desk.page.evaluate("() => jupyterapp.commands.execute('notebook:change-cell-to-markdown')")
        told = answer.value.json()["changed_since"]
    expect(bar(desk).locator(".jp-fstools-ReviewBar-stale")).to_be_visible()
    desk.page.evaluate("() => jupyterapp.commands.execute('notebook:undo-cell-action')")
    act(cell(desk, 1), "approve")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", CHANGED])


@pytest.mark.parametrize("leg", [NEWEST, "lab42"], indirect=True)
def test_a_collapsed_heading_tells_of_changes_below_it(desk, waits):
    content = json.loads(notebook_text("x = 1", "# Title", "y = 1"))
    content["cells"][1] |= {"cell_type": "markdown", "metadata": {"jp-MarkdownHeadingCollapsed": True}}
    del content["cells"][1]["outputs"], content["cells"][1]["execution_count"]
    waits.write("n.ipynb", json.dumps(content))
    waits.call("read_notebook", "n.ipynb")
    proposed(replace(waits, "c2", "y = 2"))
    desk.open(waits.path("n.ipynb"))
    Notebook(desk)
    note = cell(desk, 1).locator(".jp-fstools-Review-note")
    expect(note).to_have_text("Changes in 1 hidden cell")
    show = desk.page.locator(".jp-Notebook .jp-showHiddenCellsButton")
    show.click()
    expect(cell(desk, 2).locator(ADD)).to_have_text("y = 2")
    expect(note).to_have_count(0)
    cell(desk, 1).locator(".jp-RenderedMarkdown h1").hover()
    cell(desk, 1).locator(".jp-collapseHeadingButton").click()
    expect(note).to_have_text("Changes in 1 hidden cell")
    show.click()
    act(cell(desk, 2), "approve")
    expect(bar(desk)).to_have_count(0)
    assert holds(waits, "n.ipynb", ["x = 1", "# Title", "y = 2"])


@pytest.mark.parametrize("where", ["cell", "bar"])
def test_a_change_is_taken_back_though_the_person_split_its_cell_beside_it(open_notebook, desk, folder, where):
    """Through lines that its diff shows around it."""
    open_notebook(folder, "x = 1", LONG)
    assert replace(folder, "c1", CHANGED)[0] == 200
    expect(bar(desk)).to_contain_text("1 change by")
    cell(desk, 1).locator(".cm-line", has_text="line_6 = 6").click()
    desk.page.keyboard.press("End")
    desk.page.keyboard.press("Control+Shift+Minus")
    expect(desk.page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)
    expect(bar(desk)).to_contain_text("1 change by")
    act(bar(desk) if where == "bar" else cell(desk, 2), "undo")
    expect(bar(desk)).to_have_count(0)
    desk.page.keyboard.press("Control+s")
    assert holds(folder, "n.ipynb", ["x = 1", "\n".join(LINES[:7]), "\n".join(LINES[7:])])


def test_a_change_is_not_kept_where_only_one_of_its_files_can_be_taken_back(desk, folder):
    for file in ("m.ipynb", "n.ipynb"):
        folder.write(file, notebook_text("x = 1"))
        folder.call("read_notebook", file)
    edits = [{"path": folder.path(file), "cell_id": "c0", "new_source": "x = 2"} for file in ("m.ipynb", "n.ipynb")]
    status, answer = folder.lab.call("POST", "/tools/edit_notebook", {"edits": edits}, folder.session)
    assert status == 200, answer
    folder.write("m.ipynb", notebook_text("x = 3"))
    desk.open(folder.path("n.ipynb"))
    Notebook(desk)
    act(cell(desk, 0), "undo")
    expect(bar(desk).get_by_role("alert")).to_contain_text("m.ipynb has changed since")
    expect(bar(desk)).to_contain_text("1 change by")
    assert holds(folder, "n.ipynb", ["x = 2"])
