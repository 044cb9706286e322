"""What `%fs` shows in a notebook can be read in each theme."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_keyboard_and_themes import CONTRAST
from tests.browser.test_live_list import notebook

AA = 4.5
TEXTS = "mark, td, th, .fs-note"


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_every_match_of_a_line_is_marked_and_all_is_readable(open_lab, folder, settings, theme):
    settings("@jupyterlab/apputils-extension:themes", theme=theme)
    folder.write("a.py", "value = value + value\nother = 1\n")
    path = folder.path("a.py")
    magics = f"%fs grep value {path}", f"%fs read {path}", f"%fs edit {path} --old other --new another"
    folder.write("n.ipynb", notebook(*(("code", magic) for magic in magics)))
    window = open_lab(path=folder.path("n.ipynb"))
    page = window.page
    expect(page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()
    page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
    for _ in magics:
        page.keyboard.press("Shift+Enter")
    shown = page.locator(".jp-OutputArea-output .fstools")
    expect(shown).to_have_count(3)
    expect(shown.first.locator("mark")).to_have_text(["value"] * 3)
    window.photograph("output")
    texts = [text for text in shown.locator(TEXTS).all() if text.inner_text().strip()]
    contrasts = {text.inner_text(): text.evaluate(CONTRAST) for text in texts}
    assert contrasts["value"] >= AA
    assert {text: contrast for text, contrast in contrasts.items() if contrast < AA} == {}
