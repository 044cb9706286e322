"""What people edit together, an assistant edits with them: through the room, and never below it."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import suppress

import pytest
from playwright.sync_api import expect

from tests.browser.open_documents.notebook_page import NotebookPage, notebook_text, sources_in
from tests.legs import TOGETHER

pytestmark = pytest.mark.parametrize("leg", TOGETHER, indirect=True)


@pytest.fixture
def open_notebook(open_lab, folder):
    """Opens a notebook that the assistant has read."""

    def opened(*sources, **options):
        path = folder.write("n.ipynb", notebook_text(*sources, **options))
        page = NotebookPage(open_lab(path=path), kernel=options.get("kernel", False))
        folder.call("read_notebook", "n.ipynb")
        return page

    return opened


def edit(folder, cell, source, *, expected=200):
    status, answer = folder.call("edit_notebook", "n.ipynb", edit_mode="replace", cell_id=cell, new_source=source)
    assert status == expected, answer
    return answer


def saved(folder, sources, file="n.ipynb"):
    """Whether the room has saved these sources; it does so in its own time."""
    found = None
    for _ in range(200):
        with suppress(ValueError):  # The room writes in place: half of it may be there.
            found = sources_in(folder.text(file))
        if found == sources:
            return True
        time.sleep(0.1)
    raise AssertionError(found)


def test_an_edit_arrives_beside_what_the_person_typed(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(1, "; typed = 2")
    change = edit(folder, "c0", "x = 2")["change"]
    assert (change["place"], change["saved"]) == ("room", False)
    document.shows(0, "x = 2")
    document.shows(1, "y = 1; typed = 2")
    assert saved(folder, ["x = 2", "y = 1; typed = 2"])


def test_reads_show_what_the_person_sees(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(0, "; typed = 2")
    for _ in range(100):
        status, answer = folder.call("read_notebook", "n.ipynb")
        if "typed = 2" in json.dumps(answer):
            break
        time.sleep(0.02)
    assert status == 200 and "typed = 2" in json.dumps(answer)


def test_what_was_typed_in_the_same_cell_since_is_stale(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    document.type(0, "; typed = 2")
    document.shows(0, "x = 1; typed = 2")
    document.page.wait_for_timeout(100)
    answer = edit(folder, "c0", "x = 2", expected=412)
    assert answer["error"]["code"] == "stale" and "typed = 2" in answer["error"]["details"]["diff"]
    assert edit(folder, "c1", "y = 2")
    assert saved(folder, ["x = 1; typed = 2", "y = 2"])


ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def test_nothing_typed_is_lost_while_other_cells_are_edited(open_notebook, folder):
    """40 characters a second against 100 edits: all of both on the screen and on the disk."""
    document = open_notebook("typed = ''", *(f"x{at} = 0" for at in range(4)))
    typed = "".join(ALPHABET[at % len(ALPHABET)] for at in range(400))
    with Assistant(folder, 100) as assistant:
        document.type(0, typed, delay=25)
    assert assistant.refused == []
    sources = [f"typed = ''{typed}", *(f"x{at} = {last}" for at, last in enumerate([100, 97, 98, 99]))]
    for at, source in enumerate(sources):
        document.shows(at, source)
    assert saved(folder, sources)


class Assistant:
    """Edits the cells c1 to c4 in turn, in a thread, as an assistant beside the person."""

    def __init__(self, folder, edits):
        self.refused = []
        self._thread = threading.Thread(target=self._work, args=(folder, edits))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *raised):
        self._thread.join()

    def _work(self, folder, edits):
        for number in range(1, edits + 1):
            at = number % 4
            call = {"edit_mode": "replace", "cell_id": f"c{at + 1}", "new_source": f"x{at} = {number}"}
            status, answer = folder.call("edit_notebook", "n.ipynb", **call)
            if status != 200:
                self.refused.append(answer)


def test_nothing_typed_is_lost_while_the_same_text_is_edited(open_lab, folder):
    lines = [f"x{at} = 0" for at in range(4)]
    document = open_lab(path=folder.write("a.py", "\n".join(["typed = ''", *lines]) + "\n"))
    editor = document.page.locator(".jp-FileEditor .cm-content")
    editor.click()
    document.page.keyboard.press("Control+Home")
    document.page.keyboard.press("End")
    typed = "".join(ALPHABET[at % len(ALPHABET)] for at in range(400))
    refused = []

    def work():
        for number in range(1, 101):
            folder.call("read_file", "a.py")
            old = f"x{number % 4} = {max(0, number - 4) if number >= 4 else 0}\n"
            answer = folder.call("edit_file", "a.py", old_string=old, new_string=f"x{number % 4} = {number}\n")
            while answer[1].get("error", {}).get("code") in ("stale", "conflict"):
                folder.call("read_file", "a.py")
                answer = folder.call("edit_file", "a.py", old_string=old, new_string=f"x{number % 4} = {number}\n")
            if answer[0] != 200:
                refused.append(answer)

    assistant = threading.Thread(target=work)
    assistant.start()
    document.page.keyboard.type(typed, delay=25)
    assistant.join()
    assert refused == []
    text = "\n".join([f"typed = ''{typed}", *(f"x{at} = {last}" for at, last in enumerate([100, 97, 98, 99]))]) + "\n"
    expect(editor.locator("> .cm-line")).to_have_text(text.split("\n"))
    assert is_text(folder, text)


def is_text(folder, text):
    for _ in range(200):
        if folder.text("a.py") == text:
            return True
        time.sleep(0.1)
    raise AssertionError(folder.text("a.py"))


LOOK = """() => {
  const selection = window.getSelection();
  const scroller = document.querySelector('.jp-WindowedPanel-outer');
  return [document.activeElement.className, selection.toString(), scroller.scrollTop,
          selection.anchorOffset, selection.focusOffset];
}"""


def test_caret_selection_and_scroll_stay(open_notebook, folder):
    document = open_notebook(*(f"x{at} = {at}\n" * 5 for at in range(12)))
    document.cell(8).click()
    document.page.keyboard.press("Control+Home")
    document.page.keyboard.press("ArrowDown")
    document.page.keyboard.press("Shift+End")
    before = document.page.evaluate(LOOK)
    assert before[1] == "x8 = 8"
    edit(folder, "c7", "x7 = 8\n" * 5)
    edit(folder, "c9", "x9 = 8")
    expect(document.cell(7)).to_contain_text("x7 = 8")
    assert document.page.evaluate(LOOK) == before


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


MARK = "() => document.querySelectorAll('.jp-Notebook .jp-Cell').forEach((cell, at) => { cell.dataset.mark = at; })"
MARKS = "() => [...document.querySelectorAll('.jp-Notebook .jp-Cell')].map(cell => cell.dataset.mark ?? '')"


def test_cells_are_inserted_deleted_moved_and_converted_and_the_others_stay(open_notebook, folder):
    document = open_notebook(*(f"x{at} = 1" for at in range(6)))
    document.page.evaluate(MARK)
    edits = [
        {"edit_mode": "insert", "after": "c0", "cell_type": "markdown", "new_source": "new"},
        {"edit_mode": "delete", "cell_id": "c1"},
        {"edit_mode": "convert", "cell_id": "c2", "cell_type": "markdown"},
        {"edit_mode": "move", "cell_id": "c5", "before": "c3"},
    ]
    assert folder.call("edit_notebook", "n.ipynb", edits=edits)[0] == 200
    assert saved(folder, ["x0 = 1", "new", "x2 = 1", "x5 = 1", "x3 = 1", "x4 = 1"])
    expect(document.cells).to_have_count(6)
    assert document.page.evaluate(MARKS) == ["0", "", "", "", "3", "4"]
    cells = json.loads(folder.text("n.ipynb"))["cells"]
    assert [cell["id"] for cell in cells if cell["source"] != ["new"]] == ["c0", "c2", "c5", "c3", "c4"]
    assert [cell["cell_type"] for cell in cells] == ["code", "markdown", "markdown", "code", "code", "code"]


def test_an_undo_takes_the_change_back_in_the_room(open_notebook, folder):
    document = open_notebook("x = 1", "y = 1")
    change = edit(folder, "c0", "x = 2")["change"]
    document.shows(0, "x = 2")
    assert folder.lab.call("POST", f"/changes/{change['id']}/undo")[0] == 200
    document.shows(0, "x = 1")
    assert saved(folder, ["x = 1", "y = 1"])


def test_an_approved_change_arrives(open_lab, waits):
    path = waits.write("n.ipynb", notebook_text("x = 1", "y = 1"))
    document = NotebookPage(open_lab(path=path))
    waits.call("read_notebook", "n.ipynb")
    change = edit(waits, "c0", "x = 2", expected=202)["change"]
    document.shows(0, "x = 1")
    assert waits.lab.decide(change, "approve")[0] == 200
    document.shows(0, "x = 2")
    document.type(1, "; typed = 2")
    assert saved(waits, ["x = 2", "y = 1; typed = 2"])


def test_two_browsers_see_the_same(open_notebook, open_lab, folder):
    one = open_notebook("x = 1", "y = 1")
    two = NotebookPage(open_lab(path=folder.path("n.ipynb")))
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
    # The kernel may be busy for a moment after it was told to be idle: a press that runs nothing is repeated.
    running = document.cells.nth(0).locator(".jp-InputPrompt")
    for _ in range(3):
        document.cell(0).click()
        document.page.keyboard.press("Control+Enter")
        with suppress(AssertionError):
            expect(running).to_have_text("[*]:", timeout=2000)
            break
    output = document.cells.nth(0).locator(".jp-OutputArea-output")
    with document.window.complaining():  # jupyter-server-documents does so of each output, without us too.
        expect(output).to_contain_text("2 3")
        edit(folder, "c1", "y = 2")
        edits = [{"edit_mode": "insert", "at": "start", "cell_type": "code", "new_source": "z = 1"}]
        assert folder.call("edit_notebook", "n.ipynb", edits=edits)[0] == 200
        output = document.cells.nth(1).locator(".jp-OutputArea-output")
        expect(output).to_contain_text(" ".join(str(n) for n in range(30)))
        document.shows(2, "y = 2")
        # It complains until the cell has ended, which is a moment after its last output.
        with suppress(AssertionError):
            expect(document.cells.nth(1).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=5000)
        document.page.wait_for_timeout(500)


def test_a_text_is_written_as_a_whole(open_lab, folder):
    document = open_lab(path=folder.write("a.py", "x = 1\ny = 1\n"))
    editor = document.page.locator(".jp-FileEditor .cm-content")
    expect(editor).to_be_visible()
    folder.call("read_file", "a.py")
    status, answer = folder.call("write_file", "a.py", content="x = 1\n# größer 😀\ny = 2\n")
    assert (status, answer["change"]["place"]) == (200, "room")
    expect(editor.locator("> .cm-line")).to_have_text(["x = 1", "# größer 😀", "y = 2", ""])
    assert is_text(folder, "x = 1\n# größer 😀\ny = 2\n")
    answer = folder.call("edit_file", "a.py", old_string="ßer 😀", new_string="ße 🎈!")
    assert answer[0] == 200
    assert is_text(folder, "x = 1\n# größe 🎈!\ny = 2\n")
