from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.documents.notebook import CellEdit, cell_view, json_cursor, spans
from jupyter_fstools.documents.notebook.json_cursor import JsonCursor
from jupyter_fstools.errors import FsToolsError, NotebookRefused, TooLarge

from . import samples
from .samples import code, document, edited, markdown, notebook

GOOD = samples.jupyterlab(notebook(markdown("é"), code()))


def _refusal(data: bytes) -> FsToolsError:
    with pytest.raises(NotebookRefused) as refused:
        document(data)
    return refused.value


def test_empty_bom_and_other_encodings_are_refused() -> None:
    assert "empty" in _refusal(b"").message
    assert "white space" in _refusal(b" \n").message
    assert "byte order mark" in _refusal(b"\xef\xbb\xbf" + GOOD).message
    assert _refusal(GOOD.decode().encode("latin-1")).details["offset"] == GOOD.index("é".encode())
    assert _refusal(GOOD.decode().encode("utf-16")).details["offset"] == 0
    assert _refusal(GOOD + b"\xc3").details["offset"] == len(GOOD)


@pytest.mark.parametrize(
    ("data", "line", "column", "word"),
    [
        (GOOD[: len(GOOD) // 2], None, None, "too early"),
        (GOOD + b"{}", GOOD.count(b"\n") + 1, 1, "follows the end"),
        (b'{"cells": [],\n "a": [1,\n  2,],\n}', 3, 5, "expected a value"),
        (b'{"a": 1,\n}', 2, 1, "key"),
        ('{"é":"é", é}'.encode(), 1, 11, "key"),
        (b'{"a": "x\ny"}', 1, 9, "control character"),
        (b'{"a": "\\x"}', 1, 8, "escape"),
        (b'{"a": 01}', 1, 7, "value"),
        (b'{"a": nul}', 1, 7, "value"),
        (b'{"a" 1}', 1, 6, "':'"),
        (b'{"cells": [{"source": ["a\\n",\n<<<<<<< HEAD\n"b"', 2, 1, "merge-conflict"),
    ],
)
def test_broken_json_names_line_and_column(data, line, column, word) -> None:
    """1-based, columns in characters."""
    error = _refusal(data)
    assert word in error.message
    assert line is None or (error.details["line"], error.details["column"]) == (line, column)
    assert f"line {error.details['line']}, column {error.details['column']}" in error.message


def test_what_is_no_object_is_no_notebook() -> None:
    assert "an array" in _refusal(b"[1]").message
    assert "a string" in _refusal(b'"x"').message


def test_a_file_above_the_limit_is_refused_unread(monkeypatch) -> None:
    monkeypatch.setattr(spans, "MAX_BYTES", 10)
    with pytest.raises(TooLarge, match="10"):
        document(GOOD)


def test_other_versions_are_read_and_not_edited() -> None:
    old = {
        "metadata": {},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": [{"cell_type": "code", "input": ["a\n", "b"], "language": "python", "outputs": []}]},
                       {"cells": [{"cell_type": "heading", "level": 1, "source": "h"}]}],
    }  # fmt: skip
    assert [cell.source for cell in document(json.dumps(old).encode()).cells] == ["a\nb", "h"]
    for value in (old, notebook(code()) | {"nbformat": 5}, notebook(code()) | {"nbformat": "4"}):
        data = json.dumps(value).encode()
        cell_id = document(data).cells[0].cell_id
        with pytest.raises(NotebookRefused, match="not edited"):
            edited(data, {"cell_id": cell_id, "new_source": "n"})


def test_lines_without_line_breaks_are_lines_in_notebooks_older_than_nbformat_4() -> None:
    """nbformat 2 split sources without them; a list in nbformat 4 is joined as it is."""
    bare, whole = ["a = 1", "", "b"], ["a = 1\n", "b"]
    cells = [{"cell_type": "code", "input": lines, "outputs": []} for lines in (bare, whole, ["a"], [])]
    old = {"metadata": {}, "nbformat": 2, "worksheets": [{"cells": cells}]}
    assert [cell.source for cell in document(json.dumps(old).encode()).cells] == ["a = 1\n\nb", "a = 1\nb", "a", ""]
    assert document(json.dumps(notebook(code() | {"source": bare})).encode()).cells[0].source == "a = 1b"


def test_sources_of_nbformat_1_are_read() -> None:
    cells = [{"cell_type": "code", "code": "a"}, {"cell_type": "text", "text": "b"}]
    assert [cell.source for cell in document(json.dumps({"cells": cells}).encode()).cells] == ["a", "b"]


@pytest.mark.parametrize(
    ("version", "way"), [(3, "nbconvert --to notebook --inplace"), (5, "program that wrote it"), ("4", '"nbformat"')]
)
def test_the_hint_for_another_version_names_a_way_that_works(version, way) -> None:
    """nbconvert converts older versions only, and without --inplace into another file."""
    with pytest.raises(NotebookRefused) as refused:
        edited(json.dumps(notebook(code()) | {"nbformat": version}).encode(), {"index": 0, "new_source": "n"})
    assert way in refused.value.hint


def test_malformed_cells_are_read_and_only_they_refuse_edits() -> None:
    bad = [{"cell_type": "code", "id": "nosource", "metadata": {}, "outputs": [], "execution_count": None}, 5,
           {"cell_type": "strange", "id": "strange", "metadata": {}, "source": "s"},
           {"cell_type": "markdown", "id": "nometa", "source": 3}]  # fmt: skip
    data = samples.one_line(notebook(code(id="good")) | {"cells": [*bad, code(id="good")]})
    assert [cell.source for cell in document(data).cells] == ["", "", "s", "", "x = 1\ny = 2"]
    assert b'"n"' in edited(data, {"cell_id": "good", "new_source": "n"})
    for index in range(4):
        with pytest.raises(NotebookRefused, match="invalid"):
            edited(data, {"index": index, "new_source": "n"})
    assert len(json.loads(edited(data, {"edit_mode": "delete", "index": 1}))["cells"]) == 4


def test_cells_that_are_no_list_are_no_cells() -> None:
    data = samples.one_line(notebook()).replace(b'"cells": []', b'"cells": {"a": 1}')
    assert document(data).cells == []
    with pytest.raises(NotebookRefused, match="no list of cells"):
        edited(data, {"edit_mode": "insert", "at": "end", "cell_type": "code", "new_source": ""})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=25,
)


def _accepts(data: bytes, window: int) -> bool:
    old, json_cursor.WINDOW_BYTES = json_cursor.WINDOW_BYTES, window
    try:
        cursor = JsonCursor(BytesContent(data))
        assert cursor.skip() or True
        cursor.finish()
        return True
    except NotebookRefused:
        return False
    finally:
        json_cursor.WINDOW_BYTES = old


@given(JSON, st.sampled_from([None, 1, "\t"]), st.booleans(), st.data())
def test_the_cursor_accepts_exactly_what_json_accepts_in_any_window(value, indent, escaped, data) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 2))
    junk = data.draw(st.sampled_from(["", "", ",", "]", "}", '"', "\\", "0", "-", "e5", "\x01", "NaN", " ", "\n", "é"]))
    text = text[:at] + junk + text[at + cut :]
    try:
        json.loads(text)
        valid = True
    except ValueError:
        valid = False
    encoded = text.encode("utf-8", "replace")
    assert {_accepts(encoded, window) for window in (1, 7, 64, 1 << 18)} == {valid}


@pytest.mark.parametrize("filler", ["A", "é", '\\"', "\\u00e9", "😀"])
def test_long_strings_pass_in_any_window(filler) -> None:
    data = json.dumps(["x", "y"]).replace("y", filler * 3000).encode()
    assert all(_accepts(data, window) for window in (64, 500, 1 << 18))
    for bad in ("\n", "\\q", "\x1f"):
        broken = data.replace(filler.encode() * 3000, (filler * 2000 + bad + filler * 1000).encode())
        assert not any(_accepts(broken, window) for window in (64, 500, 1 << 18))


def test_deep_nesting_is_walked_without_recursion() -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    data = samples.minified(notebook(code(), code())).replace(b'"metadata":{}', b'"metadata":{"d":' + deep + b"}", 1)
    assert deep in edited(data, {"cell_id": "c1", "new_source": "n"})
    with pytest.raises(NotebookRefused, match="nested"):
        edited(data, {"cell_id": "c0", "new_source": "n"})


def test_what_is_nested_too_deeply_is_passed_over_in_reading() -> None:
    """Only the cell that has it refuses edits, also where all cells are named by their sources."""
    deep = b"[" * 50_000 + b"]" * 50_000
    text = {"output_type": "stream", "name": "stdout", "text": ["x"]}
    for place in (b'"execution_count":7', b'"source":["x"]', b'"text":["x"]'):
        data = samples.minified(notebook(code(["x"], outputs=[text]), code(), minor=4))
        found = document(data.replace(place, place.partition(b":")[0] + b":" + deep, 1))
        assert cell_view(found, found.cells[0]).cell_type == "code"
        assert found.apply([CellEdit(cell_id=found.cells[1].cell_id, new_source="n")]).splices
        if b"text" not in place:
            with pytest.raises(NotebookRefused, match="nested"):
                found.apply([CellEdit(index=0, new_source="n", keep_outputs=True)])
        assert found.apply([CellEdit(edit_mode="delete", index=0)]).total_cells == 1
