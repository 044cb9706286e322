"""Cells without ids of which several have the same source."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_fstools.documents.notebook import CellEdit, NotebookDocument
from jupyter_fstools.errors import Ambiguous, FsToolsError, Invalid, NotFound

from .samples import PICTURE, STREAM, STYLES, apply, code, document, jupyterlab, markdown, minified, notebook, spliced

Cells = list[dict[str, Any]]


def _ids(*cells: dict[str, Any]) -> list[str]:
    return [cell.cell_id for cell in _document(list(cells)).cells]


def _document(cells: Cells) -> NotebookDocument:
    return document(minified(notebook(*cells, minor=4)))


def _named(cells: Cells, cell_id: str) -> int | None:
    try:
        return _document(cells).find(cell_id).index
    except (NotFound, Ambiguous):
        return None


def test_filling_one_of_two_empty_cells_leaves_the_name_of_the_other() -> None:
    x, y, empty = code("x"), code("y"), code("", outputs=[])
    ids = _ids(x, empty, y, empty)
    assert _named([x, code("filled"), y, empty], ids[3]) == 3
    assert _named([x, code("filled"), y, empty], ids[1]) is None
    assert _named([x, empty, y, code("filled")], ids[1]) == 1
    assert _document([x, empty, y, code("filled")]).find(ids[1], 1).index == 1
    with pytest.raises(Invalid, match="different cells"):
        _document([x, empty, y, code("filled")]).find(ids[3], 1)


def test_a_moved_twin_does_not_leave_its_name_to_the_other() -> None:
    one, other, end = code("dup"), code("dup"), code("end")
    ids = _ids(one, other, end)
    for after in ([other, end, one], [one, end], [end, one, other]):
        for cell_id in ids[:2]:
            found = _named(after, cell_id)
            assert found is None or _around(after, found) == _around([one, other, end], ids.index(cell_id))


def test_twins_are_named_by_where_they_stand_so_that_running_them_changes_no_name() -> None:
    shown, silent = code("dup"), code("dup", outputs=[])
    a, b, c = markdown("a"), markdown("b"), markdown("c")
    ids = _ids(a, shown, b, silent, c)
    assert _ids(a, shown, b, shown, c) == ids
    assert _named([a, b, c, silent], ids[1]) is None
    assert _named([a, shown, shown, b, c], ids[1]) is None


def test_equal_cells_in_a_row_are_named_by_what_they_hold() -> None:
    shown, silent, picture = code("dup"), code("dup", outputs=[]), code("dup", outputs=[PICTURE])
    ids = _ids(shown, silent, picture)
    assert len(set(ids)) == 3
    for after in ([picture, shown, silent], [silent, picture, shown]):
        assert [_named(after, cell_id) for cell_id in ids] == [None] * 3
    assert [_named([shown, picture, silent], cell_id) for cell_id in ids] == [0, None, None]


def test_only_cells_that_nothing_tells_apart_are_counted() -> None:
    empty = code("", outputs=[])
    ids = _ids(markdown("a"), *[empty] * 4, markdown("b"))
    assert [cell_id.count("-") for cell_id in ids] == [1, 2, 3, 3, 2, 1]
    assert ids[2].endswith("-1of2") and ids[3].endswith("-2of2") and ids[2][:-4] == ids[3][:-4]
    assert _named([markdown("a"), *[empty] * 3, markdown("b")], ids[2]) is None


def test_the_name_of_a_single_cell_is_refused_where_it_got_a_twin() -> None:
    cell_id = _ids(code("a"), code("b"))[0]
    with pytest.raises(Ambiguous) as refused:
        _document([code("a"), code("b"), code("a")]).find(cell_id)
    assert refused.value.details["indexes"] == [0, 2]
    assert [row["cell_id"] for row in refused.value.details["cells"]] == _ids(code("a"), code("b"), code("a"))[::2]


def test_a_name_that_fits_none_of_the_twins_lists_them() -> None:
    a, b = code("a"), code("b")
    cell_id = _ids(a, b, a)[0]
    with pytest.raises(NotFound, match="changed or moved") as refused:
        _document([b, a, b, a]).find(cell_id)
    assert refused.value.details["cells"] == [
        {"cell_id": named, "index": index, "first_line": "a", "after": "b"}
        for index, named in enumerate(_ids(b, a, b, a))
        if index % 2
    ]
    assert "1: " in refused.value.hint and "after 'b'" in refused.value.hint


def test_new_outputs_of_a_twin_are_no_new_order() -> None:
    before, after = ([code("a", outputs=made), code("b"), code("a")] for made in ([], [PICTURE]))
    assert _document(before).order == _document(after).order != _document(after[1:]).order


def test_an_edit_tells_which_other_cells_it_renames() -> None:
    data = jupyterlab(notebook(code("x"), code(""), code(""), code("y"), code(""), minor=4))
    ids = [cell.cell_id for cell in document(data).cells]
    result = apply(data, {"cell_id": ids[1], "new_source": "filled"})
    after = [cell.cell_id for cell in document(spliced(data, result.splices)).cells]
    assert [(one.old_id, one.cell_id, one.index) for one in result.renamed] == [(ids[2], after[2], 2)]
    assert after[4] == ids[4]
    moved = apply(data, {"edit_mode": "move", "cell_id": ids[4], "at": "start"})
    assert {one.old_id: one.index for one in moved.renamed} == {ids[4]: 0}


SOURCES = st.sampled_from(["", "a", "b"])
SAMPLES = st.one_of(
    st.builds(code, SOURCES, outputs=st.sampled_from([[], [STREAM], [PICTURE]])),
    st.builds(markdown, SOURCES),
)
NOTEBOOKS = st.lists(SAMPLES, max_size=8)
_EDITS: Cells = [
    {"edit_mode": "replace", "new_source": "a"},
    {"edit_mode": "replace", "new_source": ""},
    {"edit_mode": "delete"},
    {"edit_mode": "move", "at": "start"},
    {"edit_mode": "convert", "cell_type": "code"},
    {"edit_mode": "clear_outputs"},
]


@st.composite
def _changed(draw: st.DrawFn, cells: Cells) -> Cells:
    """Another order, with cells taken away, brought in and changed."""
    after = list(cells)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(after)))
        how = draw(st.sampled_from(["insert", "delete", "change", "move"])) if at < len(after) else "insert"
        taken = after.pop(at) if how in ("delete", "move") else None
        if how in ("insert", "move"):
            after.insert(draw(st.integers(0, len(after))), taken or draw(SAMPLES))
        elif how == "change":
            after[at] = draw(SAMPLES)
    return after


@settings(max_examples=300)
@given(NOTEBOOKS, st.data())
def test_a_name_leads_to_the_cell_that_was_shown_or_nowhere(before: Cells, data: st.DataObject) -> None:
    after = data.draw(_changed(before))
    old, new = _document(before), _document(after)
    for index, cell in enumerate(old.cells):
        found = _named(after, cell.cell_id)
        alike = [other for other in old.cells if other.source == cell.source]
        if found is not None:
            assert new.cells[found].source == cell.source
            if len(alike) > 1:
                assert _around(after, found) == _around(before, index)
                assert after[found] == before[index] or (_is_lone(after, found) and _is_lone(before, index))
    for one in (old, new):
        assert len({cell.cell_id for cell in one.cells}) == len(one.cells)


@settings(max_examples=300)
@given(NOTEBOOKS, st.data())
def test_what_is_untouched_beside_what_is_untouched_keeps_its_name(before: Cells, data: st.DataObject) -> None:
    after = data.draw(_changed(before))
    ids = _ids(*before)

    def places(cells: Cells, index: int) -> list[int]:
        wanted = before[index]["source"], _around(before, index)
        return [at for at in range(len(cells)) if (cells[at]["source"], _around(cells, at)) == wanted]

    for index, cell in enumerate(before):
        alone = [[one["source"] for one in cells].count(cell["source"]) == 1 for cells in (before, after)]
        there = places(after, index)
        stays = len(there) == len(places(before, index)) == 1 and (alone[1] or not alone[0])
        if stays and (after[there[0]] == cell or _is_lone(before, index)):
            assert _named(after, ids[index]) == there[0]


@settings(max_examples=200)
@given(NOTEBOOKS.filter(bool), st.sampled_from(STYLES), st.data())
def test_a_batch_tells_every_name_after_it(cells: Cells, style: Any, data: st.DataObject) -> None:
    before = style(notebook(*deepcopy(cells), minor=4))
    edits: list[dict[str, Any]] = []
    for index in data.draw(st.lists(st.integers(0, len(cells) - 1), unique=True, min_size=1, max_size=3)):
        edits.append({"index": index} | data.draw(st.sampled_from(_EDITS)))
    inserted = {"edit_mode": "insert", "cell_type": "code", "new_source": data.draw(SOURCES), "at": "end"}
    try:
        result = apply(before, *(CellEdit(**edit) for edit in [*edits, inserted]))
    except FsToolsError:  # The cell has this source, or this type, already.
        return
    after = document(spliced(before, result.splices))
    assert [cell.cell_id for cell in result.after] == [cell.cell_id for cell in after.cells]
    renamed = {one.old_id: (one.cell_id, one.index) for one in result.renamed}
    for index, cell in enumerate(result.after):
        if cell.origin is not None and cell.written is None:
            old_id = document(before).cells[cell.origin].cell_id
            assert renamed.get(old_id, (old_id, index)) == (cell.cell_id, index)


def _around(cells: Cells, index: int) -> tuple[str | None, str | None]:
    """The sources of the cells before and after one."""
    sources = [None, *(cell["source"] for cell in cells), None]
    return sources[index], sources[index + 2]


def _is_lone(cells: Cells, index: int) -> bool:
    return cells[index]["source"] not in _around(cells, index)
