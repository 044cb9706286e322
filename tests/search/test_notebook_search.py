"""Searching notebooks: hits name the cell and the line in it."""

from __future__ import annotations

import json

import pytest

from jupyter_fstools.search.notebook_cells import cell_texts

from .conftest import Search, Write

PICTURE = "iVBORneedleAAAA" * 100
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "a needle é\n", "end"]},
        {
            "cell_type": "code",
            "id": "code-1",
            "metadata": {"note": "needle"},
            "execution_count": 1,
            "source": "x = 1\nneedle = 2\nneedle + 1",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one\n", "needle out\n"]},
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"image/png": PICTURE, "text/plain": "<needle>"},
                },
                {"output_type": "error", "ename": "E", "evalue": "needle", "traceback": ["needle line"]},
            ],
        },
        {"cell_type": "raw", "metadata": {}, "source": "needle"},
    ],
    "metadata": {"needle": "needle"},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture(autouse=True)
def notebook(write: Write) -> None:
    write("a.ipynb", json.dumps(NOTEBOOK))


def cells(found: object) -> list[tuple[str | None, int | None, int | None, int]]:
    return [(match.cell_id, match.cell_index, match.output_index, match.line) for match in found.matches]


def test_a_hit_names_the_cell_and_the_line_in_it(search: Search) -> None:
    """S29: outputs, pictures and metadata are left out."""
    found = search("needle", before_lines=1)
    assert cells(found) == [("intro", 0, None, 2), ("code-1", 1, None, 2), ("code-1", 1, None, 3), (None, 2, None, 1)]
    first = found.matches[0]
    assert (first.path, first.column, first.text, first.before) == ("a.ipynb", 3, "a needle é", ["# Title"])
    assert found.total == 4


def test_text_outputs_are_searched_when_asked(search: Search) -> None:
    """S29: never base64."""
    found = search("needle", include_outputs=True)
    outputs = [place for place in cells(found) if place[2] is not None]
    assert outputs == [("code-1", 1, 0, 2), ("code-1", 1, 1, 1), ("code-1", 1, 2, 1), ("code-1", 1, 2, 2)]


def test_pages_go_through_cells(search: Search) -> None:
    """S30"""
    pages = [search("needle", limit=1, offset=offset) for offset in range(5)]
    assert [cells(page) for page in pages] == [[place] for place in cells(search("needle"))] + [[]]
    assert [page.truncated for page in pages] == [True, True, True, False, False]


def test_the_other_modes_count_lines_of_cells(search: Search, write: Write) -> None:
    write("b.txt", "needle\n")
    counted = search("needle", output_mode="count")
    assert [(file.path, file.count) for file in counted.files] == [("a.ipynb", 4), ("b.txt", 1)]


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"cells": 1}', "<<<<<<< HEAD\nneedle\n", "[" * 100_000])
def test_a_broken_notebook_is_counted(search: Search, write: Write, broken: str) -> None:
    """N39: never searched as if it were text."""
    write("broken.ipynb", broken)
    found = search("needle", glob="broken.ipynb")
    assert (found.total, found.skipped) == (0, {"notebook": 1})


def test_odd_cells_are_passed_over() -> None:
    """N40, N41: cells without a source, cells that are none, worksheets of old notebooks."""
    odd = {"cells": [{}, 7, {"source": [1, "a"], "id": 3, "outputs": [None, {"data": 1}]}]}
    texts = cell_texts(json.dumps(odd).encode(), outputs=False)
    assert [(text.cell_index, text.cell_id, text.text) for text in texts] == [(0, None, ""), (2, None, "a")]
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": "b"}]}]}
    assert cell_texts(json.dumps(old).encode(), outputs=True)[0].text == "b"
