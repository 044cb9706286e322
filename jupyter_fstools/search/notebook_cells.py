"""The texts of a notebook that a search looks into: the sources of its cells and, when asked for, their outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..content.source import BytesContent
from ..documents.notebook import NotebookDocument
from ..documents.notebook.terminal_text import collapsed, without_ansi
from ..errors import FsToolsError


class CellText(NamedTuple):
    """One text: its cell's place and id (None where the file has none), and the output it is (None: the source)."""

    cell_index: int
    cell_id: str | None
    output_index: int | None
    text: str


class BrokenNotebook(ValueError):
    """No JSON in UTF-8 without a byte order mark, or no list of cells in it."""


def is_notebook(name: str) -> bool:
    """Whether a file of this name is searched by cells."""
    return name[-6:].lower() == ".ipynb"


def notebooks_among(names: list[str]) -> list[str]:
    """Those of the names that are notebooks'."""
    # Most folders hold none: one look at all the names is cheaper than one at each.
    return [name for name in names if is_notebook(name)] if ".ipynb" in "/".join(names).lower() else []


def cell_texts(raw: bytes, *, outputs: bool) -> list[CellText]:
    """What there is to search, cell after cell; outputs only as text, never pictures.

    Raises:
        BrokenNotebook
    """
    try:
        notebook = json.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise BrokenNotebook(str(error)) from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        worksheets = notebook.get("worksheets") if isinstance(notebook, dict) else None
        if not isinstance(worksheets, list):
            raise BrokenNotebook("there is no list of cells")
        cells = [cell for sheet in worksheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]
    return [
        text for index, cell in enumerate(cells) if isinstance(cell, dict) for text in _of_cell(index, cell, outputs)
    ]


def ids_of(raw: bytes, texts: list[CellText]) -> list[str]:
    """The id of every cell by its index, as read_notebook shows it: where a cell has none, made from what it holds."""
    real = {text.cell_index: text.cell_id for text in texts}
    count = max(real, default=-1) + 1
    if all(real.get(index) for index in range(count)):
        return [real[index] or "" for index in range(count)]
    try:
        return [cell.cell_id for cell in NotebookDocument(BytesContent(raw)).cells]
    except FsToolsError:  # read_notebook shows nothing of it either
        return [real.get(index) or "" for index in range(count)]


def _of_cell(index: int, cell: dict[str, Any], outputs: bool) -> Iterator[CellText]:
    found = cell.get("id")
    cell_id = found if isinstance(found, str) else None
    yield CellText(index, cell_id, None, _joined(cell.get("source", cell.get("input"))))
    if outputs:
        for number, output in enumerate(_list(cell.get("outputs"))):
            if isinstance(output, dict):
                yield CellText(index, cell_id, number, _of_output(output))


def _of_output(output: dict[str, Any]) -> str:
    """What a reader sees of a stream, of an error (name, value, traceback) or of the text forms of what is shown."""
    parts = [collapsed(_joined(output.get("text")))]
    if output.get("output_type") in ("error", "pyerr"):
        parts += [f"{output.get('ename')}: {output.get('evalue')}"]
        parts += [line for line in _list(output.get("traceback")) if isinstance(line, str)]
    bundle = output.get("data")
    if isinstance(bundle, dict):
        parts += [_joined(value) for mime, value in bundle.items() if str(mime).startswith("text/")]
    return "\n".join(without_ansi(part).removesuffix("\n") for part in parts if part)


def _joined(source: object) -> str:
    """A text as notebooks hold it: one string, or a list of them."""
    if isinstance(source, str):
        return source
    return "".join(line for line in _list(source) if isinstance(line, str))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
