"""A person reads and decides inside the document: lines, cells, the bar in the toolbar."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import PANEL_TAB, THREE_FRAMES, Folder, act, axe_finds, unfold
from tests.browser.open_documents.documents import holds

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
def editor(desk, waits):
    """An open file of forty lines, with a proposal that changes two lines far apart."""
    waits.write("a.py", BEFORE)
    desk.open(waits.path("a.py"))
    change = rewrite(waits, upper(3, 30))
    expect(desk.page.locator(".jp-fstools-Review-controls").first).to_be_visible()
    return desk, change


def controls(window, number):
    return window.page.locator(".jp-FileEditor .jp-fstools-Review-controls").nth(number)


def press(within, action):
    within.locator(f'[data-action="{action}"]').click()


def test_a_change_that_waits_is_shown_at_its_place_and_leaves_the_document(editor, waits):
    window, _ = editor
    page = window.page
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove").first).to_have_text("line_3 = 3")
    expect(page.locator(".jp-fstools-Review-lines.jp-mod-add").first).to_have_text("LINE_3 = 3")
    # Removed and added lines are announced to a screen reader, too.
    expect(page.get_by_role("deletion").first).to_have_text("line_3 = 3")
    expect(page.get_by_role("insertion").first).to_have_text("LINE_3 = 3")
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
    with window.page.expect_response(lambda answer: "/approve" in answer.url):
        press(last, "reject")
    expect(window.page.locator(".jp-fstools-Review-line.jp-mod-remove")).to_have_count(0)
    assert waits.text("a.py") == upper(3)
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert decided == {"taken": [0], "rejected": [1], "reason": "line 30 stays", "edited": False}
    window.photograph("decided")


REPLACE_BY_THE_SAME = """() => {
  const [cell] = jupyterapp.shell.currentWidget.context.model.sharedModel.cells;
  cell.setSource(cell.getSource());
}"""


def test_hunks_stay_marked_where_their_text_is_replaced_by_the_same(editor, desk, waits):
    """As by whoever copies all of it and pastes that over it, and by a program that formats cells."""
    page = desk.page
    page.locator(".jp-FileEditor .cm-line").first.click()
    for key in "acv":
        page.keyboard.press(f"Control+{key}")
    desk.wait_until_known(waits.path("a.py"), saved=False)
    page.evaluate(THREE_FRAMES)
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove").first).to_have_text("line_3 = 3")
    expect(controls(desk, 0).locator('[data-action="approve"]')).to_be_visible()
    desk.show(waits.write("n.ipynb", notebook(("one", "x = 1\ny = 1\nz = 1"))))
    waits.call("read_notebook", "n.ipynb")
    waits.call("edit_notebook", "n.ipynb", cell_id="one", new_source="x = 1\ny = 2\nz = 1")
    removed = page.locator(".jp-Notebook .jp-fstools-Review-line.jp-mod-remove")
    expect(removed).to_have_text("y = 1")
    page.evaluate(REPLACE_BY_THE_SAME)
    page.evaluate(THREE_FRAMES)
    expect(removed).to_have_text("y = 1")
    expect(page.locator(".jp-Notebook .jp-fstools-Review-controls")).to_have_count(1)


@pytest.mark.parametrize("file", ["a.py", "n.ipynb"])
def test_lines_that_are_folded_are_unfolded_for_a_change_that_waits(settings, open_lab, waits, file):
    """When it comes, and when the person who has folded them again goes to it."""
    settings("@jupyterlab/fileeditor-extension:plugin", editorConfig={"codeFolding": True})
    settings("@jupyterlab/notebook-extension:tracker", codeCellConfig={"codeFolding": True})
    text = "x = 1\n\n\ndef f():\n    a = 1\n    b = 1\n    return a\n"
    waits.write(file, notebook(("one", "x = 1"), ("two", text)) if file == "n.ipynb" else text)
    window = open_lab()
    window.show(waits.path(file))
    page = window.page
    fold = page.get_by_title("Fold line", exact=True)
    folded = page.locator(".jp-Document .cm-foldPlaceholder")
    fold.click()
    expect(folded).to_have_count(1)
    if file == "n.ipynb":
        waits.call("read_notebook", file)
        waits.call("edit_notebook", file, cell_id="two", new_source=text.replace("b = 1", "b = 2"))
    else:
        waits.change(file, "b = 1", "b = 2")
    added = page.locator(".jp-Document .jp-fstools-Review-lines.jp-mod-add")
    expect(added).to_have_text("    b = 2")
    expect(folded).to_have_count(0)
    fold.click()
    expect(added).to_have_count(0)
    page.locator(".jp-Document .cm-line").first.click()
    page.keyboard.press("Alt+F5")
    expect(added).to_have_text("    b = 2")


def test_an_item_is_renamed_while_the_file_browser_marks_another(desk, folder):
    folder.write("a.py", "x = 1\n")
    folder.write("b.py", "x = 1\n")
    desk.go_to(folder.name)
    desk.in_menu_of("b.py", "Rename")
    name = desk.page.locator("input.jp-DirListing-editor")
    expect(name).to_be_focused()
    folder.change("a.py", "x = 1", "x = 2")
    expect(desk.page.locator(".jp-DirListing-itemText[data-jp-fstools-unseen]", has_text="a.py")).to_be_visible()
    name.fill("c.py")
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".jp-DirListing-item", has_text="c.py")).to_be_visible()
    assert folder.text("c.py") == "x = 1\n"


def test_what_was_decided_of_a_proposal_stays_over_a_reload(editor, lab, waits):
    desk, _ = editor
    press(controls(desk, 0), "approve")
    expect(controls(desk, 0)).to_contain_text("Carried out once every part")
    lab.wait_until_remembered(desk.page, waits.path("a.py"))
    desk.reload()
    expect(controls(desk, 0).locator('[data-action="approve"]')).to_have_attribute("aria-pressed", "true")
    press(controls(desk, 1), "reject")
    until_written(desk, waits, upper(3))


@pytest.mark.parametrize("place", ["panel", "all of the panel", "comparison"])
def test_what_was_rejected_or_edited_in_the_document_stays_so_when_the_rest_is_approved_elsewhere(editor, waits, place):
    window, change = editor
    press(controls(window, 0), "reject")
    page = window.page
    page.evaluate("() => document.querySelector('.jp-FileEditor .cm-scroller').scrollTo(0, 1e6)")
    last = page.locator(".jp-FileEditor .jp-fstools-Review-controls").last
    press(last, "edit")
    text = last.get_by_label("Text to write instead")
    text.fill(text.input_value().replace("LINE_30", "LINE_THIRTY"))
    if place == "comparison":
        press(last, "compare")
        press(page.locator(".jp-fstools-ChangeComparison"), "approve")
    else:
        card = window.open_panel().card(waits.path("a.py"))
        unfold(card)
        if place == "panel":
            act(card, "approve")
        else:
            press(window.panel, "approve-all")
            dialog = page.get_by_role("dialog")
            expect(dialog).to_contain_text("Parts that you rejected or edited in a document stay so.")
            dialog.get_by_role("button", name="Approve").click()
    until_written(window, waits, BEFORE.replace("line_30 = 30", "LINE_THIRTY = 30"))
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert decided == {"taken": [1], "rejected": [0], "reason": None, "edited": True}
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove")).to_have_count(0)


@pytest.mark.parametrize("place", ["panel", "document"])
def test_a_rejected_hunk_whose_text_is_only_opened_stays_rejected_when_the_rest_is_approved(editor, waits, place):
    window, _ = editor
    press(controls(window, 0), "reject")
    expect(controls(window, 0)).to_contain_text("Carried out once every part")
    press(controls(window, 0), "edit")
    expect(controls(window, 0).get_by_label("Text to write instead")).to_be_focused()
    if place == "panel":
        act(window.open_panel().card(waits.path("a.py")), "approve")
    else:
        press(window.page.locator(".jp-fstools-ReviewBar"), "approve")
    until_written(window, waits, upper(30))


def test_an_edited_hunk_is_approved_in_the_panel_though_a_preview_was_opened_before_the_editor(desk, waits):
    waits.write("a.md", BEFORE)
    for factory in ("Markdown Preview", "Editor"):
        desk.page.evaluate(OPEN_WITH, [waits.path("a.md"), factory])
    rewrite(waits, upper(3, 30), "a.md")
    press(controls(desk, 0), "edit")
    text = controls(desk, 0).get_by_label("Text to write instead")
    text.fill(text.input_value().replace("LINE_3", "LINE_THREE"))
    press(controls(desk, 0), "approve")
    expect(controls(desk, 0)).to_contain_text("Carried out once every part")
    act(desk.open_panel().card(waits.path("a.md")), "approve")
    until_written(desk, waits, upper(30).replace("line_3 =", "LINE_THREE ="), "a.md")


def test_the_keyboard_stays_in_a_comparison_whose_change_is_approved(editor, waits):
    window, _ = editor
    press(controls(window, 0), "compare")
    shown = window.page.locator(".jp-fstools-ChangeComparison")
    shown.locator('[data-action="approve"]').press("Enter")
    expect(shown.locator('[data-action="approve"]')).to_have_count(0)
    expect(shown.locator(":focus")).to_have_count(1)
    assert waits.text("a.py") == upper(3, 30)


def test_what_cannot_be_approved_leaves_what_was_decided(editor, waits):
    """The page cannot tell that the file has become read-only."""
    window, _ = editor
    (waits.lab.root / waits.path("a.py")).chmod(0o444)
    press(controls(window, 0), "reject")
    expect(controls(window, 0).locator('[data-action="reject"]')).to_have_attribute("aria-pressed", "true")
    press(window.page.locator(".jp-fstools-ReviewBar"), "approve")
    expect(window.page.locator(".jp-fstools-ReviewBar-problem")).to_contain_text("read-only")
    for action, pressed in (("approve", "false"), ("reject", "false")):
        button = controls(window, 1).locator(f'[data-action="{action}"]')
        expect(button).to_have_attribute("aria-pressed", pressed)


def test_who_decides_second_is_told_so(editor, waits):
    window, change = editor

    def decide_first(route):
        waits.lab.decide(change, "reject")
        route.continue_()

    window.page.route("**/approve*", decide_first)
    bar = window.page.locator(".jp-fstools-ReviewBar")
    press(bar, "approve")
    expect(bar).to_have_text(re.compile("^It was decided elsewhere in the meantime"))
    expect(bar.locator("button")).to_have_count(1)
    press(bar, "dismiss")
    expect(bar).to_be_hidden()
    assert waits.text("a.py") == BEFORE


def test_hunks_are_decided_in_two_views_of_one_document(desk, waits):
    waits.write("a.py", BEFORE)
    desk.open(waits.path("a.py"))
    desk.page.evaluate("() => jupyterapp.commands.execute('docmanager:clone')")
    views = desk.page.locator(".jp-FileEditor")
    expect(views).to_have_count(2)
    rewrite(waits, upper(3, 12))
    for view in (views.nth(0), views.nth(1)):
        expect(view.locator(".jp-fstools-Review-controls")).to_have_count(2)
    press(views.nth(0).locator(".jp-fstools-Review-controls").nth(0), "approve")
    for view in (views.nth(0), views.nth(1)):
        first = view.locator('[data-action="approve"]').nth(0)
        expect(first).to_have_attribute("aria-pressed", "true")
    press(views.nth(1).locator(".jp-fstools-Review-controls").nth(1), "reject")
    expect(desk.page.locator(".jp-fstools-ReviewBar:visible")).to_have_count(0)
    until_written(desk, waits, upper(3))


def test_the_bar_approves_all_of_a_document(editor, waits):
    window, _ = editor
    press(window.page.locator(".jp-fstools-ReviewBar"), "approve")
    expect(window.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == upper(3, 30)


OPEN_WITH = """async ([path, factory]) => {
  const widget = await jupyterapp.commands.execute("docmanager:open", { path, factory });
  await widget.context.ready;
}"""


@pytest.mark.parametrize(("file", "factory"), [("a.md", "Markdown Preview"), ("n.ipynb", "Editor")])
def test_what_a_view_does_not_show_is_compared_before_it_is_approved(desk, waits, file, factory):
    """A preview, and a notebook as text: the bar there decides about nothing that is not to be seen."""
    waits.write(file, notebook(("one", "x = 1")) if file == "n.ipynb" else "x = 1\n")
    desk.page.evaluate(OPEN_WITH, [waits.path(file), factory])
    if file == "n.ipynb":
        waits.call("read_notebook", file)
        waits.call("edit_notebook", file, cell_id="one", new_source="x = 2")
    else:
        waits.change(file, "x = 1", "x = 2")
    bar = desk.page.locator(".jp-fstools-ReviewBar:visible")
    expect(bar).to_contain_text(f"1 change by {waits.session}")
    expect(bar.locator('[data-action="reject"]')).to_be_visible()
    expect(bar.locator('[data-action="approve"]')).to_have_count(0)
    press(bar, "compare")
    shown = desk.page.locator(".jp-fstools-ChangeComparison:visible")
    shown.get_by_role("button", name="Approve").click()
    assert holds(waits, file, ["x = 2"] if file == "n.ipynb" else "x = 2\n")


def test_the_person_goes_on_typing_and_the_hunks_stay_at_their_lines(editor, waits):
    window, _ = editor
    page = window.page
    page.locator(".jp-FileEditor .cm-line").first.click()
    page.keyboard.press("Home")
    page.keyboard.type("# mine\n")
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove").first).to_have_text("line_3 = 3")
    assert waits.text("a.py") == BEFORE


@pytest.mark.parametrize("line", [2, 4])
def test_a_hunk_beside_which_the_person_types_is_approved(desk, waits, line):
    """Above it or below it: the text around the hunk has changed, and the typed text stays."""
    waits.write("a.py", BEFORE)
    desk.open(waits.path("a.py"))
    waits.change("a.py", "line_3 =", "LINE_3 =")
    page = desk.page
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove")).to_have_text("line_3 = 3")
    page.locator(".jp-FileEditor .cm-line", has_text=f"line_{line} =").click()
    page.keyboard.press("End")
    with page.expect_response(lambda answer: "/api/fstools/changes/" in answer.url) as told:
        page.keyboard.type("  # mine")
    assert told.value.json()["changed_since"] == []
    desk.wait_until_known(waits.path("a.py"), saved=False)
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove")).to_have_text("line_3 = 3")
    expect(page.locator(".jp-fstools-Review-other.jp-mod-stale, .jp-fstools-ReviewBar-stale:visible")).to_have_count(0)
    press(controls(desk, 0), "approve")
    expect(page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    wanted = BEFORE.replace("line_3 =", "LINE_3 =").replace(
        f"line_{line} = {line}\n", f"line_{line} = {line}  # mine\n"
    )
    assert holds(waits, "a.py", wanted)


def test_a_hunk_that_the_server_does_not_find_again_is_stale_before_it_is_approved(desk, waits):
    """The person types a line at the place of the change, which only the server could find again."""
    waits.write("a.py", "a\nb\nc\n")
    desk.open(waits.path("a.py"))
    rewrite(waits, "a\nb\nnew\nc\n")
    page = desk.page
    expect(page.locator(".jp-fstools-Review-lines.jp-mod-add")).to_have_text("new")
    page.locator(".jp-FileEditor .cm-line", has_text="c").click()
    page.keyboard.press("Home")
    page.keyboard.type("mine")
    desk.wait_until_known(waits.path("a.py"), saved=False)
    expect(page.locator(".jp-fstools-ReviewBar-stale").first).to_be_visible()
    expect(page.locator('.jp-FileEditor [data-action="approve"]')).to_have_count(0)


def test_a_proposal_for_a_file_that_was_deleted_is_stale_in_its_document(desk, waits):
    """It fits again once the file is back."""
    waits.write("a.py", "x = 1\n")
    desk.open(waits.path("a.py"))
    waits.change("a.py", "x = 1", "x = 2")
    approve = desk.page.locator('.jp-Document [data-action="approve"]:visible')
    expect(approve).to_have_count(2)
    (waits.lab.root / waits.path("a.py")).unlink()
    expect(approve).to_have_count(0)
    expect(desk.page.locator(".jp-FileEditor .jp-fstools-Review-controls")).to_contain_text("out of date")
    waits.write("a.py", "x = 1\n")
    expect(approve).to_have_count(2)


def test_the_next_change_is_reached_with_the_keyboard(editor):
    window, _ = editor
    page = window.page
    page.locator(".jp-FileEditor .cm-line").first.click()
    bar = page.locator(".jp-fstools-ReviewBar:visible")
    place = page.locator("#jp-main-statusbar")
    for key, line in (("Alt+F5", 4), ("Alt+F5", 31), ("Alt+Shift+F5", 4)):
        page.keyboard.press(key)
        expect(place).to_contain_text(f"Ln {line}, Col 1")
    for action, line in (("next", 31), ("previous", 4)):
        press(bar, action)
        expect(place).to_contain_text(f"Ln {line}, Col 1")


def test_the_keyboard_goes_on_from_where_the_person_is(desk, folder):
    folder.write("a.py", BEFORE)
    desk.open(folder.path("a.py"))
    rewrite(folder, upper(3, 15, 25, 35))
    page = desk.page
    expect(page.locator(".jp-FileEditor .jp-fstools-Review-controls")).to_have_count(4)
    page.locator(".jp-FileEditor .cm-line").first.click()
    place = page.locator("#jp-main-statusbar")
    page.keyboard.press("Alt+F5")
    expect(place).to_contain_text("Ln 4, Col 1")
    # No change is left out after one that is kept.
    press(controls(desk, 0), "keep")
    expect(page.locator(".jp-FileEditor .jp-fstools-Review-controls")).to_have_count(3)
    page.keyboard.press("Alt+F5")
    expect(place).to_contain_text("Ln 16, Col 1")
    page.locator(".jp-FileEditor .cm-line", has_text="line_30 = 30").click()
    page.keyboard.press("Alt+F5")
    expect(place).to_contain_text("Ln 36, Col 1")
    page.keyboard.press("Alt+Shift+F5")
    expect(place).to_contain_text("Ln 26, Col 1")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_what_waits_and_what_was_made_in_a_text_can_be_read_in_each_theme(desk, folder, waits, choose_theme, theme):
    choose_theme(theme)
    for place in (waits, folder):
        desk.open(place.write("a.py", BEFORE))
        rewrite(place, upper(3, 30))
        expect(desk.page.locator(".jp-fstools-Review-line")).to_have_count(2)
        if place is folder:
            press(controls(desk, 0), "old")
            expect(desk.page.locator(".jp-fstools-Review-lines.jp-mod-remove").first).to_be_visible()
        desk.photograph(f"text_{'made' if place is folder else 'waits'}")
        found = axe_finds(desk.page, ".jp-fstools-ReviewBar", ".jp-fstools-Review-line", ".jp-fstools-Review-other")
        assert found == []
        desk.close_all()


FOCUSED = "() => document.activeElement.dataset.action ?? document.activeElement.getAttribute('aria-label')"


def test_removed_and_added_lines_differ_from_others_where_colors_are_forced(editor):
    page = editor[0].page
    page.emulate_media(forced_colors="active")
    editor[0].photograph("forced")
    style = "line => [getComputedStyle(line).textDecorationLine, getComputedStyle(line).outlineStyle]"
    parts = (".cm-line", ".jp-fstools-Review-line.jp-mod-remove", ".jp-fstools-Review-lines.jp-mod-add")
    shown = [page.locator(f".jp-FileEditor {part}").first.evaluate(style) for part in parts]
    page.emulate_media(forced_colors="none")
    assert shown == [["none", "none"], ["line-through", "none"], ["none", "solid"]]


def test_the_hunks_of_a_text_are_decided_with_the_keyboard_alone(editor, waits):
    window, _ = editor
    keys = window.page.keyboard
    window.page.locator(".jp-FileEditor .cm-line").first.click()
    keys.press("Alt+F5")
    keys.press("Escape")
    passed = []
    for _ in range(6):
        keys.press("Tab")
        passed.append(window.page.evaluate(FOCUSED))
    assert passed == ["approve", "reject", "edit", "Reason for rejecting", "compare", "approve"]
    keys.press("Enter")
    expect(controls(window, 1).locator('[data-action="approve"]:focus')).to_have_attribute("aria-pressed", "true")
    for _ in range(4):
        keys.press("Shift+Tab")
    expect(controls(window, 0).locator('[data-action="reject"]')).to_be_focused()
    keys.press("Enter")
    expect(window.page.locator(".jp-fstools-Review-controls")).to_have_count(0)
    assert waits.text("a.py") == upper(30)


def test_the_keyboard_goes_on_in_the_document_once_its_bar_has_nothing_left(editor, waits):
    desk, _ = editor
    desk.page.locator('.jp-fstools-ReviewBar [data-action="approve"]').focus()
    desk.page.keyboard.press("Enter")
    until_written(desk, waits, upper(3, 30))
    expect(desk.page.locator(".jp-fstools-ReviewBar:visible")).to_have_count(0)
    expect(desk.page.locator(".jp-FileEditor .cm-content")).to_be_focused()


def test_the_buttons_of_the_change_that_was_reached_are_in_sight(desk, folder, waits):
    text = "".join(f"line_{number} = {number}\n" for number in range(200))
    for place in (folder, waits):
        desk.open(place.write("a.py", text))
        rewrite(place, text.replace("line_60 =", "LINE_60 ="))
        shown = desk.page.locator(".jp-fstools-ReviewBar:visible")
        press(shown, "next")
        expect(controls(desk, 0).locator("button").first).to_be_in_viewport(ratio=1)
        desk.close_all()


def test_tab_leads_from_the_change_that_was_reached_to_its_own_buttons(editor):
    window, _ = editor
    keys = window.page.keyboard
    window.page.locator(".jp-FileEditor .cm-line").first.click()
    for _ in range(2):
        keys.press("Alt+F5")
    expect(window.page.locator("#jp-main-statusbar")).to_contain_text("Ln 31, Col 1")
    keys.press("Escape")
    keys.press("Tab")
    expect(controls(window, 1).locator('[data-action="approve"]')).to_be_focused()


def test_tab_leads_to_buttons_that_are_far_below_the_line_that_was_reached(desk, waits):
    """The editor does not draw them before they come into sight."""
    text = "".join(f"line_{number} = {number}\n" for number in range(1500))
    desk.open(waits.write("a.py", text))
    rewrite(waits, "".join(f"line_{number} = {number}\n" for number in (0, 1, 1498, 1499)))
    press(desk.page.locator(".jp-fstools-ReviewBar:visible"), "next")
    expect(desk.page.locator("#jp-main-statusbar")).to_contain_text("Ln 3, Col 1")
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("Tab")
    expect(controls(desk, 0).locator('[data-action="approve"]')).to_be_focused()
    expect(controls(desk, 0).locator('[data-action="approve"]')).to_be_in_viewport()


def test_a_change_that_was_made_is_marked_until_it_is_kept_also_after_a_reload(desk, open_lab, folder):
    folder.write("a.py", BEFORE)
    change = rewrite(folder, upper(3))
    desk.open(folder.path("a.py"))
    page = desk.page
    expect(page.locator(".jp-fstools-Review-line.jp-mod-add")).to_have_text("LINE_3 = 3")
    old = page.locator(".jp-fstools-Review-lines.jp-mod-remove")
    expect(old).to_be_hidden()
    press(controls(desk, 0), "old")
    expect(old).to_have_text("line_3 = 3")
    desk.photograph("made")
    press(controls(desk, 0), "keep")
    expect(page.locator(".jp-fstools-Review-line")).to_have_count(0)
    assert len(folder.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["seen_by"]) == 1
    again = open_lab(path=folder.path("a.py"))
    expect(again.page.locator(".jp-FileEditor .cm-content")).to_contain_text("LINE_3")
    expect(again.page.locator(".jp-fstools-Review-line")).to_have_count(0)
    assert folder.text("a.py") == upper(3)


def test_the_old_text_of_a_hunk_is_shown_at_each_place_that_it_changed(desk, folder):
    folder.write("a.py", BEFORE)
    rewrite(folder, upper(3, 5).replace("line_7 = 7\n", "line_7 = 7\nadded\n"))
    desk.open(folder.path("a.py"))
    old = desk.page.locator(".jp-fstools-Review-lines.jp-mod-remove")
    expect(old).to_have_count(2)
    for shown in (True, False, True):
        press(controls(desk, 0), "old")
        for number, line in enumerate(("line_3 = 3", "line_5 = 5")):
            expect(old.nth(number)).to_be_visible(visible=shown)
            expect(old.nth(number)).to_have_text(line)
    expect(controls(desk, 0).locator('[data-action="old"]')).to_have_attribute("aria-expanded", "true")
    desk.photograph("shown")


def test_one_hunk_of_a_change_that_was_made_is_undone(desk, folder):
    folder.write("a.py", BEFORE)
    rewrite(folder, upper(3, 12))
    desk.open(folder.path("a.py"))
    expect(desk.page.locator(".jp-fstools-Review-line.jp-mod-add")).to_have_count(2)
    press(controls(desk, 0), "undo")
    expect(desk.page.locator(".jp-fstools-ReviewBar")).to_be_visible()
    until_written(desk, folder, upper(12))


@pytest.fixture
def cells(desk, waits):
    """A notebook with a proposal that edits a cell, inserts one and deletes one."""
    waits.write("n.ipynb", notebook(("one", "x = 1"), ("two", "y = 2"), ("three", "z = 3")))
    desk.show(waits.path("n.ipynb"))
    expect(desk.page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)
    waits.call("read_notebook", "n.ipynb")
    edits = [
        {"cell_id": "one", "new_source": "x = 'one'"},
        {"edit_mode": "insert", "after": "one", "cell_type": "code", "new_source": "print(x)"},
        {"edit_mode": "delete", "cell_id": "three"},
    ]
    status, answer = waits.call("edit_notebook", "n.ipynb", edits=edits)
    assert status == 202, answer
    expect(desk.page.locator(".jp-fstools-Review-ghost")).to_be_visible()
    return desk, answer["change"]


def test_cells_that_wait_are_shown_at_their_places(cells, waits):
    window, _ = cells
    page = window.page
    expect(page.locator(".jp-fstools-Review-ghost .jp-fstools-Review-lines")).to_have_text("print(x)")
    gone = page.locator(".jp-Cell.jp-fstools-mod-delete .cm-content")
    expect(gone).to_have_text("z = 3")
    expect(gone).to_have_css("text-decoration-line", "line-through")
    expect(page.locator(".jp-Cell .jp-fstools-Review-lines.jp-mod-add").first).to_have_text("x = 'one'")
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(3)
    window.photograph("cells")


ABOVE_GHOST = """ghost => {
  const cell = ghost.closest(".jp-Cell");
  return [cell.querySelector(".cm-line").textContent, !!ghost.previousElementSibling];
}"""


def test_a_new_cell_stays_at_its_place_while_the_person_inserts_cells_above(cells):
    window, _ = cells
    page = window.page
    ghost = page.locator(".jp-fstools-Review-ghost")
    assert ghost.evaluate(ABOVE_GHOST) == ["x = 1", True]
    page.locator(".jp-Notebook .jp-Cell .jp-InputPrompt").first.click()
    for count in (4, 5):
        page.keyboard.press("a")
        expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(count)
    page.evaluate(THREE_FRAMES)
    assert ghost.evaluate(ABOVE_GHOST) == ["x = 1", True]
    boxes = page.locator(".jp-Notebook .jp-fstools-Review-controls")
    for number, action in enumerate(("reject", "approve", "reject")):
        press(boxes.nth(number), action)
    expect(boxes).to_have_count(0)
    shown = page.locator(".jp-Notebook .jp-Cell .cm-content")
    expect(shown).to_have_text(["", "", "x = 1", "print(x)", "y = 2", "z = 3"])


def test_a_deleted_cell_stays_below_the_one_it_followed_while_the_person_inserts_cells_above(desk, folder):
    cells = [("one", "x = 1"), ("two", "y = 2"), ("three", "z = 3"), ("four", "u = 4")]
    desk.show(folder.write("n.ipynb", notebook(*cells)))
    page = desk.page
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(4)
    folder.call("read_notebook", "n.ipynb")
    edits = [{"edit_mode": "delete", "cell_id": name} for name in ("two", "three")]
    status, answer = folder.call("edit_notebook", "n.ipynb", edits=edits)
    assert status == 200, answer
    ghosts = page.locator(".jp-fstools-Review-ghost")
    page.locator(".jp-Notebook .jp-Cell .jp-InputPrompt").first.click()
    for count in (3, 4):
        page.keyboard.press("a")
        expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(count)
    page.evaluate(THREE_FRAMES)
    expect(ghosts.locator(".jp-fstools-Review-lines")).to_have_text(["y = 2", "z = 3"])
    assert [ghost.evaluate(ABOVE_GHOST) for ghost in ghosts.all()] == [["x = 1", True]] * 2


FITS = """part => {
  const right = node => node.getBoundingClientRect().right;
  return right(part) <= right(part.closest(".jp-fstools-Review-controls"));
}"""


def test_what_is_said_beside_the_buttons_is_not_cut_off_in_a_narrow_notebook(cells, narrow):
    """The lines of code do not wrap; what is said below them does."""
    narrow.page.set_viewport_size({"width": 620, "height": 900})
    row = narrow.page.locator(".jp-Cell .cm-editor .jp-fstools-Review-controls")
    press(row, "approve")
    said = row.locator(".jp-fstools-Review-waits")
    expect(said).to_have_text("Carried out once every part of this change is decided.")
    assert said.evaluate(FITS)
    narrow.photograph("narrow")


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


def shown(window):
    return window.page.locator(".jp-FileEditor .jp-fstools-Review-line.jp-mod-add")


def until_written(window, folder, text, file="a.py"):
    for _ in range(200):
        if folder.text(file) == text:
            break
        window.page.wait_for_timeout(50)
    assert folder.text(file) == text


def test_what_is_kept_of_a_change_is_kept_in_a_second_browser_too_and_one_hunk_after_the_other_is_undone(
    desk, second_desk, folder
):
    folder.write("a.py", BEFORE)
    change = rewrite(folder, upper(3, 12, 21))
    desk.open(folder.path("a.py"))
    expect(shown(desk)).to_have_count(3)
    press(controls(desk, 0), "keep")
    expect(shown(desk)).to_have_count(2)
    again = second_desk
    again.open(folder.path("a.py"))
    expect(shown(again)).to_have_count(2)
    press(controls(again, 0), "undo")
    expect(shown(again)).to_have_count(1)
    expect(shown(desk)).to_have_count(1)
    until_written(again, folder, upper(3, 21))
    # The undo is listed above the change, so the rest is taken back by a new edit of the person.
    press(controls(again, 0), "undo")
    expect(again.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    expect(again.page.locator(".jp-FileEditor .cm-content")).not_to_contain_text("LINE_21")
    again.page.locator(".jp-FileEditor .cm-line").first.click()
    again.page.keyboard.press("Control+s")
    until_written(again, folder, upper(3))
    assert len(folder.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["seen_by"]) == 1


def test_a_proposal_is_edited_before_it_is_approved_and_the_answer_says_so(editor, waits):
    window, change = editor
    press(controls(window, 0), "edit")
    area = window.page.get_by_label("Text to write instead")
    assert "LINE_3 = 3" in area.input_value()
    area.fill(area.input_value().replace("LINE_3 = 3", "LINE_3 = 'three'"))
    window.photograph("edited")
    press(controls(window, 0), "approve")
    window.page.evaluate("() => document.querySelector('.jp-FileEditor .cm-scroller').scrollTo(0, 1e6)")
    press(window.page.locator(".jp-FileEditor .jp-fstools-Review-controls").last, "reject")
    expect(window.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == upper(3).replace("LINE_3 = 3", "LINE_3 = 'three'")
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert decided["edited"]


def test_an_edited_hunk_that_is_approved_again_is_written_as_edited(editor, waits):
    window, _ = editor
    press(controls(window, 0), "edit")
    area = window.page.get_by_label("Text to write instead")
    area.fill(area.input_value().replace("LINE_3 = 3", "LINE_3 = 'three'"))
    approve = controls(window, 0).locator('[data-action="approve"]')
    approve.click()
    expect(approve).to_have_attribute("aria-pressed", "true")
    approve.click()
    press(controls(window, 0), "edit")
    assert "LINE_3 = 'three'" in area.input_value()
    press(window.page.locator(".jp-fstools-ReviewBar"), "approve")
    expect(window.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == upper(3, 30).replace("LINE_3 = 3", "LINE_3 = 'three'")


def test_a_hunk_that_is_edited_again_is_written_as_it_was_edited_last(editor, waits):
    window, _ = editor
    area = window.page.get_by_label("Text to write instead")
    for last in ("'three'", "'third'"):
        press(controls(window, 0), "edit")
        area.fill(re.sub("LINE_3 = .*", f"LINE_3 = {last}", area.input_value()))
        press(controls(window, 0), "approve")
        expect(area).to_have_count(0)
    press(controls(window, 0), "approve")
    press(window.page.locator(".jp-fstools-ReviewBar"), "approve")
    expect(window.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == upper(3, 30).replace("LINE_3 = 3", "LINE_3 = 'third'")


@pytest.mark.parametrize("place", [".jp-FileEditor .jp-fstools-Review-controls", ".jp-fstools-ReviewBar"])
def test_the_last_hunk_and_all_of_a_document_are_decided_once_by_a_double_click(editor, waits, place):
    window, _ = editor
    press(controls(window, 0), "approve")
    window.page.evaluate("() => document.querySelector('.jp-FileEditor .cm-scroller').scrollTo(0, 1e6)")
    window.page.locator(place).last.locator('[data-action="approve"]').dblclick()
    expect(window.page.locator(".jp-FileEditor .jp-fstools-Review-controls")).to_have_count(0)
    expect(window.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == upper(3, 30)


def test_a_proposal_that_is_being_edited_stays_so_while_a_program_changes_the_file_around_it(desk, waits):
    desk.open(waits.write("a.py", BEFORE))
    waits.change("a.py", "line_12 = 12", "LINE_12 = 12")
    press(controls(desk, 0), "edit")
    area = desk.page.get_by_label("Text to write instead")
    area.press("Control+End")
    desk.page.keyboard.type("  # one")
    waits.write("a.py", f"# top\n{upper(30)}")
    waits.call("read_file", "a.py")
    expect(desk.page.locator(".jp-FileEditor .cm-line", has_text="# top")).to_be_visible()
    desk.page.keyboard.type(", two")
    expect(area).to_have_value(re.compile("  # one, two$"))


SCROLL = "to => document.querySelector('.jp-FileEditor .cm-scroller').scrollTo(0, to)"


@pytest.mark.parametrize("is_back", [True, False])
def test_what_is_being_written_at_a_hunk_stays_while_it_is_scrolled_out_of_sight(desk, waits, is_back):
    page = desk.page
    long = "".join(f"line_{number} = {number}\n" for number in range(600))
    desk.open(waits.write("a.py", long))
    waits.change("a.py", "line_5 = 5", "LINE_5 = 5")
    press(controls(desk, 0), "edit")
    area, reason = (page.get_by_label(label) for label in ("Text to write instead", "Reason for rejecting"))
    area.fill(area.input_value().replace("LINE_5", "MINE"))
    reason.fill("not sure")
    page.evaluate(SCROLL, 1e6)
    expect(area).to_have_count(0)
    if is_back:
        page.evaluate(SCROLL, 0)
        expect(area).to_have_value(re.compile("^MINE = 5$", re.MULTILINE))
        expect(reason).to_have_value("not sure")
        expect(controls(desk, 0).locator("> *").last).to_have_class(re.compile("jp-fstools-Review-edit"))
    press(page.locator(".jp-fstools-ReviewBar"), "approve")
    expect(page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == long.replace("line_5 =", "MINE =")


def test_reasons_that_were_typed_at_hunks_are_told_when_all_is_rejected(editor, waits):
    window, change = editor
    controls(window, 0).get_by_label("Reason for rejecting").fill("too loud")
    controls(window, 1).get_by_label("Reason for rejecting").fill("no need")
    press(window.page.locator(".jp-fstools-ReviewBar"), "reject")
    expect(window.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert decided["reason"] == "too loud no need"


def test_a_hunk_that_no_longer_fits_is_shown_as_stale_with_both_sides(editor, waits):
    window, _ = editor
    page = window.page
    page.locator(".jp-FileEditor .cm-line", has_text="line_3 = 3").first.click()
    page.keyboard.press("End")
    page.keyboard.type("33")
    stale = page.locator(".jp-fstools-Review-other.jp-mod-stale")
    expect(stale.locator(".jp-mod-remove")).to_contain_text("line_3 = 3")
    expect(stale.locator(".jp-mod-add")).to_contain_text("LINE_3 = 3")
    expect(stale.locator('[data-action="approve"]')).to_have_count(0)
    expect(page.locator(".jp-fstools-ReviewBar-stale").first).to_contain_text("out of date")
    expect(page.locator(".jp-fstools-Review-line.jp-mod-remove")).not_to_have_text("line_3 = 333")
    window.photograph("stale")


def test_what_still_fits_is_approved_and_nothing_else(editor, waits):
    window, change = editor
    page = window.page
    page.locator(".jp-FileEditor .cm-line", has_text="line_3 = 3").first.click()
    page.keyboard.press("End")
    page.keyboard.type("33")
    stale = page.locator(".jp-fstools-Review-other.jp-mod-stale")
    press(stale, "reject")
    window.wait_until_known(waits.path("a.py"), saved=False)
    page.evaluate("() => document.querySelector('.jp-FileEditor .cm-scroller').scrollTo(0, 1e6)")
    press(page.locator(".jp-FileEditor .jp-fstools-Review-controls").last, "approve")
    expect(page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == upper(30).replace("line_3 = 3\n", "line_3 = 333\n")
    decided = waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["decided"]
    assert (decided["taken"], decided["rejected"]) == ([1], [0])


def test_a_whole_text_is_approved_though_the_person_typed_between_its_changes(editor, waits):
    window, _ = editor
    page = window.page
    page.evaluate("() => document.querySelector('.jp-FileEditor .cm-scroller').scrollTo(0, 300)")
    page.locator(".jp-FileEditor .cm-line", has_text="line_15 = 15").click()
    page.keyboard.press("End")
    page.keyboard.type("  # mine")
    window.wait_until_known(waits.path("a.py"), saved=False)
    press(page.locator(".jp-fstools-ReviewBar"), "approve")
    expect(page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert waits.text("a.py") == upper(3, 30).replace("line_15 = 15", "line_15 = 15  # mine")


def test_a_session_is_kept_in_all_its_files_and_the_keyboard_leads_from_one_to_the_next(desk, folder):
    for file in ("a.py", "b.py"):
        folder.write(file, BEFORE)
        rewrite(folder, upper(3), file)
    desk.go_to(folder.name)
    desk.open(folder.path("a.py"))
    page = desk.page
    bar = page.locator(".jp-fstools-ReviewBar:not(.lm-mod-hidden)")
    expect(bar.locator('[data-action="keep-session"]')).to_be_visible()
    marked = page.locator(".jp-DirListing-item:has([data-jp-fstools-unseen])", has_text=".py")
    expect(marked).to_have_count(2)
    desk.photograph("marked_files")
    page.locator(".jp-FileEditor .cm-line").first.click()
    page.keyboard.press("Alt+F5")
    page.keyboard.press("Alt+F5")
    expect(page.locator(".lm-DockPanel .lm-TabBar-tab.jp-mod-current", has_text="b.py")).to_be_visible()
    expect(page.locator("#jp-main-statusbar")).to_contain_text("Ln 4, Col 1")
    desk.run("Keep All Changes of This Session")
    expect(marked).to_have_count(0)
    expect(page.locator(".jp-fstools-ReviewBar:visible")).to_have_count(0)


def test_the_keyboard_leads_past_files_in_which_no_change_can_be_shown(own_lab, open_lab, name):
    folder = Folder(own_lab, name)
    desk = open_lab(own_lab)
    for file in ("a.py", "b.py", "c.py", "d.py"):
        folder.write(file, BEFORE)
        rewrite(folder, upper(3), file)
    desk.go_to(folder.name)
    desk.open(folder.path("a.py"))
    page = desk.page
    expect(page.locator(".jp-DirListing-item:has([data-jp-fstools-unseen])")).to_have_count(4)
    (folder.lab.root / folder.path("b.py")).unlink()
    folder.write("c.py", BEFORE.replace("line_3 = 3", "mine"))
    page.locator(".jp-FileEditor .cm-line").first.click()
    place = page.locator("#jp-main-statusbar")
    page.keyboard.press("Alt+F5")
    expect(place).to_contain_text("Ln 4, Col 1")
    page.keyboard.press("Alt+F5")
    current = page.locator(".lm-DockPanel .lm-TabBar-tab.jp-mod-current")
    expect(current).to_have_text("d.py")
    expect(place).to_contain_text("Ln 4, Col 1")
    # Once no file shows any, the search ends.
    for file in ("a.py", "d.py"):
        for change in own_lab.call("GET", f"/changes?path={folder.path(file)}")[1]["changes"]:
            own_lab.decide(change, "keep")
    expect(page.locator(".jp-fstools-Review-line")).to_have_count(0)
    expect(page.locator(".jp-DirListing-item:has([data-jp-fstools-unseen])")).to_have_count(1)
    page.evaluate("() => jupyterapp.shell.currentChanged.connect(() => { window.went = (window.went ?? 0) + 1; })")
    page.keyboard.press("Alt+F5")
    page.wait_for_function("() => window.went > 1")
    page.wait_for_timeout(1000)
    expect(current).to_have_text("d.py")
    assert page.evaluate("() => window.went") == 2


def test_the_changes_of_a_session_are_taken_back_in_all_its_files(desk, folder):
    for file in ("a.py", "b.py"):
        folder.write(file, BEFORE)
        rewrite(folder, upper(3), file)
    desk.open(folder.path("a.py"))
    bar = desk.page.locator(".jp-fstools-ReviewBar:visible")
    press(bar, "undo-session")
    expect(bar).to_have_count(0)
    for file in ("a.py", "b.py"):
        until_written(desk, folder, BEFORE, file)


def test_every_proposal_that_no_longer_fits_is_counted(desk, waits):
    waits.write("a.py", BEFORE)
    desk.open(waits.path("a.py"))
    for session, place in (("ada", 3), ("bob", 12), ("cyd", 20)):
        waits.change("a.py", f"line_{place} =", f"LINE_{place} =", session=f"{waits.session}.{session}")
    page = desk.page
    expect(page.locator(".jp-FileEditor .jp-fstools-Review-controls")).to_have_count(3)
    for place in (3, 12):
        page.locator(".jp-FileEditor .cm-line", has_text=f"line_{place} = {place}").first.click()
        page.keyboard.press("End")
        page.keyboard.type("33")
    expect(page.locator(".jp-fstools-ReviewBar-stale").first).to_have_text("2 out of date")
    expect(page.locator(".jp-fstools-Review-other.jp-mod-stale")).to_have_count(2)


def test_a_proposal_for_what_is_typed_and_not_saved_is_counted_in_the_panel_as_in_the_bar(window, waits):
    waits.write("a.py", BEFORE)
    window.open(waits.path("a.py"))
    window.page.locator(".jp-FileEditor .cm-line", has_text="line_3 = 3").first.click()
    window.page.keyboard.press("End")
    window.page.keyboard.type("33")
    window.wait_until_known(waits.path("a.py"), saved=False)
    change = waits.change("a.py", "line_3 = 333", "LINE_3 = 333")
    expect(window.page.locator(".jp-fstools-ReviewBar:visible")).to_contain_text(f"1 change by {waits.session}")
    expect(window.page.locator(f"{PANEL_TAB}[data-jp-fstools-waiting]")).to_have_count(1)
    expect(window.waiting).to_contain_text("1 decision waits")
    expect(window.card_of(change)).not_to_contain_text("out of date")
    act(window.card_of(change), "approve")
    assert holds(waits, "a.py", BEFORE.replace("line_3 = 3\n", "LINE_3 = 333\n"))


def test_a_button_that_is_held_while_another_hunk_is_decided_is_pressed(desk, folder):
    folder.write("a.py", BEFORE)
    change = rewrite(folder, upper(3, 12, 21))
    desk.open(folder.path("a.py"))
    expect(shown(desk)).to_have_count(3)
    controls(desk, 1).locator('[data-action="keep"]').hover()
    desk.page.mouse.down()
    body = {"hunks": [2]}
    assert folder.lab.call("POST", f"/changes/{change['id']}/keep", body)[0] == 200
    expect(shown(desk)).to_have_count(2)
    desk.page.mouse.up()
    expect(shown(desk)).to_have_count(1)
    expect(shown(desk)).to_have_text("LINE_3 = 3")


def test_all_of_a_document_is_kept_or_taken_back(desk, folder):
    folder.write("a.py", BEFORE)
    desk.open(folder.path("a.py"))
    bar = desk.page.locator(".jp-fstools-ReviewBar:visible")
    change = rewrite(folder, upper(3))
    press(bar, "keep")
    expect(bar).to_have_count(0)
    assert len(folder.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["seen_by"]) == 1
    rewrite(folder, upper(3, 12))
    press(bar, "undo")
    expect(bar).to_have_count(0)
    until_written(desk, folder, upper(3))


@pytest.mark.parametrize("action", ["undo", "undo-session"])
def test_what_was_kept_stays_when_all_others_are_taken_back(desk, folder, action):
    folder.write("a.py", BEFORE)
    desk.open(folder.path("a.py"))
    rewrite(folder, upper(3, 12))
    press(controls(desk, 0), "keep")
    expect(controls(desk, 1)).to_have_count(0)
    if action == "undo-session":
        desk.open(folder.write("b.py", BEFORE))
        rewrite(folder, upper(3), "b.py")
    bar = desk.page.locator(".jp-fstools-ReviewBar:visible")
    press(bar, action)
    expect(bar).to_have_count(0)
    until_written(desk, folder, upper(3))
    if action == "undo-session":
        assert holds(folder, "b.py", BEFORE)


def test_commands_are_off_where_they_would_do_nothing(desk, folder):
    offered = """() => ["approve", "reject", "keep", "undo", "keep-session", "undo-session"].filter(
        name => jupyterapp.commands.isEnabled(`jupyter-fstools:${name}-here`))"""
    folder.write("a.py", BEFORE)
    desk.open(folder.path("a.py"))
    assert desk.page.evaluate(offered) == []
    rewrite(folder, upper(3))
    expect(shown(desk)).to_have_count(1)
    assert desk.page.evaluate(offered) == ["keep", "undo", "keep-session", "undo-session"]


def test_a_moved_cell_is_shown_at_both_places(desk, waits):
    waits.write("n.ipynb", notebook(("one", "x = 1"), ("two", "y = 2"), ("three", "z = 3")))
    desk.show(waits.path("n.ipynb"))
    cells = desk.page.locator(".jp-Notebook .jp-Cell")
    expect(cells).to_have_count(3)
    waits.call("read_notebook", "n.ipynb")
    edit = {"cell_id": "one", "edit_mode": "move", "after": "three"}
    assert waits.call("edit_notebook", "n.ipynb", **edit)[0] == 202
    expect(cells.nth(0)).to_contain_text("moves away")
    expect(cells.nth(2)).to_contain_text("cell 1 moves here")
    expect(cells.nth(2).locator('[data-action="approve"]')).to_be_visible()


def type_over(window, line):
    """Type over a line of an open text."""
    window.page.locator(".jp-FileEditor .cm-line", has_text=line).first.click()
    window.page.keyboard.press("Home")
    window.page.keyboard.press("Shift+End")
    window.page.keyboard.type("mine = 1")


def test_the_bar_counts_what_the_keyboard_leads_to_and_apart_what_was_typed_over(desk, folder):
    folder.write("a.py", BEFORE)
    desk.open(folder.path("a.py"))
    first, second = rewrite(folder, upper(3)), rewrite(folder, upper(3, 12))
    bar = desk.page.locator(".jp-fstools-ReviewBar:visible")
    expect(bar).to_contain_text("2 changes by")
    type_over(desk, "LINE_12 = 12")
    expect(bar).to_contain_text("1 change by")
    expect(bar).to_contain_text("1 change no longer in the document")
    desk.photograph("typed_over")
    press(bar, "next")
    expect(desk.page.locator("#jp-main-statusbar")).to_contain_text("Ln 4, Col 1")
    type_over(desk, "LINE_3 = 3")
    expect(bar).to_contain_text("2 changes no longer in the document")
    expect(bar).not_to_contain_text("changes by")
    expect(bar.locator("button")).to_have_text(["Keep all"])
    press(bar, "keep")
    expect(bar).to_have_count(0)
    for change in (first, second):
        assert len(folder.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["seen_by"]) == 1


def test_what_was_typed_over_is_not_undone_with_the_others(desk, folder):
    folder.write("a.py", BEFORE)
    desk.open(folder.path("a.py"))
    rewrite(folder, upper(12))
    rewrite(folder, upper(3, 12))
    bar = desk.page.locator(".jp-fstools-ReviewBar:visible")
    expect(bar).to_contain_text("2 changes by")
    type_over(desk, "LINE_12 = 12")
    expect(bar).to_contain_text("1 change no longer in the document")
    desk.wait_until_known(folder.path("a.py"), saved=False)
    press(bar, "undo")
    expect(bar).not_to_contain_text("change by")
    expect(bar.get_by_role("alert")).to_have_count(0)
    expect(bar).to_contain_text("1 change no longer in the document")
    assert holds(folder, "a.py", BEFORE.replace("line_12 = 12", "mine = 1"))


@pytest.fixture
def edited(desk, waits):
    """A proposal that the person has edited; approves it, and types at the end of a line before the server hears."""
    waits.write("a.py", BEFORE)
    desk.open(waits.path("a.py"))
    change = waits.change("a.py", "line_3 =", "LINE_3 =")
    press(controls(desk, 0), "edit")
    area = desk.page.get_by_label("Text to write instead")
    area.fill(area.input_value().replace("LINE_3 = 3", "LINE_3 = 'three'"))

    def approve(line):
        def typed(route):
            desk.page.locator(".jp-FileEditor .cm-line", has_text=line).first.click()
            desk.page.keyboard.press("End")
            desk.page.keyboard.type("  # mine")
            desk.wait_until_known(waits.path("a.py"), saved=False)
            route.continue_()

        desk.page.route("**/approve*", typed, times=1)
        press(controls(desk, 0), "approve")
        return change

    return approve


def test_what_is_typed_while_an_edited_proposal_is_approved_stays(edited, desk, waits):
    edited("line_10 = 10")
    expect(desk.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    wanted = BEFORE.replace("line_3 = 3\n", "LINE_3 = 'three'\n").replace("line_10 = 10", "line_10 = 10  # mine")
    assert holds(waits, "a.py", wanted)


def test_an_edited_proposal_that_is_typed_over_while_it_is_approved_is_not_written(edited, desk, waits):
    change = edited("line_3 = 3")
    problem = desk.page.locator(".jp-fstools-ReviewBar-problem")
    expect(problem).to_have_text("The text has changed since; nothing was written.")
    desk.photograph("not_written")
    expect(desk.page.locator(".jp-FileEditor .cm-line", has_text="line_3 = 3  # mine")).to_be_visible()
    assert waits.text("a.py") == BEFORE
    assert waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["status"] == "proposed"


MARKED = "\ufeffx = 1\ny = 1\n"


def test_a_proposal_beside_a_byte_order_mark_is_edited_and_approved(desk, waits):
    """JupyterLab shows the mark as a character of the first line; diffs leave it out."""
    desk.open(waits.write("a.py", MARKED))
    waits.change("a.py", "x = 1", "x = 2")
    press(controls(desk, 0), "edit")
    desk.page.get_by_label("Text to write instead").fill("x = 3\ny = 1")
    press(controls(desk, 0), "approve")
    expect(desk.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    assert holds(waits, "a.py", MARKED.replace("x = 1", "x = 3"))


@pytest.mark.parametrize("by_the_page", [False, True])
def test_a_change_beside_a_byte_order_mark_is_undone(desk, folder, by_the_page):
    """By the page where the server cannot separate it from later changes."""
    desk.open(folder.write("a.py", MARKED))
    folder.change("a.py", "x = 1", "x = 2")
    expect(desk.page.locator(".jp-fstools-Review-line")).to_have_count(1)
    if by_the_page:
        stale = {"error": {"code": "stale", "message": "", "hint": "", "details": {}}}
        desk.page.route("**/undo", lambda route: route.fulfill(status=412, json=stale))
    press(controls(desk, 0), "undo")
    expect(desk.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    until_written(desk, folder, MARKED)


@pytest.mark.parametrize("other", ["\r", "\n", "\r\n"])
def test_a_proposal_for_lines_that_end_in_a_carriage_return_is_approved_beside_what_is_typed(desk, waits, other):
    """A diff counts by line feeds, and takes such lines for one; an editor shows each."""
    lines = [line.strip() for line in LINES[:10]]
    text = other.join([*lines[:5], "\r".join(lines[5:]), ""])
    file = waits.lab.root / waits.path("a.py")
    file.write_bytes(text.encode())
    desk.open(waits.path("a.py"))
    waits.change("a.py", "line_7 = 7", "LINE_7 = 7")
    expect(desk.page.locator(".jp-fstools-Review-line.jp-mod-remove")).to_have_text(["line_7 = 7"])
    expect(desk.page.locator(".jp-fstools-Review-lines.jp-mod-add")).to_have_text(["LINE_7 = 7"])
    desk.page.locator(".jp-FileEditor .cm-line").nth(1).click()
    desk.page.keyboard.press("End")
    desk.page.keyboard.type("  # mine")
    press(controls(desk, 0), "approve")
    expect(desk.page.locator(".jp-fstools-ReviewBar")).to_be_hidden()
    # JupyterLab saves a text with one kind of ending.
    saved = text.replace("\n", "\r") if other == "\n" else text
    wanted = saved.replace("line_1 = 1", "line_1 = 1  # mine").replace("line_7 = 7", "LINE_7 = 7")
    assert file.read_bytes().decode() == wanted


def test_a_change_between_lines_of_thousands_of_characters_is_approved(desk, waits):
    before = f"# {'x' * 3000}\ny = 1\n# {'z' * 3000}\n"
    desk.open(waits.write("a.py", before))
    waits.change("a.py", "y = 1", "y = 2")
    press(controls(desk, 0), "approve")
    until_written(desk, waits, before.replace("y = 1", "y = 2"))


def test_a_change_of_several_files_is_stale_in_each_document_once_one_of_them_is_another(desk, waits):
    for name in "ab":
        waits.write(f"{name}.py", f"{name} = 1\n")
        waits.call("read_file", f"{name}.py")
    desk.open(waits.path("a.py"))
    edits = [{"path": waits.path(f"{name}.py"), "old_string": "= 1", "new_string": "= 2"} for name in "ab"]
    status, answer = waits.lab.call("POST", "/tools/edit_file", {"edits": edits}, waits.session)
    assert status == 202, answer
    approve = controls(desk, 0).locator('[data-action="approve"]')
    expect(approve).to_be_visible()
    waits.write("b.py", "b = 'another'\n")
    expect(approve).to_have_count(0)
    expect(controls(desk, 0)).to_contain_text(f"out of date: it no longer fits {waits.path('b.py')}")
    expect(desk.page.locator('.jp-fstools-ReviewBar [data-action="approve"]')).to_be_hidden()
    waits.write("b.py", "b = 1\n")
    expect(approve).to_be_visible(timeout=10_000)
    press(controls(desk, 0), "approve")
    until_written(desk, waits, "a = 2\n")
    until_written(desk, waits, "b = 2\n", "b.py")
