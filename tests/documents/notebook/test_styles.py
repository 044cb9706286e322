from __future__ import annotations

import json

import nbformat
import pytest

from . import samples
from .independent_scanner import around_cells, cell_texts
from .samples import PICTURE, STYLES, apply, code, edited, markdown, notebook, raw

MODES = [
    ("replace", {"cell_id": "c1", "new_source": "new\né\n"}, "c1"),
    ("edit", {"edit_mode": "edit", "cell_id": "c1", "old_string": "= 1", "new_string": "= é"}, "c1"),
    ("after", {"edit_mode": "insert", "after": "c1", "cell_type": "code", "new_source": "é\nb"}, None),
    ("start", {"edit_mode": "insert", "at": "start", "cell_type": "markdown", "new_source": "é"}, None),
    ("end", {"edit_mode": "insert", "at": "end", "cell_type": "raw", "new_source": ""}, None),
    ("delete", {"edit_mode": "delete", "cell_id": "c1"}, "c1"),
    ("delete first", {"edit_mode": "delete", "cell_id": "c0"}, "c0"),
    ("delete last", {"edit_mode": "delete", "cell_id": "c3"}, "c3"),
    ("move", {"edit_mode": "move", "cell_id": "c1", "at": "end"}, "c1"),
    ("move up", {"edit_mode": "move", "cell_id": "c3", "before": "c0"}, "c3"),
    ("to raw", {"edit_mode": "convert", "cell_id": "c1", "cell_type": "raw"}, "c1"),
    ("to code", {"edit_mode": "convert", "cell_id": "c3", "cell_type": "code"}, "c3"),
    ("clear", {"edit_mode": "clear_outputs", "cell_id": "c1"}, "c1"),
]


def _notebook() -> dict:
    attached = {"a.png": {"image/png": "iVBO"}}
    first = markdown("# é\n\u2028text", attachments=attached)
    return notebook(first, code(outputs=[samples.STREAM, PICTURE]), raw(""), markdown(""))


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
@pytest.mark.parametrize(("change", "touched"), [mode[1:] for mode in MODES], ids=[mode[0] for mode in MODES])
def test_every_mode_leaves_all_other_bytes_as_they_were(style, change, touched) -> None:
    """By a scanner that shares no code with the one under test."""
    data = style(_notebook())
    after = edited(data, change)
    assert around_cells(after) == around_cells(data)
    old = {json.loads(text)["id"]: text for text in cell_texts(data)}
    new = {json.loads(text)["id"]: text for text in cell_texts(after)}
    assert all(new[cell_id] == text for cell_id, text in old.items() if cell_id != touched)
    nbformat.validate(json.loads(after))


@pytest.mark.parametrize("style", [samples.jupyterlab, samples.colab, samples.vscode, samples.crlf, samples.tabs])
@pytest.mark.parametrize("change", [mode[1] for mode in MODES], ids=[mode[0] for mode in MODES])
def test_regular_files_come_out_as_their_program_writes_them(style, change) -> None:
    after = edited(style(_notebook()), change)
    value = json.loads(after)
    if style is samples.colab and change.get("cell_type") == "code":
        return  # New members go to the end where keys are not sorted.
    assert after == style(value)


def test_an_escaped_file_gets_escapes_and_a_raw_one_raw_letters() -> None:
    change = {"cell_id": "c0", "new_source": "ü"}
    assert b'"\\u00fc"' in edited(samples.vscode(notebook(code("é"))), change)
    assert '"ü"'.encode() in edited(samples.jupyterlab(notebook(code("é"))), change)
    assert '"ü"'.encode() in edited(samples.vscode(notebook(code("plain"))), change)
    assert '"ü"'.encode() in edited(samples.vscode(notebook(code("\x1b[0m \\u00e9 in python"))), change)


def test_odd_values_elsewhere_stay_byte_for_byte() -> None:
    odd = (
        r'{"cell_type":"code","id":"a","metadata":{"n":1.10,"e":1E5,"i":1e400,"x":NaN,"big":12345678901234567890123,"s":'
        r'1e-7},"outputs":[{"output_type":"execute_result","execution_count":1,"metadata":{"k":1,"k":2},"data":{"text'
        r'/plain":"\u00e9\/"}}],"execution_count":1,"source":"\u0041\ud83d"}'
    )
    plain = '{"cell_type":"code","id":"b","metadata":{},"outputs":[],"execution_count":null,"source":"x"}'
    tail = '"metadata":{},"nbformat":4,"nbformat_minor":5,"mine":[-Infinity]}'
    data = f'{{"cells":[{odd},{plain}],{tail}'.encode()
    assert edited(data, {"cell_id": "b", "new_source": "y"}) == data.replace(b'"source":"x"', b'"source":"y"')
    assert odd in edited(data, {"edit_mode": "delete", "cell_id": "b"}).decode()


def test_lists_stay_lists_split_at_newlines_only_and_strings_stay_strings() -> None:
    text = "a\u2028b\x0cc\x85d\re\n\nlast"
    data = samples.minified(notebook(code(["x\n", "y"]), code("x\ny")))
    after = json.loads(edited(data, {"edit_mode": "edit", "cell_id": "c0", "old_string": "x\n", "new_string": text}))
    assert after["cells"][0]["source"] == ["a\u2028b\x0cc\x85d\re\n", "\n", "lasty"]
    assert json.loads(edited(data, {"cell_id": "c1", "new_source": "p\nq\n"}))["cells"][1]["source"] == "p\nq\n"
    assert json.loads(edited(data, {"cell_id": "c0", "new_source": "p\nq\n"}))["cells"][0]["source"] == ["p\n", "q\n"]
    assert json.loads(edited(data, {"cell_id": "c0", "new_source": ""}))["cells"][0]["source"] == []


def test_lines_that_stay_keep_their_own_spelling() -> None:
    data = samples.minified(notebook(code(["\N{BULLET}\n", "b\n", "c"]))).replace("\N{BULLET}".encode(), rb"\u2022\/")
    after = edited(data, {"cell_id": "c0", "new_source": "\N{BULLET}/\nB\nc"})
    assert rb'["\u2022\/\n","B\n","c"]' in after


def test_an_empty_notebook_takes_cells_in_its_own_layout() -> None:
    insert = {"edit_mode": "insert", "at": "end", "cell_type": "markdown", "new_source": "a\nb"}
    for style in STYLES:
        data = style(notebook())
        after = edited(data, insert, insert)
        assert [cell["source"] for cell in json.loads(after)["cells"]] == [["a\n", "b"]] * 2
        assert around_cells(after) == around_cells(data)
        if style in (samples.jupyterlab, samples.vscode, samples.crlf, samples.tabs, samples.one_line):
            assert after == style(json.loads(after))
        ids = [cell["id"] for cell in json.loads(after)["cells"]]
        emptied = edited(after, *({"edit_mode": "delete", "cell_id": cell_id} for cell_id in ids))
        assert json.loads(emptied)["cells"] == []


def test_nothing_but_the_named_cell_is_in_the_splices() -> None:
    """Unknown top-level keys and other cells are not even looked at."""
    data = samples.jupyterlab(notebook(markdown(), code(), raw()) | {"unknown": {"key": 1}})
    [outputs, *_], result = cell_texts(data), apply(data, {"cell_id": "c1", "new_source": "x = 1\ny = 3"})
    start = data.index(cell_texts(data)[1].encode())
    assert outputs and all(start < splice.offset < start + len(cell_texts(data)[1]) for splice in result.splices)
    assert [splice.inserted for splice in result.splices] == [b"null", b"[]", b'"y = 3"']


def test_lines_between_two_edits_of_a_cell_keep_their_bytes() -> None:
    data = samples.one_line(notebook(code("a\né / A\nb\nc"))).replace(rb"\u00e9 / A", rb"\u00e9 \/ \u0041")
    edits = [
        {"edit_mode": "edit", "cell_id": "c0", "old_string": old, "new_string": f"{old}!", "keep_outputs": True}
        for old in ("a", "c")
    ]
    assert edited(data, *edits) == data.replace(rb'"a\n"', rb'"a!\n"').replace(rb'"c"]', rb'"c!"]')
