"""A press acts on what the person aimed at, whatever arrives between press and release."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.lab import PANEL_TAB, THREE_FRAMES, unfold
from tests.browser.open_documents.documents import Text, holds


@contextmanager
def held_by_mouse(button):
    button.hover()
    button.page.mouse.down()
    yield
    button.page.mouse.up()


@contextmanager
def held_by_key(button):
    button.focus()
    button.page.keyboard.down("Space")
    yield
    button.page.keyboard.up("Space")


def propose(waits, *files):
    for file in files:
        waits.write(file, "x = 1\n")
        made = waits.change(file, "x", "y")
    return made


def button_of(window, path, action):
    return window.card(path).locator(f'[data-action="{action}"]')


def expect_heard(window, number):
    """Expect that the page knows how many changes wait, and has had the time to draw them."""
    expect(window.page.locator(PANEL_TAB)).to_have_attribute("data-jp-fstools-waiting", str(number))
    window.page.evaluate(THREE_FRAMES)


@pytest.mark.parametrize("held", [held_by_mouse, held_by_key])
@pytest.mark.parametrize(("action", "status"), [("approve", "applied"), ("reject", "rejected")])
def test_a_button_that_is_held_while_changes_arrive_is_pressed(window, waits, held, action, status):
    propose(waits, "a.py")
    with held(button_of(window, waits.path("a.py"), action)):
        propose(waits, "b.py", "c.py")
        expect_heard(window, 3)
    expect(window.card(waits.path("a.py"))).to_have_attribute("data-status", status)
    for file in ("b.py", "c.py"):
        expect(window.card(waits.path(file))).to_have_attribute("data-status", "proposed")


def test_approve_all_is_pressed_while_more_comes_to_wait(window, waits):
    propose(waits, "a.py")
    unfold(window.card(waits.path("a.py")))
    with held_by_mouse(window.waiting.locator('[data-action="approve-all"]')):
        propose(waits, "b.py")
        expect_heard(window, 2)
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Approve 1 change?")
    expect(dialog).to_contain_text("1 other goes on waiting")
    dialog.get_by_role("button", name="Cancel").click()


def test_a_diff_is_unfolded_and_folded_while_changes_arrive(window, waits):
    propose(waits, "a.py")
    fold = button_of(window, waits.path("a.py"), "fold")
    for number, unfolded in enumerate(("true", "false")):
        with held_by_mouse(fold):
            propose(waits, f"b{number}.py")
            expect_heard(window, number + 2)
        expect(fold).to_have_attribute("aria-expanded", unfolded)


def test_a_change_that_another_decides_while_its_button_is_held_is_not_decided_twice(window, waits):
    change = propose(waits, "a.py")
    with held_by_mouse(button_of(window, waits.path("a.py"), "approve")):
        waits.lab.decide(change, "reject")
        expect(window.page.locator(PANEL_TAB)).not_to_have_attribute("data-jp-fstools-waiting", "1")
    card = window.card(waits.path("a.py"))
    expect(card).to_have_attribute("data-status", "rejected")
    expect(card.get_by_role("alert")).to_contain_text("rejected")
    assert waits.text("a.py") == "x = 1\n"


def test_the_keyboard_and_a_selection_stay_while_changes_arrive(window, waits):
    propose(waits, "a.py")
    card = window.card(waits.path("a.py"))
    approve = button_of(window, waits.path("a.py"), "approve")
    unfold(card).get_by_text("y = 1").select_text()
    approve.focus()
    propose(waits, "b.py")
    expect_heard(window, 2)
    expect(approve).to_be_focused()
    assert "y = 1" in window.page.evaluate("getSelection().toString()")
    window.page.keyboard.press("Enter")
    expect(card).to_have_attribute("data-status", "applied")


APPROVE_ALL_AT_ONCE = """() => document.querySelectorAll('.jp-FileEditor [data-action="approve"]')
  .forEach(button => button.click())"""


def test_many_approvals_at_once_leave_a_connection_for_the_save_that_they_wait_for(desk, waits):
    """A browser opens six to a server; the first approval has the page save what its person typed."""
    lines = [f"line_{number} = {number}\n" for number in range(32)]
    desk.open(waits.write("a.py", "".join(lines)))
    document = Text(desk)
    document.type("  # typed")
    desk.wait_until_known(waits.path("a.py"), saved=False)
    lines[0] = "line_0 = 0  # typed\n"
    for number in range(4, 32, 4):
        waits.change("a.py", f"line_{number} =", f"LINE_{number} =")
        lines[number] = lines[number].upper()
    expect(desk.page.locator('.jp-FileEditor [data-action="approve"]')).to_have_count(7)
    began = time.monotonic()
    desk.page.evaluate(APPROVE_ALL_AT_ONCE)
    assert holds(waits, "a.py", "".join(lines))
    assert time.monotonic() - began < 20
