"""A picture of the panel as a person sees it; run as a program it makes the one in the README anew."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.chromium import OPTIONS, find_chromium
from tests.browser.lab import Folder, Lab, LabPage, unfold
from tests.processes import RunningServer

README_PICTURE = Path(__file__).parents[1] / ".github" / "panel.png"
SIZE = {"width": 1200, "height": 750}
PANEL_WIDTH = 470

NOTES = "# Sales of the year\n\nMeans are rounded.\n"
STATISTICS = '''"""Small statistics."""

import math


def mean(values):
    return sum(values) / len(values)


def spread(values):
    return max(values) - min(values)
'''
MEAN = "    return sum(values) / len(values)\n"
BETTER_MEAN = """    if not values:
        raise ValueError("the mean of nothing")
    return math.fsum(values) / len(values)
"""


def photograph(server: RunningServer, picture: Path, path: str) -> None:
    """JupyterLab with a file opened, and beside it the panel with the diff of the file's newest change."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=OPTIONS)
        page = browser.new_page(viewport=SIZE)
        window = LabPage(page, server, picture.with_suffix(""), path=path).open_panel()
        # The notice would hide a part of the panel.
        page.add_style_tag(content=".Toastify { display: none }")
        widen(page)
        unfold(window.card(path))
        page.locator(".jp-FileEditor .cm-content").wait_for()
        page.screenshot(path=picture, animations="disabled")
        browser.close()


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
    source.write("statistics.py", STATISTICS)
    source.change("statistics.py", MEAN, BETTER_MEAN, session="reviewer")


def main(picture: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="fstools-picture-") as home:
        lab = Lab(Path(home), "--FsToolsConfig.approval=src/")
        try:
            tell(lab)
            photograph(lab, picture, "src/statistics.py")
        finally:
            lab.stop()
    # Few colours are in it: a palette makes it a third of the size.
    Image.open(picture).convert("RGB").quantize(256).save(picture, optimize=True)
    sys.stdout.write(f"{picture}: {picture.stat().st_size / 1024:.0f} KiB\n")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2]) if sys.argv[1:] else README_PICTURE)
