"""A picture of an edit that arrives beside what a person types; run as a program it makes the README's anew."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.chromium import OPTIONS, find_chromium
from tests.browser.lab import Folder, Lab, LabPage, unfold
from tests.browser.open_documents.documents import Notebook, notebook_text
from tests.processes import RunningServer

README_PICTURE = Path(__file__).parents[1] / ".github" / "panel.png"
SIZE = {"width": 1200, "height": 750}
PANEL_WIDTH = 470

NOTES = "# Sales of the year\n\nMeans are rounded.\n"
MEAN = "def mean(values):\n    return sum(values) / len(values)"
BETTER_MEAN = """def mean(values):
    if not values:
        raise ValueError("the mean of nothing")
    return math.fsum(values) / len(values)"""
SALES = ("import math\n\nsales = [12.5, 9.75, 14.0]", MEAN, "mean(sales)")


def photograph(server: RunningServer, root: Path, picture: Path) -> None:
    """JupyterLab while a person types in a notebook: an assistant's edit has arrived in the cell above."""
    (root / "sales.ipynb").write_text(notebook_text(*SALES))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=OPTIONS)
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(120_000)
        window = LabPage(page, server, picture.with_suffix(""), path="sales.ipynb")
        document = Notebook(window)
        window.open_panel()
        # The notice would hide a part of the panel.
        page.add_style_tag(content=".Toastify { display: none }")
        page.keyboard.press("Control+KeyB")
        widen(page)
        document.type(2, " * 12")
        server.call("POST", "/tools/read_notebook", {"path": "sales.ipynb"}, "analyst")
        status, answer = replace(server, BETTER_MEAN)
        if status != 200:
            raise SystemExit(f"the edit was refused: {answer}")
        unfold(window.card_of(answer["change"]))
        page.locator(".jp-fstools-ReviewBar").wait_for()
        document.type(2, "  # thousands a")
        document.expect_saved(False)
        page.screenshot(path=picture, animations="disabled")
        # Jupyter hangs when it is stopped before it has answered what the page asks at first.
        page.wait_for_load_state("networkidle")
        browser.close()


def replace(server: RunningServer, source: str) -> tuple[int, dict[str, Any]]:
    """The assistant replaces the cell with the function."""
    edit = {"path": "sales.ipynb", "edit_mode": "replace", "cell_id": "c1", "new_source": source}
    return server.call("POST", "/tools/edit_notebook", edit, "analyst")


def widen(page: Page) -> None:
    """Draw the panel's edge to the left."""
    page.locator("#jp-main-split-panel > .lm-SplitPanel-handle:not(.lm-mod-hidden)").last.hover()
    page.mouse.down()
    page.mouse.move(SIZE["width"] - PANEL_WIDTH, SIZE["height"] / 2)
    page.mouse.up()


def tell(lab: Lab) -> None:
    """One change that landed, one call that was refused, one change that waits."""
    sales = Folder(lab, "sales")
    for name, text in (("notes.md", NOTES), ("plan.md", "# Plan\n")):
        sales.write(name, text)
    sales.change("notes.md", "rounded", "exact to the cent", session="writer")
    sales.call("edit_file", "plan.md", old_string="Plan", new_string="Plans", session="writer")
    source = Folder(lab, "src")
    source.write("year.py", "MONTHS = 11\n")
    source.change("year.py", "11", "12", session="reviewer")


def main(picture: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="fstools-picture-") as home:
        lab = Lab(Path(home), "--FsToolsConfig.approval=src/")
        try:
            tell(lab)
            photograph(lab, lab.root, picture)
        finally:
            lab.stop()
    # Few colours are in it: a palette makes it a third of the size.
    Image.open(picture).convert("RGB").quantize(256).save(picture, optimize=True)
    sys.stdout.write(f"{picture}: {picture.stat().st_size / 1024:.0f} KiB\n")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2]) if sys.argv[1:] else README_PICTURE)
