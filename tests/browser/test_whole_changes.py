"""A whole change is compared in the main area: texts and notebooks, side by side or in one column."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.lab import axe_finds, unfold

LINES = [f"line_{number} = {number}\n" for number in range(60)]
METADATA = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def cell(name, source, kind="code", outputs=()):
    made = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    return made | ({"outputs": list(outputs), "execution_count": None} if kind == "code" else {})


def compare(window):
    window.run("Compare a Change by an Assistant")
    shown = window.page.locator(".jp-fstools-ChangeComparison:visible")
    expect(shown).to_be_visible()
    return shown


@pytest.fixture
def text(desk, waits):
    """A proposal for a text, compared."""
    waits.write("a.py", "".join(LINES))
    change = waits.change("a.py", "line_30 = 30", "LINE_30 = 'thirty'")
    notice = desk.page.get_by_role("alert").filter(has_text="waits for you")
    notice.get_by_role("button", name="Compare").click()
    shown = desk.page.locator(".jp-fstools-ChangeComparison:visible")
    expect(shown).to_be_visible()
    return desk, shown, change


def test_a_text_is_compared_side_by_side_and_in_one_column_and_unfolds(text, waits):
    window, shown, change = text
    expect(shown.locator(".cm-merge-a .cm-changedLine")).to_have_text("line_30 = 30")
    expect(shown.locator(".cm-merge-b .cm-changedLine")).to_have_text("LINE_30 = 'thirty'")
    expect(shown.locator(".cm-collapsedLines").first).to_contain_text("unchanged lines")
    window.photograph("side_by_side")
    assert axe_finds(window.page, ".jp-fstools-ChangeComparison") == []
    shown.get_by_role("button", name="Side by side").press("Enter")
    expect(shown.locator(".cm-merge-a")).to_have_count(0)
    expect(shown.locator(".cm-deletedChunk")).to_contain_text("line_30 = 30")
    window.photograph("unified")
    shown.get_by_role("button", name="All lines").press("Enter")
    expect(shown.locator(".cm-collapsedLines")).to_have_count(0)
    expect(shown.locator(".cm-line").first).to_have_text("line_0 = 0")
    shown.get_by_role("button", name="Approve").press("Enter")
    expect(shown.get_by_role("button", name="Undo")).to_be_visible()
    assert "LINE_30 = 'thirty'" in waits.text("a.py")
    assert waits.lab.call("GET", f"/changes/{change['id']}")[1]["change"]["status"] == "applied"


def test_a_new_file_in_one_column_has_only_lines_that_come(desk, waits):
    status, answer = waits.call("write_file", "new.py", content="x = 1\n")
    assert status == 202
    desk.page.evaluate("id => jupyterapp.commands.execute('jupyter-fstools:compare', { id })", answer["change"]["id"])
    shown = desk.page.locator(".jp-fstools-ChangeComparison:visible")
    shown.get_by_role("button", name="Side by side").press("Enter")
    expect(shown.locator(".cm-line.cm-changedLine, .cm-line.cm-insertedLine").first).to_have_text("x = 1")
    expect(shown.locator(".cm-deletedChunk")).to_be_hidden()
    desk.photograph("new")


def test_a_deleted_cell_in_one_column_has_only_lines_that_go(desk, waits):
    cells = [cell("one", "x = 1"), cell("two", "y = 2")]
    notebook = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    waits.write("n.ipynb", json.dumps(notebook))
    waits.call("read_notebook", "n.ipynb")
    status, answer = waits.call("edit_notebook", "n.ipynb", cell_id="two", edit_mode="delete")
    assert status == 202
    shown = comparison_of(desk, answer["change"])
    shown.get_by_role("button", name="Side by side").press("Enter")
    expect(shown.locator(".cm-deletedChunk")).to_have_text("y = 2")
    expect(shown.locator(".jp-mod-gone .cm-content > .cm-line")).to_be_hidden()
    desk.photograph("gone")


def test_a_change_whose_diff_is_cut_is_approved_where_all_of_it_is_compared(desk, waits):
    content = "".join(f"line {number}\n" for number in range(8000))
    change = waits.call("write_file", "long.txt", content=content)[1]["change"]
    assert change["diff"]["truncated"]
    shown = comparison_of(desk, change)
    expect(shown.locator(".cm-merge-b .cm-line").first).to_have_text("line 0")
    shown.get_by_role("button", name="Approve").press("Enter")
    expect(shown.get_by_role("button", name="Undo")).to_be_visible()
    assert waits.text("long.txt") == content


def test_whoever_has_seen_all_of_a_change_in_the_main_area_may_approve_it_in_the_panel(window, waits):
    lines = [f"line {number}\n" for number in range(450)]
    waits.write("a.txt", "".join(lines))
    waits.call("read_file", "a.txt")
    change = waits.call("write_file", "a.txt", content="".join(lines).upper())[1]["change"]
    approve = window.card_of(change).locator('[data-action="approve"]')
    expect(approve).to_be_disabled()
    shown = compare(window)
    expect(shown.locator(".cm-merge-b .cm-line").first).to_have_text("LINE 0")
    expect(approve).to_be_disabled()
    shown.locator(".jp-fstools-DiffView").focus()
    window.page.keyboard.press("End")
    # At once, not with the next refresh of the card's age.
    expect(approve).to_be_enabled(timeout=8000)


def test_what_stands_is_offered_for_undo_and_a_held_button_is_pressed(desk, folder):
    folder.write("a.py", "".join(LINES))
    first = folder.change("a.py", "line_3 =", "LINE_3 =")
    desk.page.evaluate("id => jupyterapp.commands.execute('jupyter-fstools:compare', { id })", first["id"])
    shown = desk.page.locator(".jp-fstools-ChangeComparison:visible")
    undo = shown.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    second = folder.change("a.py", "line_9 =", "LINE_9 =")
    expect(undo).to_have_count(0)
    shown.get_by_role("button", name="Keep").hover()
    desk.page.mouse.down()
    assert folder.lab.decide(second, "undo")[0] == 200
    expect(undo).to_be_visible()
    desk.page.mouse.up()
    expect(shown.get_by_role("button", name="Keep")).to_have_count(0)
    assert len(folder.lab.call("GET", f"/changes/{first['id']}")[1]["change"]["seen_by"]) == 1


def test_a_stale_proposal_for_a_notebook_shows_both_sides_as_cells(desk, waits):
    def written(source):
        cells = [cell("one", source), cell("two", "y = 2")]
        return json.dumps({"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5})

    waits.write("n.ipynb", written("x = 1"))
    waits.call("read_notebook", "n.ipynb")
    status, answer = waits.call("edit_notebook", "n.ipynb", cell_id="one", new_source="x = 'proposed'")
    assert status == 202
    waits.write("n.ipynb", written("x = 'modified'"))
    desk.page.evaluate("id => jupyterapp.commands.execute('jupyter-fstools:compare', { id })", answer["change"]["id"])
    shown = desk.page.locator(".jp-fstools-ChangeComparison:visible")
    proposed, modified = (shown.locator(".jp-fstools-CellDiff").nth(side) for side in range(2))
    expect(proposed).to_contain_text("x = 'proposed'")
    expect(modified).to_contain_text("x = 'modified'")
    expect(shown.get_by_role("button", name="Reject")).to_be_visible()
    expect(shown.get_by_role("button", name="Approve")).to_have_count(0)
    desk.photograph("stale")


def test_a_deleted_cell_is_counted_among_those_of_before_and_an_edited_one_among_those_to_come(desk, waits):
    cells = [cell(f"c{number}", f"x = {number}") for number in range(4)]
    waits.write("n.ipynb", json.dumps({"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}))
    waits.call("read_notebook", "n.ipynb")
    edits = [
        {"cell_id": "c1", "edit_mode": "delete"},
        {"cell_id": "c2", "edit_mode": "delete"},
        {"cell_id": "c3", "new_source": "x = 'three'"},
    ]
    change = waits.call("edit_notebook", "n.ipynb", edits=edits)[1]["change"]
    desk.page.evaluate("id => jupyterapp.commands.execute('jupyter-fstools:compare', { id })", change["id"])
    heads = desk.page.locator(".jp-fstools-ChangeComparison:visible .jp-fstools-NotebookComparison-head")
    said = ["Former cell 2 (code): deleted", "Former cell 3 (code): deleted", "Cell 2 (code): edited"]
    expect(heads).to_have_text(said)
    desk.photograph("former")


def test_a_notebook_is_compared_with_outputs_and_rendered_cells(window, waits):
    output = {"output_type": "stream", "name": "stdout", "text": "forty-two\n"}
    cells = [
        cell("title", "# Old title\n", "markdown"),
        *(cell(f"same{number}", "pass") for number in range(5)),
        cell("code", "print(42)", outputs=[output]),
    ]
    waits.write("n.ipynb", json.dumps({"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}))
    waits.call("read_notebook", "n.ipynb")
    edits = [
        {"cell_id": "title", "new_source": "# New title"},
        {"cell_id": "code", "new_source": "print(43)"},
        {"edit_mode": "insert", "after": "code", "cell_type": "code", "new_source": "more()"},
    ]
    assert waits.call("edit_notebook", "n.ipynb", edits=edits)[0] == 202
    card = window.card(waits.path("n.ipynb"))
    unfold(card)
    card.locator('[data-action="compare"]').click()
    shown = window.page.locator(".jp-fstools-ChangeComparison:visible")
    parts = shown.locator(".jp-fstools-NotebookComparison-cell")
    expect(parts).to_have_count(3)
    expect(parts.nth(0)).to_contain_text("Cell 1 (markdown): edited")
    parts.nth(0).get_by_role("button", name="Rendered").click()
    expect(parts.nth(0).locator("h1")).to_contain_text(["Old title", "New title"])
    expect(parts.nth(1)).to_contain_text("forty-two")
    expect(parts.nth(1)).to_contain_text("edited, other outputs")
    expect(parts.nth(2)).to_contain_text("Cell 8 (code): inserted")
    window.photograph("notebook")
    shown.get_by_role("button", name="5 unchanged cells").click()
    expect(parts).to_have_count(8)
    assert axe_finds(window.page, ".jp-fstools-ChangeComparison") == []


def test_a_notebook_is_compared_with_metadata_of_its_cells_and_its_own(desk, waits):
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    cells = [
        cell("code", "x = 1") | {"metadata": {"tags": ["one-of-mine"]}},
        cell("text", "# Title", "markdown") | {"attachments": {"dot.png": {"image/png": picture}}},
    ]
    metadata = {"kernelspec": METADATA["kernelspec"] | {"display_name": "Some kernel"}}
    content = json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    status, answer = waits.call("write_file", "n.ipynb", content=content)
    assert status == 202, answer
    desk.page.evaluate("id => jupyterapp.commands.execute('jupyter-fstools:compare', { id })", answer["change"]["id"])
    shown = desk.page.locator(".jp-fstools-ChangeComparison:visible")
    code, text = (shown.locator(".jp-fstools-NotebookComparison-cell").nth(number) for number in range(2))
    expect(code).to_contain_text("Metadata")
    expect(code).to_contain_text("one-of-mine")
    expect(text.get_by_role("group", name="After").locator("img")).to_be_visible()
    expect(shown.get_by_role("table", name="Around the cells")).to_contain_text("Some kernel")
    desk.photograph("metadata")
    assert axe_finds(desk.page, ".jp-fstools-ChangeComparison") == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_nothing_keeps_anybody_from_deciding_in_the_document_or_beside_it(desk, waits, choose_theme, theme):
    choose_theme(theme)
    desk.open(waits.write("a.py", "".join(LINES)))
    page = desk.page
    waits.change("a.py", "line_3 = 3", "line_3 = 'three'")
    controls = page.locator(".jp-FileEditor .jp-fstools-Review-controls")
    expect(controls).to_be_visible()
    desk.photograph("review")
    assert axe_finds(page, ".jp-fstools-ReviewBar", ".jp-fstools-Review-other") == []
    compare(desk)
    expect(page.locator(".cm-merge-b .cm-changedLine")).to_be_visible()
    desk.photograph("comparison")
    assert axe_finds(page, ".jp-fstools-ChangeComparison") == []


def comparison_of(window, change):
    window.page.evaluate("id => jupyterapp.commands.execute('jupyter-fstools:compare', { id })", change["id"])
    return window.page.locator(".jp-fstools-ChangeComparison:visible")


def test_each_file_of_a_change_that_is_another_by_now_is_shown_with_both_sides(window, waits):
    for name in "abc":
        waits.write(f"{name}.py", f"{name} = 1\n")
        waits.call("read_file", f"{name}.py")
    edits = [{"path": waits.path(f"{name}.py"), "old_string": "= 1", "new_string": "= 2"} for name in "abc"]
    status, answer = waits.lab.call("POST", "/tools/edit_file", {"edits": edits}, waits.session)
    assert status == 202, answer
    shown = comparison_of(window, answer["change"])
    expect(shown.get_by_role("button", name="Approve")).to_be_visible()
    for name in "ac":
        waits.write(f"{name}.py", f"{name} = 'another'\n")
    # The server reports writes by other programs before the page asks.
    expect(shown.get_by_role("button", name="Approve")).to_have_count(0, timeout=8000)
    card = window.card_of(answer["change"])
    expect(card).to_contain_text("out of date")
    unfold(card)
    for place in (shown, card):
        expect(place.get_by_text("Since then the file was modified:")).to_have_count(2)
        for name in "ac":
            expect(place).to_contain_text(f"{name} = 2")
            expect(place).to_contain_text(f"{name} = 'another'")
        expect(place).to_contain_text("b = 2")
        expect(place.locator('[data-action="approve"]')).to_have_count(0)
    window.photograph("stale_files")


def test_what_the_person_types_over_is_stale_in_the_main_area_at_once(desk, waits):
    waits.write("a.py", "".join(LINES))
    change = waits.change("a.py", "line_3 = 3", "LINE_3 = 3")
    shown = comparison_of(desk, change)
    expect(shown.get_by_role("button", name="Approve")).to_be_visible()
    desk.page.evaluate(
        """async path => {
            await jupyterapp.commands.execute('docmanager:open', { path, options: { mode: 'split-right' } });
        }""",
        waits.path("a.py"),
    )
    line = desk.page.locator(".jp-FileEditor .cm-line", has_text="line_3 = 3").first
    line.click()
    desk.page.keyboard.press("Home")
    desk.page.keyboard.type("# mine")
    for _ in "line_3":
        desk.page.keyboard.press("Delete")
    expect(shown.get_by_role("button", name="Approve")).to_have_count(0, timeout=2000)
    expect(shown).to_contain_text("# mine = 3")
    desk.photograph("stale_in_the_main_area")
    desk.page.keyboard.type(" too")
    expect(shown).to_contain_text("# mine too = 3")
    for _ in "# mine too":
        desk.page.keyboard.press("Backspace")
    desk.page.keyboard.type("line_")
    expect(shown).to_contain_text("line_ = 3")
    desk.page.wait_for_timeout(2000)  # Until no question about what was typed is under way.
    desk.page.keyboard.type("3")
    expect(shown.get_by_role("button", name="Approve")).to_be_visible()


def test_what_another_program_writes_again_is_shown_in_the_main_area(desk, waits):
    waits.write("a.py", "".join(LINES))
    change = waits.change("a.py", "line_3 = 3", "LINE_3 = 3")
    shown = comparison_of(desk, change)
    for text in ("first = 1", "second = 2"):
        waits.write("a.py", f"{text}\n" + "".join(LINES))
        expect(shown).to_contain_text(text)
    expect(shown).not_to_contain_text("first = 1")


def test_an_unfolded_card_shows_what_another_program_writes_again_until_it_fits(window, waits):
    waits.write("a.py", "".join(LINES))
    change = waits.change("a.py", "line_3 = 3", "LINE_3 = 3")
    card = window.card_of(change)
    unfold(card)
    for text in ("first = 1", "second = 2"):
        waits.write("a.py", f"{text}\n" + "".join(LINES))
        expect(card).to_contain_text(text)
        expect(card).to_contain_text("LINE_3 = 3")
    expect(card).not_to_contain_text("first = 1")
    waits.write("a.py", "".join(LINES))
    expect(card).not_to_contain_text("Since then the file was modified:")
    expect(card.locator('[data-action="approve"]')).to_be_enabled()
    window.photograph("fits_again")


def test_an_unfolded_card_follows_what_the_person_types_over_its_proposal(window, waits):
    waits.write("a.py", "".join(LINES))
    change = waits.change("a.py", "line_3 = 3", "LINE_3 = 3")
    card = window.card_of(change)
    unfold(card)
    window.open(waits.path("a.py"))
    window.page.locator(".jp-FileEditor .cm-line", has_text="line_3 = 3").first.click()
    window.page.keyboard.press("Home")
    for _ in "line_3":
        window.page.keyboard.press("Delete")
    for typed in ("mine", "mine_too"):
        window.page.keyboard.type(typed)
        expect(card).to_contain_text(f"{typed} = 3")
        expect(card).to_contain_text("LINE_3 = 3")
        for _ in typed:
            window.page.keyboard.press("Backspace")
    window.page.keyboard.type("line_3")
    expect(card).not_to_contain_text("Since then the file was modified:")
    expect(card.locator('[data-action="approve"]')).to_be_enabled()
