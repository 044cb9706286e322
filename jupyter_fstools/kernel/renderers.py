"""Renders each kind of result for terminal and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from ..diffs.file_diff import DiffHunk, FileDiff, hunk_title, titled_hunks
from ..plain_text import change_row, fact_rows, lines_of, one_line, titled_diffs
from ..search.query import TextMatch
from ..stores.records import Change
from ..tools.grep_rows import ShownLine, shown_groups
from .cells import as_typed, highlighted_lines, html_rows, left_html, plain_rows
from .result import (
    MOST_CHARACTERS,
    MOST_ROW_CHARACTERS,
    MOST_ROWS,
    FurtherMatches,
    KernelResult,
    Rendering,
    cut_row,
    notes_html,
    notes_of,
    renders,
    row_html,
    size_text,
    table_html,
)
from .wording import in_words_of_the_magic

_LEFT_OUT = re.compile(r"\n\[\.\.\. \d+ bytes left out \.\.\.\]\n")
"""Matches the line between the first and the last part of a long output."""
_SIGNS = {"context": " ", "add": "+", "remove": "-"}


@renders("diff")
def _changed(result: KernelResult) -> Rendering:
    """The diff of a changed file."""
    assert result.change is not None
    diffs = titled_diffs(result.change)
    first_lines = [text.split("\n", 1)[0] for text in result.texts]
    lines = [line for file, diff in diffs for line in _diff_lines(file, diff)]
    tables = [table_html(_diff(file, diff)) for file, diff in diffs]
    return Rendering(lines, tables, notes_of(result, first_lines), notes_first=True)


@renders("read_file text")
def _lines(result: KernelResult) -> Rendering:
    """Lines of a file."""
    notes = notes_of(result, result.texts[1:])
    return Rendering(_source_lines(result), [table_html(_source(result))], notes, highlighted=True)


@renders("read_file image")
def _picture(result: KernelResult) -> Rendering:
    """A picture."""
    return Rendering(notes=notes_of(result, result.texts), picture=result.pictures[0])


@renders("read_file pdf")
def _pdf(result: KernelResult) -> Rendering:
    """Pages of a PDF."""
    rows = [row for title, lines in _page_rows(result) for row in [title, *map(cut_row, lines)]]
    notes = notes_of(result, result.texts[-1:]) if result.data["next_pages"] else []
    return Rendering(rows, list(_pages(result)), notes)


@renders("read_file notebook", "read_notebook")
def _cells(result: KernelResult) -> Rendering:
    """Cells of a notebook, and the pictures among their outputs."""
    cells = result.data["cells"]
    pictures = [_image("output", picture) for picture in result.pictures]
    tables = [table_html(html_rows(cells, MOST_ROWS)), *pictures]
    notes = notes_of(result, result.texts[1:])
    return Rendering([cut_row(row) for row in plain_rows(cells)], tables, notes, highlighted=True)


@renders("glob")
def _found(result: KernelResult) -> Rendering:
    """Files that were found."""
    files = result.data["files"]
    return Rendering(
        [cut_row(line) for line in lines_of(result.texts[0])],
        [table_html(_files(files), "fs-list")] if files else None,
        notes_of(result, result.texts[1:]),
    )


@renders("grep")
def _hits(result: KernelResult) -> Rendering:
    """Lines that match."""
    matches = result.data.get("matches")
    return Rendering(
        [cut_row(line) for line in lines_of(result.texts[0])],
        [table_html(_hit_rows(matches, result.further_matches))] if matches else None,
        notes_of(result, result.texts[1:]),
    )


@renders("list_files")
def _listing(result: KernelResult) -> Rendering:
    """The listing of a folder."""
    # The first text contains literal file names, so its terms are not translated.
    rows = [cut_row(line) for line in lines_of(result.texts[0])] + notes_of(result, result.texts[1:])
    return Rendering(rows, _entries(result))


@renders("changes")
def _changes(result: KernelResult) -> Rendering:
    """Changes in the journal."""
    lines = notes_of(result, result.texts)
    rows = [
        row_html(map(escape, change_row(Change.model_validate(told))), wrapped=4) for told in result.data["changes"]
    ]
    notes = notes_html(lines[len(rows) :])
    return Rendering(list(map(cut_row, lines)), [table_html(rows, "fs-list"), *notes] if rows else notes)


@renders("status")
def _status(result: KernelResult) -> Rendering:
    """Facts about the root and the session."""
    facts = (row_html([escape(name), escape(fact)], wrapped=1) for name, fact in fact_rows(result.data))
    lines = notes_of(result, result.texts)
    return Rendering(list(map(cut_row, lines)), [table_html(facts, "fs-list")])


@renders("execute")
def _ended(result: KernelResult) -> Rendering:
    """The end of a command; its output has been shown already, but for the last part of a long one."""
    rows: list[str] = []
    if result.data["truncated"]:
        rows = [cut_row(line) for line in lines_of(_LEFT_OUT.split(result.data["output"])[-1])[-MOST_ROWS:]]
    tables = [table_html(row_html([as_typed(escape(row))]) for row in rows)] if rows else None
    return Rendering(rows, tables, [line for text in result.texts[1:] for line in lines_of(text)])


def _diff_lines(file: str, diff: FileDiff) -> list[str]:
    """The lines of a diff as unified text, below its file's title."""
    lines = []
    for title, hunks in _hunk_groups(file, diff):
        lines += [title] if title else []
        for hunk in hunks:
            lines.append(hunk_title(hunk))
            for row in hunk.rows:
                lines += [cut_row(_SIGNS[row.kind] + line) for line in lines_of(row.text) or [""]]
    return lines


def _hunk_groups(file: str, diff: FileDiff) -> list[tuple[str, list[DiffHunk]]]:
    """The hunks of a diff with their titles, if any; the file's title comes first."""
    return [(file, []), *((one_line(title), hunks) for title, hunks in titled_hunks(diff))]


def _diff(file: str, diff: FileDiff) -> Iterator[str]:
    room = MOST_ROWS
    left = 0
    for title, hunks in _hunk_groups(file, diff):
        if title:
            yield f'<tr class="fs-hunk"><td colspan="4">{escape(title)}</td></tr>'
        for hunk in hunks:
            if room > 0:
                yield f'<tr class="fs-hunk"><td colspan="4">{hunk_title(hunk)}</td></tr>'
            for row in hunk.rows[: max(room, 0)]:
                text = "\n".join(escape(cut_row(line)) for line in lines_of(row.text))
                yield (
                    f'<tr class="fs-{row.kind}"><td class="fs-number">{row.old or ""}</td>'
                    f'<td class="fs-number">{row.new or ""}</td><td class="fs-sign">{_SIGNS[row.kind]}</td>'
                    f"<td>{as_typed(text)}</td></tr>"
                )
            left += max(len(hunk.rows) - max(room, 0), 0)
            room -= len(hunk.rows)
    if left:
        yield left_html(left, 4)


def _source_rows(result: KernelResult) -> list[str]:
    """The lines of a file that the tool returned, without their line feeds."""
    text: str = result.data["content"]
    return text.removesuffix("\n").split("\n") if text else []


def _source_lines(result: KernelResult) -> list[str]:
    rows = [cut_row(one_line(row.removesuffix("\r"))) for row in _source_rows(result)]
    if not result.numbered:
        return rows
    first = result.data["start_line"] or 1
    width = len(str(first + len(rows) - 1))
    return [f"{number:>{width}}  {row}" for number, row in enumerate(rows, first)]


def _source(result: KernelResult) -> Iterator[str]:
    rows = _source_rows(result)
    shown, size = [], 0
    for row in rows[:MOST_ROWS]:
        shown.append(cut_row(row))
        size += len(shown[-1])
        if size > MOST_CHARACTERS:
            break
    first = result.data["start_line"] or 1
    for number, line in enumerate(highlighted_lines(result.data["path"], "\n".join(shown)) if shown else [], first):
        count = f'<td class="fs-number">{number}</td>' if result.numbered else ""
        yield f"<tr>{count}<td>{as_typed(line)}</td></tr>"
    if len(rows) > len(shown):
        yield left_html(len(rows) - len(shown), 2)


def _page_rows(result: KernelResult) -> list[tuple[str, list[str]]]:
    """The pages of a PDF, each with its title and its lines."""
    pages, total = result.data["pages"], result.data["total_pages"]
    kinds = {"text": "", "image": " (a picture)", "blank": " (blank)", "broken": " (cannot be read)"}
    return [(f"Page {page['page']} of {total}{kinds[page['shown_as']]}", lines_of(page["text"])) for page in pages]


def _pages(result: KernelResult) -> Iterator[str]:
    pictures = iter(result.pictures)
    room = MOST_ROWS
    for page, (title, lines) in zip(result.data["pages"], _page_rows(result), strict=True):
        yield f'<div class="fs-note">{escape(title)}</div>'
        if page["shown_as"] == "image":
            yield _image(title, next(pictures))
        elif lines and room > 0:
            yield table_html(row_html([as_typed(escape(cut_row(line)))]) for line in lines[:room])
        if len(lines) > max(room, 0):
            yield table_html([left_html(len(lines) - max(room, 0), 1)])
        room -= len(lines)


def _image(alt: str, picture: dict[str, str]) -> str:
    return "".join(
        f'<img alt="{escape(alt)}" src="data:{escape(kind)};base64,{escape(data)}">' for kind, data in picture.items()
    )


def _files(files: list[dict[str, Any]]) -> Iterator[str]:
    yield from _entry_rows(files)
    if len(files) > MOST_ROWS:
        yield left_html(len(files) - MOST_ROWS, 3)


def _entry_rows(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries[:MOST_ROWS]:
        path = escape(one_line(entry["path"])[:MOST_ROW_CHARACTERS]) + ("/" if entry.get("is_directory") else "")
        size = size_text(entry["size_bytes"]) if "size_bytes" in entry else ""
        yield row_html([path, size, entry["modified_at"][:16].replace("T", " ")], wrapped=0)


def _hit_rows(matches: Iterable[dict[str, Any]], further: FurtherMatches) -> Iterator[str]:
    """The rows for a result's matches: a heading for each file or cell, and its lines below."""
    shown = size = left = 0
    for heading, lines in shown_groups(TextMatch(**match) for match in matches):
        full = False
        for number, line in enumerate(lines):
            size += len(line.text)
            full = shown >= MOST_ROWS or size > MOST_CHARACTERS
            if full:
                left += len(lines) - number
                break
            if not number:
                yield f'<tr class="fs-heading"><th colspan="2">{escape(one_line(heading))}</th></tr>'
            shown += 1
            yield f'<tr><td class="fs-number">{_number(line)}</td><td>{as_typed(_marked(line, further))}</td></tr>'
    if left:
        yield left_html(left, 2)


def _number(line: ShownLine) -> str:
    return "…" if line.number is None else f"{line.number}{'' if line.matches else '-'}"


def _marked(line: ShownLine, further: FurtherMatches) -> str:
    if line.number is None:
        return ""
    shown, at = "", 0
    for start, end in _marks(line, further):
        shown += f"{escape(one_line(line.text[at:start]))}<mark>{escape(one_line(line.text[start:end]))}</mark>"
        at = end
    shown += escape(one_line(line.text[at:]))
    return f"{'… ' if line.left_out[0] else ''}{shown}{' …' if line.left_out[1] else ''}"


def _marks(line: ShownLine, further: FurtherMatches) -> Iterator[tuple[int, int]]:
    if line.mark is not None:
        yield line.mark
        yield from (match.span() for match in further(line.text, line.mark[1]) if match[0])


def _entries(result: KernelResult) -> list[str]:
    entries = result.data["entries"]
    # The tool's notes follow its rows, in brackets; without rows there are only notes.
    said = "\n".join(result.texts).split("\n")
    notes = [line for line in said[len(entries) :] if line] if entries else said
    if len(entries) > MOST_ROWS:
        notes.insert(0, f"[... {len(entries) - MOST_ROWS} more entries: see the result's data]")
    return [
        *([table_html(_entry_rows(entries), "fs-list")] if entries else []),
        *notes_html(list(map(in_words_of_the_magic, notes))),
    ]
