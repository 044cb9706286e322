"""Edits that land while the person saves elsewhere, renames, drags, deletes, closes or runs the edited document."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import partial

import pytest
from playwright.sync_api import TimeoutError as LateError
from playwright.sync_api import expect

from tests.browser.lab import OPEN, THREE_FRAMES
from tests.browser.open_documents.documents import (
    Assistant,
    Notebook,
    Text,
    holds,
    landed,
    notebook_text,
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

    def opened(text="x = 1\ny = 1\n", file="a.py"):
        desk.open(folder.write(file, text))
        folder.call("read_file", file)
        return Text(desk)

    return opened


def no_dialog_counts(desk):
    """Forget the dialogs so far: the person opened them by their own actions."""
    desk.page.evaluate("() => { window.dialogs = []; }")


@on_both
def test_a_document_is_saved_under_another_name_while_edits_land(open_text, desk, folder):
    """Each edit is in one of the files, and both documents stay usable: the old one closed, the new one open."""
    document = open_text("x = 0\ny = 1\n")
    edits = [
        partial(folder.call, "edit_file", "a.py", old_string=f"x = {at}", new_string=f"x = {at + 1}")
        for at in range(20)
    ]
    with Assistant(edits, again=lambda: folder.call("read_file", "a.py")) as assistant:
        document.editor.click()
        desk.page.keyboard.press("Control+Shift+KeyS")
        desk.page.locator(".jp-Dialog input").fill(folder.path("b.py"))
        desk.page.locator(".jp-Dialog .jp-mod-accept").click()
        desk.wait_until_known(folder.path("b.py"))
    assert assistant.refused == []
    expect(document.tab).to_contain_text("b.py")
    shown = folder.call("read_file", "b.py")[1]["data"]["content"]
    assert shown.endswith("\ny = 1\n")
    landed(folder.call("edit_file", "b.py", **EDIT))
    document.shows(shown.replace("y = 1", "y = 2"))
    assert holds(folder, "b.py", shown.replace("y = 1", "y = 2"))
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", **EDIT), "disk")
    assert "y = 2" in folder.text("a.py")
    document.type("!", 2)
    document.save()
    assert desk.dialogs == ["CancelSave"]
    no_dialog_counts(desk)


@on_both
def test_a_folder_is_renamed_that_holds_open_documents(desk, folder):
    for saved in (True, False):
        old, new = f"old{saved}", f"new{saved}"
        desk.open(folder.write(f"{old}/a.py", "x = 1\ny = 1\n"))
        document = Text(desk)
        if not saved:
            document.type("  # typed")
            desk.wait_until_known(folder.path(f"{old}/a.py"), saved=False)
        paths = [folder.path(old), folder.path(new)]
        desk.page.evaluate("paths => jupyterapp.serviceManager.contents.rename(...paths)", paths)
        desk.wait_until_known(folder.path(f"{new}/a.py"), saved=saved)
        folder.call("read_file", f"{new}/a.py")
        landed(folder.call("edit_file", f"{new}/a.py", **EDIT))
        typed = "" if saved else "  # typed"
        document.shows(f"x = 1{typed}\ny = 2\n")
        document.expect_saved()
        document.type("!")
        document.save()
        assert folder.text(f"{new}/a.py") == f"x = 1{typed}!\ny = 2\n"


@on_both
@pytest.mark.parametrize("answer", ["Discard", "Save"])
def test_a_document_is_closed_while_an_edit_is_on_its_way(open_text, desk, folder, answer):
    document = open_text()
    document.type("  # typed")
    desk.wait_until_known(folder.path("a.py"), saved=False)
    folder.call("read_file", "a.py")
    document.tab.locator(".lm-TabBar-tabCloseIcon").click()
    button = desk.page.locator(".jp-Dialog").get_by_role("button", name=re.compile(f"^{answer}"))
    expect(button).to_be_visible()
    with Assistant([lambda: folder.call("edit_file", "a.py", **EDIT)]) as assistant:
        button.click()
    desk.wait_until_known(folder.path("a.py"), saved=None)
    codes = [one["error"]["code"] for one in assistant.refused]
    assert codes in ([], ["stale"], ["unsaved"], ["conflict"]), assistant.refused
    edited = "y = 1" if codes else "y = 2"
    typed = ["", "  # typed"] if answer == "Discard" else ["  # typed"]
    assert folder.text("a.py") in [f"x = 1{one}\n{edited}\n" for one in typed]
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", old_string="x = 1", new_string="x = 2"), "disk")
    no_dialog_counts(desk)


@on_both
def test_two_cells_are_edited_while_the_person_drags_one(open_notebook, desk, folder):
    document = open_notebook("x = 1", "y = 1", "z = 1")
    prompt, below = (document.cells.nth(at).locator(".jp-InputPrompt") for at in (0, 2))
    prompt.click()
    prompt.hover()
    desk.page.mouse.down()
    at = below.bounding_box()
    desk.page.mouse.move(at["x"] + 20, at["y"] + 5, steps=5)
    expect(desk.page.locator(".jp-dragImage")).to_be_visible()
    edits = [{"cell_id": "c0", "new_source": "x = 2\nx"}, {"cell_id": "c2", "new_source": "z = 2"}]
    landed(folder.call("edit_notebook", "n.ipynb", edits=edits))
    # The marks of the changes make the cells taller.
    expect(document.cells.locator('[data-action="keep"]')).to_have_count(2)
    at = below.bounding_box()
    desk.page.mouse.move(at["x"] + 20, at["y"] + 10, steps=5)
    desk.page.mouse.up()
    expect(document.cells).to_contain_text(["y = 1", "x = 2", "z = 2"])
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["y = 1", "x = 2\nx", "z = 2"]


@on_both
def test_the_cell_that_is_edited_is_one_that_the_person_deletes(open_notebook, desk, folder):
    """In command mode; the call's other edits are refused with it, and undoing the deletion restores the cell."""
    document = open_notebook("x = 1", "y = 1", "z = 1")
    document.click(1)
    for key in ("Escape", "d", "d"):
        desk.page.keyboard.press(key)
    expect(document.cells).to_have_count(2)
    desk.wait_until_known(folder.path("n.ipynb"), saved=False)
    edits = [{"cell_id": "c1", "new_source": "y = 2"}, {"cell_id": "c2", "new_source": "z = 2"}]
    refused(folder.call("edit_notebook", "n.ipynb", edits=edits), "not_found")
    landed(replace(folder, "c2", "z = 2"))
    assert sources_in(folder.text("n.ipynb")) == ["x = 1", "z = 2"]
    desk.wait_until_known(folder.path("n.ipynb"))
    desk.page.keyboard.press("z")
    expect(document.cells).to_contain_text(["x = 1", "y = 1", "z = 2"])
    desk.wait_until_known(folder.path("n.ipynb"), saved=False)
    folder.call("read_notebook", "n.ipynb")
    landed(replace(folder, "c1", "y = 2"))
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["x = 1", "y = 2", "z = 2"]


@on_both
def test_who_clicks_below_a_change_that_came_while_the_tab_was_hidden_types_in_that_line(open_text, desk, folder):
    lines = [f"x{at} = 1\n" for at in range(20)]
    document = open_text("".join(lines))
    desk.open(folder.write("b.py", ""))
    lines.insert(8, "added = 1\n")
    landed(folder.call("write_file", "a.py", content="".join(lines)))
    expect(desk.page.locator(".jp-Document.lm-mod-hidden .jp-fstools-Review-controls")).to_be_attached()
    desk.show(folder.path("a.py"))
    expect(document.editor.locator(".jp-fstools-Review-controls")).to_be_visible()
    desk.page.evaluate(THREE_FRAMES)
    document.type("!", line=16)
    document.save()
    lines[15] = "x14 = 1!\n"
    assert folder.text("a.py") == "".join(lines)


@on_both
def test_a_rendered_cell_shows_what_its_text_has_become(desk, folder):
    desk.open(folder.write("n.ipynb", notebook_text("# one", "# other", cell_type="markdown")))
    folder.call("read_notebook", "n.ipynb")
    desk.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
    headings = desk.page.locator(".jp-Document:not(.lm-mod-hidden) .jp-Cell .jp-RenderedMarkdown h1")
    expect(headings).to_have_text([re.compile("one"), re.compile("other")])
    landed(replace(folder, "c0", "# two"))
    expect(headings).to_have_text([re.compile("two"), re.compile("other")])
    desk.wait_until_known(folder.path("n.ipynb"))
    edits = [{"edit_mode": "move", "cell_id": "c1", "at": "start"}]
    landed(folder.call("edit_notebook", "n.ipynb", edits=edits))
    expect(headings).to_have_text([re.compile("other"), re.compile("two")])


@on_both
@pytest.mark.parametrize(
    "edit, hidden",
    [
        ({"edit_mode": "delete", "cell_id": "c0"}, []),
        ({"edit_mode": "move", "cell_id": "c0", "at": "end"}, []),
        ({"edit_mode": "convert", "cell_id": "c0", "cell_type": "raw"}, []),
        ({"cell_id": "c0", "new_source": "plain"}, []),
        ({"cell_id": "c0", "new_source": "## lower"}, ["c1"]),
        ({"cell_id": "c1", "new_source": "more"}, ["c1", "c2", "c3"]),
    ],
    ids=["delete", "move", "convert", "plain", "lower", "beside"],
)
def test_cells_below_a_collapsed_heading_are_shown_once_it_is_gone(desk, folder, edit, hidden):
    """Its button alone would show them."""
    text = json.loads(notebook_text("# one", "text", "## two", "text", "# three", cell_type="markdown"))
    text["cells"][0]["metadata"] = {"jp-MarkdownHeadingCollapsed": True}
    desk.open(folder.write("n.ipynb", json.dumps(text)))
    folder.call("read_notebook", "n.ipynb")
    desk.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
    desk.page.wait_for_function(HIDDEN, arg=["c1", "c2", "c3"])
    landed(folder.call("edit_notebook", "n.ipynb", edits=[edit]))
    desk.page.wait_for_function(HIDDEN, arg=hidden)


HIDDEN = """cells => {
  const { widgets } = jupyterapp.shell.currentWidget.content;
  return widgets.filter(({ isHidden }) => isHidden).map(({ model }) => model.id).join() === cells.join();
}"""


@on_both
def test_a_cell_is_edited_whose_output_has_a_view_of_its_own(open_notebook, desk, folder):
    printed = {"output_type": "stream", "name": "stdout", "text": ["printed\n"]}
    document = open_notebook("print('printed')", "y = 1", outputs=[printed])
    document.click(0)
    desk.page.evaluate("() => void jupyterapp.commands.execute('notebook:create-output-view')")
    expect(desk.page.locator(".jp-LinkedOutputView")).to_contain_text("printed")
    landed(replace(folder, "c0", "print('more')", keep_outputs=True))
    document.shows(0, "print('more')")
    landed(folder.call("edit_notebook", "n.ipynb", edit_mode="delete", cell_id="c0"))
    expect(document.cells).to_have_count(1)
    assert sources_in(folder.text("n.ipynb")) == ["y = 1"]


@on_both
def test_a_cell_that_is_locked_for_typing_takes_edits_as_in_a_closed_notebook(open_notebook, folder):
    metadata = {"editable": False, "deletable": False}
    document = open_notebook("x = 1", "y = 1", metadata=metadata)
    folder.write("closed.ipynb", notebook_text("x = 1", "y = 1", metadata=metadata))
    folder.call("read_notebook", "closed.ipynb")
    edits = [{"cell_id": "c0", "new_source": "x = 2"}, {"edit_mode": "delete", "cell_id": "c1"}]
    for file, place in (("n.ipynb", "document"), ("closed.ipynb", "disk")):
        landed(folder.call("edit_notebook", file, edits=edits), place)
    document.shows(0, "x = 2")
    expect(document.cells).to_have_count(1)
    assert folder.text("n.ipynb") == folder.text("closed.ipynb")
    # A click beside the line would focus the change's buttons, where letters are commands that open a dialog in such a
    # cell.
    document.cell(0).locator(".cm-line").first.click()
    expect(document.page.locator(".jp-Cell .cm-focused")).to_be_visible()
    document.page.keyboard.type("typed")
    document.shows(0, "x = 2")


@on_both
def test_an_edit_lands_in_a_line_of_a_megabyte(open_text, folder):
    text = "a = '" + "0123456789" * 100_000 + "'  # end\ny = 1"
    document = open_text(text)
    document.editor.click()
    document.page.keyboard.press("Control+End")
    document.page.keyboard.type("  # typed")
    document.window.wait_until_known(folder.path("a.py"), saved=False)
    folder.call("read_file", "a.py", offset=2)
    landed(folder.call("edit_file", "a.py", old_string="'  # end", new_string="'  # ended"))
    wanted = text.replace("end", "ended").replace("y = 1", "y = 1  # typed")
    assert folder.text("a.py") == wanted
    assert document.page.evaluate("() => jupyterapp.shell.currentWidget.context.model.toString()") == wanted


OPEN_WITH = """async ([path, factory]) => {
  const widget = await jupyterapp.commands.execute('docmanager:open', { path, factory });
  await widget.context.ready;
}"""


@on_both
def test_a_viewer_shows_what_its_file_has_become(desk, folder):
    """A table, a tree, a rendered text and a picture follow the tools' edits, as an editor does."""
    view = ".jp-Document:not(.lm-mod-hidden) "
    for file, factory, old, new, shown in (
        ("a.md", "Markdown Preview", "# one\n", "# two\n", view + ".jp-RenderedMarkdown h1"),
        ("a.json", "JSON", '{"a": "one"}\n', '{"a": "two"}\n', view + ".jp-RenderedJSON"),
        ("a.svg", "Image", SVG.format("one"), SVG.format("two"), None),
        ("a.csv", "CSVTable", "a,b\none,1\n", "a,b\ntwo,1\n", None),
    ):
        path = folder.write(file, old)
        folder.call("read_file", file)
        desk.page.evaluate(OPEN_WITH, [path, factory])
        desk.wait_until_known(path)
        if shown:
            expect(desk.page.locator(shown).first).to_contain_text("one")
        status, answer = folder.call("edit_file", file, old_string="one", new_string="two")
        assert status == 200, answer
        if shown:
            expect(desk.page.locator(shown).first).to_contain_text("two")
        else:
            desk.page.wait_for_function(HAS[file])
        assert folder.text(file) == new
        desk.wait_until_known(path)


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text y="15">{}</text></svg>\n'
HAS = {
    "a.svg": """async () => {
      const image = document.querySelector('.jp-Document:not(.lm-mod-hidden) .jp-ImageViewer img');
      return (await (await fetch(image.src)).text()).includes('two');
    }""",
    "a.csv": """() => {
      const { dataModel } = jupyterapp.shell.currentWidget.content._grid ?? jupyterapp.shell.currentWidget.content;
      return dataModel.data('body', 0, 0) === 'two';
    }""",
}


@on_both
def test_a_document_is_open_in_an_editor_and_a_viewer(desk, folder):
    path = folder.write("a.md", "# one\n")
    folder.call("read_file", "a.md")
    desk.page.evaluate(OPEN_WITH, [path, "Markdown Preview"])
    desk.page.evaluate(OPEN_WITH, [path, "Editor"])
    desk.wait_until_known(path)
    document = Text(desk)
    document.type(" typed")
    desk.wait_until_known(path, saved=False)
    folder.call("read_file", "a.md")
    landed(folder.call("edit_file", "a.md", old_string="one", new_string="two"))
    document.shows("# two typed\n")
    document.expect_saved()
    desk.page.evaluate(OPEN_WITH, [path, "Markdown Preview"])
    expect(desk.page.locator(".jp-Document:not(.lm-mod-hidden) .jp-RenderedMarkdown h1")).to_contain_text("two typed")
    assert folder.text("a.md") == "# two typed\n"


@on_both
def test_a_notebook_is_open_as_cells_and_as_text(desk, folder):
    """An edit reaches both; unsaved text does not overwrite what a program wrote, though the cells follow that."""
    path = folder.write("n.ipynb", notebook_text("x = 1", "y = 1"))
    desk.open(path)
    cells = Notebook(desk)
    desk.page.evaluate(OPEN_WITH, [path, "Editor"])
    text = Text(desk)
    folder.call("read_notebook", "n.ipynb")
    landed(replace(folder, "c1", "y = 2"))
    expect(text.editor).to_contain_text("y = 2")
    text.type("  ")
    text.expect_saved(False)
    folder.write("n.ipynb", notebook_text("x = 1", "y = 3"))
    desk.page.evaluate(OPEN_WITH, [path, "Notebook"])
    cells.shows(1, "y = 3")
    desk.page.evaluate(OPEN_WITH, [path, "Editor"])
    text.editor.click()
    desk.page.keyboard.press("Control+KeyS")
    desk.page.locator(".jp-Dialog", has_text="changed on disk").get_by_role("button", name="Revert").click()
    expect(text.editor).to_contain_text("y = 3")
    assert sources_in(folder.text("n.ipynb")) == ["x = 1", "y = 3"]
    no_dialog_counts(desk)


SESSION = """path => [...jupyterapp.shell.widgets('main')].find(
  ({ context }) => context?.path === path).context.sessionContext"""


def restart_kernel(page, path):
    """Restart the kernel, again if it stays at "Starting", where JupyterLab has missed its first answer."""
    for _ in range(3):
        page.evaluate(f"path => ({SESSION})(path).restartKernel()", path)
        with suppress(LateError):
            page.wait_for_function(f"path => ({SESSION})(path).session?.kernel?.status === 'idle'", arg=path)
            return


@on_both
def test_a_kernel_restarts_beside_edits(desk, folder):
    path = folder.write("n.ipynb", notebook_text("print('ran')", *(f"x{at} = 0" for at in range(4)), kernel=True))
    desk.page.evaluate(OPEN, path)
    desk.wait_until_known(path, saved=False)
    document = Notebook(desk, kernel=True)
    folder.call("read_notebook", "n.ipynb")
    edits = [partial(replace, folder, f"c{at % 4 + 1}", f"x{at % 4} = {at}") for at in range(1, 41)]
    with Assistant(edits, again=lambda: folder.call("read_notebook", "n.ipynb")) as assistant:
        restart_kernel(desk.page, path)
        document.start(0)
    assert assistant.refused == []
    expect(document.cells.nth(0).locator(".jp-OutputArea-output")).to_have_text("ran")
    for at, last in enumerate((40, 37, 38, 39)):
        document.shows(at + 1, f"x{at} = {last}")
    document.save()
    assert sources_in(folder.text("n.ipynb"))[1:] == ["x0 = 40", "x1 = 37", "x2 = 38", "x3 = 39"]
    assert json.loads(folder.text("n.ipynb"))["cells"][0]["outputs"][0]["text"] == ["ran\n"]
