"""A result as HTML: tables of lines, diffs, entries; nothing of a file becomes markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from ..diffs.file_diff import FileDiff
from ..documents.text.diff import hunk_title
from ..plain_text import change_row, fact_rows, lines_of, one_line
from ..search.text_query import TextMatch
from ..stores.records import Change
from ..tools.grep_rows import ShownLine, shown_groups
from .cells import html_rows
from .display import (
    MOST_CHARACTERS,
    MOST_ROW_CHARACTERS,
    MOST_ROWS,
    SIGNS,
    KernelResult,
    bounded,
    cut_row,
    hunk_groups,
    page_rows,
    pictures_of,
    plain_of,
    source_rows,
)
from .highlighting import as_typed, highlighted_lines, styles
from .wording import in_words_of_the_magic


def hit_rows(matches: Iterable[dict[str, Any]]) -> Iterator[str]:
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
            yield f'<tr><td class="fs-number">{_number(line)}</td><td>{as_typed(_marked(line))}</td></tr>'
    if left:
        yield f'<tr class="fs-hunk"><td colspan="2">[... {left} more lines]</td></tr>'


def _number(line: ShownLine) -> str:
    if line.number is None:
        return "…"
    return f"{line.number}{'' if line.matches else '-'}"


def _marked(line: ShownLine) -> str:
    if line.number is None:
        return ""
    start, end = line.mark or (0, 0)
    parts = [escape(one_line(part)) for part in (line.text[:start], line.text[start:end], line.text[end:])]
    marked = f"<mark>{parts[1]}</mark>" if parts[1] else ""
    return f"{'… ' if line.left_out[0] else ''}{parts[0]}{marked}{parts[2]}{' …' if line.left_out[1] else ''}"


# JupyterLab's own rules for tables are strong: every one of these names two classes to stand above them.
_STYLE = """
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


def html_of(result: KernelResult) -> str:
    """A result for a notebook."""
    if result.change is not None and result.shows_diff:
        body = [*_notes(result.notes), _table(_diff(result.change.diff))]
    elif result.shows_source or result.shows_cells or result.shows_pages:
        body = [*_content(result), *_notes(result.notes)]
    elif result.tool == "glob" and result.data["files"]:
        body = [_table(_files(result), "fs-list"), *_notes(result.notes)]
    elif result.tool == "grep" and result.data.get("matches"):
        body = [_table(hit_rows(result.data["matches"])), *_notes(result.notes)]
    elif result.shows_found:
        body = _notes(plain_of(result).split("\n"))
    elif result.tool == "list_files":
        body = _listing(result)
    elif result.tool == "changes":
        body = _changes(result)
    elif result.tool == "status":
        facts = ([escape(name), escape(fact)] for name, fact in fact_rows(result.data))
        body = [_table(map(_row, facts), "fs-list")]
    else:
        body = _notes(bounded([cut_row(note) for note in result.notes]))
    style = _STYLE + (styles() if result.shows_source or result.shows_cells else "")
    return f'<div class="fstools"><style>{style}</style>{"".join(body)}</div>'


def _content(result: KernelResult) -> list[str]:
    if result.shows_source:
        return [_table(_source(result))]
    if result.shows_cells:
        return [_table(html_rows(result.data["cells"], MOST_ROWS)), *_pictures(result)]
    return list(_pages(result))


def _notes(notes: Sequence[str]) -> list[str]:
    return [f'<div class="fs-note">{escape(note)}</div>' for note in notes]


def _table(rows: Iterable[str], kind: str = "") -> str:
    return f'<table class="fs-rows {kind}"><tbody>{"".join(rows)}</tbody></table>'


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _source(result: KernelResult) -> Iterator[str]:
    rows = source_rows(result)
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
        yield _left(len(rows) - len(shown), 2)


def _diff(diff: FileDiff) -> Iterator[str]:
    room = MOST_ROWS
    left = 0
    for title, hunks in hunk_groups(diff):
        if title:
            yield f'<tr class="fs-hunk"><td colspan="4">{escape(title)}</td></tr>'
        for hunk in hunks:
            if room > 0:
                yield f'<tr class="fs-hunk"><td colspan="4">{hunk_title(hunk)}</td></tr>'
            for row in hunk.rows[: max(room, 0)]:
                text = "\n".join(escape(cut_row(line)) for line in lines_of(row.text))
                yield (
                    f'<tr class="fs-{row.kind}"><td class="fs-number">{row.old or ""}</td>'
                    f'<td class="fs-number">{row.new or ""}</td><td class="fs-sign">{SIGNS[row.kind]}</td>'
                    f"<td>{as_typed(text)}</td></tr>"
                )
            left += max(len(hunk.rows) - max(room, 0), 0)
            room -= len(hunk.rows)
    if left:
        yield _left(left, 4)


def _left(count: int, columns: int) -> str:
    return f'<tr class="fs-hunk"><td colspan="{columns}">[... {count} more lines]</td></tr>'


def _listing(result: KernelResult) -> list[str]:
    entries = result.data["entries"]
    rows = [
        [
            escape(one_line(entry["path"])[:MOST_ROW_CHARACTERS]) + ("/" if entry["is_directory"] else ""),
            _size(entry["size_bytes"]) if "size_bytes" in entry else "",
            entry["modified_at"][:16].replace("T", " "),
        ]
        for entry in entries[:MOST_ROWS]
    ]
    # The tool's own notes stand below its rows, in brackets; without rows they are all it says.
    said = result.text.split("\n")
    notes = [line for line in said[len(entries) :] if line] if entries else said
    if len(entries) > MOST_ROWS:
        notes.insert(0, f"[... {len(entries) - MOST_ROWS} more entries: see the result's data]")
    return [*([_table(map(_row, rows), "fs-list")] if rows else []), *_notes(list(map(in_words_of_the_magic, notes)))]


def _pages(result: KernelResult) -> Iterator[str]:
    pictures = iter(pictures_of(result))
    room = MOST_ROWS
    for page, (title, lines) in zip(result.data["pages"], page_rows(result), strict=True):
        yield f'<div class="fs-note">{escape(title)}</div>'
        if page["shown_as"] == "image":
            for kind, data in next(pictures).items():
                yield f'<img alt="{escape(title)}" src="data:{kind};base64,{data}">'
        elif lines and room > 0:
            yield _table(_row([as_typed(escape(cut_row(line)))]) for line in lines[:room])
        if len(lines) > max(room, 0):
            yield _table([_left(len(lines) - max(room, 0), 1)])
        room -= len(lines)


def _pictures(result: KernelResult) -> Iterator[str]:
    for picture in pictures_of(result):
        for kind, data in picture.items():
            yield f'<img alt="output" src="data:{escape(kind)};base64,{escape(data)}">'


def _files(result: KernelResult) -> Iterator[str]:
    files = result.data["files"]
    for file in files[:MOST_ROWS]:
        path = escape(one_line(file["path"])[:MOST_ROW_CHARACTERS])
        yield _row([path, _size(file["size_bytes"]), file["modified_at"][:16].replace("T", " ")])
    if len(files) > MOST_ROWS:
        yield _left(len(files) - MOST_ROWS, 3)


def _changes(result: KernelResult) -> list[str]:
    rows = [map(escape, change_row(Change.model_validate(told))) for told in result.data["changes"]]
    notes = _notes(result.notes[len(rows) :])
    return [_table(map(_row, rows), "fs-list"), *notes] if rows else notes


def _size(size: int) -> str:
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
