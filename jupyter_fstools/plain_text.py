"""Formats changes and facts as plain lines, safe for terminals."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .diffs.file_diff import FileDiff, unified
from .documents.text.invisible import INVISIBLE
from .stores.records import Change

_MOST_DIFF_BYTES = 256 << 10


def one_line(text: str) -> str:
    """A text in one line, with every invisible character as an escape."""
    return INVISIBLE.sub(lambda match: _spelled(match[0]), text)


def lines_of(text: str) -> list[str]:
    """The lines of a text, each as `one_line` shows it; the end of a line is not shown."""
    return [one_line(line.removesuffix("\r")) for line in text.removesuffix("\n").split("\n")] if text else []


def change_row(change: Change) -> list[str]:
    """A change in a few words: id, time, status and place, tool, file, size, session."""
    moment = datetime.fromtimestamp(change.created_at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    what = change.tool if change.undoes is None else f"{change.tool} of {change.undoes}"
    diffs = [file.diff for file in change.all_files]
    size = f"+{sum(diff.added for diff in diffs)} -{sum(diff.removed for diff in diffs)}"
    landed = f" in a {change.place}" if change.status in ("applied", "undone") and change.place != "disk" else ""
    status = change.status + landed + ("" if change.decided_via is None else f" via {change.decided_via}")
    return [change.id, moment, status, what, one_line(change.title), size, change.session]


def titled_diffs(change: Change) -> list[tuple[str, FileDiff]]:
    """The diffs of a change, each with a title that names its file; for a change of one file the title is empty."""
    files = change.all_files
    return [(f"{one_line(file.path)}: {file.diff.op}" if change.files else "", file.diff) for file in files]


def unified_diffs(change: Change) -> list[str]:
    """The diffs of a change as unified texts, each cut to 256 KiB."""
    return ["\n".join(filter(None, [title, unified(diff, _MOST_DIFF_BYTES)])) for title, diff in titled_diffs(change)]


def fact_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Each fact's name and value as text."""
    return [(name.replace("_", " "), one_line(_in_words(fact))) for name, fact in data.items()]


def _in_words(fact: Any) -> str:
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if fact is None:
        return "none"
    if isinstance(fact, dict):
        return ", ".join(f"{name} {_in_words(one)}" for name, one in fact.items())
    return ", ".join(map(str, fact)) if isinstance(fact, (list, tuple)) else str(fact)


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
