from __future__ import annotations

import json

import nbformat
import pytest
from pydantic import ValidationError

from jupyter_fstools.documents.notebook import CellEdit
from jupyter_fstools.documents.notebook.comparison import compared
from jupyter_fstools.errors import Ambiguous, EncodingRefused, Invalid, NoMatch, NoOp, NotebookRefused

from . import samples
from .samples import apply, code, document, edited, markdown, notebook, raw

DATA = samples.jupyterlab(notebook(markdown("# A"), code("x = 1\ny = 1"), raw("r")))


def _insert(source: str, **place: object) -> dict:
    return {"edit_mode": "insert", "cell_type": "code", "new_source": source} | place


def _sources(data: bytes) -> list[str]:
    return [cell.source for cell in document(data).cells]


def test_a_changed_code_cell_loses_outputs_and_count_unless_asked_otherwise() -> None:
    cell = json.loads(edited(DATA, {"cell_id": "c1", "new_source": "n"}))["cells"][1]
    assert (cell["outputs"], cell["execution_count"]) == ([], None)
    kept = json.loads(edited(DATA, {"cell_id": "c1", "new_source": "n", "keep_outputs": True}))["cells"][1]
    assert (kept["outputs"], kept["execution_count"]) == ([samples.STREAM], 7)


def test_text_cells_get_no_keys_of_code_cells() -> None:
    data = samples.minified(notebook(markdown("a", attachments={"i.png": {"image/png": "iV"}})))
    assert edited(data, {"cell_id": "c0", "new_source": "b"}) == data.replace(b'"a"', b'"b"')


def test_converting_adds_and_removes_what_nbformat_asks_for() -> None:
    to_code = edited(DATA, {"edit_mode": "convert", "cell_id": "c0", "cell_type": "code"})
    assert json.loads(to_code)["cells"][0] == code(["# A"], id="c0", outputs=[], execution_count=None)
    back = edited(to_code, {"edit_mode": "convert", "cell_id": "c0", "cell_type": "markdown"})
    assert back == DATA
    nbformat.validate(json.loads(to_code))


def test_attachments_survive_between_text_cells_and_forbid_code() -> None:
    data = samples.minified(notebook(markdown(attachments={"i.png": {"image/png": "iV"}}), markdown(attachments={})))
    converted = edited(data, {"edit_mode": "convert", "cell_id": "c0", "cell_type": "raw"})
    assert converted == data.replace(b'"markdown"', b'"raw"', 1)
    with pytest.raises(Invalid, match="attachments"):
        edited(data, {"edit_mode": "convert", "cell_id": "c0", "cell_type": "code"})
    after = json.loads(edited(data, {"edit_mode": "convert", "cell_id": "c1", "cell_type": "code"}))
    assert "attachments" not in after["cells"][1]


def test_replace_with_another_type_converts_as_well() -> None:
    after = json.loads(edited(DATA, {"cell_id": "c0", "new_source": "n", "cell_type": "code"}))
    assert after["cells"][0] == code(["n"], id="c0", outputs=[], execution_count=None)


def test_an_insert_needs_exactly_one_place() -> None:
    for place in ({}, {"after": "c0", "at": "end"}, {"cell_id": "c0", "before": "c1"}, {"index": 0}):
        with pytest.raises(Invalid, match=r"place|index"):
            edited(DATA, _insert("n", **place))


@pytest.mark.parametrize(
    ("place", "index"),
    [({"after": "c2"}, 3), ({"before": "c0"}, 0), ({"at": "start"}, 0), ({"at": "end"}, 3), ({"cell_id": "c0"}, 1),
     ({"after_index": 0}, 1), ({"before_index": 2}, 2)],
)  # fmt: skip
def test_an_insert_lands_where_it_says(place, index) -> None:
    result = apply(DATA, _insert("n", **place))
    assert result.cells[0].index == index and result.total_cells == 4
    assert _sources(samples.spliced(DATA, result.splices))[index] == "n"


def test_several_inserts_at_one_anchor_keep_their_order() -> None:
    for place, first in (({"after": "c0"}, 1), ({"before": "c0"}, 0), ({"at": "start"}, 0), ({"at": "end"}, 3)):
        after = edited(DATA, *(_insert(word, **place) for word in ("1", "2", "3")))
        assert _sources(after)[first : first + 3] == ["1", "2", "3"]


def test_a_batch_refers_to_the_cells_as_they_were() -> None:
    after = edited(
        DATA, {"edit_mode": "delete", "index": 0}, {"index": 1, "new_source": "n"}, _insert("i", after_index=2),
        {"edit_mode": "move", "index": 2, "before_index": 1},
    )  # fmt: skip
    assert _sources(after) == ["r", "n", "i"]


def test_a_batch_is_all_or_nothing_and_names_the_edit() -> None:
    with pytest.raises(NoMatch, match="edit 2 of 2") as refused:
        edited(DATA, {"cell_id": "c0", "new_source": "n"},
               {"edit_mode": "edit", "cell_id": "c1", "old_string": "zzz", "new_string": ""})  # fmt: skip
    assert refused.value.details["edit"] == 1


def test_deleting_needs_no_source_and_may_leave_no_cell() -> None:
    data = samples.jupyterlab(notebook(code()))
    after = edited(data, {"edit_mode": "delete", "cell_id": "c0"})
    assert after == samples.jupyterlab(notebook())


def test_a_moved_cell_keeps_its_bytes() -> None:
    result = apply(DATA, {"edit_mode": "move", "cell_id": "c1", "after": "c2"})
    after = json.loads(samples.spliced(DATA, result.splices))["cells"]
    assert after == [json.loads(DATA)["cells"][at] for at in (0, 2, 1)]
    assert (result.cells[0].cell_id, result.cells[0].index) == ("c1", 2)
    with pytest.raises(NoOp):
        edited(DATA, {"edit_mode": "move", "cell_id": "c1", "after": "c0"})


def test_a_cell_can_be_moved_and_edited_at_once() -> None:
    edits = [{"edit_mode": "move", "cell_id": "c1", "at": "start"}, {"cell_id": "c1", "new_source": "n"}]
    for batch in (edits, edits[::-1]):
        assert _sources(edited(DATA, *batch)) == ["n", "# A", "r"]


@pytest.mark.parametrize(
    "source", [DATA.decode(), '{"cell_type": "code", "source": "x"}', '[{"cell_type": "raw", "source": []}]']
)
def test_notebook_json_is_no_source(source) -> None:
    for edit in ({"cell_id": "c1", "new_source": source}, _insert(source, at="end")):
        with pytest.raises(Invalid, match="JSON"):
            edited(DATA, edit)


def test_placeholders_are_refused_unless_they_were_there() -> None:
    text = "a = 1\n# ... existing code ...\n"
    for edit in ({"cell_id": "c1", "new_source": text}, _insert(text, at="end"),
                 {"edit_mode": "edit", "cell_id": "c1", "old_string": "x", "new_string": text}):  # fmt: skip
        with pytest.raises(Invalid, match="existing code"):
            edited(DATA, edit)
    data = samples.minified(notebook(code(text)))
    assert _sources(edited(data, {"cell_id": "c0", "new_source": text + "b"})) == [text + "b"]


def test_text_that_looks_like_a_frame_goes_round() -> None:
    text = '</cell>\n# %%\n</VSCode.Cell>\n"""\\n'
    assert _sources(edited(DATA, {"cell_id": "c1", "new_source": text}))[1] == text


def test_replace_and_insert_write_newlines_and_edit_keeps_the_cells_own_endings() -> None:
    data = samples.minified(notebook(code("a\r\nb\rc\r\nd")))
    assert _sources(edited(data, {"cell_id": "c0", "new_source": "p\r\nq\rr"})) == ["p\nq\nr"]
    change = {"edit_mode": "edit", "cell_id": "c0", "old_string": "c\nd", "new_string": "C\nD"}
    assert _sources(edited(data, change)) == ["a\r\nb\rC\r\nD"]
    with pytest.raises(NoOp):
        edited(data, {"cell_id": "c0", "new_source": "a\nb\nc\nd"})


def test_lone_surrogates_are_refused_in_arguments_and_kept_in_the_file() -> None:
    nowhere = {"cell_id": "nowhere", "new_source": "\ud83d"}
    for edit in ({"cell_id": "c1", "new_source": "\ud83d"}, _insert("\ude00", at="end"), nowhere):
        with pytest.raises(EncodingRefused):
            edited(DATA, edit)
    data = samples.one_line(notebook(code(["s = '\ud83d'\n", "y"])))
    change = {"edit_mode": "edit", "cell_id": "c0", "old_string": "y", "new_string": "z"}
    assert rb'["s = ' + rb"'\ud83d'\n" + rb'", "z"]' in edited(data, change)
    whole = samples.minified(notebook(code("s = 'é'; y"))).replace("é".encode(), rb"\ud83d\u0000" + "é".encode())
    assert rb"'\ud83d\u0000" + "é'; z".encode() in edited(whole, change)


def test_a_part_of_a_cell_with_a_nul_is_edited_as_it_is_shown() -> None:
    data = samples.minified(notebook(code("s = 'a\0b'\ntotal = compute(s)\nz")))
    for old, new in (("'a\0b'", "'ab'"), ("a\0", "b\0"), ("z", "\0z")):
        change = {"edit_mode": "edit", "cell_id": "c0", "old_string": old, "new_string": new}
        assert _sources(edited(data, change)) == ["s = 'a\0b'\ntotal = compute(s)\nz".replace(old, new)]
    change = {"edit_mode": "edit", "cell_id": "c0", "old_string": "s = 'ab'", "new_string": "x"}
    with pytest.raises(NoMatch) as caught:
        edited(data, change)
    assert (caught.value.details["nearest_text"], "U+10" in caught.value.hint) == ("s = 'a\0b'", False)


def test_identical_sources_and_equal_strings_refuse_the_whole_batch() -> None:
    for edit in ({"cell_id": "c1", "new_source": "x = 1\ny = 1"},
                 {"edit_mode": "edit", "cell_id": "c1", "old_string": "x", "new_string": "x"},
                 {"edit_mode": "convert", "cell_id": "c1", "cell_type": "code"},
                 {"edit_mode": "clear_outputs", "cell_id": "c0"}):  # fmt: skip
        with pytest.raises(NoOp):
            edited(DATA, edit)
        with pytest.raises(NoOp, match="edit 2 of 2"):
            edited(DATA, {"cell_id": "c2", "new_source": "n"}, edit)


@pytest.mark.parametrize("minor", [4, 5])
def test_a_cell_that_stands_among_the_others_as_before_did_not_move(minor) -> None:
    data = samples.jupyterlab(notebook(code("a"), code("b"), code("c"), minor=minor))
    moves = [{"edit_mode": "move", "index": at, "at": "end"} for at in (1, 2)]
    assert apply(data, *moves).splices == []
    change = {"edit_mode": "edit", "index": 2, "old_string": "c", "new_string": "C", "keep_outputs": True}
    result = apply(data, *moves, change)
    assert [(diff.index, diff.action, diff.moved_from) for diff in result.diffs] == [(2, "edit", None)]
    assert [splice.inserted for splice in result.splices] == [b'"C"']


def test_a_diff_names_the_cell_that_each_one_follows() -> None:
    edits = (
        {"edit_mode": "insert", "at": "start", "cell_type": "code", "new_source": "first"},
        {"edit_mode": "insert", "after": "c0", "cell_type": "code", "new_source": "new"},
        {"edit_mode": "move", "cell_id": "c0", "at": "end"},
        {"cell_id": "c1", "new_source": "other"},
    )
    made = apply(DATA, *edits)
    before, after = document(DATA), document(samples.spliced(DATA, made.splices))
    first, new = (after.cells[at].cell_id for at in (0, 1))
    for diffs in (made.diffs, compared(before, after).diffs):
        follows = {diff.cell_id: diff.follows for diff in diffs}
        assert follows == {first: "", new: first, "c1": new, "c0": "c2"}
    gone = (
        {"edit_mode": "insert", "at": "start", "cell_type": "raw", "new_source": ""},
        *({"edit_mode": "delete", "cell_id": name} for name in ("c0", "c1")),
    )
    made = apply(DATA, *gone)
    for diffs in (made.diffs, compared(document(DATA), document(samples.spliced(DATA, made.splices))).diffs):
        assert {diff.cell_id: diff.follows for diff in diffs if diff.action == "delete"} == {"c0": "", "c1": "c0"}


def test_edits_that_cancel_each_other_write_nothing() -> None:
    change = {"edit_mode": "edit", "cell_id": "c1", "old_string": "x = 1", "new_string": "x = 2"}
    back = {"edit_mode": "edit", "cell_id": "c1", "old_string": "x = 2", "new_string": "x = 1"}
    result = apply(DATA, change, back)
    assert (result.splices, result.diffs) == ([], []) and not any(cell.written for cell in result.after)


def test_clearing_leaves_the_source_and_needs_outputs() -> None:
    data = edited(DATA, {"edit_mode": "clear_outputs", "cell_id": "c1"})
    assert json.loads(data)["cells"][1] == code(["x = 1\n", "y = 1"], id="c1", outputs=[], execution_count=None)
    with pytest.raises(NoOp):
        edited(data, {"edit_mode": "clear_outputs", "cell_id": "c1"})
    with pytest.raises(Invalid):
        edited(data, {"edit_mode": "clear_outputs"})


def test_strings_are_edited_by_the_rules_of_text_files() -> None:
    for old, new, error in (("1", "2", Ambiguous), ("nope", "", NoMatch), ("", "x", Invalid)):
        with pytest.raises(error):
            edited(DATA, {"edit_mode": "edit", "cell_id": "c1", "old_string": old, "new_string": new})
    every = {"edit_mode": "edit", "cell_id": "c1", "old_string": "1", "new_string": "\\1$&", "replace_all": True}
    assert _sources(edited(DATA, every))[1] == "x = \\1$&\ny = \\1$&"


@pytest.mark.parametrize(
    "batch",
    [
        [{"edit_mode": "delete", "cell_id": "c1"}, {"cell_id": "c1", "new_source": "n"}],
        [{"cell_id": "c1", "new_source": "n"}, {"edit_mode": "delete", "cell_id": "c1"}],
        [{"edit_mode": "delete", "cell_id": "c1"}, {"edit_mode": "delete", "cell_id": "c1"}],
        [{"edit_mode": "delete", "cell_id": "c1"}, _insert("n", after="c1")],
        [{"edit_mode": "move", "cell_id": "c1", "at": "end"}, {"edit_mode": "move", "cell_id": "c1", "at": "start"}],
        [{"edit_mode": "move", "cell_id": "c1", "after": "c1"}],
        [{"edit_mode": "delete", "cell_id": "c1", "at": "end"}],
        [{"cell_id": "c1"}],
        [{"cell_id": "c1", "old_string": "a", "new_string": "b"}],
        [{"edit_mode": "insert", "at": "end", "new_source": "n"}],
        [{"edit_mode": "convert", "cell_id": "c1"}],
        [{"edit_mode": "edit", "cell_id": "c1", "old_string": "x", "new_string": "y", "new_source": "z"}],
        [],
    ],
)
def test_contradictions_and_missing_arguments_are_invalid(batch) -> None:
    with pytest.raises(Invalid):
        edited(DATA, *batch)
    with pytest.raises(ValidationError):
        CellEdit(cell_id="c1", colour="red")


def test_only_touched_cells_must_be_valid() -> None:
    """Errors that were there before, elsewhere, refuse nothing."""
    bad = code(id="not valid!", outputs=[{"output_type": "stream"}])
    data = samples.one_line(notebook(bad, code(id="good")))
    assert b'"n"' in edited(data, {"cell_id": "good", "new_source": "n"})
    with pytest.raises(NotebookRefused, match="invalid result"):
        edited(data, {"cell_id": "not valid!", "new_source": "n"})
    for source in (3, None, ["a", 1]):
        for change in ({"edit_mode": "clear_outputs"}, {"edit_mode": "convert", "cell_type": "raw"}):
            with pytest.raises(NotebookRefused, match="invalid result"):
                edited(samples.minified(notebook(code(source))), {"cell_id": "c0"} | change)
    newer = notebook(code(later=1)) | {"nbformat_minor": 9}
    assert b'"n"' in edited(samples.one_line(newer), {"cell_id": "c0", "new_source": "n"})


def test_a_refused_cell_is_named_as_it_is_now() -> None:
    """Nothing was modified: an index after the batch would be that of another cell."""
    data = samples.one_line(notebook(code("a"), code("b"), code("c", zz=1)))
    batch = [{"edit_mode": "delete", "cell_id": "c0"}, {"cell_id": "c2", "new_source": "n"}]
    with pytest.raises(NotebookRefused, match=r"edit 2 of 2: .*'c2' \(index 2\)") as caught:
        edited(data, *batch)
    assert (caught.value.details["index"], caught.value.details["edit"]) == (2, 1)
    batch = [_insert("n", at="end"), _insert("n", after="c1"), {"edit_mode": "delete", "cell_id": "c1"}]
    with pytest.raises(Invalid, match=r"edit 2 of 3: .*'c1'"):
        edited(data, *batch)


def test_nothing_transient_is_written() -> None:
    """Trust lives in the signature, which an edit does not renew."""
    after = edited(DATA, {"cell_id": "c1", "new_source": "n"}, _insert("m", at="end"))
    assert b"trusted" not in after


def test_diffs_say_per_cell_what_happened() -> None:
    result = apply(
        DATA, {"cell_id": "c1", "new_source": "x = 1\ny = 2"}, _insert("a\nb", at="start"),
        {"edit_mode": "delete", "cell_id": "c2"}, {"edit_mode": "convert", "cell_id": "c0", "cell_type": "raw"},
    )  # fmt: skip
    assert [(diff.action, diff.index) for diff in result.diffs] == [
        ("insert", 0), ("convert", 1), ("delete", 2), ("edit", 2),
    ]  # fmt: skip
    rows = result.diffs[3].hunks[0].rows
    assert [(row.kind, row.text) for row in rows] == [("context", "x = 1"), ("remove", "y = 1"), ("add", "y = 2")]
    assert [row.kind for row in result.diffs[2].hunks[0].rows] == ["remove"]


def test_targets_tell_a_gate_what_a_batch_relies_on() -> None:
    batch = [CellEdit(cell_id="c1", new_source="n"), CellEdit(**_insert("m", after_index=2))]
    found = [(target.number, target.index, target.by_index, target.changes) for target in document(DATA).targets(batch)]
    assert found == [(0, 1, False, True), (1, 2, True, False)]


def test_outputs_and_counts_do_not_change_a_fingerprint_but_sources_do() -> None:
    before = document(DATA)
    cleared = document(edited(DATA, {"edit_mode": "clear_outputs", "cell_id": "c1"}))
    assert [cell.fingerprint for cell in cleared.cells] == [cell.fingerprint for cell in before.cells]
    changed = document(edited(DATA, {"cell_id": "c1", "new_source": "n"}))
    assert changed.cells[1].fingerprint != before.cells[1].fingerprint and changed.order == before.order
    assert document(edited(DATA, {"edit_mode": "move", "cell_id": "c0", "at": "end"})).order != before.order


def test_the_diff_says_that_several_cells_have_the_id_of_one() -> None:
    data = samples.jupyterlab(notebook(code("a", id="same"), code("b", id="same"), code("c", id="other")))
    result = apply(data, {"index": 1, "new_source": "B"}, {"index": 2, "new_source": "C"})
    assert [(diff.cell_id, diff.duplicate) for diff in result.diffs] == [("same", True), ("other", False)]
    steps = compared(document(data), document(data.replace(b'"b"', b'"B"'))).diffs
    assert [(diff.cell_id, diff.duplicate) for diff in steps] == [("same", True)]
