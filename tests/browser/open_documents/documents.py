"""Open documents in a JupyterLab's page: a notebook or a text file as its person sees it."""

from __future__ import annotations

import json

from playwright.sync_api import expect

NO_KERNEL = {"kernelspec": {"name": "none", "display_name": "None"}, "language_info": {"name": "none"}}
"""No kernel speaks it, so that none starts."""
WATCH_FOR_DIALOGS = """() => {
  window.dialogs = [];
  new MutationObserver(() => {
    for (const dialog of document.querySelectorAll(".jp-Dialog:not([data-seen])")) {
      dialog.dataset.seen = "yes";
      window.dialogs.push(dialog.textContent);
    }
  }).observe(document.body, { subtree: true, childList: true });
}"""


def cell(cell_id, source, cell_type="code", **more):
    code = {"execution_count": None, "outputs": []} if cell_type == "code" else {}
    return {"cell_type": cell_type, "id": cell_id, "metadata": {}, **code, "source": source, **more}


def notebook(*cells, metadata=NO_KERNEL, minor=5):
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": minor}, indent=1) + "\n"


class Document:
    """A document that is open in a window."""

    def __init__(self, window, editor):
        self.window, self.page = window, window.page
        self.editor = self.page.locator(editor)
        expect(self.editor.first).to_be_visible()
        self.page.evaluate(WATCH_FOR_DIALOGS)

    @property
    def dialogs(self):
        return self.page.evaluate("() => window.dialogs")

    @property
    def tab(self):
        return self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab.lm-mod-current")

    def expect_saved(self, saved=True):
        check = expect(self.tab)
        (check.not_to_have_class if saved else check.to_have_class)(__import__("re").compile("jp-mod-dirty"))

    def save(self):
        with self.page.expect_response(lambda answer: answer.request.method == "PUT" and "/contents/" in answer.url):
            self.page.keyboard.press("Control+KeyS")


class Text(Document):
    def __init__(self, window):
        super().__init__(window, ".jp-FileEditor .cm-content")

    def type(self, text, line=1):
        self.editor.locator(".cm-line").nth(line - 1).click()
        self.page.keyboard.press("End")
        self.page.keyboard.type(text)


class Notebook(Document):
    def __init__(self, window, kernel=False):
        if not kernel:
            window.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
        super().__init__(window, ".jp-Cell .cm-content")

    @property
    def cells(self):
        return self.page.locator(".jp-Notebook .jp-Cell")

    def source(self, index):
        return self.cells.nth(index).locator(".cm-content")

    def type(self, index, text):
        self.source(index).click()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text)
