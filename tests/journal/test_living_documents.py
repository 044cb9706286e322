"""Undo and approval of changes in open files that their person has edited elsewhere since."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import permutations

import pytest

from jupyter_fstools.errors import InputOutput, Stale
from jupyter_fstools.journal.file_edits import kept_parts
from jupyter_fstools.journal.journal import Decision, Journal
from jupyter_fstools.journal.standing import changed_since, is_stale, sides_of
from jupyter_fstools.open_documents.holders import Disk
from jupyter_fstools.plain_text import change_row
from jupyter_fstools.stores.records import OpenDocument

LINES = [f"line {number} of a text\n" for number in range(40)]


class Saved(Disk):
    """A document that is open and saved."""

    place = "document"


class Pages:
    """Pages that have every file open, and everything saved."""

    def __init__(self, workspace):
        self._workspace = workspace

    def holder(self, stat, *, to_change):
        opened = OpenDocument(stat.path, stat.key, saved=True)
        self._workspace.store.note_open(stat.path, [opened], time.time() + 600)
        return Saved(self._workspace.backend, stat)

    def let_save(self):
        pass


@pytest.fixture
def living(make_call):
    """Makes a caller whose files are all open in a page."""

    def make(**settings):
        call = make_call(**settings)
        call.workspace._holders._documents = (Pages(call.workspace),)
        call.put("a.txt", "".join(LINES))
        call.put("n.ipynb", notebook({"a": "x = 1", "b": "y = 1", "c": "z = 1"}))
        call("read_file", path="a.txt")
        call("read_notebook", path="n.ipynb")
        return call

    return make


def notebook(sources):
    cells = [
        {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": [source]}
        for name, source in sources.items()
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def sources(call):
    return {cell["id"]: "".join(cell["source"]) for cell in json.loads(call.got("n.ipynb"))["cells"]}


def typed(call, path, old, new):
    """The person types, and JupyterLab saves it."""
    data = call.got(path).decode()
    assert data.count(old) == 1
    call.put(path, data.replace(old, new))


def failing(*_, **__):
    raise InputOutput("the disk is full")


def rewritten(*places):
    return "".join(line.upper() if at in places else line for at, line in enumerate(LINES))


def test_an_undo_keeps_what_the_person_typed_elsewhere(living):
    call = living()
    text = call("edit_file", path="a.txt", old_string=LINES[20], new_string="mine\n").change
    cell = call("edit_notebook", path="n.ipynb", cell_id="b", new_source="y = 2").change
    typed(call, "a.txt", "line 3 of", "theirs\nline 3 of")
    typed(call, "n.ipynb", "z = 1", "z = theirs")
    journal = Journal(call.workspace)
    undone = journal.undo(journal.change(text.id), by_person=True)
    assert call.got("a.txt").decode() == "".join(LINES).replace("line 3 of", "theirs\nline 3 of")
    assert (undone.diff.added, undone.diff.removed, undone.diff.hunks[0].old_start) == (1, 1, 19)
    undone = call("undo", change_id=cell.id).change
    assert sources(call) == {"a": "x = 1", "b": "y = 1", "c": "z = theirs"}
    assert [one.cell_id for one in undone.diff.cells] == ["b"]
    assert [change_row(journal.change(one.id))[2] for one in (text, cell)] == ["undone in a document"] * 2


def test_what_the_person_typed_is_news_to_whoever_took_their_change_back(living):
    call = living()
    text = call("edit_file", path="a.txt", old_string=LINES[20], new_string="mine\n").change
    typed(call, "a.txt", "line 3 of", "theirs of")
    call("undo", change_id=text.id)
    refusal = call.refused("stale", "edit_file", path="a.txt", old_string="theirs of", new_string="x")
    assert "+theirs of" in refusal.details["diff"]


def test_an_undo_of_what_the_person_changed_is_stale_and_says_so(living):
    call = living()
    call("edit_file", path="a.txt", old_string=LINES[20], new_string="mine\n")
    call("edit_notebook", path="n.ipynb", cell_id="b", new_source="y = 2")
    typed(call, "a.txt", "mine", "mine, and theirs")
    typed(call, "n.ipynb", "y = 2", "y = theirs")
    for path in ("a.txt", "n.ipynb"):
        assert "theirs" in call.refused("stale", "undo", path=path).details["diff"]


def test_a_proposal_is_carried_out_beside_what_the_person_typed(living):
    call = living(approval="always")
    journal = Journal(call.workspace)
    text = call("edit_file", path="a.txt", old_string=LINES[20], new_string="mine\n").change
    cell = call("edit_notebook", path="n.ipynb", cell_id="b", new_source="y = 2").change
    typed(call, "a.txt", "line 3 of", "theirs\nline 3 of")
    typed(call, "n.ipynb", "z = 1", "z = theirs")
    for change in (text, cell):
        assert not is_stale(call.workspace, change)
        assert changed_since(call.workspace, change) == []
        done = journal.approve(change.id)
        assert (done.status, journal.change(change.id).status) == ("applied", "applied")
    assert call.got("a.txt").decode().startswith("".join([*LINES[:3], "theirs\n", *LINES[3:20], "mine\n"]))
    assert sources(call) == {"a": "x = 1", "b": "y = 2", "c": "z = theirs"}
    assert journal.change(text.id).diff.hunks[0].old_start == 19
    for change in (text, cell):
        journal.undo(journal.change(change.id), by_person=True)
    assert call.got("a.txt").decode() == "".join(LINES).replace("line 3 of", "theirs\nline 3 of")
    assert sources(call) == {"a": "x = 1", "b": "y = 1", "c": "z = theirs"}


def test_an_approval_that_is_settled_later_is_undone_beside_what_the_person_typed(living, monkeypatch):
    """The store failed once the file was written; a text that was only inserted must not be inserted again."""
    call = living(approval="always")
    journal, store = Journal(call.workspace), call.workspace.store
    change = call("edit_file", path="a.txt", old_string=LINES[20], new_string=f"line new\n{LINES[20]}").change
    with monkeypatch.context() as broken:
        broken.setattr(store, "finish", failing)
        journal.approve(change.id)
    typed(call, "a.txt", "line 3 of", "theirs of")
    journal.undo(journal.change(change.id), by_person=True)
    assert call.got("a.txt").decode() == "".join(LINES).replace("line 3 of", "theirs of")


def test_a_proposal_of_what_the_person_changed_is_stale(living):
    call = living(approval="always")
    journal = Journal(call.workspace)
    text = call("edit_file", path="a.txt", old_string=LINES[20], new_string="mine\n").change
    cell = call("edit_notebook", path="n.ipynb", cell_id="b", new_source="y = 2").change
    typed(call, "a.txt", "line 20 of", "theirs of")
    typed(call, "n.ipynb", "y = 1", "y = theirs")
    for change in (text, cell):
        assert is_stale(call.workspace, change)
        [since] = changed_since(call.workspace, change)
        assert since.diff.added
        with pytest.raises(Stale, match="not modified"):
            journal.approve(change.id)
        assert journal.change(change.id).status == "proposed"


def test_a_proposal_is_carried_out_in_the_cell_that_the_person_went_on_with(living):
    call = living(approval="always")
    journal = Journal(call.workspace)
    call.put("n.ipynb", notebook({"a": "x = 1", "b": "".join(LINES)}))
    call("read_notebook", path="n.ipynb")
    change = call("edit_notebook", path="n.ipynb", cell_id="b", new_source=rewritten(5, 20, 35)).change
    typed(call, "n.ipynb", "line 0 of", "theirs\\nline 0 of")
    assert not is_stale(call.workspace, change)
    assert changed_since(call.workspace, change) == []
    done = journal.approve(change.id, decision=Decision({"b": [0, 2]}))
    assert sources(call) == {"a": "x = 1", "b": "theirs\n" + rewritten(5, 35)}
    assert (done.decided.taken, done.decided.rejected) == ({"b": [0, 2]}, {"b": [1]})
    # The proposer has not been shown the typed text.
    call.refused("not_read", "edit_notebook", path="n.ipynb", cell_id="b", new_source="x")
    journal.undo(journal.change(change.id), by_person=True)
    assert sources(call)["b"] == "theirs\n" + "".join(LINES)


def test_parts_of_a_change_are_decided_beside_what_the_person_typed(living):
    call = living(approval=["a.txt"])
    journal = Journal(call.workspace)
    change = call("write_file", path="a.txt", content=rewritten(5, 20, 35)).change
    edits = [{"cell_id": "a", "new_source": "x = 2"}, {"cell_id": "c", "new_source": "z = 2"}]
    cells = call("edit_notebook", path="n.ipynb", edits=edits).change
    typed(call, "a.txt", "line 0 of", "theirs\nline 0 of")
    typed(call, "n.ipynb", "y = 1", "y = theirs")
    done = journal.approve(change.id, decision=Decision([0, 2]))
    assert call.got("a.txt").decode() == "theirs\n" + rewritten(5, 35)
    assert (done.decided.taken, done.decided.rejected) == ([0, 2], [1])
    journal.undo(journal.change(cells.id), by_person=True, hunks={"c": "all"})
    assert sources(call) == {"a": "x = 2", "b": "y = theirs", "c": "z = 1"}


def test_a_whole_text_is_written_beside_what_the_person_typed_between_its_changes(living):
    call = living(approval="always")
    journal = Journal(call.workspace)
    change = call("write_file", path="a.txt", content=rewritten(5, 35)).change
    typed(call, "a.txt", "line 20 of", "theirs\nline 20 of")
    assert not is_stale(call.workspace, change)
    assert changed_since(call.workspace, change) == []
    journal.approve(change.id)
    assert call.got("a.txt").decode() == rewritten(5, 35).replace("line 20 of", "theirs\nline 20 of")
    # The proposer has not been shown the typed text.
    call.refused("stale", "write_file", path="a.txt", content="x")
    typed(call, "a.txt", "line 22 of", "more\nline 22 of")
    journal.undo(journal.change(change.id), by_person=True)
    left = "".join(LINES).replace("line 20 of", "theirs\nline 20 of").replace("line 22 of", "more\nline 22 of")
    assert call.got("a.txt").decode() == left


def test_parts_that_have_grown_together_are_decided_one_by_one_all_the_same(living):
    call = living(approval="always")
    journal = Journal(call.workspace)
    change = call("write_file", path="a.txt", content=rewritten(5, 20)).change
    typed(call, "a.txt", "".join(LINES[8:18]), "")
    done = journal.approve(change.id, decision=Decision([0]))
    assert call.got("a.txt").decode() == rewritten(5).replace("".join(LINES[8:18]), "")
    assert (done.decided.taken, done.decided.rejected) == ([0], [1])


def test_parts_that_have_grown_together_are_taken_back_as_a_whole(living):
    call = living()
    change = call("write_file", path="a.txt", content=rewritten(5, 20)).change
    typed(call, "a.txt", "".join(LINES[8:18]), "")
    journal = Journal(call.workspace)
    with pytest.raises(Stale, match="not modified"):
        journal.undo(journal.change(change.id), by_person=True, hunks=[0])
    assert call.got("a.txt").decode() == rewritten(5, 20).replace("".join(LINES[8:18]), "")


def test_what_still_fits_of_a_proposal_is_approved(living):
    """Nothing is written of a hunk or a cell that the person has changed."""
    call = living(approval="always")
    journal = Journal(call.workspace)
    text = call("write_file", path="a.txt", content=rewritten(5, 20, 35)).change
    edits = [{"cell_id": "a", "new_source": "x = 2"}, {"cell_id": "c", "new_source": "z = 2"}]
    cells = call("edit_notebook", path="n.ipynb", edits=edits).change
    typed(call, "a.txt", "line 5 of", "theirs of")
    typed(call, "n.ipynb", "x = 1", "x = theirs")
    for change, named in ((text, [0, 2]), (text, [0, 1, 2]), (cells, {"a": "all"}), (cells, {"a": [0], "c": [0]})):
        with pytest.raises(Stale, match="not modified"):
            journal.approve(change.id, decision=Decision(named))
    done = journal.approve(text.id, decision=Decision([1, 2], reason="5 is mine"))
    assert call.got("a.txt").decode() == rewritten(20, 35).replace("line 5 of", "theirs of")
    assert (done.decided.taken, done.decided.rejected, done.decided.reason) == ([1, 2], [0], "5 is mine")
    assert [hunk.old_start for hunk in done.diff.hunks] == [18, 33]
    done = journal.approve(cells.id, decision=Decision({"c": "all"}))
    assert sources(call) == {"a": "x = theirs", "b": "y = 1", "c": "z = 2"}
    assert (done.decided.taken, done.decided.rejected) == ({"c": [0]}, {"a": [0]})
    journal.undo(journal.change(text.id), by_person=True)
    assert call.got("a.txt").decode() == "".join(LINES).replace("line 5 of", "theirs of")


def test_all_parts_that_a_change_has_no_longer_are_approved_together(living):
    """The person typed so much inside one hunk that a new diff would make two of it."""
    call = living(approval="always")
    journal = Journal(call.workspace)
    change = call("write_file", path="a.txt", content=rewritten(5, 9, 30)).change
    assert len(change.diff.hunks) == 2
    theirs = "line 7 of", "theirs\n" * 9 + "line 7 of"
    typed(call, "a.txt", *theirs)
    done = journal.approve(change.id, decision=Decision([0, 1]))
    assert call.got("a.txt").decode() == rewritten(5, 9, 30).replace(*theirs)
    assert (done.decided.taken, done.decided.rejected) == ([0, 1], [])


def test_a_proposal_that_is_decided_while_it_is_looked_at_raises_nothing(living):
    call = living(approval="always")
    call.put("b.txt", "one\n")
    call("read_file", path="b.txt")
    edits = [{"path": "a.txt", "old_string": "line 5 of", "new_string": "line V of"}]
    edits += [{"path": "b.txt", "old_string": "one", "new_string": "1"}]
    waiting = call("edit_file", edits=edits).change
    typed(call, "b.txt", "one", "theirs and one")
    Journal(call.workspace).reject(waiting.id)
    assert is_stale(call.workspace, waiting)
    assert [since.path for since in changed_since(call.workspace, waiting)] == ["b.txt"]


def test_an_approval_that_failed_is_repeated_by_who_looked_meanwhile(living, monkeypatch):
    """A second caller starts to carry it out and takes that back, so it waits again unchanged."""
    call = living(approval="always")
    journal, apply = Journal(call.workspace), Saved.apply
    change = call("edit_file", path="a.txt", old_string="line 5 of", new_string="line V of").change
    looked = []

    def fails_once_begun(holder, rewrite):
        def begin(*fingerprints):
            rewrite.begin(*fingerprints)
            looked.extend(kept_parts(call.workspace, change))
            raise InputOutput("the disk is full")

        return apply(holder, replace(rewrite, begin=begin))

    with monkeypatch.context() as patched:
        patched.setattr(Saved, "apply", fails_once_begun)
        with pytest.raises(InputOutput):
            journal.approve(change.id)
    with monkeypatch.context() as patched:
        patched.setattr("jupyter_fstools.journal.journal.kept_parts", lambda *_: looked)
        assert journal.approve(change.id).status == "applied"
    assert call.got("a.txt").decode() == "".join(LINES).replace("line 5 of", "line V of")


def test_a_closed_file_is_never_merged(living):
    """Nobody has seen its present content."""
    call = living()
    change = call("edit_file", path="a.txt", old_string=LINES[20], new_string="mine\n").change
    typed(call, "a.txt", "line 22 of", "theirs of")
    call.workspace._holders._documents = ()
    assert "+theirs of" in call.refused("stale", "undo", change_id=change.id).details["diff"]


FORMER = {"a": "x = 1", "b": "y = 1", "c": "z = 1", "d": "w = 1"}


@pytest.fixture
def rearranged_cells(living):
    """A caller that has edited one cell, deleted one, inserted one and moved one, and the change."""
    call = living()
    call.put("n.ipynb", notebook(FORMER))
    call("read_notebook", path="n.ipynb")
    edits = [
        {"cell_id": "a", "new_source": "x = 2"},
        {"cell_id": "b", "edit_mode": "delete"},
        {"edit_mode": "insert", "after": "c", "cell_type": "code", "new_source": "new = 1"},
        {"cell_id": "d", "edit_mode": "move", "at": "start"},
    ]
    change = call("edit_notebook", path="n.ipynb", edits=edits).change
    assert list(sources(call).values()) == ["w = 1", "x = 2", "z = 1", "new = 1"]
    return call, change


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_one_cell_after_the_other_is_taken_back_until_nothing_is_left(rearranged_cells, order):
    call, change = rearranged_cells
    journal = Journal(call.workspace)
    inserted = next(cell.cell_id for cell in change.diff.cells if cell.action == "insert")
    parts = ["a", "b", inserted, "d"]
    for at in order:
        journal.undo(journal.change(change.id), by_person=True, hunks={parts[at]: "all"})
    assert sources(call) == FORMER
    assert list(sources(call)) == list(FORMER)
    left = journal.change(change.id)
    assert (left.decided.taken, set(left.decided.rejected)) == ({}, set(parts))
    assert left.seen_by == ["ada"]


def test_a_cell_is_taken_back_below_a_later_change_of_another_one(rearranged_cells):
    call, change = rearranged_cells
    call("edit_notebook", path="n.ipynb", cell_id="c", new_source="z = 'later'")
    Journal(call.workspace).undo(change, by_person=True, hunks={"b": "all"})
    assert list(sources(call).values()) == ["w = 1", "x = 2", "y = 1", "z = 'later'", "new = 1"]


def test_a_cell_that_a_later_change_rewrote_is_not_taken_back(rearranged_cells):
    call, change = rearranged_cells
    call("edit_notebook", path="n.ipynb", cell_id="a", new_source="x = 'later'")
    with pytest.raises(Stale, match="not modified"):
        Journal(call.workspace).undo(change, by_person=True, hunks={"a": "all"})


@pytest.mark.parametrize("typed_text", ["x = 1\\nmine = 1", ""])
def test_a_cell_is_converted_as_it_is_by_now(living, typed_text):
    call = living(approval="always")
    journal = Journal(call.workspace)
    change = call("edit_notebook", path="n.ipynb", cell_id="a", edit_mode="convert", cell_type="markdown").change
    typed(call, "n.ipynb", '"x = 1"', f'"{typed_text}"')
    assert not is_stale(call.workspace, change)
    journal.approve(change.id)
    [first, *_] = json.loads(call.got("n.ipynb"))["cells"]
    assert (first["cell_type"], "".join(first["source"])) == ("markdown", typed_text.replace("\\n", "\n"))


def test_a_cell_that_is_converted_already_is_stale(living):
    call = living(approval="always")
    change = call("edit_notebook", path="n.ipynb", cell_id="a", edit_mode="convert", cell_type="markdown").change
    changed = json.loads(call.got("n.ipynb"))
    changed["cells"][0] = {"cell_type": "raw", "id": "a", "metadata": {}, "source": ["x = 1"]}
    call.put("n.ipynb", json.dumps(changed, indent=1))
    assert is_stale(call.workspace, change)


@pytest.mark.parametrize("approval", ["never", "always"])
def test_both_sides_of_a_change_have_what_the_person_typed_elsewhere(living, approval):
    call = living(approval=approval)
    text = call("edit_file", path="a.txt", old_string=LINES[20], new_string="mine\n").change
    cell = call("edit_notebook", path="n.ipynb", cell_id="b", new_source="y = 2").change
    typed(call, "a.txt", "line 3 of", "theirs of")
    typed(call, "n.ipynb", "z = 1", "z = theirs")
    [told] = sides_of(call.workspace, text)
    assert told.old == "".join(LINES).replace("line 3 of", "theirs of")
    assert told.new == told.old.replace(LINES[20], "mine\n")
    [told] = sides_of(call.workspace, cell)
    assert [("z = theirs" in side, "y = 2" in side) for side in (told.old, told.new)] == [(True, False), (True, True)]


def test_hunks_of_a_cell_that_still_fit_are_approved_and_taken_back(living):
    """The person wrote at the place of another one; that text stays, and the rest lands in one step."""
    call = living(approval=["n.ipynb"])
    journal = Journal(call.workspace)
    call.put("n.ipynb", notebook({"a": "x = 1", "b": "".join(LINES)}))
    call("read_notebook", path="n.ipynb")
    edits = [{"cell_id": "b", "new_source": rewritten(5, 20, 35)}, {"cell_id": "a", "new_source": "x = 2"}]
    change = call("edit_notebook", path="n.ipynb", edits=edits).change
    typed(call, "n.ipynb", "line 5 of", "theirs of")
    for named in ({"b": "all"}, {"b": [0], "a": "all"}):
        with pytest.raises(Stale, match="not modified"):
            journal.approve(change.id, decision=Decision(named))
    done = journal.approve(change.id, decision=Decision({"b": [1, 2], "a": "all"}, reason="5 is mine"))
    assert sources(call) == {"a": "x = 2", "b": rewritten(20, 35).replace("line 5 of", "theirs of")}
    assert (done.decided.taken, done.decided.rejected) == ({"a": [0], "b": [1, 2]}, {"b": [0]})
    typed(call, "n.ipynb", "LINE 20 OF", "THEIRS OF")
    taken = journal.change(change.id)
    with pytest.raises(Stale, match="not modified"):
        journal.undo(taken, by_person=True, hunks={"b": [0]})
    journal.undo(taken, by_person=True, hunks={"b": [1]})
    left = rewritten(20).replace("line 5 of", "theirs of").replace("LINE 20 OF", "THEIRS OF")
    assert sources(call) == {"a": "x = 2", "b": left}
    assert journal.change(change.id).decided.rejected == {"b": [0, 2]}


def test_a_hunk_is_edited_and_approved_while_another_no_longer_fits(living):
    """The text written instead keeps what the person wrote at the place of the other hunk."""
    call = living(approval="always")
    journal = Journal(call.workspace)
    text = call("write_file", path="a.txt", content=rewritten(5, 20)).change
    cells = [
        {"cell_id": "a", "new_source": "x = 2"},
        {"edit_mode": "insert", "after": "b", "cell_type": "code", "new_source": "new"},
    ]
    call.put("n.ipynb", notebook({"a": "x = 1", "b": "".join(LINES)}))
    call("read_notebook", path="n.ipynb")
    edits = [{"cell_id": "b", "new_source": rewritten(5, 20)}, *cells]
    change = call("edit_notebook", path="n.ipynb", edits=edits).change
    mine = rewritten().replace("line 5 of", "theirs of").replace("line 20 of", "edited of")
    for path in ("a.txt", "n.ipynb"):
        typed(call, path, "line 5 of", "theirs of")
    with pytest.raises(Stale, match="not modified"):
        journal.approve(text.id, decision=Decision([0], content=mine))
    done = journal.approve(text.id, decision=Decision([1], content=mine))
    assert call.got("a.txt").decode() == mine
    assert (done.decided.taken, done.decided.rejected, done.decided.edited) == ([1], [0], True)
    for hunks in (None, {"b": [0]}, {"b": "all"}, {}):
        with pytest.raises(Stale, match="not modified"):
            journal.approve(change.id, decision=Decision(hunks, content={"b": mine}))
    done = journal.approve(change.id, decision=Decision({"a": "all", "b": [1]}, content={"b": mine}))
    assert sources(call) == {"a": "x = 2", "b": mine}
    assert (done.decided.taken, done.decided.rejected["b"], done.decided.edited) == ({"a": [0], "b": [1]}, [0], True)


def without_ids(sources):
    kept = json.loads(notebook(dict.fromkeys(sources, ""))) | {"nbformat_minor": 4}
    for cell, source in zip(kept["cells"], sources, strict=True):
        del cell["id"]
        cell["source"] = [source]
    return json.dumps(kept, indent=1)


def texts(call):
    return ["".join(cell["source"]) for cell in json.loads(call.got("n.ipynb"))["cells"]]


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([{"edit_mode": "move", "index": 2, "at": "start"}, {"index": 0, "new_source": "x"}], ["c", "a", "b", "D"]),
        ([{"index": 0, "new_source": "b"}, {"index": 1, "new_source": "x"}], ["b", "b", "c", "D"]),
    ],
)
def test_of_cells_without_ids_none_is_taken_for_another_where_others_were_changed(living, edits, expected):
    """A cell is named by its source, so an edit renames it, and a move deletes one cell and inserts another."""
    call = living(approval="always")
    journal = Journal(call.workspace)
    call.put("n.ipynb", without_ids("abcd"))
    call("read_notebook", path="n.ipynb")
    change = call("edit_notebook", path="n.ipynb", edits=edits).change
    typed(call, "n.ipynb", '"d"', '"D"')
    decision = Decision({change.diff.cells[0].cell_id: "all"})
    journal.approve(change.id, decision=decision)
    assert texts(call) == expected


@pytest.mark.parametrize(
    "edit",
    [
        {"edit_mode": "move", "cell_id": "a", "after": "b"},
        {"edit_mode": "move", "cell_id": "b", "before": "a"},
    ],
)
def test_the_cell_that_is_told_to_move_is_moved_alone_while_another_part_no_longer_fits(living, edit):
    call = living(approval="always")
    change = call("edit_notebook", path="n.ipynb", edits=[edit, {"cell_id": "c", "new_source": "z = 2"}]).change
    typed(call, "n.ipynb", "z = 1", "z = theirs")
    Journal(call.workspace).approve(change.id, decision=Decision({edit["cell_id"]: "all"}))
    assert list(sources(call).items()) == [("b", "y = 1"), ("a", "x = 1"), ("c", "z = theirs")]
