"""Shows a tool's result in a notebook and in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..plain_text import lines_of, one_line
from ..stores.records import Change
from ..tools import TOOLS, ToolResult
from ..tools.tool import text_block
from .highlighting import styles
from .tables import STYLE, bounded, cut_row, notes_html
from .wording import in_words_of_the_magic


class KernelResult(ToolResult):
    """A `ToolResult` with a rich display; `data`, `text` and `change` are as everywhere."""

    numbered = True

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
        """Its text blocks."""
        return [block["text"] for block in self.content if block["type"] == "text"]

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
        """How it is displayed, by the renderer of its kind."""
        kind = self.tool
        if self.change is not None and self.tool != "execute":
            kind = "diff"
        elif kind == "read_file":
            kind = f"read_file {self.data['kind']}"
        renderer = RENDERERS.get(kind)
        return renderer(self) if renderer else Rendering(notes=notes_of(self, self.texts))


@dataclass(frozen=True)
class Rendering:
    """A result as it is displayed.

    Attributes:
        rows: its lines for a terminal.
        tables: its rows as HTML; None where they have no form of their own.
        notes: what is said beside its rows.
        notes_first: they stand above the rows.
        highlighted: the HTML holds source in colours.
        picture: shown in the place of HTML: media type and data in base64.
    """

    rows: list[str] = field(default_factory=list)
    tables: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    notes_first: bool = False
    highlighted: bool = False
    picture: dict[str, str] = field(default_factory=dict)

    @property
    def plain(self) -> str:
        """For a terminal."""
        if not self.rows:
            return "\n".join(bounded([cut_row(note) for note in self.notes]))
        parts = [bounded(self.rows), self.notes]
        return "\n".join(line for part in (reversed(parts) if self.notes_first else parts) for line in part)

    @property
    def html(self) -> str:
        """For a notebook."""
        if self.tables is None:
            body = notes_html(self.plain.split("\n"))
        else:
            parts = [self.tables, notes_html(self.notes)]
            body = [line for part in (reversed(parts) if self.notes_first else parts) for line in part]
        style = STYLE + (styles() if self.highlighted else "")
        return f'<div class="fstools"><style>{style}</style>{"".join(body)}</div>'


Renderer = Callable[[KernelResult], Rendering]
RENDERERS: dict[str, Renderer] = {}
"""How results are displayed, by tool or subcommand (of `read_file` by the kind of file, too), or `diff`."""


def renders(*kinds: str) -> Callable[[Renderer], Renderer]:
    """Make a function the renderer of some kinds of results."""

    def register(renderer: Renderer) -> Renderer:
        RENDERERS.update(dict.fromkeys(kinds, renderer))
        return renderer

    return register


def notes_of(result: KernelResult, texts: list[str]) -> list[str]:
    """Texts of a result as lines that speak of subcommands and their options."""
    said = map(in_words_of_the_magic, texts) if result.tool in TOOLS else texts
    return [line for text in said for line in lines_of(text)]


@dataclass(frozen=True)
class HelpText:
    """Help, shown as it is written."""

    text: str

    def __repr__(self) -> str:
        return self.text
