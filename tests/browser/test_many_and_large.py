"""A full journal, a huge diff and a file that is no text."""

from __future__ import annotations

import time

from playwright.sync_api import expect
from traitlets.config import Config

from jupyter_fstools.config import FsToolsConfig
from jupyter_fstools.diffs.file_diff import DiffHunk, DiffRow, FileDiff
from jupyter_fstools.stores.records import Change
from tests.browser.lab import THREE_FRAMES, Folder, unfold
from tests.browser.open_documents.documents import Notebook, notebook_text

MANY = 5000
ROWS = [DiffRow(kind="add", old=0, new=1, text="one line")]
DIFF = FileDiff(
    path="", op="edit", added=1, hunks=[DiffHunk(old_start=1, old_count=0, new_start=1, new_count=1, rows=ROWS)]
)


def fill(lab, monkeypatch, many=MANY):
    """Put changes into the journal as if they had been made long ago."""
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, lab.environment[name])
    file = Folder(lab, "f")
    file.call("write_file", "a.txt", content="one line\n")
    store = FsToolsConfig(config=Config()).open_store()
    [made] = lab.call("GET", "/changes")[1]["changes"]
    known = store.change(made["id"])
    began = time.time() - many
    for number in range(many):
        path = f"f/{number}.txt"
        key = known.key.replace("a.txt", f"{number}.txt")
        facts = {"id": f"many{number}", "key": key, "path": path, "created_at": began + number, "diff": DIFF}
        store.add_change(Change(**(known.model_dump() | facts)), b"")
    store.close()


def test_a_journal_of_5000_changes_opens_and_scrolls(own_lab, open_lab, monkeypatch, measured):
    fill(own_lab, monkeypatch)
    window = open_lab(own_lab)
    began = time.perf_counter()
    window.open_panel()
    expect(window.card(f"f/{MANY - 1}.txt")).to_be_visible()
    measured("Opening the panel", time.perf_counter() - began)
    window.photograph("opened")
    began = time.perf_counter()
    cards = 0
    window.cards.first.focus()
    for _ in range(MANY):
        if window.card("f/0.txt").count():
            break
        window.page.keyboard.press("End")
        window.page.evaluate(THREE_FRAMES)
        cards = max(cards, window.cards.count())
    expect(window.card("f/0.txt")).to_be_focused()
    measured(f"Going down all {MANY} changes", time.perf_counter() - began)
    assert cards < 100
    window.photograph("the_oldest")


def test_a_huge_diff_is_shown_in_part_until_all_of_it_is_asked_for(window, folder, measured):
    lines = [f"line {number}\n" for number in range(5000)]
    folder.write("a.txt", "".join(lines))
    folder.call("read_file", "a.txt", limit=5000)
    folder.call("write_file", "a.txt", content="".join(line.upper() for line in lines))
    began = time.perf_counter()
    diff = unfold(window.card(folder.path("a.txt")))
    measured("Unfolding a diff of 5,000 lines", time.perf_counter() - began)
    expect(diff).to_contain_text("Show all")
    window.photograph("part")
    diff.get_by_role("button", name="Show all").click()
    expect(diff.get_by_role("button", name="Show all")).to_have_count(0)
    expect(window.panel.locator('[data-filter="path"]')).to_be_visible()


CELLS = 2000
HALFWAY = "outer => outer.scrollTo(0, outer.scrollHeight / 2)"
MARKED_IN_SIGHT = """() => {
    const outer = document.querySelector('.jp-Document:not(.lm-mod-hidden) .jp-WindowedPanel-outer');
    const { top, bottom } = outer.getBoundingClientRect();
    const marks = [...outer.querySelectorAll('.jp-fstools-Review-controls')];
    return marks.map(mark => mark.getBoundingClientRect().top).filter(at => at > top && at < bottom).length > 1;
}"""


def test_of_many_changed_cells_only_those_near_the_screen_are_marked(desk, waits):
    sources = [f"x = {number}" for number in range(CELLS)]
    waits.write("n.ipynb", notebook_text(*sources))
    for offset in range(0, CELLS, 500):
        waits.call("read_notebook", "n.ipynb", offset=offset, limit=500)
    edits = [{"cell_id": f"c{number}", "new_source": "y = 1"} for number in range(0, CELLS, 4)]
    assert waits.call("edit_notebook", "n.ipynb", edits=edits)[0] == 202
    desk.open(waits.path("n.ipynb"))
    Notebook(desk)
    controls = desk.page.locator(".jp-Notebook .jp-fstools-Review-controls")
    expect(controls.first).to_be_visible()
    expect(desk.page.locator(".jp-fstools-ReviewBar:visible")).to_contain_text("1 change by")
    at_first = controls.count()
    assert 0 < at_first < 40
    desk.page.locator(".jp-Document:not(.lm-mod-hidden) .jp-WindowedPanel-outer").evaluate(HALFWAY)
    desk.page.wait_for_function(MARKED_IN_SIGHT)
    assert controls.count() < at_first + 80
    desk.photograph("in_the_middle")
