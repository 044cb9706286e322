"""What a person types in a plain JupyterLab is not lost to an edit, nor an edit to what they type."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Folder, Lab, act
from tests.processes import run_cell, running_kernel

EDIT = {"old_string": "x = 1", "new_string": "x = 2"}
TYPED = "typed = True"
CELLS = {"one": "x = 1", "two": "y = 1"}
# No kernel speaks it: one that starts writes its own facts into the notebook, which is then unsaved by itself.
METADATA = {"kernelspec": {"name": "none", "display_name": "None"}, "language_info": {"name": "none"}}

# JupyterLab says so in its status bar, for a moment.
SEE_IT_SAVED = """() => {
  window.itIsSaved = new Promise(resolve => {
    const look = () => document.body.textContent.includes("Saving completed") && resolve();
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}"""


class OpenFile:
    """A file in JupyterLab's editor, and what the server has heard of it."""

    def __init__(self, page, editor=".jp-FileEditor .cm-content"):
        self.page = page
        self.editor = self.page.locator(editor)
        self.tab = self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab.lm-mod-current")
        self.heard = 0
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._note))
        expect(self.editor).to_be_visible()

    def _note(self, frame):
        if str(frame).startswith('{"unsaved"'):  # An event may tell of a refusal of that name.
            self.heard = json.loads(frame)["unsaved"]

    def wait_until_unsaved(self, number):
        """Until the server knows so many files with unsaved changes."""
        for _ in range(1500):
            if self.heard == number:
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"the server knows of {self.heard} unsaved files")

    def type(self, text):
        """Type at the end of the first line."""
        self.editor.click()
        self.page.keyboard.press("Control+Home")
        self.page.keyboard.press("End")
        self.page.keyboard.type(text)

    def save(self):
        self.page.keyboard.press("Control+KeyS")


@pytest.fixture
def open_text(open_lab, folder):
    """Opens a text file that the assistant has read."""

    def opened(file="a.py", folder=folder):
        folder.write(file, "x = 1\n")
        folder.call("read_file", file)
        return OpenFile(open_lab(path=folder.path(file)).page)

    return opened


@pytest.fixture
def autosave(lab):
    """JupyterLab saves by itself each second, in windows opened from now on."""
    place = Path(lab.environment["JUPYTERLAB_SETTINGS_DIR"], "@jupyterlab/docmanager-extension")
    place.mkdir(parents=True, exist_ok=True)
    setting = place / "plugin.jupyterlab-settings"
    setting.write_text('{"autosaveInterval": 1}')
    yield
    setting.unlink()


@pytest.fixture
def forgetful_lab(tmp_path):
    """A lab that knows nothing of what was before it started."""
    running = Lab(tmp_path, "--FsToolsConfig.store=memory:")
    yield running
    running.stop()


@contextmanager
def saving_slowly(document):
    """What is saved in here arrives at the server at the end."""
    held = []

    def pass_on(route):
        held.append(route) if is_save(route.request) else route.continue_()

    document.page.route("**/api/contents/**", pass_on)
    document.page.evaluate(SEE_IT_SAVED)
    yield
    for route in held:
        route.continue_()
    document.page.evaluate("() => window.itIsSaved")
    document.page.unroute("**/api/contents/**")


def is_save(request):
    return request.method == "PUT"


def refused_as_unsaved(call):
    status, answer = call
    error = answer["error"]
    assert (status, error["code"]) == (423, "unsaved")
    return "not modified" in error["message"] and "save it" in error["hint"]


def lands_when_read_again(folder, file="a.py"):
    """The person saved: what the assistant read is stale by now; it reads again, and its edit lands."""
    status, answer = folder.call("edit_file", file, **EDIT)
    assert (status, answer["error"]["code"]) == (412, "stale")
    assert TYPED in answer["error"]["details"]["diff"]
    folder.call("read_file", file)
    return folder.call("edit_file", file, **EDIT)[0] == 200


def lands_in_the_end(folder):
    """What a page that was left had to say comes to the server in its own time."""
    return any(folder.call("edit_file", "a.py", **EDIT)[0] == 200 for _ in range(500))


def test_no_surface_writes_over_what_is_typed(open_text, folder, lab):
    """An edit over REST and one in a kernel are refused until the person saves, and then the file is read again."""
    document = open_text()
    with running_kernel(lab.root, lab.environment) as kernel:
        run_cell(kernel, f"%fs read {folder.path('a.py')}")
        document.type(f"; {TYPED}")
        document.wait_until_unsaved(1)
        assert refused_as_unsaved(folder.call("edit_file", "a.py", **EDIT))
        shown = run_cell(kernel, f'%fs edit {folder.path("a.py")} --old "x = 1" --new "x = 2"')
    assert "not modified" in shown and "save it" in shown and "Traceback" not in shown
    expect(document.editor).to_have_text(f"x = 1; {TYPED}")
    assert folder.text("a.py") == "x = 1\n"
    document.save()
    document.wait_until_unsaved(0)
    assert lands_when_read_again(folder)
    assert folder.text("a.py") == f"x = 2; {TYPED}\n"


def test_approval_and_undo_wait_until_the_person_saves(open_text, waits):
    """A person's decision does not go over what the same person is typing."""
    document = open_text(folder=waits)
    change = waits.change("a.py", *EDIT.values())
    document.type(f"; {TYPED}")
    document.wait_until_unsaved(1)
    assert refused_as_unsaved(waits.lab.decide(change, "approve"))
    assert waits.text("a.py") == "x = 1\n"
    document.save()
    document.wait_until_unsaved(0)
    assert waits.lab.decide(change, "approve")[1]["error"]["code"] == "stale"
    assert waits.text("a.py") == f"x = 1; {TYPED}\n"


def test_the_panel_says_why_an_approval_has_to_wait(open_lab, waits):
    waits.write("a.py", "x = 1\n")
    waits.change("a.py", *EDIT.values())
    window = open_lab(path=waits.path("a.py")).open_panel()
    document = OpenFile(window.page)
    document.type(TYPED)
    document.wait_until_unsaved(1)
    card = window.card(waits.path("a.py"))
    act(card, "approve")
    expect(card.get_by_role("alert")).to_contain_text("not saved")
    expect(card).to_have_attribute("data-status", "proposed")


def test_a_cell_that_is_typed_in_is_left_alone(open_lab, folder):
    """While the notebook is unsaved no cell is edited; then the cell typed in is stale, and the other one is not."""
    cells = [{"cell_type": "raw", "id": name, "metadata": {}, "source": text} for name, text in CELLS.items()]
    notebook = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    folder.write("n.ipynb", json.dumps(notebook, indent=1) + "\n")
    folder.call("read_notebook", "n.ipynb")
    page = open_lab(path=folder.path("n.ipynb")).page
    page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
    document = OpenFile(page, ".jp-Cell >> nth=0 >> .cm-content")
    before = folder.text("n.ipynb")

    def edit(cell):
        return folder.call("edit_notebook", "n.ipynb", mode="replace", cell_id=cell, source="z = 1")

    document.type(f"; {TYPED}")
    document.wait_until_unsaved(1)
    assert refused_as_unsaved(edit("one")) and refused_as_unsaved(edit("two"))
    expect(document.editor).to_have_text(f"x = 1; {TYPED}")
    assert folder.text("n.ipynb") == before
    document.save()
    document.wait_until_unsaved(0)
    assert edit("one")[1]["error"]["code"] == "stale"
    assert edit("two")[0] == 200
    sources = ["".join(cell["source"]) for cell in json.loads(folder.text("n.ipynb"))["cells"]]
    assert sources == [f"x = 1; {TYPED}", "z = 1"]


def test_an_edit_refused_before_an_autosave_lands_after_it(autosave, open_text, folder):
    """C13: the edit comes while the document is unsaved, and JupyterLab saves by itself: both are in the file."""
    document = open_text()
    document.type(f"; {TYPED}")
    document.wait_until_unsaved(1)
    assert refused_as_unsaved(folder.call("edit_file", "a.py", **EDIT))
    document.wait_until_unsaved(0)
    assert folder.text("a.py") == f"x = 1; {TYPED}\n"
    assert lands_when_read_again(folder)
    assert folder.text("a.py") == f"x = 2; {TYPED}\n"


def test_what_is_typed_while_a_save_runs_is_unsaved_too(open_text, folder):
    """C13: JupyterLab takes a document for saved when a save ends; what was typed meanwhile is in no file yet."""
    document = open_text()
    document.type("; early = 1")
    document.wait_until_unsaved(1)
    with saving_slowly(document):
        with document.page.expect_request(is_save):
            document.save()
        document.type("; late = 1")
    document.wait_until_unsaved(1)
    assert "early" in folder.text("a.py") and "late" not in folder.text("a.py")
    assert refused_as_unsaved(folder.call("edit_file", "a.py", **EDIT))
    # JupyterLab drops a save that is asked for while another is not quite over: whoever sees the dot saves again.
    while document.heard:
        document.save()
        document.page.wait_for_timeout(500)
    assert folder.text("a.py") == "x = 1; early = 1; late = 1\n"


@pytest.mark.parametrize("answer", ["Cancel", "Revert", "Overwrite"])
def test_a_person_is_asked_before_a_save_goes_over_an_edit(open_text, folder, answer):
    """C13: the edit lands in a document that is open and saved, then the person types and saves: JupyterLab asks.

    Until they answer the edit is in the file and the typed text in the editor; whatever is given up then is given up
    by the person, and the edit stays in the journal with its diff.
    """
    document = open_text()
    change = folder.change("a.py", *EDIT.values())
    document.type(f"; {TYPED}")
    document.save()
    dialog = document.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("changed on disk")
    assert folder.text("a.py") == "x = 2\n"
    expect(document.editor).to_have_text(f"x = 1; {TYPED}")
    dialog.get_by_role("button", name=answer).click()
    document.wait_until_unsaved(1 if answer == "Cancel" else 0)
    kept = {"Cancel": "x = 2\n", "Revert": "x = 2\n", "Overwrite": f"x = 1; {TYPED}\n"}
    assert folder.text("a.py") == kept[answer]
    kept_change = folder.lab.call("GET", f"/changes/{change['id']}")[1]["change"]
    assert kept_change["status"] == "applied" and kept_change["diff"]["hunks"]


def test_a_document_that_is_closed_leaves_its_file_free(open_text, folder):
    document = open_text()
    document.type(TYPED)
    document.wait_until_unsaved(1)
    document.tab.locator(".lm-TabBar-tabCloseIcon").click()
    document.page.get_by_role("button", name="Discard").click()
    document.wait_until_unsaved(0)
    assert folder.call("edit_file", "a.py", **EDIT)[0] == 200


def test_a_page_that_is_left_leaves_its_files_free(open_lab, folder, lab):
    path = folder.write("a.py", "x = 1\n")
    folder.call("read_file", "a.py")
    page = open_lab().page.context.new_page()
    page.goto(f"{lab.url.removesuffix('/api/fstools')}/lab/workspaces/left/tree/{path}?reset")
    document = OpenFile(page)
    document.type(TYPED)
    document.wait_until_unsaved(1)
    assert refused_as_unsaved(folder.call("edit_file", "a.py", **EDIT))
    page.close()
    assert lands_in_the_end(folder)


def test_a_server_that_comes_back_is_told_again(forgetful_lab, open_lab):
    folder = Folder(forgetful_lab, "work")
    window = open_lab(forgetful_lab, path=folder.write("a.py", "x = 1\n"))
    document = OpenFile(window.page)
    document.type(TYPED)
    document.wait_until_unsaved(1)
    with window.complaining():
        forgetful_lab.stop()
        document.heard = 0
        forgetful_lab.start()
        forgetful_lab.wait()
        document.wait_until_unsaved(1)
    folder.call("read_file", "a.py")
    assert refused_as_unsaved(folder.call("edit_file", "a.py", **EDIT))
