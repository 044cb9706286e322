"""All changes that a session makes in one run of work are summed up, kept and undone together."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.lab import act, unfold

TALL = "".join(f"line {number}\n" for number in range(300))


def test_a_turn_is_summed_up_and_kept_or_undone_at_once(window, folder):
    window.list_only(folder)
    for file in ("a.py", "b.py"):
        folder.write(file, "x = 1\n")
        folder.call("edit_file", file, old_string="x", new_string="y")
        folder.change(file, "x", "y")
    folder.call("read_file", "gone.py")
    turn = window.turn(folder.session)
    for said in ("2 files", "+2", "2 reads", "1 refused", "2 repaired"):
        expect(turn).to_contain_text(said)
    assert turn.locator("time").get_attribute("datetime")
    expect(window.card(folder.path("a.py"), "read")).to_have_count(0)
    window.photograph("folded")
    act(turn, "fold")
    repaired = window.card(folder.path("a.py"), "refusal")
    expect(repaired).to_have_attribute("data-repaired", "true")
    assert repaired.evaluate("card => getComputedStyle(card).borderLeftColor") == "rgba(0, 0, 0, 0)"
    window.photograph("unfolded")
    act(turn, "keep-turn")
    expect(turn.locator('[data-action="keep-turn"]')).to_have_count(0)
    changes = folder.lab.call("GET", f"/changes?session={folder.session}")[1]["changes"]
    assert [len(change["seen_by"]) for change in changes] == [1, 1]
    act(turn, "undo-turn")
    dialog = window.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Undo 2 changes?")
    dialog.get_by_role("button", name="Undo").click()
    expect(turn.locator('[data-action="undo-turn"]')).to_have_count(0)
    assert [folder.text(file) for file in ("a.py", "b.py")] == ["x = 1\n"] * 2
    expect(window.card(folder.path("a.py"))).to_contain_text("undo")
    expect(window.turn("You")).to_be_visible()
    undone = window.panel.locator(f'[data-change-id="{changes[0]["id"]}"]')
    expect(undone).to_contain_text("by you")
    window.photograph("undone")


def test_undo_is_offered_only_where_nothing_covers_the_change_and_an_undo_is_redone(window, folder):
    window.list_only(folder)
    folder.write("a.py", "one\n")
    first, second = (folder.change("a.py", old, new) for old, new in (("one", "two"), ("two", "three")))
    cards = [window.panel.locator(f'[data-change-id="{change["id"]}"]') for change in (first, second)]
    undo = [card.locator('[data-action="undo"]') for card in cards]
    expect(undo[1]).to_be_visible()
    expect(undo[0]).to_have_count(0)
    undo[1].click()
    expect(undo[0]).to_be_visible()
    assert folder.text("a.py") == "two\n"
    act(window.card(folder.path("a.py")), "undo")
    expect(window.card(folder.path("a.py"))).to_contain_text("redo")
    expect(undo[0]).to_have_count(0)
    assert folder.text("a.py") == "three\n"


def test_buttons_stay_in_sight_while_a_tall_diff_scrolls_and_approve_is_primary_once_it_was_seen(window, waits):
    waits.write("a.txt", TALL)
    waits.call("read_file", "a.txt")
    waits.call("write_file", "a.txt", content=TALL.upper())
    card = window.card(waits.path("a.txt"))
    approve = card.locator('[data-action="approve"]')
    expect(approve).to_be_disabled()
    unfold(card)
    approve_all = window.waiting.locator('[data-action="approve-all"]')
    expect(approve_all).to_have_text("Approve 0 of 1")
    card.get_by_role("button", name="Show all").click()
    expect(approve).to_be_enabled()
    expect(approve_all).to_have_text("Approve all (1)")
    colour = "button => getComputedStyle(button).color"
    assert approve.evaluate(colour) == "rgb(255, 255, 255)"
    window.panel.locator(".jp-fstools-CardList .jp-WindowedPanel-outer").evaluate("list => list.scrollTo(0, 4000)")
    expect(card.get_by_text("line 250", exact=True)).to_be_in_viewport()
    expect(approve).to_be_in_viewport()
    window.photograph("scrolled")


def test_the_filter_is_remembered_over_a_reload_until_it_is_cleared(window, folder):
    folder.write("some_name.py", "x = 1\n")
    folder.change("some_name.py", "x", "y")
    path = window.panel.locator('[data-filter="path"]')
    path.fill("SOME_n")
    expect(window.cards).to_have_count(1)
    window.panel.locator('[data-filter="status"]').select_option("applied")
    folder.lab.wait_until_remembered(window.page, '"match":"SOME_n"', '"status":"applied"')
    window.reload()
    window.open_panel()
    expect(path).to_have_value("SOME_n")
    expect(window.panel.locator('[data-filter="status"]')).to_have_value("applied")
    expect(window.cards).to_have_count(1)
    act(window.panel, "clear-filter")
    expect(path).to_have_value("")
    expect(window.panel.locator('[data-action="clear-filter"]')).to_be_hidden()


def test_the_tokens_of_assistants_are_listed_and_revoked_with_one_press(window, lab):
    for token in lab.call("GET", "/tokens")[1]["tokens"]:  # Left by other tests.
        lab.call("DELETE", f"/tokens/{token['id']}")
    for name, more in (("claude", {"tools": "read", "paths": ["src/"]}), ("ci", {"expires_in": None})):
        assert lab.call("POST", "/tokens", {"name": name, **more})[0] == 201
    act(window.panel, "tokens")
    dialog = window.page.get_by_role("dialog")
    claude = dialog.get_by_role("listitem").filter(has_text="claude")
    for said in ("session claude", "reads", "src/", "expires on", "not used yet"):
        expect(claude).to_contain_text(said)
    expect(dialog.get_by_role("listitem").filter(has_text="ci")).to_contain_text("never expires")
    window.photograph("tokens")
    dialog.get_by_role("button", name="Revoke claude").click()
    expect(claude).to_have_count(0)
    assert [token["name"] for token in lab.call("GET", "/tokens")[1]["tokens"]] == ["ci"]
    dialog.get_by_role("button", name="Revoke ci").click()
    expect(dialog).to_contain_text("There are none.")
    dialog.get_by_role("button", name="Close").click()
