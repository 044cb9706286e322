from __future__ import annotations

import json

import nbformat
import pytest

from jupyter_fstools.errors import Ambiguous, Invalid, NotFound, OutOfRange

from . import samples
from .samples import apply, code, document, edited, markdown, notebook, raw


def _ids(data: bytes) -> list[str]:
    return [cell.cell_id for cell in document(data).cells]


def test_missing_ids_are_synthetic_and_the_same_on_every_read() -> None:
    """Neither a read nor an edit writes them."""
    cells = [{**code("a"), "id": None}, markdown("b"), raw("c"), code("a"), raw("")]
    data = samples.minified(notebook() | {"cells": cells})
    first = _ids(data)
    assert first == _ids(data) and len(set(first)) == 5 and all(first)
    after = edited(data, {"edit_mode": "edit", "cell_id": first[1], "old_string": "b", "new_string": "B"})
    assert json.loads(after)["cells"][1] == markdown("B")
    assert _ids(after)[2:] == first[2:]


def test_the_id_in_the_result_names_the_cell_at_the_next_read() -> None:
    data = samples.jupyterlab(notebook(code("a"), markdown("b"), minor=4))
    result = apply(data, {"cell_id": _ids(data)[0], "new_source": "new"})
    after = samples.spliced(data, result.splices)
    assert document(after).find(result.cells[0].cell_id).source == "new"
    assert [cell.cell_id for cell in result.after] == _ids(after)
    assert result.after[0].written == ("code", "new")


def test_a_synthetic_id_follows_its_cell() -> None:
    data = samples.jupyterlab(notebook(code("a"), markdown("b"), minor=4))
    wanted = _ids(data)[1]
    after = edited(data, {"edit_mode": "insert", "at": "start", "cell_type": "code", "new_source": "top"})
    assert document(after).find(wanted).index == 2


def test_a_changed_twin_never_hands_its_name_to_another_cell() -> None:
    data = samples.jupyterlab(notebook(code("a"), code("a"), code("a"), minor=4))
    first, second, third = _ids(data)
    after = edited(data, {"index": 0, "new_source": "new"})
    assert document(after).find(third).index == 2
    for changed in (first, second):
        with pytest.raises(NotFound):
            document(after).find(changed)


def test_a_synthetic_id_never_is_a_real_one() -> None:
    synthetic = _ids(samples.minified(notebook(code("a"), minor=4)))[0]
    data = samples.minified(notebook() | {"cells": [code("a"), markdown("x", id=synthetic)]})
    assert _ids(data)[0] != synthetic == _ids(data)[1]


def test_duplicate_ids_are_ambiguous_and_indexes_name_them() -> None:
    data = samples.minified(notebook(code("a", id="same"), code("b", id="same"), code("c")))
    with pytest.raises(Ambiguous) as refused:
        edited(data, {"cell_id": "same", "new_source": "n"})
    assert refused.value.details["indexes"] == [0, 1]
    after = json.loads(edited(data, {"index": 1, "new_source": "n"}))
    assert [cell["source"] for cell in after["cells"]] == ["a", "n", "c"]
    assert document(data).duplicate_ids == {"same"}


def test_an_id_that_looks_like_an_index_is_an_id() -> None:
    data = samples.minified(notebook(code("a", id="1"), code("b", id="0"), code("c", id="cell-3")))
    assert json.loads(edited(data, {"cell_id": "0", "new_source": "n"}))["cells"][1]["source"] == "n"
    with pytest.raises(NotFound):
        edited(data, {"cell_id": "2", "new_source": "n"})
    with pytest.raises(Invalid, match="different cells"):
        edited(data, {"cell_id": "0", "index": 0, "new_source": "n"})


def test_an_unknown_id_lists_what_there_is_within_bounds() -> None:
    data = samples.minified(notebook(*(code(f"line {at}\nmore") for at in range(50))))
    with pytest.raises(NotFound) as refused:
        document(data).find("nowhere")
    cells = refused.value.details["cells"]
    assert cells[3] == {"cell_id": "c3", "index": 3, "first_line": "line 3"}
    assert len(cells) == 20 and "and 30 more" in refused.value.hint


def test_a_hash_sign_or_the_start_of_a_hexadecimal_id_is_forgiven_only_where_unique() -> None:
    found = document(samples.minified(notebook(code(id="ab12cd34"), code(id="ab12cd99"), code(id="f0f0f0f0"))))
    assert found.find("#ab12cd34").index == 0
    assert found.find("f0f0f0").index == 2
    for vague in ("ab12cd", "f0f0"):
        with pytest.raises(NotFound):
            found.find(vague)


def test_new_cells_get_fresh_valid_ids_from_4_5_on_and_none_before() -> None:
    insert = {"edit_mode": "insert", "at": "end", "cell_type": "code", "new_source": "n"}
    for minor in (2, 4, 5):
        value = json.loads(edited(samples.jupyterlab(notebook(code(), minor=minor)), insert, insert))
        assert value["nbformat_minor"] == minor
        assert len({cell.get("id") for cell in value["cells"]}) == (3 if minor == 5 else 1)
        nbformat.validate(value)


def test_indexes_out_of_range_name_the_total() -> None:
    data = samples.minified(notebook(code()))
    with pytest.raises(OutOfRange, match=r"1 cell\b"):
        edited(data, {"index": 1, "new_source": "n"})
    with pytest.raises(Invalid, match="from 0"):
        edited(data, {"index": -1, "new_source": "n"})
