"""Formats notebook cells as rows for terminal and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Literal, NamedTuple

from ..plain_text import lines_of, one_line
from .highlighting import as_typed, highlighted_lines

_SUFFIXES = {
    "python": "py", "markdown": "md", "r": "r", "bash": "sh", "javascript": "js", "html": "html", "sql": "sql",
    "julia": "jl", "latex": "tex", "perl": "pl", "ruby": "rb", "svg": "svg",
}  # fmt: skip


class CellRow(NamedTuple):
    """One row: the heading of a cell, a line of its source with its number, or something about an output."""

    kind: Literal["heading", "source", "output"]
    text: str
    number: int = 0


def cell_rows(cell: dict[str, Any]) -> Iterator[CellRow]:
    """The rows of one cell, as `read_notebook` tells it."""
    yield CellRow("heading", _heading(cell))
    source = cell.get("source", "")
    cut = {one["line"]: one for one in cell.get("cut_lines", ())}
    for number, line in enumerate(lines_of(source), cell.get("start_line", 1)):
        yield CellRow("source", line, number)
        if number in cut:
            place = f"--offset {number} --limit 1 --column {cut[number]['column'] + cut[number]['shown']}"
            yield CellRow("output", f"[... {cut[number]['omitted']} more characters of line {number}: {place}]")
    if cell.get("next_source_offset"):
        left = cell["total_lines"] - cell["next_source_offset"] + 1
        yield CellRow("output", f"[... {left} more lines: --offset {cell['next_source_offset']}]")
    for output in cell["outputs"]:
        sizes = ", ".join(output["mime_types"])
        yield CellRow("output", f"output {output['index']}: {output['output_type']}{f' ({sizes})' if sizes else ''}")
        yield from (CellRow("output", f"  {line}") for line in lines_of(output["text"]))
        if output["truncated"]:
            yield CellRow("output", f"  [... {output['size_bytes']} bytes in all: --output {output['index']}]")


def plain_rows(cells: list[dict[str, Any]]) -> list[str]:
    """Cells for a terminal."""
    rows = []
    for cell in cells:
        width = len(str(cell["total_lines"]))
        for row in cell_rows(cell):
            rows.append(f"{row.number:>{width}}  {row.text}" if row.kind == "source" else row.text)
    return rows


def html_rows(cells: list[dict[str, Any]], room: int) -> Iterator[str]:
    """Cells as rows of a table, no more than there is room for."""
    left = 0
    for cell in cells:
        rows = list(cell_rows(cell))
        shown = rows[: max(room, 0)]
        left += len(rows) - len(shown)
        room -= len(shown)
        source = "\n".join(row.text for row in shown if row.kind == "source")
        words = iter(highlighted_lines(f"cell.{_SUFFIXES.get(cell['language'], 'txt')}", source))
        for row in shown:
            if row.kind == "heading":
                yield f'<tr class="fs-heading"><th colspan="2">{escape(row.text)}</th></tr>'
            elif row.kind == "source":
                yield f'<tr><td class="fs-number">{row.number}</td><td>{as_typed(next(words))}</td></tr>'
            else:
                yield f'<tr class="fs-hunk"><td class="fs-number"></td><td>{as_typed(escape(row.text))}</td></tr>'
    if left:
        yield f'<tr class="fs-hunk"><td colspan="2">[... {left} more lines]</td></tr>'


def _heading(cell: dict[str, Any]) -> str:
    count = f" [{cell['execution_count']}]" if cell["execution_count"] is not None else ""
    tags = f" tags: {', '.join(cell['tags'])}" if cell["tags"] else ""
    kind = ", ".join(dict.fromkeys([cell["cell_type"], cell["language"]]))  # A markdown cell is both.
    return one_line(f"cell {cell['index']} {cell['cell_id']} ({kind}){count}{tags}")
