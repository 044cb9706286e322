"""Refuses unreadable notebooks, naming the line and column."""

from __future__ import annotations

from ...content.source import Content
from ...errors import Conflict, FsToolsError, NotebookRefused

_MARKERS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_OR_ANOTHER = "by other means, or write a new notebook to another path with `write_file`; nothing is repaired silently."
"""No tool writes to a notebook that cannot be read."""


def not_utf8(offset: int, reason: str) -> NotebookRefused:
    """The refusal of bytes at `offset` that are not UTF-8."""
    return NotebookRefused(
        f"byte {offset} is not valid UTF-8, which a notebook must be ({reason})",
        hint=f"Save it as UTF-8 {_OR_ANOTHER}",
        offset=offset,
    )


def broken_json(content: Content, offset: int, limit: int, reason: str) -> NotebookRefused:
    """The refusal of JSON that breaks at `offset`, with line and column, both 1-based (columns in characters)."""
    line, column = _place(content, offset)
    there = content.read(offset, 8)
    if there.startswith(_MARKERS):
        reason, hint = "merge-conflict marker", f"Resolve the merge conflict {_OR_ANOTHER}"
    elif offset >= limit:
        reason, hint = f"the file ends too early ({reason})", f"The file is truncated: restore it {_OR_ANOTHER}"
    else:
        hint = f"Repair the JSON at that place {_OR_ANOTHER}"
    return NotebookRefused(
        f"broken JSON at line {line}, column {column}: {reason}",
        hint=hint,
        line=line,
        column=column,
        offset=offset,
    )


def _place(content: Content, offset: int) -> tuple[int, int]:
    line, tail = 1, b""
    for chunk in content.chunks(0, offset):
        piece = bytes(chunk)
        newlines = piece.count(b"\n")
        line += newlines
        tail = piece.rpartition(b"\n")[2] if newlines else tail + piece
    return line, len(tail.decode(errors="replace")) + 1


def empty_file(size: int) -> NotebookRefused:
    """The refusal of a file without any JSON; only one without any byte can be written over."""
    where = "" if size == 0 else " to another path"
    return NotebookRefused(
        "the notebook is empty" if size == 0 else "the notebook holds only white space",
        hint=f"Restore it by other means, or write a valid notebook{where} with `write_file`; nothing is repaired "
        "silently.",
        line=1,
        column=1,
        offset=0,
    )


def starts_with_bom() -> NotebookRefused:
    """A byte order mark stands before the JSON."""
    return NotebookRefused(
        "a byte order mark precedes the JSON (line 1, column 1)",
        hint=f"A notebook is UTF-8 without a BOM: save it without one {_OR_ANOTHER}",
        line=1,
        column=1,
        offset=0,
    )


def no_object(kind: str, start: int, end: int) -> NotebookRefused:
    """The JSON at the top level is a value of another kind."""
    return NotebookRefused(
        f"not a notebook: the top level is {kind}, not an object",
        hint=f"Restore the file {_OR_ANOTHER}",
        offset=start,
        end=end,
    )


def not_editable(major: int | None) -> NotebookRefused:
    """The refusal to edit another version of the format than 4; nbformat converts older ones only."""
    if major is None:
        hint = 'Repair its "nbformat" by hand: a notebook of today has 4.'
    elif major < 4:
        hint = "Convert it to nbformat 4 first (jupyter nbconvert --to notebook --inplace)."
    else:
        hint = "It is of a newer format: edit it with the program that wrote it."
    return NotebookRefused(
        f"nbformat {major if major is not None else 'unknown'} can be read but not edited", hint=hint, nbformat=major
    )


def too_deep() -> NotebookRefused:
    """The JSON is nested deeper than can be decoded."""
    return NotebookRefused("the JSON of this cell is nested too deeply", hint="Repair the cell by hand.")


def no_source(index: int) -> NotebookRefused:
    """A cell is not what nbformat says."""
    return NotebookRefused(
        f"invalid cell: the cell at index {index} has no source",
        hint="Delete the cell, or repair it by hand; other cells can be edited.",
    )


def changes_meanwhile() -> Conflict:
    """The refusal of an edit whose notebook changed after it was parsed."""
    return Conflict("the notebook changes while it is read", hint="Read it again in a moment.")


def labelled(error: FsToolsError, number: int, total: int) -> FsToolsError:
    """The same refusal, with the number of its edit where there are several."""
    error.say_which_edit(number, total)
    if total > 1:
        error.details["edit"] = number
    return error
