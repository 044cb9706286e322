from __future__ import annotations

import json
from typing import Any

import nbformat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_fstools.documents.notebook import CellEdit

from . import samples
from .independent_scanner import around_cells, cell_texts
from .samples import STYLES, apply, document, notebook, spliced

TEXT = st.text(alphabet=st.sampled_from('ab \n\r\t\\"é\u2028\x0c\x85😀/{}[]:,'), max_size=12)


def _cell(kind: str, source: str, tags: list[str], outputs: list[dict[str, Any]]) -> dict[str, Any]:
    cell = {"cell_type": kind, "metadata": {"tags": tags} if tags else {}, "source": source}
    return cell | ({"execution_count": None, "outputs": outputs} if kind == "code" else {})


CELLS = st.lists(
    st.builds(
        _cell, st.sampled_from(["code", "markdown", "raw"]), TEXT, st.lists(st.sampled_from(["x", "y"]), max_size=1),
        st.lists(st.sampled_from([samples.STREAM, samples.PICTURE]), max_size=2),
    ),
    max_size=5,
)  # fmt: skip


@st.composite
def _batches(draw: st.DrawFn, count: int) -> list[CellEdit]:
    """Edits that do not contradict each other: every cell is named at most once, anchors are never deleted."""
    named = draw(st.lists(st.integers(0, count - 1), unique=True, max_size=3)) if count else []
    anchors = [at for at in range(count) if at not in named]
    places: list[dict[str, Any]] = [{"at": "start"}, {"at": "end"}]
    places += [{side: at} for at in anchors for side in ("after_index", "before_index")]
    edits: list[dict[str, Any]] = []
    for index in named:
        mode = draw(st.sampled_from(["replace", "delete", "move"]))
        more = {"replace": {"new_source": draw(TEXT) + "!changed"}, "move": draw(st.sampled_from(places))}.get(mode, {})
        edits.append({"edit_mode": mode, "index": index} | more)
    for _ in range(draw(st.integers(0 if edits else 1, 2))):
        kind = draw(st.sampled_from(["code", "markdown", "raw"]))
        place = draw(st.sampled_from(places))
        edits.append({"edit_mode": "insert", "cell_type": kind, "new_source": draw(TEXT)} | place)
    return [CellEdit(**edit) for edit in edits]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(CELLS, st.sampled_from(STYLES), st.sampled_from([4, 5]), st.data())
def test_any_batch_on_any_notebook_touches_only_what_it_names(cells, style, minor, data) -> None:
    """`apply` also proves that the splices can be taken back."""
    before = style(notebook(*cells, minor=minor))
    batch = data.draw(_batches(len(cells)))
    if len(batch) == 1 and batch[0].edit_mode == "move":
        batch.append(CellEdit(edit_mode="insert", cell_type="raw", new_source="", at="end"))
    result = apply(before, *batch)
    after = spliced(before, result.splices)
    nbformat.validate(json.loads(after))
    assert around_cells(after) == around_cells(before)
    old, new = cell_texts(before), cell_texts(after)
    assert len(new) == result.total_cells == len(document(after).cells)
    gone = {edit.index for edit in batch if edit.edit_mode in ("delete", "replace")}
    untouched = [old[at] for at in range(len(old)) if at not in gone]
    assert sorted(untouched) == sorted(text for at, text in enumerate(new) if at not in _written(result, batch))
    for edit, cell in zip(batch, result.cells, strict=True):
        if edit.edit_mode in ("replace", "insert"):
            wanted = (edit.new_source or "").replace("\r\n", "\n").replace("\r", "\n")
            assert document(after).cells[cell.index].source == wanted
            assert document(after).cells[cell.index].cell_id == cell.cell_id


def _written(result: samples.NotebookEdit, batch: list[CellEdit]) -> set[int]:
    modes = ("replace", "insert")
    return {cell.index for edit, cell in zip(batch, result.cells, strict=True) if edit.edit_mode in modes}


@given(st.lists(TEXT, max_size=4), st.sampled_from(STYLES))
def test_reading_gives_back_every_source(sources, style) -> None:
    found = document(style(notebook(*(samples.code(source) for source in sources))))
    assert [cell.source for cell in found.cells] == sources
