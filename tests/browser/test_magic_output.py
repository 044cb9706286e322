"""The output of `%fs` in a notebook is readable in each theme."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import unfold
from tests.browser.test_keyboard_and_themes import CONTRAST
from tests.browser.test_live_list import notebook

AA = 4.5
TEXTS = "mark, td, th, .fs-note"


def outputs_of_all_cells(window, count):
    """Run all cells; gives the outputs of `%fs` below them."""
    page = window.page
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    for _ in range(count):
        page.keyboard.press("Shift+Enter")
    shown = page.locator(".jp-OutputArea-output .fstools")
    expect(shown).to_have_count(count)
    return shown


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_every_match_of_a_line_is_marked_and_all_is_readable(desk, folder, choose_theme, theme):
    choose_theme(theme)
    folder.write("a.py", "value = value + value\nother = 1\n")
    path = folder.path("a.py")
    magics = f"%fs grep value {path}", f"%fs read {path}", f"%fs edit {path} --old other --new another"
    folder.write("n.ipynb", notebook(*(("code", magic) for magic in magics)))
    desk.open(folder.path("n.ipynb"))
    shown = outputs_of_all_cells(desk, len(magics))
    expect(shown.first.locator("mark")).to_have_text(["value"] * 3)
    desk.photograph("output")
    texts = [text for text in shown.locator(TEXTS).all() if text.inner_text().strip()]
    contrasts = {text.inner_text(): text.evaluate(CONTRAST) for text in texts}
    assert contrasts["value"] >= AA
    assert {text: contrast for text, contrast in contrasts.items() if contrast < AA} == {}


def test_a_name_with_dollar_signs_is_no_formula(desk, folder):
    folder.write("a$x_1$.py", "value = 1\n")
    path = folder.path("a$x_1$.py")
    magics = f"%fs glob {folder.name}/*.py", f"%fs read {path}", f"%fs edit {path} --old 1 --new 2"
    folder.write("n.ipynb", notebook(*(("code", magic) for magic in magics), ("markdown", "$y$")))
    desk.open(folder.path("n.ipynb"))
    shown = outputs_of_all_cells(desk, 3)
    expect(desk.page.locator(".jp-MarkdownOutput mjx-container")).to_be_visible()
    for number in (0, 2):
        expect(shown.nth(number)).to_contain_text(path)


def test_beside_a_long_path_no_other_word_of_a_table_is_broken(desk, folder):
    name = "_".join(["a", *["rather"] * 28, "long", "file.py"])
    folder.write(name, "other = 1\n")
    folder.change(name, "other", "another")
    pattern = folder.path("**/*.py")
    folder.write("n.ipynb", notebook(("code", "%fs changes"), ("code", f"%fs glob {pattern}")))
    desk.open(folder.path("n.ipynb"))
    shown = outputs_of_all_cells(desk, 2)
    for table in shown.all():
        row = table.locator("tr", has_text="file.py").first
        path = row.locator("td", has_text="file.py")
        tall = path.bounding_box()["height"]
        line = path.evaluate("cell => parseFloat(getComputedStyle(cell).lineHeight)")
        assert tall > 1.5 * line, "the path is wrapped"
        words = [cell for cell in row.locator("td").all() if "file.py" not in cell.inner_text()]
        assert words
        assert [cell.inner_text() for cell in words if cell.evaluate(LINES) > 1] == []
    desk.photograph("tables")


@pytest.mark.parametrize("numbers", ["", " --no-numbers"])
def test_empty_lines_are_as_high_as_others_and_are_copied(desk, folder, numbers):
    text = "first\n\n\nlast\n"
    folder.write("a.txt", text)
    folder.write("n.ipynb", notebook(("code", f"%fs read {folder.path('a.txt')}{numbers}")))
    desk.open(folder.path("n.ipynb"))
    shown = outputs_of_all_cells(desk, 1)
    heights = [row.bounding_box()["height"] for row in shown.locator("tr").all()]
    assert len(heights) == 4 and max(heights) - min(heights) <= 1
    assert shown.locator("tbody").evaluate(SELECTED).replace("\t", "").strip() == text.strip()


SELECTED = "table => { getSelection().selectAllChildren(table); return getSelection().toString(); }"
LINES = """cell => {
    const words = document.createRange();
    words.selectNodeContents(cell);
    return new Set([...words.getClientRects()].map(({ top }) => Math.round(top))).size;
}"""
BACKGROUND = "element => getComputedStyle(element).backgroundColor"


def test_a_diff_has_the_panels_colours_and_a_read_shows_its_lines_each_time(desk, folder):
    folder.write("a.py", "value = 1\n")
    path = folder.path("a.py")
    magics = f"%fs read {path}", f"%fs read {path}", f"%fs edit {path} --old 1 --new 2"
    folder.write("n.ipynb", notebook(*(("code", magic) for magic in magics)))
    desk.open(folder.path("n.ipynb"))
    shown = outputs_of_all_cells(desk, 3)
    for read in range(2):
        expect(shown.nth(read).locator("td", has_text="value = 1")).to_be_visible()
    desk.open_panel()
    card = desk.card(path)
    unfold(card)
    for kind in ("add", "remove"):
        in_cell = shown.nth(2).locator(f"tr.fs-{kind}").evaluate(BACKGROUND)
        in_panel = card.locator(f".jp-fstools-Diff-row.jp-mod-{kind} .jp-fstools-Diff-code").evaluate(BACKGROUND)
        assert in_cell == in_panel
    assert folder.text("a.py") == "value = 2\n"
    desk.photograph("diff")
