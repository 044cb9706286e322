"""The panel with the keyboard alone, in the dark, in a narrow window, and as its settings say."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from jupyter_fstools import __version__
from tests.browser.lab import THREE_FRAMES, act, axe_finds, unfold

CONTRAST = """(node, part) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const drawn = colour => {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255);
        const linear = parts.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const grounds = [];
    for (let under = node; under; under = under.parentElement) {
        grounds.unshift(getComputedStyle(under).backgroundColor);
    }
    const ground = grounds.map(drawn).at(-1);
    const text = drawn(getComputedStyle(node, part).color);
    return (Math.max(ground, text) + 0.05) / (Math.min(ground, text) + 0.05);
}"""
TEXTS = (
    ".jp-fstools-Card-head span, .jp-fstools-Turn-summary span, button, select, .jp-fstools-Diff-code, "
    ".jp-fstools-Diff-fold"
)
READABLE = 4.5
STATUS = re.compile(r"/api/fstools/?(\?.*)?$")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast"])
def test_everything_can_be_read_in_each_theme(window, folder_of_everything, choose_theme, theme):
    choose_theme(theme)
    window.list_only(folder_of_everything)
    unfold(window.card(folder_of_everything.path("a.py")))
    window.photograph("panel")
    texts = [text for text in window.panel.locator(TEXTS).all() if text.inner_text().strip()]
    contrasts = {text.inner_text(): text.evaluate(CONTRAST) for text in texts}
    assert {text: contrast for text, contrast in contrasts.items() if contrast < READABLE} == {}
    act(window.turn(folder_of_everything.session), "fold")
    expect(window.card(folder_of_everything.path("b.py"), "refusal")).to_be_visible()
    window.photograph("with_refusals")
    assert axe_finds(window.page, ".jp-fstools-Panel") == []


@pytest.fixture
def folder_of_everything(waits):
    """A read, a refusal, a change that was made, and one that waits."""
    for file in ("a.py", "b.py"):
        waits.write(file, "import os\n\nx = 1\nprint(x)\n")
    waits.call("edit_file", "b.py", old_string="x", new_string="y")
    waits.lab.decide(waits.change("b.py", "x = 1", "x = 2"), "approve")
    waits.change("a.py", "x = 1", "x = 'two'")
    return waits


def test_the_panel_is_used_with_the_keyboard_alone(desk, waits):
    for file in ("a.py", "b.py"):
        waits.write(file, "x = 1\n")
        waits.change(file, "x", "y")
    keyboard = desk.page.keyboard
    desk.run("Show What Assistants Did")
    expect(desk.card(waits.path("b.py"))).to_be_focused()
    keyboard.press("ArrowDown")
    card = desk.card(waits.path("a.py"))
    expect(card).to_be_focused()
    keyboard.press("Enter")
    expect(card.locator(".jp-fstools-DiffView")).to_contain_text("y = 1")
    approve = card.locator('[data-action="approve"]')
    for _ in range(5):
        if approve.evaluate("button => button === document.activeElement"):
            break
        keyboard.press("Tab")
    expect(approve).to_be_focused()
    desk.photograph("focus")
    keyboard.press("Enter")
    expect(card).to_have_attribute("data-status", "applied")
    # The button is gone, and the keyboard stays where it was.
    expect(desk.panel.locator(":focus")).to_have_count(1)
    assert waits.text("a.py") == "y = 1\n"


def test_the_keyboard_stays_in_the_panel_once_nothing_waits_any_more(window, waits):
    for file in ("a.py", "b.py"):
        waits.write(file, "x = 1\n")
        waits.change(file, "x", "y")
    window.list_only(waits)
    reject = window.waiting.locator('[data-action="reject-all"]')
    reject.focus()
    for dialogs in (1, 0):
        window.page.keyboard.press("Enter")
        expect(window.page.locator(".jp-Dialog")).to_have_count(dialogs)
    expect(reject).to_have_count(0)
    expect(window.panel.locator(".jp-fstools-CardList :focus")).to_have_count(1)


DOWN_AND_UP = """async frames => {
    const press = key => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    press('ArrowDown');
    for (let frame = 0; frame < frames; frame++) {
        await new Promise(requestAnimationFrame);
    }
    press('ArrowUp');
}"""


def test_a_key_counts_however_soon_it_follows_another(window, folder):
    for file in ("a.py", "b.py"):
        folder.write(file, "x = 1\n")
        folder.change(file, "x", "y")
    window.list_only(folder)
    card = window.card(folder.path("b.py"))
    expect(window.cards).to_have_count(2)
    for frames in range(6):
        card.focus()
        window.page.evaluate(DOWN_AND_UP, frames)
        for _ in range(2):
            window.page.evaluate(THREE_FRAMES)
        assert card.evaluate("card => card === document.activeElement"), frames


def test_the_panel_is_found_in_the_view_menu(desk):
    desk.page.get_by_role("menuitem", name="View").click()
    desk.page.locator(".lm-Menu-item", has_text="What Assistants Did").click()
    expect(desk.panel).to_be_visible()


def test_a_narrow_panel_keeps_names_and_buttons_in_sight(narrow, waits, folder_of_everything):
    window = narrow.open_panel()
    waits.write("thirteen_n.py", "x = 1\n")
    waits.change("thirteen_n.py", "x", "y")
    name = window.card(waits.path("thirteen_n.py")).locator(".jp-fstools-Card-name")
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth")
    card = window.card(waits.path("a.py"))
    unfold(card)
    window.photograph("narrow")
    panel = window.panel.bounding_box()
    assert panel["width"] <= 250
    rows = {button.bounding_box()["y"] for button in card.locator(".jp-fstools-Card-buttons button").all()}
    assert len(rows) == 1
    for part in (card.locator(".jp-fstools-Card-name"), card.locator('[data-action="reject"]')):
        box = part.bounding_box()
        assert panel["x"] <= box["x"] and box["x"] + box["width"] <= panel["x"] + panel["width"]


def test_a_narrow_panel_keeps_the_undo_of_a_large_file_in_sight(narrow, folder):
    folder.write("a.py", "x = 1\n" * 1500)
    folder.call("read_file", "a.py")
    folder.call("write_file", "a.py", content="x = 2\n" * 1500)
    window = narrow.open_panel()
    panel = window.panel.bounding_box()
    box = window.card(folder.path("a.py")).locator('[data-action="undo"]').bounding_box()
    assert box["x"] + box["width"] <= panel["x"] + panel["width"]
    window.photograph("large")


def test_a_narrow_panel_tells_files_of_one_name_apart_and_cuts_no_button(narrow, waits, folder):
    for place in (waits, folder):
        for file in ("a.py", "b.py"):
            place.write(file, "x = 1\n")
            place.change(file, "x", "y")
    waits.write("c.py", "x = 1\n")
    waits.change("c.py", "x", "y", session="another")
    window = narrow.open_panel()
    buttons = window.turn(waits.session).locator(".jp-fstools-Turn-buttons button")
    expect(buttons).to_have_text(["Approve 0 of 2", "Reject all (2)", "Keep all", "Undo all"])
    panel = window.panel.bounding_box()
    for button in buttons.all():
        box = button.bounding_box()
        assert panel["x"] <= box["x"] and box["x"] + box["width"] <= panel["x"] + panel["width"]
    window.photograph("of_one_name")
    for place in (waits, folder):
        where = window.card(place.path("a.py")).locator(".jp-fstools-Card-folder")
        expect(where).to_have_text(place.name)
        assert where.bounding_box()["width"] > 20


def test_settings_leave_out_reads_and_notices(open_lab, waits, settings):
    settings("jupyter-fstools:plugin", reads=False, notifications=False)
    window = open_lab().open_panel()
    waits.write("a.py", "x = 1\n")
    waits.change("a.py", "x", "y")
    expect(window.card(waits.path("a.py"))).to_be_visible()
    expect(window.turn(waits.session)).to_contain_text("1 file")
    expect(window.turn(waits.session).locator('[data-action="fold"]')).to_have_count(0)
    assert window.page.get_by_role("alert").filter(has_text="waits for you").count() == 0


def test_what_a_person_has_chosen_to_see_stays_when_the_server_answers_late(open_lab):
    held = []

    def hold(route):
        held.append(route)

    window = open_lab(prepare=lambda page: page.route(STATUS, hold)).open_panel()
    shown = window.panel.locator('[data-filter="status"]')
    shown.select_option("reads")
    with window.page.expect_response("**/api/settings/jupyter-fstools:plugin*"):
        for route in held:
            route.continue_()
    expect(window.waiting).to_contain_text("Changes to waits/ wait for your approval.")
    window.page.evaluate(THREE_FRAMES)
    expect(shown).to_have_value("reads")


def test_the_settings_show_what_the_server_lets_wait(desk):
    desk.run("Settings Editor")
    desk.page.locator(".jp-PluginList-entry", has_text="File tools").click()
    approval = desk.page.locator('input[id$="_approval"]')
    expect(approval).to_have_value("Changes to waits/ wait for your approval.")
    expect(approval).not_to_be_editable()
    assert approval.evaluate("input => input.scrollWidth <= input.clientWidth")
    desk.photograph("settings")


def test_two_versions_are_told_apart(open_lab):
    window = open_lab()

    def newer(route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "version": "9.9.9"})

    window.page.route(STATUS, newer)
    window.reload()
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("jupyter-fstools 9.9.9")
    expect(dialog).to_contain_text(f"this page {__version__}")
    window.photograph("versions")
