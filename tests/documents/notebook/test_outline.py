"""The positions of the cells after an edit are known without a scan of the whole notebook."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.notebook import CellEdit, NotebookDocument, outline_of
from jupyter_fstools.documents.notebook.spans import outline_after
from jupyter_fstools.errors import Conflict

from .samples import STYLES, apply, code, document, edited, jupyterlab, markdown, notebook, raw, spliced

SOURCES = st.text(alphabet='ab \n"\\é😀{}[],', max_size=9)
EDITS = st.fixed_dictionaries(
    {"index": st.integers(0, 3)},
    optional={"new_source": SOURCES.map("{}!".format), "cell_type": st.sampled_from(["code", "raw"])},
).map(lambda edit: edit if len(edit) > 1 else edit | {"edit_mode": "clear_outputs"})


def places(spans):
    cells = [(cell.start, cell.end, cell.real_id, cell.cell_type, cell.is_object) for cell in spans.cells]
    root = spans.root
    return cells, root.start, root.end, root.members(), spans.array, spans.major, spans.minor, spans.ascii


def book(style, *texts):
    return style(notebook(code("x = 1"), markdown("# é"), raw("r"), code("last"), *map(markdown, texts), lang="ä"))


def same_id(edit):
    return {"new_source": edit.get("new_source", "new"), "edit_mode": "replace"} | edit


@settings(max_examples=200)
@given(st.sampled_from(STYLES), st.lists(EDITS, min_size=1, max_size=3, unique_by=lambda edit: edit["index"]))
def test_the_outline_after_an_edit_is_that_of_the_new_content(style, edits):
    before = book(style)
    batch = [CellEdit(**same_id({key: edit[key] for key in edit if key != "edit_mode"})) for edit in edits]
    splices = apply(before, *batch).splices
    after = spliced(before, splices)
    found = outline_after(document(before).spans, splices, BytesContent(after))
    if found is not None:
        assert places(found) == places(outline_of(document(after).spans))
        again = NotebookDocument(BytesContent(after), found)
        assert [cell.source for cell in again.cells] == [cell.source for cell in document(after).cells]


@pytest.mark.parametrize("style", STYLES)
def test_one_edit_after_the_other_needs_one_look(style):
    data, outline = book(style), None
    for number in (0, 2, 3):
        found = NotebookDocument(BytesContent(data), outline)
        splices = found.apply([CellEdit(index=number, new_source="y" * 10**number)]).splices
        data = spliced(data, splices)
        outline = outline_after(found.spans, splices, BytesContent(data))
        assert outline is not None and places(outline) == places(outline_of(document(data).spans))


@pytest.mark.parametrize(
    "edit",
    [
        {"edit_mode": "delete", "index": 1},
        {"edit_mode": "move", "index": 0, "at": "end"},
        {"edit_mode": "insert", "new_source": "n", "cell_type": "raw", "at": "end"},
        {"edit_mode": "insert", "new_source": "n", "cell_type": "raw", "at": "start"},
    ],
)
def test_cells_that_come_go_or_move_take_a_new_look(edit):
    data = book(jupyterlab)
    splices = apply(data, edit).splices
    assert outline_after(document(data).spans, splices, BytesContent(spliced(data, splices))) is None


def test_a_notebook_that_may_have_become_ascii_takes_a_new_look():
    data = jupyterlab(notebook(markdown("é")))
    splices = apply(data, {"index": 0, "new_source": "e"}).splices
    assert outline_after(document(data).spans, splices, BytesContent(spliced(data, splices))) is None


@pytest.mark.parametrize("grown", ["x", "yy", "zzz"])
def test_an_outline_of_another_content_is_noticed(grown):
    data = book(jupyterlab, "a", "b")
    other = NotebookDocument(
        BytesContent(edited(data, {"index": 0, "new_source": grown})), outline_of(document(data).spans)
    )
    with pytest.raises(Conflict):
        [cell.source for cell in other.cells]
