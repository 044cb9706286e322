"""An edit of a document with unsaved changes is made in it and saved with it; typed text is kept."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.lab import act
from tests.browser.open_documents.documents import (
    LAST,
    TYPED,
    Assistant,
    Text,
    cell_edits,
    holds,
    landed,
    line_edits,
    refused,
    replace,
    sources_in,
)
from tests.legs import NEWEST

on_both = pytest.mark.parametrize("leg", [NEWEST, "lab42"], indirect=True)
EDIT = {"old_string": "y = 1", "new_string": "y = 2"}


@pytest.fixture
def open_text(desk, folder):
    """Opens a text file that the assistant has read."""

    def opened(text="x = 1\ny = 1\n", folder=folder):
        desk.open(folder.write("a.py", text))
        folder.call("read_file", "a.py")
        return Text(desk)

    return opened


def reload(document):
    """Choose File > Reload from Disk, and discard what is not saved."""
    document.page.evaluate("() => void jupyterapp.commands.execute('docmanager:reload')")
    document.page.locator(".jp-Dialog .jp-mod-accept").click()
    document.page.evaluate("() => { window.dialogs = []; }")


def sources(folder):
    return sources_in(folder.text("n.ipynb"))


@on_both
def test_an_edit_lands_beside_what_is_typed_in_another_cell(open_notebook, folder):
    """The document is saved with it; an unsaved change of the same cell is stale, with the diff."""
    document = open_notebook("x = 1", "y = 1", "z = 1")
    document.type(0, "  # typed")
    document.window.wait_until_known(folder.path("n.ipynb"), saved=False)
    landed(replace(folder, "c1", "y = 2"))
    document.shows(1, "y = 2")
    document.expect_saved()
    assert sources(folder) == ["x = 1  # typed", "y = 2", "z = 1"]
    document.type(0, " more")
    document.window.wait_until_known(folder.path("n.ipynb"), saved=False)
    assert "typed" in refused(replace(folder, "c0", "x = 2"), "stale")["details"]["diff"]
    document.shows(0, "x = 1  # typed more")
    document.save()


@on_both
def test_a_read_shows_what_the_person_sees_and_their_undo_leaves_the_edit(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(0, "  # typed")
    document.window.wait_until_known(folder.path("n.ipynb"), saved=False)
    shown = folder.call("read_notebook", "n.ipynb")[1]
    assert shown["data"]["cells"][0]["source"] == "x = 1  # typed"
    landed(replace(folder, "c0", "x = 2  # typed"))
    document.shows(0, "x = 2  # typed")
    document.click(0)
    for _ in range(12):
        document.page.keyboard.press("Control+KeyZ")
    document.shows(0, "x = 2")
    document.save()
    assert sources(folder) == ["x = 2", "y = 1"]


@on_both
def test_an_unsaved_text_file_is_read_and_edited_where_it_is(open_text, folder):
    document = open_text()
    document.type("  # typed")
    document.window.wait_until_known(folder.path("a.py"), saved=False)
    landed(folder.call("edit_file", "a.py", **EDIT))
    document.shows("x = 1  # typed\ny = 2\n")
    document.expect_saved()
    assert folder.text("a.py") == "x = 1  # typed\ny = 2\n"
    typed_over = {"old_string": "x = 1", "new_string": "x = 2"}
    assert "typed" in refused(folder.call("edit_file", "a.py", **typed_over), "stale")["details"]["diff"]
    assert folder.call("read_file", "a.py")[1]["data"]["content"] == "x = 1  # typed\ny = 2\n"
    landed(folder.call("edit_file", "a.py", **typed_over))
    document.shows("x = 2  # typed\ny = 2\n")


@on_both
@pytest.mark.parametrize(("old", "new"), [("y = 1", "y = 2"), ("x = 1", "x = 2")])
def test_a_reload_that_the_person_undoes_leaves_the_edit_whole(open_text, folder, old, new):
    document = open_text()
    document.type("  # typed")
    document.page.wait_for_timeout(600)  # What changes within half a second is one step of the undo history.
    reload(document)
    document.shows("x = 1\ny = 1\n")
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", old_string=old, new_string=new))
    document.shows("x = 1\ny = 1\n".replace(old, new))
    document.editor.focus()
    document.page.keyboard.press("Control+KeyZ")
    document.shows("x = 1  # typed\ny = 1\n".replace(old, new))


@on_both
def test_nothing_typed_is_lost_while_other_cells_are_edited(open_notebook, folder):
    """400 characters at 40 a second and 100 edits: all of both are on the screen and on the disk."""
    document = open_notebook("typed = ''", *(f"x{at} = 0" for at in range(4)))
    with Assistant(cell_edits(folder), again=lambda: folder.call("read_notebook", "n.ipynb")) as assistant:
        document.type(0, TYPED, delay=25)
    assert assistant.refused == []
    wanted = [f"typed = ''{TYPED}", *(f"x{at} = {last}" for at, last in enumerate(LAST))]
    for at, source in enumerate(wanted):
        document.shows(at, source)
    document.page.keyboard.press("Control+KeyS")
    assert holds(folder, "n.ipynb", wanted)


@on_both
def test_nothing_typed_is_lost_while_its_cell_is_moved(open_notebook, folder):
    document = open_notebook("x = 1", "typed = ''", "y = 1")
    moves = [
        partial(folder.call, "edit_notebook", "n.ipynb", edits=[{"edit_mode": "move", "cell_id": "c1", "at": at}])
        for at in ("start", "end") * 10
    ]
    document.type(1, "")
    with Assistant(moves, again=lambda: folder.call("read_notebook", "n.ipynb")) as assistant:
        document.page.keyboard.type(TYPED, delay=25)
    assert assistant.refused == []
    document.shows(2, f"typed = ''{TYPED}")
    document.page.keyboard.press("Control+KeyS")
    assert holds(folder, "n.ipynb", ["x = 1", "y = 1", f"typed = ''{TYPED}"])


@on_both
def test_nothing_typed_is_lost_while_the_same_text_is_edited(open_text, folder):
    document = open_text("\n".join(["typed = ''", *(f"x{at} = 0" for at in range(4))]) + "\n")
    with Assistant(line_edits(folder), again=lambda: None) as assistant:
        document.type(TYPED, delay=25)
    assert assistant.refused == []
    assert "stale" not in assistant.repeated
    text = "\n".join([f"typed = ''{TYPED}", *(f"x{at} = {last}" for at, last in enumerate(LAST))]) + "\n"
    document.shows(text)
    document.page.keyboard.press("Control+KeyS")
    assert holds(folder, "a.py", text)


@on_both
def test_two_browsers_end_alike_and_two_unsaved_states_are_a_conflict(open_text, second_desk, folder):
    one = open_text()
    second_desk.open(folder.path("a.py"))
    two = Text(second_desk)
    landed(folder.call("edit_file", "a.py", **EDIT))
    for document in (one, two):
        document.shows("x = 1\ny = 2\n")
        document.expect_saved()
    one.type("  # one")
    one.window.wait_until_known(folder.path("a.py"), saved=False)
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", old_string="y = 2", new_string="y = 3"))
    for document in (one, two):
        document.shows("x = 1  # one\ny = 3\n")
        document.expect_saved()
    for document, text in ((one, " more"), (two, " less")):
        document.type(text)
        document.window.wait_until_known(folder.path("a.py"), saved=False)
    assert "a.py" in refused(folder.call("edit_file", "a.py", **EDIT), "conflict")["message"]
    one.shows("x = 1  # one more\ny = 3\n")
    two.shows("x = 1  # one less\ny = 3\n")
    assert folder.text("a.py") == "x = 1  # one\ny = 3\n"
    assert second_desk.dialogs == []


@on_both
def test_what_is_typed_while_one_browser_saves_an_edit_is_in_the_other_too(desk, second_desk, folder):
    """Both hold the same unsaved change; the other one must not count as saved while it lacks text of the file."""
    path, typed = folder.write("a.py", "x = 1\ny = 1\n"), []
    documents = []
    for window in (desk, second_desk):
        window.open(path)
        documents.append(Text(window))
        documents[-1].type("!")
        window.wait_until_known(path, saved=False)
    folder.call("read_file", "a.py")
    one, two = documents

    def type_before_the_save(route):
        typed.append(True)
        one.page.keyboard.type("  # typed")
        route.continue_()

    # JupyterLab's check of the file before the save.
    place = f"**/api/contents/{path}*content=0*"
    one.page.route(place, type_before_the_save, times=1)
    with Assistant([partial(folder.call, "edit_file", "a.py", **EDIT)]) as assistant:
        while assistant.is_alive():
            one.page.wait_for_timeout(20)
    assert (assistant.refused, typed) == ([], [True])
    for document in documents:
        document.shows("x = 1!  # typed\ny = 2\n")
        document.expect_saved()
    two.type("?", line=2)
    two.save()
    assert folder.text("a.py") == "x = 1!  # typed\ny = 2?\n"


@contextmanager
def saving_slowly(page):
    """Save, and hold the request back until the end of the block."""
    held = []

    def pass_on(route):
        held.append(route) if route.request.method == "PUT" else route.continue_()

    page.route("**/api/contents/**", pass_on)
    with page.expect_request(lambda request: request.method == "PUT"):
        page.keyboard.press("Control+KeyS")
    yield
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        for route in held:
            route.continue_()
    page.unroute("**/api/contents/**")


def test_what_is_typed_while_a_save_runs_is_unsaved_too(open_text, folder):
    """JupyterLab marks a document as saved when a save ends; text typed meanwhile is not in the file yet."""
    document = open_text()
    document.type("; begun = 1")
    with saving_slowly(document.page):
        document.type("; then = 1")
    assert holds(folder, "a.py", "x = 1; begun = 1\ny = 1\n")
    document.expect_saved(False)
    document.window.wait_until_known(folder.path("a.py"), saved=False)
    assert "then" in folder.call("read_file", "a.py")[1]["data"]["content"]
    landed(folder.call("edit_file", "a.py", **EDIT))
    assert folder.text("a.py") == "x = 1; begun = 1; then = 1\ny = 2\n"
    document.expect_saved()


EDIT_BESIDE = """
import sys
from jupyter_fstools import FsToolsError, call_tool, open_workspace
with open_workspace(sys.argv[1], session="program") as files:
    call_tool(files, "read_file", {"path": sys.argv[2]})
    try:
        call_tool(files, "edit_file", {"path": sys.argv[2], "old_string": "y = 1", "new_string": "y = 2"})
    except FsToolsError as refusal:
        print(refusal.code)
"""


def test_no_process_writes_a_file_between_jupyterlabs_look_at_it_and_its_save(open_text, folder):
    """JupyterLab checks whether the file has changed, and then writes it: a write in between would be overwritten."""
    document = open_text()
    root, path = folder.lab.root, folder.path("a.py")
    edit = [sys.executable, "-c", EDIT_BESIDE, root, path]
    with saving_slowly(document.page):
        edited = subprocess.run(edit, env=folder.lab.environment, capture_output=True, text=True, check=True)
    assert (edited.stdout, edited.stderr) == ("unsaved\n", "")
    document.window.wait_until_known(path, saved=True)
    edited = subprocess.run(edit, env=folder.lab.environment, capture_output=True, text=True, check=True)
    assert (edited.stdout, edited.stderr) == ("", "")
    document.shows("x = 1\ny = 2\n")
    assert folder.text("a.py") == "x = 1\ny = 2\n"
    document.expect_saved()


def test_an_edit_while_a_save_runs_is_refused_or_lands_after_it(open_text, folder):
    document = open_text()
    document.type("; begun = 1")
    document.window.wait_until_known(folder.path("a.py"), saved=False)
    folder.call("read_file", "a.py")
    with saving_slowly(document.page), Assistant([lambda: folder.call("edit_file", "a.py", **EDIT)]) as assistant:
        assistant.join()
    assert [answer["error"]["code"] for answer in assistant.refused] == ["conflict"]
    document.shows("x = 1; begun = 1\ny = 1\n")
    document.expect_saved()
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", **EDIT))
    document.shows("x = 1; begun = 1\ny = 2\n")


@on_both
def test_an_edit_at_the_moment_of_a_save_lands(open_text, folder):
    """The file has it before the page says so."""
    document = open_text()
    document.type("; begun = 1")
    document.window.wait_until_known(folder.path("a.py"), saved=False)
    folder.call("read_file", "a.py")
    document.page.keyboard.press("Control+s")
    assert holds(folder, "a.py", "x = 1; begun = 1\ny = 1\n")
    landed(folder.call("edit_file", "a.py", **EDIT))
    document.shows("x = 1; begun = 1\ny = 2\n")
    document.expect_saved()
    assert folder.text("a.py") == "x = 1; begun = 1\ny = 2\n"


@on_both
def test_a_change_that_waited_is_approved_while_the_person_types_elsewhere(open_notebook, desk, waits):
    document = open_notebook("x = 1", "y = 1", folder=waits)
    status, answer = replace(waits, "c1", "y = 2")
    assert status == 202, answer
    document.type(0, "  # typed")
    desk.wait_until_known(waits.path("n.ipynb"), saved=False)
    desk.open_panel()
    card = desk.card(waits.path("n.ipynb"))
    act(card, "approve")
    expect(card).to_have_attribute("data-status", "applied")
    document.shows(0, "x = 1  # typed")
    document.shows(1, "y = 2")
    assert holds(waits, "n.ipynb", ["x = 1  # typed", "y = 2"])
    document.expect_saved()


@on_both
def test_an_undo_takes_back_its_own_cell_though_the_person_went_on_working(open_notebook, desk, folder):
    document = open_notebook("x = 1", "y = 1", "z = 1")
    change = landed(replace(folder, "c1", "y = 2"))
    document.type(0, "  # typed")
    desk.wait_until_known(folder.path("n.ipynb"), saved=False)
    desk.open_panel()
    card = desk.panel.locator(f'[data-change-id="{change["id"]}"]')
    act(card, "undo")
    expect(card).to_have_attribute("data-status", "undone")
    document.shows(0, "x = 1  # typed")
    document.shows(1, "y = 1")
    assert holds(folder, "n.ipynb", ["x = 1  # typed", "y = 1", "z = 1"])


def test_a_document_that_is_closed_leaves_its_file_free(open_text, desk, folder):
    document = open_text()
    document.type("  # typed")
    desk.wait_until_known(folder.path("a.py"), saved=False)
    document.tab.locator(".lm-TabBar-tabCloseIcon").click()
    desk.page.get_by_role("button", name="Discard").click()
    desk.wait_until_known(folder.path("a.py"), saved=None)
    landed(folder.call("edit_file", "a.py", **EDIT), "disk")
    assert folder.text("a.py") == "x = 1\ny = 2\n"
    desk.page.evaluate("() => { window.dialogs = []; }")


def test_a_file_that_is_deleted_in_the_page_comes_back_as_the_assistant_writes_it(open_text, desk, folder):
    # JupyterLab makes a copy of a file that it opens, and would fail if that were deleted meanwhile.
    with desk.page.expect_response(lambda answer: answer.request.method == "POST" and "/checkpoints" in answer.url):
        document = open_text()
    desk.page.evaluate("path => jupyterapp.serviceManager.contents.delete(path)", folder.path("a.py"))
    assert refused(folder.call("edit_file", "a.py", **EDIT), "not_found")
    status, answer = folder.call("write_file", "a.py", content="x = 3\n")
    assert status == 200, answer
    if document.editor.count():  # Newer JupyterLabs close the document.
        document.shows("x = 3\n")
    assert folder.text("a.py") == "x = 3\n"


@on_both
def test_a_file_that_was_renamed_while_its_person_typed_is_edited_where_it_is_now(open_text, desk, folder):
    document = open_text()
    document.type("  # typed")
    desk.wait_until_known(folder.path("a.py"), saved=False)
    paths = [folder.path("a.py"), folder.path("b.py")]
    desk.page.evaluate("paths => jupyterapp.serviceManager.contents.rename(...paths)", paths)
    desk.wait_until_known(folder.path("b.py"), saved=False)
    folder.call("read_file", "b.py")
    landed(folder.call("edit_file", "b.py", **EDIT))
    document.shows("x = 1  # typed\ny = 2\n")
    document.expect_saved()
    landed(folder.call("write_file", "a.py", content="new = 1\n"), "disk")
    document.type("!")
    document.save()
    assert (folder.text("a.py"), folder.text("b.py")) == ("new = 1\n", "x = 1  # typed!\ny = 2\n")
