"""A person decides about changes in the panel, and sees at once which of them are applied."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import expect

from tests.browser.lab import act, unfold

BEFORE = "def greeting(name):\n    return 'Hello, ' + name\n"
AFTER = BEFORE.replace("'Hello, ' + name", "f'Hello, {name}!'")


def proposed(waits, file="a.py"):
    waits.write(file, BEFORE)
    return waits.change(file, "'Hello, ' + name", "f'Hello, {name}!'")


def test_approving_writes_the_file(window, waits):
    proposed(waits)
    card = window.card(waits.path("a.py"))
    expect(unfold(card)).to_contain_text("f'Hello, {name}!'")
    assert waits.text("a.py") == BEFORE
    window.photograph("waits")
    act(card, "approve")
    expect(card).to_have_attribute("data-status", "applied")
    assert waits.text("a.py") == AFTER
    window.photograph("approved")


def test_rejecting_leaves_the_file(window, waits):
    proposed(waits)
    card = window.card(waits.path("a.py"))
    act(card, "reject")
    expect(card).to_have_attribute("data-status", "rejected")
    expect(card.locator('[data-action="approve"]')).to_have_count(0)
    assert waits.text("a.py") == BEFORE


def test_undo_restores_what_was(window, folder):
    folder.write("a.py", BEFORE)
    change = folder.change("a.py", "'Hello, ' + name", "f'Hello, {name}!'")
    assert folder.text("a.py") == AFTER
    card = window.panel.locator(f'[data-change-id="{change["id"]}"]')
    act(card, "undo")
    expect(card).to_have_attribute("data-status", "undone")
    assert folder.text("a.py") == BEFORE
    window.photograph("undone")


def test_a_stale_proposal_is_refused_with_the_reason_and_shows_both_sides(window, waits):
    proposed(waits)
    card = window.card(waits.path("a.py"))
    other = BEFORE.replace("'Hello, '", "'Good day, '")
    # The page has not heard of it yet when its person decides.
    window.page.route("**/approve*", lambda route: (waits.write("a.py", other), route.continue_()))
    act(card, "approve")
    expect(card.get_by_role("alert")).to_contain_text("changed")
    expect(card).to_contain_text("out of date")
    expect(card.locator('[data-action="approve"]')).to_have_count(0)
    assert "Good day" in waits.text("a.py")
    unfold(card)
    proposed_rows, modified_rows = card.get_by_role("table").all()
    expect(proposed_rows).to_contain_text("return f'Hello, {name}!'")
    expect(modified_rows).to_contain_text("return 'Good day, ' + name")
    window.photograph("stale")


def test_the_second_of_two_browsers_is_told_what_the_first_decided(window, second_desk, waits):
    first, second = window, second_desk.open_panel()
    change = proposed(waits)
    card = second.card(waits.path("a.py"))
    expect(card).to_have_attribute("data-status", "proposed")
    # The second page has not heard of it yet when its person decides.
    second.page.route("**/approve*", lambda route: (waits.lab.decide(change, "reject"), route.continue_()))
    act(card, "approve")
    expect(card.get_by_role("alert")).to_contain_text("rejected")
    for window in (first, second):
        expect(window.card(waits.path("a.py"))).to_have_attribute("data-status", "rejected")
    assert waits.text("a.py") == BEFORE
    second.photograph("second")


def test_all_of_a_session_is_approved_and_nothing_of_another(window, waits):
    for file in ("a.py", "b.py"):
        proposed(waits, file)
    waits.write("c.py", BEFORE)
    waits.change("c.py", "Hello", "Hi", session="another")
    expect(window.turn("another").locator('[data-action="approve-turn"]')).to_have_count(0)
    turn = window.turn(waits.session)
    approve = turn.locator('[data-action="approve-turn"]')
    expect(approve).to_be_disabled()
    for file, said in (("a.py", "Approve 1 of 2"), ("b.py", "Approve all (2)")):
        unfold(window.card(waits.path(file)))
        expect(approve).to_have_text(said)
    window.photograph("seen")
    approve.click()
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Approve 2 changes?")
    expect(dialog).not_to_contain_text(waits.path("c.py"))
    dialog.get_by_role("button", name="Approve").click()
    for file in ("a.py", "b.py"):
        expect(window.card(waits.path(file))).to_have_attribute("data-status", "applied")
    expect(window.card(waits.path("c.py"))).to_have_attribute("data-status", "proposed")
    assert [waits.text(file) == BEFORE for file in ("a.py", "b.py", "c.py")] == [False, False, True]


def test_rejecting_everything_asks_first(window, waits):
    for file in ("a.py", "b.py"):
        proposed(waits, file)
    expect(window.waiting).to_contain_text("2 decisions wait for you")
    dialog = window.page.get_by_role("dialog")
    act(window.waiting, "reject-all")
    expect(dialog).to_contain_text("Reject 2 changes?")
    for file in ("a.py", "b.py"):
        expect(dialog).to_contain_text(waits.path(file))
    window.photograph("asked")
    dialog.get_by_role("button", name="Cancel").click()
    assert len(waits.lab.proposed()) == 2
    act(window.waiting, "reject-all")
    dialog.get_by_role("button", name="Reject").click()
    expect(window.card(waits.path("b.py"))).to_have_attribute("data-status", "rejected")
    expect(window.waiting).not_to_contain_text("2 changes")
    assert waits.lab.proposed() == []


def test_all_is_what_the_list_shows_and_the_dialog_names(window, waits):
    proposed(waits, "a.py")
    proposed(waits, "sub/b.py")
    path = window.panel.locator('[data-filter="path"]')
    path.fill("nothing_here")
    expect(window.panel).to_contain_text("Nothing matches the filter.")
    expect(window.waiting.get_by_role("button")).to_have_count(0)
    path.fill("SUB/b")
    unfold(window.card(waits.path("sub/b.py")))
    act(window.waiting, "approve-all")
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Approve 1 change?")
    expect(dialog).to_contain_text(waits.path("sub/b.py"))
    window.photograph("asked")
    proposed(waits, "sub/later.py")
    dialog.get_by_role("button", name="Approve").click()
    expect(window.card(waits.path("sub/b.py"))).to_have_attribute("data-status", "applied")
    assert [waits.text(file) == BEFORE for file in ("a.py", "sub/b.py", "sub/later.py")] == [True, False, True]


def test_what_is_refused_among_many_is_named_and_the_others_are_approved(window, waits):
    for file in ("a.py", "b.py"):
        proposed(waits, file)
        unfold(window.card(waits.path(file)))
    act(window.waiting, "approve-all")
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Approve 2 changes?")
    waits.write("a.py", "something else\n")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog).to_contain_text("Not everything was done")
    expect(dialog).to_contain_text(waits.path("a.py"))
    dialog.get_by_role("button").last.click()
    expect(window.card(waits.path("b.py"))).to_have_attribute("data-status", "applied")
    assert [waits.text("a.py"), waits.text("b.py")] == ["something else\n", AFTER]


def test_the_last_change_of_a_file_is_undone_from_the_file_browser(desk, folder):
    folder.write("a.py", BEFORE)
    folder.change("a.py", "'Hello, ' + name", "f'Hello, {name}!'")
    desk.go_to(folder.name)
    file = desk.page.locator(".jp-DirListing-item", has_text="a.py")
    mark = file.locator("[data-jp-fstools-unseen]")
    expect(mark).to_be_visible()
    desk.in_menu_of("a.py", "Undo the Last Change by an Assistant")
    expect(desk.page.get_by_text("was taken back")).to_be_visible()
    assert folder.text("a.py") == BEFORE
    expect(mark).to_have_count(0)
    file.click(button="right")
    item = desk.page.locator(".lm-Menu-item", has_text="Undo the Last Change by an Assistant")
    expect(item).to_have_class(re.compile("lm-mod-disabled"))
    desk.photograph("nothing_left")
    desk.page.keyboard.press("Escape")


def test_a_change_that_was_taken_back_in_part_is_not_undone_as_the_last_one(window, folder):
    """The person's own undo is no change by an assistant, and must not be offered as the last one."""
    before = "".join(f"line {number}\n" for number in range(30))
    folder.write("a.txt", before)
    folder.call("read_file", "a.txt")
    wanted = before.replace("line 3\n", "LINE 3\n").replace("line 20\n", "LINE 20\n")
    change = folder.call("write_file", "a.txt", content=wanted)[1]["change"]
    undo = window.card_of(change).locator('[data-action="undo"]')
    expect(undo).to_be_visible()
    assert folder.lab.call("POST", f"/changes/{change['id']}/undo", {"hunks": [0]})[0] == 200
    expect(undo).to_have_count(0)
    window.go_to(folder.name)
    window.page.locator(".jp-DirListing-item", has_text="a.txt").click()
    offered = "() => jupyterapp.commands.isEnabled('jupyter-fstools:undo-last')"
    window.page.wait_for_function(f"() => !({offered})()")
    assert folder.text("a.txt") == before.replace("line 20\n", "LINE 20\n")
    redo = window.card(folder.path("a.txt")).get_by_role("button", name="Redo")
    redo.click()
    expect(undo).to_be_visible()
    assert folder.text("a.txt") == wanted
    window.page.wait_for_function(offered)
    window.in_menu_of("a.txt", "Undo the Last Change by an Assistant")
    expect(window.page.get_by_text("was taken back")).to_be_visible()
    assert folder.text("a.txt") == before


def test_a_command_waits_in_sight_and_runs_once_it_is_approved(window, waits):
    with ThreadPoolExecutor() as pool:
        command = "# Greets.\necho 'hello' > said.txt"
        call = pool.submit(waits.lab.call, "POST", "/tools/execute", {"command": command})
        card = window.card(command)
        expect(card.locator(".jp-fstools-Card-name")).to_have_text("# Greets. …")
        expect(card.locator(".jp-fstools-DiffView")).to_contain_text("echo 'hello' > said.txt")
        assert not (waits.lab.root / "said.txt").exists()
        window.photograph("waits")
        act(window.waiting, "approve-all")
        dialog = window.page.get_by_role("dialog")
        expect(dialog).to_contain_text("echo 'hello' > said.txt")
        window.photograph("asked")
        dialog.get_by_role("button", name="Cancel").click()
        act(card, "approve")
        assert call.result(60)[0] == 200
    expect(card).to_have_attribute("data-status", "applied")
    assert (waits.lab.root / "said.txt").read_text() == "hello\n"


def test_the_card_of_a_command_tells_its_exit_code_and_output(window, folder):
    for command, code in (("echo 'all is well'", 0), ("echo oh; exit 3", 3)):
        with ThreadPoolExecutor() as pool:
            call = pool.submit(folder.lab.call, "POST", "/tools/execute", {"command": command}, folder.session)
            card = window.card(command)
            act(card, "approve")
            assert call.result(60)[0] == 200
        expect(card.locator(".jp-fstools-Card-status")).to_have_text(f"exit code {code}")
        expect(card.get_by_label("Output of the command")).to_have_text("all is well" if code == 0 else "oh")
    window.photograph("ran")


# The box is scrolled to its end.
SCROLLED = "box => box.scrollTop > 0 && box.scrollTop + box.clientHeight >= box.scrollHeight - 1"


def test_every_command_that_all_approves_is_read_to_its_end_with_the_keyboard(window, waits):
    commands = [f"touch made_{number}.txt" for number in range(14)]
    commands.append("\n".join(["# Nothing to see here."] * 300 + ["touch made_14.txt"]))
    with ThreadPoolExecutor(len(commands)) as pool:
        asked = [{"command": command, "cwd": waits.name} for command in commands]
        calls = [pool.submit(waits.lab.call, "POST", "/tools/execute", body) for body in asked]
        expect(window.waiting).to_contain_text("15 decisions wait for you")
        act(window.waiting, "approve-all")
        dialog = window.page.get_by_role("dialog")
        expect(dialog.locator("code")).to_have_count(15)
        assert sorted(dialog.locator("code").all_text_contents()) == sorted(commands)
        # The boxes scroll and the dialog does not: the text below them, and the buttons, stay in sight.
        assert dialog.locator(".jp-Dialog-body").evaluate("body => body.scrollHeight <= body.clientHeight")
        for name in ("What you decide about", "A long command"):
            box = dialog.get_by_label(name)
            window.page.keyboard.press("Tab")
            expect(box).to_be_focused()
            window.page.keyboard.press("End")
            window.page.wait_for_function(SCROLLED, arg=box.element_handle())
            expect(box).to_be_in_viewport()
            window.photograph(name.replace(" ", "_"))
        dialog.get_by_role("button", name="Approve").click()
        assert [call.result(60)[0] for call in calls] == [200] * 15
    made = {file.name for file in (waits.lab.root / waits.name).iterdir()}
    assert made == {f"made_{number}.txt" for number in range(15)}
