"""Builds bounded rows, tables and notes for a result's display."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 500
"""Rows of a result that are displayed; `result.text` and `result.data` have all."""
MOST_ROW_CHARACTERS = 1000
MOST_CHARACTERS = 200_000

# JupyterLab's own rules for tables are strong: every one of these names two classes to stand above them.
STYLE = """
.fstools{color:var(--jp-content-font-color1,inherit);font-size:var(--jp-code-font-size,13px)}
.fstools .fs-rows{border-collapse:collapse;margin:2px 0;table-layout:auto;font-size:inherit;width:100%}
.fstools .fs-list{width:auto}
.fstools .fs-rows tr:nth-child(n){background:none}
.fstools .fs-rows td,.fstools .fs-rows th{border:none;padding:0 8px;text-align:left;vertical-align:top;
line-height:1.4;font-family:var(--jp-code-font-family,monospace);white-space:pre-wrap;overflow-wrap:anywhere}
.fstools .fs-rows td.fs-number{text-align:right;width:1%;white-space:nowrap;user-select:none;
color:var(--jp-content-font-color3,#888);border-right:1px solid var(--jp-border-color2,#8884)}
.fstools .fs-rows pre{margin:0;padding:0;border:none;background:none;color:inherit;font:inherit;line-height:inherit;
white-space:pre-wrap;overflow-wrap:anywhere}
.fstools .fs-rows td.fs-sign{width:1%;padding:0 0 0 8px;user-select:none}
.fstools .fs-rows tr.fs-add:nth-child(n){background:rgba(46,160,67,.16);
background:color-mix(in srgb,var(--jp-success-color1,#2ea043) 18%,transparent)}
.fstools .fs-rows tr.fs-remove:nth-child(n){background:rgba(248,81,73,.14);
background:color-mix(in srgb,var(--jp-error-color1,#f85149) 16%,transparent)}
.fstools .fs-rows tr.fs-hunk td,.fstools .fs-note{color:var(--jp-content-font-color2,#888)}
.fstools .fs-rows tr.fs-heading th{padding-top:4px;font-weight:600}
.fstools .fs-rows mark{background:var(--jp-warn-color3,#ffe08a);color:inherit}
.fstools .fs-note{margin:2px 0;white-space:pre-wrap}
"""


def bounded(rows: list[str]) -> list[str]:
    """As many rows as are displayed, and how many there are more."""
    kept, size = [], 0
    for row in rows[:MOST_ROWS]:
        size += len(row)
        if size > MOST_CHARACTERS:
            break
        kept.append(row)
    left = len(rows) - len(kept)
    return [*kept, f"[... {left} more lines: print the result's text to see them]"] if left else kept


def cut_row(row: str) -> str:
    """A row, cut where it is too long to be displayed."""
    if len(row) <= MOST_ROW_CHARACTERS:
        return row
    return f"{row[:MOST_ROW_CHARACTERS]} [... {len(row) - MOST_ROW_CHARACTERS} more characters]"


def notes_html(notes: Sequence[str]) -> list[str]:
    """Notes as HTML, one block each."""
    return [f'<div class="fs-note">{escape(note)}</div>' for note in notes]


def table_html(rows: Iterable[str], kind: str = "") -> str:
    """Rows of HTML as a table; `kind` is a CSS class more."""
    return f'<table class="fs-rows {kind}"><tbody>{"".join(rows)}</tbody></table>'


def row_html(cells: Iterable[str]) -> str:
    """Cells of HTML as one row of a table."""
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def left_html(count: int, columns: int, of: str = "lines") -> str:
    """The last row of a table: how many more there are than it shows."""
    return f'<tr class="fs-hunk"><td colspan="{columns}">[... {count} more {of}]</td></tr>'


def size_text(size: int) -> str:
    """A size in bytes, for people."""
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
