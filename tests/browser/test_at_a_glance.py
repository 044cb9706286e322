"""The panel shows its contents at a glance, and does not move while the person looks at it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.lab import PANEL_TAB, THREE_FRAMES, act

TALL = "".join(f"line {number}\n" for number in range(300))
HEAD_IS_IN_SIGHT = """card => {
    const head = card.querySelector('.jp-fstools-Card-head').getBoundingClientRect();
    const list = card.closest('.jp-fstools-CardList').getBoundingClientRect();
    return head.top >= list.top - 1 && head.bottom <= list.bottom + 1;
}"""


def propose_tall(waits):
    waits.write("a.txt", TALL)
    waits.call("read_file", "a.txt")
    waits.call("write_file", "a.txt", content=TALL.upper())
    return waits.path("a.txt")


def require_head_in_sight(window, card):
    expect(card.locator(".jp-fstools-Diff-row").first).to_be_visible()
    window.page.evaluate(THREE_FRAMES)
    assert card.evaluate(HEAD_IS_IN_SIGHT)


def test_a_screen_shows_more_than_twenty_changes(window, folder):
    for number in range(30):
        folder.write(f"{number}.txt", "x\n")
        folder.change(f"{number}.txt", "x", "y")
    window.list_only(folder)
    expect(window.card(folder.path("29.txt"))).to_be_visible()
    shown = window.cards.evaluate_all(
        """cards => cards.filter(card => {
            const list = card.closest('.jp-fstools-CardList').getBoundingClientRect();
            return card.getBoundingClientRect().bottom <= list.bottom;
        }).length"""
    )
    assert shown > 20


def test_unfolding_a_tall_diff_with_the_keyboard_stays_at_its_head(window, waits):
    for number in range(12):
        waits.write(f"{number}.txt", "x\n")
        waits.change(f"{number}.txt", "x", "y")
    path = propose_tall(waits)
    window.list_only(waits)
    expect(window.cards).to_have_count(13)
    window.card(path).focus()
    window.page.keyboard.press("ArrowDown")
    window.page.keyboard.press("ArrowUp")
    expect(window.card(path)).to_be_focused()
    window.page.keyboard.press("Enter")
    require_head_in_sight(window, window.card(path))
    window.photograph("unfolded")


def test_unfolding_a_tall_diff_with_the_mouse_after_the_notice_stays_at_its_head(desk, waits):
    path = propose_tall(waits)
    notice = desk.page.get_by_role("alert").filter(has_text="waits for you")
    notice.get_by_role("button", name="Show").click()
    expect(desk.card(path)).to_be_focused()
    act(desk.card(path), "fold")
    require_head_in_sight(desk, desk.card(path))


def test_the_session_filter_offers_every_session_also_once_one_is_chosen(window, folder):
    for session in ("ada", "bob"):
        folder.write(f"{session}.py", "x = 1\n")
        folder.change(f"{session}.py", "x", "y", session=f"{folder.session}.{session}")
    select = window.panel.locator('[data-filter="session"]')
    offered = [f"{folder.session}.{session}" for session in ("ada", "bob")]
    select.select_option(offered[0])
    expect(window.card(folder.path("bob.py"))).to_have_count(0)
    for session in offered:
        expect(select.get_by_role("option", name=session, exact=True, include_hidden=True)).to_have_count(1)
    select.select_option(offered[1])
    expect(window.card(folder.path("bob.py"))).to_be_visible()


def test_the_notice_stays_away_while_the_panel_is_visible(window, waits):
    notice = window.page.get_by_role("alert").filter(has_text="for you")
    waits.write("a.py", "x = 1\n")
    waits.change("a.py", "x", "y")
    expect(window.card(waits.path("a.py"))).to_be_visible()
    expect(notice).to_have_count(0)
    window.page.click(PANEL_TAB)
    expect(window.panel).to_be_hidden()
    waits.write("b.py", "x = 1\n")
    waits.change("b.py", "x", "y")
    expect(notice).to_have_count(1)


def test_a_name_that_hides_or_reorders_characters_shows_them_as_marks(window, folder):
    name = "txt.\u202eyp.\u200bclean"
    folder.write(name, "x = 1\n")
    folder.change(name, "x", "y")
    marks = window.cards.first.locator(".jp-fstools-Card-name [data-name]")
    expect(marks).to_have_count(2)
    assert [mark.get_attribute("data-name") for mark in marks.all()] == ["U+202E", "U+200B"]
    window.photograph("marks")


def test_a_large_overwrite_is_approved_only_once_all_that_lands_was_shown(window, waits):
    lines = [f"line {number}\n" for number in range(4500)]
    waits.write("a.txt", "".join(lines))
    waits.call("read_file", "a.txt", limit=5000)
    waits.call("write_file", "a.txt", content="".join(lines).upper())
    card = window.card(waits.path("a.txt"))
    approve = card.locator('[data-action="approve"]')
    expect(approve).to_be_disabled()
    act(card, "fold")
    card.get_by_role("button", name="Show all").click()
    expect(card.locator(".jp-fstools-Diff-row.jp-mod-add")).to_have_count(4500)
    expect(approve).to_be_enabled()
    approve.click()
    expect(card).to_have_attribute("data-status", "applied")
    assert waits.text("a.txt") == "".join(lines).upper()


def test_a_stale_proposal_says_so_before_anybody_presses(desk, waits):
    waits.write("a.py", "x = 1\n")
    waits.change("a.py", "x", "y")
    waits.write("a.py", "x = 2\n")
    window = desk.open_panel()
    card = window.card(waits.path("a.py"))
    expect(card).to_contain_text("out of date")
    expect(card.locator('[data-action="approve"]')).to_have_count(0)
    expect(window.page.locator(f"{PANEL_TAB}[data-jp-fstools-waiting]")).to_have_count(0)
    window.photograph("stale")
