"""Edits of a document that people edit together go through its room, never directly to its file."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.open_documents.documents import (
    LAST,
    TYPED,
    Assistant,
    Notebook,
    Text,
    cell_edits,
    holds,
    line_edits,
    notebook_text,
)
from tests.legs import TOGETHER

pytestmark = pytest.mark.parametrize("leg", TOGETHER, indirect=True)


@pytest.fixture
def open_notebook(desk, folder):
    """Opens a notebook that the assistant has read."""

    def opened(*sources, **options):
        desk.show(folder.write("n.ipynb", notebook_text(*sources, **options)))
        folder.call("read_notebook", "n.ipynb")
        return Notebook(desk, kernel=options.get("kernel", False))

    return opened


def edit(folder, cell, source, *, expected=200):
    status, answer = folder.call("edit_notebook", "n.ipynb", edit_mode="replace", cell_id=cell, new_source=source)
    assert status == expected, answer
    return answer


def saved(folder, sources):
    """Whether the room has saved these sources; it saves with a delay."""
    return holds(folder, "n.ipynb", sources)


def test_an_edit_arrives_beside_what_the_person_typed(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(1, "; typed = 2")
    change = edit(folder, "c0", "x = 2")["change"]
    assert (change["place"], change["saved"]) == ("room", False)
    document.shows(0, "x = 2")
    document.shows(1, "y = 1; typed = 2")
    assert saved(folder, ["x = 2", "y = 1; typed = 2"])


def read_shows(folder, text):
    """Whether a read shows this, as soon as the room has it."""
    for _ in range(1000):
        status, answer = folder.call("read_notebook", "n.ipynb")
        if text in json.dumps(answer):
            return status == 200
        time.sleep(0.02)
    raise AssertionError(answer)


def test_reads_show_what_the_person_sees(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(0, "; typed = 2")
    assert read_shows(folder, "typed = 2")


def test_what_was_typed_in_the_same_cell_since_is_stale(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(0, "; typed = 2")
    document.shows(0, "x = 1; typed = 2")
    document.page.wait_for_timeout(100)
    answer = edit(folder, "c0", "x = 2", expected=412)
    assert answer["error"]["code"] == "stale" and "typed = 2" in answer["error"]["details"]["diff"]
    assert edit(folder, "c1", "y = 2")
    assert saved(folder, ["x = 1; typed = 2", "y = 2"])


def test_nothing_typed_is_lost_while_other_cells_are_edited(open_notebook, folder):
    """400 characters at 40 a second and 100 edits: all of both are on the screen and on the disk."""
    document = open_notebook("typed = ''", *(f"x{at} = 0" for at in range(4)))
    with Assistant(cell_edits(folder)) as assistant:
        document.type(0, TYPED, delay=25)
    assert assistant.refused == []
    sources = [f"typed = ''{TYPED}", *(f"x{at} = {last}" for at, last in enumerate(LAST))]
    for at, source in enumerate(sources):
        document.shows(at, source)
    assert saved(folder, sources)


def test_nothing_typed_is_lost_while_the_same_text_is_edited(desk, folder):
    lines = [f"x{at} = 0" for at in range(4)]
    desk.show(folder.write("a.py", "\n".join(["typed = ''", *lines]) + "\n"))
    document = Text(desk)
    folder.call("read_file", "a.py")
    with Assistant(line_edits(folder), again=lambda: None) as assistant:
        document.type(TYPED, delay=25)
    assert assistant.refused == []
    assert "stale" not in assistant.repeated
    text = "\n".join([f"typed = ''{TYPED}", *(f"x{at} = {last}" for at, last in enumerate(LAST))]) + "\n"
    document.shows(text)
    assert holds(folder, "a.py", text)


def test_caret_selection_and_scroll_stay(open_notebook, folder):
    document = open_notebook(*(f"x{at} = {at}\n" * 5 for at in range(12)))
    document.click(8)
    document.page.keyboard.press("Control+Home")
    document.page.keyboard.press("ArrowDown")
    document.page.keyboard.press("Shift+End")
    held, top = document.look()
    assert held[1] == "x8 = 8"
    edit(folder, "c7", "x7 = 8\n" * 5)
    edit(folder, "c9", "x9 = 8")
    expect(document.cell(7)).to_contain_text("x7 = 8")
    expect(document.page.locator(".jp-fstools-ReviewBar:visible")).to_contain_text("2 changes by")
    held_now, top_now = document.look()
    assert held_now == held
    assert abs(top_now - top) < 2


def test_the_persons_undo_takes_back_their_typing_alone(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(0, "; typed = 2")
    edit(folder, "c1", "y = 2")
    document.shows(1, "y = 2")
    for _ in range(12):
        document.page.keyboard.press("Control+KeyZ")
    document.shows(0, "x = 1")
    document.shows(1, "y = 2")
    assert saved(folder, ["x = 1", "y = 2"])


def test_a_move_that_the_person_undoes_leaves_what_the_assistant_wrote_in_the_cell(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1", "z = 1")
    document.click(2)
    document.page.keyboard.press("Escape")
    document.page.keyboard.press("Control+Shift+ArrowUp")
    assert saved(folder, ["x = 1", "z = 1", "y = 1"])
    folder.call("read_notebook", "n.ipynb")
    edit(folder, "c2", "z = 2")
    document.shows(1, "z = 2")
    document.page.keyboard.press("z")
    document.shows(2, "z = 2")
    assert saved(folder, ["x = 1", "y = 1", "z = 2"])


MARK = "() => document.querySelectorAll('.jp-Notebook .jp-Cell').forEach((cell, at) => { cell.dataset.mark = at; })"
MARKS = "() => [...document.querySelectorAll('.jp-Notebook .jp-Cell')].map(cell => cell.dataset.mark ?? '')"


def test_cells_are_inserted_deleted_moved_and_converted_and_the_others_stay(open_notebook, folder):
    document = open_notebook(*(f"x{at} = 1" for at in range(6)))
    expect(document.cells.locator(".cm-content")).to_have_count(6)  # JupyterLab renders cells one by one.
    document.page.evaluate(MARK)
    edits = [
        {"edit_mode": "insert", "after": "c0", "cell_type": "markdown", "new_source": "new"},
        {"edit_mode": "delete", "cell_id": "c1"},
        {"edit_mode": "convert", "cell_id": "c2", "cell_type": "markdown"},
        {"edit_mode": "move", "cell_id": "c5", "before": "c3"},
    ]
    assert folder.call("edit_notebook", "n.ipynb", edits=edits)[0] == 200
    assert saved(folder, ["x0 = 1", "new", "x2 = 1", "x5 = 1", "x3 = 1", "x4 = 1"])
    expect(document.cells).to_contain_text(["x0 = 1", "new", "x2 = 1", "x5 = 1", "x3 = 1", "x4 = 1"])
    assert document.page.evaluate(MARKS) == ["0", "", "", "", "3", "4"]
    cells = json.loads(folder.text("n.ipynb"))["cells"]
    assert [cell["id"] for cell in cells if cell["source"] != ["new"]] == ["c0", "c2", "c5", "c3", "c4"]
    assert [cell["cell_type"] for cell in cells] == ["code", "markdown", "markdown", "code", "code", "code"]


def test_a_person_stays_in_their_cell_whatever_happens_to_it(open_notebook, folder):
    """It moves when the others are moved; an edit that would replace the cell is refused until they leave it."""
    document = open_notebook("x = 1", "typed: ()", "z = 1")
    document.type(1, "")
    document.page.keyboard.press("ArrowLeft")
    document.page.keyboard.type("+")
    assert read_shows(folder, "typed: (+)")
    moves = [
        partial(folder.call, "edit_notebook", "n.ipynb", edits=[{"edit_mode": "move", "cell_id": "c1", "at": at}])
        for at in ("start", "end") * 5
    ]
    with Assistant(moves, again=lambda: folder.call("read_notebook", "n.ipynb")) as assistant:
        document.page.keyboard.type(TYPED[:200], delay=25)
    assert assistant.refused == []
    assert read_shows(folder, f"typed: (+{TYPED[:200]})")
    for edit in ({"edit_mode": "convert", "cell_type": "markdown"}, {"edit_mode": "delete"}):
        status, answer = folder.call("edit_notebook", "n.ipynb", edits=[{**edit, "cell_id": "c1"}])
        assert (status, answer["error"]["code"]) == (409, "conflict") and "typing" in answer["error"]["message"]
    document.page.keyboard.type("!")
    assert read_shows(folder, f"typed: (+{TYPED[:200]}!)")
    document.type(0, "  # left")
    assert read_shows(folder, "x = 1  # left")
    edits = [{"edit_mode": "convert", "cell_id": "c1", "cell_type": "markdown"}]
    assert folder.call("edit_notebook", "n.ipynb", edits=edits)[0] == 200
    assert saved(folder, ["x = 1  # left", "z = 1", f"typed: (+{TYPED[:200]}!)"])


def test_a_person_stays_at_the_cell_that_they_chose_and_keeps_the_keyboard(open_notebook, folder):
    """In command mode; if their cell is deleted, its neighbour is selected."""
    document = open_notebook("x = 1", "y = 1", "z = 1")
    page = document.page
    document.click(1)
    for edit, shown, kind, typed in (
        ({"edit_mode": "move", "at": "start"}, ["y", "x", "z"], "CodeCell", "!"),
        ({"edit_mode": "convert", "cell_type": "raw"}, ["y", "x", "z"], "RawCell", "?"),
        ({"edit_mode": "delete"}, ["x", "z"], "CodeCell", "+"),
    ):
        page.keyboard.press("Escape")
        # Refused until the room knows that the person has left the cell.
        for _ in range(50):
            status, answer = folder.call("edit_notebook", "n.ipynb", edits=[{**edit, "cell_id": "c1"}])
            if status == 200:
                break
            page.wait_for_timeout(100)
        assert status == 200, answer
        expect(document.cells).to_contain_text(shown)
        expect(document.cells.first).to_have_class(re.compile(f"jp-{kind}"))
        document.expect_keyboard()
        page.keyboard.press("Enter")
        expect(document.cell(0)).to_be_focused()
        for key in ("Control+End", typed):
            page.keyboard.press(key)
        expect(document.cell(0)).to_contain_text(typed)
        assert read_shows(folder, typed)
    assert saved(folder, ["x = 1+", "z = 1"])


def test_an_undo_takes_the_change_back_in_the_room(open_notebook, folder):
    """Text that the person typed elsewhere stays; where they typed over the change itself, the undo is refused."""
    document = open_notebook("x = 1", "y = 1")
    change = edit(folder, "c0", "x = 2")["change"]
    other = edit(folder, "c1", "y = 2")["change"]
    document.shows(1, "y = 2")
    document.type(1, "; typed = 2")
    assert saved(folder, ["x = 2", "y = 2; typed = 2"])
    status, answer = folder.lab.call("POST", f"/changes/{change['id']}/undo")
    assert status == 200, answer
    document.shows(0, "x = 1")
    document.shows(1, "y = 2; typed = 2")
    status, answer = folder.lab.call("POST", f"/changes/{other['id']}/undo")
    assert (status, answer["error"]["code"]) == (412, "stale") and "typed" in answer["error"]["details"]["diff"]
    assert saved(folder, ["x = 1", "y = 2; typed = 2"])


def test_an_approved_change_arrives_beside_what_was_typed_while_it_waited(desk, waits):
    desk.show(waits.write("n.ipynb", notebook_text("x = 1", "y = 1")))
    document = Notebook(desk)
    waits.call("read_notebook", "n.ipynb")
    change = edit(waits, "c0", "x = 2", expected=202)["change"]
    document.shows(0, "x = 1")
    document.type(1, "; typed = 2")
    assert saved(waits, ["x = 1", "y = 1; typed = 2"])
    status, answer = waits.lab.decide(change, "approve")
    assert status == 200, answer
    document.shows(0, "x = 2")
    document.shows(1, "y = 1; typed = 2")
    assert saved(waits, ["x = 2", "y = 1; typed = 2"])


def test_two_browsers_see_the_same(open_notebook, second_desk, folder):
    one = open_notebook("x = 1", "y = 1")
    second_desk.show(folder.path("n.ipynb"))
    two = Notebook(second_desk)
    one.type(0, "; one")
    two.type(1, "; two")
    folder.call("read_notebook", "n.ipynb")
    edits = [{"edit_mode": "insert", "at": "end", "cell_type": "code", "new_source": "z = 1"}]
    assert folder.call("edit_notebook", "n.ipynb", edits=edits)[0] == 200
    for page in (one, two):
        for at, source in enumerate(["x = 1; one", "y = 1; two", "z = 1"]):
            page.shows(at, source)
    assert saved(folder, ["x = 1; one", "y = 1; two", "z = 1"])


def test_a_running_cell_keeps_what_it_prints(open_notebook, folder):
    printing = "import time\nfor n in range(30):\n    print(n, end=' ', flush=True)\n    time.sleep(0.1)"
    document = open_notebook(printing, "y = 1", kernel=True)
    document.start(0)
    output = document.cells.nth(0).locator(".jp-OutputArea-output")
    # jupyter-server-documents complains of each output, without us too (jupyter-server-documents#311).
    with document.window.complaining():
        expect(output).to_contain_text("2 3")
        edit(folder, "c1", "y = 2")
        edits = [{"edit_mode": "insert", "at": "start", "cell_type": "code", "new_source": "z = 1"}]
        assert folder.call("edit_notebook", "n.ipynb", edits=edits)[0] == 200
        output = document.cells.nth(1).locator(".jp-OutputArea-output")
        expect(output).to_contain_text(" ".join(str(n) for n in range(30)))
        document.shows(2, "y = 2")
        # It still logs errors until the cell has ended, a moment after its last output.
        with suppress(AssertionError):
            expect(document.cells.nth(1).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=5000)
        document.page.wait_for_timeout(500)


def test_a_cell_edits_the_notebook_that_it_runs_in(open_notebook, folder):
    """Its kernel passes the call to the server, which edits the room; text that the person typed beside it stays."""
    path = folder.path("n.ipynb")
    told, change = f"%fs cells {path}", f"import time; time.sleep(2)\n%fs cell {path} c1 --old 1 --new 2"
    document = open_notebook(told, "y = 1", change, "z = 1", kernel=True)
    output = [document.cells.nth(at).locator(".jp-OutputArea-output").first for at in range(4)]
    # jupyter-server-documents complains of each output, without us too (jupyter-server-documents#311).
    with document.window.complaining():
        document.start(0)
        expect(output[0]).to_contain_text("y = 1")
        document.type(3, "  # typed")
        document.start(2)
        document.shows(1, "y = 2")
        expect(output[2]).to_contain_text("y = 2")
        document.shows(3, "z = 1  # typed")
        assert saved(folder, [told, "y = 2", change, "z = 1  # typed"])


def test_a_text_is_written_as_a_whole(desk, folder):
    desk.show(folder.write("a.py", "x = 1\ny = 1\n"))
    editor = desk.page.locator(".jp-FileEditor .cm-content")
    expect(editor).to_be_visible()
    folder.call("read_file", "a.py")
    status, answer = folder.call("write_file", "a.py", content="x = 1\n# größer 😀\ny = 2\n")
    assert (status, answer["change"]["place"]) == (200, "room")
    expect(editor.locator("> .cm-line")).to_have_text(["x = 1", "# größer 😀", "y = 2", ""])
    assert holds(folder, "a.py", "x = 1\n# größer 😀\ny = 2\n")
    answer = folder.call("edit_file", "a.py", old_string="ßer 😀", new_string="ße 🎈!")
    assert answer[0] == 200
    assert holds(folder, "a.py", "x = 1\n# größe 🎈!\ny = 2\n")


def test_a_file_that_is_read_only_is_refused_and_the_room_stays_as_it_was(desk, folder):
    """A room takes every change and saves none of a file that it must not write."""
    path = folder.write("a.py", "x = 1\n")
    place = folder.lab.root / path
    place.chmod(0o444)
    desk.show(path)
    document = Text(desk)
    folder.call("read_file", "a.py")
    status, answer = folder.call("edit_file", "a.py", old_string="x = 1", new_string="x = 2")
    assert (status, answer["error"]["code"]) == (403, "denied")
    assert "not modified: it is read-only" in answer["error"]["message"]
    document.shows("x = 1\n")
    assert folder.text("a.py") == "x = 1\n"
    place.chmod(0o644)
    assert folder.call("edit_file", "a.py", old_string="x = 1", new_string="x = 2")[0] == 200
    document.shows("x = 2\n")
    assert holds(folder, "a.py", "x = 2\n")
