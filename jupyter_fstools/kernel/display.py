"""What a subcommand answers: a tool's result that shows itself in a notebook and in a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from ..diffs.file_diff import DiffHunk, FileDiff
from ..documents.text.diff import hunk_title, titled_hunks
from ..plain_text import lines_of, one_line
from ..stores.records import Change
from ..tools import TOOLS, ToolResult
from ..tools.tool import text_block
from .cells import plain_rows
from .wording import in_words_of_the_magic

MOST_ROWS = 500
"""Rows of a result that are displayed; `result.text` and `result.data` have all."""
MOST_ROW_CHARACTERS = 1000
MOST_CHARACTERS = 200_000

SIGNS = {"context": " ", "add": "+", "remove": "-"}


class KernelResult(ToolResult):
    """A `ToolResult` with a rich display; `data`, `text` and `change` are as everywhere."""

    numbered: bool = Field(default=True, exclude=True)

    @classmethod
    def of(cls, result: ToolResult) -> KernelResult:
        """A tool's result."""
        return cls.model_construct(
            tool=result.tool, content=result.content, data=result.data, change=result.change, numbered=True
        )

    @classmethod
    def of_text(cls, tool: str, text: str, data: dict[str, Any], change: Change | None = None) -> KernelResult:
        """The result of a subcommand that calls no tool."""
        return cls.model_construct(tool=tool, content=[text_block(text)], data=data, change=change, numbered=True)

    @property
    def notes(self) -> list[str]:
        """What is said beside the rows that are displayed."""
        texts = [block["text"] for block in self.content if block["type"] == "text"]
        if self.shows_source or self.shows_found or self.shows_cells or self.showed_output:
            texts = texts[1:]
        elif self.shows_pages:
            texts = texts[-1:] if self.data["next_pages"] else []
        elif self.shows_diff:
            texts = [text.split("\n", 1)[0] for text in texts]
        if self.tool in TOOLS and not self.showed_output:
            # Names of files stand in the first text of a listing as they are.
            names = texts[:1] if self.tool == "list_files" else []
            texts = names + list(map(in_words_of_the_magic, texts[len(names) :]))
        return [line for text in texts for line in lines_of(text)]

    @property
    def shows_diff(self) -> bool:
        """What changed in a file is what it shows."""
        return self.change is not None and not self.showed_output

    @property
    def showed_output(self) -> bool:
        """What a command printed has been shown as it came."""
        return self.tool == "execute"

    @property
    def shows_source(self) -> bool:
        """Lines of a file are what it shows."""
        return self.tool == "read_file" and self.data["kind"] == "text" and isinstance(self.data.get("content"), str)

    @property
    def shows_cells(self) -> bool:
        """Cells of a notebook are what it shows."""
        return self.tool in ("read_file", "read_notebook") and self.data["kind"] == "notebook"

    @property
    def shows_pages(self) -> bool:
        """Pages of a PDF are what it shows."""
        return self.tool == "read_file" and self.data["kind"] == "pdf"

    @property
    def shows_found(self) -> bool:
        """What a search found is what it shows."""
        return self.tool in ("glob", "grep")

    def __repr__(self) -> str:
        path = self.data.get("path")
        return f"<{self.tool}{f' {one_line(path)}' if isinstance(path, str) else ''}>"

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .html import html_of

        if self.tool == "read_file" and self.data["kind"] == "image":
            return {"text/plain": plain_of(self), **pictures_of(self)[0]}
        return {"text/plain": plain_of(self), "text/html": html_of(self)}


@dataclass(frozen=True)
class HelpText:
    """Help, shown as it is written."""

    text: str

    def __repr__(self) -> str:
        return self.text


def plain_of(result: KernelResult) -> str:
    """A result for a terminal."""
    if result.change is not None and result.shows_diff:
        rows = diff_lines(result.change.diff)
    elif result.shows_source:
        rows = _source_lines(result)
    elif result.shows_cells:
        rows = [cut_row(row) for row in plain_rows(result.data["cells"])]
    elif result.shows_pages:
        rows = [row for title, lines in page_rows(result) for row in [title, *map(cut_row, lines)]]
    elif result.shows_found:
        rows = [cut_row(line) for line in lines_of(result.content[0]["text"])]
    else:
        return "\n".join(bounded([cut_row(note) for note in result.notes]))
    notes_last = not result.shows_diff
    return "\n".join([*bounded(rows), *result.notes] if notes_last else [*result.notes, *bounded(rows)])


def source_rows(result: KernelResult) -> list[str]:
    """The lines of a file as they came, without their ends, as many as are displayed."""
    text: str = result.data["content"]
    return text.removesuffix("\n").split("\n") if text else []


def page_rows(result: KernelResult) -> list[tuple[str, list[str]]]:
    """The pages of a PDF, each with its title and its lines."""
    pages, total = result.data["pages"], result.data["total_pages"]
    kinds = {"text": "", "image": " (a picture)", "blank": " (blank)", "broken": " (cannot be read)"}
    return [(f"Page {page['page']} of {total}{kinds[page['shown_as']]}", lines_of(page["text"])) for page in pages]


def pictures_of(result: KernelResult) -> list[dict[str, str]]:
    """The pictures shown, each as its media type and its data in base64."""
    return [{block["mimeType"]: block["data"]} for block in result.content if block["type"] == "image"]


def diff_lines(diff: FileDiff) -> list[str]:
    """A diff as unified text, line by line."""
    lines = []
    for title, hunks in hunk_groups(diff):
        lines += [title] if title else []
        for hunk in hunks:
            lines.append(hunk_title(hunk))
            for row in hunk.rows:
                lines += [cut_row(SIGNS[row.kind] + line) for line in lines_of(row.text) or [""]]
    return lines


def hunk_groups(diff: FileDiff) -> list[tuple[str, list[DiffHunk]]]:
    """The hunks of a diff below their titles, if they have some."""
    return [(one_line(title), hunks) for title, hunks in titled_hunks(diff)]


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


def _source_lines(result: KernelResult) -> list[str]:
    rows = [cut_row(one_line(row.removesuffix("\r"))) for row in source_rows(result)]
    if not result.numbered:
        return rows
    first = result.data["start_line"] or 1
    width = len(str(first + len(rows) - 1))
    return [f"{number:>{width}}  {row}" for number, row in enumerate(rows, first)]
