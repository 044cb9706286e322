"""Formats and highlights notebook cells for terminal and HTML."""

from __future__ import annotations

import time
from collections.abc import Iterator
from html import escape
from typing import Any, Literal, NamedTuple

from ..plain_text import lines_of, one_line

_MOST_CHARACTERS = 64 << 10
_MOST_SECONDS = 2.0
"""Longest time to colour a text: the time that some lexers take grows with the square of a line's length."""

COLOURS = {
    "k": ("Keyword", "keyword", "#008000"),
    "s": ("Literal.String", "string", "#ba2121"),
    "m": ("Literal.Number", "number", "#088008"),
    "c": ("Comment", "comment", "#408080"),
    "b": ("Name.Builtin", "builtin", "#0080a0"),
    "d": ("Name.Function", "def", "#2060d0"),
    "n": ("Name.Class", "def", "#2060d0"),
    "a": ("Name.Decorator", "meta", "#a030f0"),
    "o": ("Operator.Word", "keyword", "#008000"),
    "t": ("Name.Tag", "tag", "#008000"),
}
"""Maps CSS classes to Pygments' token, the theme's variable, and the colour without a theme."""


def styles() -> str:
    """The style rules of the coloured words."""
    return "".join(
        f".fstools .fs-{css}{{color:var(--jp-mirror-editor-{variable}-color,{colour})}}"
        for css, (_, variable, colour) in COLOURS.items()
    )


def as_typed(line: str) -> str:
    """A line of HTML that keeps its spaces, even if the styles are removed or the page is rewritten."""
    return f"<pre>{line or '<br>'}</pre>"  # An empty one would have no height, and be left out when it is copied.


def highlighted_lines(path: str, text: str) -> list[str]:
    """The lines of a text as HTML; without colours if no lexer fits the name, or the text takes it too long."""
    # Before the lexer, which would end a line at a carriage return and drop a byte order mark.
    lines = [one_line(line.removesuffix("\r")) for line in text.split("\n")]
    if len(text) <= _MOST_CHARACTERS:
        coloured, read = [""], [""]
        late = time.monotonic() + _MOST_SECONDS
        for css, value in _lexed(path, "\n".join(lines)):
            if time.monotonic() > late:
                break
            for at, part in enumerate(value.split("\n")):
                if at:
                    coloured.append("")
                    read.append("")
                read[-1] += part
                coloured[-1] += f'<span class="fs-{css}">{escape(part)}</span>' if css and part else escape(part)
        if read == lines:  # It is not where a lexer was late, dropped a last line or added one.
            return coloured
    return list(map(escape, lines))


def _lexed(path: str, text: str) -> Iterator[tuple[str, str]]:
    """The parts of a text, each with its CSS class; none if no lexer is known for the name."""
    try:
        # IPython installs Pygments, which has no types.
        from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]
        from pygments.util import ClassNotFound  # type: ignore[import-untyped]
    except ImportError:
        return
    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return
    for token, value in lexer.get_tokens(text):
        yield _class_of(str(token)), value


def _class_of(token: str) -> str:
    name = token.removeprefix("Token.")
    return next((css for css, (prefix, _, _) in COLOURS.items() if name.startswith(prefix)), "")


_SUFFIXES = {
    "python": "py", "markdown": "md", "r": "r", "bash": "sh", "javascript": "js", "html": "html", "sql": "sql",
    "julia": "jl", "latex": "tex", "perl": "pl", "ruby": "rb", "svg": "svg",
}  # fmt: skip


class CellRow(NamedTuple):
    """One row: the heading of a cell, a numbered line of its source, or a line about an output."""

    kind: Literal["heading", "source", "output"]
    text: str
    number: int = 0


def cell_rows(cell: dict[str, Any]) -> Iterator[CellRow]:
    """The rows of one cell from the answer of `read_notebook`."""
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
    """Cells as rows of a table, at most `room`."""
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
        yield left_html(left, 2)


def left_html(count: int, columns: int) -> str:
    """The last row of a table, with the number of rows that it does not show."""
    return f'<tr class="fs-hunk"><td colspan="{columns}">[... {count} more lines]</td></tr>'


def _heading(cell: dict[str, Any]) -> str:
    count = f" [{cell['execution_count']}]" if cell["execution_count"] is not None else ""
    tags = f" tags: {', '.join(cell['tags'])}" if cell["tags"] else ""
    kind = ", ".join(dict.fromkeys([cell["cell_type"], cell["language"]]))  # "markdown" is both a type and a language.
    return one_line(f"cell {cell['index']} {cell['cell_id']} ({kind}){count}{tags}")
