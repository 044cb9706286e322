"""A saved document that is open takes an edit at once, and its file has the bytes of an edit beside it."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.open_documents.documents import (
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

pytestmark = pytest.mark.parametrize("leg", [NEWEST, "lab42"], indirect=True)

STREAM = {"name": "stdout", "output_type": "stream", "text": ["out\n"]}


@pytest.fixture
def open_notebook(desk, folder):
    """Opens a notebook that the assistant has read; a copy of it stays closed."""

    def opened(*sources, **options):
        folder.write("closed.ipynb", notebook_text(*sources, **options))
        desk.open(folder.write("n.ipynb", notebook_text(*sources, **options)))
        for file in ("n.ipynb", "closed.ipynb"):
            folder.call("read_notebook", file)
        return Notebook(desk)

    return opened


@pytest.fixture
def open_text(desk, folder):
    def opened(text, file="a.py"):
        for name in (file, f"closed_{file}"):
            folder.write(name, text)
            folder.call("read_file", name)
        desk.open(folder.path(file))
        return Text(desk)

    return opened


def data(folder, file):
    return (folder.lab.root / folder.path(file)).read_bytes()


MARK = """() => document.querySelectorAll('.jp-Document:not(.lm-mod-hidden) .jp-Cell').forEach((cell, at) => {
  cell.mark = at;
  cell.written = [];
  new MutationObserver(news => cell.written.push(...news)).observe(cell.querySelector('.cm-content'), {
    subtree: true, childList: true, characterData: true
  });
})"""
MARKS = """() => [...document.querySelectorAll('.jp-Document:not(.lm-mod-hidden) .jp-Cell')].map(
  cell => cell.mark === undefined ? 'new' : cell.written.length ? `${cell.mark} changed` : String(cell.mark))"""


def test_an_edit_arrives_in_the_cell_it_touches_and_nowhere_else(open_notebook, folder):
    """The document stays saved, the bytes are those of a closed file, a second edit needs no new read."""
    document = open_notebook("x = 1", "y = 1", "z = 1")
    document.shows(2, "z = 1")
    document.page.evaluate(MARK)
    for source in ("y = 2", "y = 'größer 😀'\ny"):
        landed(replace(folder, "c1", source))
        document.shows(1, source)
        landed(replace(folder, "c1", source, file="closed.ipynb"), "disk")
        assert data(folder, "n.ipynb") == data(folder, "closed.ipynb")
    assert document.page.evaluate(MARKS) == ["0", "1 changed", "2"]
    document.expect_saved()
    document.type(0, "  # typed")
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["x = 1  # typed", "y = 'größer 😀'\ny", "z = 1"]


def test_an_edit_arrives_in_an_open_text_file(open_text, folder):
    document = open_text("x = 1\ny = 1\n")
    for old, new in (("x = 1", "x = 2"), ("y = 1", "y = 'größer 😀'")):
        landed(folder.call("edit_file", "a.py", old_string=old, new_string=new))
        landed(folder.call("edit_file", "closed_a.py", old_string=old, new_string=new), "disk")
    document.shows("x = 2\ny = 'größer 😀'\n")
    for file, place in (("a.py", "document"), ("closed_a.py", "disk")):
        landed(folder.call("write_file", file, content="x = 2\nz = 3\n"), place)
    document.shows("x = 2\nz = 3\n")
    document.expect_saved()
    assert data(folder, "a.py") == data(folder, "closed_a.py")
    document.type("  # typed")
    document.save()
    assert folder.text("a.py") == "x = 2  # typed\nz = 3\n"


def test_cells_are_inserted_deleted_moved_converted_and_cleared_and_the_others_stay(open_notebook, folder):
    """In a notebook with outputs, which the remaining cells keep."""
    document = open_notebook(*(f"x{at} = 1" for at in range(7)), outputs=[STREAM])
    expect(document.cells.locator(".jp-OutputArea-output")).to_have_count(7)
    document.page.evaluate(MARK)
    edits = [
        {"edit_mode": "insert", "after": "c0", "cell_type": "markdown", "new_source": "new"},
        {"edit_mode": "delete", "cell_id": "c1"},
        {"edit_mode": "convert", "cell_id": "c2", "cell_type": "markdown"},
        {"edit_mode": "move", "cell_id": "c5", "before": "c3"},
        {"edit_mode": "clear_outputs", "cell_id": "c6"},
    ]
    landed(folder.call("edit_notebook", "n.ipynb", edits=edits))
    expect(document.cells).to_contain_text(["x0 = 1", "new", *(f"x{at} = 1" for at in (2, 5, 3, 4, 6))])
    cells = json.loads(folder.text("n.ipynb"))["cells"]
    assert ["".join(cell["source"]) for cell in cells] == ["x0 = 1", "new", *(f"x{at} = 1" for at in (2, 5, 3, 4, 6))]
    kept = ["0", "new", "new", "5", "3", "4", "6"]
    kept[3] = document.page.evaluate(MARKS)[3]  # A moved cell may be created again in the page.
    assert document.page.evaluate(MARKS) == kept
    expect(document.cells.locator(".jp-OutputArea-output")).to_have_count(4)
    document.expect_saved()
    document.type(0, "  # typed")
    document.save()
    assert [cell.get("outputs", "none") for cell in json.loads(folder.text("n.ipynb"))["cells"]] == [
        *([STREAM], "none", "none", [STREAM], [STREAM], [STREAM], [])
    ]


def test_a_person_stays_in_their_cell_whatever_happens_to_it(open_notebook, folder):
    """It moves when the others are moved; an edit that would replace the cell is refused until they leave it."""
    document = open_notebook("x = 1", "typed: ()", "z = 1")
    document.type(1, "")
    document.page.keyboard.press("ArrowLeft")
    for at, order in (("start", [1, 0, 2]), ("end", [0, 2, 1])):
        landed(folder.call("edit_notebook", "n.ipynb", edits=[{"edit_mode": "move", "cell_id": "c1", "at": at}]))
        document.page.keyboard.type("ab")
        document.save()
        folder.call("read_notebook", "n.ipynb")
        assert [cell["id"] for cell in json.loads(folder.text("n.ipynb"))["cells"]] == [f"c{cell}" for cell in order]
    before = folder.text("n.ipynb")
    for edit in ({"edit_mode": "convert", "cell_type": "markdown"}, {"edit_mode": "delete"}):
        refusal = refused(folder.call("edit_notebook", "n.ipynb", edits=[{**edit, "cell_id": "c1"}]), "conflict")
        assert "typing" in refusal["message"] and "not modified" in refusal["message"]
    assert folder.text("n.ipynb") == before
    document.page.keyboard.type("cd")
    document.save()
    folder.call("read_notebook", "n.ipynb")
    document.click(0)
    edits = [{"edit_mode": "convert", "cell_id": "c1", "cell_type": "markdown"}]
    landed(folder.call("edit_notebook", "n.ipynb", edits=edits))
    assert sources_in(folder.text("n.ipynb")) == ["x = 1", "z = 1", "typed: (ababcd)"]


def test_a_person_stays_at_the_cell_that_they_chose_and_keeps_the_keyboard(open_notebook, folder):
    """In command mode; if their cell is deleted, its neighbour is selected."""
    document = open_notebook("x = 1", "y = 1", "z = 1")
    keyboard = document.page.keyboard
    document.click(1)
    keyboard.press("Escape")
    landed(folder.call("edit_notebook", "n.ipynb", edit_mode="move", cell_id="c1", at="start"))
    document.shows(0, "y = 1")
    document.expect_keyboard()
    for key in ("Enter", "Control+End", "!", "Escape"):
        keyboard.press(key)
    document.shows(0, "y = 1!")
    document.save()
    folder.call("read_notebook", "n.ipynb")
    landed(folder.call("edit_notebook", "n.ipynb", edit_mode="convert", cell_id="c1", cell_type="markdown"))
    expect(document.cells.first).to_have_class(re.compile("jp-MarkdownCell"))
    document.expect_keyboard()
    keyboard.press("y")
    expect(document.cells.first).to_have_class(re.compile("jp-CodeCell"))
    document.save()
    folder.call("read_notebook", "n.ipynb")
    landed(folder.call("edit_notebook", "n.ipynb", edit_mode="delete", index=0))
    expect(document.cells).to_have_count(2)
    document.expect_keyboard()
    keyboard.press("a")
    expect(document.cells).to_have_count(3)
    document.expect_keyboard()


def test_caret_selection_and_scroll_stay(open_notebook, folder):
    document = open_notebook(*(f"x{at} = {at}\n" * 5 for at in range(12)))
    document.click(0)
    for key in ("Escape", *["ArrowDown"] * 8, "Enter", "Control+Home", "ArrowDown", "Shift+End"):
        document.page.keyboard.press(key)
    expect(document.cell(8)).to_be_focused()
    held, top = document.look()
    assert held[1] == "x8 = 8"
    landed(replace(folder, "c7", "x7 = 8\n" * 5))
    landed(replace(folder, "c9", "x9 = 8"))
    landed(replace(folder, "c8", "x8 = 8\n" * 4 + "x8 = 9\n"))
    expect(document.cell(7)).to_contain_text("x7 = 8")
    expect(document.cell(8)).to_contain_text("x8 = 9")
    # The bar appears above the notebook, and marks make the cell above the person's taller.
    expect(document.page.locator(".jp-fstools-ReviewBar:visible")).to_contain_text("3 changes by")
    expect(document.cells.locator('[data-action="keep"]').nth(1)).to_be_attached()
    held_now, top_now = document.look()
    assert held_now == held
    assert abs(top_now - top) < 2


def test_the_persons_undo_takes_back_their_typing_alone(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(0, "; typed = 2")
    document.save()
    folder.call("read_notebook", "n.ipynb")
    landed(replace(folder, "c1", "y = 2"))
    landed(replace(folder, "c0", "x = 2; typed = 2"))
    document.shows(0, "x = 2; typed = 2")
    document.click(0)
    for _ in range(12):
        document.page.keyboard.press("Control+KeyZ")
    document.shows(0, "x = 2")
    document.shows(1, "y = 2")
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["x = 2", "y = 2"]


def test_a_move_that_the_person_undoes_leaves_what_the_assistant_wrote_in_the_cell(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1", "z = 1")
    keyboard = document.page.keyboard
    document.click(2)
    keyboard.press("Escape")
    keyboard.press("Control+Shift+ArrowUp")
    document.shows(1, "z = 1")
    document.save()
    folder.call("read_notebook", "n.ipynb")
    landed(replace(folder, "c2", "z = 2"))
    document.shows(1, "z = 2")
    keyboard.press("z")
    document.shows(1, "y = 1")
    document.shows(2, "z = 2")
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["x = 1", "y = 1", "z = 2"]


def test_an_open_document_follows_the_disk(open_notebook, desk, folder):
    """A program's change appears as soon as the assistant calls a tool or the person selects the tab."""
    document = open_notebook("x = 1", "y = 1")
    folder.write("n.ipynb", notebook_text("x = 1", "y = 2", "z = 1"))
    assert refused(replace(folder, "c1", "y = 3"), "stale")
    document.shows(1, "y = 2")
    document.shows(2, "z = 1")
    document.expect_saved()
    desk.open(folder.write("a.py", "x = 1\n"))
    folder.write("n.ipynb", notebook_text("x = 1", "z = 2"))
    desk.page.locator("#jp-main-dock-panel .lm-TabBar-tab", has_text="n.ipynb").click()
    expect(document.cells).to_have_count(2)
    document.shows(1, "z = 2")
    document.type(0, "  # typed")
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["x = 1  # typed", "z = 2"]


def test_a_caret_between_two_changes_of_a_program_stays(desk, folder):
    lines = "".join(f"line_{at} = {at}\n" for at in range(9))
    desk.open(folder.write("a.py", lines))
    document = Text(desk)
    document.type("", line=5)
    folder.write("a.py", lines.replace("line_1 ", "LINE_1 ").replace("line_7 ", "LINE_7 "))
    folder.call("read_file", "a.py")
    expect(document.editor).to_contain_text("LINE_7")
    desk.page.keyboard.type("4")
    expect(document.editor.locator("> .cm-line").nth(4)).to_have_text("line_4 = 44")


def test_a_notebook_whose_file_has_no_ids_follows_the_disk_and_keeps_its_cells(desk, folder):
    """A program inserted a cell, and then took one out, among cells that the page named itself."""

    def written(*sources):
        whole = json.loads(notebook_text(*sources)) | {"nbformat_minor": 4}
        for cell in whole["cells"]:
            del cell["id"]
        return folder.write("n.ipynb", json.dumps(whole, indent=1) + "\n")

    desk.open(written("x = 1", "y = 1", "z = 1"))
    folder.call("read_notebook", "n.ipynb")
    document = Notebook(desk)
    document.shows(2, "z = 1")
    desk.page.evaluate(MARK)
    for sources, marks in [
        (["x = 1", "new = 1", "y = 1", "z = 1"], ["0", "new", "1", "2"]),
        (["x = 1", "new = 1", "z = 1"], ["0", "new", "2"]),
    ]:
        written(*sources)
        folder.call("read_notebook", "n.ipynb")
        expect(document.cells).to_have_count(len(sources))
        for at, source in enumerate(sources):
            document.shows(at, source)
        assert desk.page.evaluate(MARKS) == marks
        document.expect_saved()
    document.type(0, "  # typed")
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["x = 1  # typed", "new = 1", "z = 1"]


def test_a_document_that_is_opened_while_its_file_changes_shows_what_it_has_now(desk, folder):
    """At once, without a read by a tool or a click on its tab."""
    path, place = folder.write("a.py", "x = 1\n"), f"**/api/contents/{folder.path('a.py')}*content=1*"

    def load(route):
        answer = route.fetch()
        folder.write("a.py", "x = 2\n")
        route.fulfill(response=answer)

    desk.page.route(place, load, times=1)
    desk.show(path)
    document = Text(desk)
    document.shows("x = 2\n")
    document.expect_saved()
    document.type("  # typed")
    document.save()
    assert folder.text("a.py") == "x = 2  # typed\n"


def test_open_documents_follow_what_a_command_changed(open_notebook, desk, folder):
    document = open_notebook("x = 1", "y = 1")
    folder.write("a.py", "x = 1\n")
    command = "sed -i 's/y = 1/y = 2/' n.ipynb && sed -i 's/x = 1/x = 2/' a.py"
    arguments = {"command": command, "cwd": folder.path("")}
    with ThreadPoolExecutor() as pool:
        call = pool.submit(folder.lab.call, "POST", "/tools/execute", arguments, folder.session)
        while not (waiting := folder.lab.proposed()) and not call.done():
            desk.page.wait_for_timeout(20)
        folder.lab.decide(waiting[0], "approve")
        ran = call.result()[1]["data"]
    assert ran["changed_files"] == [folder.path("a.py"), folder.path("n.ipynb")]
    document.shows(1, "y = 2")
    document.expect_saved()
    document.type(0, "  # typed")
    document.save()
    assert sources_in(folder.text("n.ipynb")) == ["x = 1  # typed", "y = 2"]


@pytest.mark.parametrize("answer", ["Cancel", "Revert", "Overwrite"])
def test_what_is_typed_and_what_a_program_wrote_are_both_there_until_the_person_decides(
    open_text, desk, folder, answer
):
    """The tools change neither of them before the person has decided, and work again afterwards."""
    document = open_text("x = 1\n")
    document.type("  # typed")
    desk.wait_until_known(folder.path("a.py"), saved=False)
    folder.write("a.py", "x = 2\n")
    shown = folder.call("read_file", "a.py")[1]["data"]["content"]
    assert shown == "x = 1  # typed\n"
    assert "disk" in refused(folder.call("edit_file", "a.py", old_string="x", new_string="y"), "conflict")["message"]
    desk.page.keyboard.press("Control+KeyS")
    dialog = desk.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("changed on disk")
    assert folder.text("a.py") == "x = 2\n"
    document.shows("x = 1  # typed\n")
    dialog.get_by_role("button", name=answer).click()
    kept = {"Cancel": "x = 2\n", "Revert": "x = 2\n", "Overwrite": "x = 1  # typed\n"}[answer]
    desk.wait_until_known(folder.path("a.py"), saved=answer != "Cancel")
    assert holds(folder, "a.py", kept)
    if answer == "Cancel":
        desk.page.keyboard.press("Control+KeyS")
        dialog.get_by_role("button", name="Overwrite").click()
        desk.wait_until_known(folder.path("a.py"))
    folder.call("read_file", "a.py")
    landed(folder.call("edit_file", "a.py", old_string="x = ", new_string="y = "))
    document.shows("y" + (kept if answer == "Revert" else "x = 1  # typed\n")[1:])
    desk.page.evaluate("() => { window.dialogs = []; }")


def test_a_file_that_was_renamed_in_the_page_is_edited_where_it_is_now(open_text, desk, folder):
    document = open_text("x = 1\n")
    assert holds(folder, ".ipynb_checkpoints/a-checkpoint.py", "x = 1\n")  # Jupyter's own checkpoint.
    desk.page.evaluate(
        "paths => jupyterapp.serviceManager.contents.rename(...paths)", [folder.path("a.py"), folder.path("b.py")]
    )
    desk.wait_until_known(folder.path("b.py"))
    folder.call("read_file", "b.py")
    landed(folder.call("edit_file", "b.py", old_string="x = 1", new_string="x = 2"))
    document.shows("x = 2\n")
    document.type("  # typed")
    document.save()
    assert folder.text("b.py") == "x = 2  # typed\n"
    assert not (folder.lab.root / folder.path("a.py")).exists()


def test_a_file_that_cannot_be_written_is_refused_and_the_document_takes_the_edit_back(open_text, folder):
    document = open_text("x = 1\ny = 1\n")
    place = folder.lab.root / folder.path("a.py")
    place.chmod(0o444)
    assert (
        "not modified"
        in refused(folder.call("edit_file", "a.py", old_string="x = 1", new_string="x = 2"), "denied")["message"]
    )
    document.shows("x = 1\ny = 1\n")
    document.expect_saved()
    place.chmod(0o644)
    landed(folder.call("edit_file", "a.py", old_string="x = 1", new_string="x = 2"))
    document.shows("x = 2\ny = 1\n")


def test_lines_that_end_as_on_windows_stay_so(open_text, folder):
    document = open_text("x = 1\n")
    place = folder.lab.root / folder.path("w.py")
    place.write_bytes(b"x = 1\r\ny = 1\r\n")
    folder.call("read_file", "w.py")
    document.window.open(folder.path("w.py"))
    document = Text(document.window)
    landed(folder.call("edit_file", "w.py", old_string="y = 1", new_string="y = 2\nz = 2"))
    document.shows("x = 1\ny = 2\nz = 2\n")
    assert place.read_bytes() == b"x = 1\r\ny = 2\r\nz = 2\r\n"
    document.type("  # typed")
    document.save()
    assert place.read_bytes() == b"x = 1  # typed\r\ny = 2\r\nz = 2\r\n"


@pytest.fixture
def windows(desk, folder):
    """A file `w.py` whose lines end as on Windows, and its open document."""
    place = folder.lab.root / folder.path("w.py")
    place.write_bytes(b"x = 1\r\ny = 1\r\n")
    desk.open(folder.path("w.py"))
    return place, Text(desk)


def test_a_document_with_windows_lines_follows_the_disk_and_stays_saved(windows, folder):
    place, document = windows
    place.write_bytes(b"x = 1\r\ny = 2\r\n")
    folder.call("read_file", "w.py")
    document.shows("x = 1\ny = 2\n")
    document.expect_saved()
    landed(folder.call("edit_file", "w.py", old_string="y = 2", new_string="y = 3"))
    document.shows("x = 1\ny = 3\n")
    document.expect_saved()
    assert place.read_bytes() == b"x = 1\r\ny = 3\r\n"


def test_a_document_whose_lines_end_otherwise_by_now_is_saved_as_its_file_is(windows, folder):
    """A program such as `dos2unix` may change the line endings alone."""
    place, document = windows
    place.write_bytes(b"x = 1\ny = 2\n")
    folder.call("read_file", "w.py")
    document.shows("x = 1\ny = 2\n")
    document.expect_saved()
    document.type("  # typed")
    document.save()
    assert place.read_bytes() == b"x = 1  # typed\ny = 2\n"


def test_cells_whose_lines_end_as_on_windows_are_edited_and_follow_the_disk(desk, folder):
    """Their editors count positions otherwise than the notebook does."""
    lines = "x = 1\r\ny = 1\r\nz = 1"
    place = folder.lab.root / folder.write("n.ipynb", notebook_text(lines, lines))
    desk.open(folder.path("n.ipynb"))
    document = Notebook(desk)
    folder.call("read_notebook", "n.ipynb")
    for number in (2, 3):
        landed(replace(folder, "c0", f"x = 1\ny = {number}\nz = {number}"))
        document.shows(0, f"x = 1\ny = {number}\nz = {number}")
    document.expect_saved()
    changed = place.read_text("utf-8").replace("z = 1", "z = 4")
    place.write_text(changed, "utf-8")
    folder.call("read_notebook", "n.ipynb")
    document.shows(1, "x = 1\ny = 1\nz = 4")
    document.expect_saved()
    document.type(1, "5")
    document.shows(1, "x = 1\ny = 1\nz = 45")


def test_one_character_of_two_halves_becomes_another(open_text, open_notebook, desk, folder):
    """Both characters have the same first, or last, surrogate."""
    document = open_text("a = '\U0001f389'\n")
    folder.write("a.py", "a = '\U0001f388'\n")
    folder.call("read_file", "a.py")
    document.shows("a = '\U0001f388'\n")
    document.type("  # typed")
    document.save()
    assert folder.text("a.py") == "a = '\U0001f388'  # typed\n"
    notebook = open_notebook("b = '\U0001f600'")
    folder.write("n.ipynb", notebook_text("b = '\U0001f601\U0001f600'"))
    folder.call("read_notebook", "n.ipynb")
    notebook.shows(0, "b = '\U0001f601\U0001f600'")
    landed(
        folder.call(
            "edit_notebook", "n.ipynb", cell_id="c0", edit_mode="edit", old_string="\U0001f601", new_string="\U0001f602"
        )
    )
    notebook.shows(0, "b = '\U0001f602\U0001f600'")


IN_MEMORY = """async ([drive, path]) => {
  const { contents } = jupyterapp.serviceManager;
  const Signal = contents.fileChanged.constructor;
  const model = { name: 'a.py', path, type: 'file', format: 'text', mimetype: 'text/plain', writable: true,
                  created: '2020-01-01T00:00:00Z', last_modified: '2020-01-01T00:00:00Z', content: 'x = 1\\n' };
  const none = { name: drive, fileChanged: new Signal({}), isDisposed: false, dispose() {},
                 get: async () => model, save: async (_, told) => Object.assign(model, told),
                 listCheckpoints: async () => [], createCheckpoint: async () => ({ id: '1', last_modified: '' }) };
  contents.addDrive(none);
  const widget = await jupyterapp.commands.execute('docmanager:open', { path: `${drive}:${path}` });
  await widget.context.ready;
}"""


def test_a_document_in_another_drive_is_not_the_file_of_its_path(desk, folder, name):
    """Text typed there does not block edits of the file with the same path, and is not changed by them."""
    path = folder.write("a.py", "x = 1\n")
    folder.call("read_file", "a.py")
    desk.page.evaluate(IN_MEMORY, [f"memory{len(name)}", path])
    document = Text(desk)
    document.type("  # typed")
    document.expect_saved(False)
    landed(folder.call("edit_file", "a.py", old_string="x = 1", new_string="x = 2"), "disk")
    document.shows("x = 1  # typed\n")
    assert folder.text("a.py") == "x = 2\n"


@pytest.fixture
def autosave(lab):
    """JupyterLab saves by itself each second, in windows opened from now on."""
    place = Path(lab.environment["JUPYTERLAB_SETTINGS_DIR"], "@jupyterlab/docmanager-extension")
    place.mkdir(parents=True, exist_ok=True)
    setting = place / "plugin.jupyterlab-settings"
    setting.write_text('{"autosaveInterval": 1}')
    yield
    setting.unlink()


def test_an_autosave_asks_nothing_either(autosave, open_lab, folder):
    window = open_lab()
    window.open(folder.write("a.py", "x = 1\ny = 1\n"))
    document = Text(window)
    folder.call("read_file", "a.py")
    text = "x = 1\ny = 1\n"
    for old, new in (("y = 1", "y = 2"), ("y = 2", "y = 3")):
        landed(folder.call("edit_file", "a.py", old_string=old, new_string=new))
        document.type("; typed = True")
        text = text.replace("\n", "; typed = True\n", 1).replace(old, new)
        assert holds(folder, "a.py", text)
        document.expect_saved()
        folder.call("read_file", "a.py")
    assert window.dialogs == []
