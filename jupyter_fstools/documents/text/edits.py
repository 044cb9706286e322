"""Applies exact edits to a text, all or nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

from ...content.splices import Splice, spliced_size
from ...errors import Ambiguous, Invalid, NoMatch, NoOp, TooLarge
from .disguises import without_extra_returns
from .edited_text import EditedText
from .encoding import UTF_8
from .match_hints import hint_for_no_match
from .needle import Match, Needle, lines_of_matches
from .utf8_view import Utf8View
from .written_text import placeholder_line

MOST_REPLACEMENTS = 250_000
"""Replacements in one call: their places are kept in memory."""
Ranges = Sequence[tuple[int, int]]
_COUNTED = 10_000
_COUNTED_BYTES = 64 << 20


class TextEdit(NamedTuple):
    """Replace `old`, which must be there exactly once (or, with `replace_all`, at least once), by `new`."""

    old: str
    new: str
    replace_all: bool = False


class EditOutcome(NamedTuple):
    """The result of a list of edits.

    Attributes:
        splices: in bytes of the file; empty where the edits cancel each other.
        replacements: how many places each edit replaced.
    """

    splices: list[Splice]
    replacements: list[int]


def apply_edits(
    view: Utf8View,
    edits: Sequence[TextEdit],
    most_bytes: int = sys.maxsize,
    *,
    numbers: Sequence[int] | None = None,
    total: int | None = None,
    shown: Ranges = (),
) -> EditOutcome:
    """Apply edits in order, each to the result of the previous one.

    Args:
        view: the text.
        edits: the replacements.
        most_bytes: limit of the result's size; checked before the result is built.
        numbers: the edits' places (from 0) in the whole call, which refusals name; None: these are all.
        total: how many edits the whole call has.
        shown: the lines that the caller was shown; of several places those nearest to them are named first.

    Raises:
        Invalid: an empty old string, no edits, an omission placeholder; NoOp: old and new are the same text.
        NoMatch, Ambiguous: naming the edit, line numbers, and the nearest text as a hint.
        TooLarge: more replacements than one call may make, or too large a result.
        Binary, EncodingRefused: the file is not text in its encoding, or the new text does not fit into it.
    """
    if not edits:
        raise Invalid("edits: an empty list changes nothing", hint="Give at least one edit.", field="edits")
    text = EditedText(view)
    replacements = []
    count, size = total or len(edits), view.content.size
    done: list[tuple[int, str]] = []
    for edit, number in zip(edits, numbers or range(len(edits)), strict=True):
        with _naming_edit(number, count):
            _check(edit, text)
            matches = _matches(text, edit, done, shown)
            new = _inserted(edit)
            if new.replace("\r\n", "\n") == edit.old.replace("\r\n", "\n"):
                raise _no_op(edit)
            size += len(matches) * (len(new.encode("utf-8")) - len(edit.old.encode("utf-8")))
            _require_bounded(size, most_bytes)
            if not text.replace(matches, new):
                raise _no_op(edit)
        replacements.append(len(matches))
        done.append((number + 1, edit.old))
    splices = text.splices()
    if not splices and len(edits) == 1:
        raise _no_op(edits[0])
    _require_bounded(spliced_size(view.content.size, splices), most_bytes)
    return EditOutcome(splices, replacements)


@contextmanager
def _naming_edit(number: int, count: int) -> Iterator[None]:
    """Number the edit, among several, in a refusal that is about it and not about the file."""
    try:
        yield
    except (Ambiguous, Invalid, NoMatch, NoOp, TooLarge) as refusal:
        refusal.say_which_edit(number, count)
        if count > 1 and isinstance(refusal, NoMatch):
            refusal.details["edit"] = number
        raise


def _require_bounded(size: int, most: int) -> None:
    if size > most:
        raise TooLarge(
            f"the file would have about {size} bytes; the limit for edits is {most}",
            hint="Replace fewer places, or use a shorter new_string.",
            size=size,
            limit=most,
        )


def _check(edit: TextEdit, text: EditedText) -> None:
    if not edit.old:
        raise Invalid(
            "old_string is empty",
            hint="Quote the text to replace; to write a whole file, use `write_file`.",
            field="old_string",
        )
    if edit.old == edit.new:
        raise NoOp("old_string and new_string are the same", hint="Change `new_string`, or leave the edit out.")
    if edit.old.replace("\r\n", "\n") == edit.new.replace("\r\n", "\n"):
        raise _no_op(edit)
    if "\0" in edit.new:
        raise Invalid("new_string holds a NUL character", hint="Remove it; text files hold none.", field="new_string")
    UTF_8.encode(edit.old)
    text.view.encoding.encode(edit.new)
    line = placeholder_line(edit.new, lambda line: line in edit.old or text.has(line))
    if line is not None:
        raise Invalid(
            f"new_string holds a placeholder instead of text: {line.strip()[:100]!r}",
            hint="Write out the lines, or edit only the part that changes.",
            field="new_string",
        )


def _no_op(edit: TextEdit) -> NoOp:
    endings = edit.old.replace("\r", "") == edit.new.replace("\r", "")
    how = "differ only in line endings" if endings else "are the same text in this file"
    return NoOp(
        f"old_string and new_string {how}",
        hint="The file keeps its own line endings and byte order mark; there is nothing to change.",
    )


def _inserted(edit: TextEdit) -> str:
    if "\r\r\n" in edit.new and "\r\r\n" not in edit.old:
        return without_extra_returns(edit.new)
    return edit.new


def _matches(text: EditedText, edit: TextEdit, earlier: Sequence[tuple[int, str]], shown: Ranges) -> list[Match]:
    found = _found(text, Needle(edit.old), edit)
    if not found and text.view.encoding.bom and len(edit.old) > 1 and edit.old[0] == "\ufeff":
        # The BOM is not part of the text shown; an old string with it means the beginning of the file.
        first = next(Needle(edit.old[1:]).find(text.chunks(), overlapping=False), None)
        found = [first] if first is not None and first.start == 0 else []
    if not found:
        hint = hint_for_no_match(text.chunks, edit.old, edit.new, earlier, text.view.chunks)
        raise NoMatch("old_string is not in the file", hint=hint.text, **hint.details)
    if len(found) > 1 and not edit.replace_all:
        raise _ambiguous(text, found, _countable(edit.old), shown)
    return found


def _found(text: EditedText, old: Needle, edit: TextEdit) -> list[Match]:
    if not edit.replace_all:
        return list(islice(old.find(text.chunks(), overlapping=True), _countable(edit.old)))
    found = list(islice(old.find(text.chunks(), overlapping=False), MOST_REPLACEMENTS + 1))
    if len(found) > MOST_REPLACEMENTS:
        raise TooLarge(
            f"old_string occurs more than {MOST_REPLACEMENTS} times",
            hint="Replace a longer string, or use a program made for the whole file.",
            limit=MOST_REPLACEMENTS,
        )
    return found


def _countable(old: str) -> int:
    # Each place costs the length of the string, and a megabyte of one letter occurs at every offset of a longer one.
    return max(6, min(_COUNTED, _COUNTED_BYTES // len(old)))


def _ambiguous(text: EditedText, found: Sequence[Match], most: int, shown: Ranges) -> Ambiguous:
    lines = sorted(lines_of_matches(text.chunks(), found), key=lambda line: (_distance(line, shown), line))
    places = list(dict.fromkeys(lines))
    counted = len(found) < most
    count = str(len(found)) if counted else f"at least {len(found)}"
    more = f" + {len(places) - 5} more" if len(places) > 5 else ""
    where = ", ".join(map(str, places[:5])) + (more if counted else " and further on")
    return Ambiguous(
        f"old_string occurs {count} times, at line{'' if len(places) == 1 else 's'} {where}",
        hint="Quote more of the text around the one you mean, or use `replace_all=true`.",
        count=len(found),
        lines=lines[:5],
    )


def _distance(line: int, shown: Ranges) -> int:
    """The distance in lines from a line to the nearest one shown."""
    return min((max(first - line, line - last, 0) for first, last in shown), default=0)
