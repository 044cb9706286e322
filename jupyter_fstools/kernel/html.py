"""A result as HTML: tables of lines, diffs, entries; nothing of a file becomes markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ..file_diff import FileDiff
from ..records import Change
from .display import (
    MOST_CHARACTERS,
    MOST_ROW_CHARACTERS,
    MOST_ROWS,
    SIGNS,
    KernelResult,
    bounded,
    change_row,
    cut_row,
    fact_rows,
    hunk_groups,
    hunk_title,
    source_rows,
)
from .highlighting import highlighted_lines, styles
from .wording import in_words_of_the_magic, lines_of, one_line

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
.fstools .fs-rows td.fs-sign{width:1%;padding:0 0 0 8px;user-select:none}
.fstools .fs-rows tr.fs-add:nth-child(n){background:rgba(46,160,67,.16);
background:color-mix(in srgb,var(--jp-success-color1,#2ea043) 18%,transparent)}
.fstools .fs-rows tr.fs-remove:nth-child(n){background:rgba(248,81,73,.14);
background:color-mix(in srgb,var(--jp-error-color1,#f85149) 16%,transparent)}
.fstools .fs-rows tr.fs-hunk td,.fstools .fs-note{color:var(--jp-content-font-color2,#888)}
.fstools .fs-note{margin:2px 0;white-space:pre-wrap}
"""


def html_of(result: KernelResult) -> str:
    """A result for a notebook."""
    if result.change is not None:
        body = [*_notes(result.notes), _table(_diff(result.change.diff))]
    elif result.shows_source:
        body = [_table(_source(result)), *_notes(result.notes)]
    elif result.tool == "list_files":
        body = _listing(result)
    elif result.tool == "changes":
        body = _changes(result)
    elif result.tool == "status":
        facts = ([escape(name), escape(fact)] for name, fact in fact_rows(result.data))
        body = [_table(map(_row, facts), "fs-list")]
    else:
        body = _notes(bounded([cut_row(note) for note in result.notes]))
    return f'<div class="fstools"><style>{_STYLE}{styles() if result.shows_source else ""}</style>{"".join(body)}</div>'


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
        yield f"<tr>{count}<td>{line}</td></tr>"
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
                text = "<br>".join(escape(cut_row(line)) for line in lines_of(row.text))
                yield (
                    f'<tr class="fs-{row.kind}"><td class="fs-number">{row.old or ""}</td>'
                    f'<td class="fs-number">{row.new or ""}</td><td class="fs-sign">{SIGNS[row.kind]}</td>'
                    f"<td>{text}</td></tr>"
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


def _changes(result: KernelResult) -> list[str]:
    rows = [map(escape, change_row(Change.model_validate(told))) for told in result.data["changes"]]
    return [_table(map(_row, rows), "fs-list")] if rows else _notes(result.notes)


def _size(size: int) -> str:
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
