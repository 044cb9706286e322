"""Parses the body of a `%%fs edit` cell: blocks or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import FsToolsError, Invalid, NoMatch
from .result import KernelResult

EDIT_FIELDS = "old_string", "new_string", "replace_all"
"""Fields of an edit in a body of JSON."""
OLD, MIDDLE, NEW = "<<<<<<< old", "=======", ">>>>>>> new"


_MARKS = (OLD, MIDDLE, NEW)


_FORM = f"A block is a line {OLD!r}, the old text, a line {MIDDLE!r}, the new text, and a line {NEW!r}."


def edits_of(body: str) -> list[Any]:
    """The edits in a cell's body, as `edit_file` takes them.

    A body that begins with `[` or `{` is JSON: a list of edits, or one. Any other body is one or more blocks. The text
    between two marks is taken exactly, the newline of its last line included; a block with nothing between the last
    two marks removes the old text. As in every edit, the old text may begin within a line.

    Raises:
        Invalid: no JSON, JSON nested too deeply, or a malformed block; names the line of the body.
    """
    if _is_json(body):
        hint = "Give a list of edits, or blocks."
        try:
            told = json.loads(body)
        except RecursionError:
            raise Invalid("the body is nested too deeply", hint=hint, field="body") from None
        except ValueError as error:
            raise Invalid(f"the body is not valid JSON: {error}", hint=hint, field="body") from None
        return told if isinstance(told, list) else [told]
    return _from_blocks(re.findall(r"[^\n]*\n|[^\n]+", body))


def called_with_edits(body: str, call: Callable[[list[Any]], KernelResult], shared: Mapping[str, Any]) -> KernelResult:
    """Call a tool with the edits in a cell's body; each takes those of the shared fields that it does not have.

    The last line of a block ends with a newline, that of a text may not: there the block is meant without it.

    Raises:
        Invalid: as `edits_of`; FsToolsError: the call was refused.
    """
    edits, last_lines, decided = edits_of(body), set[int](), ""
    while True:
        try:
            completed = [{**shared, **edit} if isinstance(edit, dict) else edit for edit in edits]
            return KernelResult.of(call(completed).after(decided))
        except FsToolsError as refusal:
            # Decisions are told once, so those in a refusal that is not shown go into the answer.
            decided = "\n".join(filter(None, (decided, refusal.details.get("since_last_call"))))
            number = refusal.details.get("edit", 0)
            ends_early = isinstance(refusal, NoMatch) and refusal.details.get("reason") == "no_final_newline"
            if number in last_lines or not ends_early or _is_json(body):
                refusal.details |= {"since_last_call": decided} if decided else {}
                raise
            last_lines.add(number)
            edits[number] = {name: text.removesuffix("\n") for name, text in edits[number].items()}


def _is_json(body: str) -> bool:
    return body.lstrip()[:1] in ("[", "{")


def _from_blocks(lines: list[str]) -> list[Any]:
    edits: list[Any] = []
    parts: list[list[str]] = []
    opened = 0
    for number, line in enumerate(lines, 1):
        expected = _MARKS[len(parts)]
        mark = line.rstrip()
        if mark == expected == NEW:
            edits.append({"old_string": "".join(parts[0]), "new_string": "".join(parts[1])})
            parts = []
        elif mark == expected:
            opened = opened if parts else number
            parts.append([])
        elif mark in _MARKS or (mark and not parts):
            raise _malformed(number, f"expected {expected!r}, got {mark[:60]!r}")
        elif parts:
            parts[-1].append(line)
    if parts:
        raise _malformed(opened, f"the block that begins here has no {_MARKS[len(parts)]!r}")
    if not edits:
        raise Invalid("the body holds no edit", hint=_FORM, field="body")
    return edits


def _malformed(line: int, what: str) -> Invalid:
    return Invalid(
        f"line {line} of the body: {what}",
        hint=f"{_FORM} Texts that hold such lines themselves can be given as JSON.",
        field="body",
        line=line,
    )
