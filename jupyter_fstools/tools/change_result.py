"""Builds what write_file, edit_file and edit_notebook answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from ..diffs.line_diff import grouped
from ..documents.notebook import NotebookEdit, lines_of
from ..documents.text.diff import ChangedLines
from ..documents.text.shown_lines import shortened, shown_body
from ..gate.draft import Draft, Step
from ..stores.records import Change
from .tool import ToolResult, text_block

OUTSIDE_NAMED = 20
"""Most lines named that were changed without having been shown."""

_SNIPPET_ROWS = 40
_SNIPPET_CHARACTERS = 200
_SNIPPET_CONTEXT = 4
_NAMED = 20
_DONE = {
    "replace": "replaced",
    "edit": "edited",
    "insert": "inserted",
    "delete": "deleted",
    "move": "moved",
    "convert": "converted",
    "clear_outputs": "cleared the outputs of",
}


class EditedFile(NamedTuple):
    """One text file of a change.

    Attributes:
        draft: the file before the change.
        step: the step taken on it.
        numbers: the call's edits of this file, from 0.
        replacements: how many places each of these edits replaced.
        snippet: the new lines with some context.
        outside: lines that were changed without having been shown.
    """

    draft: Draft
    step: Step
    numbers: Sequence[int]
    replacements: Sequence[int]
    snippet: str
    outside: Sequence[int]

    @property
    def path(self) -> str:
        """Its canonical path."""
        return self.draft.stat.path

    @property
    def places(self) -> str:
        """How many places were replaced."""
        total = sum(self.replacements)
        return f"{total} place{'' if total == 1 else 's'}"

    def facts(self, change: Change | None) -> dict[str, Any]:
        """The data of this file."""
        return {
            "path": self.path,
            "replacements": list(self.replacements),
            "snippet": self.snippet,
            "outside_shown_lines": bool(self.outside),
            "fingerprint": _fingerprint_after(self.draft, change),
        }


class EditedNotebook(NamedTuple):
    """One notebook of a change.

    Attributes:
        draft: the file before the change.
        step: the step taken on it.
        numbers: the call's edits of this notebook, from 0.
        outcome: the result of these edits.
        outside: cell and line of each place that was changed without having been shown.
        newer: the text file that jupytext pairs with the notebook, if it is newer.
    """

    draft: Draft
    step: Step
    numbers: Sequence[int]
    outcome: NotebookEdit
    outside: Sequence[tuple[str, int]]
    newer: str | None

    @property
    def path(self) -> str:
        """Its canonical path."""
        return self.draft.stat.path

    @property
    def done(self) -> str:
        """The changes of its cells, in words."""
        cells = self.outcome.cells
        done = "; ".join(f"{_DONE[one.edit_mode]} cell {one.cell_id} (index {one.index})" for one in cells[:_NAMED])
        return done + (f"; and {len(cells) - _NAMED} more" if len(cells) > _NAMED else "")

    @property
    def notes(self) -> str:
        """The notes for its reader."""
        said = ""
        if self.outside:
            said += f" Note: line {self.outside[0][1]} of cell {self.outside[0][0]} had not been shown in this session."
        if self.newer is not None:
            said += (
                f" Note: {self.newer}, which jupytext pairs with this notebook, is newer: it may overwrite the edit."
            )
        return said

    def facts(self, change: Change | None) -> dict[str, Any]:
        """The data of this notebook."""
        return {
            "path": self.path,
            "cells": [asdict(cell) for cell in self.outcome.cells],
            "renamed": [asdict(cell) for cell in self.outcome.renamed[:_NAMED]],
            "total_renamed": len(self.outcome.renamed),
            "total_cells": self.outcome.total_cells,
            "snippet": "\n".join(_cell_snippet(self.outcome, _SNIPPET_ROWS)) if change is not None else "",
            "outside_shown_lines": bool(self.outside),
            "newer_pair": self.newer,
            "fingerprint": _fingerprint_after(self.draft, change),
        }


def written_result(draft: Draft, change: Change | None, size: str, facts: dict[str, Any]) -> ToolResult:
    """Build the answer of write_file; `size` is the content's size in words, `facts` its part of `data`."""
    path, created = draft.stat.path, draft.before is None
    done = f"{'Created' if created else 'Overwrote'} {path} ({size}).{_of_odd_name(path) if created else ''}"
    said = _said(change, f"{path} ({size})", done, f"{path} has this content already; nothing was written.")
    own = {"path": path, "created": created, "fingerprint": _fingerprint_after(draft, change)}
    return _result("write_file", change, [said], lambda: {**own, **facts})


def _of_odd_name(path: str) -> str:
    """The note on a new file whose path means another place in a shell or on Windows."""
    if path.startswith("~"):
        return " Note: ~ is a name below the root here, not a home folder."
    return " Note: the backslash is part of the name; folders are separated by /." if "\\" in path else ""


def edited_result(files: Sequence[EditedFile], change: Change | None) -> ToolResult:
    """Build the answer of edit_file; `files` in the order in which the call named them."""
    several = len(files) > 1
    done = "; ".join(f"{file.path} ({file.places})" for file in files)
    what, edited = _of_several("files", len(files), done, change) if several else (done, done)
    said = _said(change, what, f"Edited {edited}.", _cancelled([file.path for file in files]))
    unseen = [f"line {file.outside[0]}" + (f" of {file.path}" if several else "") for file in files if file.outside]
    if unseen:
        said += f" Note: {', '.join(unseen[:OUTSIDE_NAMED])} had not been shown in this session."
    shown, room = [said], _SNIPPET_ROWS
    for file in files:
        rows = [row for row in file.snippet.split("\n") if row][:room] if several else [file.snippet]
        room -= len(rows)
        shown += [f"{file.path}:", *rows] if several and rows else rows
    replacements = {
        number: count for file in files for number, count in zip(file.numbers, file.replacements, strict=True)
    }
    own = {
        "replacements": [replacements[number] for number in sorted(replacements)],
        "outside_shown_lines": bool(unseen),
    }
    return _result("edit_file", change, shown, lambda: _facts(files, change) | own)


def notebooks_result(notebooks: Sequence[EditedNotebook], change: Change | None) -> ToolResult:
    """Build the answer of edit_notebook; `notebooks` in the order in which the call named them."""
    several = len(notebooks) > 1
    done = "; ".join(f"{one.path}: {one.done}" for one in notebooks)
    one_done = f"{notebooks[0].path} ({notebooks[0].done})"
    what, edited = _of_several("notebooks", len(notebooks), done, change) if several else (one_done, done)
    said = _said(change, what, f"Edited {edited}.", _cancelled([one.path for one in notebooks]))
    shown, room = [said + "".join(one.notes for one in notebooks)], _SNIPPET_ROWS
    for one in notebooks:
        heading = f"{one.path}:" if several else None
        snippet = _cell_snippet(one.outcome, room) if room > 0 else []
        rows = [row for row in (heading, _renamed(one.outcome), *snippet) if row]
        room -= len(rows)
        shown += rows if rows != [heading] else []
    return _result("edit_notebook", change, shown, lambda: _facts(notebooks, change))


def _of_several(kind: str, count: int, done: str, change: Change | None) -> tuple[str, str]:
    """The texts for a change of several files: proposed, and carried out."""
    return f"{count} {kind} ({done})", f"{count} {kind} as one change ({change.id if change else ''}): {done}"


def _facts(edited: Sequence[EditedFile | EditedNotebook], change: Change | None) -> dict[str, Any]:
    """The data of the first file and, if there are several, of each."""
    facts = [one.facts(change) for one in edited]
    return facts[0] | {"files": facts if len(facts) > 1 else []}


def _said(change: Change | None, what: str, done: str, unchanged: str) -> str:
    if change is None:
        return unchanged
    if change.status == "proposed":
        return f"Not written yet: change {change.id} of {what} waits for a person's approval."
    return done


def _cancelled(paths: Sequence[str]) -> str:
    are = "are" if len(paths) > 1 else "is"
    return f"The edits cancel each other out: {', '.join(paths)} {are} unchanged; nothing was written."


def _fingerprint_after(draft: Draft, change: Change | None) -> str | None:
    after = {file.key: file.after for file in change.all_files}.get(draft.stat.key) if change is not None else None
    if after is not None:
        return after.text_sha
    # Nothing was written. A notebook's receipt may be of an earlier content, as other cells may change.
    receipt = draft.receipt
    return receipt.text_sha if receipt is not None and receipt.version == draft.stat.content_version else None


def _result(tool: str, change: Change | None, shown: Sequence[str], facts: Callable[[], dict[str, Any]]) -> ToolResult:
    """The result; the first row of `shown` is always included, the others only if something was changed."""
    status = {
        "changed": change is not None,
        "status": change.status if change is not None else "unchanged",
        "change_id": change.id if change is not None else None,
    }
    rows = [row for row in shown if row] if change is not None else shown[:1]
    return ToolResult(tool, lambda: [text_block("\n".join(rows))], lambda: {**facts(), **status}, change)


def _renamed(outcome: NotebookEdit) -> str:
    """A line about the cells whose synthetic ids changed as a side effect of the edits."""
    if not outcome.renamed:
        return ""
    names = ", ".join(f"{one.old_id} -> {one.cell_id}" for one in outcome.renamed[:_NAMED])
    rest = len(outcome.renamed) - _NAMED
    return f"Ids after this: {names}" + (f", and {rest} more (read the notebook to see them)." if rest > 0 else ".")


def _cell_snippet(outcome: NotebookEdit, most: int) -> list[str]:
    """The new lines of cells with replaced text, with some context, numbered within the cell, bounded."""
    edited = {one.index for one in outcome.cells if one.edit_mode == "edit"}
    shown: list[str] = []
    for diff in outcome.diffs:
        if diff.index not in edited or diff.action != "edit":
            continue
        rows = [row for hunk in diff.hunks for row in hunk.rows if row.kind != "remove"]
        written = outcome.after[diff.index].written
        if written is not None and rows and rows[-1].new > len(lines_of(written[1])):
            rows.pop()  # The final newline ends the last line; in a diff another one follows.
        if rows:
            shown.append(f"cell {diff.cell_id}:")
        for row in rows:
            shown.append(shown_body([shortened(row.text, _SNIPPET_CHARACTERS)], row.new, numbers=True))
            if len(shown) >= most:
                return [*shown[: max(most, 0)], "..."]
    return shown


class TextSnippet:
    """Collects the new lines with some context, numbered and bounded, while the changes are passed on to the diff.

    Attributes:
        context: how many unchanged lines the changes must have around them.
    """

    context = _SNIPPET_CONTEXT

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = _SNIPPET_ROWS

    @property
    def text(self) -> str:
        """The text so far."""
        text = "\n...\n".join(self._parts)
        return text if self._room else f"{text}\n..."

    def passed(self, changes: Iterable[ChangedLines]) -> Iterator[ChangedLines]:
        """The same changes, collected as they pass."""
        for change in changes:
            for blocks in grouped(change.blocks, _SNIPPET_CONTEXT):
                start, end = max(0, blocks[0][2] - _SNIPPET_CONTEXT), blocks[-1][3] + _SNIPPET_CONTEXT
                lines = change.new[start : min(end, start + self._room)]
                whole = [line.split("\n", 1)[0].removesuffix("\r") for line in lines]
                rows = [shortened(line, _SNIPPET_CHARACTERS) for line in whole]
                if rows:
                    self._parts.append(shown_body(rows, change.new_start + start, numbers=True))
                self._room -= len(rows)
            yield change
