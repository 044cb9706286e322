"""Assistants' actions appear in the panel as they happen, whatever the names and the content of their files."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import PANEL_TAB, act, axe_finds, unfold

SCRIPT = "<script>window.hostile = true</script>"
IMAGE = '<img src=x onerror="window.hostile=true">'
METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def notebook(*cells):
    made = [
        {"cell_type": kind, "id": f"cell{number}", "metadata": {}, "source": source}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for number, (kind, source) in enumerate(cells)
    ]
    return json.dumps({"cells": made, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5})


def test_a_magic_run_in_a_notebook_shows_up_with_its_diff(window, folder, measured):
    folder.write("a.py", "x = 1\n")
    magic = f"%fs read {folder.path('a.py')}\n%fs edit {folder.path('a.py')} --old x --new changed"
    folder.write("n.ipynb", notebook(("code", magic)))
    window.show(folder.path("n.ipynb"))
    page = window.page
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    # From when the cell's answer is drawn to when the card is, as the page itself sees it.
    page.evaluate(
        """path => {
            window.seen = {};
            const marks = { cell: '.jp-OutputArea-output', card: `[data-kind="change"] [title="${path}"]` };
            const look = () => {
                for (const [name, mark] of Object.entries(marks)) {
                    if (document.querySelector(mark)) { window.seen[name] ??= performance.now(); }
                }
                requestAnimationFrame(look);
            };
            look();
        }""",
        folder.path("a.py"),
    )
    page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    card = window.card(folder.path("a.py"))
    expect(unfold(card)).to_contain_text("changed = 1")
    assert folder.text("a.py") == "changed = 1\n"
    seen = page.evaluate("window.seen")
    measured("From the cell's answer to the card", (seen["card"] - seen["cell"]) / 1000)
    window.photograph("notebook")


def test_reads_and_refusals_are_listed(window, folder):
    folder.write("a.py", "x = 1\n")
    folder.call("edit_file", "a.py", old_string="x", new_string="y")
    turn = window.turn(folder.session)
    expect(turn).to_contain_text("1 refused")
    act(turn, "fold")
    refusal = window.card(folder.path("a.py"), "refusal")
    expect(refusal).to_contain_text("not read yet")
    folder.call("read_file", "a.py")
    expect(window.card(folder.path("a.py"), "read")).to_contain_text("whole file")


def test_a_notebook_is_shown_cell_by_cell(window, folder):
    folder.write("n.ipynb", notebook(("markdown", "# Title"), ("code", "x = 1\nprint(x)")))
    folder.call("read_notebook", "n.ipynb")
    edits = [
        {"edit_mode": "replace", "cell_id": "cell1", "new_source": "x = 2\nprint(x)"},
        {"edit_mode": "insert", "after": "cell1", "cell_type": "markdown", "new_source": "**new** text"},
    ]
    assert folder.call("edit_notebook", "n.ipynb", edits=edits)[0] == 200
    diff = unfold(window.card(folder.path("n.ipynb")))
    expect(diff.get_by_role("listitem")).to_have_count(2)
    diff.get_by_role("button", name="Rendered").click()
    expect(diff.locator(".jp-RenderedMarkdown strong")).to_have_text("new")
    window.photograph("cells")


def test_the_list_is_limited_to_what_is_asked_for(window, folder):
    for file in ("a.py", "b.py"):
        folder.write(file, "x = 1\n")
        folder.change(file, "x", "y", session=f"session.{file}")
    path = window.panel.locator('[data-filter="path"]')
    path.fill(folder.name)
    expect(window.cards).to_have_count(2)
    status = window.panel.locator('[data-filter="status"]')
    status.select_option("reads")
    expect(window.panel.locator('[data-kind="read"].jp-fstools-Card')).to_have_count(2)
    expect(window.cards).to_have_count(2)
    status.select_option("")
    window.panel.locator('[data-filter="session"]').select_option("session.a.py")
    expect(window.cards).to_have_count(1)
    expect(window.card(folder.path("a.py"))).to_be_visible()
    window.panel.locator('[data-filter="status"]').select_option("undone")
    expect(window.cards).to_have_count(0)
    expect(window.panel).to_contain_text("Nothing")
    window.panel.locator('[data-filter="status"]').select_option("")
    path.fill(folder.path("b.py"))
    expect(window.cards).to_have_count(0)
    window.panel.locator('[data-filter="session"]').select_option("")
    expect(window.card(folder.path("b.py"))).to_be_visible()


def test_the_history_of_a_file_is_shown_from_the_file_browser(desk, folder):
    for file in ("a.py", "b.py"):
        folder.write(file, "x = 1\n")
        folder.change(file, "x", "y")
    desk.go_to(folder.name)
    desk.in_menu_of("a.py", "Show Changes by Assistants")
    expect(desk.card(folder.path("a.py"))).to_be_visible()
    expect(desk.cards).to_have_count(1)
    expect(desk.panel.locator('[data-filter="path"]')).to_have_value(folder.path("a.py"))


def test_a_file_is_opened_from_its_card(window, folder):
    folder.write("a.py", "x = 1\n")
    folder.change("a.py", "x", "y")
    act(window.card(folder.path("a.py")), "open")
    expect(window.page.locator(".jp-FileEditor .cm-content")).to_contain_text("y = 1")


def test_a_file_is_not_offered_to_be_opened_before_it_is_made_and_missed_in_words_once_it_is_gone(window, waits):
    waits.call("write_file", "new.py", content="x = 1\n")
    card = window.card(waits.path("new.py"))
    opens = card.locator('[data-action="open"]')
    expect(card).to_have_attribute("data-status", "proposed")
    expect(opens).to_have_count(0)
    act(card, "approve")
    expect(opens).to_be_visible()
    (waits.lab.root / waits.path("new.py")).unlink()
    opens.click()
    expect(card.get_by_role("alert")).to_have_text("The file no longer exists.")


def test_the_times_go_on(open_lab, folder):
    folder.write("a.py", "x = 1\n")
    folder.change("a.py", "x", "y")
    window = open_lab(prepare=lambda page: page.clock.install()).open_panel()
    time = window.turn(folder.session).locator("time")
    expect(time).to_contain_text(re.compile("now|second"))
    window.page.clock.fast_forward("03:00")
    expect(time).to_have_text("3 minutes ago")


def test_a_change_of_a_file_that_is_gone_keeps_its_diff_and_says_why_it_cannot_be_opened(window, folder):
    folder.write("a.py", "x = 1\n")
    folder.change("a.py", "x", "y")
    (folder.lab.root / folder.path("a.py")).unlink()
    card = window.card(folder.path("a.py"))
    expect(unfold(card)).to_contain_text("y = 1")
    act(card, "undo")
    expect(card.get_by_role("alert")).to_contain_text(folder.path("a.py"))
    window.photograph("gone")


def test_hostile_names_and_contents_are_shown_as_text(window, folder):
    file = f"{IMAGE}.md".replace("/", "")
    folder.write(file, f"{SCRIPT}\n{IMAGE}\n")
    folder.change(file, SCRIPT, SCRIPT * 2)
    card = window.card(folder.path(file))
    expect(card.locator(".jp-fstools-Card-name")).to_have_text(file)
    expect(unfold(card)).to_contain_text(SCRIPT * 2)
    folder.write("n.ipynb", notebook(("markdown", "text")))
    folder.call("read_notebook", "n.ipynb")
    cell = {
        "edit_mode": "replace",
        "cell_id": "cell0",
        "new_source": f"{SCRIPT}{IMAGE}[link](javascript:window.hostile=true)",
    }
    folder.call("edit_notebook", "n.ipynb", edits=[cell])
    diff = unfold(window.card(folder.path("n.ipynb")))
    diff.get_by_role("button", name="Rendered").click()
    expect(diff.locator(".jp-RenderedMarkdown").last).to_contain_text("link")
    folder.call("edit_file", f"{IMAGE.replace('/', '')}.txt", old_string="a", new_string="b")
    act(window.turn(folder.session), "fold")
    expect(window.card(folder.path(f"{IMAGE.replace('/', '')}.txt"), "refusal")).to_be_visible()
    assert window.panel.locator("script, [onerror], a[href^='javascript:']").count() == 0
    assert window.page.evaluate("window.hostile") is None
    window.photograph("hostile")


def test_the_badge_and_the_notice_tell_what_waits_and_go_once_it_is_decided(desk, waits):
    waits.write("a.py", "x = 1\n")
    change = waits.change("a.py", "x", "y")
    tab = desk.page.locator(PANEL_TAB)
    expect(tab).to_have_attribute("data-jp-fstools-waiting", "1")
    expect(tab).to_have_attribute("title", "File tools: what assistants do to your files (1 decision waits for you)")
    notice = desk.page.get_by_role("alert").filter(has_text="waits for you")
    expect(notice).to_be_visible()
    desk.photograph("notice")
    notice.get_by_role("button", name="Show").click()
    expect(desk.card(waits.path("a.py"))).to_be_focused()
    expect(desk.panel.locator('[data-filter="status"]')).to_have_value("proposed")
    waits.lab.decide(change, "reject")
    expect(tab).not_to_have_attribute("data-jp-fstools-waiting", "1")
    expect(notice).to_have_count(0)


def test_a_card_that_news_pushed_out_of_sight_is_unfolded_where_it_is_seen(window, folder):
    """The list stays at its top, where new entries appear, until the keyboard moves on."""
    folder.write("first.py", "x = 1\n")
    first = folder.change("first.py", "x", "y")
    window.list_only(folder)
    window.card_of(first).focus()
    for number in range(40):
        folder.write(f"{number}.py", "x = 1\n")
        folder.change(f"{number}.py", "x", "y", session=f"{folder.session}.{number}")
    expect(window.card(folder.path("39.py"))).to_be_visible()
    expect(window.card_of(first)).to_have_count(0)
    window.page.keyboard.press("Enter")
    expect(window.card_of(first)).to_be_focused()
    expect(window.card_of(first)).to_be_in_viewport()
    expect(window.card_of(first).locator('[data-action="fold"]')).to_have_attribute("aria-expanded", "true")


@pytest.mark.parametrize(("key", "goal"), [("ArrowDown", "below.py"), ("Tab", "focused.py")])
def test_a_card_that_news_pushed_out_of_sight_stays_the_keyboard_s(window, folder, key, goal):
    """A screen reader announces it, the arrow keys continue from it, and Tab returns to it."""
    changes = {}
    for file in ("below.py", "focused.py"):
        folder.write(file, "x = 1\n")
        changes[file] = folder.change(file, "x", "y")
    window.list_only(folder)
    focused = window.card_of(changes["focused.py"])
    focused.focus()
    for number in range(40):
        folder.write(f"{number}.py", "x = 1\n")
        folder.change(f"{number}.py", "x", "y", session=f"{folder.session}.{number}")
    expect(window.card(folder.path("39.py"))).to_be_visible()
    expect(focused).to_have_count(0)
    listed = window.panel.locator(".jp-fstools-CardList")
    expect(listed).to_be_focused()
    told = listed.get_attribute("aria-activedescendant")
    expect(window.page.locator(f'[id="{told}"]')).to_have_accessible_name(re.compile(r"focused\.py"))
    assert axe_finds(window.page, ".jp-fstools-Panel") == []
    window.page.keyboard.press(key)
    expect(window.card_of(changes[goal])).to_be_focused()
    expect(window.card_of(changes[goal])).to_be_in_viewport()
    assert listed.get_attribute("aria-activedescendant") is None
