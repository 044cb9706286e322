"""Open documents in a JupyterLab's page: a notebook or a text file as its person sees it."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial

from playwright.sync_api import expect

from tests.browser.lab import THREE_FRAMES

# A language without a kernel: a started kernel would write its own metadata into the notebook.
WITHOUT_KERNEL = {"kernelspec": {"name": "none", "display_name": "None"}, "language_info": {"name": "none"}}
PYTHON = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
TYPED = "".join(ALPHABET[at % len(ALPHABET)] for at in range(400))
"""Ten seconds of typing at 40 characters a second."""


SLIDER = "import ipywidgets\nslider = ipywidgets.IntSlider(value=3, max=9)\nslider"


def turned_slider(document):
    """Run the first cell, `SLIDER`, and turn it to 6 with the keyboard; gives the element that shows its value."""
    document.start(0)
    document.cells.nth(0).locator(".noUi-handle").focus()
    for _ in range(3):
        document.page.keyboard.press("ArrowRight")
    readout = document.page.locator(".widget-readout")
    expect(readout).to_have_text("6")
    readout.evaluate("node => { node.mark = 'same'; }")
    return readout


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
    """The sources of the cells in a notebook's text."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


def replace(folder, cell, source, *, file="n.ipynb", **more):
    """Replace a cell as the assistant; gives the status and the answer."""
    return folder.call("edit_notebook", file, edit_mode="replace", cell_id=cell, new_source=source, **more)


def landed(call, place="document"):
    """The change made by a successful call, which must have been written in this place."""
    status, answer = call
    assert status == 200, answer
    assert answer["change"]["place"] == place, answer["change"]
    return answer["change"]


def refused(call, code):
    """The refusal of a call."""
    _, answer = call
    error = answer.get("error")
    assert error is not None and error["code"] == code, answer
    return error


def holds(folder, file, wanted):
    """Whether a file, or the sources of a notebook, gets this content within a while: saves take their time."""
    found = None
    for _ in range(200):
        # Missing, or half of a notebook, while a program writes it in place.
        with suppress(FileNotFoundError, ValueError):
            found = sources_in(folder.text(file)) if file.endswith(".ipynb") else folder.text(file)
        if found == wanted:
            return True
        time.sleep(0.1)
    raise AssertionError(found)


class Document:
    """A document that is open in a window, in front of all others."""

    def __init__(self, window, editor):
        self.window, self.page = window, window.page
        self.editor = self.page.locator(f".jp-Document:not(.lm-mod-hidden) {editor}")
        expect(self.editor.first).to_be_visible()

    @property
    def tab(self):
        return self.page.locator("#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current")

    def expect_saved(self, saved=True):
        check = expect(self.tab)
        (check.not_to_have_class if saved else check.to_have_class)(re.compile("jp-mod-dirty"))

    def save(self):
        """Save with the keyboard, and wait until the file is written."""
        with self.page.expect_response(lambda answer: answer.request.method == "PUT" and "/contents/" in answer.url):
            self.page.keyboard.press("Control+KeyS")
        self.expect_saved()


class Text(Document):
    """A text file in JupyterLab's editor."""

    def __init__(self, window):
        super().__init__(window, ".jp-FileEditor .cm-content")

    def shows(self, text):
        """Expect the lines, whatever marks of a review stand between them."""
        expect(self.editor.locator("> .cm-line")).to_have_text(text.split("\n"))

    def type(self, text, line=1, **options):
        """Type at the end of a line."""
        self.editor.locator("> .cm-line").nth(line - 1).click()
        self.page.keyboard.press("End")
        self.page.keyboard.type(text, **options)


LOOK = """() => {
  const { activeElement } = document;
  const selection = window.getSelection();
  const { anchorOffset, focusOffset } = selection;
  const scroller = document.querySelector('.jp-Document:not(.lm-mod-hidden) .jp-WindowedPanel-outer');
  const top = selection.getRangeAt(0).getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  return [[activeElement.className, selection.toString(), anchorOffset, focusOffset], top];
}"""


# JupyterLab 4.2 may take cells out of the page again that it has drawn in a new notebook, until it is scrolled.
DRAW_ALL = f"""async () => {{
  const lab = window.jupyterapp;
  if (lab?.version.startsWith("4.2.")) {{
    await new Promise(requestIdleCallback);
    await ({THREE_FRAMES})();
    lab.shell.currentWidget.content.update();
  }}
}}"""


class Notebook(Document):
    """A notebook; if it opens without a kernel, the dialog that asks for one is answered first."""

    def __init__(self, window, *, kernel=False):
        if kernel:
            expect(window.page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_visible()
        else:
            window.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
        super().__init__(window, ".jp-Notebook .jp-InputArea .cm-content")
        self.page.evaluate(DRAW_ALL)

    def look(self):
        """Focus, selection and distance below the notebook's upper edge, once the page is at rest."""
        seen = self.page.evaluate(LOOK)
        for _ in range(100):
            self.page.evaluate(THREE_FRAMES)
            before, seen = seen, self.page.evaluate(LOOK)
            if before == seen:
                return seen
        raise AssertionError(seen)

    @property
    def cells(self):
        return self.page.locator(".jp-Document:not(.lm-mod-hidden) .jp-Notebook .jp-Cell")

    def cell(self, at):
        """The text of a cell."""
        # Cells out of sight may be absent from the page.
        return self.page.locator(
            f'.jp-Document:not(.lm-mod-hidden) .jp-Cell[data-windowed-list-index="{at}"] .jp-InputArea .cm-content'
        )

    def shows(self, at, source):
        """Expect the lines of a cell, whatever marks of a review stand between them."""
        expect(self.cell(at).locator("> .cm-line")).to_have_text(source.split("\n"))

    def expect_keyboard(self):
        """Expect the keyboard in the notebook, which loses it for two frames while its cells change places."""
        expect(self.page.locator(".jp-Document:not(.lm-mod-hidden) .jp-Notebook :focus")).to_have_count(1)

    def click(self, at):
        """Click into the first line of a cell's text: in the middle may be the buttons of a change."""
        self.cell(at).locator("> .cm-line").first.click()
        expect(self.cell(at)).to_be_focused()

    def type(self, at, text, **options):
        """Type at the end of a cell."""
        self.click(at)
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text, **options)

    def start(self, at):
        """Start a cell; tries again, because a kernel may be busy for a moment after it has reported to be idle."""
        for _ in range(3):
            self.click(at)
            self.page.keyboard.press("Control+Enter")
            with suppress(AssertionError):
                expect(self.cells.nth(at).locator(".jp-InputPrompt")).to_have_text("[*]:", timeout=2000)
                return


@contextmanager
def hanging(page):
    """Pause the page's script in this block, as a debugger does."""
    debugger, stands = page.context.new_cdp_session(page), []

    def note(told):
        stands.append(told)

    debugger.on("Debugger.paused", note)
    debugger.send("Debugger.enable")
    page.evaluate("() => void setTimeout(() => {}, 100)")  # The script pauses at a statement, so it has to reach one.
    debugger.send("Debugger.pause")
    while not stands:
        page.wait_for_timeout(20)
    try:
        yield
    finally:
        debugger.send("Debugger.resume")
        debugger.detach()


class Assistant(threading.Thread):
    """Makes calls in a thread, beside the person.

    Args:
        calls: make one call each, and give its answer.
        again: reads the file before a stale or conflicting call is repeated; None: such calls are not repeated.

    Attributes:
        refused: the answers of calls that were refused.
        repeated: the codes of refusals after which a call was repeated.
    """

    def __init__(self, calls, again=None):
        super().__init__()
        self._calls, self._again, self.refused, self.repeated = calls, again, [], []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *raised):
        self.join()

    def run(self):
        for call in self._calls:
            status, answer = call()
            while self._again and status != 200 and answer["error"]["code"] in ("stale", "conflict"):
                self.repeated.append(answer["error"]["code"])
                self._again()
                status, answer = call()
            if status != 200:
                self.refused.append(answer)


LAST = [100, 97, 98, 99]
"""The numbers left there by 100 edits of four places in turn."""


def cell_edits(folder):
    """100 edits of the cells c1 to c4 in turn."""
    return [partial(replace, folder, f"c{at % 4 + 1}", f"x{at % 4} = {at}") for at in range(1, 101)]


def line_edits(folder):
    """100 edits of four lines in turn; each takes the line as the one before left it."""
    return [
        partial(
            folder.call,
            "edit_file",
            "a.py",
            old_string=f"x{at % 4} = {max(0, at - 4)}\n",
            new_string=f"x{at % 4} = {at}\n",
        )
        for at in range(1, 101)
    ]
