"""Whole notebooks are judged as nbformat judges them, without its import where they are plainly valid."""

import copy
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_fstools.documents.notebook.schema import refuse_invalid_notebook
from jupyter_fstools.errors import NotebookRefused

NOTEBOOK: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# A"], "attachments": {}},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"tags": ["x"]},
            "source": "print(1)",
            "execution_count": 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": "1\n"}],
        },
    ],
}
VALUES = st.sampled_from([None, True, 0, 1, 4, 4.0, 5, 6, -1, "x", "", [], {}, ["x"], {"x": 1}, float("nan"), 10**30])


def places(value: Any) -> list[tuple[Any, ...]]:
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    return [(key, *below) for key, item in items for below in [(), *places(item)]]


def refused_by(judge: Callable[[str], None], text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbformat repairs ids in its own copy, and says so.
        try:
            judge(text)
        except Exception:
            return True
    return False


def by_nbformat(text: str) -> None:
    nbformat.validate(nbformat.reads(text, as_version=nbformat.NO_CONVERT))


@given(st.sampled_from(places(NOTEBOOK)), VALUES, st.booleans())
def test_a_notebook_is_refused_exactly_where_nbformat_refuses_it(
    place: tuple[Any, ...], value: Any, left_out: bool
) -> None:
    notebook = copy.deepcopy(NOTEBOOK)
    holder: Any = notebook
    for key in place[:-1]:
        holder = holder[key]
    if left_out:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    text = json.dumps(notebook)
    assert refused_by(refuse_invalid_notebook, text) == refused_by(by_nbformat, text)


@pytest.mark.parametrize("text", ["", "{", "3", "null", '"x"', "[]", "{}", "[" * 100_000])
def test_what_is_no_notebook_is_refused(text: str) -> None:
    with pytest.raises(NotebookRefused, match="not a valid notebook"):
        refuse_invalid_notebook(text)


@pytest.mark.parametrize("key", ["cells", "metadata", "nbformat", "\\u0063ells"])
def test_a_key_that_is_given_twice_is_refused(key: str) -> None:
    """Readers take the last value, so that a diff would show nothing of the first one."""
    with pytest.raises(NotebookRefused, match=r"has the key '(cells|metadata|nbformat)' twice"):
        refuse_invalid_notebook(f'{{"{key}": [], {json.dumps(NOTEBOOK)[1:]}')


def test_a_key_that_is_given_twice_inside_an_output_is_refused() -> None:
    output = '{"output_type": "display_data", "metadata": {}, "data": {"text/html": "a"}, "data": {}}'
    cell = f'{{"cell_type": "code", "metadata": {{}}, "execution_count": null, "source": "", "outputs": [{output}]}}'
    with pytest.raises(NotebookRefused, match="'data' twice"):
        refuse_invalid_notebook(f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 4}}')


def test_a_valid_notebook_is_taken_without_importing_nbformat() -> None:
    code = (
        "import sys; from jupyter_fstools.documents.notebook.schema import refuse_invalid_notebook as check;"
        "check(sys.argv[1]); print('nbformat' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code, json.dumps(NOTEBOOK)], check=True, capture_output=True)
    assert said.stdout.strip() == b"False"


@pytest.mark.parametrize(
    ("text", "told", "place"),
    [
        ('{"cells": [],\n "é": 1,,}', "broken JSON at line 2, column 9", (2, 9)),
        ('{"cells": [', "broken JSON at line 1, column 12", (1, 12)),
        ("<<<<<<< HEAD\n{}", "merge-conflict marker", (1, 1)),
        ("", "the notebook is empty", (1, 1)),
        ("\ufeff{}", "byte order mark", (1, 1)),
        ("[]", "the top level is an array", (None, None)),
    ],
)
def test_a_text_that_is_not_json_is_refused_with_its_place(text, told, place) -> None:
    with pytest.raises(NotebookRefused, match=f"not a valid notebook: .*{told}") as refused:
        refuse_invalid_notebook(text)
    assert (refused.value.details.get("line"), refused.value.details.get("column")) == place
