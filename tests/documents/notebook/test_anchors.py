"""A change of cells finds its cells again, whatever has become of the rest of the notebook."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import inverse, spliced
from jupyter_fstools.documents.notebook import (
    CellAnchors,
    CellEdit,
    NotebookDocument,
    cell_anchors,
    outline_of,
    replayed,
)
from jupyter_fstools.documents.notebook.operations import notebook_operations
from jupyter_fstools.documents.notebook.saved import plain_cell
from jupyter_fstools.documents.notebook.spans import outline_after

OUTPUT = {"name": "stdout", "output_type": "stream", "text": ["put out\n"]}


def cell(cell_id, source, cell_type="code", **more):
    own = {"execution_count": 1, "outputs": [OUTPUT]} if cell_type == "code" else {}
    return {"cell_type": cell_type, "id": cell_id, "metadata": {}, **own, "source": source.splitlines(True), **more}


def notebook(cells, indent=1):
    return (
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent) + "\n"
    ).encode()


MARKDOWN = {"cell_id": "a", "edit_mode": "convert", "cell_type": "markdown"}


class Step:
    """A batch of edits of a notebook, as its journal keeps it."""

    def __init__(self, cells, edits):
        self.before = notebook(cells)
        document = NotebookDocument(BytesContent(self.before))
        splices = document.apply([CellEdit(**edit) for edit in edits]).splices
        self.after = spliced(self.before, splices)
        done = NotebookDocument(BytesContent(self.after))
        self.forward = kept(cell_anchors(document, done, splices))
        self.back = kept(cell_anchors(done, document, inverse(splices), back=True))


class CountedContent(BytesContent):
    """Counts the bytes that are read."""

    count = 0

    def read(self, start, length):
        self.count += length
        return super().read(start, length)


def kept(anchors):
    return CellAnchors.model_validate_json(anchors.model_dump_json())


def carried_out(anchors, data):
    """The cells that the change makes of a notebook; None where it does not fit."""
    splices = replayed(anchors, BytesContent(data))
    return None if splices is None else json.loads(spliced(data, splices))["cells"]


def cells_of(data):
    return json.loads(data)["cells"]


CELLS = [cell("a", "x = 1\n"), cell("b", "y = 1\nz = 1"), cell("c", "# c", "markdown"), cell("d", "w = 1")]
NOT_OF_SOURCES = ("clear_outputs", "move")
EDITS = [
    [{"cell_id": "b", "new_source": "y = 2\nz = 1"}],
    [{"cell_id": "b", "edit_mode": "edit", "old_string": "z", "new_string": "\u00e9\U0001f600", "keep_outputs": True}],
    [{"cell_id": "b", "edit_mode": "clear_outputs"}],
    [{"cell_id": "b", "edit_mode": "delete"}],
    [{"cell_id": "b", "edit_mode": "convert", "cell_type": "markdown"}],
    [{"cell_id": "c", "edit_mode": "convert", "cell_type": "code"}],
    [{"cell_id": "c", "edit_mode": "move", "at": "start"}],
    [{"edit_mode": "insert", "after": "a", "cell_type": "code", "new_source": "new = 1\n"}],
    [{"cell_id": "b", "new_source": "y = 3"}, {"cell_id": "c", "edit_mode": "delete"},
     {"edit_mode": "insert", "at": "end", "cell_type": "markdown", "new_source": "# end"}],
]  # fmt: skip


@pytest.mark.parametrize("edits", EDITS)
def test_a_change_that_is_placed_again_is_told_by_cells_too(edits):
    """An open document is changed by operations on cells, never by bytes."""
    step = Step(CELLS, edits)
    for anchors, cells in ((step.forward, CELLS), (step.back, cells_of(step.after))):
        now = notebook([cell("new", "first = 1"), *cells, cell("end", "last = 1")])
        document, splices = NotebookDocument(BytesContent(now)), replayed(anchors, BytesContent(now))
        told = notebook_operations(document, splices, [one.cell_id for one in document.cells])
        assert len(told.operations) == len(anchors.operations)
        again = CellAnchors(total=told.total, operations=told.operations, fingerprints={})
        found, wanted = carried_out(again, now), cells_of(spliced(now, splices))
        assert [plain_cell(one) for one in found] == [plain_cell(one) for one in wanted]


@pytest.mark.parametrize("edits", EDITS)
@pytest.mark.parametrize("indent", [1, 4, None])
def test_a_change_is_done_and_taken_back_where_others_changed(edits, indent):
    """An outsider reformatted the file, changed a cell, ran it, and added one."""
    step = Step(CELLS, edits)

    def theirs(cells):
        found = [{**one, "source": ["theirs"], "outputs": []} if one["id"] == "d" else one for one in cells]
        return [*found, cell("new", "their own")]

    for anchors, there, then in ((step.forward, step.before, step.after), (step.back, step.after, step.before)):
        now = notebook(theirs(cells_of(there)), indent)
        wanted = theirs(cells_of(then))
        found = carried_out(anchors, now)
        assert {one["id"]: one for one in found} == {one["id"]: one for one in wanted}
        if not any(edit.get("at") == "end" for edit in edits):
            assert [one["id"] for one in found] == [one["id"] for one in wanted]


@pytest.mark.parametrize(
    "edits", [edits for edits in EDITS if edits[0].get("edit_mode") not in ("clear_outputs", "move")]
)
def test_a_cell_that_is_another_one_by_now_takes_nothing_back(edits):
    step = Step(CELLS, edits)
    changed = {one["id"] for one in cells_of(step.after) if one not in CELLS}
    for cell_id in changed:
        cells = [{**one, "source": ["typed"]} if one["id"] == cell_id else one for one in cells_of(step.after)]
        assert carried_out(step.back, notebook(cells)) is None
        cells = [one for one in cells_of(step.after) if one["id"] != cell_id]
        assert carried_out(step.back, notebook(cells)) is None


LONG = [f"line_{number} = {number}" for number in range(20)]


def of_cell(*lines, **more):
    return notebook([cell("a", "\n".join(lines), **more)])


@pytest.mark.parametrize("back", [False, True])
def test_a_change_finds_its_lines_in_a_cell_that_its_person_went_on_with(back):
    old, new = ([*LONG[:10], line, *LONG[11:]] for line in ("line_10 = 10", "LINE_10 = 10"))
    edit = {"cell_id": "a", "edit_mode": "edit", "old_string": "line_10", "new_string": "LINE_10"}
    step = Step([cell("a", "\n".join(old))], [edit])
    anchors, there, then = (step.back, new, old) if back else (step.forward, old, new)

    def result(*lines, **more):
        found = carried_out(anchors, of_cell(*lines, **more))
        return found and "".join(found[0]["source"]).split("\n")

    assert result("mine", *there, "end = 1") == ["mine", *then, "end = 1"]
    assert result(*there[5:]) == then[5:]
    assert result(*there[:10], "line_10 = mine", *there[11:]) is None
    assert result(*there[:9], "line_9 = mine", *there[10:]) is None
    assert result(*there, *there) is None
    assert result("mine", *there, cell_type="markdown") is None


def test_several_hunks_are_found_in_their_order_alone():
    edits = [
        {"cell_id": "a", "edit_mode": "edit", "old_string": f"line_{at} ", "new_string": f"LINE_{at} "}
        for at in (2, 17)
    ]
    step = Step([cell("a", "\n".join(LONG))], edits)
    found = carried_out(step.forward, of_cell(*LONG[:9], "mine", *LONG[9:]))
    assert "".join(found[0]["source"]) == "\n".join([*LONG[:9], "mine", *LONG[9:]]).replace(
        "line_2 ", "LINE_2 "
    ).replace("line_17", "LINE_17")
    assert carried_out(step.forward, of_cell(*LONG[12:], *LONG[:8])) is None


def test_a_cell_that_is_converted_keeps_what_the_person_wrote_and_is_not_converted_back_then():
    step = Step([cell("a", "\n".join(LONG)), cell("b", "y = 1")], [MARKDOWN])
    now = notebook([cell("a", "mine = 1\n" + "\n".join(LONG)), cell("b", "y = 1")])
    done = carried_out(step.forward, now)
    assert (done[0]["cell_type"], "".join(done[0]["source"])) == ("markdown", "mine = 1\n" + "\n".join(LONG))
    assert carried_out(step.back, notebook(done)) is None


def test_a_cell_that_is_filled_or_deleted_must_be_as_it_was():
    for edit in ({"new_source": "x = 1"}, {"edit_mode": "delete"}):
        source = "" if edit == {"new_source": "x = 1"} else "\n".join(LONG)
        step = Step([cell("a", source), cell("b", "y = 1")], [{"cell_id": "a", **edit}])
        now = notebook([cell("a", "mine = 1\n" + source), cell("b", "y = 1")])
        assert carried_out(step.forward, now) is None


def test_outputs_that_a_cell_has_since_stay():
    step = Step(CELLS, [{"cell_id": "b", "new_source": "y = 2"}])
    run = [
        {**one, "execution_count": 7, "outputs": [{**OUTPUT, "text": ["7"]}]}
        for one in cells_of(step.after)
        if one["id"] == "b"
    ]
    found = carried_out(step.back, notebook(run))
    assert found == [{**run[0], "source": ["y = 1\n", "z = 1"]}]


@pytest.mark.parametrize("old", ["line_3 = 3", "# ... rest of the code ..."])
def test_lines_of_a_cell_stay_as_they_are_where_another_cell_went_on(old):
    lines = [*LONG[:3], old, *LONG[4:]]
    edits = [
        {"cell_id": "a", "edit_mode": "edit", "old_string": f"{lines[2]}\r\n{old}", "new_string": lines[2]},
        {"cell_id": "a", "edit_mode": "edit", "old_string": "line_17", "new_string": "LINE_17"},
    ]
    step = Step([cell("a", "\r\n".join(lines)), cell("b", "y = 1")], edits)
    for anchors, there, then in ((step.forward, step.before, step.after), (step.back, step.after, step.before)):
        [first, _] = carried_out(anchors, there.replace(b"y = 1", b"y = 2"))
        assert first["source"] == cells_of(then)[0]["source"]


@pytest.mark.parametrize(
    "edit", [{"old_string": "line_17", "new_string": "17"}, {"old_string": "17", "new_string": "17b"}]
)
def test_in_a_cell_whose_lines_end_otherwise_by_now_a_change_has_no_place(edit):
    step = Step([cell("a", "\n".join(LONG))], [{"cell_id": "a", "edit_mode": "edit", **edit, "replace_all": True}])
    assert carried_out(step.forward, notebook([cell("a", "\r\n".join(LONG))])) is None


def test_outputs_come_back_with_all_of_their_source_alone():
    edits = [
        {"cell_id": "a", "edit_mode": "edit", "old_string": f"line_{at} ", "new_string": f"LINE_{at} "}
        for at in (2, 17)
    ]
    step = Step([cell("a", "\n".join(LONG)), cell("b", "y = 1")], edits)
    now = step.after.replace(b"y = 1", b"y = 2")
    for hunks, outputs in ([0], []), ("all", [OUTPUT]):
        [first, _] = carried_out(step.back.of_hunks({"a": hunks}), now)
        assert (first["outputs"], "LINE_2 " in "".join(first["source"])) == (outputs, False)
    [first, _] = carried_out(step.forward.of_hunks({"a": [0]}), step.before)
    assert (first["outputs"], "LINE_17 " in "".join(first["source"])) == ([], False)


def test_what_is_no_notebook_any_more_takes_nothing():
    step = Step(CELLS, EDITS[0])
    for data in (b"", b"[]", b"{", notebook([])):
        assert carried_out(step.back, data) is None


SOURCES = st.text(alphabet='ab\n"\\\u00e9\U0001f600', max_size=12)


@st.composite
def batches(draw):
    """Edits of some cells of a notebook, and a person's changes of the others."""
    cells = [cell(name, draw(SOURCES), draw(st.sampled_from(["code", "markdown"]))) for name in "abcdef"]
    named = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True))
    edits = []
    for name in named:
        mode = draw(st.sampled_from(["replace", "delete", "convert", "insert"]))
        edits.append({
            "replace": {"cell_id": name, "new_source": draw(SOURCES) + "!"},
            "delete": {"cell_id": name, "edit_mode": "delete"},
            "convert": {"cell_id": name, "edit_mode": "convert", "cell_type": "raw"},
            "insert": {"edit_mode": "insert", "at": "start", "cell_type": "code", "new_source": draw(SOURCES)},
        }[mode])  # fmt: skip
    theirs = {name: draw(SOURCES) for name in "abcdef" if name not in named and draw(st.booleans())}
    return cells, edits, theirs, draw(st.booleans())


@given(batches())
def test_an_undo_takes_back_its_own_cells_and_loses_nothing_of_anybody(batch):
    cells, edits, theirs, inserts = batch
    step = Step(cells, edits)

    def lived_on(found):
        found = [{**one, "source": theirs[one["id"]].splitlines(True)} if one["id"] in theirs else one for one in found]
        return [cell("own", "theirs"), *found] if inserts and not edits[0].get("at") else found

    found = carried_out(step.back, notebook(lived_on(cells_of(step.after))))
    if found is None:
        # A cell's place is given by the cell before it, which may be gone: then it is refused, and nothing is lost.
        assert inserts
        return
    sources = {one["id"]: (one["cell_type"], "".join(one["source"]), one.get("outputs")) for one in found}
    wanted = {one["id"]: (one["cell_type"], "".join(one["source"]), one.get("outputs")) for one in lived_on(cells)}
    assert sources == wanted


def test_anchors_read_no_cell_but_those_that_change():
    data = notebook([cell(f"c{at}", f"x = {at}\n" * 1000) for at in range(50)])
    document = NotebookDocument(BytesContent(data))
    splices = document.apply([CellEdit(cell_id="c7", new_source="x = 8\n")]).splices
    before, after = CountedContent(data), CountedContent(spliced(data, splices))
    outline = outline_of(document.spans)
    old = NotebookDocument(before, outline)
    new = NotebookDocument(after, outline_after(outline, splices, after))
    assert cell_anchors(new, old, inverse(splices), back=True) is not None
    assert before.count + after.count < len(data) / 10


@pytest.mark.parametrize("edit", [{"new_source": "new"}, {"edit_mode": "delete"}, {"edit_mode": "clear_outputs"}])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_a_plot_has_and_json_lacks_comes_back_though_another_cell_was_changed(edit, value):
    shown = {"output_type": "display_data", "metadata": {}, "data": {"application/json": [value]}}
    step = Step([cell("a", "plot", outputs=[shown]), cell("b", "x")], [{"cell_id": "a", **edit}])
    now = step.after.replace(b'"x"', b'"xy"')
    [first, _] = carried_out(step.back, now)
    assert repr(first["outputs"]) == repr([shown])
