"""The present content of its file decides what can be done about a change."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from jupyter_fstools.errors import Conflict, Stale, TimedOut
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.standing import (
    as_of_now,
    can_be_undone,
    changed_since,
    is_stale,
    sides_of,
    waiting_count,
    with_all_rows,
)

MANY = [f"line {number}\n" for number in range(5000)]


@pytest.fixture
def asking(make_call):
    """A caller whose changes wait for a person."""
    return make_call(approval="always")


def edit(call, old, new):
    return call("edit_file", path="a.txt", old_string=old, new_string=new).change


def test_a_change_is_covered_by_a_later_one_that_stands(call):
    journal = Journal(call.workspace)
    call.put("a.txt", "one\n")
    call("read_file", path="a.txt")
    first, second = edit(call, "one", "two"), edit(call, "two", "three")
    assert [can_be_undone(call.workspace, change) for change in (first, second)] == [False, True]
    assert [one.undoable for one in as_of_now(call.workspace, [second, first])] == [True, False]
    back = journal.undo(second, by_person=True)
    assert [can_be_undone(call.workspace, change) for change in (first, back)] == [True, True]
    journal.undo(first, by_person=True)
    assert not can_be_undone(call.workspace, back)


def test_a_proposal_is_stale_while_its_file_is_another(asking):
    asking.put("a.txt", "one\n")
    asking("read_file", path="a.txt")
    change = edit(asking, "one", "two")
    assert (is_stale(asking.workspace, change), waiting_count(asking.workspace)) == (False, 1)
    assert changed_since(asking.workspace, change) == []
    asking.put("a.txt", "ONE\n")
    assert (is_stale(asking.workspace, change), waiting_count(asking.workspace)) == (True, 0)
    [since] = changed_since(asking.workspace, change)
    assert [row.text for row in since.diff.hunks[0].rows if row.kind == "add"] == ["ONE"]
    assert "is out of date: a.txt has changed since" in since.message
    asking.put("a.txt", "one\n")
    assert (is_stale(asking.workspace, change), waiting_count(asking.workspace)) == (False, 1)


def test_two_looks_at_once_do_not_bar_each_other(asking):
    """A wait for the file's lock is not taken for a change of the file: the comparison starts again."""
    asking.put("a.txt", "one\n")
    asking("read_file", path="a.txt")
    change = edit(asking, "one", "two")
    asking.put("a.txt", "ONE\n")
    looking = asking.workspace.for_reader(asking.workspace.reader, waits_in_line=True)
    with ThreadPoolExecutor(1) as pool, asking.workspace.held(change.key), pytest.raises(TimedOut) as busy:
        pool.submit(changed_since, looking, change).result()
    assert busy.value.lock is not None
    [since] = changed_since(looking, change)
    assert "has changed since" in since.message


def test_each_file_of_a_proposal_that_is_another_is_told(asking):
    for name in "abc":
        asking.put(f"{name}.txt", f"one {name}\n")
        asking("read_file", path=f"{name}.txt")
    edits = [{"path": f"{name}.txt", "old_string": "one", "new_string": "two"} for name in "abc"]
    change = asking("edit_file", edits=edits).change
    assert changed_since(asking.workspace, change) == []
    for name in "ac":
        asking.put(f"{name}.txt", f"another {name}\n")
    told = changed_since(asking.workspace, change)
    assert [since.path for since in told] == ["a.txt", "c.txt"]
    assert [row.text for since in told for row in since.diff.hunks[0].rows if row.kind == "add"] == [
        "another a",
        "another c",
    ]


def test_a_proposed_creation_is_stale_once_the_file_is_there(asking):
    change = asking("write_file", path="a.txt", content="x\n").change
    assert not is_stale(asking.workspace, change)
    asking.put("a.txt", "y\n")
    assert is_stale(asking.workspace, change)


def test_both_sides_of_a_change_are_told_while_it_waits_and_while_it_stands(asking):
    journal = Journal(asking.workspace)
    asking.put("a.txt", "\ufeffone\nmore\n")
    asking("read_file", path="a.txt")
    change = edit(asking, "one", "two")
    sides = [side.model_dump() for side in sides_of(asking.workspace, change)]
    assert sides == [{"path": "a.txt", "old": "one\nmore\n", "new": "two\nmore\n"}]
    assert [side.model_dump() for side in sides_of(asking.workspace, journal.approve(change.id))] == sides
    journal.undo(journal.change(change.id), by_person=True)
    with pytest.raises(Conflict):
        sides_of(asking.workspace, journal.change(change.id))
    created = asking("write_file", path="new.txt", content="x\n").change
    assert sides_of(asking.workspace, created)[0].old is None


def test_every_row_of_a_large_overwrite_is_told(asking):
    asking.put("a.txt", "".join(MANY))
    asking("read_file", path="a.txt", limit=5000)
    change = asking("write_file", path="a.txt", content="".join(MANY).upper()).change
    assert change.diff.truncated and {row.kind for hunk in change.diff.hunks for row in hunk.rows} == {"remove"}
    diff = with_all_rows(asking.workspace, change).diff
    rows = [row for hunk in diff.hunks for row in hunk.rows]
    assert not diff.truncated
    assert [row.text for row in rows if row.kind == "add"] == [line.strip().upper() for line in MANY]
    Journal(asking.workspace).approve(change.id)
    applied = with_all_rows(asking.workspace, Journal(asking.workspace).change(change.id))
    assert applied.diff.hunks == diff.hunks
    asking.put("a.txt", "another\n")
    with pytest.raises(Stale):
        with_all_rows(asking.workspace, Journal(asking.workspace).change(change.id))


@pytest.mark.parametrize("name", ["a.txt", "n.ipynb"])
def test_a_long_line_is_told_whole(call, name):
    long = "x" * 5000
    if name == "a.txt":
        call.put(name, "short\n")
        call("read_file", path=name)
        change = call("edit_file", path=name, old_string="short", new_string=long).change
    else:
        cell = {"cell_type": "raw", "id": "a", "metadata": {}, "source": "short"}
        call.put(name, json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        call("read_notebook", path=name)
        change = call("edit_notebook", path=name, cell_id="a", new_source=long).change
    diff = with_all_rows(call.workspace, change).diff
    hunks = diff.hunks if diff.cells is None else diff.cells[0].hunks
    assert [row.text for row in hunks[0].rows if row.kind == "add"] == [long]


@pytest.mark.parametrize("encoding", ["gb18030", "shift_jis", "utf-16"])
@pytest.mark.parametrize("first", ["line\n", "# coding: {}\n"])
@pytest.mark.parametrize("kind", ["create", "overwrite", "edit"])
def test_all_rows_and_both_sides_are_told_in_the_encoding_of_the_change(asking, encoding, first, kind):
    old, new = first.format(encoding) + "日本\n", first.format(encoding) + "日本語\n"
    if kind != "create":
        asking.put("a.txt", old.encode(encoding))
        asking("read_file", path="a.txt", encoding=encoding)
    if kind == "edit":
        change = asking("edit_file", path="a.txt", old_string="日本", new_string="日本語").change
    else:
        change = asking("write_file", path="a.txt", content=new, encoding=encoding).change
    other = asking.session("other", "eve").workspace
    whole = with_all_rows(other, change).diff
    assert whole == change.diff and "日本語" in [row.text for hunk in whole.hunks for row in hunk.rows]
    assert whole.encoding and sides_of(other, change)[0].new == new
    applied = Journal(other).approve(change.id)
    assert asking.got("a.txt").decode(encoding) == new
    assert with_all_rows(other, applied).diff == change.diff and sides_of(other, applied)[0].new == new
    undone = Journal(other).undo(applied, by_person=True)
    assert "日本語" in [row.text for hunk in undone.diff.hunks for row in hunk.rows]


def test_a_text_in_utf8_that_declares_another_encoding_is_told_in_utf8(asking):
    text = "# coding: shift_jis\n日本\n"
    change = asking("write_file", path="a.sh", content=text).change
    assert change.diff.encoding == "shift_jis"
    assert with_all_rows(asking.workspace, change).diff == change.diff
    assert sides_of(asking.workspace, change)[0].new == text


@pytest.mark.parametrize("approval", ["never", "always"])
@pytest.mark.parametrize("name", ["a.txt", "n.ipynb"])
def test_a_stale_undo_or_approval_shows_what_changed_beyond_its_own_lines(make_call, approval, name):
    call = make_call(approval=approval)
    journal = Journal(call.workspace)
    if name == "a.txt":
        call.put(name, "".join(f"line {number}\n" for number in range(60)))
        call("read_file", path=name)
        change = call("edit_file", path=name, old_string="line 3\n", new_string="mine\n").change
    else:
        cells = [{"cell_type": "raw", "id": id, "metadata": {}, "source": f"line 5{id}"} for id in "ab0"]
        call.put(name, json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        call("read_notebook", path=name)
        change = call("edit_notebook", path=name, cell_id="a", new_source="mine").change
    call.put(name, call.got(name).replace(b"line 50", b"theirs"))
    decide = (
        (lambda: journal.undo(change, by_person=True)) if approval == "never" else lambda: journal.approve(change.id)
    )
    with pytest.raises(Stale, match="not modified") as refused:
        decide()
    assert "-line 50\n+theirs" in refused.value.details["diff"]
    assert "mine" not in refused.value.details["diff"]


@pytest.mark.parametrize("way", ["undo by a person", "undo by the session", "approve"])
@pytest.mark.parametrize("name", ["a.txt", "n.ipynb"])
def test_a_stale_undo_or_approval_shows_no_line_that_its_session_was_not_shown(make_call, way, name):
    call = make_call(approval="always" if way == "approve" else "never")
    journal = Journal(call.workspace)
    if name == "a.txt":
        call.put(name, "".join(f"line {number}\n" for number in range(60)))
        call("read_file", path=name, limit=10)
        change = call("edit_file", path=name, old_string="line 3\n", new_string="mine\n").change
    else:
        cells = [{"cell_type": "raw", "id": f"c{n}", "metadata": {}, "source": f"line {n}\n"} for n in range(60)]
        call.put(name, json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        call("read_notebook", path=name, limit=10)
        change = call("edit_notebook", path=name, cell_id="c3", new_source="mine").change
    decide = {
        "undo by a person": lambda: journal.undo(change, by_person=True),
        "undo by the session": lambda: call("undo", change_id=change.id),
        "approve": lambda: journal.approve(change.id),
    }[way]
    unseen = call.got(name).replace(b"line 50", b"secret").replace(b"line 11", b"hidden")
    call.put(name, unseen.replace(b"line 8", b"theirs"))
    with pytest.raises(Stale) as refused:
        decide()
    assert "-line 8\n+theirs" in refused.value.details["diff"]
    call.put(name, unseen)
    with pytest.raises(Stale) as outside:
        decide()
    assert not outside.value.details.get("diff") and outside.value.details["changed"]
    for told in (str(refused.value), str(outside.value), str(refused.value.details), str(outside.value.details)):
        assert not any(text in told for text in ("secret", "hidden", "line 20"))


def rows_of(diff, kind):
    hunks = [hunk for cell in diff.cells for hunk in (*cell.hunks, *cell.carried)]
    return [row.text for hunk in hunks for row in hunk.rows if row.kind == kind]


def test_every_cell_of_a_large_notebook_is_told(asking):
    """More cells than a bounded diff has rows, two with one id and a line that is cut."""
    sources = [f"line {n}" for n in range(4500)] + ["x" * 3000, "harmless", "last"]
    cells = [{"cell_type": "raw", "id": f"c{n}", "metadata": {}, "source": text} for n, text in enumerate(sources)]
    cells[4500]["id"] = cells[4501]["id"] = "twin"
    content = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    change = asking("write_file", path="n.ipynb", content=content).change
    assert change.diff.truncated and len(rows_of(change.diff, "add")) < 4500
    diff = with_all_rows(asking.workspace, change).diff
    assert rows_of(diff, "add") == sources and not diff.truncated


def test_cells_that_are_told_in_another_way_stay_cut(asking):
    """A cell without an id is deleted, and an equal one inserted elsewhere: compared as a whole, it only moves."""
    cells = [{"cell_type": "raw", "metadata": {}, "source": text} for text in ("first", "y" * 1500, "last")]
    asking.put("n.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    asking("read_notebook", path="n.ipynb")
    edits = [
        {"index": 1, "edit_mode": "delete"},
        {"after_index": 2, "edit_mode": "insert", "cell_type": "raw", "new_source": "y" * 1500},
    ]
    change = asking("edit_notebook", path="n.ipynb", edits=edits).change
    assert change.diff.truncated and with_all_rows(asking.workspace, change).diff.truncated


def test_all_of_a_notebook_that_is_written_into_an_empty_file_is_told(asking):
    cell = {"cell_type": "raw", "id": "a", "metadata": {"long": "x" * 3000}, "source": "y"}
    asking.put("n.ipynb", "")
    content = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    change = asking("write_file", path="n.ipynb", content=content).change
    assert change.diff.truncated
    diff = with_all_rows(asking.workspace, change).diff
    assert not diff.truncated
    assert any("x" * 3000 in row.text for row in diff.cells[0].carried[0].rows)
