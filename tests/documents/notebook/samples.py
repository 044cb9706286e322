"""Notebooks as different programs write them, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from jupyter_fstools.content.source import BytesContent
from jupyter_fstools.content.splices import inverse, spliced
from jupyter_fstools.documents.notebook import CellEdit, NotebookDocument, NotebookEdit

COLAB_ORDER = ("cell_type", "source", "metadata", "execution_count", "outputs", "id")
STREAM = {"name": "stdout", "output_type": "stream", "text": ["1\n", "2\n"]}
PICTURE = {
    "data": {"image/png": "iVBORw0KGgo=\n", "text/plain": ["<Figure>"]},
    "metadata": {},
    "output_type": "display_data",
}


def code(source: Any = "x = 1\ny = 2", **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": 7, "metadata": {}, "outputs": [STREAM], "source": source} | more


def markdown(source: Any = "# Title\n\ntext", **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source} | more


def raw(source: Any = "raw text", **more: Any) -> dict[str, Any]:
    return {"cell_type": "raw", "metadata": {}, "source": source} | more


def notebook(*cells: dict[str, Any], minor: int = 5, **metadata: Any) -> dict[str, Any]:
    """Cells get the ids c0, c1, … from 4.5 on."""
    if minor >= 5:
        cells = tuple(cell if "id" in cell else cell | {"id": f"c{at}"} for at, cell in enumerate(cells))
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": minor}


def as_lists(value: dict[str, Any]) -> dict[str, Any]:
    """Sources as lists of lines."""
    for cell in value["cells"]:
        if isinstance(cell, dict) and isinstance(cell.get("source"), str):
            lines = cell["source"].split("\n")
            cell["source"] = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    return value


def jupyterlab(value: dict[str, Any]) -> bytes:
    return (json.dumps(as_lists(value), indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def colab(value: dict[str, Any]) -> bytes:
    ordered = {key: value[key] for key in ("nbformat", "nbformat_minor", "metadata", "cells")}
    ordered["cells"] = [
        {key: cell[key] for key in (*COLAB_ORDER, "attachments") if key in cell} for cell in as_lists(value)["cells"]
    ]
    return json.dumps(ordered, indent=2, ensure_ascii=False).encode()


def vscode(value: dict[str, Any]) -> bytes:
    return (json.dumps(as_lists(value), indent=4) + "\n").encode()


def minified(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def one_line(value: dict[str, Any]) -> bytes:
    return json.dumps(as_lists(value)).encode()


def crlf(value: dict[str, Any]) -> bytes:
    return jupyterlab(value).replace(b"\n", b"\r\n")


def tabs(value: dict[str, Any]) -> bytes:
    return json.dumps(as_lists(value), indent="\t", ensure_ascii=False).encode()


def odd(value: dict[str, Any]) -> bytes:
    """White space in unusual places."""
    cells = " ,\n\n ".join(json.dumps(cell, separators=("\t, ", " :")) for cell in value["cells"])
    rest = json.dumps({key: value[key] for key in ("metadata", "nbformat", "nbformat_minor")})[1:]
    return f'\n {{ "cells"\n:[ {cells}\r\n] , {rest} \n\n'.encode()


STYLES: list[Callable[[dict[str, Any]], bytes]] = [
    jupyterlab, colab, vscode, minified, one_line, crlf, tabs, odd,
]  # fmt: skip


def document(data: bytes) -> NotebookDocument:
    return NotebookDocument(BytesContent(data))


def edited(data: bytes, *edits: dict[str, Any] | CellEdit) -> bytes:
    return spliced(data, apply(data, *edits).splices)


def apply(data: bytes, *edits: dict[str, Any] | CellEdit) -> NotebookEdit:
    wanted = [edit if isinstance(edit, CellEdit) else CellEdit(**edit) for edit in edits]
    result = document(data).apply(wanted)
    after = spliced(data, result.splices)
    assert spliced(after, inverse(result.splices)) == data
    places = [(splice.offset, splice.end) for splice in result.splices]
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    assert all(data[splice.offset : splice.end] == splice.removed for splice in result.splices)
    return result
