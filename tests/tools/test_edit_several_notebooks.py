"""edit_notebook edits cells of several notebooks in one call, all or nothing, as one change."""

from __future__ import annotations

import json

import pytest

from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.journal.listing import ChangeQuery
from tests.documents.notebook.samples import code, notebook

NAMES = ["a.ipynb", "b.ipynb", "c.ipynb"]


def put(call, *names):
    for name in names:
        call.put(name, json.dumps(notebook(code("x = 1\n", id="c0"), code("y = 1\n", id="c1")), indent=1))


@pytest.fixture
def books(call):
    """Three notebooks that were read."""
    put(call, *NAMES)
    for name in NAMES:
        call("read_notebook", path=name)
    return call


def edits(*names, **more):
    return [{"path": name, "cell_id": "c0", "new_source": "x = 2"} | more for name in names]


def sources(call, *names):
    return ["".join(json.loads(call.got(name))["cells"][0]["source"]) for name in names or NAMES]


def test_several_notebooks_are_one_change_and_one_undo(books):
    result = books("edit_notebook", edits=edits("c.ipynb", "a.ipynb", "b.ipynb"))
    assert sources(books) == ["x = 2"] * 3
    assert [one["path"] for one in result.data["files"]] == ["c.ipynb", "a.ipynb", "b.ipynb"]
    assert result.text.startswith("Edited 3 notebooks as one change") and "c.ipynb: replaced cell c0" in result.text
    (change,) = Journal(books.workspace).changes(ChangeQuery())
    assert [(file.path, file.diff.kind) for file in change.files] == [(name, "notebook") for name in NAMES]
    books("undo", path="b.ipynb")
    assert sources(books) == ["x = 1\n"] * 3


def test_a_notebook_without_room_for_its_lines_has_no_heading(call):
    names = [f"{number}.ipynb" for number in range(30)]
    put(call, *names)
    for name in names:
        call("read_notebook", path=name)
    edit = {"cell_id": "c0", "edit_mode": "edit", "old_string": "x", "new_string": "y"}
    shown = call("edit_notebook", edits=[{"path": name, **edit} for name in names]).text.split("\n")[1:]
    assert shown[:3] == ["0.ipynb:", "cell c0:", "1\ty = 1"]
    assert len(shown) < 45 and shown[-1] == "..." and shown.count("...") == 1


def test_what_was_edited_may_be_edited_again_in_each_of_them(books):
    for source in ("x = 2", "x = 3"):
        books("edit_notebook", edits=edits(*NAMES, new_source=source))
    assert sources(books) == ["x = 3"] * 3


@pytest.mark.parametrize(
    ("broken", "code_"),
    [
        ({"path": "unread.ipynb", "cell_id": "c0", "new_source": "q"}, "not_read"),
        ({"path": "b.ipynb", "cell_id": "nobody", "new_source": "q"}, "not_found"),
        ({"path": "missing.ipynb", "cell_id": "c0", "new_source": "q"}, "not_found"),
        ({"path": "a.txt", "cell_id": "c0", "new_source": "q"}, "notebook"),
        ({"path": "b.ipynb", "cell_id": "c0", "edit_mode": "edit", "old_string": "no", "new_string": "q"}, "no_match"),
    ],
)
def test_one_refusal_leaves_all_notebooks_as_they_are_and_names_its_edit(books, broken, code_):
    put(books, "unread.ipynb")
    books.put("a.txt", "text\n")
    refusal = books.refused(code_, "edit_notebook", edits=[*edits("a.ipynb"), broken, *edits("c.ipynb")])
    assert broken["path"] in refusal.message and sources(books) == ["x = 1\n"] * 3
    if code_ in ("no_match", "not_read") or broken["cell_id"] == "nobody":
        assert refusal.details["edit"] == 1 and f"{broken['path']}: edit 2 of 3" in refusal.message


def test_what_an_earlier_edit_of_the_call_did_to_the_cell_is_said_as_for_files(books):
    edit = {"path": "b.ipynb", "cell_id": "c0", "edit_mode": "edit", "old_string": "x", "new_string": "y"}
    refusal = books.refused("no_match", "edit_notebook", edits=[*edits("a.ipynb"), edit, edit])
    assert "edit 3 of 3" in refusal.message and "already applied by edit 2 of this call" in refusal.hint
    assert refusal.details["already_applied_by"] == 2
    for first in ({"cell_id": "c0", "new_source": "z"}, edit):
        batch = [{"path": "b.ipynb"} | first, edit | {"old_string": "x = 1"}]
        refusal = books.refused("no_match", "edit_notebook", edits=batch)
        assert refusal.details["reason"] == "changed_by_earlier" and "at line 1" in refusal.hint


def test_an_edit_with_wrong_arguments_is_named_by_its_number(books):
    [good], wrong = edits("a.ipynb"), {"cell_id": "c1", "edit_mode": "edit", "new_source": "z"}
    refusal = books.refused("invalid", "edit_notebook", path="a.ipynb", edits=[good, wrong])
    assert refusal.message.startswith("edit 2 of 2: edit needs old_string") and refusal.details["edit"] == 1
    batch = [*edits("b.ipynb"), good, {"path": "a.ipynb"} | wrong]
    refusal = books.refused("invalid", "edit_notebook", edits=batch)
    assert refusal.message.startswith("a.ipynb: edit 3 of 3: edit needs") and refusal.details["edit"] == 2


def test_a_cell_that_changed_since_refuses_the_whole_call_and_shows_its_diff(books):
    books.put("b.ipynb", books.got("b.ipynb").replace(b"x = 1", b"x = 9"))
    refusal = books.refused("stale", "edit_notebook", edits=edits(*NAMES))
    assert "+x = 9" in refusal.details["diff"] and sources(books, "a.ipynb", "c.ipynb") == ["x = 1\n"] * 2


def test_edits_of_one_notebook_may_stand_apart_and_be_spelled_differently(books):
    given = [*edits("a.ipynb"), *edits("b.ipynb"), *edits("./a.ipynb", cell_id="c1", new_source="y = 2")]
    result = books("edit_notebook", edits=given)
    assert sources(books) == ["x = 2", "x = 2", "x = 1\n"]
    assert "".join(json.loads(books.got("a.ipynb"))["cells"][1]["source"]) == "y = 2"
    assert [len(one["cells"]) for one in result.data["files"]] == [2, 1]


def test_the_path_of_an_edit_wins_over_that_of_the_call_and_one_of_both_is_needed(books):
    books("edit_notebook", path="a.ipynb", edits=[{"cell_id": "c0", "new_source": "x = 2"}, *edits("c.ipynb")])
    assert sources(books) == ["x = 2", "x = 1\n", "x = 2"]
    refusal = books.refused("invalid", "edit_notebook", edits=[*edits("a.ipynb"), {"cell_id": "c0", "new_source": "q"}])
    assert refusal.details["field"] == "edits.1.path"


def test_a_person_approves_all_of_them_at_once(make_call):
    call = make_call(approval="always")
    put(call, *NAMES)
    for name in NAMES:
        call("read_notebook", path=name)
    result = call("edit_notebook", edits=edits(*NAMES))
    assert result.data["status"] == "proposed" and sources(call) == ["x = 1\n"] * 3
    journal = Journal(call.workspace)
    journal.approve(result.change.id)
    assert sources(call) == ["x = 2"] * 3
    journal.undo(journal.change(result.change.id), by_person=True)
    assert sources(call) == ["x = 1\n"] * 3
