"""Changes of a notebook's bytes, expressed as operations on its cells."""

from __future__ import annotations

import json

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import trimmed
from jupyter_fstools.documents.notebook import NotebookDocument
from jupyter_fstools.documents.notebook.operations import notebook_operations

HTML = {"output_type": "display_data", "metadata": {}, "data": {"text/html": ["<b>", "</b>"]}}
PRINTED = {"output_type": "stream", "name": "stdout", "text": ["one\n", "two"]}


def notebook(*cells):
    whole = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1).encode()


def cell(cell_id, *outputs, **metadata):
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": metadata,
        "source": [],
        "execution_count": None,
        "outputs": outputs,
    }


def operations(before, after):
    told = notebook_operations(NotebookDocument(BytesContent(before)), trimmed(before, after))
    return [operation.model_dump() for operation in told.operations]


def test_an_inserted_cell_has_whole_texts_and_is_not_trusted_by_its_own_word():
    one = cell("a")
    [told] = operations(notebook(one), notebook(one, cell("b", HTML, PRINTED, trusted=True, tags=["x"])))
    assert told["do"] == "insert"
    assert told["content"]["metadata"] == {"tags": ["x"]}
    html, printed = told["content"]["outputs"]
    assert (html["data"]["text/html"], printed["text"]) == ("<b></b>", "one\ntwo")


def test_outputs_that_come_back_have_whole_texts():
    [told] = operations(notebook(cell("a", trusted=True)), notebook(cell("a", PRINTED)))
    assert told["set"] == {"outputs": [{**PRINTED, "text": "one\ntwo"}]}
