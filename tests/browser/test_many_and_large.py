"""A full journal, a huge diff and a file that is no text."""

from __future__ import annotations

import time

from playwright.sync_api import expect
from traitlets.config import Config

from jupyter_fstools.config import FsToolsConfig
from jupyter_fstools.diffs.file_diff import DiffHunk, DiffRow, FileDiff
from jupyter_fstools.stores.records import Change
from tests.browser.lab import Folder, unfold

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


def test_a_change_of_a_file_that_is_no_text_says_so(window, folder):
    folder.write("a.bin", "text")
    change = folder.change("a.bin", "text", "more")

    def as_bytes(route):
        answer = route.fetch()
        told = answer.json()["change"]
        diff = {**told["diff"], "kind": "binary", "hunks": []}
        route.fulfill(response=answer, json={"change": {**told, "diff": diff}})

    window.page.route(f"**/changes/{change['id']}*", as_bytes)
    expect(unfold(window.card(folder.path("a.bin")))).to_contain_text("Binary file")
