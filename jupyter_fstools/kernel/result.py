"""Shows a tool's result in a notebook and in a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import count
from typing import Any

from ..plain_text import lines_of, one_line
from ..stores.records import Change
from ..tools import TOOLS, ToolResult
from ..tools.tool import text_block
from .cells import styles
from .wording import in_words_of_the_magic

MOST_ROWS = 500
"""Most rows of a result that are displayed; `result.text` and `result.data` have all."""
MOST_ROW_CHARACTERS = 1000
MOST_CHARACTERS = 200_000
FurtherMatches = Callable[[str, int], Iterable[re.Match[str]]]
"""Finds further matches to mark in a line, from a position on."""

# JupyterLab's rules for tables have a high specificity: each of these rules names two classes to override them.
STYLE = """
.fstools{color:var(--jp-content-font-color1,inherit);font-size:var(--jp-code-font-size,13px)}
.fstools .fs-rows{border-collapse:collapse;margin:2px 0;table-layout:auto;font-size:inherit;width:100%}
.fstools .fs-list{width:auto}
.fstools .fs-list td:not(.fs-wrapped){white-space:nowrap;overflow-wrap:normal}
.fstools .fs-list td.fs-wrapped{min-width:16ch}
.fstools .fs-rows tr:nth-child(n){background:none}
.fstools .fs-rows td,.fstools .fs-rows th{border:none;padding:0 8px;text-align:left;vertical-align:top;
line-height:1.4;font-family:var(--jp-code-font-family,monospace);white-space:pre-wrap;overflow-wrap:anywhere}
.fstools .fs-rows td.fs-number{text-align:right;width:1%;white-space:nowrap;user-select:none;
color:#666;color:color-mix(in srgb,var(--jp-content-font-color1,#000) 75%,transparent);
border-right:1px solid var(--jp-border-color2,#8884)}
.fstools .fs-rows pre{margin:0;padding:0;border:none;background:none;color:inherit;font:inherit;line-height:inherit;
white-space:pre-wrap;overflow-wrap:anywhere}
.fstools .fs-rows td.fs-sign{width:1%;padding:0 0 0 8px;user-select:none}
.fstools .fs-rows tr.fs-add:nth-child(n){background:rgba(46,160,67,.16);
background:color-mix(in srgb,var(--jp-success-color1,#2ea043) 12%,transparent)}
.fstools .fs-rows tr.fs-remove:nth-child(n){background:rgba(248,81,73,.14);
background:color-mix(in srgb,var(--jp-error-color1,#f85149) 12%,transparent)}
.fstools .fs-rows tr.fs-hunk td,.fstools .fs-note{color:var(--jp-content-font-color2,#888)}
.fstools .fs-rows tr.fs-heading th{padding-top:4px;font-weight:600}
.fstools .fs-rows mark{background:#ffe08a;color:#000}
.fstools .fs-note{margin:2px 0;white-space:pre-wrap}
"""


def no_matches(line: str, start: int) -> Iterable[re.Match[str]]:
    """Find none."""
    return ()


def bounded(rows: list[str]) -> list[str]:
    """The rows that are displayed, and a note on how many more there are."""
    kept, size = [], 0
    for row in rows[:MOST_ROWS]:
        size += len(row)
        if size > MOST_CHARACTERS:
            break
        kept.append(row)
    left = len(rows) - len(kept)
    return [*kept, f"[... {left} more lines: print the result's text to see them]"] if left else kept


def cut_row(row: str) -> str:
    """A row, cut if it is too long to be displayed."""
    if len(row) <= MOST_ROW_CHARACTERS:
        return row
    return f"{row[:MOST_ROW_CHARACTERS]} [... {len(row) - MOST_ROW_CHARACTERS} more characters]"


def notes_html(notes: Sequence[str]) -> list[str]:
    """Notes as HTML, one block each."""
    return [f'<div class="fs-note">{escape(note)}</div>' for note in notes]


def table_html(rows: Iterable[str], kind: str = "") -> str:
    """Rows of HTML as a table; `kind` is an additional CSS class."""
    return f'<table class="fs-rows {kind}"><tbody>{"".join(rows)}</tbody></table>'


def row_html(cells: Iterable[str], wrapped: int | None = None) -> str:
    """Cells of HTML as one row of a table; in a list only the one at `wrapped` is wrapped."""
    marks = (' class="fs-wrapped"' if at == wrapped else "" for at in count())
    return f"<tr>{''.join(f'<td{mark}>{cell}</td>' for mark, cell in zip(marks, cells, strict=False))}</tr>"


def size_text(size: int) -> str:
    """A size in bytes, in readable units."""
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


class KernelResult(ToolResult):
    """A `ToolResult` with a rich display; `data`, `text` and `change` are the same."""

    numbered = True
    further_matches: FurtherMatches = staticmethod(no_matches)

    @classmethod
    def of(cls, result: ToolResult) -> KernelResult:
        """A tool's result."""
        return cls(result.tool, result.content, lambda: result.data, result.change)

    @classmethod
    def of_text(cls, tool: str, text: str, data: dict[str, Any], change: Change | None = None) -> KernelResult:
        """The result of a subcommand that calls no tool."""
        return cls(tool, [text_block(text)], data, change)

    @property
    def texts(self) -> list[str]:
        """Its text blocks, without the note on decisions since the last call."""
        texts = [block["text"] for block in self.content if block["type"] == "text"]
        return texts[:-1] if "since_last_call" in self.data else texts

    @property
    def pictures(self) -> list[dict[str, str]]:
        """Its pictures, each as its media type and its data in base64."""
        return [{block["mimeType"]: block["data"]} for block in self.content if block["type"] == "image"]

    def __repr__(self) -> str:
        path = self.data.get("path")
        return f"<{self.tool}{f' {one_line(path)}' if isinstance(path, str) else ''}>"

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        rendering = self.rendered()
        if rendering.picture:
            return {"text/plain": rendering.plain, **rendering.picture}
        return {"text/plain": rendering.plain, "text/html": rendering.html}

    def rendered(self) -> Rendering:
        """Its display, made by the renderer of its kind."""
        kind = self.tool
        if self.change is not None and self.tool != "execute":
            kind = "diff"
        elif kind == "read_file":
            kind = f"read_file {self.data['kind']}"
        renderer = RENDERERS.get(kind)
        rendering = renderer(self) if renderer else Rendering(notes=notes_of(self, self.texts))
        decided = lines_of(self.data.get("since_last_call", ""))
        return replace(rendering, notes=[*rendering.notes, *decided])


@dataclass(frozen=True)
class Rendering:
    """A result as it is displayed.

    Attributes:
        rows: its lines for a terminal.
        tables: its rows as HTML; None if they have no HTML form.
        notes: further lines about it.
        notes_first: the notes come above the rows.
        highlighted: the HTML contains highlighted source.
        picture: shown instead of HTML: media type and data in base64.
    """

    rows: list[str] = field(default_factory=list)
    tables: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    notes_first: bool = False
    highlighted: bool = False
    picture: dict[str, str] = field(default_factory=dict)

    @property
    def plain(self) -> str:
        """The text for a terminal."""
        if not self.rows:
            return "\n".join(bounded([cut_row(note) for note in self.notes]))
        parts = [bounded(self.rows), self.notes]
        return "\n".join(line for part in (reversed(parts) if self.notes_first else parts) for line in part)

    @property
    def html(self) -> str:
        """The HTML for a notebook."""
        if self.tables is None:
            body = notes_html(self.plain.split("\n"))
        else:
            parts = [self.tables, notes_html(self.notes)]
            body = [line for part in (reversed(parts) if self.notes_first else parts) for line in part]
        style = STYLE + (styles() if self.highlighted else "")
        # MathJax 3 and 2 would show a name such as a$b$.py as a formula.
        classes = "fstools mathjax_ignore tex2jax_ignore"
        return f'<div class="{classes}"><style>{style}</style>{"".join(body)}</div>'


Renderer = Callable[[KernelResult], Rendering]
RENDERERS: dict[str, Renderer] = {}
"""Renderers of results, by tool or subcommand (for `read_file` by the kind of file, too), or `diff`."""


def renders(*kinds: str) -> Callable[[Renderer], Renderer]:
    """Register a function as the renderer of some kinds of results."""

    def register(renderer: Renderer) -> Renderer:
        RENDERERS.update(dict.fromkeys(kinds, renderer))
        return renderer

    return register


def notes_of(result: KernelResult, texts: list[str]) -> list[str]:
    """Texts of a result as lines, with subcommands and their options in the place of tools and arguments."""
    said = map(in_words_of_the_magic, texts) if result.tool in TOOLS else texts
    return [line for text in said for line in lines_of(text)]


@dataclass(frozen=True)
class HelpText:
    """A help text, displayed without quotes."""

    text: str

    def __repr__(self) -> str:
        return self.text
