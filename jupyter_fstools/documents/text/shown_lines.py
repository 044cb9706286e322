"""Formats lines for a reader: numbered, cut, without terminal codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from ...errors import counted
from .window import CutLine

CARRIAGE_RETURN = "\N{SYMBOL FOR CARRIAGE RETURN}"
"""Stands for a `\\r` that ends no line."""

CUT_MARKER = re.compile(r" ?\[\.\.\. (?:\d+ )?more characters?(?:: read with [a-z_]+=\d+(?:, [a-z_]+=\d+)+)?\]")
"""The end of a line that was not shown whole, in a file, a cell, a snippet or a diff."""

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
LINE_NUMBER = re.compile(r"^[ ]*\d{1,18}\t")
"""The prefix of a numbered row."""
# CSI and OSC sequences, then two-character escapes.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_=>78cDEHMNOZ])")


class Shown(NamedTuple):
    """The lines that a read showed, of a file or of a cell.

    Attributes:
        first: the first line, 1-based.
        last: the last line; `first - 1` if there is none.
        text: the lines as they stand there.
        total_lines: of the file or cell; None where nobody has counted that far.
        column: the first character shown of the first line, 1-based.
        cuts: the lines whose end was not shown.
    """

    first: int
    last: int
    text: str
    total_lines: int | None
    column: int = 1
    cuts: Sequence[CutLine] = ()


def cut_marker(cut: CutLine) -> str:
    """The text after a cut line: how many characters were left out, and how to read them."""
    column = cut.column + cut.shown
    return f" [... {counted(cut.omitted, 'more character')}: read with offset={cut.line}, column={column}]"


def shortened(row: str, most: int) -> str:
    """The row, cut after `most` characters, with a marker that says so: it must not pass for the whole line.

    Its own length is not told, as the row may be cut already.
    """
    return row if len(row) <= most else f"{row[:most]} [... more characters]"


def shown_body(rows: Sequence[str], first: int, *, numbers: bool, cuts: Iterable[CutLine] = ()) -> str:
    r"""The rows as they are shown, one under the other: `N<TAB>text` if numbered; never a `\r`."""
    shown = list(rows)
    for cut in cuts:
        shown[cut.line - first] += cut_marker(cut)
    body = _numbered(shown, first) if numbers else "\n".join(shown)
    # Searching first is a hundred times faster than replacing a character that is not there.
    return body.replace("\r", CARRIAGE_RETURN) if "\r" in body else body


def _numbered(rows: Sequence[str], first: int) -> str:
    pieces = [""] * (2 * len(rows))
    pieces[::2] = _prefixes(first, len(rows))
    pieces[1::2] = rows
    return "".join(pieces)[1:]


@lru_cache(maxsize=8)
def _prefixes(first: int, count: int) -> tuple[str, ...]:
    return tuple([f"\n{number}\t" for number in range(first, first + count)])


def row_sizes(rows: Iterable[str]) -> Iterator[int]:
    """The bytes of each row as it is shown, its end included."""
    return (len(row.encode("utf-8", "surrogatepass")) + 1 for row in rows)


def fitting(rows: Sequence[str], most: int | None) -> int:
    """How many of the first rows fit into `most` bytes (None: all); at least one, if there is any."""
    if most is None:
        return len(rows)
    return max(sum(end <= most for end in accumulate(row_sizes(rows))), min(1, len(rows)))


def envelope(tag: str, attributes: Sequence[tuple[str, object]], body: str) -> str:
    """`<tag name="value">` newline, the body, `</tag>`; the tag gets a suffix if the body contains its closing tag.

    No newline is added before the closing tag: if the file has none, it would be copied into an edit.
    """
    name, number = tag, 1
    while f"</{name}>" in body:
        number += 1
        name = f"{tag}-{number}"
    return f"{opening_tag(name, attributes)}\n{body}</{name}>"


def opening_tag(name: str, attributes: Sequence[tuple[str, object]]) -> str:
    """`<name key="value">`, on one line for any values."""
    return f"<{name}{''.join(f' {key}={_quoted(value)}' for key, value in attributes)}>"


def _quoted(value: object) -> str:
    return f'"{str(value).translate(_ESCAPES)}"'


def without_ansi(text: str) -> str:
    """The text without ANSI escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def collapsed(text: str) -> str:
    r"""The text without ANSI sequences, and with only the last state of each line that `\r` overwrites."""
    text = without_ansi(text)
    if "\r" not in text:
        return text
    return "\n".join(_last_state(line) for line in text.replace("\r\n", "\n").split("\n"))


def _last_state(line: str) -> str:
    if "\r" not in line:
        return line
    states = [state for state in line.split("\r") if state]
    return states[-1] if states else ""
