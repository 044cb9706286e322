"""Panel, bar and buttons at a zoom of 200 %: a window of half as many pixels, each twice as large."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import axe_finds, unfold
from tests.browser.open_documents.documents import Notebook, notebook_text
from tests.browser.test_review_in_place import BEFORE, rewrite, upper

CLIPPED = """within => [...within.querySelectorAll('button, input, select')].filter(part => {
    const box = part.getBoundingClientRect();
    if (!box.width || !part.checkVisibility({ visibilityProperty: true })) {
        return false;
    }
    part.scrollIntoView({ block: 'nearest' });
    const { left, top, width, height } = part.getBoundingClientRect();
    const found = document.elementFromPoint(left + width / 2, top + height / 2);
    const inside = left >= 0 && left + width <= innerWidth && top >= 0 && top + height <= innerHeight;
    return !inside || !part.contains(found) || part.scrollWidth > part.clientWidth + 2;
}).map(part => part.outerHTML)"""

OUT_OF_SIGHT = """controls => {
    const seen = controls.closest('.cm-scroller').getBoundingClientRect();
    return [...controls.querySelectorAll('button, input')].filter(part => {
        const { left, right } = part.getBoundingClientRect();
        return left < seen.left || right > seen.right;
    }).map(part => part.outerHTML);
}"""


@pytest.fixture
def zoomed(share_window):
    return share_window("zoomed", zoom=2)


def change_a_text(window, folder):
    """A text in which an assistant changed two places, or would change them."""
    folder.write("a.py", BEFORE)
    window.open(folder.path("a.py"))
    rewrite(folder, upper(3, 12))
    expect(window.page.locator(".jp-FileEditor:visible .jp-fstools-Review-controls").first).to_be_visible()


def test_the_bar_and_the_buttons_of_a_document_are_reached(zoomed, folder, waits):
    folder.write("other.py", BEFORE)
    rewrite(folder, upper(1), "other.py")
    made = "keep", "undo", "keep-session", "undo-session", "previous", "next"
    for place, actions in ((folder, made), (waits, ("approve", "reject", "previous", "next"))):
        change_a_text(zoomed, place)
        page = zoomed.page
        bar = page.locator(".jp-fstools-ReviewBar:visible")
        for action in actions:
            expect(bar.locator(f'[data-action="{action}"]')).to_be_visible()
        zoomed.photograph(f"document_{place.session[-5:]}_{len(actions)}")
        assert bar.evaluate(CLIPPED) == []
        assert page.locator(".jp-FileEditor .jp-fstools-Review-controls").first.evaluate(CLIPPED) == []
        assert axe_finds(page, ".jp-fstools-ReviewBar", ".jp-fstools-Review-other") == []
        zoomed.close_all()


def test_the_panel_is_read_and_used(zoomed, waits):
    change_a_text(zoomed, waits)
    zoomed.open_panel()
    card = zoomed.card(waits.path("a.py"))
    unfold(card)
    zoomed.photograph("panel")
    assert zoomed.panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
    for part in (zoomed.panel.locator(".jp-fstools-FilterBar"), zoomed.waiting, card.locator(".jp-fstools-Card-head")):
        assert part.evaluate(CLIPPED) == []
    card.locator('[data-action="approve"]').click()
    expect(card).to_have_attribute("data-status", "applied")
    assert axe_finds(zoomed.page, ".jp-fstools-Panel") == []


def test_the_dialog_that_connects_fits_into_a_small_window(open_lab):
    window = open_lab(width=800, zoom=2)
    window.run("Connect an Assistant…")
    dialog = window.page.locator(".jp-Dialog-content")
    for button in ("Make its token", "Copy"):
        expect(dialog.get_by_role("button", name=button)).to_be_visible()
        window.photograph(button)
        box = dialog.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= window.page.viewport_size["width"]
        dialog.locator(".jp-mod-accept").click()


def test_a_cell_to_come_begins_where_the_cells_of_a_narrow_notebook_do(zoomed, waits):
    """There JupyterLab has the prompts above the cells."""
    zoomed.open(waits.write("n.ipynb", notebook_text("x = 1")))
    document = Notebook(zoomed)
    waits.call("read_notebook", "n.ipynb")
    edits = [{"edit_mode": "insert", "after": "c0", "cell_type": "code", "new_source": "y = 1"}]
    assert waits.call("edit_notebook", "n.ipynb", edits=edits)[0] == 202
    ghost = zoomed.page.locator(".jp-fstools-Review-ghost")
    expect(ghost).to_be_visible()
    editor = document.cells.first.locator(".jp-InputArea-editor").bounding_box()
    assert abs(ghost.bounding_box()["x"] - editor["x"]) < 8


def test_a_long_line_leads_no_button_out_of_sight(open_lab, waits, settings):
    settings("@jupyterlab/codemirror-extension:plugin", defaultConfig={"lineWrap": False})
    settings("@jupyterlab/fileeditor-extension:plugin", editorConfig={"lineWrap": False})
    long = "x = 'a line that is longer than the window is wide' # " + "and on " * 60
    window = open_lab(zoom=2)

    def propose_in_a_text():
        window.open(waits.write("a.py", f"{long}\ny = 1\n"))
        waits.call("read_file", "a.py")
        assert waits.call("edit_file", "a.py", old_string="y = 1", new_string="y = 2")[0] == 202

    def propose_in_a_cell():
        window.open(waits.write("n.ipynb", notebook_text(f"{long}\ny = 1")))
        Notebook(window)
        waits.call("read_notebook", "n.ipynb")
        edits = [{"cell_id": "c0", "old_string": "y = 1", "new_string": "y = 2"}]
        assert waits.call("edit_notebook", "n.ipynb", edits=edits)[0] == 202

    for propose, name in ((propose_in_a_text, "text"), (propose_in_a_cell, "cell")):
        propose()
        controls = window.page.locator(".cm-content .jp-fstools-Review-controls")
        expect(controls).to_be_visible()
        scroller = window.page.locator(".cm-scroller", has=controls)
        assert scroller.evaluate("part => part.scrollWidth > part.clientWidth + 300")
        for scrolled in (0, 300):
            scroller.evaluate("(part, to) => { part.scrollLeft = to; }", scrolled)
            window.photograph(f"{name}_{scrolled}")
            assert controls.evaluate(OUT_OF_SIGHT) == []
        window.close_all()
