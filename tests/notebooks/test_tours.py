"""The tours run from top to bottom, and show what they say."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TOURS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def toured(path, folder):
    """The notebook after a run in a copy of its own, its cells by id."""
    copy = shutil.copy(path, folder)
    notebook = nbformat.read(copy, as_version=4)
    NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return {cell.id: cell for cell in notebook.cells}


def shown(cell):
    return "\n".join(
        output.get("text") or "\n".join(output.get("traceback", [])) or output["data"]["text/plain"]
        for output in cell.outputs
    )


def refusals(cell):
    return [output.ename for output in cell.outputs if output.output_type == "error"]


@pytest.mark.parametrize("path", TOURS, ids=lambda path: path.stem)
def test_a_tour_is_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


@pytest.mark.parametrize("path", TOURS, ids=lambda path: path.stem)
def test_a_tour_runs_is_refused_where_it_says_and_cleans_up(path, tmp_path):
    cells = toured(path, tmp_path)
    for cell in cells.values():
        if cell.cell_type == "code":
            assert bool(refusals(cell)) == ("raises-exception" in cell.metadata.get("tags", []))
    assert [left.name for left in tmp_path.iterdir()] == [path.name]
    own = {cell.id: cell for cell in nbformat.read(tmp_path / path.name, as_version=4).cells}.get("own")
    if path.stem == "01_read_then_edit":
        assert own.source.startswith("The next cell wrote this")
        require_what_the_first_tour_tells(cells)
    if path.stem == "02_notebook_cells":
        assert own.cell_type == "raw"
        require_what_the_tour_of_cells_tells(cells)
    if path.stem == "03_find_and_fix":
        require_what_the_third_tour_tells(cells)
    if path.stem == "04_ask_before_writing":
        require_what_the_tour_of_approval_tells(cells)
    if path.stem == "05_your_own_assistant":
        require_what_the_tour_of_assistants_tells(cells)


def require_what_the_tour_of_assistants_tells(cells):
    assert shown(cells["strict"]) == "True ['path', 'offset', 'limit'] ['integer', 'null']\n"
    for cell, turns in {
        "completions": ["edit_file refused\nnot_read", "read_file answered", "edit_file answered\nEdited"],
        "responses": [
            "grep refused\ninvalid: caseSensitive",
            "did you mean case_insensitive?",
            "grep answered\nshop.py",
        ],
        "messages": ["edit_file refused\nstale", '+    return f"{price(amount)} euros"', "edit_file answered\nEdited"],
    }.items():
        places = [shown(cells[cell]).find(turn) for turn in turns]
        assert -1 < places[0] < places[1] < places[2], cell
    assert ":.2f} euros" in shown(cells["after"])
    assert "'isError': False" in shown(cells["mcp"])


def require_what_the_first_tour_tells(cells):
    assert refusals(cells["unread"]) == ["NotRead"]
    assert refusals(cells["refused"]) == ["Stale"]
    assert '+print(greeting("Grace"))' in shown(cells["refused"])
    assert "+    return f" in shown(cells["edit"])
    assert shown(cells["changes"]).count("applied") == 3
    assert "Grace Hopper" in shown(cells["diff"])
    assert "Undid" in shown(cells["undo"])
    assert 'print(greeting("Grace"))' in shown(cells["after"])
    assert 'f"Hello, {name}!"' in shown(cells["after"])


def require_what_the_third_tour_tells(cells):
    assert "shop/prices.py" in shown(cells["glob"])
    assert "build" not in shown(cells["glob"])
    assert "try.ipynb cell try-it (index 0)\n2\tprice(-1)  # bad input" in shown(cells["grep"])
    assert '+        raise ValueError("the order is empty")' in shown(cells["first"])
    assert shown(cells["left"]) == "[{'path': 'shop/prices.py', 'count': 2}]"
    assert shown(cells["second"]).count("+    ") == 2
    assert "Undid" in shown(cells["undo"])
    assert "shop/prices.py\n2\t" in shown(cells["check"])
    assert "ValueError" not in shown(cells["check"])


def require_what_the_tour_of_cells_tells(cells):
    assert refusals(cells["unread"]) == ["NotRead"]
    assert refusals(cells["stale"]) == ["Stale"]
    assert "+print(min(rows))" in shown(cells["stale"])
    assert "cell 1 load (code, python) [1]" in shown(cells["read"])
    assert "cell 2 sum (code): edit" in shown(cells["replace"])
    assert shown(cells["changes"]).count("applied") == 5
    assert "sum 'print(min(rows))'" in shown(cells["after"])
    assert "print(len(rows), 'rows')" in shown(cells["after"])


def require_what_the_tour_of_approval_tells(cells):
    assert "waits for a person's approval" in shown(cells["propose"])
    assert "TAX = 0.19" in shown(cells["untouched"])
    assert "Created todo.md" in shown(cells["free"])
    assert "prices.py edit_file +1 -1" in shown(cells["waiting"])
    assert shown(cells["approve"]).startswith("applied by a person\nTAX = 0.21")
    assert shown(cells["reject"]).startswith("rejected\n") and "round" not in shown(cells["reject"])
    assert shown(cells["stale"]).startswith("stale") and "+TAX = 0.22" in shown(cells["stale"])
    assert "float" not in shown(cells["decline"])
    assert shown(cells["undo"]).startswith("stale")
    assert [shown(cells["changes"]).count(status) for status in ("applied", "rejected")] == [2, 2]
