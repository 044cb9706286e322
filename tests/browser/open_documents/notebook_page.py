"""A notebook in JupyterLab as its person sees it and types in it."""

from __future__ import annotations

import json

from playwright.sync_api import expect

# No kernel speaks it: one that starts writes its own facts into the notebook.
WITHOUT_KERNEL = {"kernelspec": {"name": "none", "display_name": "None"}, "language_info": {"name": "none"}}
PYTHON = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def notebook_text(*sources, kernel=False, cell_type="code", **members):
    """A notebook as Jupyter saves it, whose cells are called c0, c1, ..."""
    more = {"execution_count": None, "outputs": []} if cell_type == "code" else {}
    cells = [
        {"cell_type": cell_type, "id": f"c{at}", "metadata": {}, "source": source.splitlines(True), **more, **members}
        for at, source in enumerate(sources)
    ]
    metadata = PYTHON if kernel else WITHOUT_KERNEL
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def sources_in(text):
    """Of a notebook's text, the cells' sources."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


class NotebookPage:
    """The notebook that a window shows."""

    def __init__(self, window, *, kernel=False):
        self.window, self.page = window, window.page
        if kernel:
            expect(self.page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_visible()
        else:
            self.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
        expect(self.cell(0)).to_be_visible()

    @property
    def cells(self):
        return self.page.locator(".jp-Notebook .jp-Cell")

    def cell(self, at):
        """The text of a cell."""
        return self.cells.nth(at).locator(".jp-InputArea .cm-content")

    def shows(self, at, source):
        """Expect the lines of a cell, whatever marks of a review stand between them."""
        expect(self.cell(at).locator("> .cm-line")).to_have_text(source.split("\n"))

    def type(self, at, text, **options):
        """Type at the end of a cell."""
        self.cell(at).click()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text, **options)

    def save(self):
        self.page.keyboard.press("Control+KeyS")
