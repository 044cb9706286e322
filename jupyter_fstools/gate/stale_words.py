"""How a stale refusal tells what changed: a diff, or words where no diff shows it."""

from __future__ import annotations

from ..diffs.file_diff import FileDiff
from ..documents.text.diff import unified
from ..errors import Stale

_SAID = {
    "byte_order_mark": "its byte order mark was {how}; the text is the same",
    "encoding": "it was {how}; the text is the same",
    "line_endings": "only its line endings changed",
    "final_newline": "its final newline was {how}; the other lines are the same",
    "cell_type": "it was a {how} cell; its source is the same",
    "outside_shown_lines": "what changed lies outside the lines that were shown whole",
    "outside_change": "what changed lies outside the lines that the change tells of",
    "undecodable": "it is no text any more in the encoding in which it was read",
    "too_large": "the file is too large to tell what changed",
    "unknown": "too little is kept of what was shown to tell what changed",
}


def show_diff(refusal: Stale, diff: FileDiff | None) -> bool:
    """Put a diff among the details of a refusal; says whether there is anything to see."""
    if diff is None or not (diff.hunks or diff.cells):
        return False
    refusal.details["diff"] = unified(diff)
    if refusal.hint.startswith("Read "):
        refusal.hint = f"Look at what changed (diff), then r{refusal.hint[1:]}"
    return True


def say_in_words(refusal: Stale, changed: str, how: str = "") -> None:
    """Say what changed where no diff shows it: `changed` is one of the words of `details`."""
    refusal.details["changed"] = changed
    refusal.say_more(_SAID[changed].format(how=how))
