"""Cells are changed through the gate: only those that were shown, as they were shown, and nothing else of the file."""

import difflib
import hashlib
import json
import os
import re
import subprocess

import nbformat
import pytest

from jupyter_fstools.documents.notebook import NotebookDocument
from jupyter_fstools.journal.journal import Journal
from jupyter_fstools.stores.records import Reader
from jupyter_fstools.stores.sqlite import SqliteStore
from tests.documents.notebook import samples
from tests.documents.notebook.samples import code, jupyterlab, markdown, notebook, raw

PATH = "book.ipynb"


@pytest.fixture
def book(call):
    """A notebook of four cells that was read."""
    return read(call)


def read(call, *cells, **more):
    cells = cells or (markdown("# A"), code("x = 1\ny = 1"), raw("r"), code("z"))
    call.put(PATH, jupyterlab(notebook(*cells, **more)))
    call("read_notebook", path=PATH)
    return call


def cells_of(call):
    return json.loads(call.got(PATH))["cells"]


def sources(call):
    return ["".join(cell["source"]) for cell in cells_of(call)]


def outsider(call, old, new):
    """Save the notebook with other text in it, as an outsider."""
    data = call.got(PATH)
    assert old.encode() in data
    call.put(PATH, data.replace(old.encode(), new.encode()))


def insert(source, **place):
    return {"edit_mode": "insert", "cell_type": "code", "new_source": source} | place


def test_raw_text_writes_and_edits_of_notebooks_name_the_notebook_tool(book):
    assert "edit_notebook" in book.refused("notebook", "edit_file", path=PATH, old_string="z", new_string="q").hint
    assert "edit_notebook" in book.refused("notebook", "write_file", path=PATH, content="{}").hint


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        ({"edit_mode": "move", "at": "end", "new_source": "q"}, "new_source"),
        ({"new_source": "q", "replace_all": True}, "replace_all"),
        ({"edit_mode": "clear_outputs", "replace_all": True}, "replace_all"),
        ({"old_string": "x = 1", "new_string": "q", "cell_type": "markdown"}, "cell_type"),
        ({"edit_mode": "move", "at": "end", "cell_type": "raw"}, "cell_type"),
    ],
)
def test_an_argument_that_the_mode_does_not_use_is_refused(book, edit, field):
    """The caller means something else than what would be done."""
    before = book.got(PATH)
    assert book.refused("invalid", "edit_notebook", path=PATH, cell_id="c1", **edit).details["field"] == field
    assert book.got(PATH) == before


@pytest.mark.parametrize("source", ["", "x = 1"])
def test_a_deletion_may_have_the_other_arguments_of_its_clients_form(book, source):
    always = {"new_source": source, "old_string": "", "new_string": "", "replace_all": False, "cell_type": "code"}
    book("edit_notebook", path=PATH, cell_id="c1", edit_mode="delete", **always)
    assert len(cells_of(book)) == 3


def test_no_fingerprint_of_a_former_content_is_given(book):
    """Others may have changed other cells since, of which the session's receipt says nothing."""
    former = book("edit_notebook", path=PATH, cell_id="c1", new_source="x = 2").data["fingerprint"]
    outsider(book, "# A", "# B")
    there_and_back = [
        {"cell_id": "c1", "edit_mode": "edit", "old_string": "2", "new_string": "3"},
        {"cell_id": "c1", "edit_mode": "edit", "old_string": "3", "new_string": "2"},
    ]
    answer = book("edit_notebook", path=PATH, edits=there_and_back)
    assert not answer.data["changed"] and answer.data["fingerprint"] != former


def test_only_the_touched_cells_bytes_change(book):
    before = book.got(PATH).decode().splitlines()
    result = book("edit_notebook", path=PATH, cell_id="c1", new_source="x = 2\ny = 1")
    changed = [row for row in difflib.ndiff(before, book.got(PATH).decode().splitlines()) if row[0] in "+-"]
    assert '-     "x = 1\\n",' in changed and '+     "x = 2\\n",' in changed
    assert '+    "execution_count": null,'[1:].strip() in " ".join(changed)
    assert cells_of(book)[1]["outputs"] == [] and cells_of(book)[3]["outputs"] == [samples.STREAM]
    assert result.data["cells"] == [{"cell_id": "c1", "index": 1, "edit_mode": "replace"}]
    book("edit_notebook", path=PATH, cell_id="c1", new_source="x = 3")


def test_outputs_stay_when_asked(book):
    book("edit_notebook", path=PATH, cell_id="c1", new_source="new", keep_outputs=True)
    assert cells_of(book)[1]["outputs"] == [samples.STREAM]


def test_a_cell_that_was_never_shown_is_refused(call):
    call.put(PATH, jupyterlab(notebook(code("a"), code("b"))))
    call.refused("not_read", "edit_notebook", path=PATH, cell_id="c1", new_source="x")
    call("read_notebook", path=PATH, cell_id="c0")
    refusal = call.refused("not_read", "edit_notebook", path=PATH, cell_id="c1", new_source="x")
    assert refusal.details["cell_id"] == "c1"
    call("edit_notebook", path=PATH, cell_id="c0", new_source="x")
    call.refused("not_read", "edit_notebook", path=PATH, cell_id="c1", new_source="x")


def test_looking_at_an_output_shows_no_source(call):
    call.put(PATH, jupyterlab(notebook(code("needle"))))
    call("read_notebook", path=PATH, cell_id="c0", output_index=0)
    call.refused("not_read", "edit_notebook", path=PATH, cell_id="c0", new_source="x")


def test_another_reader_has_to_read_too(book):
    book.session("other").refused("not_read", "edit_notebook", path=PATH, cell_id="c1", new_source="x")


def test_the_same_cell_changed_by_somebody_else_is_refused_with_its_diff(book):
    outsider(book, "x = 1", "x = 100")
    for edit in ({"new_source": "q"}, {"edit_mode": "delete"}, {"edit_mode": "convert", "cell_type": "raw"}):
        refusal = book.refused("stale", "edit_notebook", path=PATH, cell_id="c1", **edit)
        assert refusal.details["diff"] == "@@ -1,2 +1,2 @@\n-x = 1\n+x = 100\n y = 1"
    book("read_notebook", path=PATH, cell_id="c1")
    book("edit_notebook", path=PATH, cell_id="c1", new_source="q")


@pytest.mark.parametrize(("old", "new"), [("x = 1", "x = 1\r"), ("x = 1\n", "x = 1\r\r\n")])
def test_a_line_ending_alone_is_no_change_of_a_cell(book, old, new):
    edit = {"edit_mode": "edit", "old_string": old, "new_string": new}
    refusal = book.refused("no_op", "edit_notebook", path=PATH, cell_id="c1", **edit)
    assert "differ only in line endings" in refusal.message


def test_a_final_newline_that_somebody_else_removed_is_in_the_diff(call):
    outsider(read(call, code("x = 1\ny = 1\n")), "y = 1\\n", "y = 1")
    refusal = call.refused("stale", "edit_notebook", path=PATH, cell_id="c0", new_source="q")
    assert refusal.details["diff"].endswith(" x = 1\n-y = 1\n+y = 1\n\\ No newline at end of file")


def test_a_type_that_somebody_else_changed_is_told_in_words(book):
    outsider(book, '"raw"', '"markdown"')
    refusal = book.refused("stale", "edit_notebook", path=PATH, cell_id="c2", new_source="q")
    assert "it was a raw cell and is a markdown cell; its source is the same" in refusal.message
    assert refusal.details["changed"] == "cell_type" and "Look at" not in refusal.hint


def test_a_change_behind_the_lines_that_were_shown_of_a_cell_is_told_in_words(call):
    source = "".join(f"line {number} {'x' * 90}\n" for number in range(5000))
    outsider(read(call, code(source)), "line 4900", "LINE 4900")
    refusal = call.refused("stale", "edit_notebook", path=PATH, cell_id="c0", new_source="q")
    assert refusal.details["changed"] == "outside_shown_lines" and "outside the lines" in refusal.message


@pytest.mark.parametrize("theirs", [{10}, {10, 3500}])
def test_a_change_in_lines_of_a_cell_that_were_shown_and_not_kept_is_not_told_as_none(call, theirs):
    """Rule 2 of the gate: the receipt is renewed only by a diff that has shown the cell as it is now."""
    lines = [f"line {number} {hashlib.sha256(b'%d' % number).hexdigest()}\n" for number in range(5000)]
    call.put(PATH, jupyterlab(notebook(code("".join(lines)))))
    call("read_notebook", path=PATH, cell_id="c0", source_offset=2501)
    call("read_notebook", path=PATH, cell_id="c0", source_limit=2500)
    now = ["theirs\n" if number in theirs else line for number, line in enumerate(lines)]
    call.put(PATH, jupyterlab(notebook(code("".join(now)))))
    edit = {"edit_mode": "edit", "cell_id": "c0", "old_string": lines[3000], "new_string": "mine\n"}
    for _ in range(2):
        refusal = call.refused("stale", "edit_notebook", path=PATH, **edit)
        assert refusal.details.get("changed") == ("unknown" if theirs == {10} else None)
        assert "ead the cell again" in refusal.hint


def test_lines_of_a_cell_that_moved_are_not_told_as_changed(call):
    lines = "".join(f"line {number}\n" for number in range(1, 60))
    call.put(PATH, jupyterlab(notebook(code(lines))))
    call("read_notebook", path=PATH, cell_id="c0", source_offset=40, source_limit=5)
    call.put(PATH, jupyterlab(notebook(code("import os\n" + lines))))
    edit = {"edit_mode": "edit", "old_string": "line 42\n", "new_string": "x\n"}
    refusal = call.refused("stale", "edit_notebook", path=PATH, cell_id="c0", **edit)
    assert refusal.details["changed"] == "outside_shown_lines"


def test_another_cell_changed_by_somebody_else_is_no_reason_to_refuse(book):
    outsider(book, '"z"', '"other"')
    book("edit_notebook", path=PATH, cell_id="c1", new_source="q")
    assert sources(book) == ["# A", "q", "r", "other"]
    book.refused("stale", "edit_notebook", path=PATH, cell_id="c3", new_source="q")


def test_outputs_that_a_kernel_saves_are_no_reason_to_refuse(book):
    saved = nbformat.read(book.root / PATH, as_version=4)
    saved.cells[1].outputs = [nbformat.v4.new_output("stream", text="new\n")]
    saved.cells[1].execution_count = 8
    nbformat.write(saved, book.root / PATH)
    book("edit_notebook", path=PATH, cell_id="c1", new_source="q", keep_outputs=True)
    assert cells_of(book)[1]["outputs"][0]["text"] == ["new\n"]


def test_after_reordering_cells_are_named_by_id_and_not_by_index(book):
    told = json.loads(book.got(PATH))
    told["cells"].reverse()
    book.put(PATH, jupyterlab(told))
    assert "order" in book.refused("stale", "edit_notebook", path=PATH, index=1, new_source="q").message
    book.refused("stale", "edit_notebook", path=PATH, **insert("q", after_index=1))
    book("edit_notebook", path=PATH, cell_id="c1", new_source="q")
    assert sources(book) == ["z", "r", "q", "# A"]
    book.refused("stale", "edit_notebook", path=PATH, index=0, new_source="w")
    book("read_notebook", path=PATH)
    book("edit_notebook", path=PATH, index=0, new_source="w")
    assert sources(book) == ["w", "r", "q", "# A"]


def test_an_index_of_a_cell_that_was_not_seen_in_the_new_order_is_refused(book):
    told = json.loads(book.got(PATH))
    told["cells"].reverse()
    book.put(PATH, jupyterlab(told))
    book("read_notebook", path=PATH, index=0)
    book.refused("not_read", "edit_notebook", path=PATH, index=1, new_source="q")
    book("edit_notebook", path=PATH, index=0, new_source="q")


def test_own_changes_of_the_order_keep_indexes_usable(book):
    book("edit_notebook", path=PATH, **insert("new", at="start"))
    book("edit_notebook", path=PATH, edit_mode="delete", index=1)
    book("edit_notebook", path=PATH, edit_mode="move", index=0, at="end")
    book("edit_notebook", path=PATH, index=3, new_source="newer")
    assert sources(book) == ["x = 1\ny = 1", "r", "z", "newer"]


def test_an_insert_needs_the_notebook_read_but_not_the_cell_beside_it(call):
    call.put(PATH, jupyterlab(notebook(code("a"), code("b"))))
    call.refused("not_read", "edit_notebook", path=PATH, **insert("n", at="end"))
    call("read_notebook", path=PATH, cell_id="c0")
    call("edit_notebook", path=PATH, **insert("n", after="c1"))
    call.refused("not_read", "edit_notebook", path=PATH, **insert("n", after_index=1))
    call.refused("not_found", "edit_notebook", path=PATH, **insert("n", after="c7"))
    assert sources(call) == ["a", "b", "n"]


@pytest.mark.parametrize("top", [{"nbformat": 3, "cells": []}, {"nbformat": 4, "cells": {}}, {"nbformat": 4}])
def test_what_can_only_be_read_is_refused_at_once_with_the_reason(call, top):
    """To read it, or to insert a cell into it first, would be in vain."""
    call.put(PATH, json.dumps(top | {"metadata": {}}))
    given = {"path": PATH, "index": 0, "new_source": "n"}
    unread = call.refused("notebook", "edit_notebook", **given)
    call("read_notebook", path=PATH)
    assert call.refused("notebook", "edit_notebook", **given).hint == unread.hint


def test_an_index_is_not_read_where_only_an_insert_was_made(call):
    """Nothing was read, so that no order can have changed since."""
    call.put(PATH, jupyterlab(notebook(code("a"), code("b"))))
    call("edit_notebook", path=PATH, **insert("n", after="c0"))
    refusal = call.refused("not_read", "edit_notebook", path=PATH, **insert("n", after_index=0))
    assert "present order" in refusal.message and sources(call) == ["a", "n", "b"]


def test_an_inserted_cell_is_known_to_who_inserted_it(book):
    (cell,) = book("edit_notebook", path=PATH, **insert("new", after="c0")).data["cells"]
    assert cell["index"] == 1
    book("edit_notebook", path=PATH, cell_id=cell["cell_id"], new_source="newer")
    assert sources(book)[1] == "newer"
    nbformat.validate(json.loads(book.got(PATH)))


def test_old_string_becomes_new_string_inside_a_cell(book):
    edit = {"edit_mode": "edit", "cell_id": "c1", "old_string": "y = 1", "new_string": "y = 2\nw = 3"}
    result = book("edit_notebook", path=PATH, **edit)
    assert sources(book)[1] == "x = 1\ny = 2\nw = 3"
    assert result.data["snippet"] == "cell c1:\n1\tx = 1\n2\ty = 2\n3\tw = 3"
    long = book("edit_notebook", path=PATH, **(edit | {"old_string": "w = 3", "new_string": "w" * 1500}))
    assert long.data["snippet"].endswith(f"\n3\t{'w' * 200} [... more characters]")
    book("undo", path=PATH)
    book.refused("no_match", "edit_notebook", path=PATH, **edit)
    book.refused("ambiguous", "edit_notebook", path=PATH, **(edit | {"old_string": " = "}))
    book("edit_notebook", path=PATH, **(edit | {"old_string": " = ", "new_string": "=", "replace_all": "true"}))
    assert sources(book)[1] == "x=1\ny=2\nw=3"


def test_a_cut_line_of_a_cell_with_its_marker_is_answered_with_that(call):
    call.put(PATH, jupyterlab(notebook(code("x" * 5000))))
    shown = call("read_notebook", path=PATH).text.split("\n")[2].split("\t")[1]
    edit = {"path": PATH, "edit_mode": "edit", "cell_id": "c0", "old_string": shown, "new_string": "y"}
    assert call.refused("no_match", "edit_notebook", **edit).details["reason"] == "truncated_line"


def test_the_answer_shows_no_line_after_a_final_newline(call):
    """`read_notebook` counts two lines; a cell that becomes empty has none."""
    call.put(PATH, jupyterlab(notebook(code("x\ny\n"))))
    call("read_notebook", path=PATH)
    edit = {"path": PATH, "edit_mode": "edit", "cell_id": "c0"}
    assert call("edit_notebook", **edit, old_string="y", new_string="z").data["snippet"] == "cell c0:\n1\tx\n2\tz"
    assert call("edit_notebook", **edit, old_string="x\nz\n", new_string="").data["snippet"] == ""


def test_a_part_of_a_long_cell_opens_its_edit_but_not_its_replacement(call):
    call.put(PATH, jupyterlab(notebook(code("".join(f"line {number}\n" for number in range(100))))))
    call("read_notebook", path=PATH, cell_id="c0", source_offset=1, source_limit=10)
    for edit in ({"new_source": "q"}, {"edit_mode": "delete"}):
        assert call.refused("not_read", "edit_notebook", path=PATH, cell_id="c0", **edit).details["lines"] == [(1, 10)]
    edit = {"edit_mode": "edit", "cell_id": "c0", "new_string": "changed"}
    assert not call("edit_notebook", path=PATH, old_string="line 5\n", **edit).data["outside_shown_lines"]
    call("read_notebook", path=PATH, cell_id="c0", source_limit=10)


def test_an_edit_outside_the_lines_shown_is_said_or_refused(make_call):
    for strict in (False, True):
        call = make_call(refuse_unseen_edits=strict)
        call.put(PATH, jupyterlab(notebook(code("".join(f"line {number}\n" for number in range(100))))))
        call.workspace.tracker.forget()
        call("read_notebook", path=PATH, cell_id="c0", source_limit=10)
        edit = {"edit_mode": "edit", "cell_id": "c0", "old_string": "line 50\n", "new_string": "q\n"}
        if strict:
            assert call.refused("not_read", "edit_notebook", path=PATH, **edit).details["lines"] == [51]
        else:
            result = call("edit_notebook", path=PATH, **edit)
            assert result.data["outside_shown_lines"] and "line 51 of cell c0 had not been shown" in result.text


@pytest.mark.parametrize("earlier", [None, "line 3\na\nb\n", "3\n"])
@pytest.mark.parametrize("later", [None, {"edit_mode": "convert", "cell_type": "raw"}])
def test_an_edit_that_takes_no_unseen_line_away_is_outside_the_lines_shown_too(make_call, earlier, later):
    call = make_call(refuse_unseen_edits=True)
    call.put(PATH, jupyterlab(notebook(code("".join(f"line {number}\n" for number in range(100))))))
    call("read_notebook", path=PATH, cell_id="c0", source_limit=10)
    edits = [{"old_string": "line 3\n", "new_string": earlier}] if earlier else []
    edits += [{"old_string": "line 50\n", "new_string": "line 50\nq\n"}, *([later] if later else [])]
    told = [{"edit_mode": "edit", "cell_id": "c0"} | edit for edit in edits]
    assert call.refused("not_read", "edit_notebook", path=PATH, edits=told).details["lines"] == [51]
    call("read_notebook", path=PATH, cell_id="c0", source_offset=51, source_limit=1)
    assert not call("edit_notebook", path=PATH, edits=told).data["outside_shown_lines"]


@pytest.mark.parametrize("step", ["edit", "convert", "edit and undo"])
def test_an_own_step_shows_no_more_of_a_cell_than_it_wrote(make_call, step):
    """Rule 4 of the gate: what was shown stays shown, and what was written is added."""
    call = make_call(refuse_unseen_edits=True)
    call.put(PATH, jupyterlab(notebook(code("".join(f"line {number}\n" for number in range(50))))))
    call("read_notebook", path=PATH, cell_id="c0", source_limit=10)
    cell = {"path": PATH, "cell_id": "c0"}
    if step == "convert":
        call("edit_notebook", edit_mode="convert", cell_type="markdown", **cell)
    else:
        call("edit_notebook", edit_mode="edit", old_string="line 3\n", new_string="3a\n3b\n", **cell)
        if "undo" in step:
            call("undo", path=PATH)
    assert call.refused("not_read", "edit_notebook", new_source="gone", **cell).details["lines"][0][0] == 1
    edit = {"edit_mode": "edit", "old_string": "line 40\n", "new_string": "q\n"}
    call.refused("not_read", "edit_notebook", **edit, **cell)
    call("edit_notebook", **{**edit, "old_string": "line 9\n"}, **cell)
    call("read_notebook", path=PATH, cell_id="c0", source_offset=10)
    call("edit_notebook", new_source="gone", **cell)


@pytest.mark.parametrize("by_person", [True, False])
@pytest.mark.parametrize("more", [[], [{"edit_mode": "move", "index": 0, "at": "end"}]])
def test_an_approval_and_an_undo_show_no_more_of_a_cell_without_id(make_call, by_person, more):
    """Cells that come or go beside it hide which cell it was."""
    call = make_call(approval=["*"] if by_person else [])
    call.put(PATH, jupyterlab(notebook(code("".join(f"line {number}\n" for number in range(50))), code("b"), minor=4)))
    call("read_notebook", path=PATH, index=0, source_limit=10)
    edit = {"edit_mode": "edit", "index": 0, "old_string": "line 5\n", "new_string": "five\n"}
    change = call("edit_notebook", path=PATH, edits=[edit, *more, insert("new", at="start")]).change
    if by_person:
        Journal(call.workspace.for_reader(Reader("grace", "person"))).approve(change.id)
    else:
        call("undo", path=PATH)
    shown = call.session("other")("read_notebook", path=PATH).data["cells"]
    (cell_id,) = (cell["cell_id"] for cell in shown if "line 4\n" in cell["source"])
    call.refused("not_read", "edit_notebook", path=PATH, cell_id=cell_id, new_source="gone")


@pytest.mark.parametrize("step", ["edit", "replace_all", "edit and undo"])
def test_an_own_step_shows_no_line_of_a_cell_of_which_it_wrote_a_part(call, step):
    call.put(PATH, jupyterlab(notebook(code("a = 1\n" + "b = 1; " + "x" * 3000))))
    cell = {"path": PATH, "cell_id": "c0"}
    call("read_notebook", **cell)
    everywhere = {"old_string": "= 1", "new_string": "= 2", "replace_all": True}
    edit = everywhere if step == "replace_all" else {"old_string": "b = 1", "new_string": "b = 2"}
    call("edit_notebook", edit_mode="edit", **edit, **cell)
    if "undo" in step:
        call("undo", path=PATH)
    assert call.refused("not_read", "edit_notebook", edit_mode="delete", **cell).details["lines"] == [(1, 1)]
    call("read_notebook", **cell)
    call("read_notebook", source_offset=2, source_column=2001, **cell)
    call("edit_notebook", edit_mode="delete", **cell)


def test_the_pieces_of_a_line_are_all_of_it_though_another_line_was_edited_between(call):
    call.put(PATH, jupyterlab(notebook(code("a = 1\n" + "b = 1; " + "x" * 3000))))
    cell = {"path": PATH, "cell_id": "c0"}
    call("read_notebook", **cell)
    call("edit_notebook", edit_mode="edit", old_string="a = 1", new_string="a = 2\nc = 1", **cell)
    call("read_notebook", source_offset=3, source_column=2001, **cell)
    call("edit_notebook", edit_mode="delete", **cell)


@pytest.mark.parametrize("next_step", ["edit", "grep", "read_notebook"])
@pytest.mark.parametrize("edit_mode", ["replace", "delete"])
def test_a_cell_of_which_a_diff_was_shown_is_not_overwritten(call, edit_mode, next_step):
    """Rule 2 of the gate: until it is shown again."""
    lines, cell = [f"line {number}\n" for number in range(1, 31)], {"path": PATH, "cell_id": "c0"}
    call.put(PATH, jupyterlab(notebook(code("".join(lines)))))
    call("read_notebook", **cell)
    call.put(PATH, jupyterlab(notebook(code("".join([*lines[:20], "theirs\n", *lines[20:]])))))
    edit = {"edit_mode": "edit", "old_string": "line 3\n", "new_string": "three\n", **cell}
    call.refused("stale", "edit_notebook", **edit)
    if next_step == "edit":
        call("edit_notebook", **edit)
    elif next_step == "grep":
        call("grep", path=PATH, pattern="line 3$")
    else:
        call("read_notebook", source_offset=3, source_limit=1, **cell)
    overwrite = {"edit_mode": edit_mode, **({"new_source": "gone"} if edit_mode == "replace" else {}), **cell}
    refusal = call.refused("not_read", "edit_notebook", **overwrite)
    assert refusal.details["lines"] == [(3, 3)] and "diff" in refusal.hint
    call("read_notebook", source_limit=10, **cell)
    call("read_notebook", source_offset=11, **cell)
    call("edit_notebook", **overwrite)


def test_windows_of_a_cell_add_up(call):
    call.put(PATH, jupyterlab(notebook(code("a\nb\nc\nd"))))
    call("read_notebook", path=PATH, cell_id="c0", source_limit=2)
    call("read_notebook", path=PATH, cell_id="c0", source_offset=3)
    call("edit_notebook", path=PATH, cell_id="c0", new_source="q")


def test_text_cells_get_no_outputs_and_convert_both_ways(book):
    book("edit_notebook", path=PATH, cell_id="c0", new_source="# B")
    assert cells_of(book)[0] == markdown(["# B"], id="c0")
    book("edit_notebook", path=PATH, edit_mode="convert", cell_id="c0", cell_type="code")
    assert cells_of(book)[0] == code(["# B"], id="c0", outputs=[], execution_count=None)
    book("edit_notebook", path=PATH, edit_mode="convert", cell_id="c0", cell_type="markdown")
    assert cells_of(book)[0] == markdown(["# B"], id="c0")
    assert book.refused("no_op", "edit_notebook", path=PATH, edit_mode="convert", cell_id="c2", cell_type="raw")


@pytest.mark.parametrize("stray", [5, [{"output_type": "stream", "name": "stdout", "text": "x"}]])
def test_a_text_cell_s_stray_outputs_are_none_of_the_code_cell_that_it_becomes(call, stray):
    read(call, markdown("a", id="m", outputs=stray, execution_count="In"))
    call("edit_notebook", path=PATH, edit_mode="convert", cell_id="m", cell_type="code")
    assert cells_of(call)[0] == code(["a"], id="m", outputs=[], execution_count=None)


@pytest.mark.parametrize("edit", [{"new_source": "b"}, {"edit_mode": "clear_outputs"}])
def test_an_edit_that_clears_it_mends_an_execution_count_that_is_none(call, edit):
    read(call, code("a", id="c", execution_count="In"))
    call("edit_notebook", path=PATH, cell_id="c", **edit)
    assert cells_of(call)[0]["execution_count"] is None


def nested(depth):
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    "member",
    [
        {"source": "a\ud83d"},
        {"metadata": {"name": "\ud83d"}},
        {"outputs": [{"output_type": "stream", "name": "stdout", "text": "a\ud83d"}]},
        {"outputs": [{"output_type": "display_data", "metadata": {}, "data": {"application/json": nested(300)}}]},
        {"metadata": {"deep": nested(300)}},
    ],
)
@pytest.mark.parametrize("edit", [{"new_source": "b"}, {"edit_mode": "delete"}])
def test_a_cell_that_no_strict_json_holds_is_edited_and_given_back(call, member, edit):
    call.put(PATH, json.dumps(notebook(code("x", id="c") | member, code("y", id="d"))))
    call("read_notebook", path=PATH)
    before = call.got(PATH)
    call("edit_notebook", path=PATH, cell_id="c", **edit)
    assert call.got(PATH) != before
    call("undo", path=PATH)
    assert call.got(PATH) == before


def test_ids_are_exact_and_duplicates_are_named_by_index(call):
    read(call, code("a", id="1"), code("b", id="x"), code("c", id="x"), code("d", id="y"))
    assert call.refused("ambiguous", "edit_notebook", path=PATH, cell_id="x", new_source="q").details["indexes"] == [
        1,
        2,
    ]
    call("edit_notebook", path=PATH, cell_id="1", new_source="A")
    call("edit_notebook", path=PATH, index=2, new_source="C")
    assert sources(call) == ["A", "b", "C", "d"]
    outsider(call, '"b"', '"B"')
    call.refused("stale", "edit_notebook", path=PATH, index=1, new_source="q")
    call("edit_notebook", path=PATH, index="2", new_source="CC")
    assert [cell["id"] for cell in cells_of(call)] == ["1", "x", "x", "y"]


def test_an_unknown_id_is_refused_with_the_ids_there_are(book):
    assert "c1  x = 1" in book.refused("not_found", "edit_notebook", path=PATH, cell_id="nope", edit_mode="delete").hint


def test_an_insert_without_a_place_is_refused_and_one_with_a_cell_id_lands_after_it(book):
    book.refused("invalid", "edit_notebook", path=PATH, **insert("n"))
    book.refused("invalid", "edit_notebook", path=PATH, **insert("n", at="end", after="c0"))
    book("edit_notebook", path=PATH, **insert("n", cell_id="c0"))
    assert sources(book)[:2] == ["# A", "n"]


def test_inserts_land_where_they_are_said_to(call):
    read(call, code("only"))
    call("edit_notebook", path=PATH, edit_mode="delete", cell_id="c0")
    assert cells_of(call) == []
    assert call("edit_notebook", path=PATH, **insert("first", at="start")).data["cells"][0]["index"] == 0
    (cell,) = call("edit_notebook", path=PATH, **insert("last", at="end")).data["cells"]
    call("edit_notebook", path=PATH, **insert("between", before=cell["cell_id"]))
    assert sources(call) == ["first", "between", "last"]


def test_a_batch_is_resolved_before_it_and_keeps_the_order_of_inserts(book):
    edits = [
        insert("one", after="c0"),
        insert("two", after="c0"),
        {"edit_mode": "delete", "index": 2},
        {"cell_id": "c3", "new_source": "Z"},
        insert("three", after_index=0),
    ]
    result = book("edit_notebook", path=PATH, edits=edits)
    assert sources(book) == ["# A", "one", "two", "three", "x = 1\ny = 1", "Z"]
    assert [cell["index"] for cell in result.data["cells"]] == [1, 2, 2, 5, 3]
    assert result.data["total_cells"] == 6


def test_one_bad_edit_leaves_everything_as_it_was(book):
    before = book.got(PATH)
    good = {"cell_id": "c0", "new_source": "B"}
    for bad, codename in (
        ({"cell_id": "nope", "edit_mode": "delete"}, "not_found"),
        ({"cell_id": "c3", "new_source": "z"}, "no_op"),
        ({"cell_id": "c1", "edit_mode": "edit", "old_string": "q", "new_string": "w"}, "no_match"),
        ({"index": 9, "edit_mode": "delete"}, "out_of_range"),
    ):
        refusal = book.refused(codename, "edit_notebook", path=PATH, edits=[good, bad])
        assert refusal.message.startswith("edit 2 of 2: ")
    assert book.got(PATH) == before
    outsider(book, '"z"', '"other"')
    stale = book.refused("stale", "edit_notebook", path=PATH, edits=[good, {"cell_id": "c3", "new_source": "q"}])
    assert stale.details["edit"] == 1


def test_moving_keeps_id_and_outputs(book):
    moved = cells_of(book)[1]
    result = book("edit_notebook", path=PATH, edit_mode="move", cell_id="c1", at="end")
    assert cells_of(book)[3] == moved
    assert [(cell.action, cell.index) for cell in result.change.diff.cells] == [("move", 3)]
    book("edit_notebook", path=PATH, cell_id="c1", new_source="q")


@pytest.mark.parametrize(
    "source", [json.dumps(notebook(code("x"))), "# ... existing code ...", "a\n# ... rest of the code unchanged ...\n"]
)
def test_notebook_json_and_placeholders_are_no_source(book, source):
    assert book.refused("invalid", "edit_notebook", path=PATH, cell_id="c1", new_source=source).details["field"] == (
        "new_source"
    )


def test_what_cannot_be_edited_is_refused_and_the_rest_is_not(call):
    call.put("old.ipynb", json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [{"cell_type": "code",
             "input": "x", "outputs": []}]}]}))  # fmt: skip
    call("read_notebook", path="old.ipynb")
    assert call.refused("notebook", "edit_notebook", path="old.ipynb", index=0, new_source="q").details["nbformat"] == 3
    call.put(PATH, json.dumps(notebook(code("a"), {"cell_type": "code", "id": "bare"})))
    call("read_notebook", path=PATH)
    call.refused("notebook", "edit_notebook", path=PATH, cell_id="bare", new_source="q")
    call("edit_notebook", path=PATH, cell_id="c0", new_source="q")
    call("edit_notebook", path=PATH, cell_id="bare", edit_mode="delete")


def test_only_notebooks_are_edited_as_such(call):
    call.put("a.py", "x")
    call("read_file", path="a.py")
    call.refused("notebook", "edit_notebook", path="a.py", cell_id="c0", new_source="q")
    call.put("BOOK.IPYNB", jupyterlab(notebook(code("a"))))
    call("read_notebook", path="BOOK.IPYNB")
    call("edit_notebook", path="BOOK.IPYNB", cell_id="c0", new_source="q")


def test_attachments_survive(call):
    attachments = {"i.png": {"image/png": "iVBORw0KGgo="}}
    read(call, markdown("![](attachment:i.png)", attachments=attachments))
    call("edit_notebook", path=PATH, cell_id="c0", new_source="text ![](attachment:i.png)")
    call("edit_notebook", path=PATH, cell_id="c0", edit_mode="convert", cell_type="raw")
    assert cells_of(call)[0]["attachments"] == attachments
    call.refused("invalid", "edit_notebook", path=PATH, cell_id="c0", edit_mode="convert", cell_type="code")


def test_identical_source_changes_nothing(book):
    stat = (book.root / PATH).stat()
    book.refused("no_op", "edit_notebook", path=PATH, cell_id="c1", new_source="x = 1\ny = 1")
    there = {"edit_mode": "edit", "cell_id": "c1", "old_string": "x", "new_string": "q", "keep_outputs": True}
    result = book("edit_notebook", path=PATH, edits=[there, there | {"old_string": "q", "new_string": "x"}])
    assert result.change is None and result.data["status"] == "unchanged"
    assert (book.root / PATH).stat().st_mtime_ns == stat.st_mtime_ns


def test_a_newer_paired_file_is_named(call):
    read(call, code("a"), jupytext={"formats": "ipynb,py:percent"})
    call.put("book.py", "# %%\na\n")
    os.utime(call.root / "book.py", (2**33, 2**33))
    result = call("edit_notebook", path=PATH, cell_id="c0", new_source="b")
    assert result.data["newer_pair"] == "book.py" and "book.py" in result.text
    os.utime(call.root / "book.py", (1, 1))
    assert call("edit_notebook", path=PATH, cell_id="c0", new_source="c").data["newer_pair"] is None


def test_the_change_is_told_cell_by_cell(book):
    edits = [{"cell_id": "c1", "new_source": "x = 1\ny = 2"}, {"cell_id": "c2", "edit_mode": "delete"}]
    diff = book("edit_notebook", path=PATH, edits=edits).change.diff
    assert (diff.kind, diff.op, diff.hunks, diff.added, diff.removed) == ("notebook", "edit", [], 1, 2)
    assert [(cell.cell_id, cell.index, cell.action) for cell in diff.cells] == [("c1", 1, "edit"), ("c2", 2, "delete")]
    assert [row.text for row in diff.cells[0].hunks[0].rows] == ["x = 1", "y = 1", "y = 2"]


def test_the_change_names_the_language_of_the_code(call):
    read(call, code("a"), kernelspec={"name": "ir", "display_name": "R", "language": "R"})
    change = call("edit_notebook", path=PATH, cell_id="c0", new_source="b").change
    undone = call("undo", path=PATH).change
    assert (change.diff.language, undone.diff.language) == ("R", "R")


def test_a_huge_diff_is_bounded(call):
    read(call, code("".join(f"{number}\n" for number in range(10_000))))
    diff = call("edit_notebook", path=PATH, cell_id="c0", edit_mode="delete").change.diff
    assert diff.truncated and diff.removed >= 10_000
    assert sum(len(hunk.rows) for cell in diff.cells for hunk in cell.hunks) == 4000


@pytest.mark.parametrize("style", samples.STYLES)
def test_undo_gives_the_exact_bytes_back_and_tells_it_by_cells(call, style):
    call.put(PATH, style(notebook(markdown("# A"), code("x = 1"), raw("r"), code("z"))))
    call("read_notebook", path=PATH)
    before = call.got(PATH)
    edits = [
        {"cell_id": "c1", "new_source": "y"},
        {"cell_id": "c2", "edit_mode": "delete"},
        {"cell_id": "c0", "edit_mode": "move", "at": "end"},
        insert("new", at="start"),
        {"cell_id": "c3", "edit_mode": "clear_outputs"},
    ]
    call("edit_notebook", path=PATH, edits=edits)
    diff = call("undo", path=PATH).change.diff
    assert call.got(PATH) == before
    assert diff.kind == "notebook"
    actions = {(cell.cell_id, cell.action) for cell in diff.cells}
    assert {("c1", "edit"), ("c2", "insert"), ("c0", "move"), ("c3", "edit")} <= actions
    assert sum(cell.action == "delete" for cell in diff.cells) == 1
    call("edit_notebook", path=PATH, cell_id="c1", new_source="again")


def test_undo_is_refused_when_the_notebook_moved_on_and_says_what_changed(book):
    book("edit_notebook", path=PATH, cell_id="c1", new_source="mine")
    outsider(book, '"mine"', '"theirs"')
    refusal = book.refused("stale", "undo", path=PATH)
    assert "cell 1 c1 (code): edit" in refusal.details["diff"] and "+theirs" in refusal.details["diff"]


def test_a_proposed_edit_is_approved_and_the_proposer_may_go_on(make_call):
    call = read(make_call(approval=["*"]))
    before = call.got(PATH)
    change = call(
        "edit_notebook", path=PATH, edits=[{"cell_id": "c1", "new_source": "q"}, insert("n", at="end")]
    ).change
    assert change.status == "proposed" and call.got(PATH) == before
    assert change.diff.kind == "notebook"
    person = call.workspace.for_reader(Reader("grace", "person"))
    Journal(person).approve(change.id)
    assert sources(call) == ["# A", "q", "r", "z", "n"]
    result = call("edit_notebook", path=PATH, cell_id="c1", new_source="w")
    assert result.data["status"] == "proposed"
    outsider(call, '"q"', '"other"')
    with pytest.raises(Exception, match="cannot be approved") as refused:
        Journal(person).approve(result.data["change_id"])
    assert "+other" in refused.value.details["diff"]


def test_a_new_notebook_that_validates_is_created_and_its_cells_are_known(call):
    result = call("write_file", path=PATH, content=jupyterlab(notebook(code("a"), markdown("m"))).decode())
    assert [(cell.cell_id, cell.action) for cell in result.change.diff.cells] == [("c0", "insert"), ("c1", "insert")]
    call("edit_notebook", path=PATH, index=1, new_source="q")
    call.session("other").refused("not_read", "edit_notebook", path=PATH, cell_id="c0", new_source="q")
    call("undo", path=PATH)
    call("undo", path=PATH)
    assert not (call.root / PATH).exists()
    call.refused("notebook", "write_file", path=PATH, content='{"cells": [')


def test_receipts_of_cells_survive_a_restart(make_call, tmp_path):
    stores = [SqliteStore(tmp_path / "store.db") for _ in range(2)]
    read(make_call(store=stores[0]))
    stores[0].close()
    again = make_call(store=stores[1])
    outsider(again, "x = 1", "x = 100")
    again("edit_notebook", path=PATH, cell_id="c3", new_source="q")
    assert (
        "+x = 100" in again.refused("stale", "edit_notebook", path=PATH, cell_id="c1", new_source="q").details["diff"]
    )
    stores[1].close()


def test_cells_without_ids_can_be_edited_one_after_the_other(call):
    read(call, code("a"), code("same"), code("same"), minor=4)
    cells = call("read_notebook", path=PATH).data["cells"]
    (after,) = call("edit_notebook", path=PATH, cell_id=cells[0]["cell_id"], new_source="b").data["cells"]
    call("edit_notebook", path=PATH, cell_id=after["cell_id"], new_source="c")
    call("edit_notebook", path=PATH, index=2, new_source="other")
    assert sources(call) == ["c", "same", "other"]
    assert all("id" not in cell for cell in cells_of(call))


def test_other_line_endings_in_a_cell_are_no_change(call):
    read(call, code("a\nb"))
    outsider(call, '"a\\n"', '"a\\r\\n"')
    call("edit_notebook", path=PATH, cell_id="c0", edit_mode="edit", old_string="b", new_string="c")
    assert sources(call) == ["a\r\nc"]


def test_the_limit_of_edits_holds_for_notebooks_too(make_call):
    call = read(make_call(max_edit_bytes=100))
    call.refused("too_large", "edit_notebook", path=PATH, cell_id="c0", new_source="q")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"edits": [{"cell_id": "c0", "new_source": "q"}], "cell_id": "c0"},
        {"edits": []},
        {"cell_id": "c0"},
        {"cell_id": "c0", "new_source": 3},
        {"cell_id": "c0", "new_source": "q", "edit_mode": "append"},
        {"cell_id": "c0", "new_source": "q", "where": "end"},
        {"edits": [{"cell_id": "c0", "new_source": "q", "where": "end"}]},
        {"cell_id": "c0", "edit_mode": "edit", "old_string": "", "new_string": "q"},
    ],
)
def test_arguments_that_do_not_fit_are_refused(book, arguments):
    book.refused("invalid", "edit_notebook", path=PATH, **arguments)


def test_names_that_models_use_are_taken(book):
    book("edit_notebook", notebook_path=PATH, cell_number=1, new_source="q")
    book("edit_notebook", file_path=PATH, cellId="c1", newSource="w", editMode="replace", cell_type="code")
    book("edit_notebook", path=PATH, cell_id="c0", new_source=None, edit_mode="delete")
    assert sources(book) == ["w", "r", "z"]


def test_a_notebook_that_is_being_saved_is_waited_for(book, monkeypatch):
    whole = book.got(PATH)
    book.put(PATH, whole[:50])
    monkeypatch.setattr("jupyter_fstools.tools.notebook_change.time.sleep", lambda _: book.put(PATH, whole))
    book("edit_notebook", path=PATH, cell_id="c1", new_source="q")
    assert sources(book)[1] == "q"


@pytest.mark.parametrize("style", [samples.jupyterlab, samples.colab, samples.vscode, samples.crlf, samples.tabs])
def test_git_shows_the_touched_cell_and_nothing_else(call, style):
    git = ["git", "-C", str(call.root), "-c", "core.autocrlf=false"]
    call.put(PATH, style(notebook(markdown("# A"), code("x = 1\ny = 1"), code("z"))))
    for step in (["init", "-q"], ["add", PATH]):
        subprocess.run([*git, *step], check=True)
    call("read_notebook", path=PATH)
    change = {"edit_mode": "edit", "old_string": "y = 1", "new_string": "y = 2", "keep_outputs": True}
    call("edit_notebook", path=PATH, cell_id="c1", **change)
    told = subprocess.run([*git, "diff", "--unified=0", PATH], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = re.findall(r"^[-+](?![-+])\s*(.*?)\s*$", told, re.MULTILINE)
    assert rows == ['"y = 1"', '"y = 2"']


def test_a_notebook_is_looked_at_whole_once(book, monkeypatch):
    """Reading it again, and one edit after the other, take a look at the cells concerned only."""
    os.utime(book.root / PATH, (1, 1))
    book("read_notebook", path=PATH)
    monkeypatch.setattr("jupyter_fstools.documents.notebook.document.scan", None)
    for number in range(3):
        book("edit_notebook", path=PATH, cell_id="c1", new_source=f"x = {number + 5}")
        book("edit_notebook", path=PATH, cell_id="c3", edit_mode="edit", old_string="z", new_string=f"{number} z")
    assert [cell["source"] for cell in book("read_notebook", path=PATH).data["cells"]] == sources(book)


def test_what_is_known_of_a_version_is_dropped_where_it_does_not_hold(book):
    """As on a disk whose clock is too coarse to tell two versions apart."""
    os.utime(book.root / PATH, (1, 1))
    book.put("other.ipynb", jupyterlab(notebook(code("a"), code("b"), code("c"))))
    os.utime(book.root / "other.ipynb", (1, 1))
    book("read_notebook", path="other.ipynb")
    known = book.workspace.versions.notebooks
    stat, other = book.workspace.peek(PATH), book.workspace.peek("other.ipynb")
    known.keep(stat.key, stat.version, known.of(other.key, other.version))
    before = book.got(PATH)
    book.refused("conflict", "edit_notebook", path=PATH, cell_id="c1", new_source="q")
    assert book.got(PATH) == before
    assert [cell["cell_id"] for cell in book("read_notebook", path=PATH).data["cells"]] == ["c0", "c1", "c2", "c3"]
    book("edit_notebook", path=PATH, cell_id="c1", new_source="q")


@pytest.mark.parametrize(
    "edit", [{"edit_mode": "insert", "after": "c0", "cell_type": "markdown", "new_source": "q"}, {"new_source": "x\ny"}]
)
def test_a_notebook_without_blanks_gets_none_beside_a_single_item(call, edit):
    call.put(PATH, json.dumps(notebook(markdown(["a"], id="c0")), separators=(",", ":")))
    call("read_notebook", path=PATH)
    call("edit_notebook", path=PATH, **({"cell_id": "c0"} | edit if "after" not in edit else edit))
    written = call.got(PATH).decode()
    assert json.dumps(json.loads(written), separators=(",", ":")) == written


def read_without_ids(call, *cells):
    """Put a notebook whose cells have no ids, and read it; gives the ids that the cells are shown with."""
    call.put(PATH, jupyterlab(notebook(*cells, minor=4)))
    return ids_of(call)


def ids_of(call):
    return [cell["cell_id"] for cell in call("read_notebook", path=PATH).data["cells"]]


def test_a_moved_twin_is_not_taken_for_the_other(call):
    ids = read_without_ids(call, code("dup"), code("dup"), code("end"))
    moved = call("edit_notebook", path=PATH, edit_mode="move", cell_id=ids[0], at="end")
    refusal = call.refused("not_found", "edit_notebook", path=PATH, cell_id=ids[0], new_source="the moved one")
    assert [row["index"] for row in refusal.details["cells"]] == [0, 2]
    names = {one["old_id"]: one["cell_id"] for one in moved.data["renamed"]}
    assert f"{ids[0]} -> {names[ids[0]]}" in moved.text and names[ids[0]] == moved.data["cells"][0]["cell_id"]
    call("edit_notebook", path=PATH, cell_id=names[ids[0]], new_source="the moved one")
    call("edit_notebook", path=PATH, cell_id=names[ids[1]], new_source="the other one")
    assert sources(call) == ["the other one", "end", "the moved one"]


def test_the_twin_of_a_filled_cell_keeps_its_id_whoever_filled_it(call):
    ids = read_without_ids(call, code("x"), code("", outputs=[]), code("y"), code("", outputs=[]))
    filled = call("edit_notebook", path=PATH, cell_id=ids[1], new_source="one")
    assert ids_of(call)[3] == filled.data["renamed"][0]["cell_id"] and filled.data["total_renamed"] == 1
    call("edit_notebook", path=PATH, cell_id=ids[3], new_source="two")
    assert sources(call) == ["x", "one", "y", "two"]
    ids = read_without_ids(call, code("x"), code("dup"), code("y"), code("dup"))
    call.put(PATH, jupyterlab(notebook(code("x"), code("by hand"), code("y"), code("dup"), minor=4)))
    call.refused("not_found", "edit_notebook", path=PATH, cell_id=ids[1], new_source="no")
    call("read_notebook", path=PATH, index=0)
    call("edit_notebook", path=PATH, cell_id=ids[3], edit_mode="edit", old_string="up", new_string="one")
    assert sources(call) == ["x", "by hand", "y", "done"]


def test_of_many_renamed_cells_a_few_are_told(call):
    ids = read_without_ids(call, *[code("")] * 60)
    result = call("edit_notebook", path=PATH, cell_id=ids[30], new_source="q")
    assert result.data["total_renamed"] == 57 and len(result.data["renamed"]) == 20
    assert "and 37 more" in result.text and len(result.text) < 3000
    ids = read_without_ids(call, code("a"), code("b"))
    result = call("edit_notebook", path=PATH, cell_id=ids[0], new_source="q")
    assert result.data["renamed"] == [] and "Ids after this" not in result.text


def test_new_outputs_of_one_twin_do_not_refuse_what_is_named_by_index(call):
    read_without_ids(call, code("dup", outputs=[]), code("x"), code("dup", outputs=[]))
    call.put(PATH, jupyterlab(notebook(code("dup"), code("x"), code("dup", outputs=[]), minor=4)))
    call("edit_notebook", path=PATH, index=1, new_source="y")
    assert sources(call) == ["dup", "y", "dup"]


def test_a_link_that_is_named_like_a_notebook_leads_to_the_file_to_name(call):
    call.put("real.txt", "hello\n")
    (call.root / "x.ipynb").symlink_to("real.txt")
    call("read_file", path="real.txt")
    for tool, edit in (("edit_notebook", {"index": 0, "new_source": "a"}), ("write_file", {"content": "a"})):
        refusal = call.refused("notebook", tool, path="x.ipynb", **edit)
        assert "link to real.txt" in refusal.message and "'real.txt'" in refusal.hint
    call("edit_file", path="real.txt", old_string="hello", new_string="bye")


def test_json_that_is_no_object_is_refused_with_a_way_on(call):
    call.put(PATH, "[]")
    for tool in ("read_notebook", "edit_notebook"):
        refusal = call.refused("notebook", tool, path=PATH, index=0, **({"new_source": "a"} if "edit" in tool else {}))
        assert "an array" in refusal.message and "write_file" in refusal.hint


def test_an_empty_list_of_edits_is_invalid_before_anything_else(call):
    for tool, path in (("edit_notebook", "missing.ipynb"), ("edit_file", "missing.txt")):
        assert call.refused("invalid", tool, path=path, edits=[]).details["field"] == "edits"


def test_more_edits_than_one_call_takes_are_refused(call):
    edits = [{"edit_mode": "delete", "index": 0}] * 10_001
    assert "at most 10000" in call.refused("invalid", "edit_notebook", path="missing.ipynb", edits=edits).message


def test_many_edits_of_one_call_look_through_the_notebook_a_few_times_only(call, monkeypatch):
    """One scan of the notebook for each edit took minutes with 30,000 cells."""
    names, looks = [f"c{at}" for at in range(300)], []
    look = NotebookDocument.former_indexes
    monkeypatch.setattr(NotebookDocument, "former_indexes", lambda *given: looks.append(1) or look(*given))
    read(call, *(code(f"x = {name}") for name in names))
    edits = [{"edit_mode": "edit", "cell_id": name, "old_string": "x", "new_string": "y"} for name in names]
    looks.clear()
    assert call("edit_notebook", path=PATH, edits=edits).data["total_cells"] == 300
    assert len(looks) < 10


def test_a_new_cell_without_type_and_place_is_answered_with_both(book):
    refusal = book.refused("invalid", "edit_notebook", path=PATH, edit_mode="insert", new_source="x")
    assert "cell_type" in refusal.message and "`after_index`" in refusal.hint
    assert '"code", "markdown" or "raw"' in refusal.hint


def test_a_source_copied_with_its_line_numbers_is_refused(book):
    given = {"path": PATH, "index": 1, "new_source": "1\tx = 1\n2\ty = 2"}
    assert book.refused("invalid", "edit_notebook", **given).details["field"] == "new_source"


def test_where_a_string_is_not_in_a_cell_the_lines_told_are_the_cells(book):
    given = {"path": PATH, "index": 1, "old_string": "x = 10", "new_string": "x = 2"}
    refusal = book.refused("no_match", "edit_notebook", **given)
    assert refusal.message.startswith("old_string is not in the cell")
    assert "The cell has, from line 1:\n1\tx = 1" in refusal.hint


@pytest.mark.parametrize("first", [{"new_source": "y"}, {"edit_mode": "edit", "old_string": "x", "new_string": "y"}])
def test_a_string_that_an_earlier_edit_of_the_call_changed_is_not_in_the_cell(book, first):
    second = {"index": 1, "edit_mode": "edit", "old_string": "x = 1", "new_string": "x = 2"}
    refusal = book.refused("no_match", "edit_notebook", path=PATH, edits=[{"index": 1, **first}, second])
    assert refusal.message.startswith("edit 2 of 2: old_string is not in the cell")


@pytest.mark.parametrize("strings", [("", "x"), ("x", "x"), ("x = 1\n", "x = 1\r\n")])
def test_what_refuses_an_edit_of_a_cell_speaks_of_the_cell(book, strings):
    """To write a file whole, and its byte order mark, are no matter of a cell's."""
    given = {"path": PATH, "index": 1, "edit_mode": "edit", "old_string": strings[0], "new_string": strings[1]}
    refusal = book.refused("no_op" if strings[0] else "invalid", "edit_notebook", **given)
    assert not re.search("file|byte order", refusal.message + refusal.hint)
    assert strings[0] or refusal.hint.endswith('`edit_mode` "replace".')


@pytest.mark.parametrize("first", [{"new_source": "a"}, {"old_string": "x", "new_string": "z"}])
def test_a_source_that_another_edit_of_the_call_replaces_is_not_lost_unsaid(book, first):
    edits = [{"index": 1, **first}, {"index": 1, "new_source": "b"}]
    refusal = book.refused("invalid", "edit_notebook", path=PATH, edits=edits)
    assert refusal.message.startswith("edit 2 of 2: ") and sources(book)[1] == "x = 1\ny = 1"
    book("edit_notebook", path=PATH, edits=[edits[1], {"index": 1, "old_string": "b", "new_string": "c"}])
    assert sources(book)[1] == "c"
